"""A process that runs one command: how it starts, how signals and little memory end it, and its exit status.

`run` is the whole life of a command. It turns whatever a command raises into an exit status, and one sentence on stderr
if that is not 0.
"""

import atexit
import errno
import gc
import os
import shlex
import signal
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import LazyLoader
from threading import RLock, Thread
from types import FrameType, ModuleType
from typing import Any

from isotherm.cli.terminal.messages import ChoiceError, WarnedError, in_options, say, usage_sentence
from isotherm.errors import Worded

FINE, INTERNAL, BAD_INPUT, WARNED, STOPPED = 0, 1, 2, 3, 130
STOPPED_BY = 128  # exit status of a process ended by a signal, minus the number of the signal
OPTIONAL_PACKAGES = ("cyclopts", "rich", "polars", "zstandard", "matplotlib", "pooch")
INTERRUPTED = "isotherm: interrupted"
CLEAR = "\r\033[2K\033[?25h"  # erases the line of a bar, and shows the cursor that the bar hides

# Modules that scikit-learn and SciPy import but no command uses; each takes a tenth of a second or more.
HEAVY = frozenset({"numpy.f2py", "numpy.testing", "pandas", "scipy.spatial", "scipy.stats"})

GIGA = 1 << 30
ALWAYS, EACH_THREAD = 1.5 * GIGA, 0.25 * GIGA  # measured: 1.5 GB with one thread and 1.7 GB with two were enough
REMEDIES = "use a machine with more, fewer threads (ISOTHERM_THREADS=1), or a smaller --max-memory"
SENTENCE = f"isotherm: there is not enough memory; {REMEDIES}"
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # as in malloc.h
KEPT, REUSED = 1 << 27, 1 << 24  # bytes
IMPORT_FAILURES = ("cannot allocate memory", "failed to map segment", "cannot map")


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command, by default the one in the arguments of this process, and return its exit status.

    A process that runs nothing else ends here after a signal, when all is cleaned up: Python would abort if it ended
    while some thread is inside compiled code of another library.
    """
    if arguments is not None:
        return _status_of(arguments)
    try:
        status = _status_of(None)
    except SystemExit as end:  # see _terminate
        status = end.code if isinstance(end.code, int) else INTERNAL
    if status >= STOPPED_BY:
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(status)
    return status


def _status_of(arguments: Sequence[str] | None) -> int:
    try:
        if arguments is None:
            _prepare_process()
        with warnings.catch_warnings():
            _show_warnings()
            return _dispatch(list(sys.argv[1:] if arguments is None else arguments))
    except KeyboardInterrupt:
        say(INTERRUPTED)
        return STOPPED
    except BrokenPipeError:  # the reader of standard output has closed it
        _drop_output()
        return FINE
    except Exception as error:
        if _is_lack_of_memory(error):
            say(f"isotherm: {error}" if "ulimit" in str(error) else SENTENCE)
            return INTERNAL
        return _failed(error)


def _prepare_process() -> None:
    """Set up signals, imports and streams; only for a process that runs nothing but this command."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:  # closed before Python began: keep another file from taking its number
            os.open(os.devnull, os.O_RDWR)
    sys.stderr = sys.stderr or os.fdopen(2, "w")
    _check_address_space()
    reuse_memory()
    handle_signals()
    sys.meta_path.insert(0, _LazyFinder())
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


def _dispatch(tokens: list[str]) -> int:
    try:
        from cyclopts import CycloptsError
    except ImportError:
        say("isotherm: the command line needs cyclopts: pip install 'isotherm[cli]'")
        return BAD_INPUT
    from isotherm.cli.app import app, run_command

    try:
        if os.environ.get("ISOTHERM_THREADS"):
            from isotherm import kernels

            kernels.thread_count()  # refuses a wrong number before it is taken as the default of an option
        run_command(tokens)
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


def _failed(error: Exception) -> int:
    if isinstance(error, OSError) and error.filename is None and error.errno is not None:
        say(f"isotherm: standard output cannot be written: {error.strerror}; write to a file with room for it")
        _drop_output()
        return BAD_INPUT
    missing_package = isinstance(error, ImportError) and error.name in OPTIONAL_PACKAGES and "pip install" in str(error)
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


@contextmanager
def hidden_panics() -> Iterator[None]:
    """Hide what compiled code writes to stderr, such as reports of panics about a damaged file; Python still writes.

    Only for a process that owns its stderr, as a command does: compiled code in other threads is hidden too.
    """
    stderr, number = sys.stderr, -1
    with suppress(AttributeError, OSError):  # stderr may be an object without a file number, such as StringIO
        number = stderr.fileno()
    if number != 2:
        yield
        return
    stderr.flush()
    with os.fdopen(os.dup(2), "w", encoding=stderr.encoding, errors=stderr.errors, buffering=1) as duplicate:
        with open(os.devnull, "wb") as nothing:
            os.dup2(nothing.fileno(), 2)
        sys.stderr = duplicate
        try:
            yield
        finally:
            sys.stderr = stderr
            os.dup2(duplicate.fileno(), 2)


