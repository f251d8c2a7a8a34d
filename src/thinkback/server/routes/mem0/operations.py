"""mem0's operations on a Memory: map its identifiers to a user and sessions; list, search, read, add, correct and delete memories."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from thinkback.errors import InvalidInput, NotFound
from thinkback.language.safety.quarantine import redact_memory, withheld_reason
from thinkback.mem0 import AGENT_PREFIX, DEFAULT_NAME, KEY_PREFIX, RUN_PREFIX, Mem0Scope, resolve_scope
from thinkback.memory import Memory
from thinkback.server import ids
from thinkback.server.errors import RequestRefused, forbidden
from thinkback.server.outcomes import ThinkOutcome, find_successors
from thinkback.server.routes.mem0.schemas import Added, Event, FoundItem, HistoryEntry, Item
from thinkback.types import Action, Ref, Thought, Turn

_AGENT_SESSION = re.compile(r"agent:(?P<agent>[^ ]+)(?: run:(?P<run>.+))?")

IdentifierField = Literal["user_id", "agent_id", "run_id"]


@dataclass(frozen=True, slots=True)
class MemoryOwner(Mem0Scope):
    """Whose memories a request is about: those of the user, or of some sessions only."""

    @property
    def is_narrowed(self) -> bool:
        return bool(self.agent or self.run)

    def includes_session(self, session: str) -> bool:
        """Whether a session is one of those meant."""
        agent, run = _parse_session(session)
        return self.agent in ("", agent) and self.run in ("", run)


def resolve_owner(
    user_id: str | None, agent_id: str | None, run_id: str | None, bound_user: str = ""
) -> MemoryOwner:
    """Whom the identifiers mean; `own` is whom the credential or the header speaks for, if they say so."""
    user, agent, run = ((each or "").strip() for each in (user_id, agent_id, run_id))
    if bound_user and user not in ("", bound_user):
        raise forbidden(f"this connection speaks for the user {bound_user!r} alone")
    if bound_user:
        return MemoryOwner(bound_user, agent, run)
    if (place := resolve_scope(user, agent, run)) is not None:
        return MemoryOwner(place.user, place.agent, place.run)
    raise RequestRefused(
        400, "At least one identifier (user_id, agent_id, run_id) is required.", "invalid_input"
    )


def mem0_identifiers(user: str, session: str) -> dict[IdentifierField, str | None]:
    """The other way round: what mem0's clients are told of where a memory belongs."""
    agent, told = _parse_session(session)
    run = told if told not in ("", DEFAULT_NAME) else None
    if user.startswith(AGENT_PREFIX):
        return {"user_id": None, "agent_id": user.removeprefix(AGENT_PREFIX), "run_id": run}
    if user.startswith(RUN_PREFIX):
        return {"user_id": None, "agent_id": None, "run_id": user.removeprefix(RUN_PREFIX)}
    return {"user_id": user, "agent_id": agent or None, "run_id": run}


def _parse_session(session: str) -> tuple[str, str]:
    """The agent and the run that a session's name tells."""
    found = _AGENT_SESSION.fullmatch(session)
    return (found["agent"], found["run"] or "") if found else ("", session)


RAW_KEY_PREFIX = "raw:"
_MEMORY_KEY_PREFIXES = (
    RAW_KEY_PREFIX,
    KEY_PREFIX,
)  # how the keys of turns begin that were added as memories themselves
NARROWED_RECALL_LIMIT = 100  # so many are recalled where only some sessions are meant


def list_memories(memory: Memory, whose: MemoryOwner, limit: int) -> list[Item]:
    """The newest memories, oldest of them first: what is held true, and raw ones nothing was drawn from."""
    turns = {turn.id: turn for turn in memory.turns()}
    thoughts = memory.thoughts(current=False)
    drawn = {source.turn for thought in thoughts for source in thought.sources}
    found: list[Thought | Turn] = [
        each
        for each in thoughts
        if each.current and _belongs_to(each, turns, whose) and withheld_reason(each) is None
    ]
    found += [
        turn
        for turn in turns.values()
        if turn.id not in drawn
        and (turn.key or "").startswith(_MEMORY_KEY_PREFIXES)
        and whose.includes_session(turn.session)
        and withheld_reason(turn) is None
    ]
    found.sort(key=lambda each: (each.last_turn if isinstance(each, Thought) else each.id, each.id))
    return [make_item(memory, each, turns) for each in found[-limit:]]


