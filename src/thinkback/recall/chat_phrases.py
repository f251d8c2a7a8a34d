"""The sentences, patterns and word lists of the chat without a model, from `chat_phrases.toml`."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from thinkback.language.writing_systems import detect_language


def say(name: str, message: str, *values: str) -> str:
    """A sentence of the chat in the language of the message."""
    return str(_data()["say"]["zh" if detect_language(message) == "zh" else "en"][name]).format(*values)


def small_talk(message: str) -> str | None:
    """The fixed reply to a mere greeting, to thanks, and to "who are you" and "are you there"."""
    for name, record in load_words("small_talk").items():
        if record["said"].search(message):
            return say(name, message)
    return None


@cache
def load_patterns(name: str) -> re.Pattern[str]:
    """A compiled pattern of the table `patterns`."""
    return re.compile(str(_data()["patterns"][name]))


@cache
def load_word_list(name: str) -> frozenset[str]:
    """The words of a list of the table `word_lists`."""
    return frozenset(str(_data()["word_lists"][name]).split())


@cache
def load_words(name: str) -> dict[str, dict[str, re.Pattern[str]]]:
    """The compiled records of a table such as `topics`."""
    return {
        key: {field: re.compile(str(text)) for field, text in record.items()}
        for key, record in _data()[name].items()
    }


@cache
def _data() -> dict[str, Any]:
    return tomllib.loads(files("thinkback.recall").joinpath("chat_phrases.toml").read_text("utf-8"))
