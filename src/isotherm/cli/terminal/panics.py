"""Reports of panics in compiled code, which must not stand beside our own sentence about a damaged file."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["hidden_panics"]


@contextmanager
def hidden_panics() -> Iterator[None]:
    """Hide what compiled code writes to standard error, such as reports of panics, but not what Python writes.

    Only for a process that owns its standard error, as a command does: compiled code in other threads is hidden too.
    """
    if not hasattr(sys.stderr, "fileno") or sys.stderr.fileno() != 2:
        yield
        return
    stderr = sys.stderr
    stderr.flush()
    with os.fdopen(os.dup(2), "w", encoding=stderr.encoding, errors=stderr.errors, buffering=1) as kept:
        with open(os.devnull, "wb") as nothing:
            os.dup2(nothing.fileno(), 2)
        sys.stderr = kept
        try:
            yield
        finally:
            sys.stderr = stderr
            os.dup2(kept.fileno(), 2)
