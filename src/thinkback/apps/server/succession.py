"""What took the place of a memory that is held true no more: followed through the journal."""

from __future__ import annotations

from thinkback.errors import InvalidInput
from thinkback.memory import Memory
from thinkback.recall.fate import Fates
from thinkback.text.refs import parse_ref
from thinkback.types import CORRECTED_IN, Action, Thought, Turn


def successors(memory: Memory, thought: Thought) -> tuple[Thought | Turn, ...]:
    """The current thoughts in its place; the turn that corrected it, where no thought was made of that."""
    store, user = memory.store, memory.user
    fates = Fates(lambda id_: store.journal(user, thought=id_))
    found: dict[int, Thought | Turn] = {}
    seen: set[int] = set()
    to_follow = [] if thought.current else [thought]
    while to_follow:
        old = to_follow.pop()
        if old.id in seen:
            continue
        seen.add(old.id)
        if (heir := fates(old).heir) is not None:
            to_follow += () if heir.current else (heir,)
            if heir.current:
                found[heir.id] = heir
        elif correction := _corrected_in(store.journal(user, thought=old.id), old.id):
            made = [each for action in store.journal(user, turn=correction) for each in action.changed]
            new = store.thoughts(user, ids=[each.id for each in made], current=False) if made else []
            later = [each for each in new if each.id > old.id]
            found |= {each.id: each for each in later if each.current}
            to_follow += [each for each in later if not each.current]
            if not later:
                found |= {-turn.id: turn for turn in store.turns(user, ids=[correction])}
    return tuple(found.values())


def _corrected_in(actions: list[Action], thought: int) -> int | None:
    """The turn for which a thought was retired, if its last change was that."""
    changed = [action for action in actions if any(each.id == thought for each in action.changed)]
    reason = changed[-1].reason if changed else ""
    if not reason.startswith(CORRECTED_IN):
        return None
    try:
        return parse_ref(reason.removeprefix(CORRECTED_IN).partition(": ")[0], "turn").id
    except InvalidInput:
        return None
