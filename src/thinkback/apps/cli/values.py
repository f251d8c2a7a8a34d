"""Values as the JSON that `--json` prints; thoughts, turns and actions are as in an export."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from thinkback import codec
from thinkback.types import Action, Candidate, Entity, Recollection, Synthesis, Thought, Turn, Version, Why

Json = dict[str, Any]


def thought(value: Thought) -> Json:
    return {"ref": str(value.ref), **codec.thought_to_json(value)}


def turn(value: Turn) -> Json:
    return {"ref": str(value.ref), **codec.turn_to_json(value)}


def action(value: Action) -> Json:
    return {"ref": str(value.ref), **codec.action_to_json(value)}


def version(value: Version) -> Json:
    return {**thought(value.thought), "actions": [action(each) for each in value.actions]}


def entity(value: Entity) -> Json:
    decisions = [thought(each) for each in value.decisions]
    return {"id": value.id, "name": value.name, "aliases": list(value.aliases), "decisions": decisions}


def candidate(value: Candidate, rank: int | None = None) -> Json:
    return {
        "rank": rank,
        "ref": str(value.ref),
        "kind": kind(value),
        "text": value.text,
        "score": asdict(value.score),
        "group": value.group,
        "reason": value.reason,
        "thought": None if value.thought is None else thought(value.thought),
        "turn": None if value.turn is None else turn(value.turn),
    }


def recollection(value: Recollection) -> Json:
    return {
        "query": value.query,
        "items": [candidate(item, rank) for rank, item in enumerate(value, start=1)],
        "dropped": [candidate(item) for item in value.dropped],
        "threshold": value.threshold,
        "group": value.group,
        "probes": value.probes,
        "exact": value.exact,
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
        "ref": str(value.ref),
        "text": value.text,
        "lines": list(value.lines),
        "sources": [turn(source) for source in value.sources],
        "thoughts": [thought(each) for each in value.thoughts],
        "actions": [action(each) for each in value.actions],
        "used": [asdict(each) for each in value.used],
        "checks": [asdict(each) for each in value.checks],
    }


def kind(value: Candidate) -> str:
    """The kind of a recalled thought; a raw turn is a `turn`."""
    return value.thought.kind if value.thought else "turn"
