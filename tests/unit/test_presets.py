"""Search presets: those of the papers, two plain ones and the default."""

from __future__ import annotations

import re
from dataclasses import replace
from math import log
from random import Random

import pytest
from tests.conftest import OpenMemory

from thinkback.cli.recall import recall
from thinkback.errors import InvalidInput
from thinkback.memory import Memory
from thinkback.presets import DENSE, FUZZY, HYBRID, PRESETS, TIM, Retention, get_preset


def test_unknown_preset_lists_the_known_ones() -> None:
    known = "bm25, careful, dense, fading, fuzzy, hybrid, perltqa, tim"
    with pytest.raises(InvalidInput, match=f"no preset 'best': choose from {known}"):
        get_preset("best")


def test_tim_searches_only_the_group_of_the_query(open_memory: OpenMemory) -> None:
    memory = open_memory(preset="tim")
    for number in range(150):
        memory.remember(f"I own boat {number} painted with pattern {number * 7919 % 1000}.")
    memory.post_think()
    hashing = memory.store.hashing("default")
    assert hashing is not None
    assert (hashing.learned, hashing.probes) == (False, 1)
    text = memory.turns()[42].text
    found = memory.recall(text + " indeed", explain=True)
    assert found.probes == 1
    assert {item.group for item in (*found.items, *found.dropped)} <= {found.group}
    assert all(item.score.total == pytest.approx(item.score.cosine) for item in found)


def test_tim_searches_one_group_of_a_learned_hashing(open_memory: OpenMemory) -> None:
    memory = open_memory(preset=replace(HYBRID, scan_below=0))
    tell_of_things(memory)
    hashing = memory.store.hashing("default")
    assert hashing is not None
    assert hashing.learned
    assert hashing.probes > 1
    found = memory.recall("What about the boat?", explain=True, preset="tim")
    assert found.probes == 1
    assert {item.group for item in (*found.items, *found.dropped)} == {found.group}


