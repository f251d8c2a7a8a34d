"""Export and import: a space as JSON lines, complete; and turns from elsewhere, one a line.

An export holds the rows that are the truth (turns, entities, journal, summaries); thoughts follow from the
journal, and the index is derived anew. Lines from elsewhere are `{"query", "response", "at", "session",
"key"}` or `{"messages": [{"role", "content"}, ...]}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from thinkback import codec
from thinkback.errors import Conflict, Contradiction, InvalidInput
from thinkback.ports import Store
from thinkback.types import Action, Entity, Summary, SummaryUpdate, Turn

FORMAT = 1
_PAGE = 500
_TRIES = 10
_SILENT = ("system", "developer", "tool", "function")  # roles that tell nothing of the user


def export_space(store: Store, space: str) -> Iterator[str]:
    """One JSON object a line, in an order that can be read back in one pass, as of one moment."""
    for _ in range(_TRIES):
        seen = store.stamp(space)
        lines = list(_lines(store, space))
        if store.stamp(space) == seen:  # else a turn may stand as pending beside what came of it
            return iter(lines)
    raise Conflict(f"the memories of {space!r} keep changing: export them when the background work has ended")


def _lines(store: Store, space: str) -> Iterator[str]:
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
    for summary in store.summaries(space):
        yield _line({"type": "summary", **codec.summary_to_json(summary)})
        for update in store.summary_updates(space, summary.session):
            if update.version <= summary.version:  # no later one, made while we read
                yield _line({"type": "summary update", **codec.update_to_json(update)})


@dataclass
class Exported:
    """One space read from an export."""

    user: str
    turns: list[Turn] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)
    updates: list[SummaryUpdate] = field(default_factory=list)
    seen: set[tuple[str, int | str]] = field(default_factory=set)

    def take(self, kind: str, data: dict[str, Any]) -> None:
        _line(data).encode()  # a lone surrogate fits no file and no store
        if kind in ("summary", "summary update"):
            self._take_summary(kind, data)
            return
        value: Turn | Action | Entity
        if kind == "turn":
            value = codec.turn_from_json(data)
            self.turns.append(value)
        elif kind == "action":
            value = codec.action_from_json(data)
            self.actions.append(value)
        else:
            value = codec.entity_from_json(data)
            self.entities.append(value)
        codec.sound(value)
        if not value.id or (kind, value.id) in self.seen:
            raise InvalidInput(f"{kind} {value.id} is out of range, or comes twice")
        self.seen.add((kind, value.id))

    def _take_summary(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "summary":
            summary = codec.summary_from_json(data)
            codec.sound(summary)
            self.summaries.append(summary)
            key = (kind, summary.session)
        else:
            update = codec.update_from_json(data)
            codec.sound(update)
            self.updates.append(update)
            key = (kind, f"{update.session} {update.version}")
        if key in self.seen:
            raise InvalidInput(f"the {kind} of session {data['session']!r} comes twice")
        self.seen.add(key)


@dataclass(frozen=True, slots=True)
class Foreign:
    """What somebody else's line tells: one question and its response, not yet checked."""

    number: int
    query: Any
    response: Any
    at: datetime | None
    session: Any
    key: Any


def read(lines: Iterable[str]) -> tuple[Exported | None, list[Foreign]]:
    """An export, or turns from elsewhere, read to the end before any is written; errors name the line."""
    exported: Exported | None = None
    foreign: list[Foreign] = []
    for number, line in enumerate(lines.split("\n") if isinstance(lines, str) else lines, start=1):
        if not line.strip():
            continue
        try:
            data = _object(line)
            kind = data.get("type")
            if kind == "thinkback":
                _check_format(data)
            elif kind == "space":
                exported = _space(data, exported)
            elif kind in ("turn", "action", "entity", "summary", "summary update"):
                if exported is None:
                    raise InvalidInput(f"a {kind} before its space")
                exported.take(kind, data)
            else:
                foreign.extend(_foreign(data, number))
            if exported is not None and foreign:
                raise InvalidInput("an export and turns from elsewhere in one file: import each by itself")
        except RecursionError as error:
            raise InvalidInput(f"line {number}: nested too deeply") from error
        except (ValueError, OverflowError) as error:  # InvalidInput is a ValueError
            raise InvalidInput(f"line {number}: {error}") from error
    return exported, foreign


