"""Which memories are quoted if no sentence surely answers, by the odds that the network gave them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.factories import NOW

from thinkback.recall.answerable import AnswerJudge
from thinkback.recall.nearest import find_best_read, find_doubted, odds_lead, rank_by_odds
from thinkback.types import SAID, Candidate, OutdatedInfo, Recollection, Ref, Score, Source, Thought


def read(*memories: tuple[str, float]) -> Recollection:
    """A recollection of sentences, each of its own turn, with the log odds that they answer."""
    items = []
    for number, (sentence, _) in enumerate(memories, 1):
        thought = Thought(
            id=number,
            subject="user",
            relation=SAID,
            objects=(sentence,),
            sentence=sentence,
            kind="profile",
            sources=(Source(number, "user", "query", 0, len(sentence)),),
            recorded_at=NOW,
        )
        items.append(
            Candidate(
                ref=thought.ref, text=sentence, score=Score(1, 1, 1), group=0, reason="", thought=thought
            )
        )
    odds = {Ref("thought", number): value for number, (_, value) in enumerate(memories, 1)}
    return Recollection(query="", items=tuple(items), answers=odds)


def found(question: str, *memories: tuple[str, float]) -> list[int]:
    return [item.ref.id for item in find_best_read(AnswerJudge(question), read(*memories))]


def test_what_reads_much_worse_is_not_quoted() -> None:
    assert found(
        "who is arjuns teacher?", ("sunita picks up arjun", -3.0), ("his teacher is whitlock", 1.0)
    ) == [2]


def test_two_that_read_alike_are_quoted_the_better_one_first() -> None:
    assert found("what day is bowls?", ("bowls on fridays", 0.5), ("bowls on saturdays now", 1.0)) == [2, 1]


def test_required_words_come_first_if_nothing_reads_well() -> None:
    memories = ("we live in ann arbor", 0.3), ("my gf goes to ohio state", -1.0)
    assert found("where is my gf at school?", *memories) == [2, 1]


def test_nothing_is_near_without_words_or_odds() -> None:
    assert found("what is my blood type?", ("the bins go out on mondays", -5.0)) == []


def test_outdated_memories_are_no_rivals() -> None:
    recollection = read(("rent is 1650", 2.0), ("rent went up to 1800", 1.0))
    old, new = recollection.items
    old = replace(old, outdated=OutdatedInfo(until=NOW))
    recollection = replace(recollection, items=(old, new))
    assert [item.ref.id for item in rank_by_odds(recollection)] == [2]
    assert odds_lead(new, recollection) == 0.0  # the only one cannot stand out


def doubted(*memories: tuple[str, float], certain: bool = False) -> int | None:
    """What `find_doubted` returns if the first memory is marked as outdated by the second one."""
    recollection = read(*memories)
    first, *others = recollection.items
    info = OutdatedInfo(until=NOW, certain=certain, newer=others[0].ref)
    found = find_doubted(replace(recollection, items=(replace(first, outdated=info), *others)))
    return found.ref.id if found else None


def test_a_doubted_memory_is_quoted_if_what_is_newer_reads_like_no_answer() -> None:
    assert doubted(("got 2300 so far for japan", 4.2), ("rent went up to 1800", -0.2)) == 1
    assert doubted(("got 2300 so far for japan", 4.2), ("now its 2600", 0.5)) is None
    assert doubted(("got 2300 so far for japan", 1.2), ("rent went up to 1800", -3.0)) is None
    assert doubted(("i eat fish", 4.2), ("the bus is late", -3.0), ("no fish for me", 2.0)) is None
    assert doubted(("got 2300 so far for japan", 4.2), ("rent went up to 1800", -0.2), certain=True) is None


@pytest.mark.parametrize(
    ("question", "text", "named"),
    [
        ("where does my sister live", "my sister is in galway", True),
        ("what does my fella do", "mam had her hip replaced", False),
        ("when is anke's birthday", "ines has her birthday in may", False),
        ("what is my hourly rate", "started charging 55", True),
    ],
)
def test_people_of_the_question_must_be_named(question: str, text: str, named: bool) -> None:
    assert AnswerJudge(question).names_asked_people(text) is named
