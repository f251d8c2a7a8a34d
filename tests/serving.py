"""A small application for tests of the server's frame: remembering, recalling, and a request that takes time.

`python -m tests.serving serve ...` is `thinkback serve ...` with it.
"""

from __future__ import annotations

import asyncio
from functools import partial

import aiohttp
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from thinkback.apps.server import health
from thinkback.apps.server.services import Services


def create(services: Services) -> ASGIApp:
    async def remember(request: Request) -> Response:
        body = await request.json()
        memory = services.memories.tenant("").for_user(body["user"])
        turn = await services.desk.do(partial(memory.remember, body["text"], key=body.get("key")))
        return JSONResponse({"turn": turn.id})

    async def recall(request: Request) -> Response:
        memory = services.memories.tenant("").for_user(request.query_params["user"])
        found = await services.desk.do(partial(memory.recall, request.query_params["query"]))
        return JSONResponse({"texts": [item.text for item in found]})

    async def slow(request: Request) -> Response:
        await asyncio.sleep(float(request.path_params["seconds"]))
        return JSONResponse({"slept": True})

    async def ask(request: Request) -> Response:
        url = f"{services.options.upstream}/chat/completions"
        async with aiohttp.ClientSession() as session, session.post(url, json={}) as answer:
            return JSONResponse({"status": answer.status})

    async def broken(request: Request) -> Response:
        raise ValueError(await request.body())

    return Starlette(
        routes=[
            *health.routes(services),
            Route("/remember", remember, methods=["POST"]),
            Route("/recall", recall),
            Route("/ask", ask, methods=["POST"]),
            Route("/slow/{seconds}", slow),
            Route("/broken", broken, methods=["POST"]),
        ]
    )


if __name__ == "__main__":
    from thinkback.apps.cli import main, serving

    serving.APP = "tests.serving:create"
    main()
