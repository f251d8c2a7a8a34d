"""Which sentences of the recalled memories answer a question in the chat without a model.

They are the best matching ones; of several that match about as well, the newest. A later sentence that
denies one replaces it. "Can Ines eat walnut bread?" is answered with what forbids it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf

from thinkback.language.names import USER
from thinkback.language.owners import (
    asks_about_user,
    asks_for_people,
    has_person_of_another,
    has_word,
    is_owned_by_another,
    names_subject,
    tells_of_another,
    tells_possession_of_another,
)
from thinkback.language.relations import get_relation
from thinkback.language.restrictions import Restriction, find_restriction
from thinkback.language.tokens import extract_terms, fold_text
from thinkback.recall.acknowledgements import USER_TERMS
from thinkback.recall.answer import ScoredSentence, score_sentences
from thinkback.recall.answerable import AnswerJudge, asks, asks_about_somebody, repair_question
from thinkback.recall.chat_phrases import load_patterns
from thinkback.recall.citations import find_triple, translate_triple
from thinkback.recall.nearest import is_stored_question
from thinkback.recall.overview import asks_for_overview
from thinkback.recall.slot_questions import asked_relations
from thinkback.types import INSTRUCTION, Recollection, Ref

MAX_LISTED = 5  # sentences in the answer to a question about everything that is known
MIN_NEWEST_SHARE = 0.85  # of the best score: the newest sentence above it answers
MIN_ANSWER_ODDS = 0.0  # below it a sentence that seems to answer is quoted as the nearest only
MIN_DENIAL_SHARE = 0.5  # of the score of a sentence: a later one above it may deny it
_MIN_SHARED_TERMS = 2  # by which a newer sentence is about the same as an older one; a rare one is enough
_MAX_TURNS_OF_A_RARE_TERM = 3


def own_statements(question: str, recollection: Recollection) -> Iterator[ScoredSentence]:
    """The sentences of thoughts and of the user's own messages; standing wishes answer nothing."""
    for sentence in score_sentences(question, recollection, sides=("query",)):
        thought = sentence.candidate.thought
        is_wish = thought is not None and thought.relation == INSTRUCTION
        is_question = asks(sentence.text) if thought else is_stored_question(sentence.text)
        if not (is_wish or is_question):
            yield sentence


def without_others(
    question: str, statements: Sequence[ScoredSentence], recollection: Recollection
) -> tuple[list[ScoredSentence], Recollection]:
    """The statements and memories that may answer the question.

    If it is about the user, facts that concern only other people are removed.
    """
    if not asks_about_user(question) or asks_for_overview(question):
        return list(statements), recollection
    kept = [each for each in statements if not _is_of_another(question, each)]
    dropped = {each.candidate.ref for each in statements} - {each.candidate.ref for each in kept}
    items = tuple(item for item in recollection if item.ref not in dropped)
    return kept, replace(recollection, items=items)


def _is_of_another(question: str, sentence: ScoredSentence) -> bool:
    if asks_for_people(question):  # "how many kids do i have": "my son is 5" may answer it
        return tells_possession_of_another(sentence.text) or has_person_of_another(question, sentence.text)
    if (triple := find_triple(sentence)) is not None:
        return triple.subject != USER and not has_word(question, triple.subject)
    if is_owned_by_another(question, sentence.text):
        return True
    return tells_of_another(sentence.text) and not names_subject(question, sentence.text)


def choose_sentences(
    question: str, judge: AnswerJudge, statements: Sequence[ScoredSentence], odds: Mapping[Ref, float]
) -> list[ScoredSentence]:
    """The sentences that answer the question, best first. `odds` are the log odds of what was read."""
    if asks_for_overview(question):
        return [
            each
            for number, each in enumerate(statements)
            if not any(each.terms <= other.terms for other in statements[:number])
        ][:MAX_LISTED]
    about_past = load_patterns("past").search(question) is not None
    matching = [
        (sentence.score * (0.5 + 0.5 * match), sentence)
        for sentence in statements
        if (match := _match(question, judge, sentence, statements)) is not None
    ]
    if not about_past:
        asked = frozenset(extract_terms(question))
        matching = [(score, find_newer_denial(each, statements, asked) or each) for score, each in matching]
        current = [(score, each) for score, each in matching if each.candidate.outdated is None]
        matching = current or matching
    asked_facts = find_asked_facts(question, statements)[-1:]
    if asked_facts:  # "how old am i": what fits by its words may be the age of somebody else
        matching = [
            (score, each)
            for score, each in matching
            if each.said_in > asked_facts[0].said_in
            and odds.get(each.candidate.ref, inf) >= MIN_ANSWER_ODDS
            and load_patterns("first_person").search(each.text)
            and not tells_of_another(each.text)
        ]
    if not matching:
        return asked_facts
    best = max(score for score, _ in matching)
    near = [each for score, each in matching if score >= MIN_NEWEST_SHARE * best]
    if asks_about_somebody(question):
        ranked = [each for _, each in sorted(matching, key=lambda pair: -pair[0])]
        return _without_repetitions(ranked)[:MAX_LISTED]
    return [max(near, key=lambda each: (each.said_in, each.candidate.thought is not None, each.score))]


def find_asked_facts(question: str, statements: Sequence[ScoredSentence]) -> list[ScoredSentence]:
    """The current facts about the user that a question asks for by its relation, oldest first."""
    relations = asked_relations(repair_question(question))
    if not relations or load_patterns("past").search(question):
        return []
    facts = [
        each
        for each in statements
        if (triple := find_triple(each)) is not None
        and triple.subject == USER
        and triple.relation in relations
        and not triple.negated
    ]
    return sorted(facts, key=lambda each: each.said_in)


