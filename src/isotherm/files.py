"""Files and folders that appear whole or not at all, and the user's cache folder.

Everything is written under a hidden name next to the target and renamed when it is complete, so a reader never sees
half a file. If anything goes wrong, the hidden file is removed and an existing target is kept. `writing` and
`FolderKind` turn errors of the system into one sentence; `replacing` passes them on.
"""

import errno
import os
import re
import secrets
import shutil
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO

from isotherm.errors import Option, Worded

STANDARD = "-"  # standard input or output
KEPT = "{path} {what}, and is kept; choose another name, or overwrite it with {force}"


class FileError(Worded, ValueError):
    """A file that cannot be read or written: one sentence with its name, the place in it, and the remedy.

    Examples
    --------
    >>> raise FileError("edges.csv, line 7: the weight is 'x'; it must be a number")
    Traceback (most recent call last):
        ...
    isotherm.files.FileError: edges.csv, line 7: the weight is 'x'; it must be a number
    """


def cache_folder() -> Path | None:
    """The folder for downloads and finished maps; None without platformdirs, so that nothing is cached."""
    try:
        from platformdirs import user_cache_path
    except ImportError:
        return None
    return user_cache_path("isotherm", appauthor=False, opinion=False)


def check_target(path: str, *, force: bool = False) -> None:
    """Refuse a file that cannot be written, or that exists and may not be replaced, before any work is done for it."""
    if is_stream(path):
        return
    if os.path.isdir(path):
        raise FileError(f"{path} is a directory, not a file; add the name of a file")
    _check_parent(path, os.path.dirname(os.path.realpath(path)))
    if os.path.lexists(path) and not force:
        raise _kept(path, "exists already")


def _check_parent(path: str | Path, parent: str | Path) -> None:
    if not os.path.isdir(parent):
        raise FileError(f"{path} cannot be written: the directory {parent} does not exist; create it")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise FileError(f"{path} cannot be written: the directory {parent} is not writable; choose another")


def _kept(path: str | Path, what: str) -> FileError:
    return FileError(KEPT, path=path, what=what, force=Option("force", True))


@contextmanager
def writing(path: str, *, force: bool = False) -> Iterator[IO[bytes]]:
    """Open a file that appears when it is complete; ``-``, pipes and devices are written directly.

    If two processes write to the same target, the first to finish wins, or the last with ``force``.
    """
    try:
        with _direct(path) if is_stream(path) else replacing(path, force=force) as file:
            yield file
    except BrokenPipeError:  # the reader of our output has closed it
        raise
    except Exception as error:
        _refuse(path, error)
        raise


@contextmanager
def replacing(path: str | Path, *, force: bool = True, durable: bool = True) -> Iterator[IO[bytes]]:
    """Open a hidden file that replaces the target at the end; of a symbolic link, the file that it points to.

    Without ``force``, a target that exists by the end is an error. With ``durable``, the content is on disk at the end.
    """
    target = os.path.realpath(path)
    folder, name = os.path.split(target)
    draft = os.path.join(folder, _draft_name(name))
    try:
        old = _status(target)
        private = None if old is None else lambda path, flags: os.open(path, flags, 0o600)  # until it has the old mode
        with open(draft, "xb", opener=private) as file:
            yield file
            file.flush()
            if durable:
                os.fsync(file.fileno())
        if old is not None:
            _keep_mode(_status(target) or old, draft)
        if force or not _linked(path, draft, target):
            os.replace(draft, target)
        if durable:
            _sync(folder)
    finally:
        with suppress(OSError):
            os.unlink(draft)


