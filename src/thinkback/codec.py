"""Values <-> plain JSON: one form for the journal's before and after, for export and for `--json`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, is_dataclass
from datetime import datetime
from functools import cache
from types import UnionType
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from thinkback.errors import InvalidInput
from thinkback.times import to_utc
from thinkback.types import (
    CONVERSATION_TYPES,
    Action,
    ConsistencyCheck,
    Entity,
    ExcludedOption,
    RecalledItem,
    Source,
    Summary,
    SummaryEdit,
    SummaryUpdate,
    Thought,
    Turn,
)

Json = dict[str, Any]
_Value = TypeVar("_Value")


def _format_time(value: datetime | None) -> str | None:
    return None if value is None else value.isoformat()


def _parse_time(value: str | None) -> datetime | None:
    return None if value is None else _parse_required_time(value)


def _parse_required_time(value: str) -> datetime:
    return to_utc(datetime.fromisoformat(value), "time")


def turn_to_json(turn: Turn) -> Json:
    return {
        "id": turn.id,
        "session": turn.session,
        "query": turn.query,
        "response": turn.response,
        "at": _format_time(turn.at),
        "recorded_at": _format_time(turn.recorded_at),
        "thought_at": _format_time(turn.thought_at),
        "key": turn.key,
        "asker": turn.asker,
        "answerer": turn.answerer,
        "recalled": [recalled_item_to_json(used) for used in turn.recalled],
        "checks": [check_to_json(check) for check in turn.checks],
    }


def turn_from_json(data: Mapping[str, Any]) -> Turn:
    return _parse("turn", data, _parse_turn)


def _parse_turn(data: Mapping[str, Any]) -> Turn:
    return Turn(
        id=int(data["id"]),
        session=str(data["session"]),
        query=str(data["query"]),
        response=str(data["response"]),
        at=_parse_required_time(data["at"]),
        recorded_at=_parse_required_time(data["recorded_at"]),
        thought_at=_parse_time(data.get("thought_at")),
        key=data.get("key"),
        asker=str(data["asker"]),
        answerer=str(data["answerer"]),
        recalled=tuple(recalled_item_from_json(used) for used in data.get("recalled", ())),
        checks=tuple(check_from_json(check) for check in data.get("checks", ())),
    )


def recalled_item_to_json(used: RecalledItem) -> list[Any]:
    return [used.kind, used.id, used.score, used.cosine, used.lexical, used.group]


def recalled_item_from_json(data: list[Any]) -> RecalledItem:
    return RecalledItem(*data)


def check_to_json(check: ConsistencyCheck) -> Json:
    return asdict(check)


def check_from_json(data: Mapping[str, Any]) -> ConsistencyCheck:
    return ConsistencyCheck(
        thought=int(data["thought"]),
        way=data["way"],
        words=str(data["words"]),
        reason=str(data["reason"]),
        score=float(data["score"]),
        threshold=float(data["threshold"]),
        draft=int(data["draft"]),
        outcome=data["outcome"],
    )


def thought_to_json(thought: Thought) -> Json:
    return {
        "id": thought.id,
        "subject": thought.subject,
        "relation": thought.relation,
        "objects": list(thought.objects),
        "sentence": thought.sentence,
        "kind": thought.kind,
        "negated": thought.negated,
        "valid_from": _format_time(thought.valid_from),
        "valid_to": _format_time(thought.valid_to),
        "recorded_at": _format_time(thought.recorded_at),
        "retired_at": _format_time(thought.retired_at),
        "sources": [source_to_json(source) for source in thought.sources],
    }


def thought_from_json(data: Mapping[str, Any]) -> Thought:
    return _parse("thought", data, _parse_thought)


def _parse_thought(data: Mapping[str, Any]) -> Thought:
    return Thought(
        id=int(data["id"]),
        subject=str(data["subject"]),
        relation=str(data["relation"]),
        objects=tuple(str(item) for item in data["objects"]),
        sentence=str(data["sentence"]),
        kind=data["kind"],
        negated=bool(data["negated"]),
        valid_from=_parse_time(data["valid_from"]),
        valid_to=_parse_time(data["valid_to"]),
        recorded_at=_parse_required_time(data["recorded_at"]),
        retired_at=_parse_time(data["retired_at"]),
        sources=tuple(source_from_json(source) for source in data["sources"]),
    )


def source_to_json(source: Source) -> list[Any]:
    return [source.turn, source.speaker, source.side, source.start, source.end]


def source_from_json(data: list[Any]) -> Source:
    return Source(*data)


def action_to_json(action: Action) -> Json:
    return {
        "id": action.id,
        "action": action.action,
        "reason": action.reason,
        "actor": action.actor,
        "at": _format_time(action.at),
        "turn": action.turn,
        "undoes": action.undoes,
        "undone_by": action.undone_by,
        "before": [thought_to_json(thought) for thought in action.before],
        "after": [thought_to_json(thought) for thought in action.after],
    }


def action_from_json(data: Mapping[str, Any]) -> Action:
    return _parse("action", data, _parse_action)


def _parse_action(data: Mapping[str, Any]) -> Action:
    return Action(
        id=int(data["id"]),
        action=data["action"],
        reason=str(data["reason"]),
        actor=str(data["actor"]),
        at=_parse_required_time(data["at"]),
        turn=data["turn"],
        undoes=data["undoes"],
        undone_by=data["undone_by"],
        before=tuple(_parse_thought(thought) for thought in data["before"]),
        after=tuple(_parse_thought(thought) for thought in data["after"]),
    )


def entity_to_json(entity: Entity) -> Json:
    return {"id": entity.id, "name": entity.name, "aliases": list(entity.aliases)}


def entity_from_json(data: Mapping[str, Any]) -> Entity:
    return _parse("entity", data, lambda d: Entity(int(d["id"]), str(d["name"]), tuple(d["aliases"])))


def summary_to_json(summary: Summary) -> Json:
    return asdict(summary)


def summary_from_json(data: Mapping[str, Any]) -> Summary:
    return _parse("summary", data, _parse_summary)


def _parse_summary(data: Mapping[str, Any]) -> Summary:
    if data["talk"] not in CONVERSATION_TYPES:
        raise ValueError(f"no kind of talk is called {data['talk']!r}")
    lists = ("needs", "constraints", "facts", "to_clarify", "discussed")
    return Summary(
        session=str(data["session"]),
        version=int(data["version"]),
        turn=int(data["turn"]),
        talk=data["talk"],
        topic=str(data["topic"]),
        conclusion=str(data["conclusion"]),
        excluded=tuple(ExcludedOption(str(each["option"]), str(each["reason"])) for each in data["excluded"]),
        **{name: tuple(str(item) for item in data[name]) for name in lists},
    )


def summary_update_to_json(update: SummaryUpdate) -> Json:
    return {**asdict(update), "at": _format_time(update.at)}


def summary_update_from_json(data: Mapping[str, Any]) -> SummaryUpdate:
    return _parse("summary update", data, _parse_summary_update)


def _parse_summary_update(data: Mapping[str, Any]) -> SummaryUpdate:
    return SummaryUpdate(
        session=str(data["session"]),
        version=int(data["version"]),
        turn=int(data["turn"]),
        actor=str(data["actor"]),
        at=_parse_required_time(data["at"]),
        edits=tuple(SummaryEdit(**edit) for edit in data["edits"]),
        problem=str(data["problem"]),
    )


def _parse(what: str, data: Mapping[str, Any], build: Callable[[Mapping[str, Any]], _Value]) -> _Value:
    try:
        return build(data)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InvalidInput(f"this is not a {what} as thinkback exports it: {error!r}") from error


# --- what comes from outside -----------------------------------------------------------------


def check_field_types(value: Any) -> None:
    """Refuse a value whose fields are not what their types say: what is read from a file may be anything.

    Not done for what the store itself has written: that is read often.
    """
    for name, hint in _type_hints(value.__class__).items():
        if not _matches_type(getattr(value, name), hint):
            what = type(value).__name__.lower()
            raise InvalidInput(f"{name} of a {what} is not as thinkback exports it")


@cache
def _type_hints(kind: Any) -> dict[str, Any]:
    return get_type_hints(kind)


def _matches_type(value: Any, hint: Any) -> bool:
    origin, inner = get_origin(hint), get_args(hint)
    if origin is UnionType:
        fits = any(_matches_type(value, each) for each in inner)
    elif origin is Literal:
        fits = isinstance(value, str) and value in inner
    elif origin is tuple:
        fits = isinstance(value, tuple) and all(_matches_type(item, inner[0]) for item in value)
    elif hint is int:
        fits = type(value) is int and 0 <= value < 1 << 63
    elif hint is float:
        fits = type(value) in (int, float) and math.isfinite(value)
    else:
        fits = isinstance(value, hint)
        if is_dataclass(hint):
            check_field_types(value)
    return fits
