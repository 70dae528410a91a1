"""A document as one HTML page that needs nothing beside it."""

import base64
import re
from collections.abc import Mapping, Sequence
from html import escape

from isotherm.experiments.report.document import Block, Document, Picture, Table, Text

__all__ = ["to_html"]

STYLE = """
:root { --ink: #1b1b1b; --soft: #5a5a5a; --line: #c9c9c9; --band: #f4f4f2; }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.25rem 4rem; max-width: 64rem; color: var(--ink); background: white;
       font: 16px/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 1rem; }
h2 { font-size: 1.35rem; margin: 3rem 0 .75rem; padding-top: .75rem; border-top: 2px solid var(--ink); }
p { margin: .75rem 0; max-width: 50rem; }
code { font: .92em ui-monospace, "DejaVu Sans Mono", monospace; background: var(--band); padding: .05em .25em; }
nav ul { columns: 2; margin: 0; padding: .75rem 1rem .75rem 2rem; background: var(--band); }
nav a { color: inherit; }
figure { margin: 1.25rem 0; }
figure img { display: block; max-width: 100%; height: auto; }
figcaption, caption { color: var(--soft); font-size: .9rem; text-align: left; padding: .35rem 0; }
.scroll { overflow-x: auto; margin: 1.25rem 0; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; }
caption { caption-side: top; }
th, td { padding: .28rem .42rem; border-bottom: 1px solid var(--line); text-align: right; vertical-align: top; }
td { white-space: nowrap; }
th { border-bottom: 1.5px solid var(--ink); font-weight: 600; }
th:first-child, td:first-child { text-align: left; padding-left: 0; }
.words { text-align: left; white-space: normal; min-width: 9rem; }
tr:nth-child(even) td { background: var(--band); }
@media (max-width: 40rem) { nav ul { columns: 1; } }
@media print {
  body { font-size: 10.5pt; max-width: none; padding: 0; }
  h2 { break-after: avoid; } figure, tr { break-inside: avoid; } nav { display: none; } .scroll { overflow: visible; }
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
        case Table(caption, header, rows):
            words = [any(_is_words(row[place]) for row in rows) for place in range(len(header))]
            head = _row(header, words, "th")
            lines = "".join(f"<tr>{_row(row, words, 'td')}</tr>\n" for row in rows)
            table = f"<caption>{_marked(caption)}</caption><thead><tr>{head}</tr></thead>\n<tbody>{lines}</tbody>"
            return f'<div class="scroll"><table>{table}</table></div>'
        case Picture(name, _, caption):
            source = base64.b64encode(pictures[name]).decode()
            alt = escape(caption, quote=True)
            image = f'<img alt="{alt}" src="data:image/svg+xml;base64,{source}">'
            return f"<figure>{image}<figcaption>{_marked(caption)}</figcaption></figure>"


def _row(cells: Sequence[str], words: Sequence[bool], tag: str) -> str:
    kinds = (' class="words"' if wordy else "" for wordy in words)
    return "".join(f"<{tag}{kind}>{_marked(cell)}</{tag}>" for cell, kind in zip(cells, kinds, strict=True))


def _is_words(text: str) -> bool:
    """Whether a cell is a phrase, which may be broken, and not a number or a name."""
    return len(text) > 26 and not re.match(r"[-+<*0-9.\N{MINUS SIGN}]", text)


def _marked(text: str) -> str:
    safe = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", escape(text, quote=False))
    return re.sub(r"`(.+?)`", r"<code>\1</code>", safe)
