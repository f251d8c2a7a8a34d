"""Scoring of scenarios: one handmade case per rule."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from thinkback import Memory, Thought
from thinkback_lab.evaluations.scenario_format import ExpectedTriple, Probe
from thinkback_lab.evaluations.scenario_scoring import (
    F1Score,
    ProbeMemory,
    current_memories,
    judge_probe,
    match_triples,
    normalise_part,
    score_triples,
)

AT = datetime(2024, 5, 1, tzinfo=UTC)
THOUGHT = ProbeMemory("thought:1", "The user lives in Lyon.", True)
RAW = ProbeMemory("turn:1", "I used to live in Paris\nHow was it?", False)


@pytest.mark.parametrize(
    ("expect", "passes"),
    [
        ((), True),  # nothing is expected: nothing can be missing
        ((("Lyon",),), True),
        ((("lYON",),), True),  # case does not matter
        ((("Berlin", "Lyon"),), True),  # one alternative is enough
        ((("Lyon",), ("Paris",)), True),  # a raw fragment counts as well
        ((("Lyon",), ("Berlin",)), False),  # every list must have one
        ((("Lyon.\nI used",),), False),  # within one memory, not across two
    ],
)
def test_every_expect_list_needs_one_alternative(expect: tuple[tuple[str, ...], ...], passes: bool) -> None:
    judged = judge_probe(Probe(question="?", expect=expect), (THOUGHT, RAW))
    assert judged.passed is passes
    assert bool(judged.reasons) is not passes


def test_rejected_text_must_not_be_in_a_thought() -> None:
    judged = judge_probe(Probe(question="?", expect=(("Paris",),), reject=("lyon",)), (THOUGHT, RAW))
    assert not judged.passed
    assert judged.rejected == (("lyon", "thought:1"),)
    assert judged.reasons == ["rejected 'lyon' stands in thought:1"]


def test_rejected_text_in_raw_turn_is_only_counted() -> None:
    judged = judge_probe(Probe(question="?", reject=("paris",)), (THOUGHT, RAW))
    assert judged.passed
    assert (judged.rejected, judged.leaked) == ((), (("paris", "turn:1"),))


def test_empty_recall_fails_expectations_and_passes_rejections() -> None:
    assert not judge_probe(Probe(question="?", expect=(("Lyon",),)), ()).passed
    assert judge_probe(Probe(question="?", reject=("Lyon",)), ()).passed


def test_retired_thought_does_not_count() -> None:
    probe = Probe(question="?", expect=(("Paris",),), reject=("lives in Paris",))
    with Memory.open(":memory:", embedder="hashing", background=False) as memory:
        memory.remember("I live in Paris.", at=AT)
        memory.post_think()
        held = judge_probe(probe, current_memories(memory.recall("Where do I live in?")))
        assert (held.missing, held.rejected) == ((), (("lives in Paris", "thought:1"),))
        memory.remember("I moved to Lyon.", at=AT + timedelta(days=30))
        memory.post_think()
        was = memory.recall("Where do I live in?", k=1, as_of=AT)
        assert [str(item.ref) for item in was] == ["thought:1"]
        assert judge_probe(probe, current_memories(was)).recalled == ()
        assert judge_probe(probe, current_memories(was)).reasons == ["nothing recalled says 'Paris'"]


def thought(subject: str, relation: str, *objects: str, negated: bool = False) -> Thought:
    return Thought(
        subject=subject,
        relation=relation,
        objects=objects,
        sentence="-",
        kind="profile",
        sources=(),
        negated=negated,
        id=1,
        recorded_at=AT,
    )


@pytest.mark.parametrize(
    ("expected", "held", "same"),
    [
        (("user", "lives in", "Lyon"), thought("user", "lives in", "Lyon"), True),
        (("The User", "Lives in", "the  LYON."), thought("user", "lives in", "Lyon"), True),
        (("用户", "likes", "《活着》"), thought("user", "likes", "活着"), True),
        (("我", "weighs", "７０公斤"), thought("user", "weighs", "70公斤"), True),
        (("user", "works as", "nurse"), thought("user", "works as", "a nurse"), True),
        (("user", "not likes", "rain"), thought("user", "likes", "rain", negated=True), True),
        (("user", "likes", "rain"), thought("user", "likes", "rain", negated=True), False),
        (("user", "likes", "rain"), thought("user", "likes", "the rain in Spain"), False),
        (("user", "resides in", "Lyon"), thought("user", "lives in", "Lyon"), False),
        (("Anna", "lives in", "Lyon"), thought("user", "lives in", "Lyon"), False),
    ],
)
def test_triples_match_if_all_normalised_parts_are_equal(
    expected: tuple[str, str, str], held: Thought, same: bool
) -> None:
    subject, relation, object_ = expected
    matched = match_triples([ExpectedTriple(s=subject, r=relation, o=object_)], [held])
    assert bool(matched.right) is same
    assert bool(matched.missing) is bool(matched.extra) is not same


def test_every_object_is_a_triple_and_average_is_micro() -> None:
    gold = [ExpectedTriple(s="user", r="likes", o=each) for each in ("tea", "jazz")]
    first = match_triples(gold, [thought("user", "likes", "tea", "jazz", "rain")])
    second = match_triples([ExpectedTriple(s="user", r="is aged", o="30")], [])
    assert (len(first.right), len(first.extra), len(second.missing)) == (2, 1, 1)
    assert score_triples([first, second]) == F1Score(2 / 3, 2 / 3, 2 / 3)


def test_every_thought_is_wrong_if_nothing_should_be_learned() -> None:
    assert score_triples([match_triples([], [thought("user", "likes", "tea")])]) == F1Score(0.0, None, 0.0)
    assert score_triples([match_triples([], [])]) == F1Score(None, None, None)


def test_normalisation_keeps_words_that_look_like_articles() -> None:
    assert normalise_part("The Theatre") == "theatre"
    assert normalise_part("vitamin A") == "vitamin a"
