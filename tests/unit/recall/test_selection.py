"""What one recalled item states: thoughts that belong together, series, and former values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.conftest import FakeClock, OpenMemory
from tests.scripted_reader import Propose, ScriptedReader, add, fact, known

from thinkback.language.questions import asks_for_several
from thinkback.memory import Memory
from thinkback.recall.features import held_in
from thinkback.think.contract import ProposedChange, ProposedFact, ReadRequest
from thinkback.types import Thought, Turn

MONTH = 30 * 86_400
FILLER = (
    "The bus was late again.", "It rained on the way home.", "Lunch was noodles with egg.",
    "The printer is out of paper.", "A parcel came for the neighbour.", "The lift is being repaired.",
    "The kitchen window squeaks.", "Traffic was slow on the bridge.",
)  # fmt: skip


def remember(open_memory: OpenMemory, clock: FakeClock, script: Mapping[str, Any]) -> Memory:
    memory = open_memory(":memory:", think=ScriptedReader(script))
    for saying in (*script, *FILLER):
        memory.remember(saying)
        memory.post_think()
        clock.advance(MONTH)
    return memory


def instead_of(words: str, stated: ProposedFact) -> Propose:
    """Proposes a fact in place of the known one with these words."""

    def propose(turn: Turn, request: ReadRequest) -> list[ProposedChange]:
        return [replace(add(turn.query, stated), action="replace", targets=(known(request, words).id,))]

    return propose


def rent(amount: int) -> ProposedFact:
    return fact(f"{amount} euros", f"The user pays {amount} euros of rent.", relation="pays rent")


RENTS = {
    "My rent is 500 euros.": [add("My rent is 500 euros.", rent(500))],
    "My rent is 600 euros from now on.": instead_of("500", rent(600)),
    "My rent is 700 euros from now on.": instead_of("600", rent(700)),
}


def test_former_values_of_a_slot_share_one_item_each_with_its_end(
    open_memory: OpenMemory, clock: FakeClock
) -> None:
    found = remember(open_memory, clock, RENTS).recall("How did the rent that I pay change?")
    (past,) = [item for item in found if item.thought and item.outdated]
    assert {thought.objects[0] for thought in past.thoughts} == {"500 euros", "600 euros"}
    assert past.text.count("(past, until") == 2
    assert past.text.count("now: The user pays 700 euros of rent") == 1


def test_a_question_about_the_past_is_told_the_present_value_only_in_a_note(
    open_memory: OpenMemory, clock: FakeClock
) -> None:
    memory = remember(open_memory, clock, RENTS)
    before = memory.recall("How much rent did I pay before the last raise?", explain=True)
    assert before[0].outdated is not None
    assert "700" in before[0].text
    current = [item for item in before.dropped if item.thought and item.thought.current]
    assert [item.verdict for item in current if "700" in item.text] == [f"told by {before[0].ref}"]
    now = memory.recall("How much rent do I pay now?")
    assert [item.outdated for item in now if item.thought and "700" in item.thought.sentence] == [None]


def test_a_question_about_several_values_gets_the_whole_series(
    open_memory: OpenMemory, clock: FakeClock
) -> None:
    weights = {"March": 3, "May": 4, "July": 5, "August": 6, "October": 7}
    script = {
        f"Momo the cat weighs {kilos} kg in {month}.": [
            add(
                f"Momo the cat weighs {kilos} kg in {month}.",
                fact(
                    f"{kilos} kg", f"Momo weighs {kilos} kg in {month}.", about="Momo",
                    relation=f"weighs in {month}", kind="event",
                ),
            )
        ]
        for month, kilos in weights.items()
    }  # fmt: skip
    memory = remember(open_memory, clock, script)
    found = memory.recall("List all the weights of Momo in order.", k=2)
    (series,) = [item for item in found if item.thought]
    assert all(f"{kilos} kg" in series.text for kilos in weights.values())
    assert max(len(item.joined) for item in memory.recall("What does Momo weigh?", k=2)) < len(weights) - 1


@pytest.mark.parametrize(
    ("question", "several"),
    [
        ("List every book I have finished.", True),
        ("Who are my cousins?", True),
        ("我每次的血压是多少？", True),
        ("公司里前后换过哪些老板？", True),
        ("Where does my cousin live?", False),
        ("How often do I swim every week?", False),
        ("我现在住在哪里？", False),
    ],
)
def test_asks_for_several(question: str, several: bool) -> None:
    assert asks_for_several(question) is several


def test_held_in() -> None:
    start, end = (datetime(2025, 5, day, tzinfo=UTC).timestamp() for day in (1, 8))
    held = {
        ("2025-01-01", None): 1,
        ("2025-01-01", "2025-05-03"): 1,
        ("2025-05-07", None): 1,
        ("2025-01-01", "2025-04-01"): 0,
        ("2025-05-08", None): -1,
    }
    for (since, until), expected in held.items():
        thought = Thought(
            id=1, subject="user", relation="lives in", objects=("Lyon",), sentence="The user lives in Lyon.",
            kind="profile", sources=(), valid_from=datetime.fromisoformat(since).replace(tzinfo=UTC),
            valid_to=(until and datetime.fromisoformat(until).replace(tzinfo=UTC)) or None,
            recorded_at=datetime(2024, 1, 1, tzinfo=UTC),
        )  # fmt: skip
        assert held_in(thought, start, end) == expected, (since, until)
