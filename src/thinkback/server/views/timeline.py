"""The thoughts of a space over time."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from math import inf
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from thinkback.server.views.browse import Filter, match
from thinkback.server.views.snapshot import SpaceSnapshot

Step = Literal["day", "month", "year"]
_SECONDS_OF_DAY = 86_400.0
_LATEST = datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()  # a float of more rounds to year 10000
_MAX_DAYS_BY_DAY, _MAX_DAYS_BY_MONTH = 92, 366 * 12


def timeline(snapshot: SpaceSnapshot, wanted: Filter, after: int, limit: int) -> dict[str, Any]:
    """The matching thoughts in order of when they began, and how many began in each day, month or year."""
    found = np.flatnonzero(match(snapshot, wanted).all)
    order = found[np.argsort(snapshot.starts[found], kind="stable")]
    starts = snapshot.starts[order]
    page = order[after : after + limit]
    span_days = float(starts[-1] - starts[0]) / _SECONDS_OF_DAY if len(order) else 0.0
    step: Step = "year"
    if span_days <= _MAX_DAYS_BY_MONTH:
        step = "day" if span_days <= _MAX_DAYS_BY_DAY else "month"
    return {
        "items": [_to_item(snapshot, int(index)) for index in page],
        "next": after + limit if len(order) > after + limit else None,
        "total": len(order),
        "first": _isoformat(starts[0]) if len(order) else None,
        "last": _isoformat(starts[-1]) if len(order) else None,
        "step": step,
        "buckets": _buckets(snapshot, order, step),
    }


def _to_item(snapshot: SpaceSnapshot, index: int) -> dict[str, Any]:
    row = snapshot.rows[index]
    thought, end = row.thought, float(snapshot.ends[index])
    return {
        "id": thought.id,
        "at": _isoformat(snapshot.starts[index]),
        "until": None if end == inf else _isoformat(end),
        "dated": thought.valid_from is not None,
        "sentence": thought.sentence,
        "kind": thought.kind,
        "person": row.person,
        "current": thought.current,
    }


def _buckets(snapshot: SpaceSnapshot, order: npt.NDArray[np.intp], step: Step) -> list[dict[str, Any]]:
    buckets: dict[datetime, Counter[str]] = {}
    for index in order:
        start = _start_of(float(snapshot.starts[index]), step)
        buckets.setdefault(start, Counter())[snapshot.rows[index].thought.kind] += 1
    return [{"start": start.isoformat(), "counts": dict(counts)} for start, counts in buckets.items()]


def _start_of(seconds: float, step: Step) -> datetime:
    at = datetime.fromtimestamp(min(seconds, _LATEST), UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if step == "day":
        return at
    return at.replace(day=1) if step == "month" else at.replace(day=1, month=1)


def _isoformat(seconds: float) -> str:
    return datetime.fromtimestamp(min(seconds, _LATEST), UTC).isoformat()
