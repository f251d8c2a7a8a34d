"""Checks of values that callers pass in: names, texts, limits and references such as `thought:7`."""

from __future__ import annotations

import unicodedata
from typing import Literal, get_args

from thinkback.errors import InvalidInput, InvalidName
from thinkback.language.writing_systems import clean_text
from thinkback.types import Ref

RefKind = Literal["turn", "thought", "action"]


def parse_ref(text: str | int | Ref, default: RefKind) -> Ref:
    """Parse `kind:number`, or a bare number of the `default` kind.

    Raises `InvalidInput` for anything else.
    """
    if isinstance(text, Ref):
        return text
    if not isinstance(text, str | int):
        raise InvalidInput(f"a {type(text).__name__} is not a reference; write {default}:7, or just 7")
    kind, _, number = str(text).strip().rpartition(":")
    for known in get_args(RefKind):
        if (kind or default) == known and number.isascii() and number.isdigit():
            return Ref(known, int(number))
    raise InvalidInput(f"{text!r} is not a reference; write {default}:7, or just 7")


MAX_TEXT_CHARS = 8 << 20  # of a query or a response
MAX_NAME_CHARS = 256
_MAX_DECOMPOSED_NAME_CHARS = 4 * MAX_NAME_CHARS  # one composed character is at most four decomposed ones


def checked_text(value: object, name: str) -> str:
    """`value` as valid Unicode without NUL; invalid characters are replaced by U+FFFD."""
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text, not {type(value).__name__}")
    if len(value) > MAX_TEXT_CHARS:
        raise InvalidInput(
            f"{name} has {len(value):,} characters, more than the limit of {MAX_TEXT_CHARS:,}: split it"
        )
    return clean_text(value)


def checked_name(value: object, what: str) -> str:
    """A user, session, key or tenant name in Unicode's composed form (NFC); raises `InvalidName`.

    Nothing else about a name is changed: a repaired name could be the name of somebody else. So white space
    at either end, characters that cannot be printed, and U+FFFD (which stands for any undecodable
    character) are refused.
    """
    if not isinstance(value, str):
        raise InvalidName(f"{what} must be text, not {type(value).__name__}")
    name = normalise_name(value) if len(value) <= _MAX_DECOMPOSED_NAME_CHARS else value
    if not name or len(name) > MAX_NAME_CHARS or not name.isprintable():
        raise InvalidName(f"{what}={value!r:.60}: use 1 to {MAX_NAME_CHARS} printable characters")
    if name != name.strip():
        raise InvalidName(f"{what}={value!r:.60}: a name must not begin or end with white space")
    if "\ufffd" in name:
        raise InvalidName(f"{what}={value!r:.60}: a name must not contain U+FFFD; send it as valid UTF-8")
    return name


def normalise_name(name: str) -> str:
    """The name in Unicode's composed form (NFC), which makes e + U+0308 and U+00EB the same name."""
    return name if name.isascii() else unicodedata.normalize("NFC", name)


def checked_tenant(value: object) -> str:
    """A tenant name; empty for local use."""
    return "" if value == "" else checked_name(value, "tenant")


def checked_limit(value: object) -> int | None:
    """A non-negative integer, or None for no limit."""
    if value is not None and (not isinstance(value, int) or value < 0):
        raise InvalidInput(f"limit={value!r}: use a non-negative integer, or None for no limit")
    return value
