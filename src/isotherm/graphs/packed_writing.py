"""Graphs written to folders: rows are appended, and the folder appears when it is complete."""

import os
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, Self

import numpy as np
from numpy.typing import NDArray

from isotherm.files import FolderKind, write_whole
from isotherm.graphs.csr import Csr
from isotherm.graphs.graph import Graph
from isotherm.graphs.packed import HEADER, MANIFEST, Manifest, PackedError, is_packed
from isotherm.graphs.packed_ids import Counted, Integers, Texts

PIECE = 1 << 22  # values written at once


class _ArrayFile:
    """A ``.npy`` file, or plain bytes, written from start to end, with a checksum of the values."""

    def __init__(self, path: Path, dtype: Any, *, header: bool = True) -> None:
        self.dtype, self.length, self.header = np.dtype(dtype), 0, header
        self.file: IO[bytes] = open(path, "xb", buffering=0)  # noqa: SIM115 - closed by `close` or by `PackWriter`
        self._sum = 0
        if header:
            write_whole(self.file, self._start())

    def append(self, values: NDArray[Any]) -> None:
        for first in range(0, len(values), PIECE):
            part: Any = np.ascontiguousarray(values[first : first + PIECE], dtype=self.dtype)
            content = memoryview(part).cast("B")
            self._sum = zlib.crc32(content, self._sum)
            write_whole(self.file, content)
        self.length += len(values)

    def close(self) -> list[int]:
        """Finish the file; returns its size and the checksum of its values."""
        if self.header:
            self.file.seek(0)
            write_whole(self.file, self._start())
        os.fsync(self.file.fileno())
        self.file.close()
        return [HEADER * self.header + self.length * self.dtype.itemsize, self._sum]

    def _start(self) -> bytes:
        """The header, which has the same size for every length."""
        text = f"{{'descr': '{self.dtype.str}', 'fortran_order': False, 'shape': ({self.length},), }}"
        magic = np.lib.format.magic(1, 0)
        size = HEADER - len(magic) - 2
        return magic + size.to_bytes(2, "little") + text.ljust(size - 1).encode() + b"\n"


