"""Datasets that are fetched: through a local server into the cache, with the command and in Python."""

import gzip
import hashlib
import pickle
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from source_files import NAMES, SNAP_COMMUNITIES, SNAP_EDGES, bundle, graph_file, packed
from web import Site, serving

from isotherm.cli import main
from isotherm.study import datasets
from isotherm.study.datasets import DownloadError, catalogue
from isotherm.study.datasets.catalogue import CATALOGUE
from isotherm.study.datasets.download import RemoteFile, fetch_file

pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """All datasets come from a server on this machine."""
    with serving() as site:
        for name, entry in CATALOGUE.items():
            files = tuple(replace(file, url=f"{site.address}/{file.name}", sha256=None) for file in entry.files)
            monkeypatch.setitem(CATALOGUE, name, replace(entry, files=files))
        monkeypatch.setattr("time.sleep", lambda seconds: None)
        monkeypatch.setattr(datasets, "fetch_file", partial(fetch_checked, site))
        yield site


def fetch_checked(site: Site, remote: RemoteFile, folder: Path, **more: Any) -> Path:
    """Download a file as if its checksum were in the catalogue."""
    sha256 = remote.sha256 or hashlib.sha256(site.files.get(f"/{remote.name}", b"")).hexdigest()
    return fetch_file(replace(remote, sha256=sha256), folder, **more)


class TestFetch:
    def test_a_netset_archive_is_fetched_into_the_cache(self, site: Site, tmp_path: Path, own_cache: Path) -> None:
        site.files["/wikivitals_npz.tar.gz"] = packed(bundle(tmp_path / "wv", names=NAMES))
        site.tags["/wikivitals_npz.tar.gz"] = '"1"'
        site.cuts["/wikivitals_npz.tar.gz"] = [100]
        found = datasets.load("wikivitals")
        assert found.graph.n_nodes == 4
        assert datasets.available()["wikivitals"] == str(own_cache)
        datasets.load("wikivitals")
        assert [wanted for _, wanted in site.requests] == [None, "bytes=100-"]

    def test_snap_files_are_fetched_into_the_folder_that_was_given(self, site: Site, tmp_path: Path) -> None:
        site.files["/com-dblp.ungraph.txt.gz"] = gzip.compress(SNAP_EDGES.encode())
        site.files["/com-dblp.top5000.cmty.txt.gz"] = gzip.compress(SNAP_COMMUNITIES.encode())
        assert datasets.load("dblp", data=tmp_path).graph.n_nodes == 5
        assert sorted(path.name for path in tmp_path.glob("com-*")) == [
            "com-dblp.top5000.cmty.txt.gz",
            "com-dblp.ungraph.txt.gz",
        ]

    def test_planetoid_files_are_fetched(self, site: Site, own_cache: Path) -> None:
        parts = {"ally": np.eye(2)[[0, 1]], "ty": np.eye(2)[[1]], "graph": {0: [1], 1: [2]}}
        for part, value in parts.items():
            site.files[f"/planetoid/ind.cora.{part}"] = pickle.dumps(value, 2)
        site.files["/planetoid/ind.cora.test.index"] = b"2\n"
        assert datasets.load("cora").labels.tolist() == [0, 1, 1]
        assert (own_cache / "planetoid" / "ind.cora.graph").exists()

    def test_a_wrong_checksum_is_an_error(self, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
        entry = CATALOGUE["wikischools"]
        wrong = replace(entry, files=(replace(entry.files[0], sha256="0" * 64),))
        monkeypatch.setitem(CATALOGUE, "wikischools", wrong)
        site.files["/wikischools_npz.tar.gz"] = b"something else"
        with pytest.raises(DownloadError, match="SHA-256"):
            datasets.fetch("wikischools")

    def test_the_command_lists_where_each_comes_from(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str], own_cache: Path
    ) -> None:
        graph_file(tmp_path, "wikispeedia", directed=True)
        assert main(["datasets", "list", "--data", str(tmp_path)]) == 0
        lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
        assert "karate built in" in lines
        assert "cora download CO: Cora, citations" in lines
        assert "wikischools download; wikispeedia stands in WS: Wikipedia for schools" in lines
        assert f"wikispeedia {tmp_path}" in lines

    def test_the_command_fetches(
        self, site: Site, tmp_path: Path, capsys: pytest.CaptureFixture[str], own_cache: Path
    ) -> None:
        site.files["/wikischools_npz.tar.gz"] = packed(bundle(tmp_path / "ws"))
        assert main(["datasets", "fetch", "wikischools"]) == 0
        assert capsys.readouterr().out == f"{own_cache / 'wikischools_npz.tar.gz'}\n"
        assert main(["datasets", "fetch", "WS"]) == 0  # it is there
        assert len(site.requests) == 1

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("cora", r"http://127.0.0.1:\d+/planetoid/ind.cora.ally answers 404 .*: fetch it by hand; or put the file"),
            ("nope", r"there is no dataset 'nope'; isotherm datasets list prints all names"),
            ("coar", r"there is no dataset 'coar'; did you mean cora\?"),
            ("karate", r"karate is built in: there is nothing to fetch"),
        ],
    )
    def test_what_cannot_be_fetched_is_one_sentence(
        self, site: Site, capsys: pytest.CaptureFixture[str], name: str, message: str
    ) -> None:
        assert main(["datasets", "fetch", name]) == 2
        assert re.fullmatch(rf"isotherm: {message}.*\n", capsys.readouterr().err)

    def test_without_pooch_the_command_says_what_to_install(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "pooch", None)
        assert main(["datasets", "fetch", "cora"]) == 2
        assert capsys.readouterr().err == "isotherm: downloads need pooch: pip install 'isotherm[datasets]'\n"

    def test_a_graph_of_the_folder_need_not_be_fetched(self, tmp_path: Path) -> None:
        graph_file(tmp_path, "cora")
        assert datasets.fetch("CO", data=tmp_path) == [tmp_path / "cora.npz"]

    def test_addresses_are_those_of_the_real_sources(self) -> None:
        assert catalogue.NETSET == "https://netset.telecom-paris.fr/datasets_npz"
        assert catalogue.SNAP.startswith("https://snap.stanford.edu/")
