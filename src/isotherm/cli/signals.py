"""Ctrl-C and its kin: at once where nothing is at stake, in good order where a file is being written."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import RLock, Thread
from types import FrameType

from isotherm.cli.wording import INTERRUPTED

__all__ = ["nothing_at_stake", "take_over"]

CLEAR = "\r\033[2K\033[?25h"  # the line of a bar, which hides the cursor


class _Process:
    hasty = False
    leaving = RLock()


@contextmanager
def nothing_at_stake() -> Iterator[None]:
    """While files are only read and temperatures computed, a signal may end the process without any cleaning up.

    Else Ctrl-C would wait for the end of a loop in C++ that takes seconds, and be lost in some imports.
    """
    before, _Process.hasty = _Process.hasty, True
    try:
        yield
    finally:
        _Process.hasty = before


def take_over() -> None:
    """Let signals end this process, which is ours, as this module has it; those that are ignored stay so."""
    ends = {"SIGINT": _interrupt, "SIGTERM": _terminate, "SIGHUP": _terminate}
    for name, end in ends.items():
        number = getattr(signal, name, None)  # Windows has no SIGHUP
        if number is not None and signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    Thread(target=_watch, args=(woken,), daemon=True).start()


def _watch(woken: int) -> None:
    """Act on signals while the main thread cannot."""
    while True:
        _leave(os.read(woken, 1)[0])


def _interrupt(number: int, frame: FrameType | None) -> None:
    _leave(number)
    signal.default_int_handler(number, frame)


def _terminate(number: int, _: FrameType | None) -> None:
    _leave(number)
    raise SystemExit(128 + number)


def _leave(number: int) -> None:
    """End the process if that does no harm."""
    if not _Process.hasty:
        return
    with _Process.leaving, suppress(OSError):
        text = (CLEAR if os.isatty(2) else "") + (f"{INTERRUPTED}\n" if number == signal.SIGINT else "")
        os.write(2, text.encode())  # past rich, which holds back what is printed while there is a bar
    os._exit(128 + number)
