"""Every explained score adds up: parts to the sum, the sum to a score, and what was changed to the total."""

from __future__ import annotations

import math

import pytest
from tests.conftest import FakeClock, OpenMemory

from thinkback.memory import Memory
from thinkback.presets import FADING, HYBRID, TIM, Preset
from thinkback.types import Candidate, Recollection

TOLD = (
    *(f"Bus number {n} was late again." for n in range(11, 41)),
    "My sister is Anna.",
    "Anna lives in Bergen, by the harbour.",
    "I live in Lyon.",
    "I had lunch with Tom at the harbour.",
    "I like jazz.",
)
ASKED = (
    "Where does my sister live?",
    "Who did I have lunch with last week?",
    "I live in Lyon, you know.",
    "我住在哪里？",
    "Bus number 17 was late again.",
)


@pytest.fixture
def talked(memory: Memory, clock: FakeClock) -> Memory:
    return tell(memory, clock, TOLD)


def tell(memory: Memory, clock: FakeClock, sayings: tuple[str, ...]) -> Memory:
    for saying in sayings:
        memory.remember(saying)
        clock.advance(3600)
    memory.post_think()
    return memory


def every(found: Recollection) -> list[Candidate]:
    return [*found.items, *found.dropped]


def check(item: Candidate, preset: Preset, found: Recollection) -> None:
    assert found.understanding is not None
    middle = found.understanding.middle
    made = item.score.sum
    assert made is not None
    assert made.linear == pytest.approx(math.fsum(part.weight * part.value for part in made.parts))
    bent = made.linear if middle is None else 1 / (1 + math.exp((middle - made.linear) / preset.steep))
    assert made.bent == pytest.approx(bent)
    reached = made.bent
    for step in made.adjustments:
        assert step.before == pytest.approx(reached)
        assert step.after != step.before
        reached = step.after
    assert item.score.total == pytest.approx(reached, abs=1e-6)


@pytest.mark.parametrize("asked", ASKED)
def test_the_sums_add_up(talked: Memory, asked: str) -> None:
    found = talked.recall(asked, explain=True)
    assert len(every(found)) > 10
    for item in every(found):
        check(item, HYBRID, found)


def test_so_they_do_where_a_few_rows_are_measured_plainly(memory: Memory, clock: FakeClock) -> None:
    found = tell(memory, clock, ("I live in Lyon.", "I like jazz.")).recall("Where do I live?", explain=True)
    assert every(found)
    for item in every(found):
        check(item, HYBRID, found)


def test_so_they_do_in_the_papers_way(open_memory: OpenMemory, clock: FakeClock) -> None:
    memory = tell(open_memory(":memory:", preset=TIM), clock, TOLD)
    found = memory.recall("I live in Lyon.", explain=True)
    assert every(found)
    for item in every(found):
        check(item, TIM, found)


def test_so_they_do_where_memories_fade(open_memory: OpenMemory, clock: FakeClock) -> None:
    memory = tell(open_memory(":memory:", preset=FADING), clock, TOLD)
    clock.advance(20 * 86_400)
    found = memory.recall("Do I like jazz?", explain=True)
    for item in every(found):
        check(item, FADING, found)
    steps = [step.why for item in every(found) if item.score.sum for step in item.score.sum.adjustments]
    assert "faded" in steps


def test_a_part_is_named_where_it_counts_and_only_there(talked: Memory) -> None:
    assert HYBRID.weights is not None

    def counting(asked: str, words: str) -> dict[str, float]:
        item = next(each for each in every(talked.recall(asked, explain=True)) if words in each.text)
        assert item.score.sum is not None
        return {part.name: part.contribution for part in item.score.sum.parts if part.contribution}

    assert counting("Where does my sister live?", "lives in Bergen.")["about"] == HYBRID.weights.asks.about
    assert "about" not in counting("Where does my sister live?", "The user lives in Lyon.")
    assert (
        counting("Where does my sister live?", "The user lives in Lyon.")["thought"]
        == HYBRID.weights.asks.thought
    )
    assert (
        counting("Who did I have lunch with on 2 May 2024?", "I had lunch")["time"]
        == HYBRID.weights.asks.time
    )
    both = "I live in Lyon. Where does my sister Anna live?"
    assert counting(both, "The user lives in Lyon.")["told"] < 0
    assert "told" not in counting("Do I live in Lyon?", "The user lives in Lyon.")


def test_a_thought_that_stands_for_its_turn_says_so(talked: Memory) -> None:
    found = talked.recall("So do I live in Lyon or do I not?", explain=True)
    thought = next(item for item in found if item.text == "The user lives in Lyon.")
    assert thought.score.sum is not None
    assert thought.score.sum.adjustments[-1].why == "stands for turn:33"


def test_without_explaining_nothing_of_it_is_made(talked: Memory) -> None:
    plain, explained = (talked.recall(ASKED[0], explain=explain) for explain in (False, True))
    assert all(item.score.sum is None for item in plain)
    assert plain.understanding is None
    assert plain.dropped == ()
    assert [(item.ref, item.text) for item in plain] == [(item.ref, item.text) for item in explained]
    scores = [[item.score.total for item in found] for found in (plain, explained)]
    assert scores[0] == pytest.approx(scores[1])


def test_what_was_dropped_is_told_the_most_promising_first(talked: Memory) -> None:
    scores = [item.score.total for item in talked.recall(ASKED[0], k=1, explain=True).dropped]
    assert len(scores) > 5
    assert scores == sorted(scores, reverse=True)
