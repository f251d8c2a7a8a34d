"""Answers of local models: no loops, and no end in the middle of a sentence."""

from __future__ import annotations

import pytest

from thinkback.llms.answer_limits import end_well, find_loop


def ended(text: str, *, cut: bool = False, size: int = 3) -> str:
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    return "".join(end_well(pieces, lambda: cut))


@pytest.mark.parametrize(
    "text",
    [
        "Lyon",
        "You live in Lyon. It is in France.",
        "No, no, no, no. I mean it.",
        "你住在里昂。那里很美",
        "- milk\n- bread\n- milk tea\n",
        "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14",
        "    def f(x):\n        return x\n",
    ],
)
def test_a_complete_answer_is_unchanged(text: str) -> None:
    assert ended(text) == text


def test_a_sentence_that_the_limit_cut_off_is_left_out() -> None:
    assert ended("You live in Lyon. The city is in the", cut=True).strip() == "You live in Lyon."
    assert ended("你住在里昂。那里的天气", cut=True) == "你住在里昂。"
    assert ended("You live in Lyon.", cut=True) == "You live in Lyon."


def test_a_single_sentence_that_was_cut_off_ends_with_an_ellipsis() -> None:
    assert ended("The city of Lyon is in the", cut=True) == "The city of Lyon is in the…"


def test_the_third_copy_of_a_sentence_stops_the_answer() -> None:
    copies = "I like tea. " * 2
    assert ended("I like tea. " * 50 + "Something new.").strip() == copies.strip()
    assert ended("我喜欢茶。" * 20) == "我喜欢茶。" * 2
    assert ended("Yes. Yes. Yes. Yes.") == "Yes. Yes. Yes. Yes."


def test_repeated_words_stop_the_answer_and_only_the_first_copy_is_kept() -> None:
    text = "You moved. Then the city and the sea " + "and the sky and the sea " * 30
    assert ended(text) == "You moved. "
    assert ended("the sky and the sea and " * 30) == "the sky and the sea and…"


def test_the_model_is_not_read_beyond_the_loop() -> None:
    read = 0

    def pieces() -> object:
        nonlocal read
        while True:
            read += 1
            yield "round and round "

    assert "".join(end_well(pieces(), lambda: False)) == "round and round…"  # type: ignore[arg-type]
    assert read < 10


def test_find_loop() -> None:
    assert find_loop("we sing and we dance") is None
    assert find_loop("a b c " * 3) is None
    assert find_loop("a b c " * 4) == 6
    assert find_loop("哈" * 11) is None
    assert find_loop("好的呀" * 4) == 3
