"""Positions of values in JSON text, so that text can be inserted without rewriting the rest, and the text of an answer whose JSON is cut off."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

_WHITESPACE = re.compile(r"[ \t\n\r]*")


def _ignore_number(_: str) -> int:
    """A number, of any length: nobody looks at it here."""
    return 0


_DECODER = json.JSONDecoder(parse_int=_ignore_number, parse_float=_ignore_number)


class Member(NamedTuple):
    """One value of an object, from `start` up to, not including, `end`."""

    key: str
    value: Any
    start: int
    end: int


def read_members(text: str, at: int) -> tuple[list[Member], int]:
    """The members of the object that begins at `at`, and where it ends; ValueError where there is none."""
    if text[at : at + 1] != "{":
        raise ValueError("no object here")
    found: list[Member] = []
    at = skip_whitespace(text, at + 1)
    if text[at : at + 1] == "}":
        return found, at + 1
    while True:
        member = _read_member(text, at)
        found.append(member)
        at = skip_whitespace(text, member.end)
        mark = text[at : at + 1]
        if mark == "}":
            return found, at + 1
        if mark != ",":
            raise ValueError("an object that does not go on")
        at = skip_whitespace(text, at + 1)


def skip_whitespace(text: str, at: int) -> int:
    """Where the white space ends."""
    match = _WHITESPACE.match(text, at)
    return match.end() if match else at


def read_key(text: str, at: int) -> tuple[str, int]:
    """The key at `at`, and where its value begins."""
    if text[at : at + 1] != '"':
        raise ValueError("no key here")
    name, at = _DECODER.raw_decode(text, at)
    at = skip_whitespace(text, at)
    if text[at : at + 1] != ":":
        raise ValueError("a key without a value")
    return name, skip_whitespace(text, at + 1)


def read_value(text: str, at: int) -> tuple[Any, int]:
    """The value at `at`, and where it ends."""
    return _DECODER.raw_decode(text, at)


def _read_member(text: str, at: int) -> Member:
    name, start = read_key(text, at)
    held, end = read_value(text, start)
    return Member(name, held, start, end)


_TEXT_PATHS = (("message", "content"), ("text",))
_STRING_BODY = re.compile(r'(?:[^"\\]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
_LONE_SURROGATE = re.compile("[\ud800-\udbff]")


def partial_text(text: str) -> str:
    """What `choices[0]` says in a text that begins as an answer and does not end as one."""
    try:
        at = _find_key(text, skip_whitespace(text, 0), "choices")
        at = skip_whitespace(text, at + 1) if text[at : at + 1] == "[" else -1
        for path in _TEXT_PATHS if at >= 0 else ():
            found = _find_path(text, at, path)
            if found >= 0 and text[found : found + 1] == '"':
                return _read_partial_string(text, found)
    except (ValueError, RecursionError):
        pass
    return ""


def _find_path(text: str, at: int, path: tuple[str, ...]) -> int:
    for name in path:
        at = _find_key(text, at, name) if at >= 0 else at
    return at


def _find_key(text: str, at: int, name: str) -> int:
    """Where the value of that key begins, in the object at `at`; -1 if the text ends or breaks before it."""
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
    """The string at `at`, as far as it is one."""
    inner = _STRING_BODY.match(text, at + 1)
    said = str(json.loads(f'"{inner[0]}"', strict=False)) if inner else ""
    return said[:-1] if _LONE_SURROGATE.match(said[-1:]) else said
