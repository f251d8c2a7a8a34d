"""What the proxy asks of memory: two errands, each within its time."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from thinkback.apps.server.desk import Desk
from thinkback.apps.server.options import Options
from thinkback.apps.server.proxy.asked import Asked, unsent
from thinkback.errors import Conflict, InvalidInput, ThinkbackError
from thinkback.memory import Memory
from thinkback.prompts import load
from thinkback.prompts.facts import facts
from thinkback.recall.chat import used
from thinkback.types import Candidate, Recollection, Turn, Used
from thinkback.working.context import Worded, worded

log = logging.getLogger("thinkback.server.proxy")

LONGEST = 8_000  # characters that are looked for, the last ones: a pasted book takes seconds
_BESIDE = 2  # times as many memories are looked for where the client may send half of them itself


class Unfit(Exception):
    """Nothing can be looked for by this text."""


@dataclass(frozen=True, slots=True)
class Found:
    """The memories a chat is given and how they are told; or why there are none.

    `recollection` is all that was found, also what the client knows itself, where it was looked for here.
    """

    used: tuple[Used, ...] = ()
    block: str = ""
    skipped: str = ""
    recollection: Recollection | None = None
    seconds: float = 0.0  # that it took to look, without any waiting

    @property
    def told(self) -> str:
        return f"skipped; reason={self.skipped}" if self.skipped else f"recalled; count={len(self.used)}"

    @property
    def refs(self) -> str:
        return ",".join(f"{each.kind}:{each.id}" for each in self.used)


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchanged:
    """A turn to be kept."""

    query: str
    response: str
    session: str
    key: str | None
    used: tuple[Used, ...] = ()


class Clerk(Protocol):
    """Raises TooSlow when the time is over, else whatever memory failed with."""

    async def recall(self, memory: Memory, asked: Asked) -> Found: ...

    async def remember(self, memory: Memory, said: Exchanged) -> str:
        """The name of the turn. Once it is begun it is done, however long it takes."""
        ...

    async def close(self) -> None: ...


class AtTheDesk:
    """The clerk of this process."""

    def __init__(self, options: Options, desk: Desk) -> None:
        self._options = options
        self._desk = desk
        self._turns = Desk()  # of their own: who waits for the database's lock keeps nobody from reading

    async def recall(self, memory: Memory, asked: Asked) -> Found:
        return await self._desk.within(self._options.recall_s, lambda: look(memory, asked, self._options))

    async def remember(self, memory: Memory, said: Exchanged) -> str:
        return await self._turns.within(self._options.remember_s, lambda: keep(memory, said), surely=True)

    async def close(self) -> None:
        """After the turns in hand."""
        self._turns.close()


def look(memory: Memory, asked: Asked, options: Options) -> Found:
    """What memory holds of the question, and how the model is told."""
    began = time.perf_counter()
    most = options.recalled
    try:
        found = memory.recall(asked.text[-LONGEST:], k=most * _BESIDE if asked.goes_on else most)
    except InvalidInput as error:
        raise Unfit from error
    items = unsent(asked, found.items, _sources(memory, found.items) if asked.goes_on else {})
    told = worded(asked.text[-LONGEST:], items[:most], options.recalled_tokens)
    given = tuple(used(each.item) for each in told)
    block = _block(told) if told else ""
    return Found(given, block, recollection=found, seconds=time.perf_counter() - began)


def keep(memory: Memory, said: Exchanged) -> str:
    """Its turn is told by whoever asked; what fails is told here too, for they may have stopped waiting."""
    try:
        return _kept(memory, said)
    except ThinkbackError as error:
        if not isinstance(error, Conflict):
            log.error("a turn could not be kept: %s", type(error).__name__)
        raise


def _kept(memory: Memory, said: Exchanged) -> str:
    turn = memory.remember(said.query, said.response, session=said.session, key=said.key, recalled=said.used)
    return str(turn.ref)


def _block(told: Sequence[Worded]) -> str:
    """The memories as data, each on a line of its own."""
    thoughts = [each.text for each in told if each.item.turn is None]
    history = "\n".join(f"- {each.text}" for each in told if each.item.turn is not None)
    block = load("proxy").render(
        facts=f"{facts(thoughts)}\n" if thoughts else "",
        history=f"Said earlier:\n{history}\n" if history else "",
    )
    return block.strip()


def _sources(memory: Memory, items: Sequence[Candidate]) -> dict[int, Turn]:
    """The turns that the thoughts among them come from."""
    thoughts = (item.thought for item in items if item.thought is not None)
    wanted = {source.turn for thought in thoughts for source in thought.sources}
    return {turn.id: turn for turn in memory.store.turns(memory.user, ids=sorted(wanted))} if wanted else {}
