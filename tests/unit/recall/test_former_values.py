"""Questions about the present recall nothing that only tells what was before; the data is by another writer.

Each line of `scenarios/former_values/heldout.jsonl` is a memory of 8 to 12 facts, in which something changes,
with questions about what holds now, about what was before, about whether something holds still, and about
something else.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import FakeClock, OpenMemory
from tests.scripted_reader import ScriptedReader, add, fact

from thinkback.memory import Memory
from thinkback.network.cross_encoder import find_cross_encoder
from thinkback.recall import retrieve
from thinkback.think.contract import ProposedChange, ReadRequest
from thinkback.types import Turn

pytestmark = pytest.mark.skipif(find_cross_encoder() is None, reason="thinkback-reranker is not installed")
CASES = Path(__file__).parents[3] / "scenarios" / "former_values" / "heldout.jsonl"
DAY = 86_400.0
RECALLED = 5


def read_cases() -> list[dict[str, Any]]:
    return [json.loads(line) for line in CASES.read_text(encoding="utf-8").splitlines()]


def tell(open_memory: OpenMemory, clock: FakeClock, told: list[dict[str, Any]]) -> Memory:
    """A memory that was told these facts, one every four days, and knows what each replaces or ends."""
    by_sentence = {each["sentence"]: each for each in told}
    thoughts: dict[str, int] = {}  # id in the file -> id of the thought

    def propose(turn: Turn, _: ReadRequest) -> list[ProposedChange]:
        each = by_sentence[turn.query]
        stated = fact(each["value"], each["sentence"], about=each["about"], relation=each["relation"])
        replaced = tuple(thoughts[id_] for id_ in each["replaces"])
        action: dict[str, object] = {"action": "replace", "targets": replaced} if replaced else {}
        changes = [add(turn.query, stated, **action)]
        if ended := tuple(thoughts[id_] for id_ in each["ends"]):
            changes.append(ProposedChange(action="end", turn=0, quote=turn.query, targets=ended))
        return changes

    reader = ScriptedReader(dict.fromkeys(by_sentence, propose))
    memory = open_memory(":memory:", preset="careful", think=reader)
    for each in told:
        memory.remember(each["sentence"])
        memory.post_think()
        thoughts[each["id"]] = next(
            (thought.id for thought in memory.thoughts() if thought.sentence == each["sentence"]), 0
        )
        clock.advance(4 * DAY)
    return memory


def outcomes(open_memory: OpenMemory, clock: FakeClock) -> Iterator[tuple[str, bool, bool]]:
    """Kind of each question, whether its answer is recalled, and whether no item has the former value."""
    for case in read_cases():
        sentences = {each["id"]: each["sentence"] for each in case["told"]}
        memory = tell(open_memory, clock, case["told"])
        for asked in case["asked"]:
            items = list(memory.recall(asked["q"], k=RECALLED))
            found = any(sentences[asked["answer"]].rstrip(".。") in item.text for item in items)
            former = asked.get("former", "").casefold()
            clean = not former or not any(
                former in item.text.casefold() for item in items if item.outdated is None
            )
            yield asked["kind"], found, clean


def shares(open_memory: OpenMemory, clock: FakeClock) -> dict[str, float]:
    """Share of the questions of each kind whose answer is recalled; of those about now, without the rest."""
    found, clean, total = Counter[str](), Counter[str](), Counter[str]()
    for kind, is_found, is_clean in outcomes(open_memory, clock):
        total[kind] += 1
        found[kind] += is_found
        clean[kind] += is_found and is_clean
    return {kind: found[kind] / total[kind] for kind in total} | {"clean": clean["now"] / total["now"]}


def told_in_order(
    open_memory: OpenMemory, clock: FakeClock, *facts: tuple[str, str, str, str, str]
) -> Memory:
    """A memory that was told facts: id, about, relation, value and sentence; "b>a" replaces fact a."""
    told = []
    for id_, about, relation, value, sentence in facts:
        own, _, replaced = id_.partition(">")
        told.append(
            {
                "id": own,
                "about": about,
                "relation": relation,
                "value": value,
                "sentence": sentence,
                "replaces": [replaced] if replaced else [],
                "ends": [],
            }
        )
    return tell(open_memory, clock, told)


OTHER_FACTS = tuple(
    (f"x{number}", "user", "likes", thing, f"The user likes {thing}.")
    for number, thing in enumerate(("jazz", "hiking", "chess", "pottery", "crosswords", "sailing"))
)


def test_a_reaction_to_a_former_medicine_is_recalled(open_memory: OpenMemory, clock: FakeClock) -> None:
    memory = told_in_order(
        open_memory,
        clock,
        ("a", "user", "在吃", "阿莫西林", "用户在吃阿莫西林治疗喉咙发炎。"),
        ("b", "阿莫西林", "引起", "起疹子", "阿莫西林让用户全身起疹子、呼吸困难。"),
        ("c>a", "user", "在吃", "阿奇霉素", "用户在吃阿奇霉素治疗喉咙发炎。"),
        *OTHER_FACTS,
    )
    texts = [item.text for item in memory.recall("我喉咙发炎该吃什么药？")]
    assert any("阿奇霉素" in text for text in texts)
    assert any("起疹子" in text for text in texts)


def test_what_somebody_else_owns_is_no_other_answer(open_memory: OpenMemory, clock: FakeClock) -> None:
    memory = told_in_order(
        open_memory,
        clock,
        ("a", "user", "owns", "Hilux", "The user owns a Hilux."),
        ("w", "user's wife", "owns", "Corolla", "The user's wife owns a Corolla."),
        ("b>a", "user", "sold", "Hilux", "The user sold the Hilux in June."),
        *OTHER_FACTS,
    )
    assert any("sold the Hilux" in item.text for item in memory.recall("what car do I own?"))


@pytest.mark.slow
def test_questions_about_the_present_recall_no_former_values(
    open_memory: OpenMemory, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = shares(open_memory, clock)
    monkeypatch.setattr(retrieve, "leave_out_former", lambda search, hits, answers: hits)
    before = shares(open_memory, clock)
    print({kind: (round(before[kind], 3), round(now[kind], 3)) for kind in now})
    assert now["clean"] >= before["clean"] + 0.2
    for kind in ("now", "former", "still", "other"):
        assert now[kind] >= before[kind] - 0.02