def load(store: Store, space: str, exported: Exported) -> None:
    """Into a space without memories. What each line says was checked; that they agree, the store sees."""
    rows = (exported.turns, exported.actions, exported.entities, exported.summaries, exported.updates)
    try:
        store.load(space, *rows)
    except Contradiction as error:
        raise InvalidInput("the lines of this export contradict one another; none was taken") from error


def pairs(messages: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """Role/content messages as turns: consecutive user messages join, system ones are left out."""
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        raise InvalidInput(f"messages is a list of them, not {messages!r:.80}")
    query: list[str] = []
    response: list[str] = []
    for message in messages:
        role, text = _role_and_text(message)
        if role == "user" and response:
            yield "\n".join(query), "\n".join(response)
            query, response = [], []
        if text.strip():
            (query if role == "user" else response).append(text)
    if query or response:
        yield "\n".join(query), "\n".join(response)


def numbered(key: Any, number: int) -> Any:
    """The key of one turn of many; what is no text is left for the border to refuse."""
    return f"{key}#{number}" if isinstance(key, str) else key


def _check_format(data: dict[str, Any]) -> None:
    if data.get("format") != FORMAT:
        raise InvalidInput(f"export format {data.get('format')!r} is not known here: upgrade thinkback")


def _space(data: dict[str, Any], earlier: Exported | None) -> Exported:
    if earlier is not None:
        raise InvalidInput("one space at a time: import each user's export by itself")
    if not isinstance(data.get("user"), str):
        raise InvalidInput("a space without its user")
    return Exported(data["user"])


def _foreign(data: dict[str, Any], number: int) -> Iterator[Foreign]:
    at = _when(data.get("at"))
    session, key = data.get("session") or "default", data.get("key")
    if "messages" in data:
        for count, (query, response) in enumerate(pairs(data["messages"])):
            yield Foreign(number, query, response, at, session, numbered(key, count))
    elif "query" in data or "response" in data:
        query, response = ("" if data.get(side) is None else data[side] for side in ("query", "response"))
        yield Foreign(number, query, response, at, session, key)
    else:
        raise InvalidInput('expected "query" and "response", or "messages", or a line of a thinkback export')


def _when(value: object) -> datetime | None:
    """ISO 8601; without a zone it is taken as UTC, as data sets mean it."""
    if value is None:
        return None
    time = datetime.fromisoformat(str(value))
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def _role_and_text(message: Any) -> tuple[str, str]:
    """`user` or `assistant`, and the words; a silent role has none."""
    if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
        raise InvalidInput(f"a message is an object with role and content, not {message!r:.80}")
    role, content = message["role"], message.get("content")
    if role in _SILENT:
        return "assistant", ""
    if role not in ("user", "assistant"):
        raise InvalidInput(f"role {role!r:.80} is not known: use user, assistant or {', '.join(_SILENT)}")
    if isinstance(content, list):  # parts of the OpenAI format; images and the like carry no words
        texts = (part.get("text") for part in content if isinstance(part, Mapping))
        content = "\n".join(text for text in texts if isinstance(text, str))
    if content is not None and not isinstance(content, str):
        raise InvalidInput(f"the content of a message is text or a list of parts, not {content!r:.80}")
    return role, content or ""


def _object(line: str) -> dict[str, Any]:
    data = json.loads(line)
    if not isinstance(data, dict):
        raise InvalidInput("expected a JSON object")
    return data


def _line(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
