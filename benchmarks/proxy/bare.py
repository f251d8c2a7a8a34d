"""The bare pass-through: the proxy's own stack (uvicorn, Starlette, aiohttp), without memory.

python benchmarks/proxy/bare.py UPSTREAM
"""

from __future__ import annotations

import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import aiohttp
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route


def create(upstream: str) -> Starlette:
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        connector = aiohttp.TCPConnector(limit=0)
        async with aiohttp.ClientSession(connector=connector, auto_decompress=False) as session:
            app.state.session = session
            yield

    async def relay(request: Request) -> StreamingResponse:
        body = await request.body()
        headers = {"Content-Type": "application/json"}
        answer = await app.state.session.post(
            f"{upstream}/chat/completions", data=body, headers=headers
        ).__aenter__()

        async def chunks() -> AsyncIterator[bytes]:
            async with answer:
                async for chunk in answer.content.iter_any():
                    yield chunk

        keep = {"content-type", "content-length"}
        passed = {name: value for name, value in answer.headers.items() if name.lower() in keep}
        return StreamingResponse(chunks(), answer.status, passed)

    app = Starlette(routes=[Route("/v1/chat/completions", relay, methods=["POST"])], lifespan=lifespan)
    return app


def main() -> None:
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    listening.listen(1024)
    print(listening.getsockname()[1], flush=True)
    config = uvicorn.Config(
        create(sys.argv[1]), loop="uvloop", http="httptools", log_level="error", access_log=False
    )
    uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main()
