"""Graphs with known labels, one module for each source.

>>> club = load("karate")
>>> club.graph
<Graph: 34 nodes, 78 edges>
"""

import os
import sys
import warnings
from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from isotherm.datasets.base import Dataset, StandInWarning
from isotherm.datasets.catalogue import CATALOGUE, Entry
from isotherm.datasets.debian import debian_packages
from isotherm.datasets.download import Amount, DownloadError, fetch_file
from isotherm.datasets.folder import graph_names, read_graph_file
from isotherm.datasets.karate import karate_club

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
        Whether a graph of the folder that resembles the one asked for may be taken before a download; a
        `StandInWarning` says so, and `Dataset.stand_in_for`.
    """
    key = _key(name)
    if key in BUILT_IN:
        return BUILT_IN[key]()
    for folder in _folders(data):
        found = _read(key, folder)
        if found is not None:
            return found
    given = _data_folder(data)
    if stand_in and given is not None and (other := _stand_in(key, given)) is not None:
        message = f"{key} is not at hand: {other} stands in for it"
        warnings.warn(message, StandInWarning, stacklevel=2)
        return replace(read_graph_file(given / f"{other}.npz"), stand_in_for=key)
    fetch(key, data=data)
    found = next(filter(None, (_read(key, folder) for folder in _folders(data))))
    assert found is not None  # all of its files were fetched
    return found


def at_hand(name: str, *, data: str | os.PathLike[str] | None = None) -> str | None:
    """The graph that `load` would give without a download: itself, one that stands in for it, or None."""
    key = _key(name)
    if key in BUILT_IN or any(_present(key, folder) for folder in _folders(data)):
        return key
    given = _data_folder(data)
    return None if given is None else _stand_in(key, given)


def fetch(name: str, *, data: str | os.PathLike[str] | None = None, progress: Amount | None = None) -> list[Path]:
    """Download the files of a graph of table 1, unless they are there, and give their paths.

    They go to the folder `data` (or ``ISOTHERM_DATA``) if it can be written to, and else to the user's cache.
    `progress` is called with the number of bytes of a file that are there, and that of all or None, as they come.
    """
    key = _key(name)
    if key in BUILT_IN:
        raise ValueError(f"{key} is built in: there is nothing to fetch")
    if key not in CATALOGUE:
        raise ValueError(_unknown(name, data))
    for folder in _folders(data):
        if (path := folder / f"{key}.npz").is_file():
            return [path]
        paths = _paths(CATALOGUE[key], folder)
        if paths is not None:
            return list(paths.values())
    given = _data_folder(data)
    target = given if given is not None and os.access(given, os.W_OK) else cache_folder()
    return [fetch_file(remote, target, progress=progress) for remote in CATALOGUE[key].files]


def available(data: str | os.PathLike[str] | None = None) -> dict[str, str]:
    """All names that `load` takes, and where each would come from: "built in", a folder, or "download"."""
    places = dict.fromkeys(BUILT_IN, "built in")
    for name in CATALOGUE:
        folders = [folder for folder in _folders(data) if _present(name, folder)]
        places[name] = str(folders[0]) if folders else "download"
    for folder in _folders(data):
        for name in graph_names(folder):
            places.setdefault(name, str(folder))
    return places


def cache_folder() -> Path:
    """Where downloads are kept: ``isotherm`` in the user's cache directory."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA", "~/AppData/Local")
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(base).expanduser() / "isotherm"


def _data_folder(data: str | os.PathLike[str] | None) -> Path | None:
    given = data or os.environ.get("ISOTHERM_DATA")
    if not given:
        return None
    folder = Path(given)
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder: point data or ISOTHERM_DATA to a folder of graphs")
    return folder


def _folders(data: str | os.PathLike[str] | None) -> Iterator[Path]:
    """The folders that may hold datasets, in the order in which they are searched."""
    given = _data_folder(data)
    if given is not None:
        yield given
    if (cache := cache_folder()).is_dir():
        yield cache


def _read(name: str, folder: Path) -> Dataset | None:
    """The graph of this name from a folder, if it is there."""
    if (path := folder / f"{name}.npz").is_file():
        return read_graph_file(path)
    if name not in CATALOGUE:
        return None
    paths = _paths(CATALOGUE[name], folder)
    return None if paths is None else CATALOGUE[name].read(paths)


def _paths(entry: Entry, folder: Path) -> dict[str, Path] | None:
    """The files of an entry in a folder, if all are there; an archive may also be a folder already."""
    found = {}
    for remote in entry.files:
        unpacked = folder / entry.name
        path = folder / remote.name
        found[remote.name] = unpacked if unpacked.is_dir() and not path.exists() else path
    return found if all(path.exists() for path in found.values()) else None


def _present(name: str, folder: Path) -> bool:
    if (folder / f"{name}.npz").is_file():
        return True
    return name in CATALOGUE and _paths(CATALOGUE[name], folder) is not None


def _stand_in(name: str, folder: Path) -> str | None:
    """The first graph of a folder that resembles this one."""
    names = CATALOGUE[name].stand_ins if name in CATALOGUE else ()
    return next((other for other in names if (folder / f"{other}.npz").is_file()), None)


def _unknown(name: str, data: str | os.PathLike[str] | None) -> str:
    """What to say of a name that is none."""
    close = get_close_matches(_key(name), available(data), n=1)
    remedy = f"did you mean {close[0]}?" if close else "isotherm datasets list prints those there are"
    return f"there is no dataset {name!r}; {remedy}"


def _key(name: str) -> str:
    return ALIASES.get(name.lower(), name.lower())
