"""Negated variants, opposite words, and the check by embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.factories import NOW

from thinkback.embedders.hashing import HashingEmbedder
from thinkback.recall.consistency import (
    CheckerFactory,
    ConsistencyChecker,
    find_opposite_word,
    negated_variants,
)
from thinkback.think.answer_reader import AnswerReader
from thinkback.types import NewTurn, Thought

if TYPE_CHECKING:
    from thinkback.types import Vector


def thought(
    sentence: str, subject: str, relation: str, *objects: str, id_: int = 1, negated: bool = False
) -> Thought:
    return Thought(
        id=id_,
        subject=subject,
        relation=relation,
        objects=objects,
        sentence=sentence,
        kind="profile",
        sources=(),
        recorded_at=NOW,
        negated=negated,
    )


LYON = thought("The user lives in Lyon.", "user", "lives in", "Lyon")
BERN = thought("Anna lives in Bern.", "Anna", "lives in", "Bern", id_=2)
COUNT = thought(
    "The white blood cell count is 3623.20/ul.", "white blood cell count", "is", "3623.20/ul", id_=3
)
HIGH = thought("3623.20/ul is a relatively high value.", "3623.20/ul", "is", "a relatively high value", id_=4)


def test_negated_variants_deny_sentence_object_and_relation() -> None:
    assert negated_variants(LYON, [LYON, BERN]) == (
        "The user does not live in Lyon.",
        "The user lives in Bern.",
        "The user moved away from Lyon.",
    )
    assert negated_variants(HIGH)[1] == "3623.20/ul is a relatively normal value."
    assert len(negated_variants(LYON)) == 2  # nobody lends another object
    denial = thought("The user does not like tea.", "user", "likes", "tea", negated=True)
    assert negated_variants(denial) == ("The user likes tea.",)


@pytest.mark.parametrize(
    ("sentence", "word"),
    [
        ("combined with reasonable white blood cell count, everything is fine", "reasonable"),
        ("Your white blood cell count is normal.", "normal"),
        ("A value of 3623.20/ul is low.", "low"),
        ("Your white blood cell count is high.", ""),
        ("Your white blood cell count is not normal.", ""),
        ("Your blood pressure is normal.", ""),
        ("It should get back to a normal white blood cell count.", ""),
        ("Your white blood cell count is high, and your pulse is normal.", ""),
    ],
)
def test_opposite_word_on_a_scale_is_found(sentence: str, word: str) -> None:
    assert find_opposite_word(sentence, HIGH, [COUNT, HIGH]) == word


def embedder(near: dict[str, tuple[float, float]]) -> CheckerFactory:
    """Sentences as points of a plane; any other text stands alone."""

    def embed(texts: Sequence[str]) -> Vector:
        rows = [near.get(text.strip(), (0.0, -1.0)) for text in texts]
        unit = np.array(rows, dtype=np.float32)
        return np.asarray(unit / np.linalg.norm(unit, axis=1, keepdims=True), dtype=np.float32)

    return CheckerFactory(AnswerReader(), embed)


@pytest.mark.parametrize(
    ("place", "caught"),
    [((0.3, 1.0), True), ((1.0, 0.3), False), ((0.83, 0.55), False)],  # the last is nearer, but not by enough
)
def test_sentence_nearer_to_a_variant_is_a_conflict(place: tuple[float, float], caught: bool) -> None:
    plane = {
        "The user lives in Lyon.": (1.0, 0.0),
        "The user does not live in Lyon.": (0.5, 1.0),
        "Lyon is no home for the user.": place,
    }
    checker = ConsistencyChecker([LYON], embedder(plane), NewTurn(query="Hm?", at=NOW))
    found = checker.conflicts("", "Lyon is no home for you.")
    assert [conflict.method for conflict in found] == (["embedding"] if caught else [])
    if caught:
        assert found[0].score > found[0].threshold


def test_triples_take_precedence_over_embeddings() -> None:
    plane = {"The user lives in Lyon.": (1.0, 0.0), "The user does not live in Lyon.": (0.0, 1.0)}
    plane["the user live in Lyon."] = (0.0, 1.0)
    checker = ConsistencyChecker([LYON], embedder(plane), NewTurn(query="Hm?", at=NOW))
    assert checker.conflicts("", "You live in Lyon.") == []


def test_pronoun_refers_to_the_preceding_sentence() -> None:
    checker = ConsistencyChecker([BERN], embedder({}), NewTurn(query="Hm?", at=NOW))
    assert checker.conflicts("", "Anna works at Bosch. ") == []
    (conflict,) = checker.conflicts("Anna works at Bosch. ", "She lives in Rome.")
    assert (conflict.thought, conflict.sentence) == (BERN, "She lives in Rome.")


def test_only_the_first_sentence_may_be_a_bare_reply() -> None:
    checker = ConsistencyChecker([LYON], embedder({}), NewTurn(query="Where do I live?", at=NOW))
    assert [conflict.sentence for conflict in checker.conflicts("", "Paris. ")] == ["Paris."]
    assert checker.conflicts("You live in Lyon. ", "Lovely Weather.") == []


@pytest.mark.parametrize("sentence", ["Do you live in Paris?", "First you lived in Paris, now in Lyon."])
def test_questions_and_sentences_with_the_right_value_are_no_conflict(sentence: str) -> None:
    assert (
        ConsistencyChecker([LYON], embedder({}), NewTurn(query="Hm?", at=NOW)).conflicts("", sentence) == []
    )


def test_agreement_with_one_thought_is_no_conflict_with_another() -> None:
    """ "Anna lives in Lyon" is a variant of where Anna lives; that the user lives there says it in part."""
    anna = thought("Anna (the user's sister) lives in Rome.", "Anna", "lives in", "Rome", id_=2)
    said = NewTurn(query="Where do I live?", at=NOW)
    checker = ConsistencyChecker([LYON, anna], CheckerFactory(AnswerReader(), HashingEmbedder().embed), said)
    assert checker.conflicts("", "You live in Lyon, a lovely city in France.") == []
    assert checker.conflicts("", "You live in Bern, a lovely city.")
