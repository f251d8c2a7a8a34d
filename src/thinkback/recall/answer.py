"""Answering with no language model at all: what is remembered, in words, and nothing made up."""

from __future__ import annotations

from thinkback.text.language import language
from thinkback.text.sentences import is_question
from thinkback.types import Recollection

_WORDS = {
    "en": ("I remember:", "I do not know that yet.", "Noted."),
    "zh": ("我记得：", "这个我还不知道。", "记下了。"),
}


def from_memory(message: str, recollection: Recollection) -> str:
    """A list of the recalled memories, or that there are none; a statement is only acknowledged."""
    remembered, unknown, noted = _WORDS["zh" if language(message) == "zh" else "en"]
    if not is_question(message):
        return noted
    if not recollection.items:
        return unknown
    lines = [f"- {' '.join(item.text.split())}" for item in recollection]
    return "\n".join([remembered, *lines])
