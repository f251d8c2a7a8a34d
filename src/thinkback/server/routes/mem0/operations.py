"""mem0's operations on a `Memory`: list, search, read, add, correct and delete memories.

mem0's identifiers (`user_id`, `agent_id`, `run_id`) are mapped to a user and its sessions.
"""

from __future__ import annotations

import hashlib
import json
import re
import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from thinkback.errors import InvalidInput, NotFound
from thinkback.language.safety.quarantine import redact_memory, withheld_reason
from thinkback.mem0 import AGENT_PREFIX, DEFAULT_NAME, KEY_PREFIX, RUN_PREFIX, Mem0Scope, resolve_scope
from thinkback.memory import Memory
from thinkback.server import identity
from thinkback.server.errors import RequestRefused, forbidden
from thinkback.server.routes.mem0 import filters
from thinkback.server.routes.mem0.schemas import Added, Event, FoundItem, HistoryEntry, Item
from thinkback.server.turn_status import (
    ThinkOutcome,
    find_corrected_turns,
    find_successors,
    find_versions,
)
from thinkback.types import CORRECTED_IN_PREFIX, Action, Recollection, Thought, Turn
from thinkback.validation import checked_name

RAW_KEY_PREFIX = "raw:"
NARROWED_RECALL_LIMIT = 100  # recalled before the results are filtered by session and metadata
MAX_NARROWED_RECALL = 6400  # if too few of them are left
MAX_METADATA_BYTES = 16 << 10
_MEMORY_KEY_PREFIXES = (RAW_KEY_PREFIX, KEY_PREFIX)  # of turns that are listed as memories themselves
_AGENT_SESSION = re.compile(r"agent:(?P<agent>[^ ]+)(?: run:(?P<run>.+))?")

IdentifierField = Literal["user_id", "agent_id", "run_id"]
Messages = Sequence[dict[str, Any]] | str


@dataclass(frozen=True, slots=True)
class MemoryOwner(Mem0Scope):
    """Whose memories a request is about: all of a user, or only those of some sessions."""

    @property
    def is_narrowed(self) -> bool:
        return bool(self.agent or self.run)

    def includes_session(self, session: str) -> bool:
        """Whether the request is about memories of this session."""
        agent, run = _parse_session(session)
        return self.agent in ("", agent) and self.run in ("", run)


def resolve_owner(
    user_id: str | None, agent_id: str | None, run_id: str | None, bound_user: str = ""
) -> MemoryOwner:
    """Resolve mem0's identifiers. `bound_user` is the user of the key or header, if there is one."""
    given = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
    user, agent, run = ("" if value is None else checked_name(value, name) for name, value in given.items())
    if bound_user and user not in ("", bound_user):
        raise forbidden(f"this connection can only act for the user {bound_user!r}")
    if bound_user:
        return MemoryOwner(bound_user, agent, run)
    if (scope := resolve_scope(user, agent, run)) is not None:
        return MemoryOwner(scope.user, scope.agent, scope.run)
    raise RequestRefused(
        400, "At least one identifier (user_id, agent_id, run_id) is required.", "invalid_input"
    )


def mem0_identifiers(user: str, session: str) -> dict[IdentifierField, str | None]:
    """The inverse of `resolve_owner`: the identifiers of a memory for mem0's clients."""
    agent, session_run = _parse_session(session)
    run = session_run if session_run not in ("", DEFAULT_NAME) else None
    if user.startswith(AGENT_PREFIX):
        return {"user_id": None, "agent_id": user.removeprefix(AGENT_PREFIX), "run_id": run}
    if user.startswith(RUN_PREFIX):
        return {"user_id": None, "agent_id": None, "run_id": user.removeprefix(RUN_PREFIX)}
    return {"user_id": user, "agent_id": agent or None, "run_id": run}


def _parse_session(session: str) -> tuple[str, str]:
    """The agent and run that a session name contains."""
    match = _AGENT_SESSION.fullmatch(session)
    return (match["agent"], match["run"] or "") if match else ("", session)


