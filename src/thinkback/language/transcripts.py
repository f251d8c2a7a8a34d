"""Speakers of a transcript: messages that begin with a name and a colon.

    Priya: I ran ten kilometres today!        speaker_terms -> ["speaker:", "speaker:priya"]

The terms are indexed with the words of the message. By them a search knows who said something, and that the
name of a speaker in a question ("What did Priya run?") means the speaker and is no word to look for.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from thinkback.language.writing_systems import has_han

_NAME = r"[^\W\d_][\w.'’-]{0,30}(?: [^\W\d_][\w.'’-]{0,30}){0,2}"
_LABEL = re.compile(rf"\s*(?P<name>{_NAME}) ?[:：](?=\s|[\u4e00-\u9fff])")
_WORD = re.compile(r"[^\W\d_][\w’'-]*[^\W_]")
_HAN_NAME_CHARS = (2, 3, 4)
_POSSESSIVE = re.compile(r"['’]s$")
LABELLED = "speaker:"
"""The term of every message that names its speaker."""


def speaker_terms(text: str) -> list[str]:
    """The index terms of the speaker that a text names at its beginning; none without a name."""
    label = _LABEL.match(text)
    if label is None:
        return []
    name = label["name"].casefold()
    return [LABELLED, *dict.fromkeys((f"{LABELLED}{name}", f"{LABELLED}{name.split()[0]}"))]


def possible_speakers(query: str) -> dict[str, str]:
    """The words of a query that may name a speaker, by the index term of that speaker."""
    words = [_POSSESSIVE.sub("", match.group()) for match in _WORD.finditer(query)]
    if has_han(query):  # written without spaces: every short run of characters may be a name
        runs = [word for word in words if has_han(word)]
        words += [run[at : at + size] for run in runs for size in _HAN_NAME_CHARS for at in range(len(run))]
    return {f"{LABELLED}{word.casefold()}": word for word in words}


def remove_names(query: str, names: Collection[str]) -> str:
    """The query without these names; the query itself if little is left."""
    text = query
    for name in names:
        word = re.escape(name) if has_han(name) else rf"(?<!\w){re.escape(name)}(?:['’]s)?(?!\w)"
        text = re.sub(word, " ", text)
    text = re.sub(r"\s+", " ", text).strip()
    return text if sum(map(str.isalnum, text)) >= 4 else query
