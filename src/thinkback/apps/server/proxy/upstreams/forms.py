"""OpenAI's objects, as far as this server makes them itself."""

from __future__ import annotations

import base64
import json
import time
import uuid
from collections.abc import AsyncGenerator, Mapping
from typing import TYPE_CHECKING, Any

from thinkback.apps.server.faults import Refused
from thinkback.apps.server.proxy.upstreams.upstream import Headers, Incoming
from thinkback.errors import InvalidInput

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

END = b"data: [DONE]\n\n"
STREAM: Headers = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache")]
MOST_INPUTS = 2048


def completion(text: str, model: str, *, bare: bool) -> dict[str, Any]:
    """A whole answer; a `bare` one completes a prompt instead of a chat."""
    said = {"text": text} if bare else {"message": {"role": "assistant", "content": text}}
    kind = "text_completion" if bare else "chat.completion"
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    return {**_head(kind, model), "choices": [_choice(said, "stop")], "usage": usage}


def pieces(text: str, model: str, *, bare: bool) -> list[dict[str, Any]]:
    """The same as the events of a stream."""
    head = _head("text_completion" if bare else "chat.completion.chunk", model)
    if bare:
        return [{**head, "choices": [_choice({"text": text}, "stop")]}]
    first = {"delta": {"role": "assistant", "content": text}}
    return [
        {**head, "choices": [_choice(first, None)]},
        {**head, "choices": [_choice({"delta": {}}, "stop")]},
    ]


def models(name: str) -> dict[str, Any]:
    return {"object": "list", "data": [model(name)]}


def model(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "thinkback"}


def texts_to_embed(request: Mapping[str, Any], dim: int) -> list[str]:
    """What is to be embedded; InvalidInput for what only others can do."""
    given = request.get("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise InvalidInput("input: give a text or a list of texts; tokens are not understood here")
    if len(texts) > MOST_INPUTS:
        raise InvalidInput(f"input: at most {MOST_INPUTS} texts at a time, not {len(texts)}")
    if request.get("dimensions") not in (None, dim):
        raise InvalidInput(f"dimensions: this embedder has {dim}, no other number")
    return texts


def embeddings(vectors: npt.NDArray[np.float32], name: str, encoding: object) -> dict[str, Any]:
    def told(vector: npt.NDArray[np.float32]) -> str | list[float]:
        if encoding == "base64":
            return base64.b64encode(vector.astype("<f4").tobytes()).decode()
        return [float(value) for value in vector]

    data = [{"object": "embedding", "index": n, "embedding": told(row)} for n, row in enumerate(vectors)]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return {"object": "list", "data": data, "model": name, "usage": usage}


def asked_object(body: bytes) -> dict[str, Any]:
    """The request as an object; Refused as OpenAI would."""
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        request = None
    if not isinstance(request, dict):
        raise Refused(400, "the body must be a JSON object", "invalid_body")
    return request


def whole(value: Mapping[str, Any], status: int = 200, *, by_memory: bool = False) -> Incoming:
    """An answer that is there."""
    raw = json.dumps(value, ensure_ascii=False).encode(errors="replace")
    length = str(len(raw)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", length)]
    return Incoming(status, headers, _once(raw), by_memory)


def event(value: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode(errors="replace")


async def _once(raw: bytes) -> AsyncGenerator[bytes, None]:
    yield raw


def _head(kind: str, model: str) -> dict[str, Any]:
    return {
        "id": f"thinkback-{uuid.uuid4().hex}",
        "object": kind,
        "created": int(time.time()),
        "model": model,
    }


def _choice(said: Mapping[str, Any], finish: str | None) -> dict[str, Any]:
    return {"index": 0, **said, "finish_reason": finish, "logprobs": None}
