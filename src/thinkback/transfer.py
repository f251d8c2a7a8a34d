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
from thinkback.errors import Conflict, IntegrityError, InvalidInput
from thinkback.protocols import Store
from thinkback.types import Action, Entity, Summary, SummaryUpdate, Turn

EXPORT_FORMAT = 1
_PAGE_ROWS = 500
_MAX_EXPORT_ATTEMPTS = 10
_IGNORED_ROLES = ("system", "developer", "tool", "function")  # roles that tell nothing of the user


def export_space(store: Store, space: str) -> Iterator[str]:
    """One JSON object a line, in an order that can be read back in one pass, as of one moment."""
    for _ in range(_MAX_EXPORT_ATTEMPTS):
        seen = store.stamp(space)
        lines = list(_export_lines(store, space))
        if store.stamp(space) == seen:  # else a turn may stand as pending beside what came of it
            return iter(lines)
    raise Conflict(f"the memories of {space!r} keep changing: export them when the background work has ended")


def _export_lines(store: Store, space: str) -> Iterator[str]:
    yield _dump_line({"type": "thinkback", "format": EXPORT_FORMAT})
    yield _dump_line({"type": "space", "user": space})
    for entity in store.entities(space):
        yield _dump_line({"type": "entity", **codec.entity_to_json(entity)})
    after = 0
    while turns := store.turns(space, after=after, limit=_PAGE_ROWS):
        for turn in turns:
            yield _dump_line({"type": "turn", **codec.turn_to_json(turn)})
        after = turns[-1].id
    after = 0
    while actions := store.journal(space, after=after, limit=_PAGE_ROWS):
        for action in actions:
            yield _dump_line({"type": "action", **codec.action_to_json(action)})
        after = actions[-1].id
    for summary in store.summaries(space):
        yield _dump_line({"type": "summary", **codec.summary_to_json(summary)})
        for update in store.summary_updates(space, summary.session):
            if update.version <= summary.version:  # no later one, made while we read
                yield _dump_line({"type": "summary update", **codec.summary_update_to_json(update)})


@dataclass
class ExportedSpace:
    """One space read from an export."""

    user: str
    turns: list[Turn] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)
    updates: list[SummaryUpdate] = field(default_factory=list)
    seen: set[tuple[str, int | str]] = field(default_factory=set)

    def add(self, kind: str, data: dict[str, Any]) -> None:
        _dump_line(data).encode()  # a lone surrogate fits no file and no store
        if kind in ("summary", "summary update"):
            self._add_summary(kind, data)
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
        codec.check_field_types(value)
        if not value.id or (kind, value.id) in self.seen:
            raise InvalidInput(f"{kind} {value.id} is out of range, or comes twice")
        self.seen.add((kind, value.id))

    def _add_summary(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "summary":
            summary = codec.summary_from_json(data)
            codec.check_field_types(summary)
            self.summaries.append(summary)
            key = (kind, summary.session)
        else:
            update = codec.summary_update_from_json(data)
            codec.check_field_types(update)
            self.updates.append(update)
            key = (kind, f"{update.session} {update.version}")
        if key in self.seen:
            raise InvalidInput(f"the {kind} of session {data['session']!r} comes twice")
        self.seen.add(key)


@dataclass(frozen=True, slots=True)
class ImportedTurn:
    """What somebody else's line tells: one question and its response, not yet checked."""

    number: int
    query: Any
    response: Any
    at: datetime | None
    session: Any
    key: Any


def parse_import(lines: Iterable[str]) -> tuple[ExportedSpace | None, list[ImportedTurn]]:
    """An export, or turns from elsewhere, read to the end before any is written; errors name the line."""
    exported: ExportedSpace | None = None
    foreign: list[ImportedTurn] = []
    for number, line in enumerate(lines.split("\n") if isinstance(lines, str) else lines, start=1):
        if not line.strip():
            continue
        try:
            data = _parse_object(line)
            kind = data.get("type")
            if kind == "thinkback":
                _check_format(data)
            elif kind == "space":
                exported = _start_space(data, exported)
            elif kind in ("turn", "action", "entity", "summary", "summary update"):
                if exported is None:
                    raise InvalidInput(f"a {kind} before its space")
                exported.add(kind, data)
            else:
                foreign.extend(_parse_turns(data, number))
            if exported is not None and foreign:
                raise InvalidInput("an export and turns from elsewhere in one file: import each by itself")
        except RecursionError as error:
            raise InvalidInput(f"line {number}: nested too deeply") from error
        except (ValueError, OverflowError) as error:  # InvalidInput is a ValueError
            raise InvalidInput(f"line {number}: {error}") from error
    return exported, foreign


def load_export(store: Store, space: str, exported: ExportedSpace) -> None:
    """Into a space without memories. What each line says was checked; that they agree, the store sees."""
    rows = (exported.turns, exported.actions, exported.entities, exported.summaries, exported.updates)
    try:
        store.load(space, *rows)
    except IntegrityError as error:
        raise InvalidInput("the lines of this export contradict one another; none was taken") from error


def pair_messages(messages: Sequence[Any]) -> Iterator[tuple[str, str]]:
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


def numbered_key(key: Any, number: int) -> Any:
    """The key of one turn of many; what is no text is left for the border to refuse."""
    return f"{key}#{number}" if isinstance(key, str) else key


def _check_format(data: dict[str, Any]) -> None:
    if data.get("format") != EXPORT_FORMAT:
        raise InvalidInput(f"export format {data.get('format')!r} is not known here: upgrade thinkback")


def _start_space(data: dict[str, Any], earlier: ExportedSpace | None) -> ExportedSpace:
    if earlier is not None:
        raise InvalidInput("one space at a time: import each user's export by itself")
    if not isinstance(data.get("user"), str):
        raise InvalidInput("a space without its user")
    return ExportedSpace(data["user"])


def _parse_turns(data: dict[str, Any], number: int) -> Iterator[ImportedTurn]:
    at = _parse_time(data.get("at"))
    session, key = data.get("session") or "default", data.get("key")
    if "messages" in data:
        for count, (query, response) in enumerate(pair_messages(data["messages"])):
            yield ImportedTurn(number, query, response, at, session, numbered_key(key, count))
    elif "query" in data or "response" in data:
        query, response = ("" if data.get(side) is None else data[side] for side in ("query", "response"))
        yield ImportedTurn(number, query, response, at, session, key)
    else:
        raise InvalidInput('expected "query" and "response", or "messages", or a line of a thinkback export')


def _parse_time(value: object) -> datetime | None:
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
    if role in _IGNORED_ROLES:
        return "assistant", ""
    if role not in ("user", "assistant"):
        raise InvalidInput(
            f"role {role!r:.80} is not known: use user, assistant or {', '.join(_IGNORED_ROLES)}"
        )
    if isinstance(content, list):  # parts of the OpenAI format; images and the like carry no words
        texts = (part.get("text") for part in content if isinstance(part, Mapping))
        content = "\n".join(text for text in texts if isinstance(text, str))
    if content is not None and not isinstance(content, str):
        raise InvalidInput(f"the content of a message is text or a list of parts, not {content!r:.80}")
    return role, content or ""


def _parse_object(line: str) -> dict[str, Any]:
    data = json.loads(line)
    if not isinstance(data, dict):
        raise InvalidInput("expected a JSON object")
    return data


def _dump_line(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
