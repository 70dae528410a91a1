"""One sentence for everything that can be wrong with a file."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType
from typing import NoReturn

__all__ = ["FileError", "FileWarning", "blaming", "is_panic", "need", "quiet_natives", "refuse", "shorten"]

STANDARD = "-"


class FileError(ValueError):
    """A file that cannot be read or written: one sentence with its name, the place in it, and the remedy.

    Examples
    --------
    >>> raise FileError("edges.csv, line 7: the weight is 'x'; it must be a number")
    Traceback (most recent call last):
        ...
    isotherm.io.errors.FileError: edges.csv, line 7: the weight is 'x'; it must be a number
    """


class FileWarning(UserWarning):
    """A file that can be read, but perhaps not as it was meant."""


def refuse(path: str, error: OSError) -> NoReturn:
    """Say in one sentence why the system does not give or take a file."""
    reasons: dict[type[OSError], str] = {
        FileNotFoundError: f"does not exist; {_similar(path)}",
        IsADirectoryError: "is a directory, not a file; give a file in it",
        NotADirectoryError: "is inside a file, not a directory; check its name",
        PermissionError: "is not open to you; ask its owner for permission, or copy it",
    }
    said = f"failed: {error.strerror or str(error) or type(error).__name__}"
    raise FileError(f"{path} {reasons.get(type(error), said)}") from None


def _similar(path: str) -> str:
    """A file of the same folder that may be meant, if one has a similar name."""
    folder, name = os.path.split(path)
    with suppress(OSError):
        close = get_close_matches(name, os.listdir(folder or os.curdir), n=1, cutoff=0.75)
        if close:
            return f"did you mean {os.path.join(folder, close[0])}?"
    return "check its name"


@contextmanager
def blaming(path: str, kind: str) -> Iterator[None]:
    """Turn whatever a parser raises into a FileError which says that the file is not, or not wholly, of a kind.

    Parsers of other projects are met with files of any content, and each has its own family of errors.
    """
    try:
        yield
    except (FileError, ImportError):
        raise
    except MemoryError:
        raise FileError(f"{path} needs more memory than there is, or is damaged") from None
    except BaseException as error:
        if isinstance(error, OSError) and error.errno is not None:
            refuse(path, error)
        if isinstance(error, Exception) or is_panic(error):
            said = f"{path} is not {kind}, or is damaged: {_first_line(error)}"
            raise FileError(f"{said}; make it again, or give another file") from None
        raise


def is_panic(error: BaseException) -> bool:
    """Whether this is a panic of polars, which is no Exception."""
    return type(error).__name__ == "PanicException"


@contextmanager
def quiet_natives() -> Iterator[None]:
    """Hide what compiled code writes to standard error, such as the reports of panics; what Python writes stays.

    For a process that owns its standard error, as a command does: other threads of compiled code are silenced too.
    """
    if not hasattr(sys.stderr, "fileno") or sys.stderr.fileno() != 2:
        yield
        return
    stderr = sys.stderr
    stderr.flush()
    with os.fdopen(os.dup(2), "w", encoding=stderr.encoding, errors=stderr.errors, buffering=1) as kept:
        with open(os.devnull, "wb") as nothing:
            os.dup2(nothing.fileno(), 2)
        sys.stderr = kept
        try:
            yield
        finally:
            sys.stderr = stderr
            os.dup2(kept.fileno(), 2)


def need(package: str, purpose: str) -> ModuleType:
    """Import an optional package, or say how to get it."""
    try:
        return import_module(package)
    except ImportError:
        raise ImportError(f"{purpose} needs {package}: pip install 'isotherm[cli]'", name=package) from None


def shorten(text: str, most: int = 60) -> str:
    """A value from a file as it is quoted in a sentence.

    >>> shorten("x" * 100, most=10)
    "'xxxxxxx...'"
    """
    return repr(text if len(text) <= most else text[: most - 3] + "...")


def _first_line(error: BaseException) -> str:
    """What a parser says, without the inner state that some of them print."""
    lines = str(error).strip().splitlines()
    return re.split(r": \w+ \{", lines[0])[0].rstrip(".") if lines else type(error).__name__
