"""What the app asks of `Memory`: plain calls that may take long, made in threads, and what they tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Event

from textual.message import Message

from thinkback.errors import InvalidInput, ModelError, ThinkbackError
from thinkback.memory import Memory
from thinkback.recall.chat import ChatStream
from thinkback.types import Action, Answer, Recollection, Stats, Summary, Thought, Turn

LATEST = 100  # actions of the journal that are shown
MOST_THOUGHTS = 500  # shown by group; `thinkback thoughts` lists more
MOST_SESSIONS = 200
FOUND = 12  # memories that a search shows
LOOK_S = 0.2  # how often somebody who waits for the thinking sees whether to go


@dataclass(frozen=True, slots=True)
class Talk:
    """Which conversation of which memory it is, and how many memories an answer is given."""

    memory: Memory
    session: str
    k: int


@dataclass(frozen=True, slots=True)
class View:
    """What the panes beside the conversation show."""

    session: str
    summary: Summary
    actions: tuple[Action, ...]
    groups: tuple[tuple[int, tuple[Thought, ...]], ...]
    stats: Stats


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was said: a session, and words of it."""

    session: str
    words: str
    note: str = ""


class Recalled(Message):
    """An answer begins: this is what it is given."""

    def __init__(self, found: Recollection) -> None:
        super().__init__()
        self.found = found


class Piece(Message):
    """Some more of the answer."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class Ended(Message):
    """There is an answer, whole or `stopped`; or an `error`, and what was said is `kept` or not."""

    def __init__(
        self,
        said: str,
        *,
        answer: Answer | None = None,
        stopped: bool = False,
        error: ThinkbackError | None = None,
        kept: bool = True,
    ) -> None:
        super().__init__()
        self.said = said
        self.answer = answer
        self.stopped = stopped
        self.error = error
        self.kept = kept


class Settled(Message):
    """The background has nothing to do now; `pending` turns wait for another try, `trouble` says why."""

    def __init__(self, pending: int, trouble: str = "") -> None:
        super().__init__()
        self.pending = pending
        self.trouble = trouble


def ask(talk: Talk, message: str, stop: Event, post: Callable[[Message], object]) -> None:
    """One answer, told piece by piece. Whatever ends it, the turn is kept, unless the store itself failed."""
    stream: ChatStream | None = None
    stopped = False
    try:
        with talk.memory.chat_stream(message, session=talk.session, k=talk.k) as stream:
            post(Recalled(stream.recollection))
            for piece in stream:
                post(Piece(piece))
                if stop.is_set():
                    stopped = True
                    break
        post(Ended(message, answer=stream.answer, stopped=stopped))
    except ThinkbackError as error:
        kept = isinstance(error, ModelError) if stream is None else _kept(stream)
        post(Ended(message, error=error, kept=kept))


def await_thinking(memory: Memory, wanted: Callable[[], bool]) -> Settled | None:
    """Until the background has thought over what it can now, or nobody wants to know."""
    trouble = ""
    try:
        while not memory.wait(LOOK_S):
            if not wanted():
                return None
    except Exception as error:  # whatever ended the thinking is told; the conversation goes on
        trouble = str(error) or type(error).__name__
    return Settled(memory.stats().pending, trouble)


def look(talk: Talk) -> View:
    memory = talk.memory
    stats = memory.stats()
    # Actions are numbered from 1 without end, so the last ones have numbers above this.
    actions = memory.store.journal(memory.user, after=max(0, stats.actions - LATEST))
    return View(
        talk.session,
        memory.summary(talk.session),
        tuple(actions[-LATEST:]),
        tuple(_by_group(memory)),
        stats,
    )


def context_tokens(talk: Talk) -> int | None:
    """What the context of the last turn costs; None before the first, or where nothing can be embedded."""
    try:
        context = talk.memory.context_before(session=talk.session, k=talk.k)
    except ModelError:
        return None
    return None if context is None else context.tokens


def sessions(memory: Memory) -> list[Place]:
    """The conversations, the one begun last first, each with what was said last."""
    names = memory.store.sessions(memory.user)[::-1][:MOST_SESSIONS]
    return [Place(name, _last_words(memory.turns(session=name, limit=1, newest=True))) for name in names]


def search(memory: Memory, query: str) -> list[Place]:
    """Where something like this was said, the best first."""
    found = memory.recall(query, k=FOUND)
    sources = [item.thought.last_turn if item.thought else item.ref.id for item in found]
    turns = {turn.id: turn for turn in memory.store.turns(memory.user, ids=sources)}
    return [
        Place(turns[source].session, item.text, str(item.ref))
        for item, source in zip(found, sources, strict=True)
        if source in turns
    ]


def _by_group(memory: Memory) -> Iterator[tuple[int, tuple[Thought, ...]]]:
    hashing = memory.store.hashing(memory.user)
    left = MOST_THOUGHTS
    for group in range(hashing.groups if hashing else 0):
        held = memory.thoughts(group=group, limit=left) if left else []
        if held:
            left -= len(held)
            yield group, tuple(held)


def _last_words(turns: list[Turn]) -> str:
    return turns[-1].query or turns[-1].response if turns else ""


def _kept(stream: ChatStream) -> bool:
    try:
        return bool(stream.answer.turn)
    except InvalidInput:  # it could not end
        return False
