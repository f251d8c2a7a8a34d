"""Every scheme on one small bilingual case: the contract of the interface, and what each one is for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest

from thinkback_lab.cases import Item, Question
from thinkback_lab.schemes.embedder import kit
from thinkback_lab.schemes.registry import REGISTRY, find
from thinkback_lab.schemes.scheme import Found, Kit, Knows, Remembers
from thinkback_lab.stage import Setup

START = datetime(2024, 5, 1, 9, tzinfo=UTC)
LATER = START + timedelta(days=5)


def item(id_: str, day: int, query: str, response: str = "", **more: str) -> Item:
    return Item(id=id_, at=START + timedelta(days=day), query=query, response=response, **more)  # type: ignore[arg-type]


ITEMS = (
    item("fish", 0, "I cooked sweet and sour fish for my sister Ann.", "How did it turn out?"),
    item("city", 0, "我住在苏州，在一家书店上班。", "苏州很美。"),
    item("run", 1, "I ran ten kilometres along the river.", "Well done!"),
    item("job", 2, "My name is Li Wei and I work as a nurse.", kind="profile"),
    item("cat", 3, "我养了一只猫，叫团子。", "团子真可爱！"),
)
QUESTIONS = ("Which fish did I cook for my sister?", "我在哪里上班？", "What is my cat called?")


@pytest.fixture(scope="module")
def tools() -> Kit:
    return kit(Setup(embedder="hashing", think="rules"))


@contextmanager
def memory(spec: str, tools: Kit, items: Sequence[Item] = ITEMS) -> Iterator[Remembers | Knows]:
    made = find(spec)(tools)
    try:
        made.tell(items)
        yield made
    finally:
        getattr(made, "close", lambda: None)()


def ask(made: Remembers | Knows, question: str, k: int, gold: tuple[str, ...] = ("fish",)) -> Sequence[Found]:
    if hasattr(made, "recall_knowing"):
        return made.recall_knowing(Question(id="q", text=question, at=LATER, gold=gold), k)
    return made.recall(question, k, LATER)


SPECS = sorted(REGISTRY)


@pytest.mark.parametrize("spec", SPECS)
def test_at_most_k_come_back_best_first_and_from_what_was_told(spec: str, tools: Kit) -> None:
    with memory(spec, tools) as made:
        for k in (1, 3):
            for question in QUESTIONS:
                found = ask(made, question, k)
                assert len(found) <= k or getattr(made, "whole", False)
                for each in found:
                    assert each.text.strip()
                    assert each.sources
                    assert set(each.sources) <= {item.id for item in ITEMS}


@pytest.mark.parametrize("spec", SPECS)
def test_the_same_history_gives_the_same_memories(spec: str, tools: Kit) -> None:
    def asked() -> list[Sequence[Found]]:
        with memory(spec, tools) as made:
            return [ask(made, question, 3) for question in QUESTIONS]

    assert asked() == asked()


@pytest.mark.parametrize("spec", SPECS)
def test_told_in_parts_or_at_once_is_the_same(spec: str, tools: Kit) -> None:
    with memory(spec, tools, ITEMS[:2]) as parts, memory(spec, tools) as once:
        ask(parts, "今天天气怎么样？", 1)  # whatever was built so far must be built anew
        parts.tell(ITEMS[2:])
        for question in QUESTIONS:
            assert ask(parts, question, 3) == ask(once, question, 3)


@pytest.mark.parametrize("spec", SPECS)
def test_an_empty_history_gives_nothing(spec: str, tools: Kit) -> None:
    with memory(spec, tools, ()) as made:
        assert list(ask(made, QUESTIONS[0], 3, gold=())) == []


@pytest.mark.parametrize("spec", ["raw", "bm25", "dense", "thinkback"])
def test_what_was_asked_for_comes_first(spec: str, tools: Kit) -> None:
    with memory(spec, tools) as made:
        assert ask(made, QUESTIONS[0], 1)[0].sources == ("fish",)
        assert ask(made, "我的猫叫什么？", 1)[0].sources == ("cat",)
