"""Resumable download of a file by HTTP, also across runs of the program.

Two files beside the target keep the state:
    FILE.part        the bytes received so far
    FILE.part.json   the URL and the version (ETag) they belong to; if it has changed, the download restarts
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
"""Called as `progress(done_bytes, total_bytes, label)`; the total is None if it is unknown."""

CHUNK_BYTES = 1 << 20
MAX_ATTEMPTS_WITHOUT_PROGRESS = 5
SHA256_ETAG_RE = re.compile(r'"?([0-9a-f]{64})"?\Z')


@dataclass(frozen=True, slots=True)
class DownloadSource:
    """The URL of a file, and a bearer token that is sent to the URL's own host only, not to redirects."""

    url: str
    token: str = ""

    def __repr__(self) -> str:
        return f"DownloadSource({self.display_url!r})"

    @property
    def display_url(self) -> str:
        """The URL without credentials and query, for messages."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.hostname}{parts.path}"


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """What the server says about a file. Stored as JSON in FILE.part.json."""

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
    """Download the whole file into `part`; after a broken connection it resumes where it stopped.

    Raises:
        ModelUnavailable: Access was denied, or `MAX_ATTEMPTS_WITHOUT_PROGRESS` attempts brought no new bytes.
    """
    failures = 0  # attempts since the last one that received bytes
    while True:
        size_before = _file_size(part)
        try:
            return _download_once(source, part, progress, timeout)
        except _TransientError as error:
            failures = 0 if _file_size(part) > size_before else failures + 1
            if failures >= MAX_ATTEMPTS_WITHOUT_PROGRESS:
                raise ModelUnavailable(
                    f"The download of {source.display_url} keeps failing ({error}). "
                    "The bytes received so far are kept: run the same command again to resume."
                ) from None
        sleep(min(0.5 * 2.0**failures, 10.0))


def sha256_of_file(path: Path) -> str:
    """The SHA-256 of a file in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class _TransientError(Exception):
    """The connection failed; a retry may succeed."""


def _download_once(
    source: DownloadSource, part: Path, progress: DownloadProgress, timeout: float
) -> RemoteFile:
    """Download as much as one connection delivers."""
    state_file = part.with_name(part.name + ".json")
    stored = _read_state_file(state_file)
    received = _file_size(part) if stored.url == source.url else 0
    try:
        with _Opener(source).open(received, timeout) as response:
            current = _remote_file(source, response.headers, response.linked_etag, response.offset)
            resumes = response.offset == received and (not received or _is_same_file(stored, current))
            if response.offset and not resumes:  # the rest of a different file: discard ours and restart
                part.unlink(missing_ok=True)
                raise _TransientError("the file has changed on the server")
            state_file.write_text(json.dumps(asdict(current)))
            with part.open("ab" if response.offset else "wb") as file:
                _copy_body(response.body, file, current, progress, part)
    except _AlreadyComplete:
        return stored
    except urllib.error.HTTPError as error:
        with error:
            raise _access_error(source, error.code) from None
    except (OSError, http.client.HTTPException) as error:
        raise _TransientError(type(error).__name__) from None
    if current.total is not None and _file_size(part) != current.total:
        raise _TransientError(f"{_file_size(part)} of {current.total} bytes arrived")
    return current


def _copy_body(
    body: IO[bytes], file: IO[bytes], remote: RemoteFile, progress: DownloadProgress, part: Path
) -> None:
    done, label = file.tell(), part.name.removesuffix(".part")
    progress(done, remote.total, label)
    while chunk := body.read(CHUNK_BYTES):
        file.write(chunk)
        done += len(chunk)
        progress(done, remote.total, label)
    file.flush()
    os.fsync(file.fileno())


class _AlreadyComplete(Exception):
    """The server says that all bytes have been received."""


@dataclass
class _Response:
    """An open response; `offset` is the position of its first byte, `linked_etag` the hub's digest."""

    body: Any
    headers: Message
    linked_etag: str
    offset: int

    def __enter__(self) -> _Response:
        return self

    def __exit__(self, *_: object) -> None:
        self.body.close()


class _Opener(urllib.request.HTTPRedirectHandler):
    """Opens a URL. Redirects do not get the token; the hub's X-Linked-Etag (a SHA-256) is remembered."""

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
        except urllib.error.HTTPError as error:
            if error.code == 416 and offset:  # range not satisfiable
                with error:
                    if error.headers.get("Content-Range", "").strip() == f"bytes */{offset}":
                        raise _AlreadyComplete from None
                return self.open(0, timeout)
            if error.code in (408, 429) or error.code >= 500:
                with error:
                    raise _TransientError(f"the server answered {error.code}") from None
            raise
        linked_etag = body.headers.get("X-Linked-Etag", "") or self._linked_etag
        content_range = body.headers.get("Content-Range", "") if body.status == 206 else ""
        start = re.match(r"bytes (\d+)-", content_range)
        return _Response(body, body.headers, linked_etag, int(start.group(1)) if start else 0)

    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: Any, newurl: str
    ) -> urllib.request.Request | None:
        self._linked_etag = headers.get("X-Linked-Etag", "") or self._linked_etag
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        if new.scheme != "https" and not (old.scheme == new.scheme == "http"):
            raise ModelUnavailable(
                f"{self._source.display_url} redirects to an unencrypted address. Give the file's final URL."
            )
        redirected = super().redirect_request(req, fp, code, msg, headers, newurl)
        if redirected is not None:
            self._add_token(redirected)
        return redirected

    def _add_token(self, request: urllib.request.Request) -> None:
        target, source = urlsplit(request.full_url), urlsplit(self._source.url)
        if self._source.token and (target.scheme, target.netloc) == (source.scheme, source.netloc):
            request.add_unredirected_header("Authorization", f"Bearer {self._source.token}")


def _remote_file(source: DownloadSource, headers: Message, linked_etag: str, offset: int) -> RemoteFile:
    length = headers.get("Content-Length")
    total = offset + int(length) if length and length.isdigit() else None
    digest = SHA256_ETAG_RE.match(linked_etag.removeprefix("W/"))
    return RemoteFile(
        source.url, linked_etag or headers.get("ETag", ""), digest.group(1) if digest else "", total
    )


def _is_same_file(stored: RemoteFile, current: RemoteFile) -> bool:
    return bool(stored.etag) and stored.etag == current.etag


def _access_error(source: DownloadSource, code: int) -> ModelUnavailable:
    advice = {
        401: "It needs a token: set HF_TOKEN.",
        403: "The token has no access: accept the model's terms on the hub, or set another HF_TOKEN.",
        404: "Check the owner, the repository and the file name.",
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
