import os
import sys
from pathlib import Path

import pytest

from isotherm.files import FileError, FolderKind, cache_folder, replacing


def test_the_cache_folder_is_in_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if sys.platform == "linux":
        assert cache_folder() == tmp_path / "isotherm"


def test_without_platformdirs_nothing_is_cached(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "platformdirs", None)
    assert cache_folder() is None


@pytest.mark.parametrize("durable", [True, False])
def test_a_file_is_replaced_when_it_is_complete(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(b"old")
    with replacing(path, durable=durable) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["x.bin"]


def test_an_error_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(b"old")

    def fail() -> None:
        with replacing(path) as file:
            file.write(b"new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["x.bin"]


def test_a_folder_replaces_only_its_own_kind(tmp_path: Path) -> None:
    target = tmp_path / "parts"

    def has_parts(path: Path) -> bool:
        return all(each.suffix == ".part" for each in path.iterdir())

    for content in ("old", "new"):
        with FolderKind("a folder of parts", has_parts).writing(target, force=True) as draft:
            (draft / "0.part").write_text(content)
            assert not target.exists() or (target / "0.part").read_text() == "old"
    assert (target / "0.part").read_text() == "new"
    (target / "x.txt").write_text("mine")
    with (
        pytest.raises(FileError, match="exists and is not a folder of parts; choose another name"),
        FolderKind("a folder of parts", has_parts).writing(target, force=True),
    ):
        raise AssertionError
    assert os.listdir(tmp_path) == ["parts"]