class _LazyFinder:
    """Finds the heavy modules as Python does, but loads one only when an attribute of it is used."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        gc.freeze()  # modules live as long as the process, so the collector need not visit them again and again
        spec = PathFinder.find_spec(fullname, path, target) if fullname in HEAVY else None
        if spec is not None and spec.loader is not None:
            spec.loader = LazyLoader(spec.loader)
        return spec


# Signals. By default Ctrl-C waits for the end of a loop in C++, which may take seconds, and gets lost in some imports.


class _Signals:
    exit_at_once = False
    exiting = RLock()


@contextmanager
def exit_at_once(at_once: bool = True) -> Iterator[None]:
    """Let signals end the process without cleaning up, while files are only read and temperatures computed."""
    before, _Signals.exit_at_once = _Signals.exit_at_once, at_once
    try:
        yield
    finally:
        _Signals.exit_at_once = before


def exit_cleanly() -> AbstractContextManager[None]:
    """Let signals raise an exception, so that a file that is being written is cleaned up."""
    return exit_at_once(False)


def handle_signals() -> None:
    """Install the handlers of this module; signals that are ignored stay ignored."""
    handlers = {"SIGINT": _interrupt, "SIGTERM": _terminate, "SIGHUP": _terminate}
    for name, handler in handlers.items():
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    if hasattr(os, "register_at_fork"):  # a signal to a worker of some library must not end this process
        os.register_at_fork(after_in_child=lambda: signal.set_wakeup_fd(-1))
    Thread(target=_watch, args=(woken,), daemon=True).start()


def _watch(woken: int) -> None:
    """Handle signals while the main thread is busy in compiled code."""
    while True:
        _exit(os.read(woken, 1)[0])


def _interrupt(number: int, frame: FrameType | None) -> None:
    _exit(number)
    signal.default_int_handler(number, frame)


def _terminate(number: int, _: FrameType | None) -> None:
    _exit(number)
    raise SystemExit(STOPPED_BY + number)


def _exit(number: int) -> None:
    """End the process if there is nothing to clean up."""
    if not _Signals.exit_at_once:
        return
    with _Signals.exiting, suppress(OSError):
        stderr = sys.stderr.fileno()  # not 2 while reports of panics are hidden
        text = (CLEAR if os.isatty(stderr) else "") + (f"{INTERRUPTED}\n" if number == signal.SIGINT else "")
        os.write(stderr, text.encode())  # not through rich, which holds back output while there is a bar
    os._exit(STOPPED_BY + number)


# Little memory. NumPy's OpenBLAS and polars reserve address space for each core when they are imported. If that fails
# they abort or hang, so a limit on address space (ulimit -v) that is too small for them is refused before.


def _check_address_space() -> None:
    """Refuse a limit below what the libraries need, and keep them to the threads that were asked for."""
    try:
        from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit
    except ImportError:  # Windows
        return
    limit = getrlimit(RLIMIT_AS)[0]
    if limit == RLIM_INFINITY:
        return
    asked = os.environ.get("ISOTHERM_THREADS", "")
    threads = (int(asked) if asked.isdecimal() else 0) or os.cpu_count() or 1
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS"):
        os.environ.setdefault(name, str(threads))
    needed = ALWAYS + EACH_THREAD * threads
    if limit < needed:
        given = f"a process may take {limit / GIGA:.1f} GB of address space here (ulimit -v)"
        wanted = f"isotherm needs {needed / GIGA:.2f} GB for {threads} thread{'s' * (threads > 1)}"
        remedy = "raise the limit" if threads == 1 else "raise the limit, or use fewer threads (ISOTHERM_THREADS=1)"
        raise MemoryError(f"{given}, but {wanted}; {remedy}")
    from isotherm import kernels

    if kernels.native is not None and hasattr(kernels.native, "say_on_abort"):
        kernels.native.say_on_abort(f"{SENTENCE}\n")  # polars aborts when memory runs out


def reuse_memory() -> None:
    """Have the GNU C library keep freed memory, up to 128 MB, and use it again for arrays of up to 16 MB.

    Otherwise it returns each array of a few megabytes, and the system has to clear the pages of the next one.
    """
    from ctypes import CDLL

    try:
        mallopt = CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):  # another C library
        return
    mallopt(TRIM_THRESHOLD, KEPT)
    mallopt(MMAP_THRESHOLD, REUSED)


def _is_lack_of_memory(error: BaseException) -> bool:
    """Whether memory ran out, by whatever the system or a library raised for it."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    if isinstance(error, ImportError):
        return any(words in str(error).lower() for words in IMPORT_FAILURES)
    return isinstance(error, RuntimeError) and "can't start new thread" in str(error)
