"""Answers without a model: the sentences of memories that answer the question, and no others."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from thinkback.language.sentences import count_words
from thinkback.recall.answer import select_answer_sentences
from thinkback.types import Candidate, Recollection, Ref, Score, Source, Thought, Turn

NOW = datetime(2024, 5, 1, 12, tzinfo=UTC)


def thought(id_: int, sentence: str, score: float, turn: int) -> Candidate:
    held = Thought(
        id=id_,
        subject="user",
        relation="r",
        objects=("o",),
        sentence=sentence,
        kind="profile",
        sources=(Source(turn, "user", "query", 0, 1),),
        recorded_at=NOW,
    )
    total = Score(score, score, score)
    return Candidate(ref=held.ref, text=sentence, score=total, group=0, reason="", thought=held)


def turn(id_: int, query: str, score: float, response: str = "") -> Candidate:
    said = Turn(id=id_, query=query, response=response, at=NOW, recorded_at=NOW)
    total = Score(score, score, score)
    return Candidate(ref=said.ref, text=said.text, score=total, group=0, reason="", turn=said)


def found(query: str, *items: Candidate) -> Recollection:
    return Recollection(query=query, items=items, threshold=0.2)


def test_answer_prefers_thought_to_its_turn_and_omits_distant_sentences() -> None:
    items = (
        turn(1, "My name is Ann and I live in Paris.", 0.8),
        thought(1, "The user lives in Paris.", 0.75, turn=1),
        thought(2, "The user likes tea.", 0.25, turn=2),
    )
    told = select_answer_sentences("Where do I live?", found("Where do I live?", *items), 50)
    assert [(each.ref, each.text) for each in told] == [(Ref("thought", 1), "The user lives in Paris.")]


def test_answer_picks_the_right_sentence_of_a_long_turn() -> None:
    said = "We went out. Clara bought fish because she was hungry. It rained all day long. Did you know?"
    question = "Why did Clara buy fish?"
    (told,) = select_answer_sentences(question, found(question, turn(3, said, 0.9)), 50)
    assert told.text == "Clara bought fish because she was hungry."


def test_answer_never_contains_a_question() -> None:
    question = "Where does Clara live?"
    assert (
        select_answer_sentences(question, found(question, turn(1, "Do you know where Clara lives?", 0.9)), 50)
        == []
    )


@pytest.mark.parametrize("most", [1, 5, 12, 50])
def test_answer_respects_the_word_limit(most: int) -> None:
    items = [turn(n, f"Clara {n} " + "walks by the sea, and " * 30, 0.9) for n in range(1, 5)]
    told = select_answer_sentences("Where does Clara walk?", found("q", *items), most)
    assert 0 < sum(count_words(each.text) for each in told) <= most
    zh = [turn(n, f"小红{n}每天都在海边散步，" * 20, 0.9) for n in range(1, 5)]
    told = select_answer_sentences("小红在哪里散步？", found("q", *zh), most)
    assert 0 < sum(count_words(each.text) for each in told) <= most