class PackWriter:
    """Writes a graph row by row into an empty folder, such as the draft of `PACKED`."""

    def __init__(self, folder: Path, *, directed: bool = False, n_rows: int | None = None) -> None:
        self.folder, self.directed, self.n_rows = folder, directed, n_rows
        self._indptr = _ArrayFile(folder / "indptr.npy", np.int64)
        self._indptr.append(np.zeros(1, np.int64))
        self._indices = _ArrayFile(folder / "indices.npy", np.int32)
        self._weights: _ArrayFile | None = None
        self._same: float | None = None  # the weight of all entries so far, while all are equal
        self._files: dict[str, list[int]] = {}
        self._ids = "none"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Close the files that are still open after an error."""
        for file in (self._indptr, self._indices, self._weights):
            if file is not None:
                file.file.close()

    @property
    def entries(self) -> int:
        """The number of entries so far."""
        return self._indices.length

    def append(self, counts: NDArray[np.integer], indices: NDArray[np.int32], weights: NDArray[Any] | None) -> None:
        """Append rows: the number of entries in each, and all indices; without weights, all entries weigh one."""
        before = self.entries
        self._indptr.append(before + np.cumsum(counts, dtype=np.int64))
        self._indices.append(indices)
        if len(indices):
            self._append_weights(before, len(indices), weights)

    def _append_weights(self, before: int, count: int, weights: NDArray[Any] | None) -> None:
        """Append weights; their file begins when two of them differ, because most graphs need none."""
        if self._weights is None:
            low, high = (1.0, 1.0) if weights is None else (float(weights.min()), float(weights.max()))
            self._same = low if self._same is None else self._same
            if low == high == self._same:
                return
            dtype = np.float32 if weights is None else weights.dtype
            self._weights = _ArrayFile(self.folder / "weights.npy", dtype)
            self._repeat(before)
        self._weights.append(np.ones(count, np.float32) if weights is None else weights)

    def _repeat(self, count: int) -> None:
        """Write the weight of the entries so far."""
        assert self._weights is not None
        for first in range(0, count, PIECE):
            self._weights.append(np.full(min(PIECE, count - first), self._same, self._weights.dtype))

    def integer_ids(self, ids: NDArray[np.int64]) -> None:
        """Store integer ids, in ascending order."""
        self._ids = "integers"
        file = _ArrayFile(self.folder / "ids.npy", np.int64)
        file.append(ids)
        self._files["ids.npy"] = file.close()

    def text_ids(self, pieces: Iterable[list[str]]) -> None:
        """Store text ids, in ascending order of their bytes, list by list."""
        self._ids = "text"
        ends = _ArrayFile(self.folder / "ids.npy", np.int64)
        content = _ArrayFile(self.folder / "ids.utf8", np.uint8, header=False)
        ends.append(np.zeros(1, np.int64))
        for texts in pieces:
            encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
            sizes = np.fromiter(map(len, encoded), np.int64, len(encoded))
            ends.append(content.length + np.cumsum(sizes))
            content.append(np.frombuffer(b"".join(encoded), np.uint8))
        self._files |= {"ids.npy": ends.close(), "ids.utf8": content.close()}

    def finish(self) -> Manifest:
        """Close all files and write the manifest."""
        if self._weights is None and self._same not in (None, 1.0):
            self._weights = _ArrayFile(self.folder / "weights.npy", np.float64)
            self._repeat(self.entries)
        kind = None if self._weights is None else self._weights.dtype.name
        if self._weights is not None:
            self._files["weights.npy"] = self._weights.close()
        entries, nodes = self.entries, self._indptr.length - 1
        self._files |= {"indices.npy": self._indices.close(), "indptr.npy": self._indptr.close()}
        manifest = Manifest(nodes, entries, self.directed, kind, self._ids, self.n_rows, self._files)
        (self.folder / MANIFEST).write_text(manifest.json(), encoding="utf-8")
        return manifest


PACKED = FolderKind("a packed graph", is_packed)


def pack(graph: Graph, path: str | os.PathLike[str], *, force: bool = False) -> Path:
    """Write a graph as a folder; see :meth:`isotherm.Graph.pack`."""
    graph.check_one_kind()
    target = Path(path)
    order, kind = _ascending(graph)
    csr = graph.csr if order is None else _permuted(graph.csr, order)
    ids = graph.nodes if order is None else graph.nodes[order]
    with PACKED.writing(target, force=force) as draft, PackWriter(draft) as writer:
        writer.directed, writer.n_rows = graph.directed, graph.n_rows if order is None else None
        writer.append(np.diff(csr.indptr), csr.indices, csr.weights)
        if kind == "integers":
            writer.integer_ids(np.asarray(ids))
        elif kind == "text":
            writer.text_ids(ids[first : first + PIECE].tolist() for first in range(0, len(ids), PIECE))
        writer.finish()
    return target


def _ascending(graph: Graph) -> tuple[NDArray[np.int64] | None, str]:
    """The order in which ids ascend, or None if they do already; and the kind of the ids."""
    ids: Any = graph.nodes
    if isinstance(ids, (Counted, Integers, Texts)):
        return None, {Counted: "none", Integers: "integers", Texts: "text"}[type(ids)]
    if ids.dtype == np.int64:
        if np.array_equal(ids, np.arange(len(ids))):
            return None, "none"
        order = np.argsort(ids, kind="stable")
        return (None if np.array_equal(order, np.arange(len(ids))) else order), "integers"
    names = ids.tolist()
    odd = next((node for node in names if not isinstance(node, str)), None)
    if odd is not None:
        raise PackedError(f"node ids must be all int or all str to be packed, but {odd!r} is neither; rename the nodes")
    order = np.array(sorted(range(len(names)), key=lambda place: names[place].encode("utf-8", "surrogatepass")))
    return (None if np.array_equal(order, np.arange(len(names))) else order), "text"


def _permuted(csr: Csr, order: NDArray[np.int64]) -> Csr:
    """The matrix with its rows and columns in another order."""
    matrix = csr.to_scipy()[order][:, order]
    matrix.sort_indices()
    weights = None if csr.weights is None else matrix.data
    return Csr(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), weights)
