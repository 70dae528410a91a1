"""One sentence for everything that can be wrong with a file."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from difflib import get_close_matches
from importlib import import_module
from types import ModuleType
from typing import NoReturn

from isotherm.errors import Option, Worded
from isotherm.files import FileError


class UnclearError(FileError):
    """A table whose columns are ambiguous: its options are a choice to copy and to correct."""

    @property
    def choice(self) -> tuple[Option, ...]:
        """Options that would read the table."""
        return tuple(fact for fact in self.facts.values() if isinstance(fact, Option))


class FileWarning(Worded, UserWarning):
    """A file that can be read, but perhaps not as it was meant."""


def refuse(path: str, error: OSError) -> NoReturn:
    """Say in one sentence why the system cannot open, read or write a file."""
    reasons: dict[type[OSError], str] = {
        FileNotFoundError: f"does not exist; {_similar(path)}",
        IsADirectoryError: "is a directory, not a file; give a file in it",
        NotADirectoryError: "is inside a file, not a directory; check its name",
        PermissionError: "cannot be opened: permission denied; ask its owner, or copy it",
    }
    other = f"failed: {error.strerror or str(error) or type(error).__name__}"
    raise FileError(f"{path} {reasons.get(type(error), other)}") from None


def _similar(path: str) -> str:
    """Suggest a file of the same folder with a similar name, if there is one."""
    folder, name = os.path.split(path)
    with suppress(OSError):
        close = get_close_matches(name, os.listdir(folder or os.curdir), n=1, cutoff=0.75)
        if close:
            return f"did you mean {os.path.join(folder, close[0])}?"
    return "check its name"


@contextmanager
def blaming(path: str, kind: str) -> Iterator[None]:
    """Turn whatever a parser raises into a FileError that says which kind of file was expected.

    Files may hold anything, and each third-party parser raises its own family of errors.
    """
    try:
        yield
    except (FileError, ImportError):
        raise
    except MemoryError:
        raise FileError(f"{path} needs more memory than this machine has, or is damaged") from None
    except BaseException as error:
        if isinstance(error, OSError) and error.errno is not None:
            refuse(path, error)
        if isinstance(error, Exception) or is_panic(error):
            problem = f"{path} is not {kind}, or is damaged: {_first_line(error)}"
            raise FileError(f"{problem}; write it again, or give another file") from None
        raise


def is_panic(error: BaseException) -> bool:
    """Whether this is a panic inside polars, which does not derive from Exception."""
    return type(error).__name__ == "PanicException"


def need(package: str, purpose: str, *, extra: str = "cli") -> ModuleType:
    """Import an optional package, or say how to get it: with an extra of isotherm."""
    try:
        return import_module(package)
    except ImportError:
        raise ImportError(f"{purpose} needs {package}: pip install 'isotherm[{extra}]'", name=package) from None


def shorten(value: object, most: int = 60) -> str:
    """A value from a file; text is quoted, and cut to fit into a sentence.

    >>> shorten("x" * 100, most=10), shorten(7)
    ("'xxxxxxx...'", '7')
    """
    return repr(f"{value[: most - 3]}..." if isinstance(value, str) and len(value) > most else value)


def _first_line(error: BaseException) -> str:
    """The first line of a parser's message, without the internal state that some of them print."""
    lines = str(error).strip().splitlines()
    return re.split(r": \w+ \{", lines[0])[0].rstrip(".") if lines else type(error).__name__
