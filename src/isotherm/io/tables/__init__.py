"""Tables of edges or seeds: delimited text, JSON lines, Parquet, Arrow and Excel.

An open file comes in; edges whose ends are numbered, or seeds by node, go out. Read ``edges.py`` first: it leads from a
file to numbered edges, one batch of rows after another. On the way, ``sniff.py`` finds delimiter, header and comments
of text, ``roles.py`` decides which column is which by ``names.py``, ``text.py``, ``columnar.py``, ``jsonl.py`` and
``excel.py`` read the rows, and ``codebook.py`` numbers the ids. ``parts.py`` reads several files as one table.
"""

from isotherm.io.formats import TEXTUAL
from isotherm.io.streams import Input
from isotherm.io.tables.batches import Table
from isotherm.io.tables.columnar import open_columns
from isotherm.io.tables.excel import open_excel
from isotherm.io.tables.jsonl import open_jsonl
from isotherm.io.tables.text import open_text

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
    """Open a table; what comes after the format is only for text, see `isotherm.io.tables.sniff.sniff`."""
    if format in TEXTUAL:
        return open_text(file, format, seeds=seeds, delimiter=delimiter, header=header, wanted=wanted)
    if format == "xlsx":
        return open_excel(file)
    return open_jsonl(file) if format == "jsonl" else open_columns(file, format)
