"""Speakers of a transcript: messages that begin with a name and a colon.

    Priya: I ran ten kilometres today!        speaker_terms -> ["speaker:", "speaker:priya"]

The terms are indexed with the words of the message. By them a search knows who said something, and that the
name of a speaker in a question ("What did Priya run?") means the speaker and is no word to look for.

A passage, of one speaker or several, is searched for as a whole and by its parts (`passage_parts`).
"""

from __future__ import annotations

import re
from collections.abc import Collection

from thinkback.language.sentences import split_sentences
from thinkback.language.tokens import STOP_WORDS
from thinkback.language.writing_systems import has_han

_NAME = r"[^\W\d_][\w.'’-]{0,30}(?: [^\W\d_][\w.'’-]{0,30}){0,2}"
_LABEL = re.compile(rf"\s*(?P<name>{_NAME}) ?[:：](?=\s|[\u4e00-\u9fff])")
_WORD = re.compile(r"[^\W\d_][\w’'-]*[^\W_]")
_HAN_NAME_CHARS = (2, 3, 4)
_MIN_PART_CHARS = 4
MAX_PARTS = 8  # of a passage; each is embedded
_POSSESSIVE = re.compile(r"['’]s$")
HAS_SPEAKER = "speaker:"
"""The term of every message that names its speaker."""


def speaker_term(name: str) -> str:
    """The index term of a speaker."""
    return f"{HAS_SPEAKER}{name.casefold().strip('.')}"


def speaker_terms(text: str) -> list[str]:
    """The index terms of the speaker that a text names at its beginning; none without a name.

    "Mary Ann Lee" can be asked for by the whole name, the first or the last word.
    """
    label = _LABEL.match(text)
    if label is None:
        return []
    words = label["name"].split()
    return [HAS_SPEAKER, *dict.fromkeys(map(speaker_term, (label["name"], words[0], words[-1])))]


def possible_speakers(query: str) -> list[str]:
    """The words of a query that may name a speaker."""
    words = [
        _POSSESSIVE.sub("", match.group())
        for match in _WORD.finditer(query)
        # "will" and "me" are no names, nor is "Will" as the first word
        if match.group().lower() not in STOP_WORDS or (match.start() and match.group()[0].isupper())
    ]
    if has_han(query):  # written without spaces: every short run of characters may be a name
        runs = [word for word in words if has_han(word)]
        words += [run[at : at + size] for run in runs for size in _HAN_NAME_CHARS for at in range(len(run))]
    return list(dict.fromkeys(words))


def passage_parts(text: str) -> list[str]:
    """The last lines of a passage without the names of their speakers; of a single line its sentences."""
    lines = text.splitlines()
    if len(lines) < 2:
        lines = [sentence.text for sentence in split_sentences(text)]
    labels = map(_LABEL.match, lines)
    parts = [line[label.end() if label else 0 :].strip() for line, label in zip(lines, labels, strict=True)]
    return [part for part in parts if sum(map(str.isalnum, part)) >= _MIN_PART_CHARS][-MAX_PARTS:]


def remove_names(query: str, names: Collection[str]) -> str:
    """The query without these names; the query itself if little is left."""
    text = query
    for name in names:
        word = re.escape(name) if has_han(name) else rf"(?<!\w){re.escape(name)}(?:['’]s)?(?!\w)"
        text = re.sub(word, " ", text)
    text = re.sub(r"\s+", " ", text).strip()
    return text if sum(map(str.isalnum, text)) >= 4 else query
