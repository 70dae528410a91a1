"""Downloads that can be interrupted: resumed where they stopped, checked, and renamed only when complete.

Pooch looks after the cache, the checksum and the rename. Meanwhile the data are in a ``.part`` file beside the target,
so that the next attempt, or the next call, asks only for the rest.

No file is used whose checksum nobody has compared. If this release does not know the SHA-256 of a file, it is kept
under another name, and the user is asked to compare and rename it. Redirects from https to http are refused.
"""

import hashlib
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

Amount: TypeAlias = Callable[[int, int | None], None]  # bytes so far, and the total if known

CHUNK = 1 << 16
ATTEMPTS = 4
UNVERIFIED = ".unverified"  # the end of the name of a file whose checksum is not known
PASSING = {408, 425, 429, 500, 502, 503, 504}  # HTTP statuses worth another attempt


class DownloadError(OSError):
    """A file could not be downloaded; the message says what to do."""


@dataclass(frozen=True)
class RemoteFile:
    """A file to download.

    Attributes
    ----------
    url : str
        Its address.
    name : str
        Its path in the folder of datasets.
    sha256 : str or None
        Its checksum; None if it is not known to this release, so that the user must compare it.
    most_bytes : int
        The largest size that it can have once unpacked.
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
        The target, created if necessary.
    wait, timeout : float
        Seconds to wait before the second attempt (doubled for each further one), and for an answer.
    progress : callable, optional
        Called with the bytes so far and the size of the file, which is None if unknown.

    Raises
    ------
    DownloadError
        If there is no network or no such file, or if the checksum is wrong or unknown.
    """
    try:
        import pooch
    except ImportError as error:
        raise ImportError("downloads need pooch: pip install 'isotherm[datasets]'", name="pooch") from error
    pooch.get_logger().setLevel("WARNING")
    target = folder / remote.name
    if remote.sha256 is None and target.exists():  # the user has put it there
        return target
    name = remote.name if remote.sha256 else f"{remote.name}{UNVERIFIED}"
    downloader = _Resuming(folder / f"{remote.name}.part", remote.most_bytes, wait, timeout, progress)
    known = remote.sha256 and f"sha256:{remote.sha256}"
    try:
        path = Path(pooch.retrieve(remote.url, known_hash=known, fname=name, path=folder, downloader=downloader))
    except ValueError as error:
        what = f"{remote.url} has changed or was damaged in transit: its SHA-256 is not {remote.sha256}"
        raise DownloadError(f"{what}; nothing was kept") from error
    except DownloadError as error:
        raise DownloadError(f"{error}; or put the file at {target} yourself") from None
    except OSError as error:
        raise DownloadError(f"{target} cannot be written: {error.strerror or error}") from None
    if remote.sha256 is None:
        raise DownloadError(_unverified(remote.url, path, target))
    return path


def _unverified(url: str, path: Path, target: Path) -> str:
    """The sentence for a file whose checksum is not known."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    found = f"this release does not know the SHA-256 of {url}, and what came has {digest}"
    return f"{found}: compare it with a source that you trust, then rename {path} to {target.name}"


class _Encrypted(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but not from https to anything else."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        """The request to follow with, or an error."""
        if req.type == "https" and not newurl.lower().startswith("https://"):
            raise DownloadError(f"{req.full_url} redirects to {newurl}, which is not encrypted: fetch it by hand")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _Resuming:
    """A downloader for pooch that resumes where the last attempt stopped."""

    def __init__(self, part: Path, most_bytes: int, wait: float, timeout: float, progress: Amount | None) -> None:
        self.part = part
        self.tag = part.with_name(part.name + ".tag")  # the version of the file that the part belongs to
        self.most_bytes = most_bytes
        self.wait = wait
        self.timeout = timeout
        self.progress = progress or (lambda done, total: None)

    def __call__(self, url: str, output: str, pooch: Any) -> None:
        """Download the whole file to `output`."""
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
        """Append what is missing to the part; an error if the connection breaks before the end."""
        opener = urllib.request.build_opener(_Encrypted)
        with opener.open(self._request(url), timeout=self.timeout) as answer:
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
            raise ConnectionError(f"the connection broke after {received} of {total} bytes")

    def _request(self, url: str) -> urllib.request.Request:
        """A request for what is missing, or for the whole file if it has changed since."""
        request = urllib.request.Request(url, headers={"User-Agent": "isotherm"})
        have = self.part.stat().st_size if self.part.exists() else 0
        tag = json.loads(self.tag.read_text()) if self.tag.exists() else None
        if have and tag:
            request.add_header("Range", f"bytes={have}-")
            request.add_header("If-Range", tag)
        return request

    def _first_byte(self, content_range: str | None) -> int:
        """Where a part begins, by a header such as ``bytes 100-199/200``; it must not leave a gap."""
        first = (content_range or "").removeprefix("bytes ").partition("-")[0]
        if not first.isdecimal() or int(first) > self.part.stat().st_size:
            raise http.client.HTTPException(f"the server sent the wrong range, {content_range}")
        return int(first)


def _chunks(answer: Any) -> Iterator[bytes]:
    """The data of an answer; errors of the network become ConnectionError, unlike those of the disk."""
    while True:
        try:
            chunk = answer.read(CHUNK)
        except OSError as error:
            raise ConnectionError(str(error)) from error
        if not chunk:
            return
        yield chunk
