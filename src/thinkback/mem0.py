"""Memories from mem0: where they belong here, and its exports as lines that `Memory.import_` reads.

An export is a JSON list, `{"results": [...]}`, `{"memories": [...]}`, or one object a line. A memory becomes
a turn said when it was made, or last changed, under a key of its own: to import it again changes nothing.

for user, lines in mem0.by_user(text).items():
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
"""How the key of a turn begins that was a memory of mem0."""

DEFAULT_NAME = "default"
AGENT_PREFIX, RUN_PREFIX = "agent:", "run:"
_TEXT_FIELDS = ("memory", "text", "data")
_LIST_FIELDS = ("results", "memories")
_ID_FIELDS = ("user_id", "agent_id", "run_id")


@dataclass(frozen=True, slots=True)
class Mem0Scope:
    """Where a memory belongs: the first of mem0's identifiers names the space, the others a session of it.

    A user's space goes by the user's name, an agent's is `agent:NAME`, a run's `run:NAME`. In it, a run is
    the session of its name, and an agent's talks are `agent:NAME`, or `agent:NAME run:NAME`.
    """

    user: str
    agent: str = ""
    run: str = ""

    def __post_init__(self) -> None:
        if " " in self.agent:
            raise InvalidInput("an agent_id has no spaces here: it is part of a session's name")
        if self.run.startswith(AGENT_PREFIX):
            raise InvalidInput("no run_id begins with agent: here: so begin the sessions of agents")

    @property
    def session(self) -> str:
        if not self.agent:
            return self.run or DEFAULT_NAME
        return (
            f"{AGENT_PREFIX}{self.agent} {RUN_PREFIX}{self.run}"
            if self.run
            else f"{AGENT_PREFIX}{self.agent}"
        )


def resolve_scope(user: str, agent: str, run: str) -> Mem0Scope | None:
    """The place that identifiers name; empty ones are not given. None if none is."""
    if user.startswith((AGENT_PREFIX, RUN_PREFIX)):
        raise InvalidInput("no user_id begins with agent: or run: here: so begin those of agents and runs")
    if user:
        return Mem0Scope(user, agent, run)
    if agent:
        return Mem0Scope(f"{AGENT_PREFIX}{agent}", "", run)
    return Mem0Scope(f"{RUN_PREFIX}{run}") if run else None


def lines_by_user(text: str, user: str = DEFAULT_NAME, *, all_to_user: bool = False) -> dict[str, list[str]]:
    """The lines of each user; those of nobody are `user`'s, and with `only` all are.

    Everything is read and checked first: what is wrong is named with its line or its number in the list.
    """
    found: dict[str, list[str]] = {}
    seen: dict[tuple[str, str], str] = {}
    for where, item in _parse_items(text):
        try:
            place, line = _to_import_line(item, user, all_to_user=all_to_user)
            key = (place.user, line["key"])
            if seen.setdefault(key, line["query"]) != line["query"]:
                raise InvalidInput(f"the id {item['id']!r:.80} comes twice, with other words")
        except InvalidInput as error:
            raise InvalidInput(f"{where}: {error}") from error
        found.setdefault(place.user, []).append(json.dumps(line, ensure_ascii=False))
    return found


def _parse_items(text: str) -> Iterator[tuple[str, Any]]:
    """Every memory of an export, with where it stands."""
    try:
        whole = json.loads(text)
    except RecursionError as error:
        raise InvalidInput("nested too deeply") from error
    except json.JSONDecodeError as error:
        if error.msg != "Extra data":
            raise InvalidInput(f"line {error.lineno}: no JSON: {error.msg}") from error
        yield from _parse_lines(text.split("\n"))
        return
    if isinstance(whole, dict) and not any(name in whole for name in _TEXT_FIELDS):
        whole = next((whole[name] for name in _LIST_FIELDS if isinstance(whole.get(name), list)), None)
    if isinstance(whole, dict):
        whole = [whole]
    if not isinstance(whole, list):
        names = " or ".join(f'"{name}"' for name in _LIST_FIELDS)
        raise InvalidInput(f"no export of mem0: expected a list of memories, or an object with {names}")
    for number, item in enumerate(whole, start=1):
        yield f"memory {number}", item


def _parse_lines(lines: Iterable[str]) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield f"line {number}", json.loads(line)
            except (ValueError, RecursionError) as error:
                raise InvalidInput(f"line {number}: no JSON: {error}") from error


def _to_import_line(item: Any, user: str, *, all_to_user: bool) -> tuple[Mem0Scope, dict[str, Any]]:
    """Where a memory goes, and the turn it becomes."""
    if not isinstance(item, Mapping):
        raise InvalidInput("a memory is a JSON object")
    words = next((item[name] for name in _TEXT_FIELDS if item.get(name) is not None), "")
    query = checked_text(words, "memory")
    if not query.strip():
        raise InvalidInput(f"it has no words under {', '.join(_TEXT_FIELDS)}")
    if not isinstance(item.get("id"), (str, int)) or item["id"] == "":
        raise InvalidInput("it has no id")
    named = [_read_id(item, name) for name in _ID_FIELDS]
    place = resolve_scope(*named) or Mem0Scope(user)
    if all_to_user:
        place = Mem0Scope(user, *named[1:])
    checked_name(place.user, "user")
    session = checked_name(place.session, "session")
    made, changed = _read_time(item, "created_at"), _read_time(item, "updated_at")
    key, at = f"{KEY_PREFIX}{item['id']}", made or changed
    if changed is not None and made is not None and changed > made:
        key, at = f"{key}@{changed.isoformat()}", changed
    line = {"query": query, "session": session, "key": checked_name(key, "id")}
    return place, line if at is None else {**line, "at": at.isoformat()}


def _read_id(item: Mapping[str, Any], name: str) -> str:
    value = item.get(name)
    if value is not None and not isinstance(value, (str, int)):
        raise InvalidInput(f"{name} is a name, not {value!r:.80}")
    return "" if value is None else checked_text(str(value), name).strip()


def _read_time(item: Mapping[str, Any], name: str) -> datetime | None:
    """ISO 8601; without a zone it is taken as UTC, as mem0 writes it."""
    value = item.get(name)
    if value is None:
        return None
    try:
        time = datetime.fromisoformat(str(value))
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidInput(f"{name} {value!r:.80} is no time in ISO 8601") from error
