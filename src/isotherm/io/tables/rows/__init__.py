"""From an open file to batches of rows, one reader for each kind of table.

An open file and its format come in; a `Table` goes out, whose rows are read batch by batch. Read ``batches.py`` first:
it has `Table`, the contract of all readers, and the checks of their columns. ``text.py`` reads delimited text, cut into
whole rows by ``blocks.py``; ``attributes.py`` knows the edge lists of networkx. ``jsonl.py`` and ``excel.py`` read what
their names say, ``columnar.py`` Parquet and Arrow, after ``parquet_pages.py`` has looked for damage.
"""

from isotherm.io.formats import TEXTUAL
from isotherm.io.streams import Input
from isotherm.io.tables.rows.batches import Table
from isotherm.io.tables.rows.columnar import open_columns
from isotherm.io.tables.rows.excel import open_excel
from isotherm.io.tables.rows.jsonl import open_jsonl
from isotherm.io.tables.rows.text import open_text

__all__ = ["open_table"]


def open_table(
    file: Input,
    format: str,  # noqa: A002 - as in read_graph
    *,
    seeds: bool = False,
    delimiter: str | None = None,
    header: bool | None = None,
    wanted: tuple[object, ...] = (),
) -> Table:
    """Open a table; what comes after the format is only for text, see `isotherm.io.tables.guessing.sniff.sniff`."""
    if format in TEXTUAL:
        return open_text(file, format, seeds=seeds, delimiter=delimiter, header=header, wanted=wanted)
    if format == "xlsx":
        return open_excel(file)
    return open_jsonl(file) if format == "jsonl" else open_columns(file, format)
