"""Packed graphs: a graph as a folder of plain arrays, mapped into memory instead of read.

=================  =======================================================================================
``manifest.json``  Format version, sizes and kinds, and for each of the other files its size and the CRC-32 of
                   its values.
``indptr.npy``     int64, n + 1 values: row i has entries ``indptr[i]`` to ``indptr[i + 1] - 1``.
``indices.npy``    int32, ascending in each row. An undirected graph has each edge in both rows.
``weights.npy``    float32 or float64, one for each entry; left out if all are one.
``ids.npy``        int64: the ids in ascending order; if they are texts, their n + 1 bounds in ``ids.utf8``.
                   Left out if nodes are 0 to n - 1.
=================  =======================================================================================

Kernels trust their arrays, so a damaged or crafted folder must be refused here. Every opening checks sizes and types,
that ``indptr`` rises, that all indices are nodes, and that rows ascend and are symmetric. Symmetry is checked by a hash
of the entries, so that no second matrix is needed. Checksums are compared up to `CHECKED` bytes, and beyond on request.
"""

import json
import os
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from isotherm import kernels
from isotherm.files import FileError
from isotherm.graphs.csr import MOST_NODES, Csr, read_only
from isotherm.graphs.graph import Graph
from isotherm.graphs.nodes import flat, not_in_the_graph
from isotherm.graphs.packed_ids import Counted, Integers, StoredIds, Texts
from isotherm.graphs.untrusted import PIECE, check_compressed, rises

FORMAT, VERSION, MANIFEST = "isotherm graph", 2, "manifest.json"
READABLE = (1, VERSION)  # version 1 also lists blocks of rows, which nothing needs
CHECKED = 1 << 28  # bytes up to which checksums are always compared: about half a second
HEADER = 128  # bytes of a .npy file before its values
LARGEST = 1 << 24  # bytes of a manifest
IDS = ("none", "integers", "text")
WEIGHTS = ("float32", "float64")


class PackedError(FileError):
    """A packed graph that cannot be opened: one sentence with the remedy."""


@dataclass(frozen=True)
class Manifest:
    """The content of ``manifest.json``."""

    nodes: int
    entries: int
    directed: bool = False
    weights: str | None = None  # their type; None if all are one
    ids: str = "none"
    n_rows: int | None = None  # rows of the biadjacency matrix, if the graph is bipartite
    files: dict[str, list[int]] = field(default_factory=dict)  # size in bytes and CRC-32

    def json(self) -> str:
        """The text of the file."""
        return json.dumps({"format": FORMAT, "version": VERSION, **asdict(self)}, indent=1) + "\n"

    @classmethod
    def read(cls, folder: Path) -> "Manifest":
        """The manifest of a folder, checked as far as possible without the arrays."""
        path = folder / MANIFEST
        try:
            if path.stat().st_size > LARGEST:
                raise ValueError
            content = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError) as error:
            raise _no_manifest(folder, error) from None
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise PackedError(f"{folder} is not a packed graph; make one with isotherm pack")
        if content.get("version") not in READABLE:
            version = f"has version {content.get('version')!r} of the format, not {VERSION}"
            raise PackedError(f"{folder} {version}; pack it again with this version of isotherm")
        known = {each.name for each in fields(cls)}
        values = {name: value for name, value in content.items() if name in known}
        if known - {"n_rows"} - values.keys() or not _plausible(values):
            raise _damaged(folder, f"{MANIFEST} lacks values or has impossible ones")
        return cls(**values)

    @property
    def needed(self) -> dict[str, tuple[str, int]]:
        """The type and length of each array."""
        arrays = {"indptr.npy": ("<i8", self.nodes + 1), "indices.npy": ("<i4", self.entries)}
        if self.weights is not None:
            arrays["weights.npy"] = ("<f4" if self.weights == "float32" else "<f8", self.entries)
        if self.ids != "none":
            arrays["ids.npy"] = ("<i8", self.nodes + (self.ids == "text"))
        return arrays


