"""Outdated memories are marked and come last, or are not shown at all."""

from __future__ import annotations

import pytest
from tests.conftest import FakeClock, OpenMemory

from thinkback.memory import Memory
from thinkback.recall.prompt_messages import (
    MAX_FRAGMENT_CHARS,
    compose_for_small_model,
    facts_within_budget,
)
from thinkback.types import Candidate, Recollection

BAKERY = "I live in Lyon, above the bakery whose oven wakes me at four."
BAKER = "I live in Lyon. The baker there wakes people at four."  # the second sentence is in the turn only
WEEK = 7 * 86_400


def told(memory: Memory, clock: FakeClock, *sayings: str) -> Memory:
    for saying in sayings:
        memory.remember(saying)
        clock.advance(WEEK)
    memory.post_think()
    return memory


def pasts(found: Recollection) -> list[Candidate]:
    return [item for item in found if item.outdated]


def verdicts(found: Recollection) -> dict[str, str]:
    return {str(item.ref): item.verdict for item in (*found, *found.dropped)}


@pytest.mark.parametrize(
    ("sayings", "asked", "text"),
    [
        (
            (BAKER, "I live in Oslo."),
            "Where do I live?",
            f"user, 2024-05-01: {BAKER} "
            "(past: The user lives in Lyon, until 2024-05-08; now: The user lives in Oslo)",
        ),
        (
            ("我住在北京。这里的面包店四点就开炉，天天吵醒人。", "我住在上海。"),
            "我住在哪里？",
            "user, 2024-05-01: 我住在北京。这里的面包店四点就开炉，天天吵醒人。"
            "（已成过去：用户住在北京，至2024-05-08；现在：用户住在上海）",
        ),
    ],
)
def test_turn_with_replaced_fact_comes_last_and_is_marked(
    memory: Memory, clock: FakeClock, sayings: tuple[str, str], asked: str, text: str
) -> None:
    found = told(memory, clock, *sayings).recall(asked)
    *present, last = found
    assert [item.thought.id for item in present if item.thought] == [2]
    assert not pasts(found)[:-1]
    assert last.text == text
    assert last.reason.startswith("past: ")
    assert last.outdated is not None
    assert [str(thought.ref) for thought in last.outdated.replaced_by] == ["thought:2"]


def test_sentence_kept_as_said_is_marked(memory: Memory, clock: FakeClock) -> None:
    present, past = told(memory, clock, BAKERY, "I live in Oslo.").recall("Where do I live?")
    assert "The user lives in Oslo." in present.text
    assert present.outdated is None
    assert BAKERY in past.text
    assert "(past: The user lives in Lyon, until 2024-05-08; now: The user lives in Oslo)" in past.text


def test_mark_names_the_current_fact(memory: Memory, clock: FakeClock) -> None:
    told(memory, clock, BAKERY, "I live in Oslo.", "I live in Rome.", "I live in Turku.")
    (past,) = pasts(memory.recall("What oven wakes me at four?"))
    assert past.text.endswith(
        "(past: The user lives in Lyon, until 2024-05-08; now: The user lives in Turku)"
    )


def test_partly_outdated_turn_names_its_outdated_fact(memory: Memory, clock: FakeClock) -> None:
    told(memory, clock, f"I like jazz. {BAKER}", "I live in Oslo.")
    (past,) = pasts(memory.recall("When does the baker wake people?"))
    assert past.verdict == "matters"
    assert past.text.startswith("user, 2024-05-01: I like jazz.")
    assert "(past: The user lives in Lyon, until" in past.text


def test_neighbour_turn_is_marked_as_outdated(memory: Memory, clock: FakeClock) -> None:
    memory.remember("My mentor Lindqvist goes on leave.")
    memory.remember("He will see glaciers. I work at Bosch.")
    clock.advance(WEEK)
    told(memory, clock, "I work at Roche.")
    (beside,) = pasts(memory.recall("Where is Lindqvist?"))
    assert beside.verdict == "said beside it"
    assert "(past: The user works at Bosch, until 2024-05-08; now: The user works at Roche)" in beside.text


def test_turn_with_only_the_replaced_fact_is_not_shown(memory: Memory, clock: FakeClock) -> None:
    found = told(memory, clock, "I live in Lyon.", "I live in Oslo.").recall("Where do I live?", explain=True)
    assert [str(item.ref) for item in found] == ["thought:2"]
    assert verdicts(found)["turn:1"] == "no longer held true, see thought:1"


def test_outdated_turn_takes_no_slot_of_a_current_memory(memory: Memory, clock: FakeClock) -> None:
    told(memory, clock, BAKERY, "I live in Oslo.")
    assert len(pasts(memory.recall("Where do I live?", k=2))) == 1
    assert not pasts(memory.recall("Where do I live?", k=1))


def test_query_as_of_a_time_is_not_marked(memory: Memory, clock: FakeClock) -> None:
    told(memory, clock, BAKERY, "I live in Oslo.")
    assert pasts(memory.recall("Where do I live?"))
    assert not pasts(memory.recall("Where do I live?", as_of=clock()))
    assert not pasts(memory.recall("Where do I live?", known_at=clock()))


