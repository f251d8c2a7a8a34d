"""mem0's identifiers as ours: which user's space is meant, and which of its sessions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from thinkback.apps.server.faults import Refused, forbidden
from thinkback.mem0 import AGENT, RUN, USUAL, Place, placed

_OF_AGENT = re.compile(r"agent:(?P<agent>[^ ]+)(?: run:(?P<run>.+))?")

Field = Literal["user_id", "agent_id", "run_id"]


@dataclass(frozen=True, slots=True)
class Whose(Place):
    """Whose memories a request is about: those of the user, or of some sessions only."""

    @property
    def narrowed(self) -> bool:
        return bool(self.agent or self.run)

    def holds(self, session: str) -> bool:
        """Whether a session is one of those meant."""
        agent, run = _told(session)
        return self.agent in ("", agent) and self.run in ("", run)


def whose(user_id: str | None, agent_id: str | None, run_id: str | None, own: str = "") -> Whose:
    """Whom the identifiers mean; `own` is whom the credential or the header speaks for, if they say so."""
    user, agent, run = ((each or "").strip() for each in (user_id, agent_id, run_id))
    if own and user not in ("", own):
        raise forbidden(f"this connection speaks for the user {own!r} alone")
    if own:
        return Whose(own, agent, run)
    if (place := placed(user, agent, run)) is not None:
        return Whose(place.user, place.agent, place.run)
    raise Refused(400, "At least one identifier (user_id, agent_id, run_id) is required.", "invalid_input")


def identifiers(user: str, session: str) -> dict[Field, str | None]:
    """The other way round: what mem0's clients are told of where a memory belongs."""
    agent, told = _told(session)
    run = told if told not in ("", USUAL) else None
    if user.startswith(AGENT):
        return {"user_id": None, "agent_id": user.removeprefix(AGENT), "run_id": run}
    if user.startswith(RUN):
        return {"user_id": None, "agent_id": None, "run_id": user.removeprefix(RUN)}
    return {"user_id": user, "agent_id": agent or None, "run_id": run}


def _told(session: str) -> tuple[str, str]:
    """The agent and the run that a session's name tells."""
    found = _OF_AGENT.fullmatch(session)
    return (found["agent"], found["run"] or "") if found else ("", session)
