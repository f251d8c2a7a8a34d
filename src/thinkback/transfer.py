"""Export and import of a space as JSON lines.

An export contains turns (with the metadata that clients gave them), entities, journal and summaries.
Thoughts are restored from the journal, and the index is rebuilt. Turns of other systems can be imported too,
one JSON object per line: `{"query", "response", "at", "session", "key"}` or
`{"messages": [{"role", "content"}, ...]}`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from thinkback.errors import Conflict, IntegrityError, InvalidInput
from thinkback.language.safety.quarantine import scanned
from thinkback.protocols import Store
from thinkback.schemas import check_field_types, from_stored_json, to_stored_json
from thinkback.types import Action, Entity, Summary, SummaryUpdate, Turn
from thinkback.validation import checked_name

EXPORT_FORMAT = 1
_PAGE_ROWS = 500
_MAX_EXPORT_ATTEMPTS = 10
_IGNORED_ROLES = ("system", "developer", "tool", "function")  # they say nothing about the user


def export_space(store: Store, space: str) -> Iterator[str]:
    """The lines of an export: a consistent snapshot, in an order that can be read in one pass.

    Raises:
        Conflict: the space changed during every attempt.
    """
    for _ in range(_MAX_EXPORT_ATTEMPTS):
        stamp = store.stamp(space)
        lines = list(_export_lines(store, space))
        if store.stamp(space) == stamp:  # otherwise a turn could be pending although its thoughts are there
            return iter(lines)
    raise Conflict(f"the memories of {space!r} keep changing: export them when no background work is running")


def _export_lines(store: Store, space: str) -> Iterator[str]:
    yield _dump_line({"type": "thinkback", "format": EXPORT_FORMAT})
    yield _dump_line({"type": "space", "user": space})
    for entity in store.entities(space):
        yield _dump_line({"type": "entity", **to_stored_json(entity)})
    after = 0
    while turns := store.turns(space, after=after, limit=_PAGE_ROWS, hidden=True):
        metadata = store.metadata(space, [turn.id for turn in turns])
        for turn in turns:
            given = {"metadata": metadata[turn.id]} if turn.id in metadata else {}
            yield _dump_line({"type": "turn", **to_stored_json(turn), **given})
        after = turns[-1].id
    after = 0
    while actions := store.journal(space, after=after, limit=_PAGE_ROWS):
        for action in actions:
            yield _dump_line({"type": "action", **to_stored_json(action)})
        after = actions[-1].id
    for summary in store.summaries(space):
        yield _dump_line({"type": "summary", **to_stored_json(summary)})
        for update in store.summary_updates(space, summary.session):
            if update.version <= summary.version:  # skip updates written since
                yield _dump_line({"type": "summary update", **to_stored_json(update)})


@dataclass
class ExportedSpace:
    """A space read from an export. `seen` are the ids read so far."""

    user: str
    turns: list[Turn] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    entities: list[Entity] = field(default_factory=list)
    summaries: list[Summary] = field(default_factory=list)
    updates: list[SummaryUpdate] = field(default_factory=list)
    metadata: dict[int, dict[str, Any]] = field(default_factory=dict)  # by turn
    seen: set[tuple[str, int | str]] = field(default_factory=set)

    def add(self, kind: str, data: dict[str, Any]) -> None:
        _dump_line(data).encode()  # fails for a lone surrogate, which no file or store can hold
        if kind in ("summary", "summary update"):
            self._add_summary(kind, data)
            return
        value: Turn | Action | Entity
        if kind == "turn":
            metadata = data.pop("metadata", None)
            value = from_stored_json(Turn, data)
            key = None if value.key is None else checked_name(value.key, "key")
            value = replace(value, session=checked_name(value.session, "session"), key=key)
            self.turns.append(value)
            if metadata is not None:
                self._add_metadata(value, metadata)
        elif kind == "action":
            value = from_stored_json(Action, data)
            self.actions.append(value)
        else:
            value = from_stored_json(Entity, data)
            self.entities.append(value)
        check_field_types(value)
        if not value.id or (kind, value.id) in self.seen:
            raise InvalidInput(f"{kind} {value.id} is out of range or duplicated")
        self.seen.add((kind, value.id))

    def _add_metadata(self, turn: Turn, metadata: Any) -> None:
        if not isinstance(metadata, dict):
            raise InvalidInput(f"the metadata of turn {turn.id} is not an object")
        self.metadata[turn.id] = metadata

    def _add_summary(self, kind: str, data: dict[str, Any]) -> None:
        if kind == "summary":
            stored = from_stored_json(Summary, data)
            check_field_types(stored)
            stored = replace(stored, session=checked_name(stored.session, "session"))
            self.summaries.append(stored)
            key = (kind, stored.session)
        else:
            update = from_stored_json(SummaryUpdate, data)
            check_field_types(update)
            update = replace(update, session=checked_name(update.session, "session"))
            summary = next((each for each in self.summaries if each.session == update.session), None)
            if summary is None:
                raise InvalidInput(f"a summary update before the summary of session {update.session!r}")
            if update.version > summary.version:
                raise InvalidInput(f"a summary update newer than the summary of session {update.session!r}")
            self.updates.append(update)
            key = (kind, f"{update.session} {update.version}")
        if key in self.seen:
            raise InvalidInput(f"the {kind} of session {data['session']!r} is duplicated")
        self.seen.add(key)


@dataclass(frozen=True, slots=True)
class ImportedTurn:
    """A turn from another system. The values are not checked yet."""

    line_number: int
    query: Any
    response: Any
    at: datetime | None
    session: Any
    key: Any


def parse_import(
    lines: Iterable[str], *, with_keys: bool = False
) -> tuple[ExportedSpace | None, list[ImportedTurn]]:
    """Parse all lines, which are either an export or turns of another system.

    With `with_keys`, turns of another system without a key get one from their position and text.

    Raises:
        InvalidInput: a line is invalid; the message names it.
    """
    exported: ExportedSpace | None = None
    imported: list[ImportedTurn] = []
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
                for turn in _parse_turns(data, number):
                    imported.append(_with_key(turn, len(imported)) if with_keys else turn)
            if exported is not None and imported:
                raise InvalidInput("the file mixes an export with other turns: import them separately")
        except RecursionError as error:
            raise InvalidInput(f"line {number}: nested too deeply") from error
        except (ValueError, OverflowError) as error:  # InvalidInput is a ValueError
            raise InvalidInput(f"line {number}: {error}") from error
    return exported, imported


def _with_key(turn: ImportedTurn, position: int) -> ImportedTurn:
    """The turn with a key: the same for the same text at the same position."""
    if turn.key is not None:
        return turn
    content = json.dumps([position, turn.session, turn.query, turn.response], default=str)
    return replace(turn, key=f"import-{sha256(content.encode()).hexdigest()[:32]}")


def load_export(store: Store, space: str, exported: ExportedSpace) -> None:
    """Write an export into a space without memories. The store checks that the values are consistent."""
    turns = [scanned(turn) if turn.thought_at else turn for turn in exported.turns]
    rows = (turns, exported.actions, exported.entities, exported.summaries, exported.updates)
    try:
        store.load(space, *rows, exported.metadata)
    except IntegrityError as error:
        raise InvalidInput("the lines of this export contradict each other; nothing was imported") from error


def pair_messages(messages: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """(query, response) pairs of role/content messages.

    Consecutive messages of the same side are joined; system and tool messages are skipped.
    """
    if not isinstance(messages, Sequence) or isinstance(messages, str):
        raise InvalidInput(f"messages must be a list, not {messages!r:.80}")
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
    """The key of turn `number` of several. A key that is not text is returned as it is and rejected later."""
    return f"{key}#{number}" if isinstance(key, str) else key


def _check_format(data: dict[str, Any]) -> None:
    if data.get("format") != EXPORT_FORMAT:
        raise InvalidInput(f"unknown export format {data.get('format')!r}: upgrade thinkback")


def _start_space(data: dict[str, Any], earlier: ExportedSpace | None) -> ExportedSpace:
    if earlier is not None:
        raise InvalidInput("the file has several spaces: import each user's export separately")
    if not isinstance(data.get("user"), str):
        raise InvalidInput("the space has no user")
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
    """Parse ISO 8601; a time without a zone is UTC, as in most data sets."""
    if value is None:
        return None
    time = datetime.fromisoformat(str(value))
    return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)


def _role_and_text(message: Any) -> tuple[str, str]:
    """`user` or `assistant`, and the text; ignored roles have no text."""
    if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
        raise InvalidInput(f"a message must be an object with role and content, not {message!r:.80}")
    role, content = message["role"], message.get("content")
    if role in _IGNORED_ROLES:
        return "assistant", ""
    if role not in ("user", "assistant"):
        raise InvalidInput(f"unknown role {role!r:.80}: use user, assistant or {', '.join(_IGNORED_ROLES)}")
    if isinstance(content, list):  # OpenAI content parts; images and the like have no text
        texts = (part.get("text") for part in content if isinstance(part, Mapping))
        content = "\n".join(text for text in texts if isinstance(text, str))
    if content is not None and not isinstance(content, str):
        raise InvalidInput(f"the content of a message must be text or a list of parts, not {content!r:.80}")
    return role, content or ""


def _parse_object(line: str) -> dict[str, Any]:
    data = json.loads(line)
    if not isinstance(data, dict):
        raise InvalidInput("expected a JSON object")
    return data


def _dump_line(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
