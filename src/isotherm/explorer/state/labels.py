"""What a person has said so far: seeds, classes and skipped nodes, with undo and redo."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from isotherm.errors import ParameterError

__all__ = ["Labels"]


@dataclass
class Labels:
    """Seeds by position of their node, and the steps that led to them.

    Attributes
    ----------
    first
        The seeds that were read from a file or given by the program.
    named
        Classes that were named on the page, which may have no seed yet.
    steps, undone
        Labels that were given, as (node, label or None), the last one last; and those that were undone.
    skipped
        Nodes that are not to be suggested.
    """

    first: Mapping[int, Any]
    named: list[Any] = field(default_factory=list)
    steps: list[tuple[int, Any]] = field(default_factory=list)
    undone: list[tuple[int, Any]] = field(default_factory=list)
    skipped: set[int] = field(default_factory=set)

    @property
    def seeds(self) -> dict[int, Any]:
        """The present seeds, in the order in which they were given."""
        found = dict(self.first)
        for node, label in self.steps:
            if label is None:
                found.pop(node, None)
            else:
                found[node] = label
        return found

    @property
    def classes(self) -> list[Any]:
        """All classes that were seen or named, each once, sorted if possible."""
        seen = {*self.first.values(), *self.named, *(label for _, label in self.steps if label is not None)}
        return sorted(seen, key=lambda label: (isinstance(label, str), label))

    def apply(self, entry: Mapping[str, Any], node: int | None) -> None:
        """Take one entry of the journal; ``node`` is the position of the node that it names."""
        kind = entry["do"]
        if kind == "label" and node is not None:
            self.steps.append((node, entry["label"]))
            self.undone.clear()
        elif kind == "undo" and self.steps:
            self.undone.append(self.steps.pop())
        elif kind == "redo" and self.undone:
            self.steps.append(self.undone.pop())
        elif kind == "class" and entry["label"] not in self.named:
            self.named.append(entry["label"])
        elif kind == "skip" and node is not None:
            self.skipped.add(node)

    def label_from(self, text: str) -> Any:
        """The class that a text on the page stands for: an integer if all classes are integers."""
        known = {str(label): label for label in self.classes}
        if text in known:
            return known[text]
        if not text.strip():
            raise ParameterError("a class needs a name")
        if known and not any(isinstance(label, str) for label in known.values()):
            try:
                return int(text)
            except ValueError:
                raise ParameterError(f"the classes are integers, but {text!r} is not one: give a number") from None
        return text
