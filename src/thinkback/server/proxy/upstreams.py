"""The upstream interface of the proxy, and its implementation for servers on the network.

Uses aiohttp, which costs the least processor time per request (docs/decisions/0016).
"""

from __future__ import annotations

import io
from collections.abc import AsyncGenerator
from dataclasses import dataclass
from functools import lru_cache
from types import SimpleNamespace
from typing import Protocol
from urllib.parse import SplitResult, urlsplit, urlunsplit

import aiohttp
from yarl import URL

from thinkback.errors import InvalidInput
from thinkback.memory import Memory
from thinkback.server.errors import RequestRefused
from thinkback.server.proxy.recall_client import ChatTurn
from thinkback.types import Recollection

MAX_CONNECTIONS = 1024
CONNECT_TIMEOUT_SECONDS = 10.0
KEEP_ALIVE_SECONDS = 4.0  # a little less than the 5 s after which many servers close idle connections
MAX_ATTEMPTS = 3  # all reused connections may have been closed by the upstream
_MAX_SINGLE_WRITE_BYTES = 1 << 20  # a larger body is written in chunks
_DROPPED_CONNECTION_ERRORS = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)

RawHeaders = list[tuple[bytes, bytes]]


class UpstreamBroken(Exception):
    """The upstream disconnected in the middle of its answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamRequest:
    """A request to the upstream. `path` is below `/v1`; the client has no influence on the host.

    The fields after `body` are for the upstream that answers from memory alone. `turn` is what it may store;
    None if the chat is not to be remembered.
    """

    method: str
    path: str
    headers: dict[str, str]
    body: bytes = b""
    memory: Memory | None = None
    text: str = ""
    recollection: Recollection | None = None
    turn: ChatTurn | None = None


@dataclass(frozen=True, slots=True)
class UpstreamResponse:
    """A response of the upstream. `chunks` raises `UpstreamBroken` if it is incomplete.

    `by_memory`: the answer repeats memories, so it must not be remembered as new information. `stored` is the
    ref of the turn if the upstream has stored it.
    """

    status: int
    headers: RawHeaders
    chunks: AsyncGenerator[bytes, None]
    by_memory: bool = False
    stored: str = ""


class Upstream(Protocol):
    """Answers the requests of the proxy. `stores_turns`: it may store `UpstreamRequest.turn` itself."""

    stores_turns: bool

    async def send(self, request: UpstreamRequest) -> UpstreamResponse:
        """Return the response as soon as it starts; raises `ThinkbackError` if there is none.

        Closing its `chunks` cancels the request.
        """
        ...

    async def close(self) -> None: ...


def upstream_unreachable(reason: str) -> RequestRefused:
    return RequestRefused(
        502, f"the upstream did not answer: {reason}", "upstream_unreachable", {"X-Should-Retry": "true"}
    )


def upstream_timeout(seconds: float) -> RequestRefused:
    return RequestRefused(504, f"the upstream was silent for {seconds:g} s", "upstream_timeout")


class RemoteUpstream:
    """An OpenAI-compatible server at a fixed base URL."""

    stores_turns = False

    def __init__(self, base_url: str, timeout_seconds: float) -> None:
        self._base = urlsplit(base_url)
        if self._base.scheme not in ("http", "https") or not self._base.netloc:
            raise InvalidInput(f"upstream={base_url!r:.80}: give a URL such as https://api.openai.com/v1")
        self._timeout_seconds = timeout_seconds
        self._session: aiohttp.ClientSession | None = None

    async def send(self, request: UpstreamRequest) -> UpstreamResponse:
        for _ in range(MAX_ATTEMPTS):
            connection = _ConnectionTrace()
            try:
                response = await self._get_session().request(
                    request.method,
                    self._url(request.path),
                    data=_request_data(request.body),
                    headers=request.headers,
                    allow_redirects=False,
                    trace_request_ctx=connection,
                )
            except TimeoutError:
                raise upstream_timeout(self._timeout_seconds) from None
            except (aiohttp.ClientError, OSError) as error:
                # A reused connection may have been closed just before: then the request was not sent.
                if connection.reused and isinstance(error, _DROPPED_CONNECTION_ERRORS):
                    continue
                raise upstream_unreachable(type(error).__name__) from None
            return UpstreamResponse(response.status, list(response.raw_headers), _response_chunks(response))
        raise upstream_unreachable("it drops its connections")

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _url(self, path: str) -> URL:
        return _join_url(self._base, path)

    def _get_session(self) -> aiohttp.ClientSession:
        """The session, created at the first request because it belongs to the running event loop."""
        if self._session is None:
            trace = aiohttp.TraceConfig()
            trace.on_connection_reuseconn.append(_mark_reused)
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=MAX_CONNECTIONS,
                    limit_per_host=0,
                    keepalive_timeout=KEEP_ALIVE_SECONDS,
                    ttl_dns_cache=60,
                ),
                timeout=aiohttp.ClientTimeout(
                    total=None, sock_connect=CONNECT_TIMEOUT_SECONDS, sock_read=self._timeout_seconds
                ),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
                headers={"User-Agent": "thinkback"},
                trace_configs=[trace],
            )
        return self._session


@lru_cache(maxsize=64)  # nearly all requests have the same few paths
def _join_url(base: SplitResult, path: str) -> URL:
    return URL(urlunsplit(base._replace(path=base.path.rstrip("/") + path)), encoded=True)


class _ConnectionTrace:
    """Whether the connection of one request was reused."""

    reused = False


async def _mark_reused(_: aiohttp.ClientSession, context: SimpleNamespace, __: object) -> None:
    context.trace_request_ctx.reused = True


def _request_data(body: bytes) -> bytes | io.BytesIO | None:
    return (body if len(body) <= _MAX_SINGLE_WRITE_BYTES else io.BytesIO(body)) if body else None


async def _response_chunks(response: aiohttp.ClientResponse) -> AsyncGenerator[bytes, None]:
    """The body as it arrives. If it is not read to the end, the connection is closed instead of reused."""
    try:
        while chunk := await response.content.readany():
            yield chunk
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        if rest := response.content._read_nowait(-1):  # received before the connection broke
            yield rest
        raise UpstreamBroken(type(error).__name__) from None
    finally:
        response.close()