def is_packed(path: str | os.PathLike[str]) -> bool:
    """Whether this is a folder with a manifest."""
    return os.path.isfile(os.path.join(path, MANIFEST))  # False for a name that is too long


def open_arrays(folder: Path, manifest: Manifest, *, verify: bool = False, unread: bool = False) -> Csr:
    """The matrix of a packed graph, mapped and checked; if ``unread``, only headers and sizes are checked."""
    arrays = {name: _mapped(folder, manifest, name) for name in manifest.needed}
    csr = Csr(arrays["indptr.npy"], arrays["indices.npy"], arrays.get("weights.npy"))
    if unread:
        return csr
    if verify or sum(size for size, _ in manifest.files.values()) <= CHECKED:
        for name in manifest.files:
            _check_sum(folder, manifest, name)
    _check_rows(folder, csr, csr.n)
    ordered, symmetric, loops = kernels.active.scan(*csr, kernels.thread_count())
    if not ordered:
        raise _damaged(folder, "indices.npy does not ascend in each row")
    if not manifest.directed and (loops or not symmetric):
        raise _damaged(folder, "its matrix is not symmetric, or has loops")
    return csr


def read_rows(folder: Path, first: int, last: int) -> Csr:
    """Rows ``first`` to ``last - 1`` of a packed graph, read into memory and checked."""
    manifest = Manifest.read(folder)
    indptr = _read(folder, manifest, "indptr.npy", first, last + 1)
    begin, end = int(indptr[0]), int(indptr[-1])
    if not 0 <= begin <= end <= manifest.entries:
        raise _damaged(folder, "indptr.npy does not rise from 0 to the number of entries")
    indices = _read(folder, manifest, "indices.npy", begin, end)
    weights = None if manifest.weights is None else _read(folder, manifest, "weights.npy", begin, end)
    csr = Csr(indptr - begin, indices, weights)
    _check_rows(folder, csr, manifest.nodes)
    return csr


def read_ids(folder: Path, first: int, last: int) -> NDArray[Any]:
    """The ids of nodes ``first`` to ``last - 1`` of a packed graph, read into memory."""
    manifest = Manifest.read(folder)
    if manifest.ids == "none":
        return np.arange(first, last)
    ends = _read(folder, manifest, "ids.npy", first, last + (manifest.ids == "text"))
    if manifest.ids == "integers":
        return ends
    if not rises(ends) or not 0 <= ends[0] <= ends[-1] <= _size(folder, manifest, "ids.utf8"):
        raise _damaged(folder, "ids.npy does not rise from 0 to the size of ids.utf8")
    content = np.fromfile(folder / "ids.utf8", np.uint8, int(ends[-1] - ends[0]), offset=int(ends[0]))
    return Texts(ends - ends[0], content)[0 : last - first]


def _read(folder: Path, manifest: Manifest, name: str, first: int, last: int) -> NDArray[Any]:
    """A part of an array, read instead of mapped: mapped pages would count as memory of the process."""
    dtype, length = _described(folder, manifest, name)
    if not 0 <= first <= last <= length:
        raise _damaged(folder, f"{name} is shorter or longer than its header says")
    return np.fromfile(folder / name, dtype, last - first, offset=HEADER + first * dtype.itemsize)


def open_ids(folder: Path, manifest: Manifest) -> StoredIds:
    """The ids of a packed graph, mapped."""
    if manifest.ids == "none":
        return Counted(manifest.nodes)
    values = _mapped(folder, manifest, "ids.npy")
    if manifest.ids == "integers":
        if not rises(values, strictly=True):
            raise _damaged(folder, "ids.npy does not ascend")
        return Integers(values)
    size = _size(folder, manifest, "ids.utf8")
    if values[0] != 0 or values[-1] != size or not rises(values):
        raise _damaged(folder, "ids.npy does not rise from 0 to the size of ids.utf8")
    return Texts(values, np.memmap(folder / "ids.utf8", np.uint8, "r") if size else np.empty(0, np.uint8))


