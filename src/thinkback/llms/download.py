"""A file from a URL, resumable: what arrived stays, a changed file starts anew, the SHA-256 decides.

FILE.part        the bytes so far
FILE.part.json   which URL and which version (ETag) they belong to
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from email.message import Message
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from thinkback.errors import ModelUnavailable

DownloadProgress = Callable[[int, int | None, str], None]

CHUNK_BYTES = 1 << 20
MAX_ATTEMPTS_WITHOUT_PROGRESS = 5
SHA256_ETAG_RE = re.compile(r'"?([0-9a-f]{64})"?\Z')


@dataclass(frozen=True, slots=True)
class DownloadSource:
    """Where a file comes from. The token goes to the URL's own host only, never to where it redirects."""

    url: str
    token: str = ""

    def __repr__(self) -> str:
        return f"Source({self.display_url!r})"

    @property
    def display_url(self) -> str:
        """The URL without what may be secret in it."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.hostname}{parts.path}"


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """What the server says about the file it is sending."""

    url: str
    etag: str = ""
    sha256: str = ""
    total: int | None = None


def download(
    source: DownloadSource,
    part: Path,
    *,
    progress: DownloadProgress,
    sleep: Callable[[float], None] = time.sleep,
    timeout: float = 60.0,
) -> RemoteFile:
    """Fill `part` with the whole file; tries again where a connection breaks, from where it broke."""
    idle = 0
    while True:
        before = _file_size(part)
        try:
            return _download_once(source, part, progress, timeout)
        except _TransientError as broken:
            idle = 0 if _file_size(part) > before else idle + 1
            if idle >= MAX_ATTEMPTS_WITHOUT_PROGRESS:
                raise ModelUnavailable(
                    f"The download of {source.display_url} keeps breaking ({broken}). "
                    "What arrived is kept: run the same command again to go on."
                ) from None
        sleep(min(0.5 * 2.0**idle, 10.0))


def sha256_of_file(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _TransientError(Exception):
    """The connection failed in a way that may pass."""


def _download_once(
    source: DownloadSource, part: Path, progress: DownloadProgress, timeout: float
) -> RemoteFile:
    """One connection's worth of the file."""
    note = part.with_name(part.name + ".json")
    kept = _read_state_file(note)
    have = _file_size(part) if kept.url == source.url else 0
    try:
        with _Opener(source).open(have, timeout) as response:
            version = _remote_file(source, response.headers, response.linked_etag, response.offset)
            resumes = response.offset == have and (not have or _is_same_file(kept, version))
            if response.offset and not resumes:  # the middle of another file: forget ours, begin again
                part.unlink(missing_ok=True)
                raise _TransientError("the file has changed on the server")
            note.write_text(json.dumps(asdict(version)))
            with part.open("ab" if response.offset else "wb") as file:
                _copy_body(response.body, file, version, progress, part)
    except _AlreadyComplete:
        return kept
    except urllib.error.HTTPError as fault:
        with fault:
            raise _access_error(source, fault.code) from None
    except (OSError, http.client.HTTPException) as fault:
        raise _TransientError(type(fault).__name__) from None
    if version.total is not None and _file_size(part) != version.total:
        raise _TransientError(f"{_file_size(part)} of {version.total} bytes arrived")
    return version


def _copy_body(
    body: IO[bytes], file: IO[bytes], version: RemoteFile, progress: DownloadProgress, part: Path
) -> None:
    done, label = file.tell(), part.name.removesuffix(".part")
    progress(done, version.total, label)
    while chunk := body.read(CHUNK_BYTES):
        file.write(chunk)
        done += len(chunk)
        progress(done, version.total, label)
    file.flush()
    os.fsync(file.fileno())


class _AlreadyComplete(Exception):
    """All bytes are here already."""


@dataclass
class _Response:
    body: Any
    headers: Message
    linked_etag: str
    offset: int

    def __enter__(self) -> _Response:
        return self

    def __exit__(self, *_: object) -> None:
        self.body.close()


class _Opener(urllib.request.HTTPRedirectHandler):
    """Follows redirects with the token kept back, and remembers the digest the hub names on the way."""

    def __init__(self, source: DownloadSource) -> None:
        self._source = source
        self._linked_etag = ""

    def open(self, offset: int, timeout: float) -> _Response:
        request = urllib.request.Request(self._source.url, headers={"Accept-Encoding": "identity"})  # noqa: S310
        if offset:
            request.add_header("Range", f"bytes={offset}-")
        self._add_token(request)
        try:
            body = urllib.request.build_opener(self).open(request, timeout=timeout)
        except urllib.error.HTTPError as fault:
            if fault.code == 416 and offset:
                with fault:
                    if fault.headers.get("Content-Range", "").strip() == f"bytes */{offset}":
                        raise _AlreadyComplete from None
                return self.open(0, timeout)
            if fault.code in (408, 429) or fault.code >= 500:
                with fault:
                    raise _TransientError(f"the server says {fault.code}") from None
            raise
        linked = body.headers.get("X-Linked-Etag", "") or self._linked_etag
        start = (
            re.match(r"bytes (\d+)-", body.headers.get("Content-Range", "")) if body.status == 206 else None
        )
        return _Response(body, body.headers, linked, int(start.group(1)) if start else 0)

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        self._linked_etag = headers.get("X-Linked-Etag", "") or self._linked_etag
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        if new.scheme != "https" and not (old.scheme == new.scheme == "http"):
            raise ModelUnavailable(
                f"{self._source.display_url} redirects to an address that is not safe. Give the file's final URL."
            )
        following = super().redirect_request(req, fp, code, msg, headers, newurl)
        if following is not None:
            self._add_token(following)
        return following

    def _add_token(self, request: urllib.request.Request) -> None:
        here, home = urlsplit(request.full_url), urlsplit(self._source.url)
        if self._source.token and (here.scheme, here.netloc) == (home.scheme, home.netloc):
            request.add_unredirected_header("Authorization", f"Bearer {self._source.token}")


def _remote_file(source: DownloadSource, headers: Message, linked_etag: str, offset: int) -> RemoteFile:
    length = headers.get("Content-Length")
    total = offset + int(length) if length and length.isdigit() else None
    named = SHA256_ETAG_RE.match(linked_etag.removeprefix("W/"))
    return RemoteFile(
        source.url, linked_etag or headers.get("ETag", ""), named.group(1) if named else "", total
    )


def _is_same_file(stored: RemoteFile, current: RemoteFile) -> bool:
    return bool(stored.etag) and stored.etag == current.etag


def _access_error(source: DownloadSource, code: int) -> ModelUnavailable:
    advice = {
        401: "It wants a token: set HF_TOKEN for the hub.",
        403: "The token may not read it: accept its terms on the hub, or set another HF_TOKEN.",
        404: "Check the owner, the repository and the file's name.",
    }
    return ModelUnavailable(
        f"{source.display_url} cannot be downloaded ({code}). {advice.get(code, 'Check the URL.')}"
    )


def _read_state_file(path: Path) -> RemoteFile:
    try:
        raw: Mapping[str, Any] = json.loads(path.read_text())
        return RemoteFile(**raw)
    except (OSError, ValueError, TypeError):
        return RemoteFile("")


def _file_size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
