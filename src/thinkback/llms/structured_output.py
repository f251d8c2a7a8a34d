"""JSON replies of language models: extraction from text, and validation against the JSON schema that was asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from thinkback.errors import BadReply
from thinkback.types import Message

JSON_TYPE_CHECKS: dict[str, Callable[[Any], bool]] = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "integer": lambda v: (
        not isinstance(v, bool) and (isinstance(v, int) or (isinstance(v, float) and v % 1 == 0))
    ),
    "number": lambda v: isinstance(v, int | float) and not isinstance(v, bool),
}


def find_schema_error(value: Any, schema: Mapping[str, Any]) -> str | None:
    """What is wrong with the value, or None."""
    return _find_error(value, schema, schema, "the reply", 0)


def is_strict_schema(schema: Mapping[str, Any]) -> bool:
    """Whether every object requires all its members and allows no others, as 'strict' servers ask."""
    parts = [schema, *schema.get("$defs", {}).values()]
    while parts:
        part = parts.pop()
        if part.get("type") == "object" or "properties" in part:
            members = part.get("properties", {})
            if part.get("additionalProperties") is not False or set(part.get("required", ())) != set(members):
                return False
            parts.extend(members.values())
        parts.extend(part.get("anyOf", ()))
        if isinstance(part.get("items"), Mapping):
            parts.append(part["items"])
    return True


def _find_error(
    value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], path: str, depth: int
) -> str | None:
    if depth > 64:
        return f"{path} is nested too deeply"
    if "$ref" in schema:
        schema = _resolve_ref(schema["$ref"], root)
    if "anyOf" in schema:
        problems = [_find_error(value, part, root, path, depth + 1) for part in schema["anyOf"]]
        return None if None in problems else problems[0]
    if problem := _find_value_error(value, schema, path):
        return problem
    if isinstance(value, dict):
        return _find_member_error(value, schema, root, path, depth)
    items = schema.get("items")
    if isinstance(value, list) and isinstance(items, Mapping):
        found = (_find_error(item, items, root, f"{path}[{i}]", depth + 1) for i, item in enumerate(value))
        return next((problem for problem in found if problem), None)
    return None


def _find_value_error(value: Any, schema: Mapping[str, Any], path: str) -> str | None:
    """What is wrong with the value apart from what it contains."""
    wanted = schema.get("type")
    names = [wanted] if isinstance(wanted, str) else list(wanted or ())
    if names and not any(JSON_TYPE_CHECKS[name](value) for name in names if name in JSON_TYPE_CHECKS):
        return f"{path} is not of type {' or '.join(names)}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{path} is not one of {', '.join(map(repr, schema['enum']))}"
    if "const" in schema and value != schema["const"]:
        return f"{path} is not {schema['const']!r}"
    return None


def _find_member_error(
    value: dict[str, Any], schema: Mapping[str, Any], root: Mapping[str, Any], path: str, depth: int
) -> str | None:
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            return f"{path} has no member {name!r}"
    if schema.get("additionalProperties") is False and (
        unknown := [name for name in value if name not in known]
    ):
        return f"{path} has an unknown member {unknown[0]!r}"
    for name, part in known.items():
        if name in value:
            problem = _find_error(value[name], part, root, f"{path}.{name}", depth + 1)
            if problem:
                return problem
    return None


def _resolve_ref(ref: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    part: Any = root
    for step in filter(None, ref.removeprefix("#").split("/")):
        part = part.get(step, {}) if isinstance(part, Mapping) else {}
    return part if isinstance(part, Mapping) and "$ref" not in part else {}


MAX_JSON_STARTS = 200  # brackets tried before giving up: bounds the work on a hostile reply
REASONING_RE = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
CODE_FENCE_RE = re.compile(r"\A\s*```[\w-]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)


def extract_json(text: str, schema: Mapping[str, Any]) -> str:
    """The first JSON value in the text that fits the schema, as written there; BadReply if there is none."""
    first: str | None = None
    for found, value in iter_json_values(text):
        problem = find_schema_error(value, schema)
        if problem is None:
            return found
        first = first or problem
    if first is None:
        raise BadReply(
            f"The model was asked for JSON and said {_excerpt(text)}. Ask again, or use another model."
        )
    raise BadReply(
        f"The model's JSON does not fit the schema: {first}. It said {_excerpt(text)}. "
        "Ask again, or use a larger model."
    )


def iter_json_values(text: str) -> Iterator[tuple[str, Any]]:
    """Every outermost JSON value in the text from left to right, with its exact characters."""
    body = REASONING_RE.sub("", text)
    fence = CODE_FENCE_RE.match(body)
    whole = (fence.group(1) if fence else body).strip()
    decoder = json.JSONDecoder(parse_constant=_reject_constant)
    found = _decode(decoder, whole, 0)
    if found is not None and found[1] == len(whole):
        yield whole, found[0]
        return
    at, starts = 0, 0
    while starts < MAX_JSON_STARTS and (match := re.compile(r"[{\[]").search(body, at)):
        starts += 1
        found = _decode(decoder, body, match.start())
        if found is None:
            at = match.end()
        else:
            yield body[match.start() : found[1]], found[0]
            at = found[1]


def add_schema_instruction(messages: Sequence[Message], schema: Mapping[str, Any]) -> list[Message]:
    """The messages with the schema spelled out behind the last one, for servers that cannot enforce it."""
    wanted = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    line = f"Reply with a single JSON value that satisfies this JSON schema, with no other text:\n{wanted}"
    *before, last = messages
    return [*before, replace(last, content=f"{last.content}\n\n{line}")]


def _decode(decoder: json.JSONDecoder, text: str, at: int) -> tuple[Any, int] | None:
    try:
        return decoder.raw_decode(text, at)
    except (
        ValueError,
        RecursionError,
    ):  # malformed, cut off, a number of 5,000 digits, or nested without end
        return None


def _reject_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _excerpt(text: str) -> str:
    return repr(text[:120] + ("…" if len(text) > 120 else ""))
