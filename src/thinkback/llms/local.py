"""Local language models: a GGUF file run by llama.cpp (package `xllamacpp`). Nothing leaves the machine.

One model serves the chat and background thinking. A chat goes first: thinking that runs is stopped within a
few seconds and tried again later.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from queue import SimpleQueue
from threading import Event, Lock, Thread
from typing import Any

from thinkback.errors import BadReply, MissingExtra, ModelPaused, ModelRefused, ModelUnavailable
from thinkback.llms import adapters, catalogue
from thinkback.llms.answer_limits import end_well
from thinkback.llms.structured_output import extract_json, spelling_variants, to_message_dicts
from thinkback.types import Message, Reply

DEFAULT_SEED = 7
PROMPT_CACHE_MIB = 256  # llama.cpp's default is 8 GB; 1,000 tokens of a 1.5B model take 28 MiB
BACKGROUND_BATCH_TOKENS = 64  # prompt tokens between two chances to stop background work
PAUSE_SECONDS = 5.0  # after which background work that a chat stopped is tried again
AUTO = "auto"


class LocalLLM:
    """A local model. It is loaded by the first call; calls from several threads run one after the other.

    Args:
        model: A name of the catalogue, a file name in the models folder, or the path of a GGUF file.
        adapter: A LoRA adapter: `thinker`, a file name in the models folder, or a path; None for none. By
            default the thinker, if it is installed and the model is the one that it was tuned from.
        folder: The models folder; by default that of `models_folder()`.
        context: Context size in tokens.
        threads: Threads of llama.cpp; by default one per core.
        extracts: Overrides whether the model is able to extract thoughts.
        follows: Overrides whether the model is able to follow long prompts.
    """

    def __init__(
        self,
        model: str | os.PathLike[str],
        *,
        adapter: str | None = AUTO,
        folder: Path | None = None,
        context: int = 4096,
        threads: int | None = None,
        seed: int = DEFAULT_SEED,
        extracts: bool | None = None,
        follows: bool | None = None,
    ) -> None:
        self._path = catalogue.find_model_file(model, folder=folder)
        self.name = f"local:{catalogue.model_name(self._path)}"
        if adapter == AUTO:
            is_base = catalogue.model_name(self._path) == adapters.THINKER_BASE
            adapter = adapters.THINKER if is_base and adapters.has_usable_thinker() else None
        self._adapter = None if adapter is None else adapters.open_adapter(adapter, self._path, folder)
        if self._adapter is not None and not self.finds_updates:
            self.name += f"+{self._adapter.name}"
        self.extracts = catalogue.can_extract_thoughts(self._path) if extracts is None else extracts
        self.follows = (
            (self.extracts or catalogue.can_follow_long_prompts(self._path)) if follows is None else follows
        )
        self.masks = True
        self.speaks = catalogue.model_languages(self._path)
        self._context_size = context
        self._threads = threads or os.cpu_count() or 1
        self._seed = seed
        self._lock = Lock()
        self._server: Any = None
        self._waiting_calls = 0  # calls that background work has to make room for
        self._count_lock = Lock()

    @property
    def finds_updates(self) -> bool:
        """Whether it is tuned to mark which known facts still hold (`complete_with_grammar`)."""
        return self._adapter is not None and self._adapter.task == adapters.FIND_UPDATES

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
            json_schema = {"name": "reply", "schema": dict(schema)}
            request["response_format"] = {"type": "json_schema", "json_schema": json_schema}
        response = self._handle_request(request)
        choice = self._first_choice(response)
        text = str(choice["message"].get("content") or "")
        if not text.strip():
            raise BadReply(f"The model {self.name!r} gave an empty answer. Rephrase, or raise max_tokens.")
        if schema is not None:
            if choice.get("finish_reason") == "length":
                raise BadReply(
                    f"The model {self.name!r} was cut off at {max_tokens} tokens. Raise max_tokens."
                )
            text = extract_json(text, schema, drop_invalid_items=True)
        else:
            text = "".join(end_well([text], lambda: choice.get("finish_reason") == "length"))
        return _make_reply(text, response.get("usage"))

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        forbid: Sequence[str] = (),
    ) -> Generator[str, None, Reply]:
        """Yield the answer by sentences. Closing the generator stops the model at its next token.

        The answer stops at a loop, and a sentence that the token limit cut off is left out.
        """
        request = self._build_request(messages, max_tokens, temperature)
        request |= {"stream": True, "stream_options": {"include_usage": True}}
        if forbid:
            request["logit_bias"] = [[variant, False] for variant in spelling_variants(forbid)]
        sentences: list[str] = []
        usage: dict[str, Any] = {}
        finish_reasons: list[str] = []

        def read_chunks(events: Iterable[dict[str, Any]]) -> Iterator[str]:
            for event in events:
                usage.update(event.get("usage") or {})
                choice = self._first_choice(event)
                if reason := choice.get("finish_reason"):
                    finish_reasons.append(reason)
                if chunk := choice.get("delta", {}).get("content"):
                    yield chunk

        with closing(self._stream_events(request)) as events:
            for sentence in end_well(read_chunks(events), lambda: "length" in finish_reasons):
                sentences.append(sentence)
                yield sentence
        text = "".join(sentences)
        if not text.strip():
            raise BadReply(f"The model {self.name!r} gave an empty answer. Rephrase, or raise max_tokens.")
        return _make_reply(text, usage)

    def complete_with_grammar(
        self,
        messages: Sequence[Message],
        *,
        grammar: str,
        max_tokens: int,
        on_token: Callable[[str, float], None] = lambda text, log_probability: None,
    ) -> Reply:
        """The most probable reply in the language of a GBNF grammar, by the tuned model if there is one.

        It is background work: it stops when a chat needs the model. `on_token` is called with every token and
        its log probability.

        Raises:
            ModelPaused: it was stopped.
        """
        request = self._build_request(messages, max_tokens, 0.0) | {
            "grammar": grammar,
            "stream": True,
            "stream_options": {"include_usage": True},
            "return_progress": True,  # events while the prompt is read, so that it can be stopped
            "logprobs": True,
            "top_logprobs": 1,
        }
        chunks: list[str] = []
        usage: dict[str, Any] = {}
        paused = False

        def on_event(event: dict[str, Any]) -> bool:
            nonlocal paused
            usage.update(event.get("usage") or {})
            choice = self._first_choice(event)
            if chunk := choice.get("delta", {}).get("content"):
                chunks.append(chunk)
            for token in (choice.get("logprobs") or {}).get("content") or ():
                on_token(str(token["token"]), float(token["logprob"]))
            paused = self._waiting_calls > 0
            return paused

        if self._waiting_calls:
            raise ModelPaused(f"The model {self.name!r} is answering.", PAUSE_SECONDS)
        self._handle_request(request, on_event, background=True)
        if paused:
            raise ModelPaused(f"The model {self.name!r} had to answer a chat.", PAUSE_SECONDS)
        return _make_reply("".join(chunks), usage)

    def create_completion(
        self, request: Mapping[str, Any], *, text_completion: bool = False
    ) -> Generator[dict[str, Any], None, None]:
        """Answer a raw OpenAI request with OpenAI objects: one, or with `stream` one per chunk.

        The request is for `/chat/completions`, or with `text_completion` for `/completions`. Closing the
        generator stops the model.
        """
        if not request.get("stream"):
            yield self._with_model_name(self._handle_request(dict(request), text_completion=text_completion))
            return
        with closing(self._stream_events(dict(request), text_completion)) as events:
            yield from map(self._with_model_name, events)

    def close(self) -> None:
        """Free the model's memory; the next call loads it again."""
        with self._lock:
            self._server = None

    def _stream_events(
        self, request: dict[str, Any], text_completion: bool = False
    ) -> Generator[dict[str, Any], None, None]:
        """Run the model in a thread and yield its events; closing the generator stops the model."""
        events: SimpleQueue[dict[str, Any] | BaseException | None] = SimpleQueue()
        stop = Event()

        def on_event(event: dict[str, Any]) -> bool:
            events.put(event)
            return stop.is_set()

        def work() -> None:
            try:
                self._handle_request(request, on_event, text_completion)
                events.put(None)
            except BaseException as error:
                events.put(error)

        worker = Thread(target=work, name="thinkback-local-llm", daemon=True)
        worker.start()
        try:
            while (event := events.get()) is not None:
                if isinstance(event, BaseException):
                    raise event
                yield event
        finally:
            stop.set()
            worker.join()

    def _with_model_name(self, response: dict[str, Any]) -> dict[str, Any]:
        """Replace llama.cpp's model name, which is the path of the file on this machine, by ours."""
        return response | {"model": self.name} if "model" in response else response

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
        background: bool = False,
    ) -> dict[str, Any]:
        """Run one request; `on_event` receives the events of a stream and returns True to stop it."""
        if self.finds_updates:  # the adapter is for thinking only
            request["lora"] = [{"id": 0, "scale": 1.0 if background else 0.0}]
        with self._turn(background):
            server = self._server = self._server or self._load_server()
            handle = server.handle_completions if text_completion else server.handle_chat_completions
            try:
                response = handle(request, on_event) if on_event else handle(request)
            except (RuntimeError, ValueError) as error:
                raise ModelRefused(
                    f"The model {self.name!r} could not process the request: {error}. Simplify its schema."
                ) from error
        return response or {}

    @contextmanager
    def _turn(self, background: bool) -> Iterator[None]:
        """Wait for the model; a call that is no background work asks such work to stop."""
        with self._count_lock:
            self._waiting_calls += not background
        try:
            with self._lock:
                yield
        finally:
            with self._count_lock:
                self._waiting_calls -= not background

    def _first_choice(self, response: Mapping[str, Any]) -> dict[str, Any]:
        if "error" in response:
            raise ModelRefused(
                f"The model {self.name!r} rejected the request: {response['error'].get('message')}. "
                "Shorten it, or open the model with a larger context."
            )
        choice: dict[str, Any] = response["choices"][0] if response.get("choices") else {"message": {}}
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
        # Chat and post-thinking alternate on one slot; the cache keeps the prompts of both.
        params.cache_ram_mib = PROMPT_CACHE_MIB
        if self._adapter is not None:
            lora = xllamacpp.CommonAdapterLoraInfo()
            lora.path, lora.scale = str(self._adapter.path), 1.0
            params.lora_adapters = [lora]
        if self.finds_updates:
            params.n_batch = BACKGROUND_BATCH_TOKENS
        # The library always listens on loopback: a random key keeps other programs out.
        params.api_keys = [secrets.token_hex(32)]
        params.ui = False
        params.endpoint_slots = False
        try:
            return xllamacpp.Server(params)
        except RuntimeError as error:
            raise ModelUnavailable(
                f"The model file {self._path.name} cannot be loaded: it is damaged, of an unknown type, or "
                "too large for this machine. Pull it again, or choose a smaller one."
            ) from error


def _make_reply(text: str, usage: Mapping[str, Any] | None) -> Reply:
    counts = usage or {}
    return Reply(text, int(counts.get("prompt_tokens", 0)), int(counts.get("completion_tokens", 0)))
