"""Packed graphs: a damaged folder is refused, or holds what it held; a crafted one does no harm.

Every other case is a file with changed bytes, which its checksum gives away. In the others a file or the manifest is
changed and the sizes and checksums are made to fit again, as by somebody who means harm: whatever such a graph holds,
opening it and a fit on it must not crash, hang, or raise anything but a sentence. What opens has the rows that kernels
and answers rely on.
"""

import json
import re
import shutil
import tempfile
import warnings
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

import isotherm as iso
from isotherm.graphs.packed import HEADER, MANIFEST, PackedGraph, open_packed, read_ids, read_rows
from tools.fuzz.mutate import generator, mutated

__all__ = ["case"]

OLD = Path(__file__).parents[2] / "tests" / "graphs_0.2.0"
NUMBERS = [0, 1, -1, 2, 33, 34, 35, 127, 2**31 - 1, -(2**31), 2**32, 2**62, 2**63 - 1, -(2**63)]
VALUES: list[Any] = [None, True, -1, 0, 1, 34, 2**31, 10**18, 10**30, 1e300, float("nan")]
VALUES += ["", "text", "float64", [], [-1], {}]
TYPES = [b"<i8", b"<i4", b"<f4", b"<f8", b"|u1", b"|b1", b">i4", b"<M8", b"|O8"]


def case(seed: int, number: int) -> str | None:
    """What is wrong with one changed folder; None if nothing is."""
    rng = generator(seed, 3000, number)
    originals = _originals()
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        original, folder = originals[int(rng.integers(len(originals)))], Path(name) / "graph.iso"
        for file, content in original.items():
            folder.mkdir(exist_ok=True)
            (folder / file).write_bytes(content)
        if number % 2:
            _craft(folder, rng)
            return _fault(folder, None)
        before = {file: _values(folder / file) for file in original}
        damaged = sorted(original)[int(rng.integers(len(original)))]
        (folder / damaged).write_bytes(mutated(original[damaged], rng))
        return _fault(folder, None if damaged == MANIFEST else before)


def _fault(folder: Path, original: dict[str, bytes] | None) -> str | None:
    for attempt in (_use, _use_rows):
        try:
            found = attempt(folder, original)
        except (ValueError, TypeError) as error:
            found = f"several lines: {error}" if "\n" in str(error) else None
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        if found:
            return found
    return None


def _use(folder: Path, original: dict[str, bytes] | None) -> str | None:
    """Open a folder, check what others rely on, and classify its nodes."""
    graph = open_packed(folder)
    if original is not None and any(_values(folder / name) != values for name, values in original.items()):
        return "damage that was not noticed"
    if not _is_sound(graph):
        return "rows that are not those of a graph"
    nodes = graph.nodes[:].tolist()
    seeds = {nodes[place]: place % 2 for place in range(0, len(nodes), 3)}
    clf = iso.NodeClassifier().fit(graph, seeds)
    _ = clf.confidence_, clf.explain(nodes[-1]), clf.suggest(2)
    return None


def _values(path: Path) -> bytes:
    """The content of a file without its header, some of whose bytes mean nothing."""
    return path.read_bytes()[HEADER * path.name.endswith(".npy") :]


def _is_sound(graph: PackedGraph) -> bool:
    """Whether rows ascend and, without directions, are symmetric; checked densely, since these graphs are small."""
    indptr, indices, weights = graph.csr
    rows = np.repeat(np.arange(graph.n_nodes), np.diff(indptr))
    if len(indices) and not 0 <= indices.min() <= indices.max() < graph.n_nodes:
        return False
    if len({*zip(rows.tolist(), indices.tolist(), strict=True)}) < len(indices):
        return False
    dense = np.zeros((graph.n_nodes, graph.n_nodes))
    dense[rows, indices] = 1 if weights is None else weights
    return bool(graph.directed or (np.array_equal(dense, dense.T) and not dense.diagonal().any()))


