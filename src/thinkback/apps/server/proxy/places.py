"""Where the values of a JSON object stand in its text: what is put in beside them leaves them untouched."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

_SPACE = re.compile(r"[ \t\n\r]*")


def _unread(_: str) -> int:
    """A number, of any length: nobody looks at it here."""
    return 0


_DECODER = json.JSONDecoder(parse_int=_unread, parse_float=_unread)


class Member(NamedTuple):
    """One value of an object, from `start` up to, not including, `end`."""

    key: str
    value: Any
    start: int
    end: int


def members(text: str, at: int) -> tuple[list[Member], int]:
    """The members of the object that begins at `at`, and where it ends; ValueError where there is none."""
    if text[at : at + 1] != "{":
        raise ValueError("no object here")
    found: list[Member] = []
    at = spaces(text, at + 1)
    if text[at : at + 1] == "}":
        return found, at + 1
    while True:
        member = _member(text, at)
        found.append(member)
        at = spaces(text, member.end)
        mark = text[at : at + 1]
        if mark == "}":
            return found, at + 1
        if mark != ",":
            raise ValueError("an object that does not go on")
        at = spaces(text, at + 1)


def spaces(text: str, at: int) -> int:
    """Where the white space ends."""
    match = _SPACE.match(text, at)
    return match.end() if match else at


def key(text: str, at: int) -> tuple[str, int]:
    """The key at `at`, and where its value begins."""
    if text[at : at + 1] != '"':
        raise ValueError("no key here")
    name, at = _DECODER.raw_decode(text, at)
    at = spaces(text, at)
    if text[at : at + 1] != ":":
        raise ValueError("a key without a value")
    return name, spaces(text, at + 1)


def value(text: str, at: int) -> tuple[Any, int]:
    """The value at `at`, and where it ends."""
    return _DECODER.raw_decode(text, at)


def _member(text: str, at: int) -> Member:
    name, start = key(text, at)
    held, end = value(text, start)
    return Member(name, held, start, end)
