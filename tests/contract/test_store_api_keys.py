"""Store contract: API keys, and erasure of a tenant with its keys."""

from __future__ import annotations

from typing import Any

import pytest
from tests.factories import NOW, add_thought, append_turns, index_all, minute

from thinkback.errors import Conflict, NotFound
from thinkback.protocols import Store
from thinkback.types import ApiKey


def key(id_: str, tenant: str = "acme", **more: Any) -> ApiKey:
    chosen: dict[str, Any] = {"scopes": frozenset({"read"}), "digest": id_.encode() * 4, **more}
    return ApiKey(id=id_, tenant=tenant, created_at=NOW, **chosen)


def test_key_round_trip(store: Store) -> None:
    full = key(
        "one",
        scopes=frozenset({"read", "write", "admin"}),
        digest=bytes(range(32)),
        label="Ann's laptop 💻",
        user="ann",
        expires_at=minute(60),
        revoked_at=minute(5),
    )
    store.add_key(full)
    store.add_key(key("two"))
    assert store.key("one") == full
    assert store.key("two") == key("two")
    assert store.key("three") is None
    assert store.for_tenant("umbra").key("one") == full  # keys are looked up before the tenant is known


def test_keys_are_listed_in_order_of_creation(store: Store) -> None:
    made = [key("z"), key("a", "umbra"), key("m"), key("b", "")]
    for each in made:
        store.add_key(each)
    assert store.keys() == made
    assert store.keys("acme") == [made[0], made[2]]
    assert store.keys("") == [made[3]]
    assert store.keys("nobody") == []


def test_duplicate_key_id_is_rejected(store: Store) -> None:
    store.add_key(key("one"))
    with pytest.raises(Conflict, match="'one'"):
        store.add_key(key("one", "umbra"))
    assert store.keys() == [key("one")]


def test_revoking_twice_keeps_the_first_time(store: Store) -> None:
    store.add_key(key("one"))
    store.add_key(key("two"))
    assert store.revoke_key("one", minute(1)).revoked_at == minute(1)
    assert store.revoke_key("one", minute(2)) == key("one", revoked_at=minute(1))
    kept = store.keys()
    assert [each.revoked_at for each in kept] == [minute(1), None]
    with pytest.raises(NotFound, match="'three'"):
        store.revoke_key("three", NOW)


def test_erase_tenant_leaves_other_tenants(store: Store) -> None:
    acme, umbra = store.for_tenant("acme"), store.for_tenant("umbra")
    for handle in (store, acme, umbra):
        add_thought(handle, "ann", f"told to {handle.tenant!r}")
        index_all(handle, "ann")
        store.add_key(key(f"key of {handle.tenant}", handle.tenant))
    append_turns(acme, "bob", "a", "b")
    erased = store.erase_tenant("acme", NOW)
    assert (erased.turns, erased.thoughts, erased.actions) == (3, 1, 1)
    assert acme.users() == []
    assert store.spaces() == [("", "ann"), ("umbra", "ann")]
    left = store.keys()
    assert [each.tenant for each in left] == ["", "umbra"]
    assert [len(handle.thoughts("ann")) for handle in (store, acme, umbra)] == [1, 0, 1]
    assert store.check() == []
    with pytest.raises(NotFound, match="tenant 'acme'"):
        store.erase_tenant("acme", NOW)


def test_a_tenant_that_has_only_keys_can_be_erased(store: Store) -> None:
    store.add_key(key("one"))
    assert store.erase_tenant("acme", NOW).turns == 0
    assert store.keys() == []
