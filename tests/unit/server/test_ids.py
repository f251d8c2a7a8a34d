"""Opaque ids: one per object and user."""

from __future__ import annotations

from typing import Any
from unicodedata import is_normalized

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.errors import NotFound
from thinkback.server import identity
from thinkback.types import Ref

USERS = st.text(
    st.characters(exclude_categories=["C", "Z"], exclude_characters="\ufffd"), min_size=1, max_size=256
).filter(lambda name: is_normalized("NFC", name))
REFS = st.builds(Ref, st.sampled_from(["turn", "thought", "action"]), st.integers(1, (1 << 63) - 1))


@given(USERS, REFS)
def test_id_round_trip(user: str, ref: Ref) -> None:
    id_ = identity.encode_id(user, ref)
    assert identity.decode_id(id_) == (user, ref)
    assert id_.isascii()
    assert not set(id_) & set("/+=?#% ")


@given(USERS, REFS, USERS, REFS)
def test_ids_are_unique(user: str, ref: Ref, other: str, another: Ref) -> None:
    same = (user, ref) == (other, another)
    assert (identity.encode_id(user, ref) == identity.encode_id(other, another)) == same


@given(st.text(max_size=60))
def test_invalid_id_is_not_found(text: str) -> None:
    try:
        found = identity.decode_id(text)
    except NotFound:
        return
    assert identity.encode_id(*found) == text


@pytest.mark.parametrize("change", [lambda id_: id_ + "=", lambda id_: id_ + "A", lambda id_: " " + id_])
def test_changed_id_is_not_found(change: Any) -> None:
    with pytest.raises(NotFound):
        identity.decode_id(change(identity.encode_id("ann", Ref("thought", 7))))


def test_decode_ref_checks_user_and_kind() -> None:
    id_ = identity.encode_id("ann", Ref("thought", 7))
    assert identity.decode_ref("ann", id_, "thought", "turn") == Ref("thought", 7)
    with pytest.raises(NotFound):
        identity.decode_ref("bob", id_, "thought")
    with pytest.raises(NotFound):
        identity.decode_ref("ann", id_, "action")
