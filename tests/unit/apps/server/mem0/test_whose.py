"""mem0's identifiers: where they lead, and back."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.apps.server.faults import Refused
from thinkback.apps.server.mem0.whose import Whose, identifiers, whose
from thinkback.errors import InvalidInput

NAMES = st.text("abcäß-_0", min_size=1, max_size=8)
MAYBE = st.none() | NAMES


@given(MAYBE, MAYBE, MAYBE)
def test_what_is_kept_for_identifiers_is_told_with_them(
    user: str | None, agent: str | None, run: str | None
) -> None:
    if not (user or agent or run):
        with pytest.raises(Refused):
            whose(user, agent, run)
        return
    about = whose(user, agent, run)
    assert about.holds(about.session)
    assert identifiers(about.user, about.session) == {"user_id": user, "agent_id": agent, "run_id": run}


@given(NAMES, NAMES, NAMES)
def test_fewer_identifiers_hold_more(user: str, agent: str, run: str) -> None:
    session = whose(user, agent, run).session
    assert whose(user, None, None).holds(session)
    assert whose(user, agent, None).holds(session)
    assert whose(user, None, run).holds(session)
    assert not whose(user, agent + "x", run).holds(session)
    assert not whose(user, agent, run + "x").holds(session)


def test_a_credential_speaks_for_its_own_user() -> None:
    assert whose(None, None, None, "ann") == Whose("ann")
    assert whose("ann", None, "r", "ann") == Whose("ann", "", "r")
    with pytest.raises(Refused):
        whose("bob", None, None, "ann")


@pytest.mark.parametrize(
    "given_", [("agent:x", None, None), ("ann", "two words", None), ("a", None, "agent:b")]
)
def test_names_that_mean_something_else_are_refused(
    given_: tuple[str | None, str | None, str | None],
) -> None:
    with pytest.raises(InvalidInput):
        whose(*given_)


def test_a_credential_is_no_way_around_that() -> None:
    with pytest.raises(InvalidInput):
        whose(None, "two words", None, "ann")
