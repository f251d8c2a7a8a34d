"""Blocking calls to `Memory`, made by the app in worker threads, and the Textual messages they post."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from threading import Event

from textual.message import Message

from thinkback.errors import InvalidInput, ModelError, ThinkbackError
from thinkback.language.safety.quarantine import withheld_reason
from thinkback.memory import Memory
from thinkback.recall.chat import ChatStream
from thinkback.types import Action, Answer, Recollection, SpaceStats, Summary, Thought, Turn

MAX_ACTIONS = 100  # journal entries in the sidebar
MAX_THOUGHTS = 500  # thoughts in the sidebar; `thinkback thoughts` lists more
MAX_SESSIONS = 200
MAX_KNOWN = 5  # thoughts shown at the start of a new session
MAX_SEARCH_RESULTS = 12
POLL_INTERVAL_SECONDS = 0.2  # how often `wait_for_thinking` checks whether it is still wanted


@dataclass(frozen=True, slots=True)
class ChatSession:
    """A session of a memory; `k` is the number of memories recalled per answer."""

    memory: Memory
    session: str
    k: int


@dataclass(frozen=True, slots=True)
class SidebarData:
    """Everything the sidebar shows, except the recalled memories."""

    session: str
    summary: Summary
    actions: tuple[Action, ...]
    groups: tuple[tuple[int, tuple[Thought, ...]], ...]
    stats: SpaceStats


@dataclass(frozen=True, slots=True)
class SessionMatch:
    """An entry of the session list: a session and a text from it. An empty name means a new session."""

    session: str
    excerpt: str
    note: str = ""


class RecallFinished(Message):
    """The memories for the next answer were recalled."""

    def __init__(self, recollection: Recollection) -> None:
        super().__init__()
        self.recollection = recollection


class AnswerChunk(Message):
    """The next piece of the answer."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text


class AnswerFinished(Message):
    """The answer is complete or was `stopped`, or it failed with an `error`.

    `turn_saved` tells whether the user's message was stored.
    """

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
    """The background worker is idle. `pending` turns wait for a retry; `problem` is the last error."""

    def __init__(self, pending: int, problem: str = "") -> None:
        super().__init__()
        self.pending = pending
        self.problem = problem


def stream_answer(
    chat_session: ChatSession, message: str, stop: Event, post: Callable[[Message], object]
) -> None:
    """Answer a message and post the result piece by piece.

    The turn is stored however the answer ends, unless the store itself fails.
    """
    stream: ChatStream | None = None
    stopped = False
    try:
        with chat_session.memory.chat_stream(
            message, session=chat_session.session, k=chat_session.k
        ) as stream:
            post(RecallFinished(stream.recollection))
            for chunk in stream:
                post(AnswerChunk(chunk))
                if stop.is_set():
                    stopped = True
                    break
        post(AnswerFinished(message, answer=stream.answer, stopped=stopped))
    except ThinkbackError as error:
        turn_saved = isinstance(error, ModelError) if stream is None else _is_turn_saved(stream)
        post(AnswerFinished(message, error=error, turn_saved=turn_saved))


def wait_for_thinking(memory: Memory, is_wanted: Callable[[], bool]) -> ThinkingFinished | None:
    """Block until the background worker is idle; None if the result is no longer wanted."""
    problem = ""
    try:
        while not memory.wait(POLL_INTERVAL_SECONDS):
            if not is_wanted():
                return None
    except Exception as error:  # shown in the status line; the conversation continues
        problem = str(error) or type(error).__name__
    return ThinkingFinished(memory.stats().pending, problem)


def load_sidebar(chat_session: ChatSession) -> SidebarData:
    memory = chat_session.memory
    stats = memory.stats()
    # Action ids are consecutive, starting at 1, so the newest have ids above this.
    actions = memory.store.journal(memory.user, after=max(0, stats.actions - MAX_ACTIONS))
    return SidebarData(
        chat_session.session,
        memory.summary(chat_session.session),
        tuple(actions[-MAX_ACTIONS:]),
        tuple(_thoughts_by_group(memory)),
        stats,
    )


def known_sentences(memory: Memory) -> list[str]:
    """The newest thoughts, for the first view of a new session."""
    newest: list[str] = []
    for thought in reversed(memory.thoughts()):
        if thought.search_text and not withheld_reason(thought):
            newest.append(thought.sentence)
        if len(newest) == MAX_KNOWN:
            break
    return newest


def context_tokens(chat_session: ChatSession) -> int | None:
    """The number of tokens in the last turn's context; None before the first turn or if embedding fails."""
    try:
        context = chat_session.memory.context_before(session=chat_session.session, k=chat_session.k)
    except ModelError:
        return None
    return None if context is None else context.tokens


def list_sessions(memory: Memory) -> list[SessionMatch]:
    """All sessions, the newest first, each with its last message."""
    names = memory.store.sessions(memory.user)[::-1][:MAX_SESSIONS]
    return [
        SessionMatch(name, _last_message(memory.turns(session=name, limit=1, newest=True))) for name in names
    ]


def search_sessions(memory: Memory, query: str) -> list[SessionMatch]:
    """The sessions in which the memories recalled for the query were said, the best match first."""
    recollection = memory.recall(query, k=MAX_SEARCH_RESULTS)
    sources = [item.thought.last_turn if item.thought else item.ref.id for item in recollection]
    turns = {turn.id: turn for turn in memory.store.turns(memory.user, ids=sources)}
    return [
        SessionMatch(turns[source].session, item.text, str(item.ref))
        for item, source in zip(recollection, sources, strict=True)
        if source in turns
    ]


def _thoughts_by_group(memory: Memory) -> Iterator[tuple[int, tuple[Thought, ...]]]:
    hashing = memory.store.hashing(memory.user)
    remaining = MAX_THOUGHTS
    for group in range(hashing.groups if hashing else 0):
        thoughts = memory.thoughts(group=group, limit=remaining) if remaining else []
        if thoughts:
            remaining -= len(thoughts)
            yield group, tuple(thoughts)


def _last_message(turns: list[Turn]) -> str:
    return turns[-1].query or turns[-1].response if turns else ""


def _is_turn_saved(stream: ChatStream) -> bool:
    try:
        return bool(stream.answer.turn)
    except InvalidInput:  # the stream failed before the turn was stored
        return False
