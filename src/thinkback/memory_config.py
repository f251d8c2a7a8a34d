"""`MemoryConfig`: the options of a `Memory`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from thinkback.index.cache import DEFAULT_CACHE_BYTES
from thinkback.presets import Preset
from thinkback.protocols import LLM, Clock, Embedder
from thinkback.think.contract import TurnReader
from thinkback.think.readers import ThinkMode
from thinkback.times import utc_now


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryConfig:
    """Options of `Memory`. Each can also be given as a keyword argument of `Memory(...)`.

        config = MemoryConfig(llm="openai:gpt-4o-mini", preset="fading")
        with Memory("memory.db", config, user="ann") as memory: ...

    Attributes:
        user: whose memories to read and write.
        tenant: the customer a user belongs to, in a database shared by several; empty for local use.
        llm: the model that answers and thinks: an adapter or its name, such as `openai:gpt-4o-mini` or
            `local:smollm2`. Without one, thoughts are sentences kept as said, and rules answer.
        embedder: an adapter or its name: `minilm`, `wordllama`, `openai:text-embedding-3-small`; `auto` is
            the one that wrote the database, and `minilm+use` for a new one.
        think: what reads the turns: `auto` (the model if it is able to, else extractive), `extractive`,
            `llm`, or a reader of your own.
        preset: how to search: a `Preset` or its name.
        integrate: let the `llm` combine the recalled memories into one thought before it answers a chat
            (one more call per chat).
        background: think in a background thread. Otherwise call `post_think`.
        clock: returns the current time; tests and replays pass their own.
        summary_llm: the model that summarises sessions. Without one, rules do.
        instructions: extra instructions for the model that answers.
        summary_instructions: extra instructions for the model that summarises.
        cache_bytes: memory for cached spaces; the least recently used are dropped first.
    """

    user: str = "default"
    tenant: str = ""
    llm: LLM | str | None = None
    embedder: Embedder | str = "auto"
    think: ThinkMode | TurnReader = "auto"
    preset: Preset | str = "hybrid"
    integrate: bool = False
    background: bool = True
    clock: Clock = utc_now
    summary_llm: LLM | str | None = None
    instructions: str = ""
    summary_instructions: str = ""
    cache_bytes: int = DEFAULT_CACHE_BYTES


class MemoryOptions(TypedDict, total=False):
    """The fields of `MemoryConfig` as keyword arguments, for type checkers and editors."""

    user: str
    tenant: str
    llm: LLM | str | None
    embedder: Embedder | str
    think: ThinkMode | TurnReader
    preset: Preset | str
    integrate: bool
    background: bool
    clock: Clock
    summary_llm: LLM | str | None
    instructions: str
    summary_instructions: str
    cache_bytes: int
