"""`/erase`: deleting for good."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from starlette.responses import Response

from thinkback.apps.server.rest.asked import EraseAll, EraseSession, EraseTurn
from thinkback.apps.server.rest.refusals import DISK_FAULTS
from thinkback.apps.server.rest.replies import reply, theme
from thinkback.apps.server.rest.told import ErasedTold
from thinkback.apps.server.who import Writing
from thinkback.memory import Memory
from thinkback.types import Ref

router = theme("erase")


@router.post("/erase", response_model=ErasedTold, responses=DISK_FAULTS)
async def erase(asked: Writing, body: EraseTurn | EraseSession | EraseAll) -> Response:
    """Delete a turn, a session or all of a user, with everything derived from it. This cannot be undone."""

    def make(memory: Memory) -> dict[str, Any]:
        if isinstance(body, EraseTurn):
            gone = memory.erase(turn=Ref("turn", body.turn))
        elif isinstance(body, EraseSession):
            gone = memory.erase(session=body.session)
        else:
            gone = memory.erase(user=memory.user)
        return asdict(gone)

    return await reply(asked, make, "delete_memory")
