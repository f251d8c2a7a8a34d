"""The text of an answer whose JSON breaks off: as much of the first choice's words as arrived."""

from __future__ import annotations

import json
import re

from thinkback.apps.server.proxy import places

_PATHS = (("message", "content"), ("text",))
_INNER = re.compile(r'(?:[^"\\]+|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
_HALF_PAIR = re.compile("[\ud800-\udbff]")


def partial_text(text: str) -> str:
    """What `choices[0]` says in a text that begins as an answer and does not end as one."""
    try:
        at = _enter(text, places.spaces(text, 0), "choices")
        at = places.spaces(text, at + 1) if text[at : at + 1] == "[" else -1
        for path in _PATHS if at >= 0 else ():
            found = _follow(text, at, path)
            if found >= 0 and text[found : found + 1] == '"':
                return _string(text, found)
    except (ValueError, RecursionError):
        pass
    return ""


def _follow(text: str, at: int, path: tuple[str, ...]) -> int:
    for name in path:
        at = _enter(text, at, name) if at >= 0 else at
    return at


def _enter(text: str, at: int, name: str) -> int:
    """Where the value of that key begins, in the object at `at`; -1 if the text ends or breaks before it."""
    if at < 0 or text[at : at + 1] != "{":
        return -1
    at = places.spaces(text, at + 1)
    try:
        while True:
            key, start = places.key(text, at)
            if key == name:
                return start
            _, end = places.value(text, start)
            at = places.spaces(text, end)
            if text[at : at + 1] != ",":
                return -1
            at = places.spaces(text, at + 1)
    except ValueError:
        return -1


def _string(text: str, at: int) -> str:
    """The string at `at`, as far as it is one."""
    inner = _INNER.match(text, at + 1)
    said = str(json.loads(f'"{inner[0]}"', strict=False)) if inner else ""
    return said[:-1] if _HALF_PAIR.match(said[-1:]) else said
