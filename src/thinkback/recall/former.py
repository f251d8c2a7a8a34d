"""Questions about how it was before, and facts that a later sentence has ended.

where did we live before?     not "mum lives in cork", nor the town that we moved to last
我老婆叫什么                    我老婆叫小雪, but 上个月离婚了 was told later: both are quoted
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from math import inf

from thinkback.language.names import USER
from thinkback.language.owners import names_nobody_else, tells_of_another
from thinkback.language.query_tense import detect_query_tense, is_past
from thinkback.network.cross_encoder import load_cross_encoder
from thinkback.recall.answer import ScoredSentence
from thinkback.recall.chat_phrases import load_patterns
from thinkback.recall.citations import find_triple, spoken_words
from thinkback.recall.nearest import MIN_NEAR_ODDS, MIN_SURE_ODDS, is_told, last_turn
from thinkback.types import Candidate, Recollection

_CLAUSE_END = re.compile(r"[,，;；。]\s*\w")
MIN_ENDED_ODDS = -1.5  # log odds that a sentence about an end makes a fact outdated
_MAX_ENDS_READ = 3  # the newest sentences about an end that are read together with an answer


def asks_for_former(question: str) -> bool:
    """Whether a question asks for a former state: "where did we live before"."""
    return detect_query_tense(question, timed=False, long_ago=False) == "before"


def without_present(
    question: str, statements: Sequence[ScoredSentence], recollection: Recollection
) -> tuple[list[ScoredSentence], Recollection]:
    """The statements and memories that may tell a former state.

    A statement in the present tense does only if a later one of the same person tells what came then.
    """
    kept = [
        each
        for each in statements
        if not (names_nobody_else(question) and _is_of_another(each))
        and (not tells_present(each) or _was_followed(each, statements, recollection))
    ]
    dropped = {each.candidate.ref for each in statements} - {each.candidate.ref for each in kept}
    items = tuple(item for item in recollection if item.ref not in dropped)
    return kept, replace(recollection, items=items)


def without_former(question: str, statements: Sequence[ScoredSentence]) -> list[ScoredSentence]:
    """The statements without those that only tell how it was before, if the question is about now."""
    if asks_for_former(question) or is_past(question) or load_patterns("past").search(question):
        return list(statements)
    return [each for each in statements if not load_patterns("former_only").search(each.text)]


def tells_present(sentence: ScoredSentence) -> bool:
    """Whether a sentence tells what holds now, or what began: "we moved to lyon"."""
    if sentence.candidate.outdated is not None or load_patterns("former").search(sentence.text):
        return False
    if find_triple(sentence) is not None or _begins(sentence.text):
        return True
    return not is_past(sentence.text) and load_patterns("present").search(sentence.text) is not None


def _begins(text: str) -> bool:
    """Whether a sentence tells what began, and in no other clause how it was before."""
    return load_patterns("begins").search(text) is not None and not _CLAUSE_END.search(text)


def _was_followed(
    sentence: ScoredSentence, statements: Sequence[ScoredSentence], recollection: Recollection
) -> bool:
    """Whether a later sentence tells that something else began, and reads like an answer, too."""
    return any(
        other.said_in > sentence.said_in
        and _begins(other.text)
        and recollection.answers.get(other.ref, -inf) >= MIN_SURE_ODDS
        and _is_of_another(other) == _is_of_another(sentence)
        for other in statements
    ) and not load_patterns("lasts").search(sentence.text)


def _is_of_another(sentence: ScoredSentence) -> bool:
    triple = find_triple(sentence)
    return triple.subject != USER if triple is not None else tells_of_another(sentence.text)


def find_ending(answer: ScoredSentence, items: Iterable[Candidate]) -> Candidate | None:
    """The newest memory that was told after an answer and says that what it tells has ended."""
    told = {
        item.ref: item
        for item in items
        if is_told(item)
        and last_turn(item) > answer.said_in
        and any(load_patterns(name).search(spoken_words(item)) for name in ("ends", "parts"))
        and not tells_of_another(spoken_words(item))
    }
    later = sorted(told.values(), key=last_turn, reverse=True)[:_MAX_ENDS_READ]
    parted = [item for item in later if _ends_partnership(answer.text, spoken_words(item))]
    if parted or not later or (network := load_cross_encoder()) is None:
        return next(iter(parted), None)
    scores = network.outdated_scores([(answer.text, spoken_words(item)) for item in later])
    ended = (item for item, score in zip(later, scores, strict=True) if score >= MIN_ENDED_ODDS)
    return next(ended, None)


def find_ended(question: str, recollection: Recollection) -> Candidate | None:
    """The memory that ended another one, if a question asks whether something holds still: 我还有车吗."""
    if not load_patterns("asks_still").search(question):
        return None
    items = {item.ref: item for item in recollection}
    for item in recollection:
        newer = items.get(item.outdated.newer) if item.outdated and item.outdated.newer else None
        is_near = recollection.answers.get(item.ref, -inf) >= MIN_NEAR_ODDS
        if newer is not None and is_near and load_patterns("ends").search(spoken_words(newer)):
            return newer
    return None


def find_former(statements: Sequence[ScoredSentence], recollection: Recollection) -> list[ScoredSentence]:
    """The statement that is known to hold no longer and reads most like an answer, if that is sure."""
    odds = recollection.answers
    known = [
        each
        for each in statements
        if each.candidate.outdated is not None
        and each.candidate.outdated.certain
        and odds.get(each.ref, -inf) >= MIN_SURE_ODDS
    ]
    return sorted(known, key=lambda each: -odds[each.ref])[:1]


def _ends_partnership(text: str, later: str) -> bool:
    """Whether a sentence tells of a parting, and the other one of a partner."""
    return bool(load_patterns("partner").search(text) and load_patterns("parts").search(later))
