"""`/erase`: deleting for good."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from starlette.responses import Response

from thinkback.memory import Memory
from thinkback.server.routes.dependencies import WriteAccess, json_reply, tagged_router
from thinkback.server.routes.errors import WRITE_ERRORS
from thinkback.server.routes.requests import EraseAllRequest, EraseSessionRequest, EraseTurnRequest
from thinkback.server.routes.responses import EraseResponse
from thinkback.types import Ref

router = tagged_router("erase")


@router.post("/erase", response_model=EraseResponse, responses=WRITE_ERRORS)
async def erase(
    asked: WriteAccess, body: EraseTurnRequest | EraseSessionRequest | EraseAllRequest
) -> Response:
    """Delete a turn, a session or all of a user, with everything derived from it. This cannot be undone."""

    def make(memory: Memory) -> dict[str, Any]:
        if isinstance(body, EraseTurnRequest):
            gone = memory.erase(turn=Ref("turn", body.turn))
        elif isinstance(body, EraseSessionRequest):
            gone = memory.erase(session=body.session)
        else:
            gone = memory.erase(user=memory.user)
        return asdict(gone)

    return await json_reply(asked, make, "delete_memory")
