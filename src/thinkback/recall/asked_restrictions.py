"""Questions for everything that somebody must not eat, drink or take: what can't I eat, 我对什么过敏.

All of it is told, in whatever language it was said, because a part of it would be taken for all. Whom a
restriction concerns is read from its sentence: a friend's diet is no answer to a question about the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from thinkback.language.owners import names_nobody_else, tells_of_another
from thinkback.language.restrictions import Restriction, find_restriction
from thinkback.language.tokens import fold_text
from thinkback.recall.answer import ScoredSentence
from thinkback.recall.answerable import AnswerJudge
from thinkback.recall.chat_phrases import load_patterns

_NOT_ALLERGIC = re.compile(
    r"\b(?:not|no longer|n't) (?:really )?(?:allergic|intolerant)\b|不(?:再|是)?.{0,6}过敏", re.I
)
_CANT = re.compile(r"\bcant\b", re.IGNORECASE)


def asks_for_restrictions(question: str) -> bool:
    """Whether a question asks for everything that somebody must not eat, drink or take."""
    return load_patterns("restrictions").search(question) is not None


def find_asked_restrictions(question: str, statements: Iterable[ScoredSentence]) -> list[ScoredSentence]:
    """The statements of what the one that is asked about must not eat, drink or take, as they were told.

    A question for allergies is not answered with diets. What the user is no longer allergic to is told, too.
    """
    if not asks_for_restrictions(question):
        return []
    statements = list(statements)
    stated = [
        (sentence, restriction)
        for sentence in statements
        if sentence.candidate.outdated is None
        and (restriction := find_restriction(sentence.text)) is not None
        and restriction.kind != "contraindication"
    ]
    if load_patterns("asks_allergy").search(question):
        stated = [pair for pair in stated if pair[1].kind == "allergy"]
    if names_nobody_else(question):
        asked = [pair for pair in stated if pair[1].concerns_user and not tells_of_another(pair[0].text)]
    else:
        judge = AnswerJudge(_CANT.sub("can't", question))
        asked = [pair for pair in stated if _is_about_named(question, judge, *pair)]
    found: dict[tuple[frozenset[str], tuple[str, ...]], ScoredSentence] = {}
    for sentence, restriction in asked:
        found.setdefault((restriction.forbidden, restriction.literals), sentence)
    denied = [
        sentence
        for sentence in (statements if found and names_nobody_else(question) else ())
        if _NOT_ALLERGIC.search(sentence.text) and not tells_of_another(sentence.text)
    ]
    return sorted((*found.values(), *denied), key=lambda sentence: sentence.said_in)


def _is_about_named(
    question: str, judge: AnswerJudge, sentence: ScoredSentence, restriction: Restriction
) -> bool:
    """Whether a restriction concerns the person whom a question names, by name or role."""
    folded = fold_text(question)
    return judge.has_required_words(sentence.text) or (
        not restriction.concerns_user and any(fold_text(holder) in folded for holder in restriction.holders)
    )
