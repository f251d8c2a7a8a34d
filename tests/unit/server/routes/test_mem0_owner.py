"""mem0's identifiers and their inverse."""

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
def test_identifiers_round_trip(user: str | None, agent: str | None, run: str | None) -> None:
    if not (user or agent or run):
        with pytest.raises(RequestRefused):
            resolve_owner(user, agent, run)
        return
    about = resolve_owner(user, agent, run)
    assert about.includes_session(about.session)
    assert mem0_identifiers(about.user, about.session) == {"user_id": user, "agent_id": agent, "run_id": run}


@given(NAMES, NAMES, NAMES)
def test_fewer_identifiers_include_more_sessions(user: str, agent: str, run: str) -> None:
    session = resolve_owner(user, agent, run).session
    assert resolve_owner(user, None, None).includes_session(session)
    assert resolve_owner(user, agent, None).includes_session(session)
    assert resolve_owner(user, None, run).includes_session(session)
    assert not resolve_owner(user, agent + "x", run).includes_session(session)
    assert not resolve_owner(user, agent, run + "x").includes_session(session)


def test_bound_user_cannot_name_another() -> None:
    assert resolve_owner(None, None, None, "ann") == MemoryOwner("ann")
    assert resolve_owner("ann", None, "r", "ann") == MemoryOwner("ann", "", "r")
    with pytest.raises(RequestRefused):
        resolve_owner("bob", None, None, "ann")


@pytest.mark.parametrize(
    "given_", [("agent:x", None, None), ("ann", "two words", None), ("a", None, "agent:b")]
)
def test_reserved_names_are_refused(
    given_: tuple[str | None, str | None, str | None],
) -> None:
    with pytest.raises(InvalidInput):
        resolve_owner(*given_)


def test_reserved_names_are_refused_for_bound_users() -> None:
    with pytest.raises(InvalidInput):
        resolve_owner(None, "two words", None, "ann")
