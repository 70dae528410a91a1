"""How a command ends: its exit status, and one sentence on stderr if that is not 0."""

import os
import re
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

from isotherm.cli.wording import INTERRUPTED, SOLVING, UsageError, in_options, say

__all__ = ["run"]

FINE, INTERNAL, BAD_INPUT, STOPPED = 0, 1, 2, 130
NEEDED = ("cyclopts", "rich", "polars", "zstandard", "matplotlib", "pooch")
USAGE = {
    r'"(\S*)"': r"\1",
    r"^(Command .* p|P)arameter (-\S+) requires an argument": r"\2 needs a value",
    r"^(Command .* p|P)arameter (\S+) requires an argument": r"\2 is missing",
    r"^Unused Tokens: \['(.*?)'.*": r"\1 is one argument too many",
    r"^Invalid value (.*?) for (\S+)\. ": r"\2 is \1: ",
    r"^Invalid value for (\S+)(?: from env)?: unable to convert (.*) into int": r"\1 is \2: give a whole number",
    r"^Invalid value for (\S+)(?: from env)?: unable to convert (.*) into float": r"\1 is \2: give a number",
    r"Choose from: ": "choose from ",
    r"Must be >= ": "it must be at least ",
    r"Must be <= ": "it must be at most ",
    r"Must be > ": "it must be above ",
    r"Must be < ": "it must be below ",
}


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command and turn whatever it raises into an exit status."""
    try:
        if arguments is None:
            _take_over()
        with warnings.catch_warnings():
            _show_warnings()
            return _dispatched(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        say(INTERRUPTED)
        return STOPPED
    except BrokenPipeError:  # whoever read standard output has seen enough
        _drop_output()
        return FINE
    except MemoryError:
        say("isotherm: there is not enough memory for this; take a machine with more, or fewer classes at a time")
        return INTERNAL
    except Exception as error:
        return _failed(error)


def _take_over() -> None:
    """Make this process ours, not that of a program that calls main."""
    from isotherm.cli.late import load_late
    from isotherm.cli.signals import take_over

    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:  # closed before Python began: no other file shall take its place
            os.open(os.devnull, os.O_RDWR)
    sys.stderr = sys.stderr or os.fdopen(2, "w")
    take_over()
    load_late()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a label that the terminal cannot show is no reason to fail
            stream.reconfigure(errors="backslashreplace")


def _show_warnings() -> None:
    warnings.simplefilter("ignore")
    warnings.simplefilter("default", UserWarning)
    warnings.simplefilter("default", RuntimeWarning)
    warnings.showwarning = _warn


def _warn(message: Warning | str, *_: Any, **more: Any) -> None:
    say(f"isotherm: warning: {in_options(str(message), SOLVING)}")


def _dispatched(tokens: list[str]) -> int:
    try:
        from cyclopts import CycloptsError
    except ImportError:
        say("isotherm: the command line needs cyclopts: pip install 'isotherm[cli]'")
        return BAD_INPUT
    from isotherm.cli.app import app

    try:
        _check_threads()
        app(tokens, print_error=False, exit_on_error=False, result_action="return_value")
    except CycloptsError as error:
        command = tokens[:1] if tokens and tokens[0] in set(app) else []
        say(f"isotherm: {_usage(str(error))}; see {' '.join(['isotherm', *command])} --help")
        return BAD_INPUT
    if sys.stdout is not None:
        sys.stdout.flush()
    return FINE


def _usage(text: str) -> str:
    """What cyclopts says, in one sentence."""
    sentence = " ".join(text.split())
    for said, ours in USAGE.items():
        sentence = re.sub(said, ours, sentence)
    first, *more = sentence.rstrip(".").split(". ")
    return "; ".join([first, *(part[:1].lower() + part[1:].rstrip("?") for part in more)])


def _check_threads() -> None:
    """The kernels read this variable too, without asking whether it is a number."""
    threads = os.environ.get("ISOTHERM_THREADS", "")
    if threads and not (threads.isdecimal() and int(threads)):
        raise UsageError(f"ISOTHERM_THREADS is {threads!r}; it must be a number from 1 on")


def _failed(error: Exception) -> int:
    if isinstance(error, OSError) and error.filename is None and error.errno is not None:
        say(f"isotherm: standard output cannot be written: {error.strerror}; write to a file with room for it")
        _drop_output()
        return BAD_INPUT
    if _is_the_users(error):
        say(f"isotherm: {error}")
        return BAD_INPUT
    say("".join(traceback.format_exception(error)).rstrip())
    say(
        "isotherm: this is an error inside isotherm, and not yours: please report the lines above, "
        "with the command and the output of isotherm --version"
    )
    return INTERNAL


def _is_the_users(error: Exception) -> bool:
    """Whether the error says what is wrong with the input, or which package is to be installed."""
    if isinstance(error, ImportError):
        return error.name in NEEDED and "pip install" in str(error)
    from isotherm.io import FileError

    return isinstance(error, UsageError | FileError)


def _drop_output() -> None:
    """Keep Python from complaining once more when it closes standard output."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)
