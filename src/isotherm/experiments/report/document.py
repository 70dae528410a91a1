"""A document, from which the HTML page and its Markdown twin are made."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Block", "Document", "Picture", "Section", "Table", "Text"]


@dataclass(frozen=True)
class Text:
    """A paragraph; ``**bold**`` and ```code``` are marked up."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table, the first column of which names the row.

    Columns whose headers begin alike, such as "centered, measured" and "centered, published", are a group. A `folded`
    table is shown on demand, and in print.
    """

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    folded: bool = False


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure; `name` is that of its file."""

    name: str
    figure: "Figure"
    caption: str


Block: TypeAlias = Text | Table | Picture


@dataclass(frozen=True)
class Section:
    """A heading and what is under it."""

    title: str
    blocks: Sequence[Block]

    @property
    def anchor(self) -> str:
        """What to link to it by."""
        words = "".join(letter if letter.isalnum() else " " for letter in self.title.lower()).split()
        return "-".join(words)


@dataclass(frozen=True)
class Document:
    """A title and sections."""

    title: str
    sections: list[Section] = field(default_factory=list)

    @property
    def pictures(self) -> list[Picture]:
        """All pictures, in order."""
        return [block for section in self.sections for block in section.blocks if isinstance(block, Picture)]
