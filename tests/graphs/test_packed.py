"""Packed graphs: what goes in comes out, and what is damaged or crafted is refused."""

import io
import json
import pickle
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from graph_cases import WEIGHTED, dense

import isotherm as iso
from isotherm.graphs import packed_writing
from isotherm.graphs.packed import PackedError, PackedGraph, open_packed, read_rows
from isotherm.graphs.packed_ids import Counted, Integers, Texts
from isotherm.graphs.packed_writing import PACKED, PackWriter


def by_id(graph: iso.Graph) -> dict[tuple[Any, Any], float]:
    """The weights of a graph, by the ids of both ends."""
    matrix, ids = graph.adjacency.tocoo(), graph.nodes[:].tolist()
    return {(ids[i], ids[j]): w for i, j, w in zip(matrix.row, matrix.col, matrix.data, strict=True)}


@pytest.mark.parametrize("weight", [None, [2, 0.5, 3], np.array([2, 0.5, 3], np.float32), [1, 1, 1], [2, 2, 2]])
@pytest.mark.parametrize("ids", [[0, 1, 2, 3], [70, 5, -3, 2**40], ["é", "a", "ab", "z z"]])
@pytest.mark.parametrize("directed", [False, True])
def test_what_goes_in_comes_out(tmp_path: Path, ids: list[Any], weight: Any, directed: bool) -> None:
    graph = iso.Graph.from_edges(ids[:3], ids[1:], weight, directed=directed)
    graph.pack(tmp_path / "graph.iso")
    packed = iso.Graph.open(tmp_path / "graph.iso", verify=True)
    assert by_id(packed) == by_id(graph)
    assert packed.nodes[:].tolist() == sorted(ids)
    assert packed.index(ids).tolist() == [sorted(ids).index(node) for node in ids]
    assert (repr(packed), packed.directed) == (repr(graph), directed)
    if graph.csr.weights is not None and packed.csr.weights is not None:
        assert packed.csr.weights.dtype in (graph.csr.weights.dtype, np.float64)


def test_a_packed_graph_is_used_like_any_other(tmp_path: Path) -> None:
    ring = iso.Graph.from_edges(list("fedcba"), list("edcbaf"))
    ring.pack(tmp_path / "ring.iso")
    packed = iso.Graph.open(tmp_path / "ring.iso")
    seeds = {"a": "x", "d": "y"}
    here, there = (iso.DirichletClassifier(calibration=None).fit(graph, seeds) for graph in (ring, packed))
    order = ring.index(packed.nodes[:])
    np.testing.assert_allclose(there.temperatures_, here.temperatures_[order], atol=1e-12)
    assert there.labels_.tolist() == here.labels_[order].tolist()
    assert there.explain("e")["share"].tolist() == pytest.approx(here.explain("e")["share"].tolist())
    values, expected = (clf.suggest(2, return_values=True)[1] for clf in (there, here))
    np.testing.assert_allclose(values, expected)
    there.save(tmp_path / "model.npz")
    assert iso.load(tmp_path / "model.npz").labels_.tolist() == there.labels_.tolist()


@pytest.mark.parametrize("ids", [[0, 1, 2, 3], [5, 7, 70, 2**40], ["a", "b", "c", "d"]])
def test_arcs_of_a_packed_graph_can_be_read_as_edges(tmp_path: Path, ids: list[Any]) -> None:
    graph = iso.Graph.from_edges(ids[:3], ids[1:], [2, 0.5, 3], directed=True)
    graph.pack(tmp_path / "graph.iso")
    packed = iso.Graph.open(tmp_path / "graph.iso")
    assert by_id(packed.edges_only) == by_id(graph.edges_only)


def test_another_process_maps_the_same_folder(tmp_path: Path) -> None:
    iso.Graph.from_scipy(WEIGHTED).pack(tmp_path / "graph.iso")
    packed = iso.Graph.open(tmp_path / "graph.iso")
    sent = pickle.dumps(packed)
    assert len(sent) < 500
    np.testing.assert_array_equal(dense(pickle.loads(sent)), dense(packed))


