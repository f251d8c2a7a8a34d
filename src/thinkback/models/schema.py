"""Whether a JSON value fits a JSON schema: the keywords that reply types use, nothing more.

Unknown keywords are not checked; the reply's own type checks again when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

TYPES: dict[str, Callable[[Any], bool]] = {
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


def misfit(value: Any, schema: Mapping[str, Any]) -> str | None:
    """What is wrong with the value, or None."""
    return _misfit(value, schema, schema, "the reply", 0)


def closed(schema: Mapping[str, Any]) -> bool:
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


def _misfit(
    value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], where: str, depth: int
) -> str | None:
    if depth > 64:
        return f"{where} is nested too deeply"
    if "$ref" in schema:
        schema = _target(schema["$ref"], root)
    if "anyOf" in schema:
        problems = [_misfit(value, part, root, where, depth + 1) for part in schema["anyOf"]]
        return None if None in problems else problems[0]
    if problem := _itself(value, schema, where):
        return problem
    if isinstance(value, dict):
        return _members(value, schema, root, where, depth)
    items = schema.get("items")
    if isinstance(value, list) and isinstance(items, Mapping):
        found = (_misfit(item, items, root, f"{where}[{i}]", depth + 1) for i, item in enumerate(value))
        return next((problem for problem in found if problem), None)
    return None


def _itself(value: Any, schema: Mapping[str, Any], where: str) -> str | None:
    """What is wrong with the value apart from what it contains."""
    wanted = schema.get("type")
    names = [wanted] if isinstance(wanted, str) else list(wanted or ())
    if names and not any(TYPES[name](value) for name in names if name in TYPES):
        return f"{where} is not of type {' or '.join(names)}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{where} is not one of {', '.join(map(repr, schema['enum']))}"
    if "const" in schema and value != schema["const"]:
        return f"{where} is not {schema['const']!r}"
    return None


def _members(
    value: dict[str, Any], schema: Mapping[str, Any], root: Mapping[str, Any], where: str, depth: int
) -> str | None:
    known = schema.get("properties", {})
    for name in schema.get("required", ()):
        if name not in value:
            return f"{where} has no member {name!r}"
    if schema.get("additionalProperties") is False and (
        unknown := [name for name in value if name not in known]
    ):
        return f"{where} has an unknown member {unknown[0]!r}"
    for name, part in known.items():
        if name in value:
            problem = _misfit(value[name], part, root, f"{where}.{name}", depth + 1)
            if problem:
                return problem
    return None


def _target(ref: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    part: Any = root
    for step in filter(None, ref.removeprefix("#").split("/")):
        part = part.get(step, {}) if isinstance(part, Mapping) else {}
    return part if isinstance(part, Mapping) and "$ref" not in part else {}
