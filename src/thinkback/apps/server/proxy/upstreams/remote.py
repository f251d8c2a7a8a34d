"""An upstream on the network, by aiohttp: the client that costs least (decision 16)."""

from __future__ import annotations

import io
from collections.abc import AsyncGenerator
from types import SimpleNamespace
from urllib.parse import urlsplit, urlunsplit

import aiohttp
from yarl import URL

from thinkback.apps.server.proxy.upstreams.upstream import Broken, Incoming, Outgoing, late, unreachable
from thinkback.errors import InvalidInput

CONNECTIONS = 1024
CONNECT_S = 10.0
IDLE_S = 4.0  # a connection is kept so long: a little less than the 5 s after which many servers drop it
TRIES = 3  # connections that were used before may all have been dropped
_AT_ONCE = 1 << 20  # a larger body is written in pieces
_DROPPED = (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError)


class Remote:
    """An OpenAI-compatible server at one base URL, which no request can change."""

    def __init__(self, base_url: str, silence_s: float) -> None:
        self._base = urlsplit(base_url)
        if self._base.scheme not in ("http", "https") or not self._base.netloc:
            raise InvalidInput(f"upstream={base_url!r:.80}: give a URL such as https://api.openai.com/v1")
        self._silence = silence_s
        self._session: aiohttp.ClientSession | None = None

    async def send(self, request: Outgoing) -> Incoming:
        for _ in range(TRIES):
            connection = _Connection()
            try:
                response = await self._opened().request(
                    request.method,
                    self._url(request.path),
                    data=_pieces(request.body),
                    headers=request.headers,
                    allow_redirects=False,
                    trace_request_ctx=connection,
                )
            except TimeoutError:
                raise late(self._silence) from None
            except (aiohttp.ClientError, OSError) as error:
                # It may have been dropped just before it was used: then nothing was asked yet.
                if connection.used_before and isinstance(error, _DROPPED):
                    continue
                raise unreachable(type(error).__name__) from None
            return Incoming(response.status, list(response.raw_headers), _chunks(response))
        raise unreachable("it drops its connections")

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _url(self, path: str) -> URL:
        base = self._base
        return URL(urlunsplit(base._replace(path=base.path.rstrip("/") + path)), encoded=True)

    def _opened(self) -> aiohttp.ClientSession:
        """Made at the first request: a session belongs to the loop it is made in."""
        if self._session is None:
            trace = aiohttp.TraceConfig()
            trace.on_connection_reuseconn.append(_used_again)
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=CONNECTIONS, limit_per_host=0, keepalive_timeout=IDLE_S, ttl_dns_cache=60
                ),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=self._silence),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
                headers={"User-Agent": "thinkback"},
                trace_configs=[trace],
            )
        return self._session


class _Connection:
    """What is known of the connection one request went over."""

    used_before = False


async def _used_again(_: aiohttp.ClientSession, context: SimpleNamespace, __: object) -> None:
    context.trace_request_ctx.used_before = True


def _pieces(body: bytes) -> bytes | io.BytesIO | None:
    return (body if len(body) <= _AT_ONCE else io.BytesIO(body)) if body else None


async def _chunks(response: aiohttp.ClientResponse) -> AsyncGenerator[bytes, None]:
    """The body as it comes. A connection whose answer was not read to its end is closed, not used again."""
    try:
        async for chunk in response.content.iter_any():
            yield chunk
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        if rest := response.content._read_nowait(-1):  # what came before the break, and was not taken yet
            yield rest
        raise Broken(type(error).__name__) from None
    finally:
        response.close()
