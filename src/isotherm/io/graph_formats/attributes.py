"""Attributes of nodes in files that hold a whole graph: one may be the id of a node, another its label."""

from collections.abc import Iterable, Mapping
from typing import Any

from isotherm.errors import Option
from isotherm.files import FileError
from isotherm.io.errors import shorten
from isotherm.io.layout import Pick
from isotherm.io.tables.guessing.names import label_place

__all__ = ["NodeAttributes"]

MOST_SHOWN = 8


class NodeAttributes:
    """The attributes of the nodes of a file, of which at most two are kept.

    Parameters
    ----------
    path
        The name of the file, for messages.
    id
        The attribute that is to be the id of each node; None for the id that the format has.
    label
        The attribute that has the labels; None to find it by its name.
    labels
        Whether labels are wanted at all.
    """

    def __init__(self, path: str, id: Pick = None, label: Pick = None, *, labels: bool = False) -> None:  # noqa: A002
        self.path, self.picks = path, {"id": id, "label": label}
        self.labels_wanted = labels
        self.names: dict[str, str] = {}  # by key
        self.chosen: dict[str, str] | None = None  # the name of the attribute of each role
        self.values: dict[str, dict[str, str]] = {"id": {}, "label": {}}  # by role and node
        self.defaults: dict[str, str] = {}

    def declare(self, key: str, name: str) -> None:
        """Take note of an attribute, by the key under which nodes have it."""
        self.names[key] = name

    def own(self, node: str, name: str, value: str) -> None:
        """Take an attribute that a node has under its own name; it counts only if it was asked for."""
        for role, pick in self.picks.items():
            if pick is not None and name == pick:
                self.values[role].setdefault(node, value)

    def wants(self, key: str) -> bool:
        """Whether the attribute of this key may be kept; one to be found by its name may."""
        name = self.names.get(key)
        return name is not None and (
            name in self.picks.values() or (self.labels_wanted and self.picks["label"] is None)
        )

    def default(self, key: str, text: str) -> None:
        """The value for nodes that have none."""
        self.defaults[self.names[key]] = text

    def add(self, node: str, key: str, text: str) -> None:
        """Take the value of a node."""
        name = self.names.get(key, key)
        for role, chosen in self._choice().items():
            if chosen == name:
                self.values[role][node] = text

    def ids(self, nodes: Iterable[str]) -> dict[str, Any]:
        """The id of each node, by the one that the format has."""
        if self.picks["id"] is None:
            return {node: node for node in nodes}
        found = self._filled("id", nodes)
        seen: dict[str, str] = {}
        for node in nodes:
            text = found.get(node, "")
            if not text:
                raise FileError(f"{self.path}: the node {shorten(node)} has no {self._told('id')}; add it")
            if text in seen:
                both = f"{shorten(seen[text])} and {shorten(node)}"
                raise FileError(f"{self.path}: the nodes {both} have the same {self._told('id')}, {shorten(text)}")
            seen[text] = node
        return {node: text for text, node in seen.items()}

    def labels(self, nodes: Iterable[str]) -> tuple[dict[Any, Any], str]:
        """The labels of nodes that have one, by their ids, and the name of the attribute."""
        ids, found = self.ids(nodes), self._filled("label", nodes)
        labels = {ids[node]: text for node, text in found.items() if text.strip()}
        if not labels:
            raise FileError(f"{self.path} has no seeds: no node has a {self._told('label')}; fill some in")
        return labels, str(self._choice().get("label", self.picks["label"]))

    def _told(self, role: str) -> str:
        return shorten(self._choice().get(role, self.picks[role]))

    def _filled(self, role: str, nodes: Iterable[str]) -> Mapping[str, str]:
        """The values of a role, with the default for nodes that have none."""
        name = self._choice().get(role)
        if name is None and not self.values[role]:
            raise self._missing(role)
        default = self.defaults.get(name or "")
        found = self.values[role]
        return found if default is None else {node: found.get(node, default) for node in nodes}

    def _choice(self) -> dict[str, str]:
        """The name of the attribute of each role, once attributes are declared."""
        if self.chosen is None:
            known = list(dict.fromkeys(self.names.values()))
            self.chosen = {role: str(pick) for role, pick in self.picks.items() if pick in known}
            if self.labels_wanted and self.picks["label"] is None:
                place = label_place(known, ())
                others = [name for name in known if name != self.picks["id"]]
                guess = known[place] if place is not None else others[0] if len(others) == 1 else None
                self.chosen |= {} if guess is None else {"label": guess}
        return self.chosen

    def _missing(self, role: str) -> FileError:
        known = list(dict.fromkeys(self.names.values()))
        if not known:
            return FileError(f"{self.path}: nodes have no attributes, so there is no {role} to read; give another file")
        shown = ", ".join(map(shorten, known[:MOST_SHOWN])) + ", ..." * (len(known) > MOST_SHOWN)
        pick, example = self.picks[role], Option(role, known[0])
        problem = "none is clearly a label" if pick is None else f"none is {shorten(pick)}"
        message = "{path}: nodes have the attributes {shown}, and {problem}; choose one, as in {example}"
        return FileError(message, path=self.path, shown=shown, problem=problem, example=example)
