"""Ids for clients: each names one thing of one user, and nothing else is one."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.errors import NotFound
from thinkback.server import ids
from thinkback.types import Ref

USERS = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=256)
REFS = st.builds(Ref, st.sampled_from(["turn", "thought", "action"]), st.integers(1, (1 << 63) - 1))


@given(USERS, REFS)
def test_an_id_names_what_it_was_made_for(user: str, ref: Ref) -> None:
    id_ = ids.encode_id(user, ref)
    assert ids.decode_id(id_) == (user, ref)
    assert id_.isascii()
    assert not set(id_) & set("/+=?#% ")


@given(USERS, REFS, USERS, REFS)
def test_different_things_have_different_ids(user: str, ref: Ref, other: str, another: Ref) -> None:
    same = (user, ref) == (other, another)
    assert (ids.encode_id(user, ref) == ids.encode_id(other, another)) == same


@given(st.text(max_size=60))
def test_any_text_is_an_id_or_not_found(text: str) -> None:
    try:
        found = ids.decode_id(text)
    except NotFound:
        return
    assert ids.encode_id(*found) == text


@pytest.mark.parametrize("change", [lambda id_: id_ + "=", lambda id_: id_ + "A", lambda id_: " " + id_])
def test_a_changed_id_is_not_found(change: Any) -> None:
    with pytest.raises(NotFound):
        ids.decode_id(change(ids.encode_id("ann", Ref("thought", 7))))


def test_an_id_is_of_one_user_and_one_kind() -> None:
    id_ = ids.encode_id("ann", Ref("thought", 7))
    assert ids.decode_ref("ann", id_, "thought", "turn") == Ref("thought", 7)
    with pytest.raises(NotFound):
        ids.decode_ref("bob", id_, "thought")
    with pytest.raises(NotFound):
        ids.decode_ref("ann", id_, "action")
