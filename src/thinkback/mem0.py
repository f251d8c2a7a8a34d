"""Import of mem0 exports, and the mapping of mem0 identifiers to users and sessions.

An export is a JSON list, `{"results": [...]}`, `{"memories": [...]}`, or one object per line. Each memory
becomes a turn at the time it was created or last updated. Its key is derived from the mem0 id, so importing
the same export twice changes nothing.

for user, lines in mem0.lines_by_user(text).items():
    memory.for_user(user).import_(lines)
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from thinkback.errors import InvalidInput
from thinkback.validation import checked_name, checked_text

KEY_PREFIX = "mem0:"
"""Prefix of the keys of turns imported from mem0."""

DEFAULT_NAME = "default"
AGENT_PREFIX, RUN_PREFIX = "agent:", "run:"
_TEXT_FIELDS = ("memory", "text", "data")
_LIST_FIELDS = ("results", "memories")
_ID_FIELDS = ("user_id", "agent_id", "run_id")


@dataclass(frozen=True, slots=True)
class Mem0Scope:
    """The user and session for mem0's identifiers: the first names the user, the others the session.

    The user of an agent is `agent:NAME`, that of a run `run:NAME`. The session is the name of the run, or
    `agent:NAME`, or `agent:NAME run:NAME`.
    """

    user: str
    agent: str = ""
    run: str = ""

    def __post_init__(self) -> None:
        if " " in self.agent:
            raise InvalidInput("agent_id must not contain spaces: it becomes part of a session name")
        if self.run.startswith(AGENT_PREFIX):
            raise InvalidInput("run_id must not start with agent: (reserved for sessions of agents)")

    @property
    def session(self) -> str:
        if not self.agent:
            return self.run or DEFAULT_NAME
        run = f" {RUN_PREFIX}{self.run}" if self.run else ""
        return f"{AGENT_PREFIX}{self.agent}{run}"


def resolve_scope(user: str, agent: str, run: str) -> Mem0Scope | None:
    """The scope for these identifiers, of which some may be empty; None if all are."""
    if user.startswith((AGENT_PREFIX, RUN_PREFIX)):
        raise InvalidInput("user_id must not start with agent: or run: (reserved for agents and runs)")
    if user:
        return Mem0Scope(user, agent, run)
    if agent:
        return Mem0Scope(f"{AGENT_PREFIX}{agent}", "", run)
    return Mem0Scope(f"{RUN_PREFIX}{run}") if run else None


def lines_by_user(text: str, user: str = DEFAULT_NAME, *, all_to_user: bool = False) -> dict[str, list[str]]:
    """The lines to import for each user.

    Args:
        text: a mem0 export.
        user: the user of memories without identifiers.
        all_to_user: assign all memories to `user`.

    Raises:
        InvalidInput: a memory is invalid; the message names its line or its number in the list.
    """
    lines: dict[str, list[str]] = {}
    seen: dict[tuple[str, str], str] = {}
    for position, item in _parse_items(text):
        try:
            scope, line = _to_import_line(item, user, all_to_user=all_to_user)
            key = (scope.user, line["key"])
            if seen.setdefault(key, line["query"]) != line["query"]:
                raise InvalidInput(f"the id {item['id']!r:.80} is used twice with different texts")
        except InvalidInput as error:
            raise InvalidInput(f"{position}: {error}") from error
        lines.setdefault(scope.user, []).append(json.dumps(line, ensure_ascii=False))
    return lines


def _parse_items(text: str) -> Iterator[tuple[str, Any]]:
    """The memories of an export, each with its position."""
    try:
        data = json.loads(text)
    except RecursionError as error:
        raise InvalidInput("nested too deeply") from error
    except json.JSONDecodeError as error:
        if error.msg != "Extra data":
            raise InvalidInput(f"line {error.lineno}: invalid JSON: {error.msg}") from error
        yield from _parse_lines(text.split("\n"))
        return
    if isinstance(data, dict) and not any(name in data for name in _TEXT_FIELDS):
        data = next((data[name] for name in _LIST_FIELDS if isinstance(data.get(name), list)), None)
    if isinstance(data, dict):
        data = [data]
    if not isinstance(data, list):
        names = " or ".join(f'"{name}"' for name in _LIST_FIELDS)
        raise InvalidInput(f"not a mem0 export: expected a list of memories, or an object with {names}")
    for number, item in enumerate(data, start=1):
        yield f"memory {number}", item


def _parse_lines(lines: Iterable[str]) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield f"line {number}", json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InvalidInput(f"line {number}: invalid JSON: {error}") from error


def _to_import_line(item: Any, user: str, *, all_to_user: bool) -> tuple[Mem0Scope, dict[str, Any]]:
    """The scope of a memory, and the turn to import."""
    if not isinstance(item, Mapping):
        raise InvalidInput("a memory must be a JSON object")
    text = next((item[name] for name in _TEXT_FIELDS if item.get(name) is not None), "")
    query = checked_text(text, "memory")
    if not query.strip():
        raise InvalidInput(f"the memory has no text in {', '.join(_TEXT_FIELDS)}")
    if not isinstance(item.get("id"), (str, int)) or item["id"] == "":
        raise InvalidInput("the memory has no id")
    ids = [_read_id(item, name) for name in _ID_FIELDS]
    scope = resolve_scope(*ids) or Mem0Scope(user)
    if all_to_user:
        scope = Mem0Scope(user, *ids[1:])
    checked_name(scope.user, "user")
    session = checked_name(scope.session, "session")
    created, updated = _read_time(item, "created_at"), _read_time(item, "updated_at")
    key, at = f"{KEY_PREFIX}{item['id']}", created or updated
    if updated is not None and created is not None and updated > created:
        key, at = f"{key}@{updated.isoformat()}", updated
    line = {"query": query, "session": session, "key": checked_name(key, "id")}
    return scope, line if at is None else {**line, "at": at.isoformat()}


def _read_id(item: Mapping[str, Any], name: str) -> str:
    value = item.get(name)
    if value is not None and not isinstance(value, (str, int)):
        raise InvalidInput(f"{name} must be a name, not {value!r:.80}")
    return "" if value in (None, "") else checked_name(str(value), name)


def _read_time(item: Mapping[str, Any], name: str) -> datetime | None:
    """Parse ISO 8601; a time without a zone is UTC, as mem0 writes it."""
    value = item.get(name)
    if value is None:
        return None
    try:
        time = datetime.fromisoformat(str(value))
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(f"{name} {value!r:.80} is not an ISO 8601 time") from error
