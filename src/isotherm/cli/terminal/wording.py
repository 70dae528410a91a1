"""What commands say on stderr: sentences of the library, with options in place of parameters."""

import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from shlex import quote
from typing import Any, TypeAlias

from isotherm.errors import Option, Worded, worded

__all__ = [
    "INTERRUPTED",
    "LABELS",
    "OUTPUT",
    "ChoiceError",
    "UsageError",
    "WarnedError",
    "collected_warnings",
    "in_options",
    "refuse_warnings",
    "say",
    "usage_errors",
]

INTERRUPTED = "isotherm: interrupted"

Spellings: TypeAlias = Mapping[Option, str]
"""Parameters whose option has another name; in general ``max_iter`` is ``--max-iter``."""

COMMON: Spellings = {
    Option("calibration", None): "--no-confidence",
    Option("directed", False): "--undirected",
    Option("header", False): "--no-header",
    Option("labels_header", False): "--no-labels-header",
    Option("missing", "drop"): "--ignore-missing-seeds",
    Option("n_threads"): "--threads",
    Option("predict(unreached=...) gives them a label"): "their labels are empty",
    Option("probability"): "--label-probability",
    Option("several", True): "--multi-label",
    Option("threshold", None): "--threshold rule",
    Option("weight", False): "--unweighted",
}
LABELS: Spellings = {
    Option("delimiter"): "--labels-delimiter",
    Option("encoding"): "--labels-encoding",
    Option("format"): "--labels-format",
    Option("header", True): "--labels-header",
    Option("header", False): "--no-labels-header",
}
OUTPUT: Spellings = {Option("format"): "--output-format"}


class UsageError(Worded, ValueError):
    """What the user asked for cannot be done: one sentence with the culprit and the remedy."""


class ChoiceError(UsageError):
    """A choice is left to the user: a sentence that ends with the options of one, to be copied into the command."""

    def __init__(self, sentence: str, options: str) -> None:
        super().__init__(sentence)
        self.options = options


class WarnedError(UsageError):
    """A command that did its work, with warnings that --strict does not accept."""


def say(text: str) -> None:
    """Print a line for the user on stderr, which may be closed."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def in_options(message: BaseException | str, spellings: Spellings = COMMON) -> str:
    """The sentence of an error or a warning, with options in place of parameters.

    >>> in_options(Worded("read them with {format}, or set {header}", format=Option("format", "csv"),
    ...                   header=Option("header", False)), LABELS)
    'read them with --labels-format csv, or set --no-labels-header'
    """
    return message if isinstance(message, str) else worded(message, lambda option: _spelled(option, spellings))


def _spelled(option: Option, spellings: Spellings) -> str:
    known = {**COMMON, **spellings}
    if option in known:
        return known[option]
    name = known.get(Option(option.name), f"--{option.name.replace('_', '-')}")
    return name if option.value is ... or option.value is True else f"{name} {quote(str(option.value))}"


@contextmanager
def usage_errors(spellings: Spellings = COMMON, culprit: str | None = None) -> Iterator[None]:
    """Turn errors of the library into a UsageError.

    Parameters
    ----------
    spellings
        How options are spelled here.
    culprit
        The file to blame for a ValueError or TypeError that does not name it. Without a culprit, only errors that are
        worded for users become a UsageError.
    """
    from isotherm.io import FileError, UnclearError

    try:
        yield
    except UsageError:
        raise
    except UnclearError as error:
        options = " ".join(_spelled(option, spellings) for option in error.choice)
        raise ChoiceError(in_options(error, spellings).removesuffix(options), options) from None
    except FileError as error:
        raise UsageError(in_options(error, spellings)) from None
    except (Worded, ValueError, TypeError) as error:
        if culprit is None and not isinstance(error, Worded):
            raise
        raise UsageError(f"{culprit}: " * (culprit is not None) + in_options(error, spellings)) from None


def refuse_warnings(sentences: Sequence[str], *, quiet: bool) -> None:
    """End a strict command that had warnings; they are listed here if they were not printed before."""
    if sentences:
        for sentence in sentences if quiet else ():
            say(f"isotherm: warning: {sentence}")
        number = "was 1 warning" if len(sentences) == 1 else f"were {len(sentences)} warnings"
        raise WarnedError(f"the output is complete, but there {number}, so --strict ends with status 3")


@contextmanager
def collected_warnings(quiet: bool) -> Iterator[list[str]]:
    """Collect the warnings of a job, and print them unless it is to be quiet."""
    sentences: list[str] = []
    show = warnings.showwarning

    def collect(message: Warning | str, *rest: Any, **more: Any) -> None:
        sentences.append(in_options(message))
        if not quiet:
            show(message, *rest, **more)

    warnings.showwarning = collect
    try:
        yield sentences
    finally:
        warnings.showwarning = show