def test_groups_are_calibrated_for_other_presets(
    open_memory: OpenMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thinkback.indexing.SCAN_BELOW_ROWS", 100)
    memory = open_memory(preset="dense")
    tell_of_things(memory)
    hashing = memory.store.hashing("default")
    assert hashing is not None
    assert hashing.probes > 1


def tell_of_things(memory: Memory) -> None:
    things = ("boat", "parrot", "soup", "piano", "violin", "lake", "roof", "bread", "lamp", "river", "stone")
    for number in range(300):
        told = Random(number).sample(things, 3)
        memory.remember(f"A {told[0]}, a {told[1]} and a {told[2]}.")
    memory.post_think()


def test_the_default_finds_what_tim_misses(open_memory: OpenMemory) -> None:
    faithful, default = open_memory(preset=TIM), open_memory(preset=HYBRID)
    for number in range(120):
        faithful.remember(f"Boat {number} has pattern {number * 7919 % 1000}.")
    texts = [turn.text for turn in faithful.turns()]

    def found(memory: Memory) -> int:
        answers = [memory.recall(f"Tell me of {text}", k=1) for text in texts]
        return sum(
            text in [item.turn.text for item in found if item.turn]
            for found, text in zip(answers, texts, strict=True)
        )

    assert found(default) == len(texts)
    assert 0 < found(faithful) < len(texts)


def test_custom_preset(open_memory: OpenMemory) -> None:
    memory = open_memory(preset=replace(HYBRID, name="strict", threshold=0.99, fill_threshold=0.99))
    memory.remember("I live in Lyon.")
    assert len(memory.recall("Where do I live?")) == 0


def test_bm25_by_hand(open_memory: OpenMemory) -> None:
    """Three turns of four words each; `parrot` is in two of them, `green` in one, `violin` in none."""
    memory = open_memory(preset="bm25")
    for told in ("green parrot roof rain", "parrot soup salt bread", "lake boat wind sail"):
        memory.remember(told)
    found = memory.recall("green parrot violin", explain=True)
    parrot, green, violin = log(1 + 1.5 / 2.5), log(1 + 2.5 / 1.5), log(1 + 3.5 / 0.5)
    once = 1 / (1 + 1.2)  # tf / (tf + k1), for a text of average length
    first, second = (green + parrot) * once, parrot * once
    information = green + parrot + violin
    assert [item.score.total for item in found] == pytest.approx([first / information, second / information])
    assert [item.ref.id for item in found] == [1, 2]
    assert [item.reason.partition(":")[0] for item in found.dropped] == ["too far"]


def test_bm25_does_not_rewrite_the_query(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.remember("My occupation is baking bread.")
    asked = "What is my job?"
    assert memory.recall(asked, preset="hybrid")[0].score.lexical > 0  # an occupation is a job
    assert not memory.recall(asked, preset="bm25")


def test_dense_by_hand(open_memory: OpenMemory) -> None:
    memory = open_memory(preset="dense")
    told = ["My parrot is green.", "The parrots are loud.", "鹦鹉很吵。"]
    for text in told:
        memory.remember(text)
    asked, *others = memory.embedder.embed(["Is the parrot loud?", *told])
    cosines = {text: float(asked @ other) for text, other in zip(told, others, strict=True)}
    found = memory.recall("Is the parrot loud?", explain=True)
    seen = {item.turn.text: item.score.total for item in (*found, *found.dropped) if item.turn}
    assert seen == pytest.approx(cosines, abs=1e-6)
    assert [item.turn.text for item in found if item.turn] == sorted(
        (text for text in told if cosines[text] >= 0.2), key=lambda text: -cosines[text]
    )
    assert all(item.score.lexical == 0 for item in found)


@pytest.mark.parametrize("name", ["bm25", "dense"])
def test_better_turn_ranks_before_a_thought(open_memory: OpenMemory, name: str) -> None:
    memory = open_memory(preset=name)
    memory.remember("I like soup.")
    memory.post_think()
    memory.remember("Leek soup with saffron is what the old cook made.")
    best = memory.recall("What leek soup with saffron did the old cook make?", k=2)[0]
    assert best.turn is not None
    assert best.ref.id == 2


@pytest.mark.parametrize("name", sorted(set(PRESETS) - {"hybrid", "careful", "fading"}))
@pytest.mark.parametrize("k", [1, 3])
def test_a_papers_preset_recalls_at_most_k_and_nothing_below_its_threshold(
    open_memory: OpenMemory, name: str, k: int
) -> None:
    memory = open_memory(preset=name)
    for told in (
        "我的猫叫小白。",
        "她很喜欢吃鱼。",
        "昨天下了很大的雨。",
        "I live in Lyon.",
        "My cat is grey.",
    ):
        memory.remember(told)
        memory.post_think()
    for asked in ("我的猫叫什么？", "What colour is my cat?", "violin", "小提琴"):
        found = memory.recall(asked, k=k)
        assert len(found) <= k
        assert all(item.score.total >= get_preset(name).threshold for item in found)


@pytest.mark.parametrize("name", sorted(PRESETS))
def test_retired_thoughts_are_not_recalled(open_memory: OpenMemory, name: str) -> None:
    memory = open_memory(preset=name)
    memory.remember("I live in Lyon.")
    memory.remember("I live in Rome now.")
    memory.post_think()
    assert not any("Lyon" in item.text for item in memory.recall("Where do I live?"))


def test_preset_for_one_recall(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.remember("My parrot is green.")
    by_words, by_meaning = (memory.recall("parrot", preset=name)[0].score for name in ("bm25", DENSE))
    assert by_words.total == by_words.lexical
    assert by_meaning.total == by_meaning.cosine != by_words.total
    assert memory.recall("parrot").threshold == memory.recall("parrot", preset="hybrid").threshold
    with pytest.raises(InvalidInput, match="no preset 'best': choose from bm25"):
        memory.recall("parrot", preset="best")


def test_fading_preset_for_one_recall_counts_it(open_memory: OpenMemory) -> None:
    memory = open_memory()
    memory.remember("I live in Lyon.")
    memory.post_think()
    (item,) = memory.recall("Where do I live?", preset="fading")
    assert memory.store.recall_counts("default", [item.ref.id])[item.ref.id].times == 1


def test_rerank_and_retention_cannot_be_combined() -> None:
    with pytest.raises(InvalidInput, match="cannot be combined with retention"):
        replace(FUZZY, retention=Retention())


def test_unknown_reranker_is_named(open_memory: OpenMemory) -> None:
    odd = replace(FUZZY, rerank="magic")  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="unknown reranker 'magic': choose from fuzzy, perltqa"):
        open_memory(preset=odd).recall("parrot")


def test_the_help_names_every_preset() -> None:
    assert set(re.findall(r"^      (\w+)  ", recall.__doc__ or "", re.MULTILINE)) >= set(PRESETS)
