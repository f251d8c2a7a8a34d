"""Rerankers: candidates with times and kinds, fuzzy scores, PerLTQA scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import product
from math import exp, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import FakeClock, OpenMemory
from tests.factories import NOW, minute
from tests.unit.recall.rerank_factories import asks, thought, turn

from thinkback.recall.query import MemoryLoader
from thinkback.recall.rerankers import fuzzy_scores, perltqa_scores, to_rerank_candidates
from thinkback.recall.rows import TurnRow
from thinkback.types import Kind, Score, Source, Thought, Turn

SCORE = Score(0.5, 0.5, 0.5)


def held(*turns: int) -> Thought:
    memory = thought("event", total=0.5).memory
    assert isinstance(memory, Thought)
    return replace(memory, sources=tuple(Source(each, "user", "query", 0, 3) for each in turns))


def said(id_: int, minutes: float) -> Turn:
    memory = turn("tea").memory
    assert isinstance(memory, Turn)
    return replace(memory, id=id_, at=minute(minutes))


def test_candidate_time_is_that_of_the_last_turn() -> None:
    read: list[int] = []

    def turns(ids: Sequence[int]) -> list[TurnRow]:
        read.extend(ids)
        return [TurnRow(said(id_, -id_)) for id_ in ids if id_ == 7]

    rows: list[Thought | Turn] = [held(3, 7), held(2), held(), held(9), said(2, -20)]
    found = to_rerank_candidates(
        [(row, SCORE) for row in rows],
        MemoryLoader(thought_rows=lambda ids: [], turn_rows=turns, journal=lambda id_: []),
    )
    # by turn 7 as read; by turn 2, which is a candidate; without a turn; its turn erased meanwhile; its own
    assert [each.at for each in found] == [minute(-7), minute(-20), NOW, NOW, minute(-20)]
    assert set(read) & {2, 3} == set()


def test_raw_turn_is_dialogue() -> None:
    found = to_rerank_candidates(
        [(held(2), SCORE), (said(2, 0), SCORE)],
        MemoryLoader(thought_rows=lambda ids: [], turn_rows=lambda ids: [], journal=lambda id_: []),
    )
    assert [each.kind for each in found] == ["event", "dialogue"]
    assert [each.text for each in found] == ["The user likes tea.", "tea"]


DAY = 86_400.0


def total(asked: str, told: str, age: timedelta = timedelta(0)) -> float:
    (found,) = fuzzy_scores(asks(asked), [turn(told, at=NOW - age)])
    return found


@pytest.mark.parametrize(
    ("age", "weight"),
    [
        (timedelta(0), 1.0),
        (timedelta(hours=6), 0.925),
        (timedelta(hours=12), 0.85),
        (timedelta(hours=24), 0.7),
        (timedelta(days=3650), 0.7),
        (-timedelta(hours=5), 1.0),  # said in the future of whoever asks: no more than new
    ],
)
def test_fuzzy_time_falls_linearly_for_a_day(age: timedelta, weight: float) -> None:
    assert total("parrot", "weather", age) == pytest.approx(0.2 * weight)


def test_fuzzy_time_without_now_is_old() -> None:
    assert fuzzy_scores(asks("parrot", now=None), [turn("weather")]) == pytest.approx([0.2 * 0.7])


def test_fuzzy_score_of_english_by_hand() -> None:
    # keywords {green, parrot} and {parrot, sleep, green, roof}: 2 of 4; in common 2, over the root of 2 * 4
    expected = 0.4 * (2 / 4) + 0.4 * (2 / sqrt(2 * 4)) + 0.2 * 0.7
    told = "The parrots are sleeping on the green roof."
    assert total("Is my parrot green?", told, timedelta(days=2)) == pytest.approx(expected)


def test_fuzzy_score_ignores_inflection() -> None:
    assert total("the green parrot sleeps", "Green parrots sleeping") == pytest.approx(1.0)


def test_fuzzy_word_matches_its_substrings() -> None:
    # {book} against {bookshop}, either way: one match, in a union of 1 + 1 - 1; nothing in common
    for asked, told in (("book", "bookshop"), ("bookshop", "book")):
        assert total(asked, told) == pytest.approx(0.4 * 1.0 + 0.2)
    # {book, shop, red} against {bookshop, blue}: two match, in a union of 3 + 2 - 2
    assert total("red book shop", "blue bookshop") == pytest.approx(0.4 * (2 / 3) + 0.2)


@pytest.mark.parametrize(("asked", "told"), [("ox", "boxes"), ("ax", "taxi"), ("19", "2019"), ("5", "15")])
def test_fuzzy_short_words_and_numbers_do_not_match_in_part(asked: str, told: str) -> None:
    assert total(asked, told) == pytest.approx(0.2)


def test_fuzzy_score_of_chinese_by_hand() -> None:
    # 猫 爱 吃 鱼 猫爱 爱吃 吃鱼 against 狗 爱 吃 肉 狗爱 爱吃 吃肉: 爱, 吃 and 爱吃 in common
    expected = 0.4 * (3 / 11) + 0.4 * (3 / sqrt(7 * 7)) + 0.2
    assert total("猫爱吃鱼", "狗爱吃肉") == pytest.approx(expected)


def test_fuzzy_chinese_sentence_is_not_one_word() -> None:
    """The original finds 火锅 only in a sentence that holds the whole question, or is held by it."""
    telling, other = (
        total("我最喜欢的火锅店在哪里？", "昨天去的火锅店在中山路。"),
        total("我最喜欢的火锅店在哪里？", "今天下雨了，心情不好。"),
    )
    assert telling >= 0.3 > other


def test_fuzzy_shared_character_counts_once() -> None:
    # 大山 says 大 山 大山, 大海 says 大 海 大海: one of five in common
    assert total("大山", "大海") == pytest.approx(0.4 * (1 / 5) + 0.4 * (1 / 3) + 0.2)


def test_fuzzy_traditional_equals_simplified() -> None:
    assert total("鋼琴", "钢琴") == pytest.approx(1.0)


def test_fuzzy_thought_is_scored_by_its_sentence() -> None:
    (found,) = fuzzy_scores(asks("What do I like to drink?"), [thought("profile", total=0.0)])
    # {like, drink} against {user, like, tea}
    assert found == pytest.approx(0.4 * (1 / 4) + 0.4 * (1 / sqrt(2 * 3)) + 0.2)


@given(st.text(max_size=60), st.text(max_size=60), st.integers(-100, 100))
def test_fuzzy_score_is_bounded(asked: str, told: str, hours: int) -> None:
    assert 0.14 - 1e-9 <= total(asked, told, timedelta(hours=hours)) <= 1 + 1e-9


def test_fuzzy_long_query_matches_partially_by_first_words() -> None:
    """Each word for each word would take the square of the time; whole words are matched in any case."""
    asked = ["".join(letters) for letters in product("bdgk", "ou", "zxq", "ao", "nm")]
    (found,) = fuzzy_scores(asks(" ".join(asked)), [turn(" ".join(f"{word}trunk" for word in asked))])
    # 64 of 96 are looked for, and found, in 96
    assert found == pytest.approx(0.4 * (64 / (96 + 96 - 64)) + 0.2)


# --- in the whole memory ----------------------------------------------------------------------


def test_fuzzy_recall_uses_the_reranked_scores(open_memory: OpenMemory, clock: FakeClock) -> None:
    memory = open_memory(preset="fuzzy")
    memory.remember("Green parrots sleep.")
    clock.advance(12 * 3600)
    memory.remember("A parrot flew over the roof.")
    clock.advance(12 * 3600)
    found = memory.recall("green parrot")
    # {green, parrot} and {green, parrot, sleep}, a day old; {parrot, flew, roof}, half a day old
    first = 0.4 * (2 / 3) + 0.4 * (2 / sqrt(2 * 3)) + 0.2 * 0.7
    second = 0.4 * (1 / 4) + 0.4 * (1 / sqrt(2 * 3)) + 0.2 * 0.85
    assert [item.score.total for item in found] == pytest.approx([first, second])
    assert found.threshold == 0.3


def test_fuzzy_newer_memory_comes_first(open_memory: OpenMemory, clock: FakeClock) -> None:
    memory = open_memory(preset="fuzzy")
    for colour in ("green", "red"):
        memory.remember(f"The parrot is {colour}.")
        clock.advance(6 * 3600)
    assert [item.ref.id for item in memory.recall("parrot")] == [2, 1]


def test_fuzzy_thought_has_the_age_of_its_turn(open_memory: OpenMemory, clock: FakeClock) -> None:
    memory = open_memory(preset="fuzzy")
    memory.remember("I live in Lyon.", at=clock.now - timedelta(days=30))
    memory.post_think()
    (item,) = memory.recall("Who lives in Lyon?")
    assert item.thought is not None
    assert item.thought.recorded_at == clock.now
    # {live, lyon} of the turn, for which the thought stands: all of them, long ago
    assert item.score.total == pytest.approx(0.4 + 0.4 + 0.2 * 0.7)


def test_fuzzy_recall_leaves_slots_empty(open_memory: OpenMemory) -> None:
    """The original would add the oldest."""
    memory = open_memory(preset="fuzzy")
    for told in ("The weather was awful.", "My parrot is green.", "We had soup.", "今天下雨了。"):
        memory.remember(told)
    assert [item.text for item in memory.recall("parrot", k=5)] == ["user, 2024-05-01: My parrot is green."]
    assert not memory.recall("violin", k=5)
    assert not memory.recall("小提琴", k=5)


@pytest.mark.parametrize("asked", ["Is the parrot green?", "鹦鹉是绿色的吗？"])
def test_fuzzy_recall_does_not_return_the_question(open_memory: OpenMemory, asked: str) -> None:
    memory = open_memory(preset="fuzzy")
    memory.remember(asked, "I cannot tell.")
    memory.remember("The parrot is green. 鹦鹉是绿色的。")
    found = memory.recall(asked, explain=True)
    assert [item.ref.id for item in found] == [2]
    assert [item.reason.partition(":")[0] for item in found.dropped if item.ref.id == 1] == [
        "repeats the query"
    ]


def test_fuzzy_recall_returns_at_most_five(open_memory: OpenMemory) -> None:
    memory = open_memory(preset="fuzzy")
    for number in range(8):
        memory.remember(f"Parrot {number} is green.")
    found = memory.recall("green parrot", k=20, explain=True)
    assert (len(found), len(found.dropped)) == (5, 3)
    assert found.dropped[0].reason.startswith("beyond the 5 that fuzzy recalls at most: ")
    assert len(memory.recall("green parrot", k=2)) == 2


def test_fuzzy_repeated_questions_do_not_hide_the_answer(open_memory: OpenMemory) -> None:
    memory = open_memory(preset="fuzzy")
    memory.remember("The parrot of my aunt sleeps on the roof.")
    for _ in range(200):
        memory.remember("Where does the parrot sleep?")
    assert [item.ref.id for item in memory.recall("Where does the parrot sleep?")] == [1]


def sigmoid(x: float) -> float:
    return 1 / (1 + exp(-x))


def test_perltqa_score_by_hand() -> None:
    question = asks(
        "When did I move?", kinds={"profile": 0.1, "relationship": 0.05, "event": 0.6, "dialogue": 0.25}
    )
    rows = [thought("profile", total=0.9), thought("event", total=0.2), turn("I moved.", total=0.5)]
    # semantic 0.15, episodic 0.85
    expected = [
        0.5 * 0.15 + 0.5 * sigmoid(0.9),
        0.5 * 0.85 + 0.5 * sigmoid(0.2),
        0.5 * 0.85 + 0.5 * sigmoid(0.5),
    ]
    assert perltqa_scores(question, rows) == pytest.approx(expected)
    assert perltqa_scores(question, rows)[0] == pytest.approx(0.43047, abs=1e-5)


def test_perltqa_unknown_kind_is_uniform() -> None:
    rows = [thought("knowledge", total=0.3), turn("tea", total=0.3)]
    assert perltqa_scores(asks("tea?"), rows) == pytest.approx([0.25 + 0.5 * sigmoid(0.3)] * 2)


@pytest.mark.parametrize("kind", ["profile", "relationship", "knowledge", "event", "dialogue"])
def test_perltqa_every_kind_has_a_half(kind: Kind) -> None:
    sure = asks("tea?", kinds={"profile": 1.0})
    likely = 0.5 if kind in ("profile", "relationship", "knowledge") else 0.0
    assert perltqa_scores(sure, [thought(kind, total=0.3)]) == pytest.approx([likely + 0.5 * sigmoid(0.3)])


def test_perltqa_keeps_the_k_best_of_each_half() -> None:
    semantic = [thought("profile", total=total) for total in (0.1, 0.4, 0.3)]
    episodic = [turn("tea", total=total) for total in (0.6, 0.8, 0.7)]
    scored = perltqa_scores(asks("tea?", k=2), [*semantic, *episodic])
    assert [total > 0 for total in scored] == [False, True, True, False, True, True]


def test_perltqa_candidate_without_common_word_scores_zero() -> None:
    assert perltqa_scores(asks("tea?", kinds={"profile": 1.0}), [thought("profile", total=0.0)]) == [0.0]


def test_perltqa_recall_leaves_slots_empty(open_memory: OpenMemory) -> None:
    memory = open_memory(preset="perltqa")
    for told in ("The parrot sleeps on the roof.", "The weather was awful.", "鹦鹉在屋顶上睡觉。"):
        memory.remember(told)
    (item,) = memory.recall("Where does the parrot sleep?")
    assert item.ref.id == 1
    kinds = memory.kinds("Where does the parrot sleep?")
    episodic = kinds["event"] + kinds["dialogue"]
    assert item.score.total == pytest.approx(0.5 * episodic + 0.5 * sigmoid(item.score.lexical))
    assert memory.recall("鹦鹉在哪里睡觉？")[0].ref.id == 3
    assert not memory.recall("violin")


def test_perltqa_repeated_questions_take_no_slots(open_memory: OpenMemory) -> None:
    memory = open_memory(preset="perltqa")
    memory.remember("The parrot sleeps on the roof.")
    for _ in range(200):
        memory.remember("Where does the parrot sleep?")
    found = memory.recall("Where does the parrot sleep?", k=2, explain=True)
    assert [item.ref.id for item in found] == [1]
    assert {item.reason.partition(":")[0] for item in found.dropped} == {"repeats the query"}