def search_memories(
    memory: Memory, whose: MemoryOwner, query: str, limit: int, threshold: float
) -> list[FoundItem]:
    """What matters now: nothing that is past, and no raw turn that a memory before it was drawn from."""
    recalled = memory.recall(query, k=NARROWED_RECALL_LIMIT if whose.is_narrowed else limit)
    held = [each for each in recalled if each.outdated is None and each.score.total >= threshold]
    told = {source.turn for each in held if each.thought for source in each.thought.sources}
    kept = [each for each in held if each.thought or each.ref.id not in told]
    numbers = {each.thought.last_turn if each.thought else each.ref.id for each in kept}
    turns = _turns_by_id(memory, numbers)
    found = []
    for each in kept:
        value = each.thought or turns.get(each.ref.id)
        if value is not None and _belongs_to(value, turns, whose):
            shown = make_item(memory, value, turns).model_dump()
            found.append(FoundItem(**{**shown, "memory": each.text}, score=round(each.score.total, 4)))
    return found[:limit]


def current_memory(memory: Memory, id_: str) -> Thought | Turn:
    """What is held true under an id: what took its place, if it was replaced or corrected."""
    ref = ids.decode_ref(memory.user, id_, "thought", "turn")
    if ref.kind == "turn":
        for turn in memory.store.turns(memory.user, ids=[ref.id]):
            return turn
    for thought in memory.store.thoughts(memory.user, ids=[ref.id], current=False):
        if thought.current:
            return thought
        for heir in find_successors(memory, thought):
            return heir
    raise NotFound(f"Memory with id {id_[:40]!r} not found")


def get_memory(memory: Memory, id_: str) -> Item:
    """One memory; it answers by the id it was asked for, as mem0's does after an update."""
    value = current_memory(memory, id_)
    turns = _turns_by_id(memory, {value.last_turn if isinstance(value, Thought) else value.id})
    return make_item(memory, value, turns).model_copy(update={"id": id_})


def make_item(memory: Memory, value: Thought | Turn, turns: Mapping[int, Turn]) -> Item:
    """One memory as it may be shown: without orders and secrets."""
    safe = redact_memory(value)
    text = safe.sentence if isinstance(safe, Thought) else safe.text
    said = turns.get(value.last_turn) if isinstance(value, Thought) else value
    kind = value.kind if isinstance(value, Thought) else "turn"
    return Item(
        id=ids.encode_id(memory.user, value.ref),
        memory=text,
        hash=hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(),
        metadata={"kind": kind},
        created_at=value.recorded_at,
        updated_at=None,
        **mem0_identifiers(memory.user, said.session if said else ""),
    )


def memory_history(memory: Memory, id_: str) -> list[HistoryEntry]:
    """Every action that made, changed or ended a memory, oldest first; of raw words, that they were said."""
    ref = ids.decode_ref(memory.user, id_, "thought", "turn")
    if ref.kind == "turn":
        said = current_memory(memory, id_)
        text = make_item(memory, said, {}).memory
        return [_history_entry(id_, said.ref, "ADD", None, text, said.recorded_at, "user", "it was said")]
    journal = [
        action
        for action in memory.journal(thought=ref.id)
        if any(each.id == ref.id for each in action.changed)
    ]
    if not journal:
        raise NotFound(f"Memory with id {id_[:40]!r} not found")
    lines = [_action_entry(id_, action, ref.id) for action in journal]
    if lines[-1].event == "DELETE" and (
        heirs := _successor_text(memory, ref.id)
    ):  # a correction, told as mem0 does
        last = {"event": "UPDATE", "new_memory": heirs, "is_deleted": False}
        lines[-1] = lines[-1].model_copy(update=last)
    return lines


def _successor_text(memory: Memory, number: int) -> str:
    """The words of what took a thought's place, if anything did."""
    found = memory.store.thoughts(memory.user, ids=[number], current=False)
    heirs = [heir for thought in found for heir in find_successors(memory, thought)]
    return " ".join(make_item(memory, heir, {}).memory for heir in heirs)


def _action_entry(id_: str, action: Action, number: int) -> HistoryEntry:
    before = {each.id: each for each in action.before}
    (mine,) = [each for each in action.changed if each.id == number]
    others = [each for each in action.changed if each.id != number]
    if mine.current:
        replaced = [each for each in others if not each.current and before[each.id].current]
        old = " ".join(redact_memory(each).sentence for each in replaced)
        event: Event = "UPDATE" if old else "ADD"
        new: str | None = redact_memory(mine).sentence
    else:
        old = redact_memory(mine).sentence
        new = " ".join(redact_memory(each).sentence for each in others if each.current) or None
        event = "UPDATE" if new else "DELETE"
    return _history_entry(id_, action.ref, event, old or None, new, action.at, action.actor, action.reason)


