"""Which format a file has: its suffix decides."""

import os
import zipfile
from importlib import import_module
from typing import Any, NamedTuple

from isotherm.errors import Option
from isotherm.files import FileError, is_stream
from isotherm.io.streams import COMPRESSIONS, only_member


class Kind(NamedTuple):
    """What is known about a format."""

    suffixes: tuple[str, ...]  # the ends of file names that stand for it
    compressible: bool = True  # whether a file may be compressed as a whole, by gzip, Zstandard, bzip2, xz or zip
    reader: str | None = None  # where a graph is read from it
    labels: str | None = None  # where labels of nodes are read from it, if it can hold them together with the graph
    attributes: bool = False  # whether nodes have attributes with names, of which one may be the id


FORMATS: dict[str, Kind] = {
    "csv": Kind((".csv",)),
    "tsv": Kind((".tsv", ".tab")),
    "text": Kind((".txt", ".edges", ".edgelist", ".el", ".ncol", ".dat")),
    "parquet": Kind((".parquet", ".pq"), compressible=False),
    "arrow": Kind((".arrow", ".feather", ".ipc"), compressible=False),
    "jsonl": Kind((".jsonl", ".ndjson")),
    "xlsx": Kind((".xlsx",), compressible=False),
    "communities": Kind((".cmty.txt",)),
    "mtx": Kind((".mtx",), reader="matrices:read_mtx"),
    "npz": Kind((".npz",), compressible=False, reader="matrices:read_npz", labels="matrices:npz_labels"),
    "graphml": Kind(
        (".graphml",),
        reader="attribute_formats:read_graphml",
        labels="attribute_formats:graphml_labels",
        attributes=True,
    ),
    "gexf": Kind(
        (".gexf",), reader="attribute_formats:read_gexf", labels="attribute_formats:gexf_labels", attributes=True
    ),
    "gml": Kind((".gml",), reader="attribute_formats:read_gml", labels="attribute_formats:gml_labels", attributes=True),
    "pajek": Kind((".net", ".pajek"), reader="numbered_formats:read_pajek"),
    "mat": Kind((".mat",), compressible=False, reader="matrices:read_mat", labels="matrices:mat_labels"),
    "h5ad": Kind((".h5ad",), compressible=False, reader="cells:read_h5ad", labels="cells:h5ad_labels"),
    "netset": Kind((), compressible=False, reader="matrices:read_netset", labels="matrices:netset_labels"),
    "metis": Kind((".graph", ".metis"), reader="numbered_formats:read_metis"),
    "iso": Kind((".iso",), compressible=False, reader="matrices:read_packed"),
}
TEXTUAL = ("csv", "tsv", "text")
NETSET = ("adjacency.npz", "biadjacency.npz")  # either makes a folder one of NetSet
_BY_SUFFIX = {suffix: name for name, kind in FORMATS.items() for suffix in kind.suffixes}


class Format(NamedTuple):
    """A format by its name in `FORMATS`, and the suffix of its compression, if any."""

    name: str
    compression: str | None


class SourceFile(NamedTuple):
    """A file of edges and its format."""

    path: str
    known: Format

    @property
    def textual(self) -> bool:
        """Whether all ids are text in the file, also those that are numbers."""
        return self.known.name in TEXTUAL


def imported(reader: str) -> Any:
    """A reader of `FORMATS`."""
    module, function = reader.split(":")
    return getattr(import_module(f"isotherm.io.{module}"), function)


def format_of(path: str, wanted: str | None = None) -> Format:
    """The format of a path, or the one that was asked for.

    Standard input, standard output and pipes are CSV unless another format is asked for.

    Examples
    --------
    >>> format_of("edges.tsv.gz")
    Format(name='tsv', compression='.gz')
    >>> format_of("out.moreno_health").name  # KONECT
    'text'
    """
    if wanted is not None and wanted not in FORMATS:
        known = ", ".join(FORMATS)
        raise FileError("{format} is not a format: choose one of {known}", format=Option("format", wanted), known=known)
    stem, compression = _without_compression(os.path.basename(path.rstrip(os.sep)).lower())
    if compression == ".zip" and not os.path.splitext(stem)[1]:
        stem = _name_inside(path) or stem
    name = wanted or _by_suffix(stem) or _without_suffix(path, stem)
    if name is None:
        message = "{path}: the name does not tell the format; end it in {suffixes}, or set {format}"
        raise FileError(message, path=path, suffixes=", ".join(_BY_SUFFIX), format=Option("format"))
    if compression and not FORMATS[name].compressible:
        raise FileError(f"{path}: {name} files are compressed inside; decompress it and drop {compression}")
    return Format(name, compression)


def _without_compression(name: str) -> tuple[str, str | None]:
    stem, suffix = os.path.splitext(name)
    return (stem, suffix) if suffix in COMPRESSIONS else (name, None)


def _by_suffix(name: str) -> str | None:
    """The format by the longest suffix that is known: ``.cmty.txt`` before ``.txt``."""
    parts = name.split(".")
    ends = (f".{'.'.join(parts[first:])}" for first in range(max(1, len(parts) - 2), len(parts)))
    return next((found for end in ends if (found := _BY_SUFFIX.get(end))), None)


def _name_inside(path: str) -> str | None:
    """The name of the only file in a zip file, in lower case."""
    if not zipfile.is_zipfile(path):
        return None
    with zipfile.ZipFile(path) as archive:
        return os.path.basename(only_member(path, archive).filename).lower()


def _without_suffix(path: str, stem: str) -> str | None:
    """The format of standard streams, pipes and KONECT files, whose names have no known suffix."""
    if os.path.isdir(path):
        return "netset" if any(os.path.isfile(os.path.join(path, name)) for name in NETSET) else None
    if is_stream(path):
        return "csv"
    return "text" if stem.startswith("out.") else None