@dataclass(frozen=True)
class FolderKind:
    """A kind of folder that is written whole or not at all."""

    name: str  # such as "a packed graph"
    holds: Callable[[Path], bool]  # whether a folder that exists is of this kind, so that it may be replaced

    def check(self, target: Path, *, force: bool = False) -> None:
        """Refuse a folder that cannot be written, or that exists and is of another kind, before any work is done."""
        if os.path.lexists(target):
            if not self.holds(target):
                raise FileError(f"{target} exists and is not {self.name}; choose another name")
            if not force:
                raise _kept(target, "exists already")
        _check_parent(target, target.absolute().parent)

    @contextmanager
    def writing(self, target: Path, *, force: bool = False) -> Iterator[Path]:
        """Make a hidden folder that becomes the target at the end, and is removed if anything goes wrong.

        A killed process leaves its hidden folder behind; the next call for the same target removes it.
        """
        self.check(target, force=force)
        target = target.absolute()
        draft = target.parent / _draft_name(target.name)
        try:
            _remove_leftovers(target)
            draft.mkdir()
            yield draft
            self.check(target, force=force)  # another process may have written it meanwhile
            _put(draft, target)
        except OSError as error:
            _refuse(str(target), error)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def write_whole(file: IO[bytes], content: bytes | memoryview) -> None:
    """Write all bytes to an unbuffered file, which may take only some of them at a time."""
    rest = memoryview(content)
    while len(rest):
        rest = rest[file.write(rest) :]


def _draft_name(name: str) -> str:
    return f".{name}.{os.getpid()}-{secrets.token_hex(4)}.tmp"


def _keep_mode(old: os.stat_result, draft: str) -> None:
    """Give the draft the owner and the mode of the file that it replaces, as far as the system allows."""
    new = os.stat(draft)
    if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
        with suppress(OSError):
            os.chown(draft, old.st_uid, old.st_gid)
    with suppress(OSError):
        os.chmod(draft, stat.S_IMODE(old.st_mode))


def _status(path: str) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return None


def _linked(path: str | Path, draft: str, target: str) -> bool:
    """Hard-link the draft to the target, unless that exists by now; False where there are no hard links."""
    try:
        os.link(draft, target)
    except FileExistsError:
        raise _kept(path, "was written by another process meanwhile") from None
    except OSError:
        return False
    return True


@contextmanager
def _direct(path: str) -> Iterator[IO[bytes]]:
    if path == STANDARD and sys.stdout is None:  # it was closed before Python began
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))
    if path == STANDARD and not hasattr(sys.stdout, "buffer"):  # in a notebook
        memory = BytesIO()
        yield memory
        sys.stdout.write(memory.getvalue().decode())
    elif path == STANDARD:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    else:
        with open(path, "wb") as file:
            yield file


def is_stream(path: str) -> bool:
    """Whether this is standard input or output, a pipe, /dev/null or the like, which can be opened only once."""
    status = _status(path)
    special = status is not None and not stat.S_ISREG(status.st_mode) and not stat.S_ISDIR(status.st_mode)
    return path == STANDARD or special


def _sync(folder: str | Path) -> None:
    """Make a new name durable, where the system supports that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _put(draft: Path, target: Path) -> None:
    """Rename the draft; an existing target is moved away first and removed last."""
    old = draft.with_suffix(".old.tmp")
    if os.path.lexists(target):
        os.rename(target, old)
    try:
        os.rename(draft, target)
    except OSError:
        with suppress(OSError):
            os.rename(old, target)
        raise
    if old.is_symlink():
        old.unlink()
    shutil.rmtree(old, ignore_errors=True)
    _sync(target.parent)


def _remove_leftovers(target: Path) -> None:
    """Remove hidden folders of processes that were killed."""
    pattern = re.compile(rf"\.{re.escape(target.name)}\.(\d+)-[0-9a-f]{{8}}\.tmp")
    for path in target.parent.iterdir():
        found = pattern.fullmatch(path.name)
        if found and not _runs(int(found[1])):
            shutil.rmtree(path, ignore_errors=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # the process of another user
        pass
    return True


def _refuse(path: str, error: Exception) -> None:
    """Turn an error of the system into one sentence; polars gives the error number only in its text."""
    name = "standard output" if path == STANDARD else path
    number = getattr(error, "errno", None)
    if number is None and (found := re.search(r"os error (\d+)", str(error))):
        number = int(found[1])
    if number in (errno.ENOSPC, errno.EDQUOT):
        raise FileError(f"{name} cannot be written: the disk is full; free some space") from None
    if number is not None or isinstance(error, OSError):
        reason = str(error) if number is None else os.strerror(number)
        raise FileError(f"{name} cannot be written: {reason}; choose another place") from None
