"""Rows of the schema <-> values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from thinkback.codec import (
    check_from_json,
    check_to_json,
    source_from_json,
    source_to_json,
    summary_from_json,
    summary_to_json,
    thought_from_json,
    thought_to_json,
    update_from_json,
    update_to_json,
    used_from_json,
    used_to_json,
)
from thinkback.stores.sqlite.connection import Row
from thinkback.times import from_micros, micros
from thinkback.types import Action, Check, Key, Source, Summary, SummaryUpdate, Thought, Turn

ALL = -1  # LIMIT -1 is no limit


def ids_json(ids: Iterable[int]) -> str:
    return json.dumps(sorted(ids))


def to_micros(value: datetime | None) -> int | None:
    return None if value is None else micros(value)


def to_time(value: int | None) -> datetime | None:
    return None if value is None else from_micros(value)


def turn_row(space: int, turn: Turn) -> Sequence[Any]:
    return (
        space,
        turn.id,
        turn.session,
        turn.key,
        turn.asker,
        turn.answerer,
        micros(turn.at),
        micros(turn.recorded_at),
        json.dumps([used_to_json(used) for used in turn.recalled]) if turn.recalled else "[]",
        turn.query,
        turn.response,
        to_micros(turn.thought_at),
        checks_json(turn.checks),
    )


def checks_json(checks: Iterable[Check]) -> str:
    return json.dumps([check_to_json(check) for check in checks], ensure_ascii=False)


def checks(text: str) -> tuple[Check, ...]:
    return () if text == "[]" else tuple(check_from_json(check) for check in json.loads(text))


def turn(row: Row) -> Turn:
    id_, session, key, asker, answerer, at, recorded_at, recalled, query, response = row[:10]
    thought_at, caught = row[10:12]
    return Turn(
        id=id_,
        session=session,
        key=key,
        asker=asker,
        answerer=answerer,
        at=from_micros(at),
        recorded_at=from_micros(recorded_at),
        recalled=() if recalled == "[]" else tuple(used_from_json(used) for used in json.loads(recalled)),
        query=query,
        response=response,
        thought_at=to_time(thought_at),
        checks=checks(caught),
    )


def thought_row(space: int, entity: int, thought: Thought, stamp: int) -> Sequence[Any]:
    return (
        space,
        thought.id,
        entity,
        thought.subject,
        thought.relation,
        json.dumps(thought.objects, ensure_ascii=False),
        thought.sentence,
        thought.kind,
        int(thought.negated),
        to_micros(thought.valid_from),
        to_micros(thought.valid_to),
        micros(thought.recorded_at),
        to_micros(thought.retired_at),
        json.dumps([source_to_json(source) for source in thought.sources], ensure_ascii=False),
        stamp,
    )


def thought(row: Row) -> Thought:
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
        valid_from=to_time(valid_from),
        valid_to=to_time(valid_to),
        recorded_at=from_micros(recorded_at),
        retired_at=to_time(retired_at),
        sources=sources(sources_),
    )


def sources(text: str) -> tuple[Source, ...]:
    return tuple(source_from_json(source) for source in json.loads(text))


def action_row(space: int, action: Action) -> Sequence[Any]:
    return (
        space,
        action.id,
        action.action,
        action.reason,
        action.actor,
        micros(action.at),
        action.turn,
        action.undoes,
        action.undone_by,
        _thoughts_json(action.before),
        _thoughts_json(action.after),
    )


def action(row: Row) -> Action:
    id_, kind, reason, actor, at, turn_, undoes, undone_by, before, after = row
    return Action(
        id=id_,
        action=kind,
        reason=reason,
        actor=actor,
        at=from_micros(at),
        turn=turn_,
        undoes=undoes,
        undone_by=undone_by,
        before=tuple(thought_from_json(item) for item in json.loads(before)),
        after=tuple(thought_from_json(item) for item in json.loads(after)),
    )


def _thoughts_json(thoughts: Iterable[Thought]) -> str:
    return json.dumps([thought_to_json(item) for item in thoughts], ensure_ascii=False)


def rewritten_row(space: int, action: Action) -> Sequence[Any]:
    before, after = _thoughts_json(action.before), _thoughts_json(action.after)
    return (space, action.id, action.action, action.reason, before, after)


def key_row(key: Key) -> Sequence[Any]:
    return (
        key.id,
        key.tenant,
        json.dumps(sorted(key.scopes)),
        key.digest,
        key.label,
        key.user,
        micros(key.created_at),
        to_micros(key.expires_at),
        to_micros(key.revoked_at),
    )


def key(row: Row) -> Key:
    id_, tenant, scopes, digest, label, user, created_at, expires_at, revoked_at = row
    return Key(
        id=id_,
        tenant=tenant,
        scopes=frozenset(json.loads(scopes)),
        digest=digest,
        label=label,
        user=user,
        created_at=from_micros(created_at),
        expires_at=to_time(expires_at),
        revoked_at=to_time(revoked_at),
    )


def summary_row(space: int, summary: Summary) -> Sequence[Any]:
    body = json.dumps(summary_to_json(summary), ensure_ascii=False)
    return (space, summary.session, summary.version, summary.turn, body)


def summary(row: Row) -> Summary:
    return summary_from_json(json.loads(row[0]))


def update_row(space: int, update: SummaryUpdate) -> Sequence[Any]:
    body = json.dumps(update_to_json(update), ensure_ascii=False)
    return (space, update.session, update.version, body)


def update(row: Row) -> SummaryUpdate:
    return update_from_json(json.loads(row[0]))
