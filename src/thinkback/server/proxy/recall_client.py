"""Recalls for chats and stores their turns.

Recall takes one or two milliseconds of Python, the pass-through half of one. In one process they compete for
the interpreter lock, so with a remote upstream recall runs in worker processes (`ipc_client`). Turns are
always stored in this process: a write waits for the disk and computes little.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from thinkback.api_keys import is_stored_key_active
from thinkback.errors import Conflict, InvalidInput, ThinkbackError
from thinkback.memory import Memory
from thinkback.prompts import format_facts, load_prompt
from thinkback.recall.chat import to_recalled_items
from thinkback.server.proxy.exchange import ChatQuery, exclude_sent
from thinkback.server.services import Options
from thinkback.server.thread_pool import ThreadPool
from thinkback.session.context import RecalledText, format_wishes, render_recalled
from thinkback.times import utc_now
from thinkback.types import Answer, Candidate, RecalledItem, Recollection, Turn

_log = logging.getLogger("thinkback.server.proxy")

LOCAL_RECALL_THREADS, REMOTE_RECALL_THREADS = 3, 8
MAX_QUERY_CHARS = 8_000  # the end of a longer message is used: recall for a pasted book takes seconds
_OVERFETCH_FACTOR = 2  # recall more if the client may send half of the memories itself


class UnusableQuery(Exception):
    """The text cannot be used as a query."""


class KeyRevoked(Exception):
    """The API key of a request was revoked or expired before its turn was stored."""


def count_recall_threads(embedder: str) -> int:
    """The number of threads of a recall process.

    With a local embedder a recall computes, and its threads compete for the interpreter lock: of three, one
    tenant has two. A remote embedder blocks its thread.
    """
    return REMOTE_RECALL_THREADS if embedder.startswith("openai:") else LOCAL_RECALL_THREADS


@dataclass(frozen=True, slots=True)
class RecalledMemories:
    """The memories for a chat and the text block that is injected, or the reason why recall was skipped.

    `recollection` is the complete result of recall, if recall ran in this process.
    """

    used: tuple[RecalledItem, ...] = ()
    block: str = ""
    skipped: str = ""
    recollection: Recollection | None = None
    seconds: float = 0.0  # duration of the recall itself, without waiting
    cpu_seconds: float = 0.0  # CPU time of the thread that recalled

    @property
    def status(self) -> str:
        """The value of the response header X-Thinkback-Memory."""
        return f"skipped; reason={self.skipped}" if self.skipped else f"recalled; count={len(self.used)}"

    @property
    def refs(self) -> str:
        return ",".join(f"{item.kind}:{item.id}" for item in self.used)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTurn:
    """A turn to be stored. `api_key` is the id of the API key of the request; empty without keys."""

    query: str
    response: str
    session: str
    key: str | None
    api_key: str = ""
    used: tuple[RecalledItem, ...] = ()


class RecallClient(Protocol):
    """Recalls and remembers for the proxy.

    Methods raise `DeadlineExceeded` when the time is over, or the error that memory raised.
    """

    async def recall(self, memory: Memory, query: ChatQuery) -> RecalledMemories: ...

    async def remember(self, memory: Memory, turn: ChatTurn) -> str:
        """Store a turn and return its ref. Once started it is finished, even after the deadline."""
        ...

    def on_reconnect(self, callback: Callable[[], None]) -> None:
        """Call `callback` whenever a worker that was lost can be reached again."""
        ...

    async def close(self) -> None: ...


class LocalRecallClient:
    """Recalls and remembers in threads of this process."""

    def __init__(self, options: Options, pool: ThreadPool) -> None:
        self._options = options
        self._pool = pool
        self._write_pool = ThreadPool()  # separate: writes that wait for the database must not block reads

    async def recall(self, memory: Memory, query: ChatQuery) -> RecalledMemories:
        return await self._pool.run_within(
            self._options.recall_timeout_seconds,
            lambda: recall_memories(memory, query, self._options),
            tenant=memory.tenant,
        )

    async def remember(self, memory: Memory, turn: ChatTurn) -> str:
        return await self._write_pool.run_within(
            self._options.remember_timeout_seconds,
            lambda: remember_turn(memory, turn),
            must_finish=True,
            tenant=memory.tenant,
        )

    def on_reconnect(self, callback: Callable[[], None]) -> None:
        """Never called: there is no connection."""

    async def close(self) -> None:
        """Finish the turns that are being stored."""
        self._write_pool.close()


def recall_memories(memory: Memory, query: ChatQuery, options: Options) -> RecalledMemories:
    """Recall for a query and render the block that is injected into the request."""
    started, cpu_started = time.perf_counter(), time.thread_time()
    limit = options.recall_limit
    text = query.text[-MAX_QUERY_CHARS:]
    try:
        found = memory.recall(text, k=limit * _OVERFETCH_FACTOR if query.has_history else limit)
    except InvalidInput as error:
        raise UnusableQuery from error
    items = exclude_sent(query, found.items, _source_turns(memory, found.items) if query.has_history else {})
    rendered = render_recalled(text, items[:limit], options.recall_token_budget)
    used = to_recalled_items(recalled.item for recalled in rendered)
    wishes = format_wishes([thought.sentence for thought in memory.cached_instructions()])
    memories = _render_block(rendered) if rendered else ""
    block = "\n\n".join(part for part in (wishes, memories) if part)
    return RecalledMemories(
        used,
        block,
        recollection=found,
        seconds=time.perf_counter() - started,
        cpu_seconds=time.thread_time() - cpu_started,
    )


def remember_turn(memory: Memory, turn: ChatTurn) -> str:
    """Store a turn and return its ref. Failures are logged here, because the caller may not wait for them.

    An answer can take minutes, so the API key is verified again: raises `KeyRevoked` if it is not active.
    """
    try:
        _require_active_key(memory, turn)
        stored = memory.remember(
            turn.query, turn.response, session=turn.session, key=turn.key, recalled=turn.used
        )
    except ThinkbackError as error:
        if not isinstance(error, Conflict):
            _log.error("a turn could not be stored: %s", type(error).__name__)
        raise
    return str(stored.ref)


def answer_from_memory(memory: Memory, turn: ChatTurn, k: int) -> Answer:
    """Answer a message without a model as `Memory.chat` does, which also stores the turn.

    Raises `KeyRevoked` like `remember_turn`.
    """
    _require_active_key(memory, turn)
    stream = memory.chat_stream(turn.query, session=turn.session, k=k, key=turn.key)
    for _ in stream:
        pass
    return stream.answer


def _require_active_key(memory: Memory, turn: ChatTurn) -> None:
    if turn.api_key and not is_stored_key_active(turn.api_key, memory.store.key, utc_now()):
        raise KeyRevoked


def _render_block(recalled: Sequence[RecalledText]) -> str:
    """The memories as data, one per line."""
    thoughts = [memory.text for memory in recalled if memory.item.turn is None]
    history = "\n".join(f"- {memory.text}" for memory in recalled if memory.item.turn is not None)
    block = load_prompt("thinkback.server.proxy", "proxy").render(
        facts=f"{format_facts(thoughts)}\n" if thoughts else "",
        history=f"Said earlier:\n{history}\n" if history else "",
    )
    return block.strip()


def _source_turns(memory: Memory, items: Sequence[Candidate]) -> dict[int, Turn]:
    """The source turns of the thoughts among the candidates."""
    thoughts = (item.thought for item in items if item.thought is not None)
    ids = {source.turn for thought in thoughts for source in thought.sources}
    return {turn.id: turn for turn in memory.store.turns(memory.user, ids=sorted(ids))} if ids else {}
