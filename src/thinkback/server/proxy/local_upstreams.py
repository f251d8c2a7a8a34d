"""Upstreams inside this process: the local model, or memory alone. They answer in OpenAI's JSON format."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import threading
import time
import uuid
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from thinkback.errors import InvalidInput, ModelRefused, ThinkbackError
from thinkback.llms.local import LocalLLM
from thinkback.protocols import Embedder
from thinkback.recall.memory_chat import reply_from_memory
from thinkback.server.errors import RequestRefused
from thinkback.server.proxy.recall_client import MAX_QUERY_CHARS, KeyRevoked, answer_from_memory
from thinkback.server.proxy.upstreams import (
    RawHeaders,
    UpstreamBroken,
    UpstreamRequest,
    UpstreamResponse,
)
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

_log = logging.getLogger("thinkback.server.proxy")


def completion_object(text: str, model: str, *, text_completion: bool) -> dict[str, Any]:
    """A complete answer, of a chat or (`text_completion`) of a prompt."""
    content = {"text": text} if text_completion else {"message": {"role": "assistant", "content": text}}
    kind = "text_completion" if text_completion else "chat.completion"
    usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
    return {**_object_head(kind, model), "choices": [_choice(content, "stop")], "usage": usage}


def stream_objects(text: str, model: str, *, text_completion: bool) -> list[dict[str, Any]]:
    """The same answer as the events of a stream."""
    head = _object_head("text_completion" if text_completion else "chat.completion.chunk", model)
    if text_completion:
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
    """The texts of an embeddings request; raises `InvalidInput` for options that we do not support."""
    given = request.get("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(text, str) for text in texts):
        raise InvalidInput("input: give a text or a list of texts; token ids are not supported")
    if len(texts) > MAX_EMBEDDING_INPUTS:
        raise InvalidInput(f"input: at most {MAX_EMBEDDING_INPUTS} texts at a time, not {len(texts)}")
    if request.get("dimensions") not in (None, dim):
        raise InvalidInput(f"dimensions: this embedder only has {dim}")
    return texts


def embedding_list(vectors: npt.NDArray[np.float32], name: str, encoding: object) -> dict[str, Any]:
    def encode(vector: npt.NDArray[np.float32]) -> str | list[float]:
        if encoding == "base64":
            return base64.b64encode(vector.astype("<f4").tobytes()).decode()
        return [float(value) for value in vector]

    data = [{"object": "embedding", "index": n, "embedding": encode(row)} for n, row in enumerate(vectors)]
    usage = {"prompt_tokens": 0, "total_tokens": 0}
    return {"object": "list", "data": data, "model": name, "usage": usage}


def parse_request(body: bytes) -> dict[str, Any]:
    """The request's JSON object; raises `RequestRefused` (400) if it is not one."""
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        request = None
    if not isinstance(request, dict):
        raise RequestRefused(400, "the body must be a JSON object", "invalid_body")
    return request


