"""Extraction of JSON from model replies."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.errors import BadReply
from thinkback.llms.structured_output import add_schema_instruction, extract_json, iter_json_values
from thinkback.types import Message

OBJECT = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
ANY: dict[str, Any] = {}

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
pieces = st.sampled_from(
    [
        '{"a": 1}',
        "{",
        "}",
        "[",
        "]",
        '"',
        "\\",
        ",",
        ":",
        "NaN",
        "1e999",
        "```json\n",
        "\n```",
        "<think>",
        "</think>",
        "9",
    ]
)
texts = st.text() | st.lists(pieces | st.text(max_size=5), max_size=30).map("".join)


@given(texts)
def test_extracted_json_occurs_in_the_text_or_bad_reply(text: str) -> None:
    try:
        found = extract_json(text, ANY)
    except BadReply:
        return
    assert found in text
    json.loads(found)


@given(
    json_values,
    st.sampled_from(["{}", "Sure! Here it is:\n{}\nAnything else?", "```json\n{}\n```", "```\n{}\n```"]),
)
def test_wrapped_objects_are_extracted_whole(value: Any, wrapping: str) -> None:
    wrapped = {"a": 1, "rest": value}
    text = wrapping.replace("{}", json.dumps(wrapped))
    assert json.loads(extract_json(text, OBJECT)) == wrapped


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{"a": 1}', '{"a": 1}'),
        ('As source [1] says: {"a": 2} and {"a": 3}', '{"a": 2}'),
        ('<think>maybe {"a": 9}</think>\n{"a": 1}', '{"a": 1}'),
        ('{"b": 1} no, rather {"a": 4}', '{"a": 4}'),
        ("{" * 150 + ' {"a": 5}', '{"a": 5}'),
    ],
)
def test_first_valid_value_is_taken(text: str, found: str) -> None:
    assert extract_json(text, OBJECT) == found


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no json",
        '{"a": 1',
        '{"a": NaN}',
        '{"a": 1,}',
        "[" * 100_000,
        '{"a": ' + "9" * 5000 + "}",
        '{"a": "1"}',
        "{}",
    ],
)
def test_truncated_malformed_or_invalid_json_is_a_bad_reply(text: str) -> None:
    with pytest.raises(BadReply):
        extract_json(text, OBJECT)


def test_scalar_is_accepted_if_it_is_the_whole_text() -> None:
    assert extract_json("```\n42\n```", {"type": "integer"}) == "42"
    assert list(iter_json_values("it is 42")) == []


def test_bad_reply_names_the_error_and_quotes_an_excerpt() -> None:
    with pytest.raises(BadReply, match="no member 'a'") as caught:
        extract_json('{"b": "' + "x" * 5000 + '"}', OBJECT)
    assert len(str(caught.value)) < 400


def test_schema_is_appended_to_the_last_message() -> None:
    system, user = add_schema_instruction([Message("system", "be brief"), Message("user", "who?")], OBJECT)
    assert system == Message("system", "be brief")
    assert user.content.startswith("who?")
    assert json.dumps(OBJECT, separators=(",", ":")) in user.content


def test_invalid_objects_of_a_list_can_be_dropped() -> None:
    schema = {
        "type": "object",
        "properties": {"changes": {"type": "array", "items": OBJECT}},
        "required": ["changes"],
    }
    mixed = '{"changes": [{"a": 1}, {"a": "one"}, {}, {"a": 2}]}'
    with pytest.raises(BadReply):
        extract_json(mixed, schema)
    assert json.loads(extract_json(mixed, schema, drop_invalid_items=True)) == {
        "changes": [{"a": 1}, {"a": 2}]
    }
    for text in ('{"changes": [{}]}', '{"changes": ["a"]}', '{"other": [{"a": 1}]}'):
        with pytest.raises(BadReply):  # what cannot be used at all is not taken for an empty list
            extract_json(text, schema, drop_invalid_items=True)