def list_memories(memory: Memory, owner: MemoryOwner, limit: int) -> list[Item]:
    """The newest memories, in order: current thoughts, and raw turns that no thought was drawn from."""
    turns = {turn.id: turn for turn in memory.turns()}
    thoughts = memory.thoughts(current=False)
    source_ids = {source.turn for thought in thoughts for source in thought.sources}
    found: list[Thought | Turn] = [
        thought
        for thought in thoughts
        if thought.current and _belongs_to(thought, turns, owner) and withheld_reason(thought) is None
    ]
    found += [
        turn
        for turn in turns.values()
        if turn.id not in source_ids
        and (turn.key or "").startswith(_MEMORY_KEY_PREFIXES)
        and owner.includes_session(turn.session)
        and withheld_reason(turn) is None
    ]
    found.sort(key=lambda value: (value.last_turn if isinstance(value, Thought) else value.id, value.id))
    metadata = _load_metadata(memory, found[-limit:])
    return [make_item(memory, value, turns, metadata) for value in found[-limit:]]


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """A search: whose memories, for which query, and which of them. `conditions` are those of `filters`."""

    owner: MemoryOwner
    query: str
    limit: int
    threshold: float = 0.0
    conditions: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_narrowed(self) -> bool:
        return self.owner.is_narrowed or bool(self.conditions)


def search_memories(memory: Memory, request: SearchRequest) -> list[FoundItem]:
    """Recall without outdated thoughts, and without raw turns that a recalled thought was drawn from.

    If only some memories are wanted, more are recalled until there are enough of them or no further ones.
    """
    k = NARROWED_RECALL_LIMIT if request.is_narrowed else request.limit
    while True:
        recollection = memory.recall(request.query, k=k)
        found = _select_found(memory, request, recollection)
        complete = not request.is_narrowed or len(recollection.items) < k or k >= MAX_NARROWED_RECALL
        if complete or len(found) >= request.limit:
            return found[: request.limit]
        k = min(4 * k, MAX_NARROWED_RECALL)


def _select_found(memory: Memory, request: SearchRequest, recollection: Recollection) -> list[FoundItem]:
    owner, threshold = request.owner, request.threshold
    current = [item for item in recollection if item.outdated is None and item.score.total >= threshold]
    covered = {source.turn for item in current if item.thought for source in item.thought.sources}
    candidates = [item for item in current if item.thought or item.ref.id not in covered]
    turn_ids = {item.thought.last_turn if item.thought else item.ref.id for item in candidates}
    turns = _turns_by_id(memory, turn_ids)
    values = [item.thought or turns.get(item.ref.id) for item in candidates]
    metadata = _load_metadata(memory, [value for value in values if value is not None])
    found = []
    for item, value in zip(candidates, values, strict=True):
        if value is None or not _belongs_to(value, turns, owner):
            continue
        fields = make_item(memory, value, turns, metadata).model_dump()
        if filters.matches(fields["metadata"], request.conditions):
            found.append(FoundItem(**{**fields, "memory": item.text}, score=round(item.score.total, 4)))
    return found


def _load_metadata(memory: Memory, values: Iterable[Thought | Turn]) -> dict[int, dict[str, Any]]:
    """The metadata of the turns that these memories come from."""
    turns = sorted({turn for value in values for turn in _source_turns(value)})
    return memory.store.metadata(memory.user, turns) if turns else {}


