"""mem0's search filters: conditions on the metadata of memories, and the identifiers among them.

{"user_id": "ann", "category": "food"}
{"AND": [{"user_id": "ann"}, {"OR": [{"year": {"gte": 2024}}, {"tag": {"in": ["a", "b"]}}]}]}
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from thinkback.errors import InvalidInput, InvalidName
from thinkback.server.errors import RequestRefused

IDENTIFIERS = ("user_id", "agent_id", "run_id")
ANY_VALUE = "*"  # matches every memory that has the key
_MISSING = object()


def not_supported(what: str) -> RequestRefused:
    """The answer to what mem0 offers and this server does not."""
    message = f"{what} is not supported by this server: see docs/mem0.md for what to use instead"
    return RequestRefused(501, message, "not_supported")


def split_filters(filters: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, Any]]:
    """The identifiers of a search, and its conditions on metadata.

    Identifiers may be at the top level or in a top-level AND. Raises `RequestRefused` (501) for anything else
    that mem0 knows and this server does not.
    """
    identifiers: dict[str, str] = {}
    conditions: dict[str, Any] = {}
    parts = [filters]
    if isinstance(filters.get("AND"), list):
        parts = [{name: value for name, value in filters.items() if name != "AND"}, *filters["AND"]]
    remaining: list[Mapping[str, Any]] = []
    for part in parts:
        if not isinstance(part, Mapping):
            raise InvalidInput("filters: AND, OR and NOT take a list of objects")
        for name in IDENTIFIERS:
            if name in part:
                _add_identifier(identifiers, name, part[name])
        if rest := {name: value for name, value in part.items() if name not in IDENTIFIERS}:
            remaining.append(rest)
    if remaining:
        conditions = {"AND": remaining}
        _check(conditions)
    return identifiers, conditions


def matches(metadata: Mapping[str, Any], conditions: Mapping[str, Any]) -> bool:
    """Whether metadata meets all conditions, which `split_filters` has checked."""
    return all(_matches_one(metadata, name, wanted) for name, wanted in conditions.items())


def _matches_one(metadata: Mapping[str, Any], name: str, wanted: Any) -> bool:
    if name in _LOGICAL:
        return _LOGICAL[name](matches(metadata, part) for part in wanted)
    value = metadata.get(name, _MISSING)
    if isinstance(wanted, Mapping):
        return all(_compare(operator, value, operand) for operator, operand in wanted.items())
    if wanted == ANY_VALUE:
        return value is not _MISSING
    if isinstance(wanted, list):
        return _compare("in", value, wanted)
    return _compare("eq", value, wanted)


_LOGICAL: dict[str, Callable[[Any], bool]] = {
    "AND": all,
    "OR": any,
    "NOT": lambda results: not any(results),
}


def _equal(value: Any, wanted: Any) -> bool:
    """Equality as in JSON: true is not 1."""
    return isinstance(value, bool) == isinstance(wanted, bool) and bool(value == wanted)


def _ordered(compare: Callable[[Any, Any], bool]) -> Callable[[Any, Any], bool]:
    def holds(value: Any, wanted: Any) -> bool:
        numbers = all(
            isinstance(side, (int, float)) and not isinstance(side, bool) for side in (value, wanted)
        )
        texts = isinstance(value, str) and isinstance(wanted, str)
        return (numbers or texts) and compare(value, wanted)

    return holds


def _contains(value: Any, wanted: Any) -> bool:
    if isinstance(value, str):
        return isinstance(wanted, str) and wanted in value
    return isinstance(value, list) and any(_equal(item, wanted) for item in value)


def _contains_folded(value: Any, wanted: Any) -> bool:
    texts = isinstance(value, str) and isinstance(wanted, str)
    return texts and wanted.casefold() in value.casefold()


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": _equal,
    "ne": lambda value, wanted: not _equal(value, wanted),
    "in": lambda value, wanted: any(_equal(value, item) for item in wanted),
    "nin": lambda value, wanted: not any(_equal(value, item) for item in wanted),
    "gt": _ordered(lambda value, wanted: value > wanted),
    "gte": _ordered(lambda value, wanted: value >= wanted),
    "lt": _ordered(lambda value, wanted: value < wanted),
    "lte": _ordered(lambda value, wanted: value <= wanted),
    "contains": _contains,
    "icontains": _contains_folded,
}


def _compare(operator: str, value: Any, wanted: Any) -> bool:
    if value is _MISSING:
        return operator in ("ne", "nin")
    return _OPERATORS[operator](value, wanted)


def _check(conditions: Mapping[str, Any]) -> None:
    for name, wanted in conditions.items():
        if name in _LOGICAL:
            if not isinstance(wanted, list) or not all(isinstance(part, Mapping) for part in wanted):
                raise InvalidInput("filters: AND, OR and NOT take a list of objects")
            for part in wanted:
                _check(part)
        elif name in IDENTIFIERS:
            raise not_supported(f"{name} inside of OR or NOT")
        elif isinstance(wanted, Mapping):
            for operator, operand in wanted.items():
                if operator not in _OPERATORS:
                    raise not_supported(f"the filter operator {operator!r:.40}")
                if operator in ("in", "nin") and not isinstance(operand, list):
                    raise InvalidInput(f"filters: {operator} takes a list")


def _add_identifier(identifiers: dict[str, str], name: str, value: Any) -> None:
    if not isinstance(value, str) or value == ANY_VALUE:
        raise not_supported(f"a filter on {name} that is not one name")
    if identifiers.setdefault(name, value) != value:
        raise InvalidName(f"filters name two values of {name}: send one")
