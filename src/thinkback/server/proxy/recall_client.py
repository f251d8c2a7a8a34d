"""Recalls for chats and stores their turns. Recall runs in this process, or in a worker process (`ipc_client`) so that it does not share an interpreter lock with the pass-through; turns are always written here."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from thinkback.errors import Conflict, InvalidInput, ThinkbackError
from thinkback.memory import Memory
from thinkback.prompts import format_facts, load_prompt
from thinkback.recall.chat import to_recalled_item
from thinkback.server.options import Options
from thinkback.server.proxy.exchange import ChatQuery, exclude_sent
from thinkback.server.thread_pool import ThreadPool
from thinkback.session.context import RecalledText, render_recalled
from thinkback.types import Candidate, RecalledItem, Recollection, Turn

log = logging.getLogger("thinkback.server.proxy")

MAX_QUERY_CHARS = 8_000  # characters that are looked for, the last ones: a pasted book takes seconds
_OVERFETCH_FACTOR = 2  # times as many memories are looked for where the client may send half of them itself


class UnusableQuery(Exception):
    """Nothing can be looked for by this text."""


@dataclass(frozen=True, slots=True)
class RecalledMemories:
    """The memories a chat is given and how they are told; or why there are none.

    `recollection` is all that was found, also what the client knows itself, where it was looked for here.
    """

    used: tuple[RecalledItem, ...] = ()
    block: str = ""
    skipped: str = ""
    recollection: Recollection | None = None
    seconds: float = 0.0  # that it took to look, without any waiting

    @property
    def status(self) -> str:
        return f"skipped; reason={self.skipped}" if self.skipped else f"recalled; count={len(self.used)}"

    @property
    def refs(self) -> str:
        return ",".join(f"{each.kind}:{each.id}" for each in self.used)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTurn:
    """A turn to be kept."""

    query: str
    response: str
    session: str
    key: str | None
    used: tuple[RecalledItem, ...] = ()


class RecallClient(Protocol):
    """Raises TooSlow when the time is over, else whatever memory failed with."""

    async def recall(self, memory: Memory, asked: ChatQuery) -> RecalledMemories: ...

    async def remember(self, memory: Memory, said: ChatTurn) -> str:
        """The name of the turn. Once it is begun it is done, however long it takes."""
        ...

    async def close(self) -> None: ...


class LocalRecallClient:
    """The clerk of this process."""

    def __init__(self, options: Options, desk: ThreadPool) -> None:
        self._options = options
        self._desk = desk
        self._turns = (
            ThreadPool()
        )  # of their own: who waits for the database's lock keeps nobody from reading

    async def recall(self, memory: Memory, asked: ChatQuery) -> RecalledMemories:
        return await self._desk.run_within(
            self._options.recall_timeout_seconds, lambda: recall_memories(memory, asked, self._options)
        )

    async def remember(self, memory: Memory, said: ChatTurn) -> str:
        return await self._turns.run_within(
            self._options.remember_timeout_seconds, lambda: remember_turn(memory, said), must_finish=True
        )

    async def close(self) -> None:
        """After the turns in hand."""
        self._turns.close()


def recall_memories(memory: Memory, asked: ChatQuery, options: Options) -> RecalledMemories:
    """What memory holds of the question, and how the model is told."""
    began = time.perf_counter()
    most = options.recall_limit
    try:
        found = memory.recall(
            asked.text[-MAX_QUERY_CHARS:], k=most * _OVERFETCH_FACTOR if asked.has_history else most
        )
    except InvalidInput as error:
        raise UnusableQuery from error
    items = exclude_sent(asked, found.items, _source_turns(memory, found.items) if asked.has_history else {})
    told = render_recalled(asked.text[-MAX_QUERY_CHARS:], items[:most], options.recall_token_budget)
    given = tuple(to_recalled_item(each.item) for each in told)
    block = _render_block(told) if told else ""
    return RecalledMemories(given, block, recollection=found, seconds=time.perf_counter() - began)


def remember_turn(memory: Memory, said: ChatTurn) -> str:
    """Its turn is told by whoever asked; what fails is told here too, for they may have stopped waiting."""
    try:
        return _remember(memory, said)
    except ThinkbackError as error:
        if not isinstance(error, Conflict):
            log.error("a turn could not be kept: %s", type(error).__name__)
        raise


def _remember(memory: Memory, said: ChatTurn) -> str:
    turn = memory.remember(said.query, said.response, session=said.session, key=said.key, recalled=said.used)
    return str(turn.ref)


def _render_block(told: Sequence[RecalledText]) -> str:
    """The memories as data, each on a line of its own."""
    thoughts = [each.text for each in told if each.item.turn is None]
    history = "\n".join(f"- {each.text}" for each in told if each.item.turn is not None)
    block = load_prompt("proxy").render(
        facts=f"{format_facts(thoughts)}\n" if thoughts else "",
        history=f"Said earlier:\n{history}\n" if history else "",
    )
    return block.strip()


def _source_turns(memory: Memory, items: Sequence[Candidate]) -> dict[int, Turn]:
    """The turns that the thoughts among them come from."""
    thoughts = (item.thought for item in items if item.thought is not None)
    wanted = {source.turn for thought in thoughts for source in thought.sources}
    return {turn.id: turn for turn in memory.store.turns(memory.user, ids=sorted(wanted))} if wanted else {}