@pytest.mark.parametrize(
    "then",
    [
        ("Please forget that I live in Lyon.",),
        ("I live in Oslo.", "Please forget that I live in Lyon."),
        ("Please forget everything about Lyon.",),
    ],
)
@pytest.mark.parametrize("at_once", [True, False])
def test_retracted_fact_is_not_shown(
    memory: Memory, clock: FakeClock, then: tuple[str, ...], at_once: bool
) -> None:
    for sayings in ((BAKERY,), *((saying,) for saying in then)) if at_once else ((BAKERY, *then),):
        told(memory, clock, *sayings)
    assert not [thought for thought in memory.thoughts() if "Lyon" in thought.sentence]
    found = memory.recall("Where do I live, what oven wakes me at four?")
    assert not [item for item in found if "Lyon" in item.text]


def test_corrected_fact_is_shown_only_with_its_correction(memory: Memory, clock: FakeClock) -> None:
    memory.remember("I live in Lyon.")
    memory.post_think()
    clock.advance(60)
    memory.remember("Sorry, I meant Oslo, not Lyon.")
    memory.post_think()
    assert [thought.object for thought in memory.thoughts()] == ["Oslo"]
    found = memory.recall("Where do I live?")
    assert any("The user lives in Oslo. (said" in item.text for item in found)
    wrong = [item.text for item in found if "Lyon" in item.text]
    assert all("now: The user lives in Oslo)" in text for text in wrong)


def test_denied_fact_is_shown_as_past_only(memory: Memory, clock: FakeClock) -> None:
    told(memory, clock, BAKERY, "I no longer live in Lyon.")
    assert "Lyon" not in [thought.object for thought in memory.thoughts()]
    shown = [item for item in memory.recall("What oven wakes me at four?") if "bakery" in item.text]
    assert shown
    assert all("(past: The user lives in Lyon, until 2024-05-08)" in item.text for item in shown)


def test_manually_retired_fact_is_not_shown(memory: Memory, clock: FakeClock) -> None:
    told(memory, clock, BAKERY)
    memory.forget(1, "not true")
    found = memory.recall("Where do I live?", explain=True)
    assert len(found) == 0
    assert verdicts(found)["thought:2"] == "to be forgotten"  # the sentence kept as said


BEFORE = "What was my address before?"


@pytest.mark.parametrize("asked", [BEFORE, "What was my old address?", "What is my address?"])
def test_forgotten_fact_is_not_shown_to_a_query_about_the_past(
    memory: Memory, clock: FakeClock, asked: str
) -> None:
    told(memory, clock, "My address is 14 Elm Street.", "Please forget my address.")
    assert all("Elm" not in item.text for item in memory.recall(asked))


def test_replaced_fact_is_shown_to_a_query_about_the_past(memory: Memory, clock: FakeClock) -> None:
    told(memory, clock, "My address is 14 Elm Street.", "My address is 9 Oak Road.")
    found = memory.recall(BEFORE)
    mark = "(past, until 2024-05-08; now: The user's address is 9 Oak Road)"
    assert f"The user's address is 14 Elm Street. {mark}" in [item.text for item in found]


def test_denied_fact_is_shown_to_a_query_about_the_past(memory: Memory, clock: FakeClock) -> None:
    told(memory, clock, "I work at Bosch.", "I no longer work at Bosch.")
    found = memory.recall("Where did I work before?")
    assert any("The user works at Bosch. (past, until 2024-05-08" in item.text for item in found)


def test_denied_sentence_is_shown_to_a_query_about_the_past(memory: Memory, clock: FakeClock) -> None:
    told(memory, clock, "I work at Bosch, in the hall with the green crane.", "I no longer work at Bosch.")
    shown = [item for item in memory.recall("Where did I work before?") if "green crane" in item.text]
    assert shown
    assert all("(past: The user works at Bosch, until 2024-05-08)" in item.text for item in shown)


def test_outdated_turn_is_redacted(memory: Memory, clock: FakeClock) -> None:
    told(memory, clock, f"{BAKERY} My wifi password is Xiaoyu@8827.", "I live in Oslo.")
    found = memory.recall("What oven wakes me at four?", explain=True)
    assert pasts(found)
    assert "8827" not in repr((found.items, found.dropped))


def test_mark_of_a_long_turn_reaches_the_model(memory: Memory, clock: FakeClock) -> None:
    told(memory, clock, f"I live in Lyon. {'It is a good oven and a good bakery. ' * 40}", "I live in Oslo.")
    found = memory.recall("Is it a good bakery with a good oven?")
    (past,) = pasts(found)
    assert len(past.text) > MAX_FRAGMENT_CHARS
    mark = "(past: The user lives in Lyon, until 2024-05-08; now: The user lives in Oslo)"
    assert mark in " ".join(facts_within_budget(found))
    only = Recollection(query="?", items=(past,))
    assert mark in compose_for_small_model("?", only)[0].content


def test_replaced_fact_that_was_forgotten_is_not_shown_to_a_query_about_the_past(
    open_memory: OpenMemory,
) -> None:
    memory = open_memory(think="extractive")
    for text in ("I live in Lyon.", "I live in Oslo now.", "forget that I live in Lyon"):
        memory.remember(text)
        memory.post_think()
    recalled = memory.recall("Where did I live before?")
    assert all("Lyon" not in item.text for item in recalled)
    memory.undo(memory.journal()[-1])
    assert any("Lyon" in item.text for item in memory.recall("Where did I live before?"))