def test_arrays_are_mapped_and_cannot_be_written_to(tmp_path: Path) -> None:
    iso.Graph.from_scipy(WEIGHTED).pack(tmp_path / "graph.iso")
    packed = iso.Graph.open(tmp_path / "graph.iso")
    assert packed.csr.weights is not None
    for array in packed.csr:
        assert array is not None
        assert not array.flags.writeable
        base: Any = array
        while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
            base = base.base
        assert isinstance(base, np.memmap)


def test_ids_are_found_without_a_dictionary() -> None:
    rng = np.random.default_rng(0)
    numbers = np.unique(rng.integers(-(2**62), 2**62, 500))
    words = sorted({f"n{number % 1000}é"[: 2 + number % 5] for number in numbers.tolist()})
    encoded = [word.encode() for word in words]
    texts = Texts(np.cumsum([0, *map(len, encoded)]), np.frombuffer(b"".join(encoded), np.uint8))
    for ids, known in ((Integers(numbers), numbers.tolist()), (texts, words), (Counted(40), list(range(40)))):
        assert ids.find(known).tolist() == list(range(len(known)))
        assert ids.find_text([str(node) for node in known]).tolist() == list(range(len(known)))
        assert ids.find([2**70, "n", "nowhere", None, 3.5]).tolist()[0] == -1
        assert ids[:].tolist() == ids.tolist() == list(ids) == known
        assert ids[-1] == known[-1]
        assert ids[np.array([3, 0])].tolist() == [known[3], known[0]]
        with pytest.raises(IndexError, match=f"there are {len(known)} nodes"):
            ids[len(known)]


def test_numbers_match_their_text(tmp_path: Path) -> None:
    iso.Graph.from_edges([7, 70], [70, 700]).pack(tmp_path / "graph.iso")
    packed = open_packed(tmp_path / "graph.iso")
    assert packed.matches(["7", 700, "007", "x", "-7", "7" * 30]) == [7, 700, None, None, None, None]
    iso.Graph.from_edges(["7", "70"], ["70", "700"]).pack(tmp_path / "texts.iso")
    assert open_packed(tmp_path / "texts.iso").matches([7, "700", 8]) == ["7", "700", None]


def test_an_unknown_id_is_named(tmp_path: Path) -> None:
    iso.Graph.from_edges(["a"], ["b"]).pack(tmp_path / "graph.iso")
    with pytest.raises(ValueError, match="1 node is not in the graph: 'c'"):
        iso.Graph.open(tmp_path / "graph.iso").index(["a", "c"])


def test_ids_of_other_kinds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"all int or all str to be packed, but \(1, 2\) is neither"):
        iso.Graph.from_edges([(1, 2)], ["b"]).pack(tmp_path / "graph.iso")
    assert list(tmp_path.iterdir()) == []


def test_what_exists_is_kept_unless_forced(tmp_path: Path) -> None:
    one, two = iso.Graph.from_edges(["a"], ["b"]), iso.Graph.from_edges(["a", "b"], ["b", "c"])
    one.pack(tmp_path / "graph.iso")
    with pytest.raises(ValueError, match=r"exists already, and is kept; .* overwrite it with force=True"):
        two.pack(tmp_path / "graph.iso")
    two.pack(tmp_path / "graph.iso", force=True)
    assert iso.Graph.open(tmp_path / "graph.iso").n_nodes == 3
    (tmp_path / "other").mkdir()
    with pytest.raises(ValueError, match="exists and is not a packed graph"):
        one.pack(tmp_path / "other", force=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graph.iso", "other"]


def test_an_error_leaves_nothing_behind_and_the_old_graph_whole(tmp_path: Path) -> None:
    iso.Graph.from_edges(["a"], ["b"]).pack(tmp_path / "graph.iso")

    def fail() -> None:
        with PACKED.writing(tmp_path / "graph.iso", force=True) as draft, PackWriter(draft) as writer:
            writer.append(np.array([1, 1]), np.array([1, 0], np.int32), None)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == ["graph.iso"]
    assert iso.Graph.open(tmp_path / "graph.iso").n_nodes == 2


def test_leftovers_of_a_killed_process_are_removed(tmp_path: Path) -> None:
    left, own = (tmp_path / f".graph.iso.{process}-0123abcd.tmp" for process in (2**22 + 1, 1))
    left.mkdir()
    own.mkdir()  # process 1 runs
    iso.Graph.from_edges(["a"], ["b"]).pack(tmp_path / "graph.iso")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([own.name, "graph.iso"])


def rewritten(folder: Path, name: str, values: Any, dtype: Any) -> None:
    """Replace an array, with a manifest that agrees: what a clever adversary would do."""
    values = np.asarray(values, dtype)
    file = folder / name
    header = file.read_bytes()[:128].replace(b"'<i4'", f"'{values.dtype.str}'".encode())
    file.write_bytes(header + values.tobytes())
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][name] = [128 + values.nbytes, zlib.crc32(values.tobytes())]
    (folder / "manifest.json").write_text(json.dumps(manifest))


