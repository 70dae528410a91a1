"""The hand-written words of the report, from texts.md."""

import re
from functools import cache
from importlib.resources import files

from isotherm.paper.report.page.document import Table, Text

__all__ = ["words"]


def words(part: str) -> list[Text | Table]:
    """The paragraphs and tables of a part of texts.md; the paragraph above a table is its caption."""
    blocks: list[Text | Table] = []
    for paragraph in _parts()[part]:
        if paragraph.startswith("|"):
            caption = blocks.pop()
            assert isinstance(caption, Text)
            header, _, *rows = ([cell.strip() for cell in line[1:-1].split("|")] for line in paragraph.splitlines())
            blocks.append(Table(caption.text.strip("*"), header, rows))
        else:
            blocks.append(Text(" ".join(paragraph.split())))
    return blocks


@cache
def _parts() -> dict[str, list[str]]:
    """Paragraphs by heading."""
    whole = files("isotherm.paper.report").joinpath("texts.md").read_text(encoding="utf-8")
    parts = (part.partition("\n") for part in re.split(r"^## ", whole, flags=re.MULTILINE)[1:])
    return {heading: body.strip().split("\n\n") for heading, _, body in parts}