def _plausible(values: dict[str, Any]) -> bool:
    """Whether the values of a manifest have the right types and ranges."""
    nodes, entries, rows, files = values["nodes"], values["entries"], values.get("n_rows"), values["files"]

    def counts(*given: Any) -> bool:
        return all(type(value) is int and value >= 0 for value in given)

    return (
        counts(nodes, entries)
        and 0 < nodes <= MOST_NODES
        and entries < 2**62
        and type(values["directed"]) is bool
        and (values["weights"] is None or values["weights"] in WEIGHTS)
        and values["ids"] in IDS
        and (rows is None or (counts(rows) and rows <= nodes))
        and isinstance(files, dict)
        and all(isinstance(entry, list) and len(entry) == 2 and counts(*entry) for entry in files.values())
        and all(os.path.basename(name) == name for name in files)
    )


def _size(folder: Path, manifest: Manifest, name: str) -> int:
    """The size of a file, after a check that the manifest says the same."""
    path = folder / name
    try:
        found = path.stat().st_size if path.is_file() else None
    except OSError:
        found = None
    if found is None or name not in manifest.files:
        raise _damaged(folder, f"{name} is missing")
    if found != manifest.files[name][0]:
        raise _damaged(folder, f"{name} has {found:,} bytes, not {manifest.files[name][0]:,}")
    return found


def _mapped(folder: Path, manifest: Manifest, name: str) -> NDArray[Any]:
    """An array of the type and length that the manifest says, mapped."""
    dtype, length = _described(folder, manifest, name)
    return np.memmap(folder / name, dtype, "r", HEADER, (length,)).view(np.ndarray) if length else np.empty(0, dtype)


def _described(folder: Path, manifest: Manifest, name: str) -> tuple[np.dtype[Any], int]:
    """The type and length of an array in the manifest, after a check that its header and size agree with them."""
    _size(folder, manifest, name)
    wanted, length = manifest.needed[name]
    dtype = np.dtype(wanted)
    try:
        with open(folder / name, "rb") as file:
            version = np.lib.format.read_magic(file)
            read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
            shape, fortran, found = read(file)
            offset = file.tell()
    except OSError as error:
        raise PackedError(f"{folder / name} cannot be opened: {error.strerror}; ask its owner, or copy it") from None
    except Exception:
        raise _damaged(folder, f"{name} is not a NumPy array") from None
    if (shape, fortran, found) != ((length,), False, dtype):
        raise _damaged(folder, f"{name} is not a list of {length:,} values of type {dtype}")
    if offset != HEADER or manifest.files[name][0] != offset + length * dtype.itemsize:
        raise _damaged(folder, f"{name} is shorter or longer than its header says")
    return dtype, length


def _check_sum(folder: Path, manifest: Manifest, name: str) -> None:
    found = 0
    _size(folder, manifest, name)
    with open(folder / name, "rb", buffering=0) as file:
        file.seek(HEADER * name.endswith(".npy"))
        while piece := file.read(1 << 22):
            found = zlib.crc32(piece, found)
    if found != manifest.files[name][1]:
        raise _damaged(folder, f"{name} does not match its checksum")


def _check_rows(folder: Path, csr: Csr, nodes: int) -> None:
    """Check that kernels cannot read outside the arrays, and that weights are valid."""
    try:
        check_compressed(csr.indptr, csr.indices, (csr.n, nodes), csr.entries)
    except ValueError as error:
        raise _damaged(folder, str(error)) from None
    if csr.indptr[-1] != csr.entries:
        raise _damaged(folder, "indptr.npy does not end with the number of entries")
    for first in range(0, csr.entries if csr.weights is not None else 0, PIECE):
        part = csr.weights[first : first + PIECE]  # type: ignore[index]
        if not (part.min() > 0 and part.max() < np.inf):
            raise _damaged(folder, "weights.npy has weights that are not positive and finite")


