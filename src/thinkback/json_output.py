"""Values as the JSON that `--json` and the server give; thoughts, turns and actions are as in an export."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from thinkback import codec
from thinkback.audit import AuditReport
from thinkback.types import (
    KEY_SCOPES,
    Action,
    ApiKey,
    Candidate,
    Entity,
    Explanation,
    OutdatedInfo,
    QueryUnderstanding,
    Recollection,
    Score,
    ScoreBreakdown,
    Synthesis,
    Thought,
    ThoughtVersion,
    Turn,
)

Json = dict[str, Any]


def dump_thought(value: Thought) -> Json:
    return {"ref": str(value.ref), **codec.thought_to_json(value)}


def dump_turn(value: Turn) -> Json:
    return {"ref": str(value.ref), **codec.turn_to_json(value)}


def dump_action(value: Action) -> Json:
    return {"ref": str(value.ref), **codec.action_to_json(value)}


def dump_api_key(value: ApiKey) -> Json:
    """What may be told of a key: neither its secret, which nobody has, nor the digest of it."""
    return {
        "id": value.id,
        "tenant": value.tenant,
        "user": value.user,
        "scopes": [scope for scope in KEY_SCOPES if scope in value.scopes],
        "label": value.label,
        "created_at": _isoformat(value.created_at),
        "expires_at": _isoformat(value.expires_at),
        "revoked_at": _isoformat(value.revoked_at),
    }


def dump_version(value: ThoughtVersion) -> Json:
    return {**dump_thought(value.thought), "actions": [dump_action(each) for each in value.actions]}


def dump_entity(value: Entity) -> Json:
    decisions = [dump_thought(each) for each in value.decisions]
    return {"id": value.id, "name": value.name, "aliases": list(value.aliases), "decisions": decisions}


def dump_score(value: Score) -> Json:
    """With its parts, where the recall is explained."""
    return {
        "total": value.total,
        "cosine": value.cosine,
        "lexical": value.lexical,
        "sum": None if value.breakdown is None else dump_score_breakdown(value.breakdown),
    }


def dump_score_breakdown(value: ScoreBreakdown) -> Json:
    return {
        "parts": [{**part._asdict(), "contribution": part.contribution} for part in value.components],
        "linear": value.linear,
        "bent": value.initial,
        "adjustments": [step._asdict() for step in value.adjustments],
    }


def dump_outdated_info(value: OutdatedInfo) -> Json:
    told, now = (
        [{"ref": str(each.ref), "sentence": each.sentence} for each in thoughts]
        for thoughts in (value.facts, value.replaced_by)
    )
    return {"until": value.until.isoformat(), "facts": told, "replaced_by": now}


def dump_candidate(value: Candidate, rank: int | None = None) -> Json:
    return {
        "rank": rank,
        "ref": str(value.ref),
        "kind": candidate_kind(value),
        "text": value.text,
        "score": dump_score(value.score),
        "group": value.group,
        "verdict": value.verdict,
        "reason": value.reason,
        "past": None if value.outdated is None else dump_outdated_info(value.outdated),
        "thought": None if value.thought is None else dump_thought(value.thought),
        "turn": None if value.turn is None else dump_turn(value.turn),
    }


def dump_understanding(value: QueryUnderstanding) -> Json:
    spans = [
        {"words": span.words, "start": _isoformat(span.start), "end": _isoformat(span.end)}
        for span in value.spans
    ]
    return {
        **asdict(value),
        "spans": spans,
        "bridge": [str(ref) for ref in value.bridge],
        "wordings": [each._asdict() for each in value.wordings],
        "searched": [each._asdict() for each in value.searched],
    }


def dump_recollection(value: Recollection) -> Json:
    taken = value.understanding
    return {
        "query": value.query,
        "items": [dump_candidate(item, rank) for rank, item in enumerate(value, start=1)],
        "dropped": [dump_candidate(item) for item in value.dropped],
        "threshold": value.threshold,
        "group": value.group,
        "probes": value.probes,
        "exact": value.exact,
        "understanding": None if taken is None else dump_understanding(taken),
        "receipt": asdict(value.usage),
    }


def dump_synthesis(value: Synthesis) -> Json:
    texts = {item.ref: item.text for item in value.recollection}
    return {
        "question": value.recollection.query,
        "text": value.text,
        "known": value.known,
        "by": value.by,
        "words": value.words,
        "used": [
            {"cited": number, "ref": str(ref), "text": texts[ref]} for number, ref in enumerate(value.used, 1)
        ],
        "note": value.note or None,
        "receipt": asdict(value.usage),
    }


def dump_explanation(value: Explanation) -> Json:
    return {
        "ref": None if value.ref is None else str(value.ref),
        "text": value.text,
        "lines": list(value.lines),
        "sources": [dump_turn(source) for source in value.sources],
        "thoughts": [dump_thought(each) for each in value.thoughts],
        "actions": [dump_action(each) for each in value.actions],
        "used": [asdict(each) for each in value.used],
        "checks": [asdict(each) for each in value.checks],
    }


def dump_audit(value: AuditReport) -> Json:
    findings = [{**asdict(each), "refs": [str(ref) for ref in each.refs]} for each in value.findings]
    return {
        "user": value.user,
        "turns": value.turns,
        "thoughts": value.thoughts,
        "counts": value.counts,
        "findings": findings,
    }


def _isoformat(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat()


def candidate_kind(value: Candidate) -> str:
    """The kind of a recalled thought; a raw turn is a `turn`."""
    return value.thought.kind if value.thought else "turn"