def _merge_metadata(value: Thought | Turn, metadata: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    """The metadata of all turns that a memory comes from, the latest last."""
    merged: dict[str, Any] = {}
    for turn_id in _source_turns(value):
        merged |= metadata.get(turn_id, {})
    return merged


def _source_turns(value: Thought | Turn) -> list[int]:
    return sorted({source.turn for source in value.sources}) if isinstance(value, Thought) else [value.id]


def current_memory(memory: Memory, id_: str) -> Thought | Turn:
    """The current thought or turn of an id: its successor, if it was replaced or corrected."""
    value = _stored_memory(memory, id_)
    if isinstance(value, Thought) and not value.current:
        found: Sequence[Thought | Turn] = find_successors(memory, value)
    else:
        found = find_versions(memory, value)
    for successor in found:
        return successor
    raise _not_found(id_)


def _stored_memory(memory: Memory, id_: str) -> Thought | Turn:
    """The thought or turn of an id, current or not."""
    ref = identity.decode_ref(memory.user, id_, "thought", "turn")
    found: Sequence[Thought | Turn]
    if ref.kind == "turn":
        found = memory.store.turns(memory.user, ids=[ref.id])
    else:
        found = memory.store.thoughts(memory.user, ids=[ref.id], current=False)
    for value in found:
        return value
    raise _not_found(id_)


def _own_versions(memory: Memory, id_: str) -> tuple[Thought | Turn, ...]:
    """What a change or deletion of this id applies to; never a memory that has become another one."""
    versions = find_versions(memory, _stored_memory(memory, id_))
    if not versions:
        raise _not_found(id_)
    return versions


def _not_found(id_: str) -> NotFound:
    return NotFound(f"Memory with id {id_[:40]!r} not found")


def get_memory(memory: Memory, id_: str) -> Item:
    """One memory. It keeps the id that was asked for, as in mem0 after an update."""
    value = current_memory(memory, id_)
    turns = _turns_by_id(memory, {value.last_turn if isinstance(value, Thought) else value.id})
    item = make_item(memory, value, turns, _load_metadata(memory, [value]))
    return item.model_copy(update={"id": id_})


def make_item(
    memory: Memory,
    value: Thought | Turn,
    turns: Mapping[int, Turn],
    metadata: Mapping[int, Mapping[str, Any]],
) -> Item:
    """A memory as mem0's clients see it, without instructions and secrets.

    Its metadata is that of all turns it comes from, the latest last, and its kind.
    """
    safe = redact_memory(value)
    text = safe.sentence if isinstance(safe, Thought) else safe.text
    turn = turns.get(value.last_turn) if isinstance(value, Thought) else value
    kind = value.kind if isinstance(value, Thought) else "turn"
    return Item(
        id=identity.encode_id(memory.user, value.ref),
        memory=text,
        hash=hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(),
        metadata={**_merge_metadata(value, metadata), "kind": kind},
        created_at=value.recorded_at,
        updated_at=None,
        **mem0_identifiers(memory.user, turn.session if turn else ""),
    )


def memory_history(memory: Memory, id_: str) -> list[HistoryEntry]:
    """All actions on a memory, oldest first; of a raw turn, only that it was added."""
    ref = identity.decode_ref(memory.user, id_, "thought", "turn")
    if ref.kind == "turn":
        turn = current_memory(memory, id_)
        return [
            HistoryEntry(
                id=str(turn.ref),
                memory_id=id_,
                old_memory=None,
                new_memory=make_item(memory, turn, {}, {}).memory,
                event="ADD",
                created_at=turn.recorded_at,
                is_deleted=False,
                actor_id="user",
                reason="it was said",
            )
        ]
    journal = [
        action
        for action in memory.journal(thought=ref.id)
        if any(thought.id == ref.id for thought in action.changed)
    ]
    if not journal:
        raise NotFound(f"Memory with id {id_[:40]!r} not found")
    entries = [_action_entry(id_, action, ref.id) for action in journal]
    if entries[-1].event == "DELETE" and (successor_text := _successor_text(memory, ref.id)):
        # mem0 reports a correction as an update.
        changes = {"event": "UPDATE", "new_memory": successor_text, "is_deleted": False}
        entries[-1] = entries[-1].model_copy(update=changes)
    return entries


def _successor_text(memory: Memory, thought_id: int) -> str:
    """The text of the memories that replaced a thought; empty if there are none."""
    thoughts = memory.store.thoughts(memory.user, ids=[thought_id], current=False)
    successors = [successor for thought in thoughts for successor in find_successors(memory, thought)]
    return " ".join(make_item(memory, successor, {}, {}).memory for successor in successors)


def _action_entry(id_: str, action: Action, thought_id: int) -> HistoryEntry:
    before = {thought.id: thought for thought in action.before}
    (changed,) = [thought for thought in action.changed if thought.id == thought_id]
    others = [thought for thought in action.changed if thought.id != thought_id]
    if changed.current:
        replaced = [thought for thought in others if not thought.current and before[thought.id].current]
        old = " ".join(redact_memory(thought).sentence for thought in replaced)
        event: Event = "UPDATE" if old else "ADD"
        new: str | None = redact_memory(changed).sentence
    else:
        old = redact_memory(changed).sentence
        new = " ".join(redact_memory(thought).sentence for thought in others if thought.current) or None
        event = "UPDATE" if new else "DELETE"
    return HistoryEntry(
        id=str(action.ref),
        memory_id=id_,
        old_memory=old or None,
        new_memory=new,
        event=event,
        created_at=action.at,
        is_deleted=event == "DELETE",
        actor_id=action.actor,
        reason=action.reason,
    )


def _belongs_to(value: Thought | Turn, turns: Mapping[int, Turn], owner: MemoryOwner) -> bool:
    """Whether a memory belongs to the owner; a thought belongs to all sessions in which it was said."""
    if not owner.is_narrowed:
        return True
    turn_ids = [source.turn for source in value.sources] if isinstance(value, Thought) else [value.id]
    return any(id_ in turns and owner.includes_session(turns[id_].session) for id_ in turn_ids)


def _turns_by_id(memory: Memory, turn_ids: Iterable[int]) -> dict[int, Turn]:
    wanted = sorted(turn_ids)
    return {turn.id: turn for turn in memory.store.turns(memory.user, ids=wanted)} if wanted else {}


def remember(
    memory: Memory,
    messages: Messages,
    session: str,
    at: datetime | None,
    *,
    raw: bool,
    metadata: Mapping[str, Any] | None = None,
) -> list[Turn]:
    """Store messages as turns; with `raw`, each turn is itself listed as a memory."""
    _check_metadata(metadata)
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    key = f"{RAW_KEY_PREFIX}{uuid.uuid4()}" if raw else None
    turns = memory.remember_messages(messages, at=at, session=session, key=key)
    if metadata:
        memory.store.set_metadata(memory.user, [turn.id for turn in turns], metadata)
    return turns


def _check_metadata(metadata: Mapping[str, Any] | None) -> None:
    if metadata:
        try:
            size = len(json.dumps(metadata, ensure_ascii=False).encode())
        except UnicodeEncodeError as error:
            raise InvalidInput("metadata contains text that is not valid Unicode") from error
        if size > MAX_METADATA_BYTES:
            raise InvalidInput(f"metadata has {size:,} bytes, more than the limit of {MAX_METADATA_BYTES:,}")


def parse_timestamp(timestamp: int | None) -> datetime | None:
    try:
        return None if timestamp is None else datetime.fromtimestamp(timestamp, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise InvalidInput(f"timestamp {timestamp} is not a valid time in Unix seconds") from error


def added_turns(memory: Memory, turns: Sequence[Turn]) -> list[Added]:
    return [
        Added(id=identity.encode_id(memory.user, turn.ref), memory=redact_memory(turn).text, event="ADD")
        for turn in turns
    ]


def added_thoughts(memory: Memory, outcomes: Sequence[ThinkOutcome]) -> list[Added]:
    """The changes of thinking in mem0's words: added, updated (superseded or merged), deleted."""
    return [
        added
        for outcome in outcomes
        for action in outcome.actions
        for added in _action_events(memory, action)
    ]


def _action_events(memory: Memory, action: Action) -> list[Added]:
    new = [thought for thought in action.changed if thought.current]
    old = [thought for thought in action.changed if not thought.current]
    previous = " ".join(redact_memory(thought).sentence for thought in old) or None
    if new:
        event: Event = "UPDATE" if previous else "ADD"
        return [_added(memory, thought, event, previous) for thought in new if thought.search_text]
    return [_added(memory, thought, "DELETE") for thought in old]


def _added(memory: Memory, thought: Thought, event: Event, previous: str | None = None) -> Added:
    return Added(
        id=identity.encode_id(memory.user, thought.ref),
        memory=redact_memory(thought).sentence,
        event=event,
        previous_memory=previous,
    )


def correct(memory: Memory, id_: str, text: str, metadata: Mapping[str, Any] | None = None) -> Turn:
    """Replace a memory by a new text: a thought is retired, a raw turn is hidden; the journal can undo it.

    Without `metadata`, the memory keeps what it has.
    """
    if not text.strip():
        raise InvalidInput("give the new text of the memory in `text`")
    _check_metadata(metadata)
    first, *others = _own_versions(memory, id_)
    if metadata is None:
        metadata = _merge_metadata(first, _load_metadata(memory, [first]))
    if isinstance(first, Thought):
        turn = memory.correct(first, text, "updated by a client")
        if metadata:
            memory.store.set_metadata(memory.user, [turn.id], metadata)
    else:
        (turn,) = remember(memory, text, first.session, None, raw=True, metadata=metadata)
        memory.forget(first, f"{CORRECTED_IN_PREFIX}{turn.ref}: updated by a client")
    for value in others:
        memory.forget(value, f"{CORRECTED_IN_PREFIX}{turn.ref}: updated by a client")
    return turn


def delete(memory: Memory, id_: str) -> None:
    """Forget a thought (the journal can undo it), or erase a raw turn with its earlier versions.

    A correction that only repeats what was known is taken back: what was known stays.
    """
    for value in _own_versions(memory, id_):
        if isinstance(value, Thought) or not (value.key or "").startswith(_MEMORY_KEY_PREFIXES):
            memory.forget(value, "deleted by a client")
            continue
        for turn in (value, *find_corrected_turns(memory, value)):
            memory.erase(turn=turn)


def delete_all(memory: Memory, owner: MemoryOwner) -> None:
    """Erase a user, or only the sessions of an agent or run; does nothing if there are none."""
    try:
        if not owner.is_narrowed:
            memory.erase(user=memory.user)
            return
        for session in memory.store.sessions(memory.user):
            if owner.includes_session(session):
                memory.erase(session=session)
    except NotFound:
        return
