"""Downloads from a server that cuts the line, lies, refuses or is not there."""

import hashlib
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request

import pytest
from web import Site, serving

from isotherm.study.datasets.catalogue import CATALOGUE
from isotherm.study.datasets.download import DownloadError, RemoteFile, _Encrypted, fetch_file

CONTENT = os.urandom(300_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)


@pytest.fixture
def site() -> Iterator[Site]:
    with serving() as site:
        site.files["/graph.npz"] = CONTENT
        site.tags["/graph.npz"] = '"v1"'
        yield site


def fetch(site: Site, folder: Path, *, sha256: str | None = SHA256, most_bytes: int = 1 << 20) -> Path:
    return fetch_file(RemoteFile(f"{site.address}/graph.npz", "graph.npz", sha256, most_bytes), folder)


def ranges(site: Site) -> list[str | None]:
    return [wanted for _, wanted in site.requests]


def test_a_file_comes_whole_and_is_fetched_once(site: Site, tmp_path: Path) -> None:
    for _ in range(2):
        assert fetch(site, tmp_path / "new" / "folder").read_bytes() == CONTENT
    assert ranges(site) == [None]
    assert os.listdir(tmp_path / "new" / "folder") == ["graph.npz"]


def test_a_cut_transfer_is_resumed_where_it_stopped(site: Site, tmp_path: Path) -> None:
    site.cuts["/graph.npz"] = [100_000, 50_000]
    assert fetch(site, tmp_path).read_bytes() == CONTENT
    assert ranges(site) == [None, "bytes=100000-", "bytes=150000-"]
    assert os.listdir(tmp_path) == ["graph.npz"]


def test_a_later_call_goes_on_from_what_came_down(site: Site, tmp_path: Path) -> None:
    site.cuts["/graph.npz"] = [10_000] * 4
    with pytest.raises(DownloadError, match=r"cannot be reached.*after 40000 of 300000 bytes"):
        fetch(site, tmp_path)
    assert not (tmp_path / "graph.npz").exists()
    assert (tmp_path / "graph.npz.part").stat().st_size == 40_000
    assert fetch(site, tmp_path).read_bytes() == CONTENT
    assert ranges(site)[-1] == "bytes=40000-"
    assert os.listdir(tmp_path) == ["graph.npz"]


def test_a_file_that_has_changed_meanwhile_is_fetched_anew(site: Site, tmp_path: Path) -> None:
    site.files["/graph.npz"] = b"old" * 10_000
    site.cuts["/graph.npz"] = [20_000] * 4
    site.ranges = False
    with pytest.raises(DownloadError):
        fetch(site, tmp_path)
    site.files["/graph.npz"], site.tags["/graph.npz"], site.ranges = CONTENT, '"v2"', True
    assert fetch(site, tmp_path).read_bytes() == CONTENT


@pytest.mark.parametrize("change", ["no parts", "no tag"])
def test_without_parts_or_versions_it_begins_again(site: Site, tmp_path: Path, change: str) -> None:
    site.cuts["/graph.npz"] = [100_000]
    site.ranges = change != "no parts"
    if change == "no tag":
        del site.tags["/graph.npz"]
    assert fetch(site, tmp_path).read_bytes() == CONTENT


def test_a_part_that_is_too_long_is_thrown_away(site: Site, tmp_path: Path) -> None:
    (tmp_path / "graph.npz.part").write_bytes(CONTENT + b"more")
    (tmp_path / "graph.npz.part.tag").write_text('"\\"v1\\""')
    assert fetch(site, tmp_path).read_bytes() == CONTENT


def test_a_wrong_checksum_keeps_nothing(site: Site, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=r"has changed or was damaged in transit: its SHA-256 is not 0000"):
        fetch(site, tmp_path, sha256="0" * 64)
    assert os.listdir(tmp_path) == []


