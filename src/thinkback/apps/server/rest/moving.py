"""`/export`, `/import`: a memory as JSON lines, sent and read in pieces."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any

from fastapi import Request
from starlette.responses import Response, StreamingResponse

from thinkback.apps.server.faults import Refused
from thinkback.apps.server.rest.refusals import DISK_FAULTS, MODEL_FAULTS, UNSUPPORTED
from thinkback.apps.server.rest.replies import reply, theme
from thinkback.apps.server.rest.told import ImportedTold
from thinkback.apps.server.who import Asked, Reading, Writing
from thinkback.errors import InvalidInput
from thinkback.memory import Memory

router = theme("moving")

NDJSON = "application/x-ndjson"
PIECE = 1 << 16  # bytes of an export that are sent at once, a line more or less
_LINES: dict[str, Any] = {NDJSON: {"schema": {"type": "string"}}}


@router.get(
    "/export",
    response_class=StreamingResponse,
    responses={200: {"content": _LINES, "description": "One JSON object a line"}},
)
async def export(asked: Reading) -> Response:
    """One user's whole memory as JSON lines, as of one moment; to import them elsewhere gives the same."""
    lines = await asked.do(lambda memory: iter(memory.export()))
    first = await asked.do(lambda _: _piece(lines))
    return StreamingResponse(_pieces(asked, first, lines), media_type=NDJSON)


@router.post(
    "/import",
    response_model=ImportedTold,
    responses={**MODEL_FAULTS, **DISK_FAULTS, **UNSUPPORTED},
    openapi_extra={"requestBody": {"required": True, "content": _LINES}},
)
async def import_lines(request: Request, asked: Writing) -> Response:
    """Read an export into a user without memories, or remember turns from elsewhere: all of them or none.

    Lines from elsewhere are `{"query", "response", "at", "session", "key"}` or `{"messages": [...]}`.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != NDJSON:
        raise Refused(415, f"send JSON lines as {NDJSON}", "unsupported_media_type")
    body = await _body(request, asked.services.options.body_bytes)

    def make(memory: Memory) -> dict[str, Any]:
        count = memory.import_(_decoded(body).split("\n"))
        return {"turns": count, "pending": memory.store.pending(memory.user)}

    return await reply(asked, make)


async def _pieces(asked: Asked, piece: bytes, lines: Iterator[str]) -> AsyncIterator[bytes]:
    while piece:
        yield piece
        piece = await asked.do(lambda _: _piece(lines))


def _piece(lines: Iterator[str]) -> bytes:
    """The next lines, as many as make a piece; none is the end."""
    piece = bytearray()
    for line in lines:
        piece += line.encode() + b"\n"
        if len(piece) >= PIECE:
            break
    return bytes(piece)


async def _body(request: Request, most: int) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most:
            raise Refused(413, f"the body has more than {most:,} bytes: send it in parts", "too_large")
    return bytes(body)


def _decoded(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput("the body is not UTF-8") from error
