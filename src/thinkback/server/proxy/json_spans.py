"""Finds the positions of values in JSON text, also in text that is cut off.

`inject` uses the positions to insert text without changing the rest.
"""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

_WHITESPACE = re.compile(r"[ \t\n\r]*")


def _ignore_number(_: str) -> int:
    """Numbers of any length are accepted; their value is not needed here."""
    return 0


_DECODER = json.JSONDecoder(parse_int=_ignore_number, parse_float=_ignore_number)


class Member(NamedTuple):
    """A member of a JSON object; its value is `text[start:end]`."""

    key: str
    value: Any
    start: int
    end: int


def read_members(text: str, at: int) -> tuple[list[Member], int]:
    """Read the object that starts at `at`; returns its members and its end.

    Raises `ValueError` if there is no complete object.
    """
    if text[at : at + 1] != "{":
        raise ValueError("no object at this position")
    members: list[Member] = []
    at = skip_whitespace(text, at + 1)
    if text[at : at + 1] == "}":
        return members, at + 1
    while True:
        member = _read_member(text, at)
        members.append(member)
        at = skip_whitespace(text, member.end)
        separator = text[at : at + 1]
        if separator == "}":
            return members, at + 1
        if separator != ",":
            raise ValueError("incomplete object")
        at = skip_whitespace(text, at + 1)


def skip_whitespace(text: str, at: int) -> int:
    """The position after any white space."""
    match = _WHITESPACE.match(text, at)
    return match.end() if match else at


def read_key(text: str, at: int) -> tuple[str, int]:
    """The key at `at`, and the position of its value."""
    if text[at : at + 1] != '"':
        raise ValueError("no key at this position")
    name, at = _DECODER.raw_decode(text, at)
    at = skip_whitespace(text, at)
    if text[at : at + 1] != ":":
        raise ValueError("key without a value")
    return name, skip_whitespace(text, at + 1)


def read_value(text: str, at: int) -> tuple[Any, int]:
    """The value at `at`, and its end."""
    return _DECODER.raw_decode(text, at)


def _read_member(text: str, at: int) -> Member:
    name, start = read_key(text, at)
    value, end = read_value(text, start)
    return Member(name, value, start, end)


_TEXT_PATHS = (("message", "content"), ("text",))
_STRING_BODY = re.compile(r'(?:[^"\\]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
_LONE_SURROGATE = re.compile("[\ud800-\udbff]")


def partial_text(text: str) -> str:
    """The text of `choices[0]` in an answer whose JSON is cut off; empty if none has arrived."""
    try:
        at = _find_key(text, skip_whitespace(text, 0), "choices")
        at = skip_whitespace(text, at + 1) if text[at : at + 1] == "[" else -1
        for path in _TEXT_PATHS if at >= 0 else ():
            position = _find_path(text, at, path)
            if position >= 0 and text[position : position + 1] == '"':
                return _read_partial_string(text, position)
    except (ValueError, RecursionError):
        pass
    return ""


def _find_path(text: str, at: int, path: tuple[str, ...]) -> int:
    for name in path:
        at = _find_key(text, at, name) if at >= 0 else at
    return at


def _find_key(text: str, at: int, name: str) -> int:
    """The position of a key's value in the object at `at`; -1 if the text ends or is invalid before it."""
    if at < 0 or text[at : at + 1] != "{":
        return -1
    at = skip_whitespace(text, at + 1)
    try:
        while True:
            key, start = read_key(text, at)
            if key == name:
                return start
            _, end = read_value(text, start)
            at = skip_whitespace(text, end)
            if text[at : at + 1] != ",":
                return -1
            at = skip_whitespace(text, at + 1)
    except ValueError:
        return -1


def _read_partial_string(text: str, at: int) -> str:
    """The string at `at`, as far as the text goes."""
    match = _STRING_BODY.match(text, at + 1)
    value = str(json.loads(f'"{match[0]}"', strict=False)) if match else ""
    return value[:-1] if _LONE_SURROGATE.match(value[-1:]) else value