def test_without_a_checksum_the_user_is_asked_to_compare(site: Site, tmp_path: Path) -> None:
    words = rf"does not know the SHA-256 of http\S+, and what came has {SHA256}: compare .* rename \S+ to graph.npz$"
    for _ in range(2):
        with pytest.raises(DownloadError, match=words):
            fetch(site, tmp_path, sha256=None)
    assert len(site.requests) == 1
    (tmp_path / "graph.npz.unverified").rename(tmp_path / "graph.npz")
    assert fetch(site, tmp_path, sha256=None).read_bytes() == CONTENT


def test_every_download_is_encrypted() -> None:
    assert all(file.url.startswith("https://") for entry in CATALOGUE.values() for file in entry.files)


@pytest.mark.parametrize(("target", "allowed"), [("https://b.org/x", True), ("http://b.org/x", False)])
def test_redirects_stay_encrypted(target: str, allowed: bool) -> None:
    def follow() -> Request | None:
        return _Encrypted().redirect_request(Request("https://a.org/x"), None, 302, "Found", {}, target)

    if allowed:
        answer = follow()
        assert answer is not None
        assert answer.full_url == target
    else:
        with pytest.raises(
            DownloadError, match=r"^https://a.org/x redirects to http://b.org/x, which is not encrypted"
        ):
            follow()


def test_no_such_file_is_said_at_once(site: Site, tmp_path: Path) -> None:
    del site.files["/graph.npz"]
    with pytest.raises(DownloadError, match=rf"answers 404 .*put the file at {tmp_path / 'graph.npz'} yourself"):
        fetch(site, tmp_path)
    assert len(site.requests) == 1
    assert os.listdir(tmp_path) == []


def test_a_busy_server_is_asked_again(site: Site, tmp_path: Path) -> None:
    site.refusals["/graph.npz"] = [503, 429, 500]
    assert fetch(site, tmp_path).read_bytes() == CONTENT
    assert len(site.requests) == 4


def test_more_than_was_expected_is_refused(site: Site, tmp_path: Path) -> None:
    with pytest.raises(DownloadError, match=r"^http://\S+ sends more than the 1000 bytes expected; or put the file"):
        fetch(site, tmp_path, most_bytes=1000)
    assert len(site.requests) == 1
    assert not list(tmp_path.glob("graph.npz*[!g]"))  # neither the file nor a part


def test_a_part_from_another_place_is_not_taken(site: Site, tmp_path: Path) -> None:
    site.cuts["/graph.npz"] = [100_000]
    site.places["/graph.npz"] = ["bytes 200000-299999/300000", ""]
    assert fetch(site, tmp_path).read_bytes() == CONTENT
    assert ranges(site) == [None, "bytes=100000-", "bytes=100000-", "bytes=100000-"]


def test_an_error_of_the_disk_is_not_one_of_the_network(site: Site, tmp_path: Path) -> None:
    (tmp_path / "graph.npz.part").mkdir()
    with pytest.raises(DownloadError, match=r"graph.npz cannot be written: Is a directory$"):
        fetch(site, tmp_path)
    assert len(site.requests) == 1


def test_progress_counts_what_is_there(site: Site, tmp_path: Path) -> None:
    site.cuts["/graph.npz"] = [100_000]
    seen: list[tuple[int, int | None]] = []
    remote = RemoteFile(f"{site.address}/graph.npz", "graph.npz", SHA256, 1 << 20)
    fetch_file(remote, tmp_path, progress=lambda done, total: seen.append((done, total)))
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (300_000, 300_000)
    assert (100_000, 300_000) in seen


def test_no_network_is_said_in_one_sentence(tmp_path: Path) -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))  # nobody listens
        remote = RemoteFile(f"http://127.0.0.1:{nobody.getsockname()[1]}/graph.npz", "graph.npz", None, 1000)
        with pytest.raises(DownloadError, match=r"cannot be reached .*: try again when there is a network; or put"):
            fetch_file(remote, tmp_path)


def test_without_pooch_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"pip install 'isotherm\[datasets\]'"):
        fetch_file(RemoteFile("http://127.0.0.1/x", "x", None, 1), tmp_path)
