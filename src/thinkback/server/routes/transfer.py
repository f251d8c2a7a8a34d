"""`/export`, `/import`: a memory as JSON lines."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from fastapi import Request
from starlette.responses import Response, StreamingResponse

from thinkback.errors import InvalidInput
from thinkback.memory import Memory
from thinkback.server.errors import RequestRefused
from thinkback.server.routes.dependencies import (
    ReadAccess,
    RequestContext,
    WriteAccess,
    json_reply,
    tagged_router,
)
from thinkback.server.routes.errors import MEDIA_TYPE_ERRORS, MODEL_ERRORS, WRITE_ERRORS
from thinkback.server.routes.responses import ImportResponse

router = tagged_router("moving")

NDJSON = "application/x-ndjson"
EXPORT_CHUNK_BYTES = 1 << 16
_NDJSON_CONTENT: dict[str, Any] = {NDJSON: {"schema": {"type": "string"}}}


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"content": _NDJSON_CONTENT, "description": "One JSON object per line"}},
)
async def export(ctx: ReadAccess) -> Response:
    """Export a user's whole memory as JSON lines, as of one moment. Importing them elsewhere restores it."""
    lines = await ctx.run(lambda memory: iter(memory.export()))
    first = await ctx.run(lambda _: _next_chunk(lines))
    return StreamingResponse(_stream_chunks(ctx, first, lines), media_type=NDJSON)


@router.post(
    "/import",
    response_model=ImportResponse,
    responses={**MODEL_ERRORS, **WRITE_ERRORS, **MEDIA_TYPE_ERRORS},
    openapi_extra={"requestBody": {"required": True, "content": _NDJSON_CONTENT}},
)
async def import_lines(request: Request, ctx: WriteAccess) -> Response:
    """Import an export into a user without memories, or remember turns from elsewhere: all of them or none.

    Lines from elsewhere are `{"query", "response", "at", "session", "key"}` or `{"messages": [...]}`.
    """
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != NDJSON:
        raise RequestRefused(415, f"send JSON lines as {NDJSON}", "unsupported_media_type")
    body = await _read_body(request, ctx.services.options.max_body_bytes)

    def make(memory: Memory) -> dict[str, Any]:
        count = memory.import_(_decode_body(body).split("\n"))
        return {"turns": count, "pending": memory.store.pending(memory.user)}

    return await json_reply(ctx, make)


async def _stream_chunks(ctx: RequestContext, chunk: bytes, lines: Iterator[str]) -> AsyncIterator[bytes]:
    while chunk:
        yield chunk
        chunk = await ctx.run(lambda _: _next_chunk(lines))


def _next_chunk(lines: Iterator[str]) -> bytes:
    """The next lines, up to the chunk size; empty at the end."""
    chunk = bytearray()
    for line in lines:
        chunk += line.encode() + b"\n"
        if len(chunk) >= EXPORT_CHUNK_BYTES:
            break
    return bytes(chunk)


async def _read_body(request: Request, limit: int) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > limit:
            raise RequestRefused(
                413, f"the body has more than {limit:,} bytes: send it in parts", "too_large"
            )
    return bytes(body)


def _decode_body(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput("the body is not UTF-8") from error
