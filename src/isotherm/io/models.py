"""Saved classifiers: arrays, and a description of them in JSON, in one npz file without pickles."""

import json
import os
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import metadata
from typing import Any

import numpy as np
from numpy.typing import NDArray

from isotherm.io.errors import FileError
from isotherm.io.matrices import MODEL
from isotherm.io.output import check_target, writing
from isotherm.io.streams import Input

__all__ = ["check_model", "damaged", "is_model", "read_model", "write_model"]

VERSION = 1  # of what is written; older files are read as well
SUFFIX = ".npz"
SOURCE = "give one that DirichletClassifier.save or isotherm classify --save wrote"


def check_model(path: str, *, force: bool = False) -> None:
    """Refuse a target to which no classifier could be saved, before any work is done for it."""
    if os.path.splitext(path)[1].lower() != SUFFIX and not os.path.isdir(path):
        raise FileError(f"{path}: a classifier is saved as {SUFFIX}; end the name in that")
    check_target(path, force=force)


def write_model(path: str, content: Any, arrays: Mapping[str, NDArray[Any]], *, force: bool = False) -> None:
    """Write arrays, and what JSON can hold besides; the file appears when it is complete."""
    check_model(path, force=force)
    text = json.dumps({"version": VERSION, "release": metadata.version("isotherm"), "content": content})
    with writing(path, force=force) as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in {MODEL: np.frombuffer(text.encode(), dtype=np.uint8), **arrays}.items():
            with archive.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asanyarray(array), allow_pickle=False)


def read_model(path: str) -> tuple[Any, dict[str, NDArray[Any]]]:
    """What `write_model` wrote: the content, and the arrays by their names."""
    Input(path).check()
    with _archive(path) as arrays:
        if MODEL not in arrays.files:
            raise FileError(f"{path} holds arrays, but no saved classifier; {SOURCE}")
        content = _content(path, arrays[MODEL])
        return content, {name: arrays[name] for name in arrays.files if name != MODEL}


def is_model(path: str) -> bool:
    """Whether there is a file of this name that holds a classifier, of whatever version."""
    if not os.path.isfile(path):  # a pipe can be opened once only
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            return f"{MODEL}.npy" in archive.namelist()
    except (OSError, ValueError, zipfile.BadZipFile):
        return False


def damaged(path: str) -> FileError:
    """What to say of a file that was a classifier once."""
    return FileError(f"{path} is damaged or truncated: copy it again, or save the classifier again")


@contextmanager
def _archive(path: str) -> Iterator[Any]:
    with open(path, "rb") as file:
        if file.read(2) != b"PK":
            raise FileError(f"{path} is no saved classifier; {SOURCE}")
        file.seek(0)
        try:
            with np.load(file, allow_pickle=False) as arrays:
                yield arrays
        except FileError:
            raise
        except (ValueError, KeyError, EOFError, OSError, NotImplementedError, zipfile.BadZipFile, zlib.error):
            raise damaged(path) from None


def _content(path: str, text: NDArray[np.uint8]) -> Any:
    told = json.loads(text.tobytes())
    if told["version"] > VERSION:
        raise FileError(
            f"{path} was saved by Isotherm {told['release']}, in a form that is newer than this release knows: "
            "pip install --upgrade isotherm"
        )
    return told["content"]
