"""Export and import: a space as JSON lines, complete; and turns from elsewhere, one a line.

An export holds the rows that are the truth (turns, entities, journal); thoughts follow from the journal,
and the index is derived anew. Lines from elsewhere are `{"query", "response", "at", "session", "key"}` or
`{"messages": [{"role", "content"}, ...]}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from thinkback import codec
from thinkback.errors import InvalidInput
from thinkback.ports import Store
from thinkback.types import Action, Entity, Turn

FORMAT = 1
_PAGE = 500


def export_space(store: Store, space: str) -> Iterator[str]:
    """One JSON object a line, in an order that can be read back in one pass."""
    yield _line({"type": "thinkback", "format": FORMAT})
    yield _line({"type": "space", "user": space})
    for entity in store.entities(space):
        yield _line({"type": "entity", **codec.entity_to_json(entity)})
    after = 0
    while turns := store.turns(space, after=after, limit=_PAGE):
        for turn in turns:
            yield _line({"type": "turn", **codec.turn_to_json(turn)})
        after = turns[-1].id
    after = 0
    while actions := store.journal(space, after=after, limit=_PAGE):
        for action in actions:
            yield _line({"type": "action", **codec.action_to_json(action)})
        after = actions[-1].id


@dataclass
class Exported:
    """One space read from an export."""

    user: str
    turns: list[Turn] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)


@dataclass
class Foreign:
    """What somebody else's line tells: messages or one question and its response."""

    query: str
    response: str
    at: datetime | None
    session: str | None
    key: str | None


def read(lines: Iterable[str]) -> tuple[list[Exported], list[Foreign]]:
    """All of it, checked before anything is written; an error names the line."""
    spaces: list[Exported] = []
    foreign: list[Foreign] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            _take(_object(line), spaces, foreign)
        except (ValueError, OverflowError) as error:  # InvalidInput is a ValueError
            raise InvalidInput(f"line {number}: {error}") from error
        except RecursionError as error:
            raise InvalidInput(f"line {number}: nested too deeply") from error
    return spaces, foreign


def pairs(messages: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """Role/content messages as turns: consecutive user messages join, system ones are left out."""
    query: list[str] = []
    response: list[str] = []
    for message in messages:
        role, text = _role_and_text(message)
        if role == "user":
            if response:
                yield "\n".join(query), "\n".join(response)
                query, response = [], []
            query.append(text)
        elif role == "assistant" and text:
            response.append(text)
    if query or response:
        yield "\n".join(query), "\n".join(response)


def _take(data: dict[str, Any], spaces: list[Exported], foreign: list[Foreign]) -> None:
    kind = data.get("type")
    if kind == "thinkback":
        if data.get("format") != FORMAT:
            raise InvalidInput(f"export format {data.get('format')!r} is not known here: upgrade thinkback")
    elif kind == "space":
        if not isinstance(data.get("user"), str):
            raise InvalidInput("a space without its user")
        spaces.append(Exported(data["user"]))
    elif kind in ("turn", "action", "entity"):
        if not spaces:
            raise InvalidInput(f"a {kind} before its space")
        if kind == "turn":
            spaces[-1].turns.append(codec.turn_from_json(data))
        elif kind == "action":
            spaces[-1].actions.append(codec.action_from_json(data))
        else:
            spaces[-1].entities.append(codec.entity_from_json(data))
    else:
        foreign.extend(_foreign(data))


def _foreign(data: dict[str, Any]) -> Iterator[Foreign]:
    at = _when(data.get("at"))
    session, key = data.get("session"), data.get("key")
    if "messages" in data:
        if not isinstance(data["messages"], list):
            raise InvalidInput(f"messages is a list of them, not {data['messages']!r:.80}")
        for number, (query, response) in enumerate(pairs(data["messages"])):
            yield Foreign(query, response, at, session, None if key is None else f"{key}#{number}")
    elif "query" in data or "response" in data:
        yield Foreign(str(data.get("query") or ""), str(data.get("response") or ""), at, session, key)
    else:
        raise InvalidInput('expected "query" and "response", or "messages", or a line of a thinkback export')


def _when(value: object) -> datetime | None:
    """ISO 8601; without a zone it is taken as UTC, as data sets mean it."""
    if value is None:
        return None
    time = datetime.fromisoformat(str(value))
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def _role_and_text(message: Any) -> tuple[str, str]:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise InvalidInput(f"a message is an object with role and content, not {message!r:.80}")
    content = message.get("content")
    if isinstance(content, list):  # parts of the OpenAI format; images and the like carry no words
        content = "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return message["role"], "" if content is None else str(content)


def _object(line: str) -> dict[str, Any]:
    data = json.loads(line)
    if not isinstance(data, dict):
        raise InvalidInput("expected a JSON object")
    return data


def _line(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
