"""Values as the JSON that `--json` and the server give; thoughts, turns and actions are as in an export."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import Any

from thinkback import codec
from thinkback.audit import Audit
from thinkback.types import (
    SCOPES,
    Action,
    Candidate,
    Entity,
    Key,
    Past,
    Recollection,
    Score,
    Sum,
    Synthesis,
    Thought,
    Turn,
    Understanding,
    Version,
    Why,
)

Json = dict[str, Any]


def thought(value: Thought) -> Json:
    return {"ref": str(value.ref), **codec.thought_to_json(value)}


def turn(value: Turn) -> Json:
    return {"ref": str(value.ref), **codec.turn_to_json(value)}


def action(value: Action) -> Json:
    return {"ref": str(value.ref), **codec.action_to_json(value)}


def key(value: Key) -> Json:
    """What may be told of a key: neither its secret, which nobody has, nor the digest of it."""
    return {
        "id": value.id,
        "tenant": value.tenant,
        "user": value.user,
        "scopes": [scope for scope in SCOPES if scope in value.scopes],
        "label": value.label,
        "created_at": _time(value.created_at),
        "expires_at": _time(value.expires_at),
        "revoked_at": _time(value.revoked_at),
    }


def version(value: Version) -> Json:
    return {**thought(value.thought), "actions": [action(each) for each in value.actions]}


def entity(value: Entity) -> Json:
    decisions = [thought(each) for each in value.decisions]
    return {"id": value.id, "name": value.name, "aliases": list(value.aliases), "decisions": decisions}


def score(value: Score) -> Json:
    """With its parts, where the recall is explained."""
    return {
        "total": value.total,
        "cosine": value.cosine,
        "lexical": value.lexical,
        "sum": None if value.sum is None else made(value.sum),
    }


def made(value: Sum) -> Json:
    return {
        "parts": [{**part._asdict(), "contribution": part.contribution} for part in value.parts],
        "linear": value.linear,
        "bent": value.bent,
        "adjustments": [step._asdict() for step in value.adjustments],
    }


def past(value: Past) -> Json:
    told, now = (
        [{"ref": str(each.ref), "sentence": each.sentence} for each in thoughts]
        for thoughts in (value.facts, value.replaced_by)
    )
    return {"until": value.until.isoformat(), "facts": told, "replaced_by": now}


def candidate(value: Candidate, rank: int | None = None) -> Json:
    return {
        "rank": rank,
        "ref": str(value.ref),
        "kind": kind(value),
        "text": value.text,
        "score": score(value.score),
        "group": value.group,
        "verdict": value.verdict,
        "reason": value.reason,
        "past": None if value.past is None else past(value.past),
        "thought": None if value.thought is None else thought(value.thought),
        "turn": None if value.turn is None else turn(value.turn),
    }


def understanding(value: Understanding) -> Json:
    spans = [
        {"words": span.words, "start": _time(span.start), "end": _time(span.end)} for span in value.spans
    ]
    return {
        **asdict(value),
        "spans": spans,
        "bridge": [str(ref) for ref in value.bridge],
        "wordings": [each._asdict() for each in value.wordings],
        "searched": [each._asdict() for each in value.searched],
    }


def recollection(value: Recollection) -> Json:
    taken = value.understanding
    return {
        "query": value.query,
        "items": [candidate(item, rank) for rank, item in enumerate(value, start=1)],
        "dropped": [candidate(item) for item in value.dropped],
        "threshold": value.threshold,
        "group": value.group,
        "probes": value.probes,
        "exact": value.exact,
        "understanding": None if taken is None else understanding(taken),
        "receipt": asdict(value.receipt),
    }


def synthesis(value: Synthesis) -> Json:
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
        "receipt": asdict(value.receipt),
    }


def why(value: Why) -> Json:
    return {
        "ref": None if value.ref is None else str(value.ref),
        "text": value.text,
        "lines": list(value.lines),
        "sources": [turn(source) for source in value.sources],
        "thoughts": [thought(each) for each in value.thoughts],
        "actions": [action(each) for each in value.actions],
        "used": [asdict(each) for each in value.used],
        "checks": [asdict(each) for each in value.checks],
    }


def audit(value: Audit) -> Json:
    findings = [{**asdict(each), "refs": [str(ref) for ref in each.refs]} for each in value.findings]
    return {
        "user": value.user,
        "turns": value.turns,
        "thoughts": value.thoughts,
        "counts": value.counts,
        "findings": findings,
    }


def _time(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat()


def kind(value: Candidate) -> str:
    """The kind of a recalled thought; a raw turn is a `turn`."""
    return value.thought.kind if value.thought else "turn"