def _damaged(folder: Path, problem: str) -> PackedError:
    return PackedError(f"{folder} is damaged: {problem}; pack the graph again")


def _no_manifest(folder: Path, error: Exception) -> PackedError:
    if isinstance(error, PermissionError):
        return PackedError(f"{folder} cannot be opened: permission denied; ask its owner, or copy it")
    if not folder.exists():
        return PackedError(f"{folder} does not exist; check its name")
    if isinstance(error, OSError):
        return PackedError(f"{folder} is not a packed graph: it has no {MANIFEST}; make one with isotherm pack")
    return _damaged(folder, f"{MANIFEST} cannot be read")


class PackedGraph(Graph):
    """A `Graph` whose arrays are in a folder, and are read when they are used.

    Its nodes are in ascending order of their ids. ``nodes`` is not an array but can be indexed like one; use
    ``nodes[first:last]`` for a part of the ids rather than ``nodes.tolist()`` for all of them.
    """

    folder: Path
    manifest: Manifest
    nodes: StoredIds  # type: ignore[assignment]
    is_packed: ClassVar[bool] = True

    def __init__(self, folder: Path, manifest: Manifest, *, verify: bool = False, unread: bool = False) -> None:
        csr = read_only(open_arrays(folder, manifest, verify=verify, unread=unread))
        self._set(folder=folder, manifest=manifest, csr=csr, nodes=open_ids(folder, manifest))
        self._set(directed=manifest.directed, n_rows=manifest.n_rows)

    def _set(self, **values: object) -> None:
        """Set attributes of the frozen dataclass."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def __reduce__(self) -> tuple[Any, tuple[object, ...]]:
        """Another process maps the same folder."""
        return open_packed, (self.folder.absolute(),)

    def index(self, ids: Iterable[Any]) -> NDArray[np.int64]:
        """Positions of node ids, by binary search; unknown ids raise a ValueError."""
        wanted = flat(ids, "ids").tolist()
        positions = self.nodes.find(wanted)
        if (positions < 0).any():
            unknown = np.fromiter((wanted[place] for place in np.flatnonzero(positions < 0)), dtype=object)
            raise ValueError(not_in_the_graph(unknown))
        return positions

    def matches(self, ids: Sequence[Any]) -> list[Any]:
        """The node id that each id stands for, or None: ``"7"`` may stand for 7, and 7 for ``"7"``."""
        positions = self.nodes.find(ids)
        lost = np.flatnonzero(positions < 0)
        positions[lost] = self.nodes.find_text([str(ids[place]) for place in lost.tolist()])
        found: list[Any] = [None] * len(positions)
        known = np.flatnonzero(positions >= 0)
        for place, node in zip(known.tolist(), self.nodes[positions[known]].tolist(), strict=True):
            found[place] = node
        return found

    def loaded(self) -> Graph:
        """The same graph in memory."""
        indptr, indices, weights = self.csr
        csr = Csr(indptr.copy(), indices.copy(), None if weights is None else weights.copy())
        return Graph(csr, np.asarray(self.nodes), self.directed, self.n_rows)

    def unweighted(self) -> Self:
        """The same graph with all weights equal to one."""
        twin = type(self).__new__(type(self))
        kept = ("folder", "manifest", "nodes", "directed", "n_rows")  # no cached values
        twin._set(csr=self.csr._replace(weights=None), **{name: getattr(self, name) for name in kept})
        return twin


def open_packed(path: str | os.PathLike[str], *, verify: bool = False, unread: bool = False) -> PackedGraph:
    """Open a packed graph; if ``unread``, its rows are not checked here but by `read_rows`."""
    return PackedGraph(Path(path), Manifest.read(Path(path)), verify=verify, unread=unread)
