"""A document, from which the HTML page and the Markdown file are made."""

from collections.abc import Sequence
from dataclasses import dataclass
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
    """A table whose first column names the row.

    Neighbouring columns whose headers agree up to a comma, such as "centered, measured" and "centered, published", are
    shown as a group. A `folded` table is hidden on the page until it is opened or printed.
    """

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    folded: bool = False


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure; `name` is that of its file, without suffix."""

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
        """The id of the section in links."""
        words = "".join(letter if letter.isalnum() else " " for letter in self.title.lower()).split()
        return "-".join(words)


@dataclass(frozen=True)
class Document:
    """A title and sections."""

    title: str
    sections: Sequence[Section]

    @property
    def pictures(self) -> list[Picture]:
        """All pictures, in order."""
        return [block for section in self.sections for block in section.blocks if isinstance(block, Picture)]
