"""The thoughts of a space over time."""

from __future__ import annotations

import re
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
_NAMED_DAY = re.compile(r"\((\d{4}-\d\d-\d\d)\)")  # as `add_dates` writes it
_MAX_DAYS_BY_DAY, _MAX_DAYS_BY_MONTH = 92, 366 * 12


def timeline(snapshot: SpaceSnapshot, wanted: Filter, after: int, limit: int) -> dict[str, Any]:
    """The matching thoughts in order of when they began, and how many began in each day, month or year."""
    found = np.flatnonzero(match(snapshot, wanted).all)
    began = _starts(snapshot, found)
    sorted_positions = np.argsort(began, kind="stable")
    order, starts = found[sorted_positions], began[sorted_positions]
    page = slice(after, after + limit)
    span_days = float(starts[-1] - starts[0]) / _SECONDS_OF_DAY if len(order) else 0.0
    step: Step = "year"
    if span_days <= _MAX_DAYS_BY_MONTH:
        step = "day" if span_days <= _MAX_DAYS_BY_DAY else "month"
    return {
        "items": [
            _to_item(snapshot, int(index), float(start))
            for index, start in zip(order[page], starts[page], strict=True)
        ],
        "next": after + limit if len(order) > after + limit else None,
        "total": len(order),
        "first": _isoformat(starts[0]) if len(order) else None,
        "last": _isoformat(starts[-1]) if len(order) else None,
        "step": step,
        "buckets": _buckets(snapshot, order, starts, step),
    }


def _starts(snapshot: SpaceSnapshot, found: npt.NDArray[np.intp]) -> npt.NDArray[np.float64]:
    """When each thought began; an event that was announced, on the first later day that it names."""
    starts = snapshot.starts[found]
    for position, index in enumerate(found):
        thought = snapshot.rows[index].thought
        if thought.kind == "event" and not thought.negated:
            named = (_seconds_of(day) for day in _NAMED_DAY.findall(thought.sentence))
            starts[position] = next((day for day in named if day > starts[position]), starts[position])
    return starts


def _seconds_of(day: str) -> float:
    """Midnight UTC of a day, as days are stored; -inf if there is no such day."""
    try:
        return datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()
    except ValueError:
        return -inf


def _to_item(snapshot: SpaceSnapshot, index: int, start: float) -> dict[str, Any]:
    row = snapshot.rows[index]
    thought, end = row.thought, float(snapshot.ends[index])
    announced = start > float(snapshot.starts[index])
    return {
        "id": thought.id,
        "at": _isoformat(start),
        "until": None if end == inf or end < start else _isoformat(end),
        "dated": announced or thought.valid_from is not None,
        "sentence": thought.sentence,
        "kind": thought.kind,
        "person": row.person,
        "current": thought.current,
    }


def _buckets(
    snapshot: SpaceSnapshot, order: npt.NDArray[np.intp], starts: npt.NDArray[np.float64], step: Step
) -> list[dict[str, Any]]:
    buckets: dict[datetime, Counter[str]] = {}
    for index, seconds in zip(order, starts, strict=True):
        start = _start_of(float(seconds), step)
        buckets.setdefault(start, Counter())[snapshot.rows[index].thought.kind] += 1
    return [{"start": start.isoformat(), "counts": dict(counts)} for start, counts in buckets.items()]


def _start_of(seconds: float, step: Step) -> datetime:
    at = datetime.fromtimestamp(min(seconds, _LATEST), UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    if step == "day":
        return at
    return at.replace(day=1) if step == "month" else at.replace(day=1, month=1)


def _isoformat(seconds: float) -> str:
    return datetime.fromtimestamp(min(seconds, _LATEST), UTC).isoformat()
