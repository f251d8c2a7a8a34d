"""Questions for everything that somebody must not eat, drink or take: what can't I eat, 我对什么过敏.

All of it is told, in whatever language it was said, because a part of it would be taken for all. Whom a
restriction concerns is read from its sentence: a friend's diet is no answer to a question about the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from thinkback.language.owners import has_word, names_nobody_else, tells_of_another
from thinkback.language.restrictions import Restriction, find_domains, find_restriction
from thinkback.language.tokens import fold_text
from thinkback.language.writing_systems import has_han
from thinkback.recall.answer import ScoredSentence
from thinkback.recall.answerable import AnswerJudge
from thinkback.recall.chat_phrases import load_patterns

_NOT_ALLERGIC = re.compile(
    r"\b(?:not|no longer|n't) (?:really )?(?:allergic|intolerant)\b|不(?:再|是)?(?:对[^，。]{1,8})?过敏", re.I
)
_CANT = re.compile(r"\bcant\b", re.IGNORECASE)
_ASKED_THINGS = frozenset(
    ["food", "foods", "drink", "drinks", "things", "stuff", "medicine", "medicines", "meds", "medication"]
)
_FAMILY = re.compile(
    r"\b(?:family|everyone|everybody|anyone|relatives|kids|guests)\b|家里?人|大家|全家|客人", re.I
)
# "what cant donal eat": whoever is named there is asked about
_NAMED_SUBJECT = re.compile(
    r"\b(?:can['’]?t|cannot|can|shouldn['’]?t|mustn['’]?t|should|is|are)"
    r" (?!(?:i|we|you|u|not|be|the|he|she|they)\b)(?P<name>[^\W\d_]+)"
    r" (?:not )?(?:eat|drink|have|take|allergic|intolerant|avoid)\b",
    re.I,
)
_OF_ANOTHER = re.compile(r"\bs?he(?:['’]?s| is| can['’]?t| cannot| has)\b|[他她]", re.I)
# the user speaks of themselves, whoever else is mentioned: "mom says im allergic", "my wife and i are vegan"
_OF_SPEAKER = re.compile(
    r"\b(?:i['’]?m|i am|i (?:can|can['’]?t|cannot|don['’]?t|do not|never|get|have)"
    r"|and i|we are|we['’]?re|we both)\b",
    re.I,
)


def asks_for_restrictions(question: str) -> bool:
    """Whether a question asks for everything that somebody must not eat, drink or take."""
    return load_patterns("restrictions").search(question) is not None and not (
        _NOT_ALLERGIC.search(question) or load_patterns("past").search(question)
    )


def find_asked_restrictions(question: str, statements: Iterable[ScoredSentence]) -> list[ScoredSentence]:
    """The statements of what the one that is asked about must not eat, drink or take, as they were told.

    Only those of the kind that is asked for: food, drink or medicine, and no diets if allergies are asked
    for. What the user is no longer allergic to is told, too.
    """
    if not asks_for_restrictions(question):
        return []
    told = [sentence for sentence in statements if sentence.candidate.outdated is None]
    stated = [
        (sentence, restriction)
        for sentence in told
        if (restriction := find_restriction(sentence.text)) is not None and _is_of_kind(question, restriction)
    ]
    subject = _NAMED_SUBJECT.search(question)
    named = [
        pair
        for pair in stated
        if _names_holder(question, pair[1]) or (subject and has_word(pair[0].text, subject["name"]))
    ]
    if named or subject or not _is_about_user(question):
        judge = AnswerJudge(_CANT.sub("can't", question))
        asked = named or [pair for pair in stated if judge.has_required_words(pair[0].text)]
    else:
        asked = [pair for pair in stated if _concerns_user(*pair)]
    found: dict[Restriction, ScoredSentence] = {}
    for sentence, restriction in asked:
        found.setdefault(restriction, sentence)
    result = list(found.values())
    if result and not named and load_patterns("asks_allergy").search(question):
        denied = (each for each in told if _NOT_ALLERGIC.search(each.text))
        result += [each for each in denied if not tells_of_another(each.text)]
    return sorted(result, key=lambda sentence: sentence.said_in)


def with_others_chosen(
    restrictions: Sequence[ScoredSentence], chosen: Sequence[ScoredSentence]
) -> list[ScoredSentence]:
    """The restrictions, and what was chosen otherwise unless it is a known one: not all are recognised.

    Empty without restrictions.
    """
    if not restrictions:
        return []
    others = [each for each in chosen if each not in restrictions and not is_judged(each.text)]
    return [*restrictions, *others]


def is_judged(text: str) -> bool:
    """Whether a sentence states a restriction or is about somebody else: it is told only if asked for."""
    return tells_of_another(text) or find_restriction(text) is not None


def _is_of_kind(question: str, restriction: Restriction) -> bool:
    """Whether a question may ask for a restriction of this kind."""
    if restriction.kind == "contraindication":
        return False
    if load_patterns("asks_allergy").search(question) and restriction.kind != "allergy":
        return False
    domains = find_domains(question)
    return not domains or not restriction.domains or not domains.isdisjoint(restriction.domains)


def _is_about_user(question: str) -> bool:
    """Whether a question is about the user: it names nobody, and in Chinese it has a word for "I"."""
    if _FAMILY.search(question) or not names_nobody_else(question):
        return False
    if has_han(question):
        return load_patterns("first_person").search(question) is not None
    words = AnswerJudge(_CANT.sub("can't", question)).words
    return all(word.text in _ASKED_THINGS for word in words if word.required)


def _concerns_user(sentence: ScoredSentence, restriction: Restriction) -> bool:
    if _OF_SPEAKER.search(sentence.text):
        return True
    is_of_another = tells_of_another(sentence.text) or _OF_ANOTHER.search(sentence.text)
    return restriction.concerns_user and not is_of_another


def _names_holder(question: str, restriction: Restriction) -> bool:
    """Whether a question names the one whom a restriction concerns, by name or role."""
    folded = fold_text(question)
    return not restriction.concerns_user and any(
        fold_text(holder) in folded for holder in restriction.holders
    )
