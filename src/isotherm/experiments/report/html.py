"""A document as one HTML page that needs nothing beside it."""

import base64
import re
from collections.abc import Mapping, Sequence
from html import escape
from itertools import groupby

from isotherm.experiments.report.document import Block, Document, Picture, Table, Text

__all__ = ["to_html"]

NBSP = "\N{NO-BREAK SPACE}"
STYLE = """
:root { --ink: #1b1b1b; --soft: #555; --line: #c9c9c9; --band: #f4f4f2; color-scheme: light; }
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 64rem; color: var(--ink); background: white;
       font: 16px/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.35rem; line-height: 1.3; margin: 3rem 0 .75rem; padding-top: .75rem; border-top: 2px solid; }
p { margin: .75rem 0; max-width: 48rem; }
code { font: .92em ui-monospace, "DejaVu Sans Mono", monospace; background: var(--band); padding: .05em .25em; }
nav ul { columns: 2; margin: 0; padding: .75rem 1rem .75rem 2rem; background: var(--band); }
nav a { color: inherit; }
figure { margin: 1.25rem 0; }
figure img { display: block; width: 100%; max-width: 54rem; height: auto; }
figcaption, caption, summary { color: var(--soft); font-size: .9rem; text-align: left; padding: .35rem 0; }
caption { white-space: nowrap; }
summary { cursor: pointer; max-width: 48rem; }
.scroll { overflow-x: auto; margin: 1.25rem 0; }
details .scroll { margin-top: .25rem; }
table { border-collapse: collapse; font-size: .86rem; line-height: 1.4; font-variant-numeric: tabular-nums; }
th, td { padding: .28rem .42rem; text-align: right; vertical-align: top; white-space: nowrap; }
td, thead tr:last-child th { border-bottom: 1px solid var(--line); }
thead tr:last-child th { border-bottom: 1.5px solid; }
th { font-weight: 600; vertical-align: bottom; }
th[colspan] { text-align: center; border-bottom: 1px solid var(--line); }
.edge { padding-left: 1.1rem; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
.text { text-align: left; }
td.phrases, th.phrases { white-space: normal; min-width: 13rem; }
tbody tr:nth-child(even) td { background: var(--band); }
@media (max-width: 44rem) {
  body { padding: 1.25rem 1rem 3rem; }
  nav ul { columns: 1; }
  figure { overflow-x: auto; }
  figure img { min-width: 38rem; }
  td.text { white-space: normal; min-width: 7rem; }
  th:first-child, td:first-child { position: sticky; left: 0; background: white; min-width: 5.5rem; }
  figcaption, caption { position: sticky; left: 0; white-space: normal; max-width: calc(100vw - 2rem); }
}
@media print {
  @page { margin: 1.6cm; }
  body { font-size: 10pt; max-width: none; padding: 0; }
  h2 { break-after: avoid; margin-top: 1.6rem; }
  nav { display: none; }
  figure, .scroll, details { break-inside: avoid; }
  thead { display: table-header-group; }
  table { font-size: 7.6pt; }
  th, td { padding: .16rem .3rem; }
  .scroll { overflow: visible; }
  details::details-content { content-visibility: visible; display: block; }
  summary { list-style: none; break-after: avoid; }
}
"""


def to_html(document: Document, pictures: Mapping[str, bytes]) -> str:
    """The whole page; `pictures` are SVG files by name."""
    title = escape(document.title)
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
        f"<style>{STYLE}</style></head>\n<body><h1>{title}</h1>\n<nav><ul>{links}</ul></nav>\n{body}</body></html>\n"
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
    """One row, or two where columns are in groups."""
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
    """The first column, the name and the size of each run of columns that belong together.

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
    """The class of a column: whether it holds text, or phrases, which may be broken, and whether it begins a group."""
    text = any(re.match(r"[^\w\s] |[a-z] ?[a-z]", cell, re.IGNORECASE) for cell in cells)
    phrases = text and any(len(cell) > 36 for cell in cells)
    names = [name for name, holds in (("text", text), ("phrases", phrases), ("edge", edge)) if holds]
    return f' class="{" ".join(names)}"' if names else ""


def _marked(text: str) -> str:
    safe = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", escape(text, quote=False))
    safe = re.sub(r"(\w) ([-+=]|&lt;) (?=\w)", rf"\1{NBSP}\2{NBSP}", safe).replace(" %", f"{NBSP}%")  # not to be broken
    return re.sub(r"`(.+?)`", r"<code>\1</code>", safe)
