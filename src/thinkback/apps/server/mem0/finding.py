"""Looking at memories as mem0 shows them: listed, searched for, one by its id, and its history."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime

from thinkback.apps.server import ids
from thinkback.apps.server.mem0.forms import Event, FoundItem, Item, Past
from thinkback.apps.server.mem0.whose import Whose, identifiers
from thinkback.apps.server.succession import successors
from thinkback.errors import NotFound
from thinkback.mem0 import KEY
from thinkback.memory import Memory
from thinkback.text.safety.quarantine import redacted, withheld
from thinkback.types import Action, Ref, Thought, Turn

RAW = "raw:"
_MEMORIES = (RAW, KEY)  # how the keys of turns begin that were added as memories themselves
WIDE = 100  # so many are recalled where only some sessions are meant


def listed(memory: Memory, whose: Whose, limit: int) -> list[Item]:
    """The newest memories, oldest of them first: what is held true, and raw ones nothing was drawn from."""
    turns = {turn.id: turn for turn in memory.turns()}
    thoughts = memory.thoughts(current=False)
    drawn = {source.turn for thought in thoughts for source in thought.sources}
    found: list[Thought | Turn] = [
        each for each in thoughts if each.current and _meant(each, turns, whose) and withheld(each) is None
    ]
    found += [
        turn
        for turn in turns.values()
        if turn.id not in drawn
        and (turn.key or "").startswith(_MEMORIES)
        and whose.holds(turn.session)
        and withheld(turn) is None
    ]
    found.sort(key=lambda each: (each.last_turn if isinstance(each, Thought) else each.id, each.id))
    return [item(memory, each, turns) for each in found[-limit:]]


def searched(memory: Memory, whose: Whose, query: str, limit: int, threshold: float) -> list[FoundItem]:
    """What matters now: nothing that is past, and no raw turn that a memory before it was drawn from."""
    recalled = memory.recall(query, k=WIDE if whose.narrowed else limit)
    held = [each for each in recalled if each.past is None and each.score.total >= threshold]
    told = {source.turn for each in held if each.thought for source in each.thought.sources}
    kept = [each for each in held if each.thought or each.ref.id not in told]
    numbers = {each.thought.last_turn if each.thought else each.ref.id for each in kept}
    turns = _turns(memory, numbers)
    found = []
    for each in kept:
        value = each.thought or turns.get(each.ref.id)
        if value is not None and _meant(value, turns, whose):
            shown = item(memory, value, turns).model_dump()
            found.append(FoundItem(**{**shown, "memory": each.text}, score=round(each.score.total, 4)))
    return found[:limit]


def the_memory(memory: Memory, id_: str) -> Thought | Turn:
    """What is held true under an id: what took its place, if it was replaced or corrected."""
    ref = ids.within(memory.user, id_, "thought", "turn")
    if ref.kind == "turn":
        for turn in memory.store.turns(memory.user, ids=[ref.id]):
            return turn
    for thought in memory.store.thoughts(memory.user, ids=[ref.id], current=False):
        if thought.current:
            return thought
        for heir in successors(memory, thought):
            return heir
    raise NotFound(f"Memory with id {id_[:40]!r} not found")


def got(memory: Memory, id_: str) -> Item:
    """One memory; it answers by the id it was asked for, as mem0's does after an update."""
    value = the_memory(memory, id_)
    turns = _turns(memory, {value.last_turn if isinstance(value, Thought) else value.id})
    return item(memory, value, turns).model_copy(update={"id": id_})


def item(memory: Memory, value: Thought | Turn, turns: Mapping[int, Turn]) -> Item:
    """One memory as it may be shown: without orders and secrets."""
    safe = redacted(value)
    text = safe.sentence if isinstance(safe, Thought) else safe.text
    said = turns.get(value.last_turn) if isinstance(value, Thought) else value
    kind = value.kind if isinstance(value, Thought) else "turn"
    return Item(
        id=ids.named(memory.user, value.ref),
        memory=text,
        hash=hashlib.md5(text.encode(), usedforsecurity=False).hexdigest(),
        metadata={"kind": kind},
        created_at=value.recorded_at,
        updated_at=None,
        **identifiers(memory.user, said.session if said else ""),
    )


def history(memory: Memory, id_: str) -> list[Past]:
    """Every action that made, changed or ended a memory, oldest first; of raw words, that they were said."""
    ref = ids.within(memory.user, id_, "thought", "turn")
    if ref.kind == "turn":
        said = the_memory(memory, id_)
        text = item(memory, said, {}).memory
        return [_past(id_, said.ref, "ADD", None, text, said.recorded_at, "user", "it was said")]
    journal = [
        action
        for action in memory.journal(thought=ref.id)
        if any(each.id == ref.id for each in action.changed)
    ]
    if not journal:
        raise NotFound(f"Memory with id {id_[:40]!r} not found")
    lines = [_line(id_, action, ref.id) for action in journal]
    if lines[-1].event == "DELETE" and (heirs := _heirs(memory, ref.id)):  # a correction, told as mem0 does
        last = {"event": "UPDATE", "new_memory": heirs, "is_deleted": False}
        lines[-1] = lines[-1].model_copy(update=last)
    return lines


def _heirs(memory: Memory, number: int) -> str:
    """The words of what took a thought's place, if anything did."""
    found = memory.store.thoughts(memory.user, ids=[number], current=False)
    heirs = [heir for thought in found for heir in successors(memory, thought)]
    return " ".join(item(memory, heir, {}).memory for heir in heirs)


def _line(id_: str, action: Action, number: int) -> Past:
    before = {each.id: each for each in action.before}
    (mine,) = [each for each in action.changed if each.id == number]
    others = [each for each in action.changed if each.id != number]
    if mine.current:
        replaced = [each for each in others if not each.current and before[each.id].current]
        old = " ".join(redacted(each).sentence for each in replaced)
        event: Event = "UPDATE" if old else "ADD"
        new: str | None = redacted(mine).sentence
    else:
        old = redacted(mine).sentence
        new = " ".join(redacted(each).sentence for each in others if each.current) or None
        event = "UPDATE" if new else "DELETE"
    return _past(id_, action.ref, event, old or None, new, action.at, action.actor, action.reason)


def _past(
    id_: str, ref: Ref, event: Event, old: str | None, new: str | None, at: datetime, actor: str, reason: str
) -> Past:
    return Past(
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


def _meant(value: Thought | Turn, turns: Mapping[int, Turn], whose: Whose) -> bool:
    """Whether a memory is of one of the sessions meant: a thought is of those it was said in."""
    if not whose.narrowed:
        return True
    numbers = [source.turn for source in value.sources] if isinstance(value, Thought) else [value.id]
    return any(number in turns and whose.holds(turns[number].session) for number in numbers)


def _turns(memory: Memory, numbers: Iterable[int]) -> dict[int, Turn]:
    wanted = sorted(numbers)
    return {turn.id: turn for turn in memory.store.turns(memory.user, ids=wanted)} if wanted else {}
