"""Which format a path is in: its suffix decides."""

import os
from typing import NamedTuple

from isotherm.io.errors import STANDARD, FileError

__all__ = ["FORMATS", "Format", "format_of"]

FORMATS: dict[str, tuple[str, ...]] = {
    "csv": (".csv",),
    "tsv": (".tsv", ".tab"),
    "text": (".txt", ".edges", ".edgelist", ".el", ".ncol", ".dat"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "jsonl": (".jsonl", ".ndjson"),
    "mtx": (".mtx",),
    "npz": (".npz",),
    "graphml": (".graphml",),
    "gexf": (".gexf",),
    "metis": (".graph", ".metis"),
}
TEXTUAL = ("csv", "tsv", "text")
COMPRESSIBLE = (*TEXTUAL, "jsonl", "mtx", "graphml", "gexf", "metis")
_BY_SUFFIX = {suffix: name for name, suffixes in FORMATS.items() for suffix in suffixes}


class Format(NamedTuple):
    """A format by its name in `FORMATS`, and the suffix of its compression, if any."""

    name: str
    compression: str | None


def format_of(path: str, wanted: str | None = None) -> Format:
    """The format of a path, or the one that was asked for.

    Standard input and output are CSV unless another format is asked for, and so are pipes.

    Examples
    --------
    >>> format_of("edges.tsv.gz")
    Format(name='tsv', compression='.gz')
    >>> format_of("out.moreno_health", None).name  # KONECT
    'text'
    """
    if wanted is not None and wanted not in FORMATS:
        raise FileError(f"there is no format {wanted!r}: choose one of {', '.join(FORMATS)}")
    stem, compression = _without_compression(os.path.basename(path).lower())
    name = wanted or _BY_SUFFIX.get(os.path.splitext(stem)[1]) or _nameless(path, stem)
    if name is None:
        suffixes = ", ".join(suffix for group in FORMATS.values() for suffix in group)
        raise FileError(f"{path}: the format cannot be told from the name; end it in {suffixes}, or give the format")
    if compression and name not in COMPRESSIBLE:
        raise FileError(f"{path}: {name} files are compressed inside; decompress it and drop {compression}")
    return Format(name, compression)


def _without_compression(name: str) -> tuple[str, str | None]:
    stem, suffix = os.path.splitext(name)
    return (stem, suffix) if suffix in (".gz", ".zst") else (name, None)


def _nameless(path: str, stem: str) -> str | None:
    """The format of what has no telling suffix."""
    if path == STANDARD or (os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)):
        return "csv"
    return "text" if stem.startswith("out.") else None
