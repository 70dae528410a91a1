"""One sentence for everything that can be wrong with a file."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import NoReturn

__all__ = ["FileError", "blaming", "is_panic", "need", "quiet_natives", "refuse", "shorten"]

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


def refuse(path: str, error: OSError) -> NoReturn:
    """Say in one sentence why the system does not give or take a file."""
    reasons: dict[type[OSError], str] = {
        FileNotFoundError: "does not exist",
        IsADirectoryError: "is a directory, not a file",
        NotADirectoryError: "is inside a file, not a directory",
        PermissionError: "is not open to you: permission denied",
    }
    said = f"failed: {error.strerror or str(error) or type(error).__name__}"
    raise FileError(f"{path} {reasons.get(type(error), said)}") from None


@contextmanager
def blaming(path: str, kind: str) -> Iterator[None]:
    """Turn whatever a parser raises into a FileError which says that the file is not, or not wholly, of a kind.

    Parsers of other projects are met with files of any content, and each has its own family of errors.
    """
    try:
        yield
    except (FileError, ImportError):
        raise
    except OSError as error:
        if error.errno is None:
            raise FileError(f"{path} is not {kind}, or is damaged: {_first_line(error)}") from None
        refuse(path, error)
    except MemoryError:
        raise FileError(f"{path} needs more memory than there is, or is damaged") from None
    except Exception as error:
        raise FileError(f"{path} is not {kind}, or is damaged: {_first_line(error)}") from None
    except BaseException as error:
        if not is_panic(error):
            raise
        raise FileError(f"{path} is not {kind}, or is damaged: {_first_line(error)}") from None


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
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
