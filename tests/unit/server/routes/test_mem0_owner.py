"""mem0's identifiers: where they lead, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.errors import InvalidInput
from thinkback.server.errors import RequestRefused
from thinkback.server.routes.mem0.operations import MemoryOwner, mem0_identifiers, resolve_owner

NAMES = st.text("abcäß-_0", min_size=1, max_size=8)
MAYBE = st.none() | NAMES


@given(MAYBE, MAYBE, MAYBE)
def test_what_is_kept_for_identifiers_is_told_with_them(
    user: str | None, agent: str | None, run: str | None
) -> None:
    if not (user or agent or run):
        with pytest.raises(RequestRefused):
            resolve_owner(user, agent, run)
        return
    about = resolve_owner(user, agent, run)
    assert about.includes_session(about.session)
    assert mem0_identifiers(about.user, about.session) == {"user_id": user, "agent_id": agent, "run_id": run}


@given(NAMES, NAMES, NAMES)
def test_fewer_identifiers_hold_more(user: str, agent: str, run: str) -> None:
    session = resolve_owner(user, agent, run).session
    assert resolve_owner(user, None, None).includes_session(session)
    assert resolve_owner(user, agent, None).includes_session(session)
    assert resolve_owner(user, None, run).includes_session(session)
    assert not resolve_owner(user, agent + "x", run).includes_session(session)
    assert not resolve_owner(user, agent, run + "x").includes_session(session)


def test_a_credential_speaks_for_its_own_user() -> None:
    assert resolve_owner(None, None, None, "ann") == MemoryOwner("ann")
    assert resolve_owner("ann", None, "r", "ann") == MemoryOwner("ann", "", "r")
    with pytest.raises(RequestRefused):
        resolve_owner("bob", None, None, "ann")


@pytest.mark.parametrize(
    "given_", [("agent:x", None, None), ("ann", "two words", None), ("a", None, "agent:b")]
)
def test_names_that_mean_something_else_are_refused(
    given_: tuple[str | None, str | None, str | None],
) -> None:
    with pytest.raises(InvalidInput):
        resolve_owner(*given_)


def test_a_credential_is_no_way_around_that() -> None:
    with pytest.raises(InvalidInput):
        resolve_owner(None, "two words", None, "ann")
