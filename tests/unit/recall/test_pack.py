"""Packing into a budget: never exceeded, no repetitions, long turns trimmed, thoughts preferred."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import OpenMemory

from thinkback.errors import InvalidInput
from thinkback.language.sentences import ELLIPSIS
from thinkback.language.tokens import count_tokens
from thinkback.memory import Memory
from thinkback.recall.pack import PackedItem, PackItem, TextPart, pack, stable_order, to_pack_item
from thinkback.types import Candidate, OutdatedInfo, Ref, Score, Turn

NOW = datetime(2024, 5, 1, 12, tzinfo=UTC)


def thought(text: str, value: float = 0.5, turn: int = 1, id_: int = 1) -> PackItem:
    return PackItem((TextPart(text),), value, (turn, id_), frozenset((turn,)), is_thought=True)


def raw(query: str, response: str = "", value: float = 0.5, id_: int = 1) -> PackItem:
    turn = Turn(id=id_, query=query, response=response, at=NOW, recorded_at=NOW)
    score = Score(value, value, value)
    item = Candidate(ref=Ref("turn", id_), text=turn.text, score=score, group=0, reason="", turn=turn)
    return to_pack_item(item, attributed=True)


def texts(packed: tuple[PackedItem, ...]) -> list[str]:
    return [each.text for each in packed]


SAID = (
    "Anna",
    "likes",
    "tea.",
    "Lyon,",
    "dog!",
    "We",
    "went",
    "北京。",
    "我住",
    "👨\u200d👩\u200d👧",
    "there?",
)
SENTENCES = st.lists(st.sampled_from(SAID), max_size=40).map(" ".join)
NUMBERS, VALUES = st.integers(1, 5), st.floats(0, 1)
PIECES = st.lists(
    st.builds(thought, SENTENCES, VALUES, NUMBERS, NUMBERS)
    | st.builds(raw, SENTENCES, SENTENCES, VALUES, NUMBERS),
    max_size=8,
)


@given(PIECES, st.integers(0, 300), st.integers(0, 5))
def test_budget_is_never_exceeded_and_nothing_is_repeated(
    pieces: list[PackItem], budget: int, each: int
) -> None:
    packed = pack("Does Anna like tea? 北京", pieces, budget, overhead=each)
    assert sum(count_tokens(one.text) + each for one in packed) <= budget
    assert [one.tokens for one in packed] == [count_tokens(one.text) for one in packed]
    numbers = [one.number for one in packed]
    assert numbers == sorted(set(numbers))
    assert packed == pack("Does Anna like tea? 北京", pieces, budget, overhead=each)
    said = [one.text for one in packed if one.item.is_thought]
    assert len(said) == len(set(said))


@given(PIECES, st.integers(0, 5), st.integers(0, 40))
def test_items_that_are_packed_whole_are_what_choosing_their_sentences_gives(
    pieces: list[PackItem], each: int, spare: int
) -> None:
    """However close the budget is to what everything costs."""
    budget = sum(count_tokens(one.text) + each for one in pack("", pieces, 10_000, overhead=each)) + spare
    with pytest.MonkeyPatch.context() as patch:
        found = pack("tea", pieces, budget, overhead=each)
        patch.setattr("thinkback.recall.pack._pack_whole", lambda *_: None)
        assert found == pack("tea", pieces, budget, overhead=each)


def test_items_are_packed_whole_only_if_all_fit_and_none_says_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("sentences were chosen")

    first, second = raw("My dentist is called Dr. Weber.", "I see."), raw("We have a dog.", "Nice.")
    monkeypatch.setattr("thinkback.recall.pack._ItemPacker", refuse)
    assert [one.number for one in pack("dentist", [first, second], 200)] == [0, 1]
    for items, budget in (([first, first], 200), ([first, second], 20)):
        with pytest.raises(AssertionError, match="chosen"):
            pack("dentist", items, budget)


@given(PIECES)
def test_packed_text_has_only_words_of_the_memory_in_order(pieces: list[PackItem]) -> None:
    for one in pack("tea", pieces, 60):
        whole = " ".join(part.text for part in one.item.parts)
        at = 0
        for run in (
            one.text.replace(one.item.label, "", 1)
            .replace("user:", ELLIPSIS)
            .replace("/", ELLIPSIS)
            .split(ELLIPSIS)
        ):
            for word in run.replace("assistant:", "").split():
                assert (at := whole.find(word, at)) >= 0, (word, one.text, whole)


def test_long_turn_is_trimmed_around_the_question() -> None:
    filler = "We talked of this and that for a while. " * 20
    turn = raw(f"{filler}My dentist is called Dr. Weber. {filler}", "I see.")
    (packed,) = pack("What is my dentist called?", [turn], 40)
    assert f"{ELLIPSIS} My dentist is called Dr. Weber. {ELLIPSIS}" in packed.text
    assert packed.text.startswith("on 2024-05-01 user: ")
    assert packed.trimmed
    (whole,) = pack("What is my dentist called?", [raw("My dentist is called Dr. Weber.", "I see.")], 40)
    assert whole.text == "on 2024-05-01 user: My dentist is called Dr. Weber."
    assert not whole.trimmed


def test_long_chinese_turn_is_trimmed() -> None:
    filler = "我们聊了很多别的事情，天气也不错。" * 20
    (packed,) = pack("我的牙医叫什么？", [raw(f"{filler}我的牙医叫韦伯。{filler}")], 40)
    assert "我的牙医叫韦伯。" in packed.text
    assert packed.tokens <= 40


def test_thought_is_packed_instead_of_its_turn() -> None:
    turn = raw("I live in Lyon.", value=0.9)
    told = thought("The user lives in Lyon.", value=0.3)
    assert texts(pack("Where do I live?", [turn, told], 500)) == ["The user lives in Lyon."]
    more = raw("I live in Lyon. My flat has a red door.", value=0.9)
    assert texts(pack("Where do I live?", [more, told], 500)) == [
        f"on 2024-05-01 user: {ELLIPSIS} My flat has a red door.",
        "The user lives in Lyon.",
    ]


def test_denial_is_not_a_repetition() -> None:
    pieces = [thought("The user likes tea.", id_=1), thought("The user does not like tea.", id_=2)]
    assert len(pack("tea", pieces, 100)) == 2


def test_new_information_is_packed_before_repetitions() -> None:
    pieces = [
        thought("Anna likes green tea.", 0.6, turn=1),
        thought("Anna really likes green tea.", 0.55, turn=2),
        thought("Anna owns a red bicycle.", 0.45, turn=3),
    ]
    assert texts(pack("What of Anna?", pieces, 13)) == ["Anna likes green tea.", "Anna owns a red bicycle."]


def test_one_memory_does_not_use_the_whole_budget() -> None:
    long = raw(" ".join(f"Thing {n} happened in Lyon." for n in range(400)), value=1.0)
    packed = pack("What happened in Lyon?", [long, raw("Anna came to see me.", value=0.3, id_=2)], 600)
    assert len(packed) == 2


def test_outdated_note_is_never_trimmed() -> None:
    turn = Turn(id=1, query="I live in Lyon. " + "It rained. " * 50, at=NOW, recorded_at=NOW)
    item = Candidate(
        ref=turn.ref,
        text=turn.text,
        score=Score(1, 1, 1),
        group=0,
        reason="",
        turn=turn,
        outdated=OutdatedInfo(NOW),
    )
    (packed,) = pack("Where do I live?", [to_pack_item(item, attributed=True)], 25)
    assert packed.text.startswith("on 2024-05-01 (past, until 2024-05-01) user: I live in Lyon.")


def test_stable_order_is_by_age_with_thoughts_before_turns() -> None:
    pieces = [raw("Dogs bark.", id_=7), thought("Cats purr.", turn=7, id_=9), thought("Fish swim.", turn=2)]
    assert [each.number for each in stable_order(pack("q", pieces, 200))] == [2, 1, 0]


def test_packing_a_huge_turn_is_fast() -> None:
    (packed,) = pack("tea", [raw("word " * 2_000_000)], 100)
    assert packed.tokens <= 100


def test_recall_with_budget_keeps_its_order(memory: Memory) -> None:
    memory.remember("I live in Lyon. " + "The weather was what it always is there. " * 4)
    memory.remember("My brother lives in Oslo.")
    whole = memory.recall("Where do I live in Lyon?")
    small = memory.recall("Where do I live in Lyon?", budget=30)
    assert sum(count_tokens(item.text) for item in small) <= 30
    assert [item.ref for item in small] == [item.ref for item in whole if item.ref in {i.ref for i in small}]
    (first,) = (item for item in small if item.ref == Ref("turn", 1))
    assert first.text.startswith("I live in Lyon.")
    assert first.reason.endswith("trimmed to the budget")
    assert first.turn in [item.turn for item in whole]
    told = memory.recall("Where do I live in Lyon?", budget=1, explain=True)
    assert not told.items
    assert "beyond the budget of 1 tokens" in told.dropped[0].reason


@pytest.mark.parametrize("bad", [0, -1, 1.5, "9"])
def test_invalid_budget_is_rejected(open_memory: OpenMemory, bad: int) -> None:
    with pytest.raises(InvalidInput, match="budget"):
        open_memory().recall("q", budget=bad)
