"""Downloads that can be interrupted: retried, resumed where they stopped, checked, and renamed only when complete.

Pooch looks after the retries, the checksum and the rename. Meanwhile the data are in a ``.part`` file next to the
target, so that the next attempt, or the next call, asks only for the rest.

A file is used only after its checksum was compared. If this release does not know the SHA-256 of a file, it is kept
under another name, and the user is asked to compare and rename it. Redirects from https to http are refused.
"""

import hashlib
import http.client
import json
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

Amount: TypeAlias = Callable[[int, int | None], None]  # bytes so far, and the total if known

CHUNK = 1 << 16
RETRIES = 3
TIMEOUT = 30.0  # seconds to wait for an answer
UNVERIFIED = ".unverified"  # the end of the name of a file whose checksum is not known
RETRIED = {408, 425, 429, 500, 502, 503, 504}  # HTTP statuses worth another attempt


class DownloadError(OSError):
    """A file could not be downloaded; the message says what to do."""


class _InterruptedError(ValueError):
    """An attempt failed for a reason that may pass; pooch tries again after a ValueError."""


@dataclass(frozen=True)
class RemoteFile:
    """A file to download."""

    url: str
    name: str  # path in the folder of datasets
    sha256: str | None  # None if this release does not know it, so that the user must compare it
    most_bytes: int  # largest size once unpacked


def fetch_file(remote: RemoteFile, folder: Path, *, progress: Amount | None = None) -> Path:
    """Download a file into a folder, unless it is there, and give its path."""
    try:
        import pooch
    except ImportError as error:
        raise ImportError("downloads need pooch: pip install 'isotherm[datasets]'", name="pooch") from error
    pooch.get_logger().setLevel("WARNING")
    target = folder / remote.name
    if remote.sha256 is None and target.exists():  # the user has put it there
        return target
    name = remote.name if remote.sha256 else f"{remote.name}{UNVERIFIED}"
    known = {name: remote.sha256 and f"sha256:{remote.sha256}"}
    files = pooch.create(folder, base_url="", registry=known, urls={name: remote.url}, retry_if_failed=RETRIES)
    part = folder / f"{remote.name}.part"
    try:
        path = Path(files.fetch(name, downloader=partial(_download, part, remote.most_bytes, progress)))
    except _InterruptedError as error:
        reason = f"{remote.url} cannot be reached ({error}): try again when there is a network"
        raise DownloadError(f"{reason}; or put the file at {target} yourself") from None
    except ValueError as error:
        what = f"{remote.url} has changed or was damaged in transit: its SHA-256 is not {remote.sha256}"
        raise DownloadError(f"{what}; nothing was kept") from error
    except DownloadError as error:
        raise DownloadError(f"{error}; or put the file at {target} yourself") from None
    except OSError as error:
        raise DownloadError(f"{target} cannot be written: {error.strerror or error}") from None
    if remote.sha256 is None:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        found = f"this release does not know the SHA-256 of {remote.url}, and what came has {digest}"
        remedy = f"compare it with a source that you trust, then rename {path} to {target.name}"
        raise DownloadError(f"{found}: {remedy}")
    return path


class _Encrypted(urllib.request.HTTPRedirectHandler):
    """Follows redirects, but not from https to anything else."""

    def redirect_request(
        self, req: urllib.request.Request, fp: Any, code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        if req.type == "https" and not newurl.lower().startswith("https://"):
            raise DownloadError(f"{req.full_url} redirects to {newurl}, which is not encrypted: fetch it by hand")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _download(part: Path, most_bytes: int, progress: Amount | None, url: str, output: str, pooch: Any) -> None:
    """One attempt, called by pooch: complete the ``.part`` file, then move it to `output`."""
    tag = part.with_name(f"{part.name}.tag")  # the version of the file that the part belongs to
    try:
        request = urllib.request.Request(url, headers={"User-Agent": "isotherm"})
        have = part.stat().st_size if part.exists() else 0
        version = json.loads(tag.read_text()) if tag.exists() else None
        if have and version:  # ask for the rest, or for the whole file if it has changed since
            request.add_header("Range", f"bytes={have}-")
            request.add_header("If-Range", version)
        with urllib.request.build_opener(_Encrypted).open(request, timeout=TIMEOUT) as answer:
            _append(answer, part, tag, most_bytes, progress)
    except urllib.error.HTTPError as error:
        error.close()
        if error.code == 416:  # the part is longer than the file is now
            part.unlink(missing_ok=True)
        elif error.code not in RETRIED:
            raise DownloadError(f"{url} answers {error.code} ({error.reason}): fetch it by hand") from None
        raise _InterruptedError(error.reason) from None
    except (urllib.error.URLError, ConnectionError, TimeoutError, http.client.HTTPException) as error:
        raise _InterruptedError(getattr(error, "reason", error)) from None
    part.replace(output)
    tag.unlink(missing_ok=True)


def _append(answer: Any, part: Path, tag: Path, most_bytes: int, progress: Amount | None) -> None:
    """Append an answer to the part; an error if the connection breaks before the end."""
    have = _first_byte(answer.headers["Content-Range"], part) if answer.status == 206 else 0
    if not have:
        tag.write_text(json.dumps(answer.headers["ETag"] or answer.headers["Last-Modified"]))
    length = answer.headers["Content-Length"]
    total = None if length is None else have + int(length)
    with part.open("r+b" if have else "wb") as file:
        file.truncate(have)
        file.seek(have)
        while chunk := _read(answer):
            file.write(chunk)
            if progress is not None:
                progress(file.tell(), total)
            if file.tell() > most_bytes:
                part.unlink()
                raise DownloadError(f"{answer.url} sends more than the {most_bytes} bytes expected")
        received = file.tell()
    if total is not None and received < total:
        raise ConnectionError(f"the connection broke after {received} of {total} bytes")


def _first_byte(content_range: str | None, part: Path) -> int:
    """Where an answer begins, by a header such as ``bytes 100-199/200``; it must not leave a gap."""
    first = (content_range or "").removeprefix("bytes ").partition("-")[0]
    if not first.isdecimal() or int(first) > part.stat().st_size:
        raise http.client.HTTPException(f"the server sent the wrong range, {content_range}")
    return int(first)


def _read(answer: Any) -> bytes:
    """The next chunk; an error of the network becomes a ConnectionError, unlike an error of the disk."""
    try:
        chunk: bytes = answer.read(CHUNK)
    except OSError as error:
        raise ConnectionError(str(error)) from error
    return chunk
