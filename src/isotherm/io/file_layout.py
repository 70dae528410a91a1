"""What a caller says about a file of edges or of labels, and what was found in it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from isotherm.choices import DecimalSign
from isotherm.errors import first_few

Pick: TypeAlias = str | int | None
"""A column: its name, its number from 1, or None to find it."""

DELIMITER_NAMES = {"\t": "tab", " ": "whitespace", ",": "comma", ";": "semicolon", "|": "bar"}


@dataclass(frozen=True)
class Options:
    """What the caller of `read_graph` knows about a file; None for what is to be found out."""

    directed: bool | None = None
    source: Pick = None
    target: Pick = None
    weight: Pick | bool = None
    delimiter: str | None = None
    header: bool | None = None
    max_memory: int | None = None
    id: Pick = None
    encoding: str | None = None
    thousands: bool = False
    decimal: DecimalSign | None = None
    neighbors_key: str | None = None
    edge_kind: Pick = None

    @property
    def picks(self) -> dict[str, Pick | bool]:
        """The columns that were asked for, by role."""
        ends = {"source": self.source, "target": self.target}
        return ends | {"weight": self._inside_abs or self.weight, "edge_kind": self.edge_kind}

    @property
    def absolute(self) -> bool:
        """Whether weights are the sizes of the numbers in a column, as in ``abs(amount)``."""
        return self._inside_abs is not None

    @property
    def _inside_abs(self) -> str | None:
        found = re.fullmatch(r"abs\((.+)\)", self.weight) if isinstance(self.weight, str) else None
        return found and found[1].strip()


@dataclass(frozen=True)
class LabelOptions:
    """What the caller of `read_seeds` knows about a file of labels."""

    node: Pick = None
    label: Pick = None
    probability: Pick = None
    seed_weight: Pick = None  # a seed without a weight is certain
    several: bool = False
    unknown: str | Sequence[str] = ()
    normalise_labels: bool = False
    delimiter: str | None = None
    header: bool | None = None
    format: str | None = None
    encoding: str | None = None
    id: Pick = None  # as in `read_graph`, for labels in a file of a graph


class Column(NamedTuple):
    """A column by its number, from 1, and its name if the table has names."""

    number: int
    name: str | None = None

    def __str__(self) -> str:
        return f"col {self.number}" if self.name is None else f"col {self.number} ({self.name})"


class Values(NamedTuple):
    """What the first values of a column are: numbers for the most part, and integers of which each occurs once."""

    numeric: bool = False
    numbering: bool = False
    decimal_comma: str = ""  # a number with a decimal comma, if all values are written so
    thousand: str = ""  # a number such as 1.284, if all that have a point would be whole in a table of decimal commas


@dataclass(frozen=True)
class Layout:
    r"""How a file was read.

    Attributes
    ----------
    format
        One of `isotherm.io.FORMATS`.
    roles
        The column of each role that a table has: source, target and weight, perhaps edge_kind; or node and label.
        None for a weight that is absent or ignored.
    header, delimiter
        Of delimited text; None for other formats.
    first_id
        The id of the first node, in formats that count nodes instead of naming them; None for other formats.
    attribute
        The attribute of nodes that has the labels, where these come from a file of a graph.
    left_out
        The columns of a table of vectors that are not read.

    Examples
    --------
    >>> str(Layout("tsv", {"source": Column(1), "target": Column(2), "weight": None}, header=False, delimiter="\t"))
    'source=col 1, target=col 2, weight=none, header=no, delimiter=tab'
    >>> str(Layout("mtx", first_id=1))
    'format=mtx, ids=counted from 1'
    """

    format: str
    roles: dict[str, Column | None] = field(default_factory=dict)
    header: bool | None = None
    delimiter: str | None = None
    first_id: int | None = None
    attribute: str | None = None
    left_out: tuple[str, ...] = ()

    @property
    def places(self) -> dict[str, int]:
        """The position of each column that is read, from 0, by role."""
        return {role: column.number - 1 for role, column in self.roles.items() if column}

    @property
    def names(self) -> dict[str, str]:
        """The names of the columns that have one, by role."""
        return {role: column.name for role, column in self.roles.items() if column and column.name is not None}

    @property
    def seed_columns(self) -> dict[str, str]:
        """The names of the columns of node and label in a file of seeds, in its order; empty if it has none.

        >>> Layout("csv", {"node": Column(2, "account"), "label": Column(1, "verdict")}).seed_columns
        {'label': 'verdict', 'node': 'account'}
        """
        columns = {role: self.roles.get(role) for role in ("node", "label")}
        found = sorted((column.number, role, column.name) for role, column in columns.items() if column and column.name)
        return {role: name for _, role, name in found} if len({name for *_, name in found}) == 2 else {}

    def __str__(self) -> str:
        parts = [f"{role}={column or 'none'}" for role, column in self.roles.items()]
        if self.header is not None:
            parts.append(f"header={'yes' if self.header else 'no'}")
        if self.delimiter is not None:
            parts.append(f"delimiter={DELIMITER_NAMES.get(self.delimiter, repr(self.delimiter))}")
        parts = parts or [f"format={self.format}"]
        if self.first_id is not None:
            parts.append(f"ids=counted from {self.first_id}")
        if self.attribute is not None:
            parts.append(f"label={self.attribute}")
        if self.left_out:
            parts.append(f"left out={first_few(self.left_out, text=str)}")
        return ", ".join(parts)
