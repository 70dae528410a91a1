"""A document as Markdown, with its pictures in a folder beside it."""

from isotherm.paper.report.page.document import Block, Document, Picture, Table, Text

__all__ = ["to_markdown"]


def to_markdown(document: Document, folder: str) -> str:
    """The whole document; pictures are ``<folder>/<name>.svg``."""
    parts = [f"# {document.title}"]
    for section in document.sections:
        parts.append(f"## {section.title}")
        parts.extend(_block(block, folder) for block in section.blocks)
    return "\n\n".join(parts) + "\n"


def _block(block: Block, folder: str) -> str:
    match block:
        case Text(text):
            return text
        case Table(caption, header, rows):
            cells = [header, ["---", *["---:"] * (len(header) - 1)], *rows]
            lines = ["| " + " | ".join(_cell(cell) for cell in row) + " |" for row in cells]
            return "\n".join([f"*{caption}*", "", *lines])
        case Picture(name, _, caption):
            return f"![{caption}]({folder}/{name}.svg)\n\n*{caption}*"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
