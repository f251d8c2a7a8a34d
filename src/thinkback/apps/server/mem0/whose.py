"""mem0's identifiers as ours: which user's space is meant, and which of its sessions.

The first of user_id, agent_id and run_id that is given names the space: a user's goes by the user's name, an
agent's is `agent:NAME`, a run's `run:NAME`. What else is given narrows it to sessions of that space: a run is
the session of its name, an agent's talks with a user are `agent:NAME`, or `agent:NAME run:NAME`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from thinkback.apps.server.faults import Refused, forbidden
from thinkback.errors import InvalidInput

USUAL = "default"
_AGENT, _RUN = "agent:", "run:"
_OF_AGENT = re.compile(r"agent:(?P<agent>[^ ]+)(?: run:(?P<run>.+))?")

Field = Literal["user_id", "agent_id", "run_id"]


@dataclass(frozen=True, slots=True)
class Whose:
    """Whose memories a request is about; without a `user` those of the caller itself."""

    user: str | None
    agent: str = ""
    run: str = ""

    @property
    def narrowed(self) -> bool:
        return bool(self.agent or self.run)

    @property
    def session(self) -> str:
        """Where what is added is kept."""
        if not self.agent:
            return self.run or USUAL
        return f"{_AGENT}{self.agent} {_RUN}{self.run}" if self.run else f"{_AGENT}{self.agent}"

    def holds(self, session: str) -> bool:
        """Whether a session is one of those meant."""
        agent, run = _told(session)
        return self.agent in ("", agent) and self.run in ("", run)


def whose(user_id: str | None, agent_id: str | None, run_id: str | None, own: str = "") -> Whose:
    """Whom the identifiers mean; `own` is whom the credential or the header speaks for, if they say so."""
    user, agent, run = ((each or "").strip() for each in (user_id, agent_id, run_id))
    if user.startswith((_AGENT, _RUN)) or run.startswith(_AGENT):
        raise InvalidInput("no identifier may begin with agent: or run: here: those names have a meaning")
    if " " in agent:
        raise InvalidInput("an agent_id has no spaces here: it is part of a session's name")
    if own and user not in ("", own):
        raise forbidden(f"this connection speaks for the user {own!r} alone")
    if own:
        return Whose(own, agent, run)
    if user:
        return Whose(user, agent, run)
    if agent:
        return Whose(f"{_AGENT}{agent}", "", run)
    if run:
        return Whose(f"{_RUN}{run}")
    raise Refused(400, "At least one identifier (user_id, agent_id, run_id) is required.", "invalid_input")


def identifiers(user: str, session: str) -> dict[Field, str | None]:
    """The other way round: what mem0's clients are told of where a memory belongs."""
    agent, told = _told(session)
    run = told if told not in ("", USUAL) else None
    if user.startswith(_AGENT):
        return {"user_id": None, "agent_id": user.removeprefix(_AGENT), "run_id": run}
    if user.startswith(_RUN):
        return {"user_id": None, "agent_id": None, "run_id": user.removeprefix(_RUN)}
    return {"user_id": user, "agent_id": agent or None, "run_id": run}


def _told(session: str) -> tuple[str, str]:
    """The agent and the run that a session's name tells."""
    found = _OF_AGENT.fullmatch(session)
    return (found["agent"], found["run"] or "") if found else ("", session)
