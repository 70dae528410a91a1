"""Ctrl-C and other signals: the process exits at once unless a file is being written, which is cleaned up first."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import RLock, Thread
from types import FrameType

from isotherm.cli.terminal.wording import INTERRUPTED

__all__ = ["exit_at_once", "handle_signals"]

CLEAR = "\r\033[2K\033[?25h"  # erases the line of a bar, and shows the cursor that it hides


class _Process:
    exits_at_once = False
    exiting = RLock()


@contextmanager
def exit_at_once() -> Iterator[None]:
    """Let signals end the process without cleaning up, while files are only read and temperatures computed.

    Otherwise Ctrl-C would wait for the end of a loop in C++, which may take seconds, and get lost in some imports.
    """
    before, _Process.exits_at_once = _Process.exits_at_once, True
    try:
        yield
    finally:
        _Process.exits_at_once = before


def handle_signals() -> None:
    """Install the handlers of this module; signals that are ignored stay ignored."""
    ends = {"SIGINT": _interrupt, "SIGTERM": _terminate, "SIGHUP": _terminate}
    for name, end in ends.items():
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)
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
    raise SystemExit(128 + number)


def _exit(number: int) -> None:
    """End the process if there is nothing to clean up."""
    if not _Process.exits_at_once:
        return
    with _Process.exiting, suppress(OSError):
        stderr = sys.stderr.fileno()  # not 2 while reports of panics are hidden
        text = (CLEAR if os.isatty(stderr) else "") + (f"{INTERRUPTED}\n" if number == signal.SIGINT else "")
        os.write(stderr, text.encode())  # not through rich, which holds back output while there is a bar
    os._exit(128 + number)
