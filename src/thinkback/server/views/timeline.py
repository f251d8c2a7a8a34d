"""The thoughts of a space over time."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np

from thinkback.server.views.browse import Filter, match
from thinkback.server.views.snapshot import Row, SpaceSnapshot

Step = Literal["day", "month", "year"]
_SECONDS_OF_DAY = 86_400.0
_MAX_DAYS_BY_DAY, _MAX_DAYS_BY_MONTH = 92, 366 * 12


def timeline(snapshot: SpaceSnapshot, wanted: Filter, after: int, limit: int) -> dict[str, Any]:
    """The matching thoughts in order of when they began, and how many began in each day, month or year."""
    found = np.flatnonzero(match(snapshot, wanted).all)
    order = found[np.argsort(snapshot.starts[found], kind="stable")]
    rows = [snapshot.rows[int(index)] for index in order]
    page = rows[after : after + limit]
    span_days = (rows[-1].start - rows[0].start) / _SECONDS_OF_DAY if rows else 0.0
    step: Step = "year"
    if span_days <= _MAX_DAYS_BY_MONTH:
        step = "day" if span_days <= _MAX_DAYS_BY_DAY else "month"
    return {
        "items": [_to_item(row) for row in page],
        "next": after + limit if len(rows) > after + limit else None,
        "total": len(rows),
        "first": _isoformat(rows[0].start) if rows else None,
        "last": _isoformat(rows[-1].start) if rows else None,
        "step": step,
        "buckets": _buckets(rows, step),
    }


def _to_item(row: Row) -> dict[str, Any]:
    thought = row.thought
    return {
        "id": thought.id,
        "at": _isoformat(row.start),
        "until": None if row.end == float("inf") else _isoformat(row.end),
        "dated": row.dated,
        "sentence": thought.sentence,
        "kind": thought.kind,
        "person": row.person,
        "current": thought.current,
    }


def _buckets(rows: list[Row], step: Step) -> list[dict[str, Any]]:
    buckets: dict[datetime, Counter[str]] = {}
    for row in rows:
        buckets.setdefault(_start_of(row.start, step), Counter())[row.thought.kind] += 1
    return [{"start": start.isoformat(), "counts": dict(counts)} for start, counts in buckets.items()]


def _start_of(seconds: float, step: Step) -> datetime:
    at = datetime.fromtimestamp(seconds, UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if step == "day":
        return at
    return at.replace(day=1) if step == "month" else at.replace(day=1, month=1)


def _isoformat(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat()
