"""Validation of values against the supported JSON schema keywords."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from thinkback.llms.structured_output import find_schema_error, is_strict_schema


class Pet(BaseModel):
    model_config = ConfigDict(extra="forbid")
    name: str
    age: int | None


class Person(BaseModel):
    model_config = ConfigDict(extra="forbid")
    pets: list[Pet]
    score: float


class Open(BaseModel):
    name: str = "x"


SCHEMA = Person.model_json_schema()


@pytest.mark.parametrize("age", [None, 3])
def test_valid_value_has_no_error(age: int | None) -> None:
    assert find_schema_error({"pets": [{"name": "Rex", "age": age}], "score": 1}, SCHEMA) is None


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"pets": []}, "no member 'score'"),
        ({"pets": [], "score": True}, "score is not of type number"),
        ({"pets": [{"name": 1, "age": 2}], "score": 1}, "pets[0].name is not of type string"),
        ({"pets": [{"name": "R", "age": "x"}], "score": 1}, "pets[0].age is not of type integer"),
        ({"pets": [], "score": 1, "x": 1}, "unknown member 'x'"),
        ([], "not of type object"),
    ],
)
def test_error_names_the_path(value: Any, problem: str) -> None:
    assert problem in (find_schema_error(value, SCHEMA) or "")


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"enum": ["a", "b"]}, "a", "c"),
        ({"const": 1}, 1, 2),
        ({"type": ["string", "null"]}, None, 1),
        ({"type": "integer"}, 2.0, 2.5),
        ({"type": "boolean"}, False, 0),
        ({"type": "array", "items": {"type": "string"}}, ["x"], [1]),
    ],
)
def test_supported_keywords(schema: dict[str, Any], good: Any, bad: Any) -> None:
    assert find_schema_error(good, schema) is None
    assert find_schema_error(bad, schema)


def test_recursive_schema_terminates() -> None:
    loop = {"anyOf": [{"$ref": "#"}]}
    assert find_schema_error(1, loop) == "the reply is nested too deeply"
    assert find_schema_error(1, {"$ref": "#/nowhere/at/all"}) is None


def test_only_closed_schemas_are_strict() -> None:
    assert is_strict_schema(SCHEMA)
    assert not is_strict_schema(Open.model_json_schema())
    assert not is_strict_schema({"type": "array", "items": Open.model_json_schema()})
