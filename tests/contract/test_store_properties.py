"""Store contract: properties that hold for random histories."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.contract.conftest import NewStore
from tests.factories import (
    DIM,
    EMBEDDER,
    append_turns,
    apply_operations,
    end_operation,
    forget_operation,
    index_all,
    insert_operation,
    merge_operation,
    minute,
    replay_journal,
    supersede_operation,
    thought_draft,
)

from thinkback.errors import Conflict
from thinkback.history import hidden_turns
from thinkback.protocols import Store
from thinkback.types import Hashing, IndexEntry, ItemKind, ValidityPeriod, VersionStamp

laws = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
KINDS = (
    "insert",
    "insert",
    "supersede",
    "merge",
    "deny",
    "end",
    "retire",
    "hide",
    "undo",
    "index",
    "regroup",
    "erase",
)
steps = st.lists(
    st.tuples(st.sampled_from(KINDS), st.sampled_from(("ann", "bob")), st.integers(0, 9), st.integers(0, 9)),
    min_size=10,
    max_size=25,
)
without_erase = steps.map(lambda found: [step for step in found if step[0] != "erase"])
Step = tuple[str, str, int, int]
NOTHING = VersionStamp()


def open_adopted(new_store: NewStore) -> Store:
    store = new_store()
    store.bind_embedder(EMBEDDER)
    return store


def take(store: Store, step: Step, now: datetime) -> None:
    """One step of a random history. Ids are taken modulo the existing ones, so most steps succeed."""
    kind, space, first, second = step
    held = [thought.id for thought in store.thoughts(space)]
    if kind in ("insert", "supersede", "merge", "deny", "end"):
        (turn,) = append_turns(store, space, f"{kind} {first} {second}")
        old = sorted({held[n % len(held)] for n in (first, second)}) if held else []
        shared = [s.turn for thought in store.thoughts(space, ids=old) for s in thought.sources]
        new = thought_draft(f"fact {first}", turn.id, subject=f"S{first}")
        merged = thought_draft(f"facts {first}", turn.id, *shared, subject=f"S{first}")
        changes = {
            "insert": insert_operation(new),
            "supersede": supersede_operation(new, *old),
            "merge": merge_operation(merged, *old),
            "deny": forget_operation(*old),
            "end": end_operation(*old),
        }
        apply_operations(store, space, changes[kind], now=now)
    elif kind == "index":
        index_all(store, space)
    elif kind == "regroup" and store.turns(space):
        matrix = np.full((DIM, 1 + first), second, dtype=np.float32)
        known = store.delta(space, VersionStamp())
        groups = {(item.kind, item.id): (item.id + second) % (first + 1) for item in known.entries}
        assert store.regroup(space, Hashing(matrix, first, second > 5, 1, 0), groups, known.stamp)
    elif kind == "erase" and (turns := store.turns(space)):
        store.erase(space, turn=turns[first % len(turns)].id, now=now)
        while store.pending(space):
            apply_operations(store, space, now=now)
    elif kind == "retire" and held:
        store.retire(space, held[first % len(held)], "so", "tester", now)
    elif kind == "hide" and (turns := store.turns(space)):
        hidden = sorted({turns[n % len(turns)].id for n in (first, second)})
        store.forget(space, turns=hidden, reason="so", actor="tester", now=now)
    elif kind == "undo" and (actions := store.journal(space)):
        with suppress(Conflict):
            store.undo(space, actions[first % len(actions)].id, "tester", now)


@laws
@given(history=steps, same_instant=st.booleans())
def test_replaying_the_journal_reproduces_the_space(
    new_store: NewStore, history: list[Step], same_instant: bool
) -> None:
    store = open_adopted(new_store)
    for n, step in enumerate(history):
        take(store, step, minute(0 if same_instant else n))
        for space in ("ann", "bob"):
            assert replay_journal(store.journal(space)) == store.thoughts(space, current=False)
            hidden = {turn.id: turn.hidden_by for turn in store.turns(space, hidden=True) if turn.hidden}
            assert hidden_turns(store.journal(space)) == hidden
    assert store.check() == []


@laws
@given(history=steps)
def test_load_of_an_export_is_equal(new_store: NewStore, history: list[Step]) -> None:
    store, other = open_adopted(new_store), open_adopted(new_store)
    for n, step in enumerate(history):
        take(store, step, minute(n))
    other.load("ann", store.turns("ann", hidden=True), store.journal("ann"), store.entities("ann"))
    assert other.turns("ann", hidden=True) == store.turns("ann", hidden=True)
    assert other.thoughts("ann", current=False) == store.thoughts("ann", current=False)
    assert other.journal("ann") == store.journal("ann")
    assert [e.name for e in other.entities("ann")] == [e.name for e in store.entities("ann")]


def seen(store: Store, space: str) -> tuple[object, ...]:
    hashing = store.hashing(space)
    delta = store.delta(space, VersionStamp())
    return (
        store.turns(space, hidden=True),
        store.thoughts(space, current=False),
        store.journal(space),
        store.entities(space),
        store.stamp(space),
        [(e.kind, e.id, e.group, e.vector.tobytes(), e.terms.tobytes()) for e in delta.entries],
        delta.periods,
        hashing and hashing.matrix.tobytes(),
        store.stats(space),
    )


@laws
@given(history=steps)
def test_spaces_are_isolated(new_store: NewStore, history: list[Step]) -> None:
    store = open_adopted(new_store)
    for n, step in enumerate(history):
        other = "bob" if step[1] == "ann" else "ann"
        before = seen(store, other)
        take(store, step, minute(n))
        assert seen(store, other) == before


@laws
@given(history=steps)
def test_space_does_not_depend_on_other_spaces(new_store: NewStore, history: list[Step]) -> None:
    both, alone = open_adopted(new_store), open_adopted(new_store)
    for n, step in enumerate(history):
        take(both, step, minute(n))
        if step[1] == "ann":
            take(alone, step, minute(n))
    assert both.thoughts("ann", current=False) == alone.thoughts("ann", current=False)
    assert both.journal("ann") == alone.journal("ann")


@dataclass
class Reader:
    """Follows a space by deltas, as the index does."""

    stamp: VersionStamp = NOTHING
    entries: dict[tuple[ItemKind, int], IndexEntry] = field(default_factory=dict)
    periods: dict[tuple[ItemKind, int], ValidityPeriod] = field(default_factory=dict)

    def catch_up(self, store: Store, space: str) -> None:
        delta = store.delta(space, self.stamp)
        if delta.stamp.epoch != self.stamp.epoch:
            self.entries.clear()
            self.periods.clear()
        self.stamp = delta.stamp
        self.entries |= {(item.kind, item.id): item for item in delta.entries}
        self.periods |= {(item.kind, item.id): item for item in delta.periods}

    def plain(self) -> tuple[object, ...]:
        entries = {key: (e.group, e.vector.tobytes(), e.terms.tobytes()) for key, e in self.entries.items()}
        return self.stamp, entries, self.periods


@laws
@given(history=steps, looks=st.lists(st.booleans(), min_size=25, max_size=25))
def test_deltas_add_up_to_a_full_read(new_store: NewStore, history: list[Step], looks: list[bool]) -> None:
    store, follower = open_adopted(new_store), Reader()
    for n, (step, look) in enumerate(zip(history, looks, strict=False)):
        take(store, step, minute(n))
        if look:
            follower.catch_up(store, "ann")
    follower.catch_up(store, "ann")
    anew = Reader()
    anew.catch_up(store, "ann")
    assert follower.plain() == anew.plain()
    known = {("turn", turn.id) for turn in store.turns("ann", hidden=True)}
    known |= {("thought", thought.id) for thought in store.thoughts("ann", current=False)}
    indexed = set(follower.entries)
    assert indexed <= known
    assert known - indexed == {(item.kind, item.id) for item in store.unindexed("ann", 999).items} - indexed


@laws
@given(history=without_erase)
def test_all_actions_can_be_undone_in_the_suggested_order(new_store: NewStore, history: list[Step]) -> None:
    store = open_adopted(new_store)
    for n, step in enumerate(history):
        take(store, step, minute(n))
    tried = 0
    while inserts := [
        action
        for action in store.journal("ann")
        if action.undone_by is None and action.undoes is None and action.after
    ]:
        wanted = [inserts[0].id]
        while wanted:
            tried += 1
            assert tried < 2000, store.journal("ann")
            try:
                store.undo("ann", wanted[-1], "tester", minute(99 + tried))
                wanted.pop()
            except Conflict as conflict:
                named = re.findall(r"undo action:(\d+) first", str(conflict))
                wanted = [*wanted, int(named[0])] if named else wanted[:-1]  # otherwise it is already undone
    assert store.thoughts("ann") == []
