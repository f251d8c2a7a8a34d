"""A query -> what it tells and what it asks: "The address is 5 Park Road, do you know the phone number?"

People tell while they ask. What a query tells is what the speaker knows already, and what follows it in
memory is more likely wanted; what its last clause asks says more about the answer than all of it does. A few
words to search by ("green tea", 妹妹 工作) are no sentence: they ask for what says them.
"""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from thinkback.text.scripts import has_han
from thinkback.text.sentences import is_question, sentences
from thinkback.text.tokens import FUNCTION_CHARACTERS, STOP_WORDS, count_tokens, terms

Manner = Literal["asks", "tells", "at length"]

_BRIEF = 48  # tokens; a longer text is a passage, and one clause of it would hide the rest
_ENOUGH, _ENOUGH_HAN = 2, 4  # terms by which a clause can be searched for; of Chinese, pairs count as well
_KEYWORDS = 24  # tokens of them at most
_JOINING = """
    a about after an and at before between by down during for from in into my of off on or our out over the to
    under up with"""
_SENTENCE = re.compile(
    rf"(?i)\b(?:{'|'.join(sorted(STOP_WORDS.difference(_JOINING.split()), key=len, reverse=True))})\b"
    rf"|[{''.join(sorted(FUNCTION_CHARACTERS.difference('的和与及')))}]"
    r"|[!?。！？，；]|\.\s*\Z"
)
"""What keywords have none of: words that only a sentence needs, and its signs."""
_WANTS = re.compile(
    r"(?:please |now |and |ok(?:ay)?,? |so )*"
    r"(?:tell|show|remind|give|find|list|describe|explain|summari[sz]e)\b"
    "|(?:请|麻烦|帮我)*(?:告诉|说说|讲讲|介绍|列出|提醒|找出?|查)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[，,。；;！!？?\n]+|(?<=\.)\s+")


class Spoken(NamedTuple):
    """`told` and `asked` are parts of the query; a passage has neither, it is searched for as a whole."""

    manner: Manner
    told: str = ""
    asked: str = ""


def spoken(query: str) -> Spoken:
    """How a query is put, and its parts; a plain question tells nothing, a statement asks nothing."""
    if not is_brief(query):
        return Spoken("at length")
    if _are_keywords(query) or _WANTS.match(query.strip()):
        return Spoken("asks", asked=query)
    if not any(is_question(sentence.text) for sentence in sentences(query)[-1:]):
        return Spoken("tells", told=query)
    clauses = [clause for clause in _CLAUSE.split(query) if clause.strip()]
    last = len(clauses) - 1
    enough = _ENOUGH_HAN if has_han(query) else _ENOUGH
    while last > 0 and len(terms(" ".join(clauses[last:]))) < enough:
        last -= 1
    return Spoken("asks", told=" ".join(clauses[: max(last, 0)]), asked=" ".join(clauses[max(last, 0) :]))


def _are_keywords(query: str) -> bool:
    return count_tokens(query) <= _KEYWORDS and not _SENTENCE.search(query.replace("’", "'"))


def is_brief(query: str) -> bool:
    """Whether it may mean what it does not say; a long text says it."""
    return count_tokens(query) <= _BRIEF
