"""A language model on this machine: a GGUF file on llama.cpp (`xllamacpp`), so that nothing is sent away."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any

from thinkback.errors import BadReply, MissingExtra, ModelRefused, ModelUnavailable
from thinkback.llms import catalogue as shelf
from thinkback.llms.payload import spelling_variants, to_message_dicts
from thinkback.llms.structured_output import extract_json
from thinkback.types import Message, Reply

DEFAULT_SEED = 7
PROMPT_CACHE_MIB = 256  # llama.cpp's default is 8 GB; 1,000 tokens of a model of 1.5 B take 28


class LocalLLM:
    """Loads at the first question; one question at a time, from any thread."""

    def __init__(
        self,
        model: str | os.PathLike[str],
        *,
        folder: Path | None = None,
        context: int = 4096,
        threads: int | None = None,
        seed: int = DEFAULT_SEED,
        extracts: bool | None = None,
        follows: bool | None = None,
    ) -> None:
        self._path = shelf.find_model_file(model, folder=folder)
        self.name = f"local:{shelf.model_name(self._path)}"
        self.extracts = shelf.can_extract_thoughts(self._path) if extracts is None else extracts
        self.follows = (
            (self.extracts or shelf.can_follow_long_prompts(self._path)) if follows is None else follows
        )
        self.masks = True
        self.speaks = shelf.model_languages(self._path)
        self._context_size = context
        self._threads = threads or os.cpu_count() or 1
        self._seed = seed
        self._lock = Lock()
        self._server: Any = None

    def __repr__(self) -> str:
        return f"<LocalLLM {self.name}>"

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 512,
        temperature: float = 0.0,
    ) -> Reply:
        request = self._build_request(messages, max_tokens, temperature)
        if schema is not None:
            form = {"name": "reply", "schema": dict(schema)}
            request["response_format"] = {"type": "json_schema", "json_schema": form}
        answer = self._handle_request(request)
        choice = self._first_choice(answer)
        text = str(choice["message"].get("content") or "")
        if not text.strip():
            raise BadReply(f"The model {self.name!r} gave an empty answer. Rephrase, or raise max_tokens.")
        if schema is not None:
            if choice.get("finish_reason") == "length":
                raise BadReply(
                    f"The model {self.name!r} was cut off at {max_tokens} tokens. Raise max_tokens."
                )
            text = extract_json(text, schema)
        return _make_reply(text, answer.get("usage"))

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        forbid: Sequence[str] = (),
    ) -> Generator[str, None, Reply]:
        """Pieces as they come. Dropping the iterator stops the model at its next token."""
        request = self._build_request(messages, max_tokens, temperature)
        request |= {"stream": True, "stream_options": {"include_usage": True}}
        if forbid:
            request["logit_bias"] = [[form, False] for form in spelling_variants(forbid)]
        spoken: list[str] = []
        usage: dict[str, Any] = {}
        with closing(self._stream_events(request)) as events:
            for event in events:
                usage.update(event.get("usage") or {})
                if piece := self._first_choice(event).get("delta", {}).get("content"):
                    spoken.append(piece)
                    yield piece
        text = "".join(spoken)
        if not text.strip():
            raise BadReply(f"The model {self.name!r} gave an empty answer. Rephrase, or raise max_tokens.")
        return _make_reply(text, usage)

    def create_completion(
        self, request: Mapping[str, Any], *, text_completion: bool = False
    ) -> Generator[dict[str, Any], None, None]:
        """OpenAI's request as it is, answered in OpenAI's objects: one, or with `stream` one a piece.

        A `bare` one completes a prompt instead of a chat. Dropping the iterator stops the model.
        """
        if not request.get("stream"):
            yield self._with_model_name(self._handle_request(dict(request), text_completion=text_completion))
            return
        with closing(self._stream_events(dict(request), text_completion)) as events:
            yield from map(self._with_model_name, events)

    def close(self) -> None:
        """Free the model's memory; the next question loads it again."""
        with self._lock:
            self._server = None

    def _stream_events(
        self, request: dict[str, Any], text_completion: bool = False
    ) -> Generator[dict[str, Any], None, None]:
        """The model works in a thread of its own, until it is done or nobody listens any more."""
        events: SimpleQueue[dict[str, Any] | BaseException | None] = SimpleQueue()
        enough = Event()

        def heard(event: dict[str, Any]) -> bool:
            events.put(event)
            return enough.is_set()

        def work() -> None:
            try:
                self._handle_request(request, heard, text_completion)
                events.put(None)
            except BaseException as fault:
                events.put(fault)

        worker = Thread(target=work, name="thinkback-local-llm", daemon=True)
        worker.start()
        try:
            while (event := events.get()) is not None:
                if isinstance(event, BaseException):
                    raise event
                yield event
        finally:
            enough.set()
            worker.join()

    def _with_model_name(self, answer: dict[str, Any]) -> dict[str, Any]:
        """By our name: its own tells where on this machine its file is."""
        return answer | {"model": self.name} if "model" in answer else answer

    def _build_request(
        self, messages: Sequence[Message], max_tokens: int, temperature: float
    ) -> dict[str, Any]:
        return {
            "messages": to_message_dicts(messages),
            "max_tokens": max_tokens,
            "temperature": temperature,
            "seed": self._seed,
        }

    def _handle_request(
        self,
        request: dict[str, Any],
        on_event: Callable[[dict[str, Any]], bool] | None = None,
        text_completion: bool = False,
    ) -> dict[str, Any]:
        with self._lock:
            server = self._server = self._server or self._load_server()
            handle = server.handle_completions if text_completion else server.handle_chat_completions
            try:
                answer = handle(request, on_event) if on_event else handle(request)
            except (RuntimeError, ValueError) as fault:
                raise ModelRefused(
                    f"The model {self.name!r} could not take the request: {fault}. Simplify its schema."
                ) from fault
        return answer or {}

    def _first_choice(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        if "error" in answer:
            raise ModelRefused(
                f"The model {self.name!r} rejected the request: {answer['error'].get('message')}. "
                "Shorten it, or open the model with a larger context."
            )
        choice: dict[str, Any] = answer["choices"][0] if answer.get("choices") else {"message": {}}
        return choice

    def _load_server(self) -> Any:
        try:
            import xllamacpp
        except ImportError:
            raise MissingExtra(f"The model {self.name!r}", "local") from None
        params = xllamacpp.CommonParams()
        params.model.path = str(self._path)
        params.n_ctx = self._context_size
        params.n_parallel = 1
        params.cpuparams.n_threads = self._threads
        params.cpuparams_batch.n_threads = self._threads
        params.warmup = False
        params.verbosity = -1
        # Chat and post-thinking take turns on one slot: with room for both, neither reads its prompt anew.
        params.cache_ram_mib = PROMPT_CACHE_MIB
        # The library listens on loopback whether asked to or not: nobody else may talk to the model.
        params.api_keys = [secrets.token_hex(32)]
        params.ui = False
        params.endpoint_slots = False
        try:
            return xllamacpp.Server(params)
        except RuntimeError as fault:
            raise ModelUnavailable(
                f"The model file {self._path.name} cannot be loaded: damaged, of an unknown kind, or "
                "too large for the memory. Pull it again, or choose a smaller one."
            ) from fault


def _make_reply(text: str, usage: Mapping[str, Any] | None) -> Reply:
    told = usage or {}
    return Reply(text, int(told.get("prompt_tokens", 0)), int(told.get("completion_tokens", 0)))
