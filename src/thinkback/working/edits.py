"""The journal of a summary: edits applied, replayed, and found as the difference of two summaries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from thinkback.types import Edit, Excluded, Summary, SummaryUpdate
from thinkback.working.types import LISTS


def applied(summary: Summary, edits: Iterable[Edit]) -> Summary:
    """The summary after these edits; an edit of an item that is not there changes nothing."""
    for edit in edits:
        summary = _edited(summary, edit)
    return summary


def replayed(session: str, updates: Iterable[SummaryUpdate]) -> Summary:
    """The summary that a journal tells of."""
    summary = Summary(session=session)
    for update in updates:
        summary = replace(applied(summary, update.edits), version=update.version, turn=update.turn)
    return summary


def difference(before: Summary, after: Summary, reason: str) -> tuple[Edit, ...]:
    """The edits that lead from one summary to the other, order of items included."""
    edits = [
        Edit(field=name, old=getattr(before, name), new=getattr(after, name), reason=reason)
        for name in ("talk", "topic", "conclusion")
        if getattr(before, name) != getattr(after, name)
    ]
    for name in LISTS:
        old, new = getattr(before, name), getattr(after, name)
        kept = _common(old, new)
        edits += [Edit(field=name, old=item, reason=reason) for item in old[kept:]]
        edits += [Edit(field=name, new=item, reason=reason) for item in new[kept:]]
    kept = _common(before.excluded, after.excluded)
    edits += [Edit(field="excluded", old=each.option, reason=reason) for each in before.excluded[kept:]]
    edits += [Edit(field="excluded", new=each.option, reason=each.reason) for each in after.excluded[kept:]]
    return tuple(edits)


def _common(old: tuple[Any, ...], new: tuple[Any, ...]) -> int:
    """How many items they begin with alike."""
    return next(
        (n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new))
    )


def _edited(summary: Summary, edit: Edit) -> Summary:
    changed: Any
    if edit.field == "excluded":
        changed = _in_list(
            summary.excluded,
            next((each for each in summary.excluded if each.option == edit.old), None),
            Excluded(edit.new, edit.reason) if edit.new else None,
        )
    elif edit.field in LISTS:
        held: tuple[str, ...] = getattr(summary, edit.field)
        changed = _in_list(held, edit.old if edit.old in held else None, edit.new or None)
    else:
        changed = edit.new
    return replace(summary, **{edit.field: changed})


def _in_list(held: tuple[Any, ...], old: Any, new: Any) -> tuple[Any, ...]:
    if old is None:
        return held if new is None else (*held, new)
    at = held.index(old)
    return (*held[:at], *(() if new is None else (new,)), *held[at + 1 :])
