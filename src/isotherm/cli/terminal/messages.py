"""What commands say on stderr: sentences of the library and of the parser, with options in place of parameters."""

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from shlex import quote
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args, get_origin

from isotherm.errors import Option, Worded, worded

if TYPE_CHECKING:
    from cyclopts import CycloptsError

Spellings: TypeAlias = Mapping[Option, str]
"""Parameters whose option has another name; in general ``max_iter`` is ``--max-iter``."""

COMMON: Spellings = {
    Option("calibration", None): "--no-confidence",
    Option("doubtful_seeds"): "isotherm check",
    Option("directed", False): "--undirected",
    Option("graph.with_nodes"): "--nodes",
    Option("header", False): "--no-header",
    Option("labels_header", False): "--no-labels-header",
    Option("missing", "drop"): "--ignore-missing-seeds",
    Option("n_threads"): "--threads",
    Option("predict(unreached=...) gives them a label"): "their labels are empty",
    Option(" with id"): " with --id",
    Option(" (isotherm.read_seeds does so with normalise_labels=True)"): ", or set --normalise-labels",
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
EXPECTED: dict[Any, str] = {int: "give a whole number", float: "give a number", bool: "give true or false"}


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


def option_name(parameter: str) -> str:
    """The option for a parameter, or for a field of a group of options.

    >>> option_name("max_iter")
    '--max-iter'
    """
    return f"--{parameter.replace('_', '-')}"


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
    name = known.get(Option(option.name), option_name(option.name))
    return name if option.value is ... or option.value is True else f"{name} {quote(str(option.value))}"


@contextmanager
def usage_errors(spellings: Spellings = COMMON, culprit: str | None = None) -> Iterator[None]:
    """Turn errors of the library into a UsageError.

    A ValueError or TypeError that is not worded for users becomes one only if there is a file to blame, the culprit.
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


def usage_sentence(error: "CycloptsError") -> str:
    """What the parser found wrong with the arguments, and what to do, in one sentence."""
    from cyclopts import CoercionError, MissingArgumentError, RepeatArgumentError, UnusedCliTokensError, ValidationError

    if isinstance(error, UnusedCliTokensError) and error.unused_tokens:
        return f"{error.unused_tokens[0]} is one argument too many"
    if isinstance(error, MissingArgumentError) and error.argument:
        return f"{error.keyword} needs a value" if error.keyword else f"{error.argument.name} is missing"
    if isinstance(error, RepeatArgumentError) and error.msg is None:
        return f"{error.token.keyword} is given twice, or together with its opposite: leave one out"
    if isinstance(error, CoercionError) and error.token:
        return f"{error.token.keyword} is {error.token.value}: {_expected(error.target_type)}"
    if isinstance(error, ValidationError) and error.argument:
        token = error.argument.tokens[0]
        return f"{token.keyword} is {token.value}: {error.exception_message}"
    sentences = (
        " ".join(str(error).replace('"', "").split())
        .replace(", ...", " and others")
        .replace("?", ".")
        .rstrip(".")
        .split(". ")
    )
    return "; ".join(sentence[:1].lower() + sentence[1:] for sentence in sentences)


def _expected(kind: Any) -> str:
    if get_origin(kind) is Literal:
        return f"choose from {', '.join(get_args(kind))}"
    return EXPECTED.get(kind, "give another value")
