"""Others' words on our screen: no control characters, no turned direction, no half of a character."""

from __future__ import annotations


def plain(text: str) -> str:
    """What cannot be shown becomes a space; line ends stay."""
    return "".join(sign if sign.isprintable() or sign == "\n" else " " for sign in text)
