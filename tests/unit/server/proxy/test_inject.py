"""Injecting memories changes nothing else in the request."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.server.proxy.inject import SYSTEM_ROLES, inject_memories, parse_body

BLOCK = 'What is remembered:\n- "Ann" lives in Lyon \\ 里昂'

SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
PARTS = st.lists(
    st.fixed_dictionaries({"type": st.just("text"), "text": st.text(max_size=9)})
    | st.fixed_dictionaries({"type": st.just("image_url"), "image_url": VALUES}),
    max_size=3,
)
MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["system", "developer", "user", "assistant", "tool"])},
    optional={"content": st.text() | PARTS | st.none(), "tool_calls": VALUES, "name": VALUES},
)
BODIES = st.fixed_dictionaries(
    {"messages": st.lists(MESSAGES, max_size=4)},
    optional={"model": st.text(), "stream": st.booleans(), "tools": VALUES, "seed": VALUES, "odd": VALUES},
)
WRITTEN = st.sampled_from([(", ", ": "), (",", ":"), (" ,\n\t", " :\r\n")])


def inserted(body: bytes, changed: bytes) -> bytes:
    """The text inserted into `body` to get `changed`; fails if there are other differences."""
    at = next((n for n, (a, b) in enumerate(zip(body, changed, strict=False)) if a != b), len(body))
    length = len(changed) - len(body)
    for start in range(at, -1, -1):  # the insertion may be ambiguous if neighbouring text is equal
        if changed[:start] + changed[start + length :] == body:
            return changed[start : start + length]
    raise AssertionError("more changed than one insertion")


def spliced(raw: bytes) -> bytes:
    body = parse_body(raw)
    assert body is not None
    changed = inject_memories(body, BLOCK)
    assert changed is not None
    return changed


@given(BODIES, WRITTEN, st.booleans(), st.sampled_from(["", " ", "\n"]))
def test_injection_leaves_other_bytes_unchanged(
    body: dict[str, Any], separators: tuple[str, str], ascii_only: bool, around: str
) -> None:
    text = json.dumps(body, separators=separators, ensure_ascii=ascii_only)
    raw = f"{around}{text}{around}".encode(errors="replace")
    if not body["messages"]:
        understood = parse_body(raw)
        assert understood is not None
        assert inject_memories(understood, BLOCK) is None
        return
    changed = spliced(raw)
    assert inserted(raw, changed)
    before, after = json.loads(raw), json.loads(changed)
    assert {**before, "messages": 0} == {**after, "messages": 0}
    first = before["messages"][0]
    if first["role"] in SYSTEM_ROLES and isinstance(first.get("content"), str | list):
        assert after["messages"][1:] == before["messages"][1:]
        told = after["messages"][0].pop("content")
        assert {**first, "content": None} == {**after["messages"][0], "content": None}
        content = first["content"]
        if isinstance(content, str):
            assert told == (f"{content}\n\n{BLOCK}" if content else BLOCK)
        else:
            assert told == [*content, {"type": "text", "text": BLOCK}]
    else:
        assert after["messages"] == [{"role": "system", "content": BLOCK}, *before["messages"]]


@given(VALUES)
def test_non_object_body_is_not_parsed(value: Any) -> None:
    assert (parse_body(json.dumps(value).encode()) is None) == (not isinstance(value, dict))


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"{]",
        b'{"messages": [}',
        b'{"a": 1,}',
        b'{"a": 1} x',
        b'{"a" 1}',
        b"{1: 2}",
        b'{"a": 1 "b": 2}',
        b'\xff{"a": 1}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
    ],
)
def test_truncated_body_is_not_parsed(raw: bytes) -> None:
    assert parse_body(raw) is None


def test_numbers_of_any_length_are_accepted() -> None:
    number = b"9" * 10_000 + b".5e-7"
    raw = b'{"seed": ' + number + b', "messages": [{"role": "user", "content": "hi"}]}'
    assert number in spliced(raw)


def test_last_of_duplicate_keys_is_used() -> None:
    raw = b'{"messages": "x", "messages": [{"role": "user", "content": "hi"}]}'
    changed = spliced(raw)
    assert changed.startswith(b'{"messages": "x", "messages": [{"role": "system"')


@pytest.mark.parametrize("prompt", ['"Once"', '["Once"]', ' [ "Once" ] '])
def test_memories_are_inserted_before_prompt(prompt: str) -> None:
    raw = f'{{"prompt":{prompt}, "max_tokens": 3}}'.encode()
    changed = spliced(raw)
    assert inserted(raw, changed)
    told = json.loads(changed)["prompt"]
    assert (told if isinstance(told, str) else told[0]) == f"{BLOCK}\n\nOnce"


@pytest.mark.parametrize("prompt", ["[1, 2]", '["a", "b"]', "[]", "3", "null"])
def test_token_and_multiple_prompts_are_unchanged(prompt: str) -> None:
    body = parse_body(f'{{"prompt": {prompt}}}'.encode())
    assert body is not None
    assert inject_memories(body, BLOCK) is None


@pytest.mark.parametrize("messages", ["null", "{}", '"hi"', "[]"])
def test_empty_messages_have_no_insertion_point(messages: str) -> None:
    body = parse_body(f'{{"messages": {messages}}}'.encode())
    assert body is not None
    assert inject_memories(body, BLOCK) is None