def json_response(value: Mapping[str, Any], status: int = 200) -> UpstreamResponse:
    """A complete JSON response."""
    raw = json.dumps(value, ensure_ascii=False).encode(errors="replace")
    length = str(len(raw)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", length)]
    return UpstreamResponse(status, headers, _single_chunk(raw))


def encode_event(value: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n".encode(errors="replace")


async def _single_chunk(raw: bytes) -> AsyncGenerator[bytes, None]:
    yield raw


def _object_head(kind: str, model: str) -> dict[str, Any]:
    return {
        "id": f"thinkback-{uuid.uuid4().hex}",
        "object": kind,
        "created": int(time.time()),
        "model": model,
    }


def _choice(content: Mapping[str, Any], finish_reason: str | None) -> dict[str, Any]:
    return {"index": 0, **content, "finish_reason": finish_reason, "logprobs": None}


class InProcessUpstream(ABC):
    """Base class: lists its one model, and embeds with the memory's embedder."""

    stores_turns = False

    def __init__(self, name: str, pool: ThreadPool, embedder: Embedder) -> None:
        self._name = name
        self._pool = pool
        self._embedder = embedder

    async def send(self, request: UpstreamRequest) -> UpstreamResponse:
        if request.path == "/models":
            return json_response(model_list(self._name))
        if request.method != "POST":
            if request.path != f"/models/{self._name}":
                raise RequestRefused(404, f"no such model: there is only {self._name!r}", "model_not_found")
            return json_response(model_object(self._name))
        body = parse_request(request.body)
        if request.path == "/embeddings":
            return await self._embed(body)
        return await self.answer(request, body, text_completion=request.path == "/completions")

    @abstractmethod
    async def answer(
        self, request: UpstreamRequest, body: dict[str, Any], *, text_completion: bool
    ) -> UpstreamResponse:
        """Answer a chat, or (`text_completion`) complete a prompt."""

    @abstractmethod
    async def close(self) -> None: ...

    async def _embed(self, body: dict[str, Any]) -> UpstreamResponse:
        texts = texts_to_embed(body, self._embedder.dim)
        vectors = await self._pool.run(lambda: self._embedder.embed(texts))
        return json_response(embedding_list(vectors, self._embedder.name, body.get("encoding_format")))


MEMORY_MODEL_NAME = "thinkback"


class MemoryOnlyUpstream(InProcessUpstream):
    """Answers from memory without a model, as `Memory.chat` does. Its answers are never remembered.

    A chat that is remembered is stored before it is answered, so that the answer can say what was understood.
    """

    stores_turns = True

    def __init__(self, pool: ThreadPool, embedder: Embedder, recall_limit: int) -> None:
        super().__init__(MEMORY_MODEL_NAME, pool, embedder)
        self._recall_limit = recall_limit

    async def answer(
        self, request: UpstreamRequest, body: dict[str, Any], *, text_completion: bool
    ) -> UpstreamResponse:
        if not request.text.strip():
            raise RequestRefused(400, "the request has no text: send a user message or a prompt", "no_text")
        text, stored = await self._pool.run(lambda: self._reply(request))
        if not body.get("stream"):
            whole = completion_object(text, MEMORY_MODEL_NAME, text_completion=text_completion)
            return replace(json_response(whole), by_memory=True, stored=stored)
        events = _encode_stream(stream_objects(text, MEMORY_MODEL_NAME, text_completion=text_completion))
        return UpstreamResponse(200, STREAM_HEADERS, events, by_memory=True, stored=stored)

    async def close(self) -> None:
        """Nothing to close."""

    def _reply(self, request: UpstreamRequest) -> tuple[str, str]:
        """The reply, and the ref of the turn if it was stored."""
        memory, turn = request.memory, request.turn
        if memory is not None and turn is not None and len(turn.query) <= MAX_QUERY_CHARS:
            try:
                answer = answer_from_memory(memory, turn, self._recall_limit)
            except (ThinkbackError, KeyRevoked) as error:  # the proxy tries to store the turn, and reports it
                _log.warning("a turn could not be stored before its answer: %s", type(error).__name__)
            else:
                return answer.text, str(answer.turn.ref)
        look_up = None if memory is None else memory.recall
        return reply_from_memory(request.text, self._recall(request), look_up=look_up), ""

    def _recall(self, request: UpstreamRequest) -> Recollection:
        """The recollection of the request, or a new recall (without a time limit) if it was skipped."""
        if request.recollection is not None:
            return request.recollection
        if request.memory is None:
            return Recollection(query=request.text, items=())
        return request.memory.recall(request.text, k=self._recall_limit)


async def _encode_stream(events: list[dict[str, Any]]) -> AsyncGenerator[bytes, None]:
    for event in events:
        yield encode_event(event)
    yield STREAM_END


ModelAnswer = dict[str, Any]
_TOKEN_LIMITS = ("max_completion_tokens", "max_tokens", "n_predict")  # llama.cpp reads -1 as no limit


def limit_tokens(body: Mapping[str, Any], default: int) -> dict[str, Any]:
    """The request with exactly one token limit: the smallest one that the client names, or the default."""
    named = [body[name] for name in _TOKEN_LIMITS if type(body.get(name)) is int and body[name] > 0]
    others = {name: value for name, value in body.items() if name not in _TOKEN_LIMITS}
    return {**others, "max_tokens": min(named, default=default)}


class LocalModelUpstream(InProcessUpstream):
    """Answers with a local GGUF model, one request at a time.

    `max_tokens` limits answers to requests that name no limit: a small model may repeat itself without end.
    """

    def __init__(self, llm: LocalLLM, pool: ThreadPool, embedder: Embedder, max_tokens: int) -> None:
        super().__init__(llm.name, pool, embedder)
        self._llm = llm
        self._max_tokens = max_tokens

    async def answer(
        self, request: UpstreamRequest, body: dict[str, Any], *, text_completion: bool
    ) -> UpstreamResponse:
        limited = limit_tokens(body, self._max_tokens)
        answers = _iterate_in_thread(self._llm.create_completion(limited, text_completion=text_completion))
        try:
            first = await anext(answers)
        except ModelRefused as error:
            raise RequestRefused(400, str(error), "invalid_request") from None
        except StopAsyncIteration:
            first = {}
        if "error" in first:  # llama.cpp reports errors in OpenAI's format
            await answers.aclose()
            return json_response(first, int(first["error"].get("code") or 400))
        if not body.get("stream"):
            return json_response(first)
        return UpstreamResponse(200, STREAM_HEADERS, _relay_answers(first, answers))

    async def close(self) -> None:
        """Nothing to close: the memory owns the model."""


async def _relay_answers(
    first: ModelAnswer, answers: AsyncGenerator[ModelAnswer, None]
) -> AsyncGenerator[bytes, None]:
    try:
        yield encode_event(first)
        async for answer in answers:
            yield encode_event(answer)
            if "error" in answer:
                raise UpstreamBroken("the model failed")
        yield STREAM_END
    except ModelRefused as error:
        raise UpstreamBroken(str(error)) from None
    finally:
        await answers.aclose()


async def _iterate_in_thread(
    answers: Generator[ModelAnswer, None, None],
) -> AsyncGenerator[ModelAnswer, None]:
    """Iterate over a blocking generator in a thread. If the consumer stops, so does the generator."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[ModelAnswer | BaseException | None] = asyncio.Queue()
    abandoned = threading.Event()

    def put(item: ModelAnswer | BaseException | None) -> None:
        with suppress(RuntimeError):  # the event loop is closed
            loop.call_soon_threadsafe(queue.put_nowait, item)

    def work() -> None:
        try:
            with closing(answers):
                for answer in answers:
                    put(answer)
                    if abandoned.is_set():
                        break
            put(None)
        except BaseException as error:
            put(error)

    threading.Thread(target=work, name="thinkback-answering", daemon=True).start()
    try:
        while (item := await queue.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        abandoned.set()
