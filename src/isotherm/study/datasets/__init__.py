"""Graphs with known labels.

A name comes in, a `Dataset` goes out: a graph with its labels. The function `load` below looks in a folder and in the
user's cache, and downloads what is in neither. Read ``catalogue.py`` next: it lists the graphs of the paper.
``sources.py`` reads their files, through ``archives.py`` and ``pickles.py``, which trust nothing; ``download.py``
fetches them.

>>> club = load("karate")
>>> club.graph
<Graph: 34 nodes, 78 edges>
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from isotherm.errors import Option, ParameterError, warn
from isotherm.files import cache_folder
from isotherm.study.datasets.catalogue import CATALOGUE
from isotherm.study.datasets.download import Amount, DownloadError, fetch_file
from isotherm.study.datasets.sources import Dataset, StandInWarning, debian_packages, karate_club, read_npz_graph

__all__ = [
    "Dataset",
    "DownloadError",
    "StandInWarning",
    "at_hand",
    "available",
    "cache_folder",
    "debian_packages",
    "fetch",
    "karate_club",
    "load",
]

BUILT_IN = {"karate": karate_club, "debian": debian_packages}
ALIASES = {entry.short.lower(): name for name, entry in CATALOGUE.items()}


def load(name: str, *, data: str | os.PathLike[str] | None = None, stand_in: bool = True) -> Dataset:
    """A graph by its name.

    It is looked for in the folder `data`, then in the user's cache, and is downloaded if it is in neither.

    Parameters
    ----------
    name : str
        "karate", "debian", one of the paper's table 1 ("cora", "citeseer", "wikischools", "wikivitals", "wikilinks",
        "dblp" or "amazon", or as the paper has it, "CO" to "Amazon"), or any ``.npz`` file of the folder.
    data : path, optional
        A folder of graphs; by default the environment variable ``ISOTHERM_DATA``.
    stand_in : bool
        Whether a similar graph of the folder may be used instead of a download; then there is a `StandInWarning`, and
        `Dataset.stand_in_for` is set.
    """
    key = _key(name)
    if key in BUILT_IN:
        return BUILT_IN[key]()
    files = _files(key, data)
    given = _data_folder(data)
    if files is None and stand_in and given is not None and (other := _stand_in(key, given)) is not None:
        message = f"{key} is not there: {other} stands in for it"
        warn(message, StandInWarning)
        return replace(read_npz_graph(given / f"{other}.npz"), stand_in_for=key)
    if files is None:
        fetch(key, data=data)
        files = _files(key, data)
    assert files is not None  # they were fetched
    npz = files.get(f"{key}.npz")
    return CATALOGUE[key].read(files) if npz is None else read_npz_graph(npz)


def at_hand(name: str, *, data: str | os.PathLike[str] | None = None) -> str | None:
    """The graph that `load` would give without a download: the one asked for, a stand-in, or None."""
    key = _key(name)
    if key in BUILT_IN or _files(key, data) is not None:
        return key
    given = _data_folder(data)
    return None if given is None else _stand_in(key, given)


def fetch(name: str, *, data: str | os.PathLike[str] | None = None, progress: Amount | None = None) -> list[Path]:
    """Download the files of a graph of table 1, unless they are there, and give their paths.

    They go to the folder `data` (or ``ISOTHERM_DATA``) if that is writable, and otherwise to the user's cache.
    `progress` is called with the bytes of a file so far and its size, which is None if unknown.
    """
    key = _key(name)
    if key in BUILT_IN:
        raise ValueError(f"{key} is built in: there is nothing to fetch")
    if key not in CATALOGUE:
        raise ValueError(_unknown(name, data))
    if (files := _files(key, data)) is not None:
        return list(files.values())
    given = _data_folder(data)
    target = given if given is not None and os.access(given, os.W_OK) else cache_folder()
    if target is None:
        raise ImportError("downloads need a cache folder: pip install 'isotherm[datasets]'", name="platformdirs")
    return [fetch_file(remote, target, progress=progress) for remote in CATALOGUE[key].files]


def available(data: str | os.PathLike[str] | None = None) -> dict[str, str]:
    """All names that `load` takes, and where each would come from: "built in", a folder, or "download"."""
    places = dict.fromkeys(BUILT_IN, "built in")
    for name in CATALOGUE:
        places[name] = next((str(folder) for folder in _folders(data) if _files_in(folder, name)), "download")
    for folder in _folders(data):
        for path in sorted(folder.glob("*.npz")):
            places.setdefault(path.stem, str(folder))
    return places


def _data_folder(data: str | os.PathLike[str] | None) -> Path | None:
    given = data or os.environ.get("ISOTHERM_DATA")
    if not given:
        return None
    folder = Path(given)
    if not folder.is_dir():
        message = "{folder} is not a folder: point {data} or ISOTHERM_DATA to a folder of graphs"
        raise ParameterError(message, folder=folder, data=Option("data"))
    return folder


def _folders(data: str | os.PathLike[str] | None) -> Iterator[Path]:
    """The folders that may hold datasets, in the order in which they are searched."""
    given = _data_folder(data)
    if given is not None:
        yield given
    if (cache := cache_folder()) is not None and cache.is_dir():
        yield cache


def _files(name: str, data: str | os.PathLike[str] | None) -> dict[str, Path] | None:
    """The files of a graph, by name, from the first folder that has all of them."""
    return next(filter(None, (_files_in(folder, name) for folder in _folders(data))), None)


def _files_in(folder: Path, name: str) -> dict[str, Path] | None:
    """The files of a graph in a folder, if all are there: one ``.npz``, or the files that the catalogue lists."""
    if (npz := folder / f"{name}.npz").is_file():
        return {npz.name: npz}
    if name not in CATALOGUE:
        return None
    unpacked = folder / name  # an archive may be unpacked already
    paths = {remote.name: folder / remote.name for remote in CATALOGUE[name].files}
    found = {key: unpacked if unpacked.is_dir() and not path.exists() else path for key, path in paths.items()}
    return found if all(path.exists() for path in found.values()) else None


def _stand_in(name: str, folder: Path) -> str | None:
    """The first graph of a folder that resembles this one."""
    names = CATALOGUE[name].stand_ins if name in CATALOGUE else ()
    return next((other for other in names if (folder / f"{other}.npz").is_file()), None)


def _unknown(name: str, data: str | os.PathLike[str] | None) -> str:
    """The sentence for an unknown name."""
    close = get_close_matches(_key(name), available(data), n=1)
    remedy = f"did you mean {close[0]}?" if close else "isotherm datasets list prints all names"
    return f"there is no dataset {name!r}; {remedy}"


def _key(name: str) -> str:
    return ALIASES.get(name.lower(), name.lower())