def _use_rows(folder: Path, original: dict[str, bytes] | None) -> str | None:
    """What a worker of a cluster reads: some rows, without the others."""
    del original
    csr = read_rows(folder, 3, 20)
    rises = bool((np.diff(csr.indptr) >= 0).all()) and csr.indptr[0] == 0 and csr.indptr[-1] == csr.entries
    return None if rises and len(read_ids(folder, 3, 20)) == 17 else "some rows that are no rows"


@cache
def _originals() -> list[dict[str, bytes]]:
    club = nx.karate_club_graph()
    plain = iso.Graph.from_networkx(club, weight=None)
    source, target = (np.array(side) for side in zip(*club.edges, strict=True))
    graphs = [
        plain,
        iso.Graph.from_networkx(club),
        iso.Graph.from_edges(source * 10, target * 10, source + 0.5),
        iso.Graph.from_edges([f"é{node}" for node in source], [f"é{node}" for node in target]),
        iso.Graph.from_edges(source, target, directed=True),
        iso.Graph.from_biadjacency(plain.adjacency[:12]),
    ]
    return [_packed(graph) for graph in graphs] + [_files(folder) for folder in sorted(OLD.glob("*.iso"))]


def _packed(graph: iso.Graph) -> dict[str, bytes]:
    with tempfile.TemporaryDirectory() as name:
        graph.pack(folder := Path(name) / "graph.iso")
        return _files(folder)


def _files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _craft(folder: Path, rng: np.random.Generator) -> None:
    """Change files and the manifest, and have sizes and checksums fit again."""
    manifest = json.loads((folder / MANIFEST).read_bytes())
    for _ in range(rng.integers(1, 4)):
        if rng.random() < 0.3:
            _change_manifest(manifest, rng)
            continue
        files = sorted(each for each in folder.iterdir() if each.name != MANIFEST)
        path = files[rng.integers(len(files))]
        path.write_bytes(_changed(path.read_bytes(), rng))
    if isinstance(manifest.get("files"), dict):
        for path in folder.iterdir():
            content = path.read_bytes()
            if path.name in manifest["files"]:
                values = content[HEADER * path.name.endswith(".npy") :]
                manifest["files"][path.name] = [len(content), zlib.crc32(values)]
    (folder / MANIFEST).write_text(json.dumps(manifest))
    if rng.random() < 0.05:
        spare = folder.parent / "elsewhere"
        shutil.move(folder / "indices.npy", spare)
        (folder / "indices.npy").symlink_to(spare)


def _change_manifest(manifest: dict[str, Any], rng: np.random.Generator) -> None:
    key = list(manifest)[rng.integers(2, len(manifest))]  # neither the name of the format nor its version
    if rng.random() < 0.2:
        del manifest[key]
    elif rng.random() < 0.3 and isinstance(manifest[key], int):
        manifest[key] += int(rng.choice([-1, 1]))
    else:
        manifest[key] = VALUES[rng.integers(len(VALUES))]


def _changed(content: bytes, rng: np.random.Generator) -> bytes:
    """The content of an array with other values, another length or another type."""
    head, values = content[:HEADER], np.frombuffer(content[HEADER:], np.uint8).copy()
    if len(values) < 8:  # not even one number
        return content
    match int(rng.integers(6)):
        case 0 | 1:
            return head + _other_number(values, 4 if b"i4" in head else 8, rng).tobytes()
        case 2:
            return head + values[: rng.integers(len(values))].tobytes()
        case 3:
            return re.sub(rb"<[if][48]", TYPES[rng.integers(len(TYPES))], head) + values.tobytes()
        case 4:
            return mutated(content, rng)
        case _:
            return head + np.roll(values, 4 * int(rng.integers(1, 20))).tobytes()


def _other_number(values: NDArray[np.uint8], size: int, rng: np.random.Generator) -> NDArray[np.uint8]:
    """One of the numbers is extreme, or that of another place."""
    numbers = values[: len(values) // size * size].view(f"<i{size}")
    place = rng.integers(len(numbers))
    extreme = np.array(NUMBERS, dtype=np.int64).astype(numbers.dtype)
    numbers[place] = rng.choice(extreme) if rng.random() < 0.5 else rng.choice(numbers)
    return values
