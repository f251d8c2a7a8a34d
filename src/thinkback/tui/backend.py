"""What the app asks of `Memory`: plain calls that may take long, made in threads, and what they tell."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Event

from textual.message import Message

from thinkback.errors import InvalidInput, ModelError, ThinkbackError
from thinkback.memory import Memory
from thinkback.recall.chat import ChatStream
from thinkback.types import Action, Answer, Recollection, SpaceStats, Summary, Thought, Turn

MAX_ACTIONS = 100  # actions of the journal that are shown
MAX_THOUGHTS = 500  # shown by group; `thinkback thoughts` lists more
MAX_SESSIONS = 200
MAX_SEARCH_RESULTS = 12  # memories that a search shows
POLL_INTERVAL_SECONDS = 0.2  # how often somebody who waits for the thinking sees whether to go


@dataclass(frozen=True, slots=True)
class ChatSession:
    """Which conversation of which memory it is, and how many memories an answer is given."""

    memory: Memory
    session: str
    k: int


@dataclass(frozen=True, slots=True)
class SidebarData:
    """What the panes beside the conversation show."""

    session: str
    summary: Summary
    actions: tuple[Action, ...]
    groups: tuple[tuple[int, tuple[Thought, ...]], ...]
    stats: SpaceStats


@dataclass(frozen=True, slots=True)
class SessionMatch:
    """Where something was said: a session, and words of it."""

    session: str
    excerpt: str
    note: str = ""


class RecallFinished(Message):
    """An answer begins: this is what it is given."""

    def __init__(self, recollection: Recollection) -> None:
        super().__init__()
        self.recollection = recollection


class AnswerChunk(Message):
    """Some more of the answer."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class AnswerFinished(Message):
    """There is an answer, whole or `stopped`; or an `error`, and what was said is `kept` or not."""

    def __init__(
        self,
        user_message: str,
        *,
        answer: Answer | None = None,
        stopped: bool = False,
        error: ThinkbackError | None = None,
        turn_saved: bool = True,
    ) -> None:
        super().__init__()
        self.user_message = user_message
        self.answer = answer
        self.stopped = stopped
        self.error = error
        self.turn_saved = turn_saved


class ThinkingFinished(Message):
    """The background has nothing to do now; `pending` turns wait for another try, `trouble` says why."""

    def __init__(self, pending: int, problem: str = "") -> None:
        super().__init__()
        self.pending = pending
        self.problem = problem


def stream_answer(
    chat_session: ChatSession, message: str, stop: Event, post: Callable[[Message], object]
) -> None:
    """One answer, told piece by piece. Whatever ends it, the turn is kept, unless the store itself failed."""
    stream: ChatStream | None = None
    stopped = False
    try:
        with chat_session.memory.chat_stream(
            message, session=chat_session.session, k=chat_session.k
        ) as stream:
            post(RecallFinished(stream.recollection))
            for piece in stream:
                post(AnswerChunk(piece))
                if stop.is_set():
                    stopped = True
                    break
        post(AnswerFinished(message, answer=stream.answer, stopped=stopped))
    except ThinkbackError as error:
        kept = isinstance(error, ModelError) if stream is None else _is_turn_saved(stream)
        post(AnswerFinished(message, error=error, turn_saved=kept))


def wait_for_thinking(memory: Memory, is_wanted: Callable[[], bool]) -> ThinkingFinished | None:
    """Until the background has thought over what it can now, or nobody wants to know."""
    trouble = ""
    try:
        while not memory.wait(POLL_INTERVAL_SECONDS):
            if not is_wanted():
                return None
    except Exception as error:  # whatever ended the thinking is told; the conversation goes on
        trouble = str(error) or type(error).__name__
    return ThinkingFinished(memory.stats().pending, trouble)


def load_sidebar(chat_session: ChatSession) -> SidebarData:
    memory = chat_session.memory
    stats = memory.stats()
    # Actions are numbered from 1 without end, so the last ones have numbers above this.
    actions = memory.store.journal(memory.user, after=max(0, stats.actions - MAX_ACTIONS))
    return SidebarData(
        chat_session.session,
        memory.summary(chat_session.session),
        tuple(actions[-MAX_ACTIONS:]),
        tuple(_thoughts_by_group(memory)),
        stats,
    )


def context_tokens(chat_session: ChatSession) -> int | None:
    """What the context of the last turn costs; None before the first, or where nothing can be embedded."""
    try:
        context = chat_session.memory.context_before(session=chat_session.session, k=chat_session.k)
    except ModelError:
        return None
    return None if context is None else context.tokens


def list_sessions(memory: Memory) -> list[SessionMatch]:
    """The conversations, the one begun last first, each with what was said last."""
    names = memory.store.sessions(memory.user)[::-1][:MAX_SESSIONS]
    return [
        SessionMatch(name, _last_message(memory.turns(session=name, limit=1, newest=True))) for name in names
    ]


def search_sessions(memory: Memory, query: str) -> list[SessionMatch]:
    """Where something like this was said, the best first."""
    found = memory.recall(query, k=MAX_SEARCH_RESULTS)
    sources = [item.thought.last_turn if item.thought else item.ref.id for item in found]
    turns = {turn.id: turn for turn in memory.store.turns(memory.user, ids=sources)}
    return [
        SessionMatch(turns[source].session, item.text, str(item.ref))
        for item, source in zip(found, sources, strict=True)
        if source in turns
    ]


def _thoughts_by_group(memory: Memory) -> Iterator[tuple[int, tuple[Thought, ...]]]:
    hashing = memory.store.hashing(memory.user)
    left = MAX_THOUGHTS
    for group in range(hashing.groups if hashing else 0):
        held = memory.thoughts(group=group, limit=left) if left else []
        if held:
            left -= len(held)
            yield group, tuple(held)


def _last_message(turns: list[Turn]) -> str:
    return turns[-1].query or turns[-1].response if turns else ""


def _is_turn_saved(stream: ChatStream) -> bool:
    try:
        return bool(stream.answer.turn)
    except InvalidInput:  # it could not end
        return False
