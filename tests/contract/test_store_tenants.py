"""Store contract: isolation of tenants."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.contract.conftest import NewStore
from tests.contract.test_store_properties import laws, open_adopted, seen, take
from tests.factories import (
    DIM,
    NOW,
    add_thought,
    append_turns,
    entries_for_plan,
    index_all,
    index_entry,
    insert_operation,
    minute,
    new_turn,
    sentences,
    thought_draft,
)

from thinkback.errors import NotFound
from thinkback.protocols import Store
from thinkback.types import Hashing, Plan, Summary, SummaryUpdate, VersionStamp

TENANTS = ("", "acme", "Acme", "umbra")
LEASE = 60


def fill(store: Store) -> None:
    """Create a space `ann` with some of everything."""
    add_thought(store, "ann", "ann keeps a canary")
    append_turns(store, "ann", "ann says more", "ann says too much", session="talk")
    (claimed,) = store.claim("ann", 1, LEASE, NOW)
    store.release("ann", claimed.turn.id, claimed.lease, reason="the model refused", retry_at=None)
    index_all(store, "ann")
    hashing = Hashing(np.ones((DIM, 2), np.float32), 1, False, 1, 2)
    assert store.regroup("ann", hashing, {}, store.stamp("ann"))
    store.record_recalls("ann", [1], NOW)
    summary = Summary(session="talk", version=1, turn=2)
    update = SummaryUpdate(session="talk", version=1, turn=2, actor="tester", at=NOW)
    store.save_summary("ann", summary, update, Summary(session="talk"))


def whole(store: Store, space: str = "ann") -> tuple[object, ...]:
    """Everything that can be read from a space."""
    return (
        *seen(store, space),
        store.users(),
        store.sessions(space),
        store.subject_names(space),
        store.recall_counts(space, [1]),
        store.failures(space),
        store.pending(space),
        store.pending(None),
        store.summaries(space),
        store.summaries_behind(space),
        store.summary(space, "talk"),
        store.summary_updates(space, "talk"),
        store.unindexed(space, 9).items,
        store.turns(space, ids=[1, 2]),
        store.thoughts(space, ids=[1]),
    )


def no_such(call: Callable[[Store], object]) -> Callable[[Store], object]:
    """A call that must raise NotFound."""

    def expect(store: Store) -> object:
        with pytest.raises(NotFound):
            call(store)
        return None

    return expect


PLAN = Plan(turn=3, lease="", actor="tester", operations=(insert_operation(thought_draft("mine now", 3)),))
HASHING = Hashing(np.zeros((DIM, 2), np.float32), 1, False, 1, 2)

# Every method that takes a space, called by another tenant, and the expected result.
AS_OTHER_TENANT: dict[str, tuple[Callable[[Store], object], object]] = {
    "turns": (lambda s: s.turns("ann") + s.turns("ann", ids=[1]) + s.turns("ann", session="talk"), []),
    "sessions": (lambda s: s.sessions("ann"), []),
    "claim": (lambda s: s.claim("ann", 9, LEASE, minute(99)) + s.claim(None, 9, LEASE, minute(99)), []),
    "apply": (no_such(lambda s: s.apply("ann", PLAN, entries_for_plan(PLAN), NOW)), None),
    "release": (no_such(lambda s: s.release("ann", 3, "", reason="so", retry_at=None)), None),
    "pending": (lambda s: (s.pending("ann"), s.pending(None)), (0, 0)),
    "failures": (lambda s: s.failures("ann"), []),
    "retry_failures": (no_such(lambda s: s.retry_failures("ann")), None),
    "users": (lambda s: s.users(), []),
    "thoughts": (
        lambda s: [
            *s.thoughts("ann", current=False),
            *s.thoughts("ann", ids=[1]),
            *s.thoughts("ann", subject="user"),
            *s.thoughts("ann", group=0),
        ],
        [],
    ),
    "subject_names": (lambda s: s.subject_names("ann"), []),
    "forgotten_sources": (lambda s: s.forgotten_sources("ann", [1]), []),
    "entities": (lambda s: s.entities("ann"), []),
    "record_recalls": (no_such(lambda s: s.record_recalls("ann", [1], NOW)), None),
    "recall_counts": (lambda s: s.recall_counts("ann", [1]), {}),
    "journal": (lambda s: s.journal("ann") + s.journal("ann", ids=[1]) + s.journal("ann", thought=1), []),
    "retire": (no_such(lambda s: s.retire("ann", 1, "so", "tester", NOW)), None),
    "forget": (
        no_such(lambda s: s.forget("ann", turns=[1], reason="so", actor="tester", now=NOW)),
        None,
    ),
    "undo": (no_such(lambda s: s.undo("ann", 1, "tester", NOW)), None),
    "erase": (no_such(lambda s: s.erase("ann", now=NOW)), None),
    "summary": (lambda s: s.summary("ann", "talk"), None),
    "summaries": (lambda s: s.summaries("ann"), []),
    "summaries_behind": (lambda s: s.summaries_behind("ann"), []),
    "summary_updates": (lambda s: s.summary_updates("ann", "talk"), []),
    "save_summary": (
        no_such(lambda s: s.save_summary("ann", Summary(session="talk"), None, Summary(session="talk"))),
        None,
    ),
    "metadata": (lambda s: s.metadata("ann", [1]), {}),
    "set_metadata": (no_such(lambda s: s.set_metadata("ann", [1], {"mine": "now"})), None),
    "renew": (lambda s: s.renew("ann", "lease", 8, NOW), False),
    "read_space": (no_such(lambda s: s.read_space("ann")), None),
    "unindexed": (lambda s: s.unindexed("ann", 9).items, []),
    "index": (no_such(lambda s: s.index("ann", [index_entry("turn", 1, "mine now")])), None),
    "stamp": (lambda s: s.stamp("ann"), VersionStamp()),
    "nearest": (lambda s: s.nearest("ann", "thought", np.ones(DIM, np.float32), 9, 1 << 30), None),
    "extend_search_index": (lambda s: s.extend_search_index("ann", "thought", 1 << 30), None),
    "delta": (lambda s: s.delta("ann", VersionStamp()).entries, ()),
    "hashing": (lambda s: s.hashing("ann"), None),
    "regroup": (no_such(lambda s: s.regroup("ann", HASHING, {}, VersionStamp())), None),
    "stats": (lambda s: (s.stats("ann").turns, s.stats("ann").thoughts, s.stats("ann").failed), (0, 0, 0)),
}
CREATES_OWN_SPACE = {"append", "load", "write_space"}
ALL_TENANTS = {
    "spaces",
    "pending_spaces",
    "wait_for_turns",
    "backlog",
    "erase_tenant",
    "erasures_pending",
    "finish_erasures",
    "check",
    "verify",
    "backup",
    "close",
    "for_tenant",
    "for_recall",
    "tenant",
}
ALL_TENANTS |= {"embedder", "bind_embedder", "reembed_begin", "reembed_next", "reembed_write"}
ALL_TENANTS |= {"reembed_finish", "add_key", "key", "keys", "revoke_key", "delete_key", "requires_keys"}
ALL_TENANTS |= {"require_keys", "take_requests", "lease_slots", "renew_slots"}


def test_every_store_method_is_covered_here() -> None:
    methods = {name for name in dir(Store) if not name.startswith("_")}
    assert methods == AS_OTHER_TENANT.keys() | CREATES_OWN_SPACE | ALL_TENANTS


@pytest.mark.parametrize("name", AS_OTHER_TENANT)
@pytest.mark.parametrize(
    ("owner", "other"), [("acme", "umbra"), ("", "acme"), ("acme", ""), ("acme", "Acme")]
)
def test_no_method_reaches_a_space_of_another_tenant(store: Store, name: str, owner: str, other: str) -> None:
    mine = store.for_tenant(owner)
    fill(mine)
    before = whole(mine)
    call, expected = AS_OTHER_TENANT[name]
    assert call(store.for_tenant(other)) == expected
    assert whole(mine) == before


def test_same_name_in_two_tenants(store: Store) -> None:
    for tenant in TENANTS:
        add_thought(store.for_tenant(tenant), "ann", f"told to {tenant!r}")
    for tenant in TENANTS:
        handle = store.for_tenant(tenant)
        assert handle.tenant == tenant
        assert [turn.query for turn in handle.turns("ann")] == [f"told to {tenant!r}"]
        assert sentences(handle.thoughts("ann")) == [f"told to {tenant!r}"]
        assert handle.users() == ["ann"]
    assert len({store.for_tenant(tenant).stamp("ann").epoch for tenant in TENANTS}) == len(TENANTS)


def test_turn_keys_are_separate_per_tenant(store: Store) -> None:
    acme, umbra = store.for_tenant("acme"), store.for_tenant("umbra")
    acme.append("ann", [new_turn("a", key="k")], NOW)
    (turn,) = umbra.append("ann", [new_turn("b", key="k")], NOW)
    assert (turn.id, turn.query) == (1, "b")


def test_load_with_a_name_used_by_another_tenant(store: Store) -> None:
    acme, umbra = store.for_tenant("acme"), store.for_tenant("umbra")
    fill(acme)
    before = whole(acme)
    umbra.load("ann", acme.turns("ann"), acme.journal("ann"), acme.entities("ann"))
    assert umbra.thoughts("ann") == acme.thoughts("ann")
    umbra.erase("ann", now=NOW)
    assert whole(acme) == before


@laws
@given(
    history=st.lists(
        st.tuples(
            st.sampled_from(("", "acme")),
            st.tuples(
                st.sampled_from(
                    ("insert", "insert", "supersede", "retire", "undo", "index", "regroup", "erase")
                ),
                st.sampled_from(("ann", "bob")),
                st.integers(0, 9),
                st.integers(0, 9),
            ),
        ),
        min_size=5,
        max_size=20,
    )
)
def test_tenant_behaves_as_in_its_own_database(
    new_store: NewStore, history: list[tuple[str, tuple[str, str, int, int]]]
) -> None:
    shared = open_adopted(new_store)
    alone = {tenant: open_adopted(new_store) for tenant in ("", "acme")}
    for n, (tenant, step) in enumerate(history):
        take(shared.for_tenant(tenant), step, minute(n))
        take(alone[tenant], step, minute(n))
    for tenant, own in alone.items():
        handle = shared.for_tenant(tenant)
        assert handle.users() == own.users()
        for space in ("ann", "bob"):
            assert handle.turns(space) == own.turns(space)
            assert handle.thoughts(space, current=False) == own.thoughts(space, current=False)
            assert handle.journal(space) == own.journal(space)
            assert handle.entities(space) == own.entities(space)
            assert handle.stats(space) == own.stats(space)


def test_pending_spaces_of_all_tenants(store: Store) -> None:
    acme, umbra = store.for_tenant("acme"), store.for_tenant("umbra")
    umbra.append("ann", [new_turn("first"), new_turn("more")], minute(1))
    store.append("ann", [new_turn("second")], minute(2))
    acme.append("bob", [new_turn("third")], minute(3))
    acme.append("ann", [new_turn("fourth")], minute(4))
    everybody = [("umbra", "ann"), ("", "ann"), ("acme", "bob"), ("acme", "ann")]
    assert store.pending_spaces(minute(5)) == umbra.pending_spaces(minute(5)) == everybody
    (held,) = umbra.claim(None, 1, LEASE, minute(5))
    assert store.pending_spaces(minute(5)) == everybody[1:]  # without the leased space
    assert store.pending_spaces(minute(7)) == everybody  # after the lease has expired
    umbra.release("ann", held.turn.id, held.lease, reason="later", retry_at=minute(20))
    assert store.pending_spaces(minute(19)) == everybody[1:]
    assert store.pending_spaces(minute(20)) == everybody
    (dead,) = store.claim("ann", 1, LEASE, minute(20))
    store.release("ann", dead.turn.id, dead.lease, reason="given up", retry_at=None)
    assert ("", "ann") not in store.pending_spaces(minute(30))


def test_claim_without_space_stays_within_the_tenant(store: Store) -> None:
    acme = store.for_tenant("acme")
    store.append("ann", [new_turn("older")], minute(0))
    acme.append("bob", [new_turn("a")], minute(1))
    acme.append("cleo", [new_turn("b")], minute(2))
    taken = [claimed.space for _ in range(3) for claimed in acme.claim(None, 1, LEASE, minute(3))]
    assert taken == ["bob", "cleo"]
    assert (acme.pending(None), store.pending(None)) == (2, 1)


def test_claim_by_name_stays_within_the_tenant(store: Store) -> None:
    for tenant in TENANTS:
        append_turns(store.for_tenant(tenant), "ann", f"told to {tenant!r}")
    for tenant in reversed(TENANTS):
        claimed = store.for_tenant(tenant).claim("ann", 9, LEASE, NOW)
        assert [item.turn.query for item in claimed] == [f"told to {tenant!r}"]


def test_every_space_of_every_tenant_is_listed(store: Store) -> None:
    for tenant, space in (("umbra", "ann"), ("", "zoe"), ("acme", "bob"), ("acme", "ann")):
        append_turns(store.for_tenant(tenant), space, "hello")
    assert store.for_tenant("acme").spaces() == [
        ("", "zoe"),
        ("acme", "ann"),
        ("acme", "bob"),
        ("umbra", "ann"),
    ]


def test_tenant_view_is_closed_with_the_store(store: Store) -> None:
    acme = store.for_tenant("acme")
    append_turns(acme, "ann", "a")
    acme.close()
    append_turns(acme, "ann", "b")
    assert len(store.for_tenant("acme").turns("ann")) == 2
    assert acme.for_tenant("").tenant == ""
    assert acme.for_tenant("").users() == []


def test_reembedding_converts_the_spaces_of_all_tenants(store: Store) -> None:
    for tenant in TENANTS:
        add_thought(store.for_tenant(tenant), "ann", f"told to {tenant!r}")
        index_all(store.for_tenant(tenant), "ann")
    assert store.reembed_begin("new") == 2 * len(TENANTS)
    for _ in range(len(TENANTS)):
        found = store.reembed_next("new", 3)
        new = [(place, index_entry(item.kind, item.id, f"{place} {item.text}")) for place, item in found]
        store.reembed_write("new", new)
    store.reembed_finish("new")
    for tenant in TENANTS:
        handle = store.for_tenant(tenant)
        for item in handle.delta("ann", VersionStamp()).entries:
            expected = index_entry(item.kind, item.id, f"{(tenant, 'ann')} told to {tenant!r}")
            np.testing.assert_array_equal(item.vector, expected.vector)
        add_thought(handle, "ann", "and all may write on")