def _history_entry(
    id_: str, ref: Ref, event: Event, old: str | None, new: str | None, at: datetime, actor: str, reason: str
) -> HistoryEntry:
    return HistoryEntry(
        id=str(ref),
        memory_id=id_,
        old_memory=old,
        new_memory=new,
        event=event,
        created_at=at,
        is_deleted=event == "DELETE",
        actor_id=actor,
        reason=reason,
    )


def _belongs_to(value: Thought | Turn, turns: Mapping[int, Turn], whose: MemoryOwner) -> bool:
    """Whether a memory is of one of the sessions meant: a thought is of those it was said in."""
    if not whose.is_narrowed:
        return True
    numbers = [source.turn for source in value.sources] if isinstance(value, Thought) else [value.id]
    return any(number in turns and whose.includes_session(turns[number].session) for number in numbers)


def _turns_by_id(memory: Memory, numbers: Iterable[int]) -> dict[int, Turn]:
    wanted = sorted(numbers)
    return {turn.id: turn for turn in memory.store.turns(memory.user, ids=wanted)} if wanted else {}


Messages = Sequence[dict[str, Any]] | str


def remember(
    memory: Memory, messages: Messages, session: str, at: datetime | None, *, raw: bool
) -> list[Turn]:
    """The messages as turns; with `raw` each is a memory itself, and is listed as one."""
    said = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    key = f"{RAW_KEY_PREFIX}{uuid.uuid4()}" if raw else None
    return memory.remember_messages(said, at=at, session=session, key=key)


def parse_timestamp(timestamp: int | None) -> datetime | None:
    try:
        return None if timestamp is None else datetime.fromtimestamp(timestamp, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput(f"timestamp {timestamp} is no time in Unix seconds") from error


def added_turns(memory: Memory, turns: Sequence[Turn]) -> list[Added]:
    return [
        Added(id=ids.encode_id(memory.user, turn.ref), memory=redact_memory(turn).text, event="ADD")
        for turn in turns
    ]


def added_thoughts(memory: Memory, outcomes: Sequence[ThinkOutcome]) -> list[Added]:
    """What thinking changed, as mem0 names it: added, updated (superseded or merged), deleted."""
    return [
        each for outcome in outcomes for action in outcome.actions for each in _action_events(memory, action)
    ]


def _action_events(memory: Memory, action: Action) -> list[Added]:
    new = [each for each in action.changed if each.current]
    old = [each for each in action.changed if not each.current]
    was = " ".join(redact_memory(each).sentence for each in old) or None
    if new:
        return [_added_thought(memory, each, was) for each in new if each.search_text]
    return [
        Added(id=ids.encode_id(memory.user, each.ref), memory=redact_memory(each).sentence, event="DELETE")
        for each in old
    ]


def _added_thought(memory: Memory, thought: Thought, was: str | None) -> Added:
    return Added(
        id=ids.encode_id(memory.user, thought.ref),
        memory=redact_memory(thought).sentence,
        event="UPDATE" if was else "ADD",
        previous_memory=was,
    )


def correct(memory: Memory, id_: str, text: str) -> Turn:
    """A thought is retired for the new text. Raw words are never changed: they are erased for it."""
    if not text.strip():
        raise InvalidInput("say in `text` what is so instead")
    held = current_memory(memory, id_)
    if isinstance(held, Thought):
        return memory.correct(held, text, "updated by a client")
    (turn,) = remember(memory, text, held.session, None, raw=True)
    memory.erase(turn=held)
    return turn


def delete(memory: Memory, id_: str) -> None:
    """A thought is forgotten, which the journal can undo; raw words are erased."""
    held = current_memory(memory, id_)
    if isinstance(held, Thought):
        memory.forget(held, "deleted by a client")
    else:
        memory.erase(turn=held)


def delete_all(memory: Memory, whose: MemoryOwner) -> None:
    """For good, as in mem0: the user, or the sessions meant; nothing there is nothing to do."""
    try:
        if not whose.is_narrowed:
            memory.erase(user=memory.user)
            return
        for session in memory.store.sessions(memory.user):
            if whose.includes_session(session):
                memory.erase(session=session)
    except NotFound:
        return
