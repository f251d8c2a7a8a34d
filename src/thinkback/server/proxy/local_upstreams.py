"""Upstreams inside this process (the local model, or memory alone) and the OpenAI JSON objects they answer with."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from thinkback.errors import InvalidInput, ModelRefused
from thinkback.llms.local import LocalLLM
from thinkback.protocols import Embedder
from thinkback.recall.answer import answer_from_memory
from thinkback.server.errors import RequestRefused
from thinkback.server.proxy.upstreams import RawHeaders, UpstreamBroken, UpstreamRequest, UpstreamResponse
from thinkback.server.thread_pool import ThreadPool
from thinkback.types import Recollection

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


STREAM_END = b"data: [DONE]\n\n"
STREAM_HEADERS: RawHeaders = [
    (b"content-type", b"text/event-stream; charset=utf-8"),
    (b"cache-control", b"no-cache"),
]
MAX_EMBEDDING_INPUTS = 2048


def completion_object(text: str, model: str, *, bare: bool) -> dict[str, Any]:
    """A whole answer; a `bare` one completes a prompt instead of a chat."""
    said = {"text": text} if bare else {"message": {"role": "assistant", "content": text}}
    kind = "text_completion" if bare else "chat.completion"
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    return {**_object_head(kind, model), "choices": [_choice(said, "stop")], "usage": usage}


def stream_objects(text: str, model: str, *, bare: bool) -> list[dict[str, Any]]:
    """The same as the events of a stream."""
    head = _object_head("text_completion" if bare else "chat.completion.chunk", model)
    if bare:
        return [{**head, "choices": [_choice({"text": text}, "stop")]}]
    first = {"delta": {"role": "assistant", "content": text}}
    return [
        {**head, "choices": [_choice(first, None)]},
        {**head, "choices": [_choice({"delta": {}}, "stop")]},
    ]


def model_list(name: str) -> dict[str, Any]:
    return {"object": "list", "data": [model_object(name)]}


def model_object(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "thinkback"}


def texts_to_embed(request: Mapping[str, Any], dim: int) -> list[str]:
    """What is to be embedded; InvalidInput for what only others can do."""
    given = request.get("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise InvalidInput("input: give a text or a list of texts; tokens are not understood here")
    if len(texts) > MAX_EMBEDDING_INPUTS:
        raise InvalidInput(f"input: at most {MAX_EMBEDDING_INPUTS} texts at a time, not {len(texts)}")
    if request.get("dimensions") not in (None, dim):
        raise InvalidInput(f"dimensions: this embedder has {dim}, no other number")
    return texts


def embedding_list(vectors: npt.NDArray[np.float32], name: str, encoding: object) -> dict[str, Any]:
    def told(vector: npt.NDArray[np.float32]) -> str | list[float]:
        if encoding == "base64":
            return base64.b64encode(vector.astype("<f4").tobytes()).decode()
        return [float(value) for value in vector]

    data = [{"object": "embedding", "index": n, "embedding": told(row)} for n, row in enumerate(vectors)]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return {"object": "list", "data": data, "model": name, "usage": usage}


def parse_request(body: bytes) -> dict[str, Any]:
    """The request as an object; Refused as OpenAI would."""
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        request = None
    if not isinstance(request, dict):
        raise RequestRefused(400, "the body must be a JSON object", "invalid_body")
    return request


def json_response(
    value: Mapping[str, Any], status: int = 200, *, by_memory: bool = False
) -> UpstreamResponse:
    """An answer that is there."""
    raw = json.dumps(value, ensure_ascii=False).encode(errors="replace")
    length = str(len(raw)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", length)]
    return UpstreamResponse(status, headers, _once(raw), by_memory)


def encode_event(value: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode(errors="replace")


async def _once(raw: bytes) -> AsyncGenerator[bytes, None]:
    yield raw


def _object_head(kind: str, model: str) -> dict[str, Any]:
    return {
        "id": f"thinkback-{uuid.uuid4().hex}",
        "object": kind,
        "created": int(time.time()),
        "model": model,
    }


def _choice(said: Mapping[str, Any], finish: str | None) -> dict[str, Any]:
    return {"index": 0, **said, "finish_reason": finish, "logprobs": None}


class InProcessUpstream(ABC):
    def __init__(self, name: str, pool: ThreadPool, embedder: Embedder) -> None:
        self._name = name
        self._pool = pool
        self._embedder = embedder

    async def send(self, request: UpstreamRequest) -> UpstreamResponse:
        if request.path == "/models":
            return json_response(model_list(self._name))
        if request.method != "POST":
            if request.path != f"/models/{self._name}":
                raise RequestRefused(404, f"no such model here: there is {self._name!r}", "model_not_found")
            return json_response(model_object(self._name))
        asked = parse_request(request.body)
        if request.path == "/embeddings":
            return await self._embed(asked)
        return await self.answer(request, asked, bare=request.path == "/completions")

    @abstractmethod
    async def answer(
        self, request: UpstreamRequest, asked: dict[str, Any], *, bare: bool
    ) -> UpstreamResponse:
        """A chat's, or of a `bare` request the completion of a prompt."""

    @abstractmethod
    async def close(self) -> None: ...

    async def _embed(self, asked: dict[str, Any]) -> UpstreamResponse:
        texts = texts_to_embed(asked, self._embedder.dim)
        vectors = await self._pool.run(lambda: self._embedder.embed(texts))
        return json_response(embedding_list(vectors, self._embedder.name, asked.get("encoding_format")))


