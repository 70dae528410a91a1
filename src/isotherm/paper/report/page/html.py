"""A document as one self-contained HTML page."""

import base64
import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files
from itertools import groupby

from isotherm.paper.report.page.document import Block, Document, Picture, Table, Text

__all__ = ["to_html"]

NBSP = "\N{NO-BREAK SPACE}"


def to_html(document: Document, pictures: Mapping[str, bytes]) -> str:
    """The whole page; `pictures` are SVG files by name."""
    title = escape(document.title)
    style = files("isotherm.paper.report.page").joinpath("style.css").read_text(encoding="utf-8")
    links = "".join(f'<li><a href="#{s.anchor}">{escape(s.title)}</a></li>' for s in document.sections)
    body = "".join(
        f'<section id="{section.anchor}"><h2>{escape(section.title)}</h2>'
        + "\n".join(_block(block, pictures) for block in section.blocks)
        + "</section>\n"
        for section in document.sections
    )
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<style>\n{style}</style></head>\n<body><h1>{title}</h1>\n<nav><ul>{links}</ul></nav>\n{body}</body></html>\n"
    )


def _block(block: Block, pictures: Mapping[str, bytes]) -> str:
    match block:
        case Text(text):
            return f"<p>{_marked(text)}</p>"
        case Table():
            return _table(block)
        case Picture(name, _, caption):
            source = base64.b64encode(pictures[name]).decode()
            alt = escape(caption, quote=True)
            image = f'<img alt="{alt}" src="data:image/svg+xml;base64,{source}">'
            return f"<figure>{image}<figcaption>{_marked(caption)}</figcaption></figure>"


def _table(table: Table) -> str:
    groups = _groups(table.header)
    edges = {start for start, _, size in groups if size > 1}
    kinds = [_kind([row[place] for row in table.rows], place in edges) for place in range(len(table.header))]
    lines = "".join(f"<tr>{_row(row, kinds, 'td')}</tr>\n" for row in table.rows)
    inside = f"<thead>{_head(table.header, groups, kinds)}</thead>\n<tbody>{lines}</tbody>"
    caption = _marked(table.caption)
    if table.folded:
        return f'<details><summary>{caption}</summary><div class="scroll"><table>{inside}</table></div></details>'
    return f'<div class="scroll"><table><caption>{caption}</caption>{inside}</table></div>'


def _head(header: Sequence[str], groups: list[tuple[int, str, int]], kinds: Sequence[str]) -> str:
    """One row, or two if there are groups of columns."""
    if all(size == 1 for _, _, size in groups):
        return f"<tr>{_row(header, kinds, 'th')}</tr>"
    upper = "".join(
        f'<th class="edge" colspan="{size}">{_marked(name)}</th>' if size > 1 else "<th></th>"
        for _, name, size in groups
    )
    sizes = [size for _, _, size in groups for _ in range(size)]
    lower = [cell.partition(", ")[2] if size > 1 else cell for cell, size in zip(header, sizes, strict=True)]
    return f"<tr>{upper}</tr>\n<tr>{_row(lower, kinds, 'th')}</tr>"


def _groups(header: Sequence[str]) -> list[tuple[int, str, int]]:
    """First column, name and size of each group of columns.

    >>> _groups(["x", "centered, measured", "centered, published", "why"])
    [(0, 'x', 1), (1, 'centered', 2), (3, 'why', 1)]
    """
    found, start = [], 0
    for name, cells in groupby(header, key=lambda cell: cell.partition(", ")[0]):
        size = len(list(cells))
        found.append((start, name, size))
        start += size
    return found


def _row(cells: Sequence[str], kinds: Sequence[str], tag: str) -> str:
    return "".join(f"<{tag}{kind}>{_marked(cell)}</{tag}>" for cell, kind in zip(cells, kinds, strict=True))


def _kind(cells: Sequence[str], edge: bool) -> str:
    """The CSS classes of a column, by whether it holds text or phrases that may wrap, and begins a group."""
    text = any(re.match(r"[^\w\s] |[a-z] ?[a-z]", cell, re.IGNORECASE) for cell in cells)
    phrases = text and any(len(cell) > 36 for cell in cells)
    names = [name for name, holds in (("text", text), ("phrases", phrases), ("edge", edge)) if holds]
    return f' class="{" ".join(names)}"' if names else ""


def _marked(text: str) -> str:
    """Text as HTML; numbers stay on one line with their signs."""
    safe = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", escape(text, quote=False))
    safe = re.sub(r"(\w) ([-+=]|&lt;) (?=\w)", rf"\1{NBSP}\2{NBSP}", safe).replace(" %", f"{NBSP}%")
    return re.sub(r"`(.+?)`", r"<code>\1</code>", safe)