def find_other_values(
    question: str,
    judge: AnswerJudge,
    chosen: ScoredSentence,
    statements: Sequence[ScoredSentence],
    recollection: Recollection,
) -> list[ScoredSentence]:
    """The other values of a fact that may have several: "allergic to peanuts", and "to shellfish".

    A value counts if it was told in the same turn as the chosen one, or if the cross-encoder takes it for an
    answer; not if a later sentence takes it back. If the chosen sentence is itself a denial, the values are
    those of the best matching fact.
    """
    if load_patterns("past").search(question):
        return []
    values = [
        each for each in statements if _slot(each) and _match(question, judge, each, statements) is not None
    ]
    slot = _slot(chosen)
    if slot is None and values and _takes_back(chosen):
        slot = _slot(max(values, key=lambda each: each.score))
    asked = frozenset(extract_terms(question)) | USER_TERMS
    others: dict[Ref, ScoredSentence] = {}
    for each in values:
        if slot is None or _slot(each) != slot or each.ref == chosen.ref:
            continue
        answers = recollection.answers.get(each.ref, -inf) >= MIN_ANSWER_ODDS
        denied = any(
            other.said_in > each.said_in and _takes_back(other) and (other.terms & each.terms) - asked
            for other in (chosen, *statements)
        )
        if (answers or each.said_in == chosen.said_in) and not denied:
            others.setdefault(each.ref, each)
    return list(others.values())


def find_forbidding(question: str, statements: Sequence[ScoredSentence]) -> list[ScoredSentence]:
    """The newest statement that forbids what a question asks for: "can ines eat walnut bread?"."""
    if not load_patterns("permission").search(question):
        return []
    forbidding = [
        sentence
        for sentence in statements
        if sentence.candidate.outdated is None
        and (restriction := find_restriction(sentence.text)) is not None
        and restriction.kind != "contraindication"
        and restriction.find_forbidden(question)
        and _asks_about_holder(question, restriction, sentence, statements)
    ]
    forbidding.sort(key=lambda each: (each.said_in, each.candidate.thought is not None))
    return forbidding[-1:]


def find_newer_denial(
    sentence: ScoredSentence, statements: Sequence[ScoredSentence], asked: frozenset[str] | None = None
) -> ScoredSentence | None:
    """The newest later sentence that denies or changes what this one tells, if there is one.

    With the terms of the question (`asked`) it must fit the question nearly as well, or share one of them.
    Without, it must say that something has ended.
    """
    later = [
        other
        for other in statements
        if other.said_in > sentence.said_in
        and load_patterns("ends" if asked is None else "denies").search(other.text)
        and (shared := (other.terms & sentence.terms) - USER_TERMS)
        and (len(shared) >= _MIN_SHARED_TERMS or any(_is_rare(term, statements) for term in shared))
        and (
            asked is None
            or other.score >= MIN_DENIAL_SHARE * sentence.score
            or any(len(term) > 1 for term in shared & asked)  # a single character is in too many words
        )
    ]
    return max(later, key=lambda other: other.said_in, default=None)


def _takes_back(sentence: ScoredSentence) -> bool:
    """Whether a sentence says that something is not so, or has ended."""
    return any(load_patterns(name).search(sentence.text) for name in ("denies", "ends"))


def _slot(sentence: ScoredSentence) -> tuple[str, str] | None:
    """Whom and which relation a current fact of a rule is about, if that may have several values."""
    triple = find_triple(sentence)
    if triple is None or get_relation(triple.relation).single_valued:
        return None
    return triple.subject, triple.relation


def _match(
    question: str, judge: AnswerJudge, sentence: ScoredSentence, statements: Sequence[ScoredSentence]
) -> float | None:
    """How well a sentence answers; a triple also as it reads in the language of the question."""
    match = judge.match(sentence.text, _antecedent(sentence, statements))
    if match is None and (translated := translate_triple(question, sentence)):
        match = judge.match(translated)
    return match


def _antecedent(sentence: ScoredSentence, statements: Sequence[ScoredSentence]) -> str:
    """What was said just before a sentence whose subject is "she" or "he": it tells who that is."""
    if not load_patterns("pronoun_subject").search(sentence.text):
        return ""
    return " ".join(
        other.text
        for other in statements
        if 0 <= sentence.said_in - other.said_in <= 1 and other.text != sentence.text
    )


def _asks_about_holder(
    question: str, restriction: Restriction, sentence: ScoredSentence, statements: Sequence[ScoredSentence]
) -> bool:
    """Whether a question is about the person that a restriction concerns, by name or role."""
    if restriction.concerns_user:
        return load_patterns("first_person").search(question) is not None
    substances = {fold_text(mention.word) for mention in restriction.find_forbidden(question)}
    words = [word for word in AnswerJudge(question).words if word.text not in substances]
    if any(word.is_in(sentence.text, sentence.terms) for word in words):
        return True
    # "my daughter" is Ines if a statement that names her says so
    holders = [fold_text(holder) for holder in restriction.holders]
    return any(
        any(holder in fold_text(each.text) for holder in holders)
        and any(word.is_role and word.is_in(each.text, each.terms) for word in words)
        for each in statements
    )


def _is_rare(term: str, statements: Sequence[ScoredSentence]) -> bool:
    """Whether a term is in few of the recalled messages, as a name is."""
    return len({each.said_in for each in statements if term in each.terms}) <= _MAX_TURNS_OF_A_RARE_TERM


def _without_repetitions(sentences: Sequence[ScoredSentence]) -> list[ScoredSentence]:
    chosen: list[ScoredSentence] = []
    for sentence in sentences:
        if not any(sentence.turns & other.turns or sentence.terms <= other.terms for other in chosen):
            chosen.append(sentence)
    return chosen
