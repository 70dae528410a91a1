"""Downloads that survive a bad line: resumed where they were cut, checked, and renamed only when whole.

Pooch looks after the cache, the checksum and the rename; what comes down meanwhile is kept beside the target in a
``.part`` file, so that the next attempt, or the next call, asks only for the rest.
"""

import http.client
import json
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

__all__ = ["Amount", "DownloadError", "RemoteFile", "fetch_file"]

Amount: TypeAlias = Callable[[int, int | None], None]  # bytes so far, bytes in all if known

CHUNK = 1 << 16
ATTEMPTS = 4
PASSING = {408, 425, 429, 500, 502, 503, 504}  # answers that may be better next time


class DownloadError(OSError):
    """A file could not be had; the message says what to do."""


@dataclass(frozen=True)
class RemoteFile:
    """Where a file is, and what is known of it.

    Attributes
    ----------
    url : str
        Its address.
    name : str
        Its path in the folder of datasets.
    sha256 : str or None
        Its checksum, if known.
    most_bytes : int
        How large its content can be, at most, once unpacked.
    """

    url: str
    name: str
    sha256: str | None
    most_bytes: int


def fetch_file(
    remote: RemoteFile, folder: Path, *, wait: float = 1.0, timeout: float = 30.0, progress: Amount | None = None
) -> Path:
    """Download a file into a folder, unless it is there, and give its path.

    Parameters
    ----------
    remote : RemoteFile
        What to download.
    folder : Path
        Where to; made if need be.
    wait, timeout : float
        Seconds to wait before the second attempt, twice as long before each further one, and for an answer.
    progress : callable, optional
        Called with the number of bytes that are there, and that of all or None, as they come.

    Raises
    ------
    DownloadError
        If there is no network, no such file, or if what came down has the wrong checksum.
    """
    try:
        import pooch
    except ImportError as error:
        raise ImportError("downloads need pooch: pip install 'isotherm[datasets]'", name="pooch") from error
    pooch.get_logger().setLevel("WARNING")
    downloader = _Resuming(folder / f"{remote.name}.part", remote.most_bytes, wait, timeout, progress)
    try:
        return Path(
            pooch.retrieve(
                remote.url,
                known_hash=remote.sha256 and f"sha256:{remote.sha256}",
                fname=remote.name,
                path=folder,
                downloader=downloader,
            )
        )
    except ValueError as error:
        what = f"{remote.url} has changed or was damaged on its way: its SHA-256 is not {remote.sha256}"
        raise DownloadError(f"{what}; nothing was kept") from error
    except DownloadError as error:
        raise DownloadError(f"{error}; or put the file at {folder / remote.name} yourself") from None
    except OSError as error:
        raise DownloadError(f"{folder / remote.name} cannot be written: {error.strerror or error}") from None


class _Resuming:
    """A downloader for pooch that goes on where the last attempt stopped."""

    def __init__(self, part: Path, most_bytes: int, wait: float, timeout: float, progress: Amount | None) -> None:
        self.part = part
        self.tag = part.with_name(part.name + ".tag")  # which version of the file the part belongs to
        self.most_bytes = most_bytes
        self.wait = wait
        self.timeout = timeout
        self.progress = progress or (lambda done, total: None)

    def __call__(self, url: str, output: str, pooch: Any) -> None:
        """Bring the whole file, and leave it at `output`."""
        for attempt in range(ATTEMPTS):
            if attempt:
                time.sleep(self.wait * 2 ** (attempt - 1))
            try:
                self._continue(url)
                break
            except urllib.error.HTTPError as error:
                error.close()
                if error.code == 416:  # the part is longer than the file is now
                    self.part.unlink(missing_ok=True)
                elif error.code not in PASSING:
                    raise DownloadError(f"{url} answers {error.code} ({error.reason}): fetch it by hand") from None
                failure = str(error.reason)
            except (urllib.error.URLError, ConnectionError, TimeoutError, http.client.HTTPException) as error:
                failure = str(getattr(error, "reason", error))
        else:
            raise DownloadError(f"{url} cannot be reached ({failure}): try again when there is a network")
        self.part.replace(output)
        self.tag.unlink(missing_ok=True)

    def _continue(self, url: str) -> None:
        """Add to the part all that is missing; an error if the line is cut before the end."""
        with urllib.request.urlopen(self._request(url), timeout=self.timeout) as answer:
            have = self._first_byte(answer.headers["Content-Range"]) if answer.status == 206 else 0
            if not have:
                self.tag.write_text(json.dumps(answer.headers["ETag"] or answer.headers["Last-Modified"]))
            length = answer.headers["Content-Length"]
            total = None if length is None else have + int(length)
            with self.part.open("r+b" if have else "wb") as file:
                file.truncate(have)
                file.seek(have)
                for chunk in _chunks(answer):
                    file.write(chunk)
                    self.progress(file.tell(), total)
                    if file.tell() > self.most_bytes:
                        self.part.unlink()
                        raise DownloadError(f"{url} sends more than the {self.most_bytes} bytes expected")
                received = file.tell()
        if total is not None and received < total:
            raise ConnectionError(f"the line was cut after {received} of {total} bytes")

    def _request(self, url: str) -> urllib.request.Request:
        """Ask for what is missing, or for all if the file has changed since."""
        request = urllib.request.Request(url, headers={"User-Agent": "isotherm"})
        have = self.part.stat().st_size if self.part.exists() else 0
        tag = json.loads(self.tag.read_text()) if self.tag.exists() else None
        if have and tag:
            request.add_header("Range", f"bytes={have}-")
            request.add_header("If-Range", tag)
        return request

    def _first_byte(self, content_range: str | None) -> int:
        """Where a part begins, as its header says, such as ``bytes 100-199/200``; not beyond what is there."""
        first = (content_range or "").removeprefix("bytes ").partition("-")[0]
        if not first.isdecimal() or int(first) > self.part.stat().st_size:
            raise http.client.HTTPException(f"a part came with a wrong place, {content_range}")
        return int(first)


def _chunks(answer: Any) -> Iterator[bytes]:
    """What comes over the line, whose errors are told from those of the disk."""
    while True:
        try:
            chunk = answer.read(CHUNK)
        except OSError as error:
            raise ConnectionError(str(error)) from error
        if not chunk:
            return
        yield chunk
