"""`/v1/memory/health`: the state of one memory and of the server behind it, for the web page."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import Query
from prometheus_client.parser import text_string_to_metric_families
from starlette.responses import Response

from thinkback import __version__
from thinkback.memory import Memory
from thinkback.schemas import to_json
from thinkback.server.routes.dependencies import ReadAccess, json_reply, tagged_router
from thinkback.server.routes.responses import AuditResponse, FailureResponse, ResponseModel, StatsResponse
from thinkback.server.services import Services

router = tagged_router("health")

MAX_FAILURES = 100


class QueueResponse(ResponseModel):
    """Turns of this user that wait to be thought over; `backlog` counts those of all users and tenants."""

    pending: int
    failed: int
    failures: list[FailureResponse]
    backlog: int | None


class ModelsResponse(ResponseModel):
    llm: str | None
    embedder: str
    upstream: bool


class ServerUsageResponse(ResponseModel):
    """What the whole server has used since its start. Tokens are by purpose and kind."""

    tokens: dict[str, dict[str, int]]
    thoughts: dict[str, int]
    turns: int
    requests: int
    recalls: int
    recalls_skipped: int


class MemoryHealthResponse(ResponseModel):
    """`backlog` and `usage` are null without the scope `admin`; `audit` is null if it was not asked for."""

    version: str
    user: str
    queue: QueueResponse
    stats: StatsResponse
    models: ModelsResponse
    usage: ServerUsageResponse | None
    scrubs_pending: bool
    audit: AuditResponse | None


@router.get("/health", response_model=MemoryHealthResponse)
async def memory_health(
    ctx: ReadAccess,
    audit: Annotated[bool, Query(description="false: without the audit, which reads everything.")] = True,
) -> Response:
    """Queue, models, usage, findings of the audit, and whether erased bytes are still to be removed."""
    services, is_admin = ctx.services, "admin" in ctx.principal.scopes

    def make(memory: Memory) -> dict[str, Any]:
        failures = memory.failures()
        return {
            "version": __version__,
            "user": memory.user,
            "queue": {
                "pending": memory.store.pending(memory.user),
                "failed": len(failures),
                "failures": [asdict(failure) for failure in failures[:MAX_FAILURES]],
                "backlog": services.backlog.pending() if is_admin else None,
            },
            "stats": asdict(memory.stats()),
            "models": {
                "llm": None if memory.llm is None else memory.llm.name,
                "embedder": memory.embedder.name,
                "upstream": bool(services.options.upstream),
            },
            "usage": _server_usage(services) if is_admin else None,
            "scrubs_pending": memory.store.erasures_pending(),
            "audit": to_json(memory.audit()) if audit else None,
        }

    return await json_reply(ctx, make)


def _server_usage(services: Services) -> dict[str, Any]:
    """The counters of all processes, read from the metrics."""
    tokens: dict[str, dict[str, int]] = {}
    thoughts: dict[str, int] = {}
    totals = dict.fromkeys(("turns", "requests", "recalls", "recalls_skipped"), 0)
    names = {
        "thinkback_turns_thought_over_total": "turns",
        "thinkback_requests_total": "requests",
        "thinkback_recalls_total": "recalls",
        "thinkback_recalls_skipped_total": "recalls_skipped",
    }
    for family in text_string_to_metric_families(services.telemetry.metrics.render().decode()):
        for sample in family.samples:
            count, labels = int(sample.value), sample.labels
            if sample.name == "thinkback_tokens_total":
                kinds = tokens.setdefault(labels.get("of", ""), {})
                kind = labels.get("kind", "")
                kinds[kind] = kinds.get(kind, 0) + count
            elif sample.name == "thinkback_thoughts_total":
                action = labels.get("action", "")
                thoughts[action] = thoughts.get(action, 0) + count
            elif sample.name in names:
                totals[names[sample.name]] += count
    return {"tokens": tokens, "thoughts": thoughts, **totals}