MEMORY_MODEL_NAME = "thinkback"


class MemoryOnlyUpstream(InProcessUpstream):
    """What it says is what was said to it: no answer of it is remembered as news."""

    def __init__(self, desk: ThreadPool, embedder: Embedder, recalled: int) -> None:
        super().__init__(MEMORY_MODEL_NAME, desk, embedder)
        self._recalled = recalled

    async def answer(
        self, request: UpstreamRequest, asked: dict[str, Any], *, bare: bool
    ) -> UpstreamResponse:
        if not request.text.strip():
            raise RequestRefused(
                400, "nothing is asked: give a message of the user, or a prompt, in words", "no_text"
            )
        text = await self._pool.run(lambda: answer_from_memory(request.text, self._recall(request)))
        if not asked.get("stream"):
            return json_response(completion_object(text, MEMORY_MODEL_NAME, bare=bare), by_memory=True)
        return UpstreamResponse(
            200,
            STREAM_HEADERS,
            _encode_stream(stream_objects(text, MEMORY_MODEL_NAME, bare=bare)),
            by_memory=True,
        )

    async def close(self) -> None:
        """Nothing is open."""

    def _recall(self, request: UpstreamRequest) -> Recollection:
        """What was recalled on the way; an answer from memory waits for it, as no other does."""
        if request.recollection is not None:
            return request.recollection
        if request.memory is None:
            return Recollection(query=request.text, items=())
        return request.memory.recall(request.text, k=self._recalled)


async def _encode_stream(pieces: list[dict[str, Any]]) -> AsyncGenerator[bytes, None]:
    for piece in pieces:
        yield encode_event(piece)
    yield STREAM_END


ModelAnswer = dict[str, Any]


class LocalModelUpstream(InProcessUpstream):
    """A GGUF file's own answers in OpenAI's form, one question at a time."""

    def __init__(self, llm: LocalLLM, desk: ThreadPool, embedder: Embedder) -> None:
        super().__init__(llm.name, desk, embedder)
        self._llm = llm

    async def answer(
        self, request: UpstreamRequest, asked: dict[str, Any], *, bare: bool
    ) -> UpstreamResponse:
        answers = _iterate_in_thread(self._llm.create_completion(asked, text_completion=bare))
        try:
            first = await anext(answers)
        except ModelRefused as error:
            raise RequestRefused(400, str(error), "invalid_request") from None
        except StopAsyncIteration:
            first = {}
        if "error" in first:  # in llama.cpp's own words, which are OpenAI's
            await answers.aclose()
            return json_response(first, int(first["error"].get("code") or 400))
        if not asked.get("stream"):
            return json_response(first)
        return UpstreamResponse(200, STREAM_HEADERS, _relay_answers(first, answers))

    async def close(self) -> None:
        """The model is the memory's, and closes with it."""


async def _relay_answers(
    first: ModelAnswer, answers: AsyncGenerator[ModelAnswer, None]
) -> AsyncGenerator[bytes, None]:
    try:
        yield encode_event(first)
        async for each in answers:
            yield encode_event(each)
            if "error" in each:
                raise UpstreamBroken("the model failed")
        yield STREAM_END
    except ModelRefused as error:
        raise UpstreamBroken(str(error)) from None
    finally:
        await answers.aclose()


async def _iterate_in_thread(
    answers: Generator[ModelAnswer, None, None],
) -> AsyncGenerator[ModelAnswer, None]:
    """What a blocking generator gives, as it comes. Whoever stops listening stops it at its next piece."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[ModelAnswer | BaseException | None] = asyncio.Queue()
    left = threading.Event()

    def put(piece: ModelAnswer | BaseException | None) -> None:
        with suppress(RuntimeError):  # the loop has ended, and nobody listens
            loop.call_soon_threadsafe(queue.put_nowait, piece)

    def work() -> None:
        try:
            with closing(answers):
                for answer in answers:
                    put(answer)
                    if left.is_set():
                        break
            put(None)
        except BaseException as error:
            put(error)

    threading.Thread(target=work, name="thinkback-answering", daemon=True).start()
    try:
        while (piece := await queue.get()) is not None:
            if isinstance(piece, BaseException):
                raise piece
            yield piece
    finally:
        left.set()
