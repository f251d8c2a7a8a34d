"""The border: what callers hand in is checked, cleaned and bounded here, once."""

from __future__ import annotations

from thinkback.errors import InvalidInput
from thinkback.language.scripts import clean_text

MAX_TEXT_CHARS = 8 << 20  # characters of one side of a turn
MAX_NAME_CHARS = 256


def checked_text(value: object, name: str) -> str:
    """Valid Unicode without NUL: such characters become U+FFFD rather than costing the turn."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text, not {type(value).__name__}")
    if len(value) > MAX_TEXT_CHARS:
        raise InvalidInput(f"{name} has {len(value):,} characters; the most is {MAX_TEXT_CHARS:,}: split it")
    return clean_text(value)


def checked_name(value: object, what: str) -> str:
    """A user, session or key: short, printable, not blank."""
    name = checked_text(value, what).strip()
    if not name or len(name) > MAX_NAME_CHARS or not name.isprintable():
        raise InvalidInput(f"{what}={value!r:.60}: use 1 to {MAX_NAME_CHARS} printable characters")
    return name


def checked_tenant(value: object) -> str:
    """Whose memories: a name, or nothing for those of the library and the command line."""
    return "" if value == "" else checked_name(value, "tenant")


def checked_limit(value: object) -> int | None:
    """How many at most: None is all of them."""
    if value is not None and (not isinstance(value, int) or value < 0):
        raise InvalidInput(f"limit={value!r}: give a whole number from 0, or None for all")
    return value
