"""`/export`, `/import`: a memory as JSON lines, sent and read in pieces."""

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
EXPORT_CHUNK_BYTES = 1 << 16  # bytes of an export that are sent at once, a line more or less
_NDJSON_CONTENT: dict[str, Any] = {NDJSON: {"schema": {"type": "string"}}}


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"content": _NDJSON_CONTENT, "description": "One JSON object a line"}},
)
async def export(asked: ReadAccess) -> Response:
    """One user's whole memory as JSON lines, as of one moment; to import them elsewhere gives the same."""
    lines = await asked.run(lambda memory: iter(memory.export()))
    first = await asked.run(lambda _: _next_chunk(lines))
    return StreamingResponse(_stream_chunks(asked, first, lines), media_type=NDJSON)


@router.post(
    "/import",
    response_model=ImportResponse,
    responses={**MODEL_ERRORS, **WRITE_ERRORS, **MEDIA_TYPE_ERRORS},
    openapi_extra={"requestBody": {"required": True, "content": _NDJSON_CONTENT}},
)
async def import_lines(request: Request, asked: WriteAccess) -> Response:
    """Read an export into a user without memories, or remember turns from elsewhere: all of them or none.

    Lines from elsewhere are `{"query", "response", "at", "session", "key"}` or `{"messages": [...]}`.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != NDJSON:
        raise RequestRefused(415, f"send JSON lines as {NDJSON}", "unsupported_media_type")
    body = await _read_body(request, asked.services.options.max_body_bytes)

    def make(memory: Memory) -> dict[str, Any]:
        count = memory.import_(_decode_body(body).split("\n"))
        return {"turns": count, "pending": memory.store.pending(memory.user)}

    return await json_reply(asked, make)


async def _stream_chunks(asked: RequestContext, piece: bytes, lines: Iterator[str]) -> AsyncIterator[bytes]:
    while piece:
        yield piece
        piece = await asked.run(lambda _: _next_chunk(lines))


def _next_chunk(lines: Iterator[str]) -> bytes:
    """The next lines, as many as make a piece; none is the end."""
    piece = bytearray()
    for line in lines:
        piece += line.encode() + b"\n"
        if len(piece) >= EXPORT_CHUNK_BYTES:
            break
    return bytes(piece)


async def _read_body(request: Request, most: int) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise RequestRefused(413, f"the body has more than {most:,} bytes: send it in parts", "too_large")
    return bytes(body)


def _decode_body(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput("the body is not UTF-8") from error
