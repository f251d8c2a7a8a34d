"""Answer metrics without a judge: anchors, shared words, and the scores of a record."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lab.fakes import make_record

from thinkback_lab.metrics.answers import (
    anchor_share,
    contains_anchor,
    correctness_label,
    normalise_text,
    word_f1,
)
from thinkback_lab.runs.records import score_record

TEXTS = st.text(alphabet="abc 8,.'’AÉé中文十二 \n", max_size=30)


@pytest.mark.parametrize(
    ("text", "anchor"),
    [
        ("She moved to New York in May.", "new york"),
        ("She moved to New\nYork.", "New York"),
        ("他住在上海浦东。", "上海"),
        ("他 8 月 3 日 出发", "8月3日"),
        ("价格是１２元", "12元"),
        ("It was Anna’s idea", "Anna's"),
        ("born 2019-05-08", "2019"),
        ("2019年的夏天", "2019"),
        ("she has 8, maybe 9 cats", "8"),
        ("it costs 3,000.", "3,000"),
        ("二十八岁", "二十八"),
        ("the cat. Cats", "cat"),
        ("8.5 and then 8.", "8"),
    ],
)
def test_anchor_is_contained(text: str, anchor: str) -> None:
    assert contains_anchor(text, anchor)


@pytest.mark.parametrize(
    ("text", "anchor"),
    [
        ("She is 28.", "8"),
        ("She is 82.", "8"),
        ("It took 8.5 hours.", "8"),
        ("It took 8.5 hours.", "5"),
        ("It costs 3,000.", "3"),
        ("It costs 3,000.", "000"),
        ("concatenate", "cat"),
        ("a café", "caf"),
        ("他二十岁", "十岁"),
        ("他二十八", "二十"),
        ("anything", ""),
        ("", "cat"),
    ],
)
def test_anchor_is_not_contained(text: str, anchor: str) -> None:
    assert not contains_anchor(text, anchor)


@given(TEXTS, TEXTS)
def test_anchor_on_its_own_line_is_contained(text: str, anchor: str) -> None:
    if normalise_text(anchor):
        assert contains_anchor(f"{text} | {anchor} | {text}", anchor)
    assert contains_anchor(text, anchor) <= (normalise_text(anchor) in normalise_text(text))


@given(TEXTS)
def test_normalisation_is_idempotent(text: str) -> None:
    assert normalise_text(normalise_text(text)) == normalise_text(text)


def test_word_f1_by_hand() -> None:
    assert word_f1("The red cat", "a red dog") == pytest.approx(0.5)
    assert word_f1("red red", "red") == pytest.approx(2 / 3)
    assert word_f1("在2019年", "2019年") == pytest.approx(0.8)
    assert word_f1("用Python写的", "Python") == pytest.approx(0.4)
    assert word_f1("Li’s cat", "Li's cat") == 1
    assert word_f1("dog", "cat") == word_f1("", "") == word_f1("the", "the") == 0


@given(TEXTS, TEXTS)
def test_word_f1_is_symmetric_and_bounded(one: str, other: str) -> None:
    assert 0 <= word_f1(one, other) <= 1
    assert word_f1(one, other) == pytest.approx(word_f1(other, one))
    assert word_f1(one, one) in (0, 1)


def test_correctness_is_all_some_or_none() -> None:
    anchors = ("red", "cat", "spring")
    assert [
        correctness_label(anchor_share(text, anchors)) for text in ("a red cat in spring", "red", "no")
    ] == [
        1,
        0.5,
        0,
    ]


def test_first_memory_counts_as_answer_without_reader() -> None:
    asked = make_record(1, None, answer="It is red.", anchors=("red", "blue"))
    alone = score_record(asked, (1, 5))
    assert alone["anchor_map"] == alone["anchor_recall"] == 0.5
    answered = score_record(replace(asked, answer="red and blue"), (1, 5))
    assert answered["anchor_map"] == answered["correctness"] == 1
    assert answered["anchor_recall"] == 0.5
    silent = score_record(replace(asked, answer=""), (1,))
    assert silent["anchor_map"] == silent["f1"] == 0
    nothing = score_record(replace(asked, found=(), read=0), (1,))
    assert nothing["anchor_map"] == nothing["hit@1"] == nothing["in_context"] == 0


def test_unscorable_question_has_no_score() -> None:
    assert score_record(replace(make_record(1, None), gold=()), (1,)) == {"context_tokens": 5.0}
    unanswerable = replace(make_record(1, "red", answerable=False, anchors=("red",)), gold=())
    assert score_record(unanswerable, (1,)) == {"abstained": 0.0, "context_tokens": 5.0}
    assert score_record(replace(unanswerable, found=()), (1,))["abstained"] == 1
