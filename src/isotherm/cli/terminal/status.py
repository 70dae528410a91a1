"""How a command ends: its exit status, and one sentence on stderr if that is not 0."""

import os
import shlex
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

from isotherm.cli.terminal.memory import check_address_space, is_lack_of_memory, memory_sentence, reuse_memory
from isotherm.cli.terminal.wording import INTERRUPTED, ChoiceError, UsageError, WarnedError, in_options, say
from isotherm.errors import Worded

__all__ = ["run"]

FINE, INTERNAL, BAD_INPUT, WARNED, STOPPED = 0, 1, 2, 3, 130
NEEDED = ("cyclopts", "rich", "polars", "zstandard", "matplotlib", "pooch")


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command and turn whatever it raises into an exit status."""
    try:
        if arguments is None:
            _prepare_process()
        with warnings.catch_warnings():
            _show_warnings()
            return _dispatched(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        say(INTERRUPTED)
        return STOPPED
    except BrokenPipeError:  # the reader of standard output has closed it
        _drop_output()
        return FINE
    except Exception as error:
        if is_lack_of_memory(error):
            say(memory_sentence(error))
            return INTERNAL
        return _failed(error)


def _prepare_process() -> None:
    """Set up signals, imports and streams; only for a process that runs nothing but this command."""
    from isotherm.cli.terminal.lazy_imports import delay_imports
    from isotherm.cli.terminal.signals import handle_signals

    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:  # closed before Python began: keep another file from taking its number
            os.open(os.devnull, os.O_RDWR)
    sys.stderr = sys.stderr or os.fdopen(2, "w")
    check_address_space()
    reuse_memory()
    handle_signals()
    delay_imports()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # escape labels that the terminal cannot show
            stream.reconfigure(errors="backslashreplace")


def _show_warnings() -> None:
    warnings.simplefilter("ignore")
    warnings.simplefilter("default", UserWarning)
    warnings.simplefilter("default", RuntimeWarning)
    warnings.showwarning = _warn


def _warn(message: Warning | str, *_: Any, **more: Any) -> None:
    say(f"isotherm: warning: {in_options(message)}")


def _dispatched(tokens: list[str]) -> int:
    try:
        from cyclopts import CycloptsError
    except ImportError:
        say("isotherm: the command line needs cyclopts: pip install 'isotherm[cli]'")
        return BAD_INPUT
    from isotherm.cli.app import app
    from isotherm.cli.terminal.usage import usage_sentence

    try:
        _check_threads()
        app(tokens, print_error=False, exit_on_error=False, result_action="return_value")
    except ChoiceError as choice:
        command = shlex.join(["isotherm", *tokens])
        say(f"isotherm: {choice}{command} {choice.options}")
        return BAD_INPUT
    except WarnedError as warned:
        say(f"isotherm: {warned}")
        return WARNED
    except CycloptsError as error:
        name = tokens[:1] if tokens and tokens[0] in set(app) else []
        say(f"isotherm: {usage_sentence(error)}; see {' '.join(['isotherm', *name])} --help")
        return BAD_INPUT
    if sys.stdout is not None:
        sys.stdout.flush()
    return FINE


def _check_threads() -> None:
    """Check a variable that the kernels read too, without checking it."""
    threads = os.environ.get("ISOTHERM_THREADS", "")
    if threads and not (threads.isdecimal() and int(threads)):
        raise UsageError(f"ISOTHERM_THREADS is {threads!r}; it must be a number from 1 on")


def _failed(error: Exception) -> int:
    if isinstance(error, OSError) and error.filename is None and error.errno is not None:
        say(f"isotherm: standard output cannot be written: {error.strerror}; write to a file with room for it")
        _drop_output()
        return BAD_INPUT
    missing_package = isinstance(error, ImportError) and error.name in NEEDED and "pip install" in str(error)
    if missing_package or isinstance(error, Worded):
        say(f"isotherm: {in_options(error)}")
        return BAD_INPUT
    say("".join(traceback.format_exception(error)).rstrip())
    say(
        "isotherm: this is an error inside isotherm, not in your input: please report the lines above, "
        "with the command and the output of isotherm --version"
    )
    return INTERNAL


def _drop_output() -> None:
    """Keep Python from failing again when it closes standard output."""
    devnull = os.open(os.devnull, os.O_WRONLY)
    os.dup2(devnull, sys.stdout.fileno())
    os.close(devnull)
