"""Adding, correcting and deleting memories as mem0's clients mean it."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from thinkback.apps.server import ids
from thinkback.apps.server.mem0.finding import RAW, the_memory
from thinkback.apps.server.mem0.forms import Added
from thinkback.apps.server.mem0.whose import Whose
from thinkback.apps.server.outcome import Outcome
from thinkback.errors import InvalidInput, NotFound
from thinkback.memory import Memory
from thinkback.text.safety.quarantine import redacted
from thinkback.types import Action, Thought, Turn

Messages = Sequence[dict[str, Any]] | str


def remember(
    memory: Memory, messages: Messages, session: str, at: datetime | None, *, raw: bool
) -> list[Turn]:
    """The messages as turns; with `raw` each is a memory itself, and is listed as one."""
    said = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    key = f"{RAW}{uuid.uuid4()}" if raw else None
    return memory.remember_messages(said, at=at, session=session, key=key)


def moment(timestamp: int | None) -> datetime | None:
    try:
        return None if timestamp is None else datetime.fromtimestamp(timestamp, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput(f"timestamp {timestamp} is no time in Unix seconds") from error


def as_said(memory: Memory, turns: Sequence[Turn]) -> list[Added]:
    return [
        Added(id=ids.named(memory.user, turn.ref), memory=redacted(turn).text, event="ADD") for turn in turns
    ]


def as_thought(memory: Memory, outcomes: Sequence[Outcome]) -> list[Added]:
    """What thinking changed, as mem0 names it: added, updated (superseded or merged), deleted."""
    return [each for outcome in outcomes for action in outcome.actions for each in _events(memory, action)]


def _events(memory: Memory, action: Action) -> list[Added]:
    new = [each for each in action.changed if each.current]
    old = [each for each in action.changed if not each.current]
    was = " ".join(redacted(each).sentence for each in old) or None
    if new:
        return [_added(memory, each, was) for each in new if each.searched]
    return [
        Added(id=ids.named(memory.user, each.ref), memory=redacted(each).sentence, event="DELETE")
        for each in old
    ]


def _added(memory: Memory, thought: Thought, was: str | None) -> Added:
    return Added(
        id=ids.named(memory.user, thought.ref),
        memory=redacted(thought).sentence,
        event="UPDATE" if was else "ADD",
        previous_memory=was,
    )


def correct(memory: Memory, id_: str, text: str) -> Turn:
    """A thought is retired for the new text. Raw words are never changed: they are erased for it."""
    if not text.strip():
        raise InvalidInput("say in `text` what is so instead")
    held = the_memory(memory, id_)
    if isinstance(held, Thought):
        return memory.correct(held, text, "updated by a client")
    (turn,) = remember(memory, text, held.session, None, raw=True)
    memory.erase(turn=held)
    return turn


def delete(memory: Memory, id_: str) -> None:
    """A thought is forgotten, which the journal can undo; raw words are erased."""
    held = the_memory(memory, id_)
    if isinstance(held, Thought):
        memory.forget(held, "deleted by a client")
    else:
        memory.erase(turn=held)


def delete_all(memory: Memory, whose: Whose) -> None:
    """For good, as in mem0: the user, or the sessions meant; nothing there is nothing to do."""
    try:
        if not whose.narrowed:
            memory.erase(user=memory.user)
            return
        for session in memory.store.sessions(memory.user):
            if whose.holds(session):
                memory.erase(session=session)
    except NotFound:
        return