def edited(**values: Any) -> Callable[[Path], None]:
    def edit(folder: Path) -> None:
        manifest = json.loads((folder / "manifest.json").read_text())
        (folder / "manifest.json").write_text(json.dumps(manifest | values))

    return edit


def flipped(name: str, place: int) -> Callable[[Path], None]:
    def flip(folder: Path) -> None:
        content = bytearray((folder / name).read_bytes())
        content[place] ^= 1
        (folder / name).write_bytes(content)

    return flip


def folder_for_file(folder: Path) -> None:
    (folder / "indptr.npy").unlink()
    (folder / "indptr.npy").mkdir()


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "no manifest": lambda folder: (folder / "manifest.json").unlink(),
    "half a manifest": lambda folder: (folder / "manifest.json").write_text('{"format": "isotherm gr'),
    "a list": lambda folder: (folder / "manifest.json").write_text("[1]"),
    "deep nesting": lambda folder: (folder / "manifest.json").write_text("[" * 100_000),
    "binary": lambda folder: (folder / "manifest.json").write_bytes(b"\xff\x00" * 20),
    "no indices": lambda folder: (folder / "indices.npy").unlink(),
    "a folder for a file": folder_for_file,
    "cut": lambda folder: (folder / "indices.npy").write_bytes((folder / "indices.npy").read_bytes()[:-4]),
    "empty": lambda folder: (folder / "indptr.npy").write_bytes(b""),
    "flipped indices": flipped("indices.npy", 130),
    "flipped weights": flipped("weights.npy", 131),
    "flipped texts": flipped("ids.utf8", 0),
    "flipped header": flipped("indices.npy", 20),
    "flipped magic": flipped("indices.npy", 1),
    "later version": edited(version=3),
    "another format": edited(format="other"),
    "too many nodes": edited(nodes=2**31),
    "no nodes": edited(nodes=0),
    "nodes are text": edited(nodes="4"),
    "nodes are true": edited(nodes=True),
    "more entries": edited(entries=10**15),
    "fewer entries": edited(entries=2),
    "weights of text": edited(weights="<U8"),
    "files outside": edited(files={"../x": [1, 2]}),
    "no files": edited(files={}),
    "odd ids": edited(ids="floats"),
    "indices beyond": lambda folder: rewritten(folder, "indices.npy", [1, 2, 0, 0, 2**31 - 1, 2], np.int32),
    "negative indices": lambda folder: rewritten(folder, "indices.npy", [1, 2, 0, 0, -1, 2], np.int32),
    "falling indptr": lambda folder: rewritten(folder, "indptr.npy", [0, 5, 3, 4, 6], np.int64),
    "indptr beyond": lambda folder: rewritten(folder, "indptr.npy", [0, 2, 3, 5, 2**40], np.int64),
    "indptr below": lambda folder: rewritten(folder, "indptr.npy", [-8, 2, 3, 5, 6], np.int64),
    "other types": lambda folder: rewritten(folder, "indices.npy", [1, 2, 0], np.float64),
    "asymmetric": lambda folder: rewritten(folder, "indices.npy", [1, 2, 3, 0, 3, 2], np.int32),
    "loops": lambda folder: rewritten(folder, "indices.npy", [0, 2, 1, 0, 3, 2], np.int32),
    "rows that fall": lambda folder: rewritten(folder, "indices.npy", [2, 1, 0, 0, 3, 2], np.int32),
    "infinite weights": lambda folder: rewritten(folder, "weights.npy", [np.inf] * 6, np.float64),
    "no numbers": lambda folder: rewritten(folder, "weights.npy", [np.nan] * 6, np.float64),
    "negative weights": lambda folder: rewritten(folder, "weights.npy", [-1] * 6, np.float64),
    "ids beyond": lambda folder: rewritten(folder, "ids.npy", [0, 1, 2, 3, 2**50], np.int64),
    "ids that fall": lambda folder: rewritten(folder, "ids.npy", [0, 3, 2, 3, 4], np.int64),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_or_crafted_folder_is_refused(tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "graph.iso"
    iso.Graph.from_edges(list("aac"), list("bcd"), [2, 0.5, 3]).pack(folder)
    assert sorted(iso.Graph.open(folder).csr.indices[:3].tolist()) == [0, 1, 2]
    DAMAGES[damage](folder)
    with pytest.raises(PackedError, match=r"graph\.iso .*; (pack|make)") as refused:
        iso.Graph.open(folder)
    assert "\n" not in str(refused.value)
    with pytest.raises(iso.FileError, match=r"graph\.iso"):
        iso.read_graph(folder)


def test_the_rows_of_a_large_folder_are_checked_and_its_checksums_on_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("isotherm.graphs.packed.CHECKED", 0)
    folder = tmp_path / "graph.iso"
    iso.Graph.from_edges(list("aac"), list("bcd")).pack(folder)
    rewritten(folder, "indices.npy", [1, 2, 3, 0, 3, 2], np.int32)
    with pytest.raises(PackedError, match="not symmetric"):
        iso.Graph.open(folder)
    rewritten(folder, "indices.npy", [1, 2, 4, 0, 3, 2], np.int32)
    with pytest.raises(PackedError, match="not all between 0 and 3"):
        iso.Graph.open(folder)
    flipped("ids.utf8", 0)(folder)
    rewritten(folder, "indices.npy", [1, 2, 0, 0, 3, 2], np.int32)
    assert isinstance(iso.Graph.open(folder), PackedGraph)
    with pytest.raises(PackedError, match="checksum"):
        iso.Graph.open(folder, verify=True)


@pytest.mark.parametrize(("values", "dtype"), [([0, 2], np.int64), ([0, 2, 3, 5, 6], np.int32), ([], np.int64)])
def test_rows_of_a_folder_whose_array_has_another_length_or_type_are_refused(
    tmp_path: Path, values: list[int], dtype: Any
) -> None:
    folder = tmp_path / "graph.iso"
    iso.Graph.from_edges(list("aac"), list("bcd")).pack(folder)
    assert read_rows(folder, 1, 3).indices.tolist() == [0, 0, 3]
    rewritten(folder, "indptr.npy", values, dtype)
    with pytest.raises(PackedError, match=r"damaged: indptr\.npy"):
        read_rows(folder, 1, 3)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(PackedError, match=r"none\.iso does not exist; check its name"):
        iso.Graph.open(tmp_path / "none.iso")


class Hesitant(io.FileIO):
    """A file that takes a few bytes at a time, as on a disk that is nearly full."""

    def write(self, content: Any) -> int:
        return super().write(memoryview(content)[:50])


def test_a_file_that_takes_a_few_bytes_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_writing, "open", lambda path, mode, buffering: Hesitant(path, mode[:1]), raising=False)
    graph = iso.Graph.from_edges(["a", "b", "c"], ["b", "c", "d"], [1.0, 2.0, 3.0])
    graph.pack(tmp_path / "graph.iso")
    assert iso.Graph.open(tmp_path / "graph.iso", verify=True).nodes[:].tolist() == ["a", "b", "c", "d"]
