"""The document: sections of paragraphs, tables and pictures, as Markdown and as one self-contained HTML page.

Everything is written as Markdown; markdown-it-py turns that into the page. Paragraphs are Markdown already. Those
written by hand are in texts.md, and `words` reads them.
"""

import base64
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from isotherm.paper.experiment import Summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from isotherm.paper.verdicts import Published

FIGURES = "figures"  # folder of the pictures next to the Markdown file
NBSP = "\N{NO-BREAK SPACE}"
# What the page has instead of plain paragraphs: a caption inside its table, a folded table, a picture with its caption;
# and spaces at which no line may break, between a number and its sign.
SHAPES = {
    r"<p><em>(.*?)</em></p>\n<table>": r"<table><caption>\1</caption>",
    "<table>": '<div class="scroll"><table>',
    "</table>": "</table></div>",
    r"<p>&lt;details&gt;&lt;summary&gt;(.*?)&lt;/summary&gt;</p>": r"<details><summary>\1</summary>",
    r"<p>&lt;/details&gt;</p>": "</details>",
    r"<p>(<img [^>]*>)</p>\n<p><em>(.*?)</em></p>": r"<figure>\1<figcaption>\2</figcaption></figure>",
    r"(\w) ([-+=]|&lt;) (?=\w)": rf"\1{NBSP}\2{NBSP}",
    " %": f"{NBSP}%",
}


@dataclass(frozen=True)
class Table:
    """A table whose first column names the row. A `folded` table is hidden on the page until it is opened or printed.

    >>> print(Table("Errors", ["graph", "error"], [["cora", "0.1"]]))
    *Errors*
    <BLANKLINE>
    | graph | error |
    | --- | ---: |
    | cora | 0.1 |
    """

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    folded: bool = False

    def __str__(self) -> str:
        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(self.header)
        kinds = ["---" if place == 0 or _is_text(cells) else "---:" for place, cells in enumerate(columns)]
        cells = ([cell.replace("|", "\\|") for cell in row] for row in (self.header, kinds, *self.rows))
        table = "\n".join(f"| {' | '.join(row)} |" for row in cells)
        if self.folded:
            return f"<details><summary>{self.caption}</summary>\n\n{table}\n\n</details>"
        return f"*{self.caption}*\n\n{table}"


def _is_text(cells: Sequence[str]) -> bool:
    """Whether a column holds words, not numbers."""
    return any(re.match(r"[^\w\s] |[a-z] ?[a-z]", cell, re.IGNORECASE) for cell in cells)


@dataclass(frozen=True, eq=False)
class Picture:
    """A figure; `name` is the name of its file, without suffix."""

    name: str
    figure: "Figure"
    caption: str

    def __str__(self) -> str:
        return f"![{self.caption}]({FIGURES}/{self.name}.svg)\n\n*{self.caption}*"


Block: TypeAlias = str | Table | Picture  # a str is a paragraph of Markdown


@dataclass(frozen=True)
class Section:
    """A heading and what is under it."""

    title: str
    blocks: Sequence[Block]


@dataclass(frozen=True)
class Document:
    """A title and sections; `str` gives the Markdown."""

    title: str
    sections: Sequence[Section]

    @property
    def pictures(self) -> list[Picture]:
        """All pictures, in order."""
        return [block for section in self.sections for block in section.blocks if isinstance(block, Picture)]

    def __str__(self) -> str:
        parts = [f"# {self.title}"]
        for section in self.sections:
            parts += [f"## {section.title}", *map(str, section.blocks)]
        return "\n\n".join(parts) + "\n"


def to_html(markdown: str, pictures: Mapping[str, bytes]) -> str:
    """The page of a document in Markdown; `pictures` are SVG files by name. HTML in the document is escaped."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "xhtmlOut": False}).enable("table")
    tokens = parser.parse(markdown)
    links = ""
    for opening, heading in pairwise(tokens):
        if opening.type == "heading_open" and opening.tag == "h2":
            anchor = "-".join(re.findall(r"[^\W_]+", heading.content.lower()))
            opening.attrSet("id", anchor)
            links += f'<li><a href="#{anchor}">{escape(heading.content, quote=False)}</a></li>'
    body = parser.renderer.render(tokens, parser.options, {})
    for pattern, replacement in SHAPES.items():
        body = re.sub(pattern, replacement, body)
    for name, content in pictures.items():
        code = base64.b64encode(content).decode()
        body = body.replace(f'src="{FIGURES}/{name}.svg"', f'src="data:image/svg+xml;base64,{code}"')
    heading, _, body = body.partition("\n")
    style = files("isotherm.paper").joinpath("style.css").read_text(encoding="utf-8")
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8">{heading.replace("h1>", "title>")}\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>\n{style}</style></head>\n<body>{heading}\n<nav><ul>{links}</ul></nav>\n{body}</body></html>\n"
    )


def words(part: str) -> list[Block]:
    """The paragraphs and tables of a part of texts.md."""
    return [each if each.startswith("|") else " ".join(each.split()) for each in _parts()[part]]


@cache
def _parts() -> dict[str, list[str]]:
    """Paragraphs by heading."""
    whole = files("isotherm.paper").joinpath("texts.md").read_text(encoding="utf-8")
    parts = (part.partition("\n") for part in re.split(r"^## ", whole, flags=re.MULTILINE)[1:])
    return {heading: body.strip().split("\n\n") for heading, _, body in parts}


def plus_minus(spread: "Summary | Published | None", digits: int = 3) -> str:
    """A mean and a standard deviation; empty if there is none.

    >>> plus_minus(Summary(0.4237, 0.1, 10))
    '0.424 ± 0.100'
    """
    return "" if spread is None else f"{spread.mean:.{digits}f} ± {spread.std:.{digits}f}"


def signed(value: float) -> str:
    r"""A difference, with its sign.

    >>> signed(-0.0312) == "\N{MINUS SIGN}0.031", signed(-0.0001)
    (True, '0.000')
    """
    text = f"{value:+.3f}".replace("-", "\N{MINUS SIGN}")
    return text if text.strip("+0.\N{MINUS SIGN}") else "0.000"


def percent(share: float) -> str:
    """A share with two significant digits, or as a whole number.

    >>> percent(0.3412), percent(0.0087), percent(0.0)
    ('34 %', '0.87 %', '0 %')
    """
    rounded = np.format_float_positional(100 * share, precision=2, fractional=False, trim="-")
    return f"{rounded if share < 0.1 else round(100 * share)} %"
