"""How a command ends: its exit status, and one sentence on stderr if that is not 0."""

import os
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

__all__ = ["BAD_INPUT", "FINE", "INTERNAL", "INTERRUPTED", "UsageError", "naming", "nothing_at_stake", "run", "say"]

FINE, INTERNAL, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
NEEDED = ("cyclopts", "rich", "polars", "zstandard", "matplotlib", "pooch")
SHOW_CURSOR = "\033[?25h"


class UsageError(ValueError):
    """What the user asked for cannot be done: one sentence with the culprit and the remedy."""


def say(text: str) -> None:
    """Print a line for the user on stderr, which may be closed."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


@contextmanager
def naming(culprit: str, remedies: Mapping[str, str] | None = None) -> Iterator[None]:
    """Say which file or option is to blame for a ValueError or TypeError of the library.

    Parameters
    ----------
    culprit
        What to begin the sentence with.
    remedies
        What to end it with, if it holds the words of a key.
    """
    try:
        yield
    except (ValueError, TypeError) as error:
        found = (remedy for words, remedy in (remedies or {}).items() if words in str(error))
        raise UsageError(f"{culprit}: {error}{next(found, '')}") from None


class _Process:
    ours = False  # not that of a program that calls main
    reading = False


@contextmanager
def nothing_at_stake() -> Iterator[None]:
    """While files are only read, Ctrl-C may end the process without any cleaning up."""
    with suppress(ImportError):
        import polars  # noqa: F401 - it puts a handler in place of Python's, which does not wake a waiting thread
    if _Process.ours and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, _interrupt)
    _Process.reading = True
    try:
        yield
    finally:
        _Process.reading = False


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command and turn whatever it raises into an exit status."""
    if arguments is None:  # this process is ours
        _Process.ours = True
        signal.signal(signal.SIGTERM, _terminate)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("default", UserWarning)
        warnings.simplefilter("default", RuntimeWarning)
        warnings.showwarning = _warn
        try:
            return _dispatched(arguments)
        except KeyboardInterrupt:
            say("isotherm: interrupted")
            return INTERRUPTED
        except BrokenPipeError:  # whoever read standard output has seen enough
            _drop_output()
            return FINE
        except MemoryError:
            say("isotherm: there is not enough memory for this")
            return INTERNAL
        except Exception as error:
            return _failed(error)


def _dispatched(arguments: Sequence[str] | None) -> int:
    try:
        from cyclopts import CycloptsError
    except ImportError:
        say("isotherm: the command line needs cyclopts: pip install 'isotherm[cli]'")
        return BAD_INPUT
    from isotherm.cli.app import app

    tokens = list(sys.argv[1:] if arguments is None else arguments)
    try:
        app(tokens, print_error=False, exit_on_error=False, result_action="return_value")
    except CycloptsError as error:
        sentence = " ".join(str(error).split()).rstrip(".")
        say(f"isotherm: {sentence}; see {' '.join(('isotherm', *_command(tokens)))} --help")
        return BAD_INPUT
    sys.stdout.flush()
    return FINE


def _command(tokens: list[str]) -> list[str]:
    from isotherm.cli.app import app

    return tokens[:1] if tokens and tokens[0] in set(app) else []


def _failed(error: Exception) -> int:
    if isinstance(error, OSError) and error.filename is None and error.errno is not None:
        say(f"isotherm: standard output cannot be written: {error.strerror}")
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


def _terminate(number: int, _: object) -> None:
    """Leave in an orderly way, so that no unfinished file stays behind."""
    raise SystemExit(128 + number)


def _interrupt(number: int, frame: FrameType | None) -> None:
    """As Python does; but at once where nothing is at stake, since a thread that waits for a pipe cannot be woken."""
    if not _Process.reading:
        signal.default_int_handler(number, frame)
    if sys.stderr.isatty():
        say(SHOW_CURSOR)
    say("isotherm: interrupted")
    os._exit(INTERRUPTED)


def _warn(message: Warning | str, *_: Any, **more: Any) -> None:
    say(f"isotherm: warning: {message}")


def _drop_output() -> None:
    """Keep Python from complaining once more when it closes standard output."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)
