"""The graphs of the paper's table 1: where each comes from, how it is read, and what may stand in for it."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from isotherm.files import writing
from isotherm.io import FileError
from isotherm.study.datasets import sources
from isotherm.study.datasets.download import RemoteFile
from isotherm.study.datasets.sources import Dataset

PLANETOID = "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data"
NETSET = "https://netset.telecom-paris.fr/datasets_npz"
SNAP = "https://snap.stanford.edu/data/bigdata/communities"
MEGA, GIGA = 1 << 20, 1 << 30

# The checksums of NetSet and of Amazon are not published and could not be measured: users must compare them.
SHA256 = {
    "ind.citeseer.ally": "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95",
    "ind.citeseer.graph": "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7",
    "ind.citeseer.test.index": "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4",
    "ind.citeseer.ty": "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce",
    "ind.cora.ally": "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71",
    "ind.cora.graph": "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d",
    "ind.cora.test.index": "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875",
    "ind.cora.ty": "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad",
    "com-dblp.top5000.cmty.txt.gz": "6b23675b3c0ef35c7ba2520e967d3dba3a7cec771ae16a2ef6a95426efb30b7a",
    "com-dblp.ungraph.txt.gz": "9eb0bd30312ddd04e2624f7c36c0983a2e99b116f0385be5a7fce6d6170f4cb3",
}


@dataclass(frozen=True)
class Entry:
    """A graph of the paper."""

    name: str  # to load it by
    short: str  # in the paper's tables
    title: str
    files: tuple[RemoteFile, ...]
    read: Callable[[dict[str, Path]], Dataset]  # from the paths of these files by name
    stand_ins: tuple[str, ...] = ()  # similar graphs, the best first


def _remote(base: str, name: str, most_bytes: int, folder: str = "") -> RemoteFile:
    return RemoteFile(f"{base}/{name}", f"{folder}{name}", SHA256.get(name), most_bytes)


def _planetoid(name: str, short: str, title: str) -> Entry:
    names = {part: f"ind.{name}.{part}" for part in sources.PLANETOID_PARTS}
    files = tuple(_remote(PLANETOID, file, 4 * MEGA, "planetoid/") for file in names.values())

    def read(paths: dict[str, Path]) -> Dataset:
        return sources.read_planetoid({part: paths[f"planetoid/{file}"] for part, file in names.items()}, name=name)

    return Entry(name, short, title, files, read)


def _netset(name: str, short: str, title: str, stand_ins: tuple[str, ...]) -> Entry:
    remote = _remote(NETSET, f"{name}_npz.tar.gz", GIGA)

    def read(paths: dict[str, Path]) -> Dataset:
        return sources.read_netset(paths[remote.name], name=name, directed=True, most_bytes=remote.most_bytes)

    return Entry(name, short, title, (remote,), read, stand_ins)


def _snap(name: str, short: str, title: str) -> Entry:
    kinds = ("ungraph", "top5000.cmty")
    edges, communities = (_remote(SNAP, f"com-{name}.{kind}.txt.gz", 128 * MEGA) for kind in kinds)

    def read(paths: dict[str, Path]) -> Dataset:
        return sources.read_snap(paths[edges.name], paths[communities.name], name=name, most_bytes=edges.most_bytes)

    return Entry(name, short, title, (edges, communities), read)


def _wikilinks() -> Entry:
    remote = _remote(NETSET, "wikilinks_npz.tar.gz", 6 * GIGA)

    def read(paths: dict[str, Path]) -> Dataset:
        path = paths[remote.name]
        kept = path.with_name("wikilinks_labels.npy")
        if kept.exists():
            labels = np.load(kept, allow_pickle=False)
        else:
            words = sources.read_bundle(path, most_bytes=remote.most_bytes, wanted=("biadjacency",))
            labels = sources.word_clusters(words["biadjacency"])
            with suppress(FileError), writing(str(kept), force=True) as file:  # unless the folder is read-only
                np.save(file, labels)
        return sources.read_netset(path, name="wikilinks", directed=True, most_bytes=remote.most_bytes, labels=labels)

    return Entry("wikilinks", "WL", "Wikipedia articles and their links", (remote,), read)


CATALOGUE = {
    entry.name: entry
    for entry in (
        _planetoid("cora", "CO", "Cora, citations"),
        _planetoid("citeseer", "CS", "CiteSeer, citations"),
        _netset("wikischools", "WS", "Wikipedia for schools", ("wikispeedia", "wikischool_bonald")),
        _netset("wikivitals", "WV", "Wikipedia, vital articles", ("wikivitals_l3",)),
        _wikilinks(),
        _snap("dblp", "DBLP", "co-authors, with the communities of their venues"),
        _snap("amazon", "Amazon", "products bought together, with their categories"),
    )
}
