"""Memories as lines of data for a prompt: "Fact #k: ..." (TiM 001, Eq. 8).

A line break inside a memory could forge another fact or close the list, so each is one line; here we say the
thought's sentence, which reads better to a small model than the bare triple.
"""

from __future__ import annotations

from collections.abc import Iterable

NOTHING = "(nothing yet)"


def facts(texts: Iterable[str]) -> str:
    """Numbered from 1; a list of none says so."""
    lines = [f"Fact #{k}: {' '.join(text.split())}" for k, text in enumerate(texts, start=1)]
    return "\n".join(lines) or NOTHING


def numbered(texts: Iterable[tuple[int, str]]) -> str:
    """Thoughts with the numbers that proposals refer to."""
    return "\n".join(f"{number}. {' '.join(text.split())}" for number, text in texts)
