"""An upstream on the network, by aiohttp: the client that costs least (decision 16)."""

from __future__ import annotations

import io
from collections.abc import AsyncGenerator
from urllib.parse import urlsplit, urlunsplit

import aiohttp
from yarl import URL

from thinkback.apps.server.proxy.upstream import Broken, Incoming, Outgoing, late, unreachable
from thinkback.errors import InvalidInput

CONNECTIONS = 1024
CONNECT_S = 10.0
IDLE_S = 4.0  # a connection is kept so long: a little less than the 5 s after which many servers drop it
_AT_ONCE = 1 << 20  # a larger body is written in pieces


class Remote:
    """An OpenAI-compatible server at one base URL, which no request can change."""

    def __init__(self, base_url: str, silence_s: float) -> None:
        self._base = urlsplit(base_url)
        if self._base.scheme not in ("http", "https") or not self._base.netloc:
            raise InvalidInput(f"upstream={base_url!r:.80}: give a URL such as https://api.openai.com/v1")
        self._silence = silence_s
        self._session: aiohttp.ClientSession | None = None

    async def send(self, request: Outgoing) -> Incoming:
        body = request.body if len(request.body) <= _AT_ONCE else io.BytesIO(request.body)
        try:
            response = await self._opened().request(
                request.method,
                self._url(request.path),
                data=body or None,
                headers=request.headers,
                allow_redirects=False,
            )
        except TimeoutError:
            raise late(self._silence) from None
        except (aiohttp.ClientError, OSError) as error:
            raise unreachable(type(error).__name__) from None
        return Incoming(response.status, list(response.raw_headers), _chunks(response))

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
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(
                    limit=CONNECTIONS, limit_per_host=0, keepalive_timeout=IDLE_S, ttl_dns_cache=60
                ),
                timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S, sock_read=self._silence),
                cookie_jar=aiohttp.DummyCookieJar(),
                auto_decompress=False,
                trust_env=False,
                headers={"User-Agent": "thinkback"},
            )
        return self._session


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
