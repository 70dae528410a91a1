"""Archives and pickles: what datasets come in is read, and what could do harm is refused."""

import gzip
import io
import os
import pickle
import stat
import tarfile
import zipfile
from collections import OrderedDict, defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from isotherm.study.datasets import pickles
from isotherm.study.datasets.archives import UnsafeArchiveError, read_gzip, read_npy, read_npz, read_tar
from isotherm.study.datasets.pickles import UnsafePickleError, load_pickle

MEGA = 1 << 20


class Harm:
    """Its pickle makes a file when it is loaded by ``pickle.load``."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return os.mkdir, (str(self.path),)


def npy(array: NDArray[Any], **options: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, **options)
    return buffer.getvalue()


def tar(path: Path, members: list[tuple[tarfile.TarInfo, bytes]], mode: str = "w:gz") -> Path:
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        for member, content in members:
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def member(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


class TestTar:
    @pytest.mark.parametrize("mode", ["w:gz", "w"])
    def test_files_come_by_their_names_without_folders(self, tmp_path: Path, mode: str) -> None:
        folder = member("graph", tarfile.DIRTYPE)
        path = tar(tmp_path / "a.tar.gz", [(folder, b""), (member("graph/a.npy"), b"12"), (member("b.p"), b"3")], mode)
        assert read_tar(path, most_bytes=MEGA) == {"a.npy": b"12", "b.p": b"3"}

    @pytest.mark.parametrize("name", ["../out", "a/../../out", "/etc/passwd", "..\\out", "C:\\out", "\\out"])
    def test_a_way_out_of_the_folder_is_refused(self, tmp_path: Path, name: str) -> None:
        path = tar(tmp_path / "a.tar.gz", [(member("adjacency.npz"), b"1"), (member(name), b"2")])
        with pytest.raises(UnsafeArchiveError, match="leads out of its folder"):
            read_tar(path, most_bytes=MEGA)
        assert os.listdir(tmp_path) == ["a.tar.gz"]

    @pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE])
    def test_links_and_devices_are_refused(self, tmp_path: Path, kind: bytes) -> None:
        path = tar(tmp_path / "a.tar.gz", [(member("labels.npy", kind, "/etc/passwd"), b"")])
        with pytest.raises(UnsafeArchiveError, match="neither a plain file nor a folder"):
            read_tar(path, most_bytes=MEGA)

    def test_a_bomb_is_refused_before_it_fills_memory(self, tmp_path: Path) -> None:
        path = tar(tmp_path / "a.tar.gz", [(member("labels.npy"), bytes(64 * MEGA))])
        assert path.stat().st_size < MEGA
        with pytest.raises(UnsafeArchiveError, match="more than 1048576 bytes once unpacked"):
            read_tar(path, most_bytes=MEGA)

    def test_a_bomb_in_a_header_is_refused(self, tmp_path: Path) -> None:
        extended = member("pax", tarfile.XHDTYPE)
        path = tar(tmp_path / "a.tar.gz", [(extended, bytes(64 * MEGA)), (member("labels.npy"), b"1")])
        with pytest.raises(UnsafeArchiveError, match="more than 1048576 bytes once unpacked"):
            read_tar(path, most_bytes=MEGA)

    def test_a_sparse_file_has_no_size_of_its_own_choice(self, tmp_path: Path) -> None:
        header = bytearray(member("labels.npy", tarfile.GNUTYPE_SPARSE).tobuf(tarfile.GNU_FORMAT))
        header[386:410] = b"%011o\0%011o\0" % (0, 0)  # one piece, empty
        header[483:495] = b"%011o\0" % (64 * MEGA)  # the size with all holes
        header[148:156] = b" " * 8
        header[148:156] = b"%06o\0 " % sum(header)
        (tmp_path / "a.tar").write_bytes(header + bytes(1024))
        with tarfile.open(tmp_path / "a.tar") as archive:
            assert [m.size for m in archive] == [64 * MEGA]
        with pytest.raises(UnsafeArchiveError, match="neither a plain file nor a folder"):
            read_tar(tmp_path / "a.tar", most_bytes=MEGA)

    def test_only_what_is_wanted_is_kept_and_all_is_checked(self, tmp_path: Path) -> None:
        path = tar(tmp_path / "a.tar.gz", [(member("g/labels.npy"), b"12"), (member("g/names.npy"), b"3")])
        assert read_tar(path, most_bytes=MEGA, wanted=("labels",)) == {"labels.npy": b"12"}
        path = tar(tmp_path / "b.tar.gz", [(member("g/labels.npy"), b"12"), (member("../names.npy"), b"3")])
        with pytest.raises(UnsafeArchiveError, match="leads out of its folder"):
            read_tar(path, most_bytes=MEGA, wanted=("labels",))

    def test_two_files_of_one_name_are_refused(self, tmp_path: Path) -> None:
        path = tar(tmp_path / "a.tar.gz", [(member("a/labels.npy"), b"1"), (member("b/labels.npy"), b"2")])
        with pytest.raises(UnsafeArchiveError, match=r"more than one file named 'labels.npy'"):
            read_tar(path, most_bytes=MEGA)

    def test_too_many_files_are_refused(self, tmp_path: Path) -> None:
        path = tar(tmp_path / "a.tar.gz", [(member(f"{i}"), b"") for i in range(1001)])
        with pytest.raises(UnsafeArchiveError, match="more than 1000 files"):
            read_tar(path, most_bytes=10 * MEGA)

    def test_half_an_archive_is_said_to_be_damaged(self, tmp_path: Path) -> None:
        path = tar(tmp_path / "a.tar.gz", [(member("labels.npy"), os.urandom(MEGA))])
        path.write_bytes(path.read_bytes()[: MEGA // 2])
        with pytest.raises(ValueError, match=r"is damaged.*fetch it again"):
            read_tar(path, most_bytes=10 * MEGA)


class TestGzip:
    def test_packed_and_plain_files_are_read(self, tmp_path: Path) -> None:
        (tmp_path / "a.gz").write_bytes(gzip.compress(b"0\t1\n"))
        (tmp_path / "a.txt").write_bytes(b"0\t1\n")
        assert read_gzip(tmp_path / "a.gz", most_bytes=4) == read_gzip(tmp_path / "a.txt", most_bytes=4) == b"0\t1\n"

    def test_a_bomb_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "a.gz").write_bytes(gzip.compress(bytes(64 * MEGA)))
        with pytest.raises(UnsafeArchiveError, match="once unpacked"):
            read_gzip(tmp_path / "a.gz", most_bytes=MEGA)

    def test_a_cut_file_is_said_to_be_damaged(self, tmp_path: Path) -> None:
        (tmp_path / "a.gz").write_bytes(gzip.compress(os.urandom(1000))[:500])
        with pytest.raises(ValueError, match="is damaged"):
            read_gzip(tmp_path / "a.gz", most_bytes=MEGA)


def zipped(*members: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return buffer.getvalue()


class TestNpz:
    def test_what_numpy_saves_is_read(self, tmp_path: Path) -> None:
        arrays: dict[str, NDArray[Any]] = {
            "a": np.arange(6).reshape(2, 3),
            "b": np.asfortranarray(np.ones((2, 3), dtype=np.float32)),
            "c": np.array(["x", "yz"]),
            "d": np.array(7),
            "e": np.empty((0, 4), dtype=bool),
        }
        np.savez_compressed(tmp_path / "a.npz", **arrays)  # type: ignore[arg-type]
        found = read_npz(tmp_path / "a.npz", most_bytes=MEGA)
        assert found.keys() == arrays.keys()
        for name, array in arrays.items():
            np.testing.assert_array_equal(found[name], array)
            assert found[name].dtype == array.dtype

    @pytest.mark.parametrize("name", ["../row.npy", "/row.npy", "..\\row.npy"])
    def test_a_way_out_of_the_folder_is_refused(self, name: str) -> None:
        with pytest.raises(UnsafeArchiveError, match="leads out"):
            read_npz(zipped((name, npy(np.arange(3)))), most_bytes=MEGA, name="graph.npz")

    def test_a_link_is_refused(self) -> None:
        link = zipfile.ZipInfo("row.npy")
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        with pytest.raises(UnsafeArchiveError, match="is not a file"):
            read_npz(zipped((link, b"/etc/passwd")), most_bytes=MEGA, name="graph.npz")

    def test_a_bomb_is_refused(self) -> None:
        content = zipped(("row.npy", npy(np.zeros(8 * MEGA))))
        assert len(content) < MEGA
        with pytest.raises(UnsafeArchiveError, match=r"graph.npz holds more than 1048576 bytes once unpacked"):
            read_npz(content, most_bytes=MEGA, name="graph.npz")

    def test_a_size_that_lies_is_noticed(self) -> None:
        content = bytearray(zipped(("row.npy", npy(np.zeros(MEGA)))))
        directory = content.rindex(b"PK\x01\x02")
        content[directory + 24 : directory + 28] = (1000).to_bytes(4, "little")  # the size once unpacked
        with pytest.raises(ValueError, match="damaged"):
            read_npz(bytes(content), most_bytes=10_000, name="graph.npz")

    def test_no_archive_at_all_is_said_to_be_damaged(self, tmp_path: Path) -> None:
        (tmp_path / "a.npz").write_bytes(b"<html>404</html>")
        with pytest.raises(ValueError, match=r"a.npz is damaged"):
            read_npz(tmp_path / "a.npz", most_bytes=MEGA)


class TestNpy:
    @pytest.mark.parametrize("shape", [(5,), (3,), (2, 3), (10**15,), (10**12, 10**12), (-4,), (0,)])
    def test_a_header_that_does_not_fit_allocates_nothing(self, shape: tuple[int, ...]) -> None:
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": shape})
        with pytest.raises(ValueError, match=r"labels.npy is damaged: its header announces the shape"):
            read_npy(header.getvalue() + np.arange(4.0).tobytes(), "labels.npy")

    @pytest.mark.parametrize(
        "content", [b"", b"no array", npy(np.zeros(4))[:-1], npy(np.zeros(4)) + b"x", npy(np.zeros(4))[:9]]
    )
    def test_what_is_no_array_is_an_error(self, content: bytes) -> None:
        with pytest.raises(ValueError, match=r"labels.npy is (no array|damaged)"):
            read_npy(content, "labels.npy")

    def test_names_saved_as_objects_are_read(self) -> None:
        names = np.array(["Paris", "Zürich", "数学", None, 3], dtype=object)
        np.testing.assert_array_equal(read_npy(npy(names, allow_pickle=True), "names.npy"), names)
        table = np.array([["a", "b"], ["c", "d"]], dtype=object)
        np.testing.assert_array_equal(read_npy(npy(table, allow_pickle=True), "names.npy"), table)

    def test_objects_that_would_run_a_program_are_refused(self, tmp_path: Path) -> None:
        content = npy(np.array([Harm(tmp_path / "done"), "b"], dtype=object), allow_pickle=True)
        with pytest.raises(UnsafePickleError, match=r"names.npy is not read: it asks for posix.mkdir"):
            read_npy(content, "names.npy")
        assert not (tmp_path / "done").exists()


class TestPickles:
    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    @pytest.mark.parametrize(
        "value",
        [
            {"name": "wikischools", "sources": ["a", "b"], "n": 3, "x": 0.5, "ok": True, "none": None},
            defaultdict(list, {0: [1, 2], 5: []}),
            np.arange(6, dtype=np.int32).reshape(2, 3),
            np.asfortranarray(np.arange(6.0).reshape(2, 3)),
            np.array(["Paris", None], dtype=object),
            np.array([1, 0, 1], dtype=bool),
            np.array([1, 2], dtype=">i4"),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_data_is_read(self, value: Any, protocol: int) -> None:
        found = load_pickle(pickle.dumps(value, protocol), "data.p")
        np.testing.assert_equal(found, value)
        assert isinstance(found, np.ndarray if isinstance(value, np.ndarray) else dict)

    @pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
    def test_a_pickle_that_would_run_a_program_is_refused(self, tmp_path: Path, protocol: int) -> None:
        data = pickle.dumps({"name": Harm(tmp_path / "done")}, protocol)
        with pytest.raises(UnsafePickleError, match=r"meta.p is not read: it asks for posix.mkdir"):
            load_pickle(data, "meta.p")
        assert not (tmp_path / "done").exists()
        pickle.loads(data)  # it would have
        assert (tmp_path / "done").exists()

    @pytest.mark.parametrize(
        "data",
        [
            b"cbuiltins\neval\n(S'1'\ntR.",
            b"cos\nsystem\n(S'true'\ntR.",
            b"(S'true'\nios\nsystem\n.",
            b"cnumpy.testing._private.utils\nrunstring\n(S''\n}tR.",
            b"\x80\x04\x8c\x05posix\x8c\x06system\x93\x8c\x04true\x85R.",
            pickle.dumps(OrderedDict(a=1)),
        ],
        ids=["eval", "system", "inst", "numpy", "stack", "OrderedDict"],
    )
    def test_only_what_is_known_is_named(self, data: bytes) -> None:
        with pytest.raises(UnsafePickleError, match="is not read: it asks for"):
            load_pickle(data, "meta.p")

    def test_a_bomb_of_references_is_read_as_fast_as_it_is_small(self) -> None:
        """Thirty lists, each of which holds the one before ten times: 10^30 leaves, if each were counted."""
        bomb: list[Any] = [0]
        for _ in range(30):
            bomb = [bomb] * 10
        found = load_pickle(pickle.dumps(bomb), "meta.p")
        assert found[0] is found[9]

    def test_what_holds_itself_is_no_data(self) -> None:
        loop: list[Any] = []
        loop.append(loop)
        with pytest.raises(ValueError, match=r"meta.p is damaged: it contains itself"):
            load_pickle(pickle.dumps(loop), "meta.p")

    @pytest.mark.parametrize("known", sorted(pickles.KNOWN))
    def test_nothing_that_is_known_can_be_changed(self, known: tuple[str, str]) -> None:
        """The state ``(None, {"mark": 1})`` sets an attribute of whatever it is given to."""
        data = b"c%b\n%b\n(N}S'mark'\nI1\nstb." % (known[0].encode(), known[1].encode())
        with pytest.raises(ValueError, match="damaged"):
            load_pickle(data, "meta.p")
        assert not hasattr(pickles.KNOWN[known], "mark")

    def test_references_outside_are_refused(self) -> None:
        with pytest.raises(UnsafePickleError, match="outside of it"):
            load_pickle(b"Pabc\n.", "meta.p")

    @pytest.mark.parametrize("tuples", [60, 1_000_000])
    def test_tuples_that_would_overflow_the_stack_are_refused(self, tuples: int) -> None:
        """As the key of a dict, whose hash Python finds by recursion; ten at a time by the memo, too."""
        deep = b"\x85" * tuples
        with pytest.raises(UnsafePickleError, match=r"^meta.p has more than 50 tuples inside each other"):
            load_pickle(b"\x80\x02}I1\n" + deep + b"I2\ns.", "meta.p")
        with pytest.raises(UnsafePickleError, match=r"^meta.p has more than 50 tuples inside each other"):
            load_pickle(b"\x80\x02I1\n" + (b"\x85" * 10 + b"q\x000h\x00") * 7 + b".", "meta.p")

    def test_a_memo_that_would_take_gigabytes_is_refused(self) -> None:
        with pytest.raises(UnsafePickleError, match="beyond its size"):
            load_pickle(b"\x80\x02Nr\xff\xff\xff\x7f.", "meta.p")

    @pytest.mark.parametrize("data", [b"", b"\x80", b"abc", pickle.dumps([1, 2, 3])[:-3], b"\x80\x02]q\x00h\x00a."])
    def test_a_malformed_pickle_is_an_error_not_a_crash(self, data: bytes) -> None:
        with pytest.raises(ValueError, match=r"meta.p is damaged"):
            load_pickle(data, "meta.p")

    def test_arrays_whose_state_lies_are_an_error(self) -> None:
        good = pickle.dumps(np.arange(4, dtype=np.int64), 2)
        assert good.count(b"K\x04\x85") == 1  # the shape, (4,)
        with pytest.raises(ValueError, match="damaged"):
            load_pickle(good.replace(b"K\x04\x85", b"K\xff\x85"), "y")
        assert good.count(b"i8") == 1
        with pytest.raises(ValueError, match="damaged"):
            load_pickle(good.replace(b"i8", b"V8"), "y")
