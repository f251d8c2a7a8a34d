"""Import of mem0 exports."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback import mem0
from thinkback.errors import InvalidInput
from thinkback.memory import Memory

LYON = {"id": "a1", "memory": "I live in Lyon.", "user_id": "ann", "created_at": "2024-07-26T10:00:00-07:00"}
TEA = {"id": "b1", "text": "I like tea.", "user_id": "bob"}


def read(value: Any, **options: Any) -> dict[str, list[dict[str, Any]]]:
    text = value if isinstance(value, str) else json.dumps(value)
    found = mem0.lines_by_user(text, **options)
    return {user: [json.loads(line) for line in lines] for user, lines in found.items()}


@pytest.mark.parametrize(
    "export",
    [
        [LYON, TEA],
        {"results": [LYON, TEA]},
        {"memories": [LYON, TEA], "count": 2},
        f"{json.dumps(LYON)}\n\n{json.dumps(TEA)}\n",
        json.dumps([LYON, TEA], indent=2),
    ],
)
def test_all_export_formats_are_parsed(export: Any) -> None:
    found = read(export)
    assert {user: [line["query"] for line in lines] for user, lines in found.items()} == {
        "ann": ["I live in Lyon."],
        "bob": ["I like tea."],
    }


def test_single_object_is_an_export() -> None:
    assert list(read(LYON)) == ["ann"]


def test_turn_time_is_creation_or_update_time() -> None:
    (made,) = read([LYON])["ann"]
    assert (made["at"], made["key"]) == ("2024-07-26T17:00:00+00:00", "mem0:a1")
    (changed,) = read([{**LYON, "updated_at": "2024-08-01T00:00:00"}])["ann"]
    assert changed["at"] == "2024-08-01T00:00:00+00:00"
    assert changed["key"] != made["key"]  # otherwise it would conflict with the version imported before
    assert "at" not in read([TEA])["bob"][0]


def test_identifiers_become_users_and_sessions() -> None:
    plain = {"id": 1, "memory": "x"}
    places: list[tuple[dict[str, Any], tuple[str, str]]] = [
        ({"user_id": "ann", "run_id": "r"}, ("ann", "r")),
        ({"user_id": "ann", "agent_id": "a"}, ("ann", "agent:a")),
        ({"user_id": "ann", "agent_id": "a", "run_id": "r"}, ("ann", "agent:a run:r")),
        ({"agent_id": "a", "run_id": "r"}, ("agent:a", "r")),
        ({"run_id": "r"}, ("run:r", "default")),
        ({"user_id": 7}, ("7", "default")),
        ({}, ("default", "default")),
    ]
    for given_, expected in places:
        ((user, (line,)),) = read([{**plain, **given_}]).items()
        assert (user, line["session"]) == expected


def test_default_user_and_all_to_user() -> None:
    items = [LYON, {"id": 2, "memory": "x"}]
    assert set(read(items, user="eve")) == {"ann", "eve"}
    assert set(read(items, user="eve", all_to_user=True)) == {"eve"}


@pytest.mark.parametrize(
    ("export", "named"),
    [
        ([LYON, {"id": 2}], "memory 2: the memory has no text"),
        (f"{json.dumps(LYON)}\n{{", "line 2: invalid JSON"),
        (f'{json.dumps(LYON)}\n"text"', "line 2: a memory must be a JSON object"),
        ("[\n{]", "line 2: invalid JSON"),
        ("", "line 1: invalid JSON"),
        ('"text"', "not a mem0 export"),
        ({"rows": []}, "not a mem0 export"),
        ([{"memory": "x"}], "memory 1: the memory has no id"),
        ([{"id": 1, "memory": 5}], "memory must be text"),
        ([{**LYON, "created_at": "yesterday"}], "created_at 'yesterday' is not an ISO 8601 time"),
        ([{**LYON, "user_id": ["ann"]}], "user_id must be a name"),
        ([{**LYON, "user_id": "a\nb"}], "user_id="),
        ([{**LYON, "user_id": "agent:x"}], "must not start with agent:"),
        ([LYON, {**LYON, "memory": "I live in Rome."}], "used twice"),
        ("[" * 100_000, "nested"),
    ],
)
def test_invalid_export_is_reported(export: Any, named: str) -> None:
    with pytest.raises(InvalidInput, match=named):
        read(export)


def test_importing_twice_changes_nothing(memory: Memory) -> None:
    for _ in range(2):
        for user, lines in mem0.lines_by_user(json.dumps([LYON, TEA])).items():
            memory.for_user(user).import_(lines)
    assert [turn.query for turn in memory.for_user("ann").turns()] == ["I live in Lyon."]


NAMES = st.sampled_from(["id", "memory", "results", "user_id", "created_at"])
PLAIN = st.none() | st.booleans() | st.integers() | st.text()


@given(st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner)))
def test_arbitrary_json_is_parsed_or_rejected(value: Any) -> None:
    try:
        for lines in mem0.lines_by_user(json.dumps(value)).values():
            assert all(json.loads(line)["query"].strip() for line in lines)
    except InvalidInput:
        pass
