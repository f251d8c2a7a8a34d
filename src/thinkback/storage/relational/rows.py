"""Conversion between values and database rows.

A row that cannot be converted is damaged: reading it raises `CorruptStore`, which names the table and never
quotes the row.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, get_args

import numpy as np

from thinkback.errors import CorruptStore
from thinkback.schemas import dump_row, from_stored_json, to_stored_json
from thinkback.storage.relational.database import Row
from thinkback.times import from_micros, to_micros
from thinkback.types import (
    KINDS,
    Action,
    ActionKind,
    ApiKey,
    ConsistencyCheck,
    Entity,
    Hashing,
    IndexEntry,
    RecalledItem,
    Source,
    Summary,
    SummaryUpdate,
    Thought,
    Turn,
)

if TYPE_CHECKING:
    from thinkback.types import Vector

_MAX_COMPONENT = 1e6  # of a vector or matrix; those of embedders are below 1
_CHECKED_ROWS = 1000
NO_LIMIT = -1  # LIMIT -1 means no limit in SQLite; the statements for PostgreSQL convert it
DAMAGED_ADVICE = (
    "Keep the file: thinkback doctor --verify says what is damaged, thinkback restore brings back a backup, "
    "and thinkback salvage reads what is still readable"
)

_Params = ParamSpec("_Params")
_Value = TypeVar("_Value")
_Identified = TypeVar("_Identified", Turn, Thought, Action)


def reads_rows_of(table: str) -> Callable[[Callable[_Params, _Value]], Callable[_Params, _Value]]:
    """Decorator of a function that converts a row: whatever goes wrong, the row of `table` is damaged."""

    def decorate(convert: Callable[_Params, _Value]) -> Callable[_Params, _Value]:
        @wraps(convert)
        def checked(*args: _Params.args, **kwargs: _Params.kwargs) -> _Value:
            try:
                return convert(*args, **kwargs)
            except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError):
                # Without the cause: its message may quote stored text.
                raise CorruptStore(f"a row of table {table} is damaged. {DAMAGED_ADVICE}") from None

        return checked

    return decorate


def in_order(table: str, values: list[_Identified], after: int = 0) -> list[_Identified]:
    """The values, checked to have ascending ids: a caller that reads page by page must come to an end."""
    for value in values:
        if value.id <= after:
            raise CorruptStore(f"the rows of table {table} are not in order. {DAMAGED_ADVICE}")
        after = value.id
    return values


def require_row(table: str, row: tuple[Any, ...] | None) -> tuple[Any, ...]:
    """The row of a statement that finds one in every undamaged file."""
    if row is None:
        raise CorruptStore(f"a row of table {table} is missing. {DAMAGED_ADVICE}")
    return row


def _require_texts(*values: object) -> None:
    for value in values:
        if type(value) is not str:
            raise TypeError("not a text")


def _require_one_of(value: object, known: tuple[object, ...]) -> None:
    if value not in known:
        raise ValueError("not a known value")


def _require_numbers(*values: object) -> None:
    for value in values:
        if type(value) is not int:
            raise TypeError("not a number")


def ids_to_json(ids: Iterable[int]) -> str:
    """The ids as a parameter of a statement; ids that were read from damaged pages may be anything."""
    found = list(ids)
    if any(type(id_) is not int for id_ in found):
        raise CorruptStore(f"an id is damaged. {DAMAGED_ADVICE}")
    return json.dumps(sorted(found))


def optional_micros(value: datetime | None) -> int | None:
    return None if value is None else to_micros(value)


def optional_time(value: int | None) -> datetime | None:
    return None if value is None else from_micros(value)


def turn_to_row(space_id: int, turn: Turn) -> Sequence[Any]:
    return (
        space_id,
        turn.id,
        turn.session,
        turn.key,
        turn.asker,
        turn.answerer,
        to_micros(turn.at),
        to_micros(turn.recorded_at),
        json.dumps([dump_row(used) for used in turn.recalled]) if turn.recalled else "[]",
        turn.query,
        turn.response,
        optional_micros(turn.thought_at),
        checks_to_json(turn.checks),
        turn.findings,
    )


def checks_to_json(checks: Iterable[ConsistencyCheck]) -> str:
    return json.dumps([to_stored_json(check) for check in checks], ensure_ascii=False)


@reads_rows_of("turns")
def checks_from_json(text: str) -> tuple[ConsistencyCheck, ...]:
    return (
        () if text == "[]" else tuple(from_stored_json(ConsistencyCheck, check) for check in json.loads(text))
    )


@reads_rows_of("turns")
def recalled_refs(text: str) -> set[tuple[str, int]]:
    """Kind and id of the memories in the column `recalled`."""
    return {(kind, id_) for kind, id_, *_ in json.loads(text)}


@reads_rows_of("turns")
def turn_from_row(row: Row) -> Turn:
    id_, session, key, asker, answerer, at, recorded_at, recalled, query, response = row[:10]
    thought_at, caught, hidden_by, findings = row[10:14]
    _require_texts(session, asker, answerer, query, response)
    _require_texts(*(each for each in (key, findings) if each is not None))
    _require_numbers(id_, *(() if hidden_by is None else (hidden_by,)))
    return Turn(
        id=id_,
        session=session,
        key=key,
        asker=asker,
        answerer=answerer,
        at=from_micros(at),
        recorded_at=from_micros(recorded_at),
        recalled=() if recalled == "[]" else tuple(RecalledItem(*used) for used in json.loads(recalled)),
        query=query,
        response=response,
        thought_at=optional_time(thought_at),
        checks=checks_from_json(caught),
        hidden_by=hidden_by,
        findings=findings,
    )


def thought_to_row(space_id: int, entity: int, thought: Thought, stamp: int) -> Sequence[Any]:
    return (
        space_id,
        thought.id,
        entity,
        thought.subject,
        thought.relation,
        json.dumps(thought.objects, ensure_ascii=False),
        thought.sentence,
        thought.kind,
        int(thought.negated),
        optional_micros(thought.valid_from),
        optional_micros(thought.valid_to),
        to_micros(thought.recorded_at),
        optional_micros(thought.retired_at),
        json.dumps([dump_row(source) for source in thought.sources], ensure_ascii=False),
        stamp,
    )


@reads_rows_of("thoughts")
def thought_from_row(row: Row) -> Thought:
    (
        id_,
        subject,
        relation,
        objects,
        sentence,
        kind,
        negated,
        valid_from,
        valid_to,
        recorded_at,
        retired_at,
        sources_,
    ) = row
    _require_texts(subject, relation, sentence)
    _require_one_of(kind, KINDS)
    _require_numbers(id_)
    return Thought(
        id=id_,
        subject=subject,
        relation=relation,
        objects=tuple(json.loads(objects)),
        sentence=sentence,
        kind=kind,
        negated=bool(negated),
        valid_from=optional_time(valid_from),
        valid_to=optional_time(valid_to),
        recorded_at=from_micros(recorded_at),
        retired_at=optional_time(retired_at),
        sources=sources_from_json(sources_),
    )


@reads_rows_of("thoughts")
def sources_from_json(text: str) -> tuple[Source, ...]:
    return tuple(Source(*source) for source in json.loads(text))


def action_to_row(space_id: int, action: Action) -> Sequence[Any]:
    return (
        space_id,
        action.id,
        action.action,
        action.reason,
        action.actor,
        to_micros(action.at),
        action.turn,
        action.undoes,
        action.undone_by,
        _thoughts_to_json(action.before),
        _thoughts_to_json(action.after),
        ids_to_json(action.hides),
    )


@reads_rows_of("actions")
def action_from_row(row: Row) -> Action:
    id_, kind, reason, actor, at, turn_, undoes, undone_by, before, after, hides = row
    _require_texts(reason, actor)
    _require_one_of(kind, get_args(ActionKind))
    _require_numbers(id_, *(number for number in (turn_, undoes, undone_by) if number is not None))
    return Action(
        id=id_,
        action=kind,
        reason=reason,
        actor=actor,
        at=from_micros(at),
        turn=turn_,
        undoes=undoes,
        undone_by=undone_by,
        before=tuple(from_stored_json(Thought, item) for item in json.loads(before)),
        after=tuple(from_stored_json(Thought, item) for item in json.loads(after)),
        hides=() if hides == "[]" else tuple(json.loads(hides)),
    )


def _thoughts_to_json(thoughts: Iterable[Thought]) -> str:
    return json.dumps([to_stored_json(item) for item in thoughts], ensure_ascii=False)


def rewritten_action_to_row(space_id: int, action: Action) -> Sequence[Any]:
    before, after = _thoughts_to_json(action.before), _thoughts_to_json(action.after)
    return (space_id, action.id, action.action, action.reason, before, after, ids_to_json(action.hides))


def key_to_row(key: ApiKey) -> Sequence[Any]:
    return (
        key.id,
        key.tenant,
        json.dumps(sorted(key.scopes)),
        key.digest,
        key.label,
        key.user,
        to_micros(key.created_at),
        optional_micros(key.expires_at),
        optional_micros(key.revoked_at),
    )


@reads_rows_of("keys")
def key_from_row(row: Row) -> ApiKey:
    id_, tenant, scopes, digest, label, user, created_at, expires_at, revoked_at = row
    _require_texts(id_, tenant, label, *(() if user is None else (user,)))
    if type(digest) is not bytes:
        raise TypeError("not a digest")
    return ApiKey(
        id=id_,
        tenant=tenant,
        scopes=frozenset(json.loads(scopes)),
        digest=digest,
        label=label,
        user=user,
        created_at=from_micros(created_at),
        expires_at=optional_time(expires_at),
        revoked_at=optional_time(revoked_at),
    )


def summary_to_row(space_id: int, summary: Summary) -> Sequence[Any]:
    body = json.dumps(to_stored_json(summary), ensure_ascii=False)
    return (space_id, summary.session, summary.version, summary.turn, body)


@reads_rows_of("summaries")
def summary_from_row(row: Row) -> Summary:
    return from_stored_json(Summary, json.loads(row[0]))


def summary_update_to_row(space_id: int, update: SummaryUpdate) -> Sequence[Any]:
    body = json.dumps(to_stored_json(update), ensure_ascii=False)
    return (space_id, update.session, update.version, body)


@reads_rows_of("summary_updates")
def summary_update_from_row(row: Row) -> SummaryUpdate:
    return from_stored_json(SummaryUpdate, json.loads(row[0]))


@reads_rows_of("entities")
def entity_from_row(row: Row) -> Entity:
    id_, name, aliases = row
    _require_texts(name)
    return Entity(id_, name, tuple(sorted(json.loads(aliases))))


def _entry_from_row(row: Row) -> IndexEntry:
    kind, id_, group, vector, terms = row
    if kind not in ("turn", "thought"):
        raise ValueError("not a kind of memory")
    _require_numbers(id_, group)
    return IndexEntry(kind, id_, np.frombuffer(vector, "<f4"), np.frombuffer(terms, "<u4"), group)


entry_from_row = reads_rows_of("entries")(_entry_from_row)


def is_plausible(values: Vector) -> bool:
    """Whether no number is infinite, not a number, or absurdly large: it would spoil every comparison."""
    return bool(np.abs(values).max(initial=0) < _MAX_COMPONENT)


@reads_rows_of("entries")
def entries_from_rows(records: Iterable[Row]) -> tuple[IndexEntry, ...]:
    """Index entries whose vectors all have the same length."""
    entries = tuple(map(_entry_from_row, records))
    if len({entry.vector.size for entry in entries}) > 1:
        raise ValueError("vectors of different lengths")
    for start in range(0, len(entries), _CHECKED_ROWS):  # not all at once, for the memory this takes
        if not is_plausible(np.stack([entry.vector for entry in entries[start : start + _CHECKED_ROWS]])):
            raise ValueError("not a vector")
    return entries


@reads_rows_of("hashings")
def hashing_from_row(row: Row) -> Hashing:
    columns, seed, learned, probes, size, matrix = row
    values = np.frombuffer(matrix, "<f4").reshape(-1, columns)
    if not is_plausible(values):
        raise ValueError("not a matrix")
    return Hashing(values, seed, bool(learned), probes, size)
