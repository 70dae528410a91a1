"""What commands say on stderr: sentences of the library, with options in place of parameters."""

import re
import sys
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias

__all__ = [
    "DATA",
    "EDGES",
    "INTERRUPTED",
    "LABELS",
    "OUTPUT",
    "SOLVING",
    "UsageError",
    "in_options",
    "noted",
    "say",
    "speaking",
]

INTERRUPTED = "isotherm: interrupted"

Words: TypeAlias = Mapping[str, str]
"""What the library says, as regular expressions, and what a command says in its place."""

EDGES: Words = {
    r"^the delimiter (?=')": "--delimiter ",
    r"give another delimiter": "give another with --delimiter",
    r"read the file without weights": "read the file with --unweighted",
    r"say that this is a header": "say that this is a header with --header",
    r"^there is no format (?=')": "--format is ",
    r"or give the format": "or give it with --format",
    r"or name its format": "or name its format with --format",
    r"symmetrise it or pass directed=True": "symmetrise it, or add --directed",
    r"decide with directed=True or False": "decide with --directed or --undirected",
}
LABELS: Words = {
    r"^the delimiter (?=')": "--labels-delimiter ",
    r"give another delimiter": "give another with --labels-delimiter",
    r"^there is no format (?=')": "--labels-format is ",
    r"or give the format": "or give it with --labels-format",
    r"or name its format": "or name its format with --labels-format",
    r"missing='drop'": "--ignore-missing-seeds",
    r"raise the fraction, or draw balanced seeds": "raise --fraction, or add --policy balanced",
    r"lower the fraction": "lower --fraction",
}
OUTPUT: Words = {
    r"force=True": "--force",
    r"or give format=": "or give --output-format",
}
SOLVING: Words = {
    r"^there is no \w+, since all scores would take (.*): use .*, or raise max_memory": (
        r"there are too many classes to keep all temperatures, which would take \1; raise --max-memory"
    ),
    r"\bheader=True": "--header",
    r"\bheader=False": "--no-header",
    r"\bopen_share=": "--open-share ",
    r"\bmax_iter\b": "--max-iter",
    r"\btol=": "--tol ",
    r"\btol\b(?! )": "--tol",
    r"solver='(\w+)'": r"--solver \1",
}
DATA: Words = {
    r"point data or ISOTHERM_DATA to": "point --data or ISOTHERM_DATA to",
}


class UsageError(ValueError):
    """What the user asked for cannot be done: one sentence with the culprit and the remedy."""


def say(text: str) -> None:
    """Print a line for the user on stderr, which may be closed."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def in_options(text: str, words: Words) -> str:
    """A sentence of the library, in the words of the command line.

    >>> in_options("labels.csv exists already; overwrite it with force=True", OUTPUT)
    'labels.csv exists already; overwrite it with --force'
    """
    for parameter, option in words.items():
        text = re.sub(parameter, option, text)
    return text


@contextmanager
def speaking(words: Words, culprit: str | None = None) -> Iterator[None]:
    """Say in the words of the command line what is wrong with a file.

    Parameters
    ----------
    words
        One of the tables of this module.
    culprit
        The file to blame for a ValueError or TypeError that does not know it.
    """
    from isotherm.io import FileError

    try:
        yield
    except FileError as error:
        raise UsageError(in_options(str(error), words)) from None
    except AttributeError as error:
        if "raise max_memory" not in str(error):
            raise
        raise UsageError(in_options(str(error), SOLVING)) from None
    except (ValueError, TypeError) as error:
        if culprit is None:
            raise
        raise UsageError(in_options(f"{culprit}: {error}", words)) from None


@contextmanager
def noted(quiet: bool) -> Iterator[list[str]]:
    """Collect the warnings of a job, and print them unless it is to be quiet."""
    notes: list[str] = []
    show = warnings.showwarning

    def note(message: Warning | str, *rest: Any, **more: Any) -> None:
        notes.append(in_options(str(message), SOLVING))
        if not quiet:
            show(message, *rest, **more)

    warnings.showwarning = note
    try:
        yield notes
    finally:
        warnings.showwarning = show
