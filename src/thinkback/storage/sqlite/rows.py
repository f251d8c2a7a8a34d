"""Conversion between values and database rows."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from thinkback.schemas import dump_row, from_stored_json, to_stored_json
from thinkback.storage.sqlite.connection import Row
from thinkback.times import from_micros, to_micros
from thinkback.types import (
    Action,
    ApiKey,
    ConsistencyCheck,
    RecalledItem,
    Source,
    Summary,
    SummaryUpdate,
    Thought,
    Turn,
)

NO_LIMIT = -1  # LIMIT -1 means no limit in SQLite


def ids_to_json(ids: Iterable[int]) -> str:
    return json.dumps(sorted(ids))


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
    )


def checks_to_json(checks: Iterable[ConsistencyCheck]) -> str:
    return json.dumps([to_stored_json(check) for check in checks], ensure_ascii=False)


def checks_from_json(text: str) -> tuple[ConsistencyCheck, ...]:
    return (
        () if text == "[]" else tuple(from_stored_json(ConsistencyCheck, check) for check in json.loads(text))
    )


def turn_from_row(row: Row) -> Turn:
    id_, session, key, asker, answerer, at, recorded_at, recalled, query, response = row[:10]
    thought_at, caught, hidden_by = row[10:13]
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


def action_from_row(row: Row) -> Action:
    id_, kind, reason, actor, at, turn_, undoes, undone_by, before, after, hides = row
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


def key_from_row(row: Row) -> ApiKey:
    id_, tenant, scopes, digest, label, user, created_at, expires_at, revoked_at = row
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


def summary_from_row(row: Row) -> Summary:
    return from_stored_json(Summary, json.loads(row[0]))


def summary_update_to_row(space_id: int, update: SummaryUpdate) -> Sequence[Any]:
    body = json.dumps(to_stored_json(update), ensure_ascii=False)
    return (space_id, update.session, update.version, body)


def summary_update_from_row(row: Row) -> SummaryUpdate:
    return from_stored_json(SummaryUpdate, json.loads(row[0]))
