"""The evaluation of natural chats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from thinkback.recall.chat_phrases import say
from thinkback_lab.errors import LabError
from thinkback_lab.evaluations.chats import (
    ChatMessage,
    chats_table,
    judge_answer,
    read_chats,
    run_chats,
    summarise_chats,
)
from thinkback_lab.harness import Setup

CHATS = Path(__file__).parents[2] / "scenarios" / "chats"
SAID = ("my cat is Momo, she is 4", "Tom is my brother")


def question(**fields: object) -> ChatMessage:
    return ChatMessage.model_validate({"at": "2026-01-01T10:00", "ask": "what is my cat called?", **fields})


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("Your cat is Momo. [thought:3]", "right"),
        ("You told me: “my cat is Momo”", "right"),
        ("You have not told me that.", "missed"),
        ("Your brother is Tom.", "wrong"),
        ("Your cat is Momo, and Tom too.", "wrong"),
        ("Your cat is Momo and she is 9.", "invented"),
        ("Your cat is called Felix.", "invented"),
    ],
)
def test_outcome_of_a_told_question(answer: str, outcome: str) -> None:
    assert judge_answer(question(accept=[["momo"]], reject=["tom"]), answer, SAID, SAID) == outcome


def test_case_does_not_matter() -> None:
    asked = question(accept=[["MOMO"]], reject=["Tom"])
    assert judge_answer(asked, "Your cat is Momo. [thought:3]", SAID, SAID) == "right"
    assert judge_answer(asked, "Your cat is Momo, and tom too.", SAID, SAID) == "wrong"


def test_the_message_that_tells_a_change_may_be_quoted() -> None:
    asked = question(accept=[["311"]], reject=["207"])
    said = ["i drive bus 207", "got moved off bus 207, im on 311 now"]
    assert judge_answer(asked, "You got moved off bus 207, you are on 311 now.", said, said) == "right"
    assert judge_answer(asked, "You drive bus 207.", said, said) == "wrong"
    assert (
        judge_answer(asked, "You are on 311, you drive bus 207.", said, [said[0], "im on 311 now"]) == "wrong"
    )


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ("You have not told me that.", "not told"),
        ("你还没告诉过我。", "not told"),
        ("I don't know, sorry.", "not told"),
        ("Your brother is Tom.", "invented"),
        ("Okay.", "wrong"),
        (say("needs_model", "en"), "wrong"),
    ],
)
def test_outcome_of_a_question_that_was_never_told(answer: str, outcome: str) -> None:
    assert judge_answer(question(told=False), answer, SAID, SAID) == outcome


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ({"say": "a", "ask": "b"}, "exactly one"),
        ({"ask": "b"}, "needs accept"),
        ({"request": "a", "understood": []}, "only say"),
        ({"say": "a", "colour": 1}, "colour"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: dict[str, object], complaint: str) -> None:
    path = tmp_path / "one.jsonl"
    path.write_text(json.dumps({"at": "2026-01-01T10:00", **line}))
    with pytest.raises(LabError, match=f"line 1.*{complaint}"):
        read_chats([path])


def test_chats_are_had_and_summarised(tmp_path: Path) -> None:
    lines: list[dict[str, object]] = [
        {"say": "my cat is called Momo", "understood": [["momo"]]},
        {"ask": "what is my cat called?", "accept": [["momo"]]},
        {"ask": "what is my dog called?", "told": False},
        {"request": "write a poem"},
    ]
    path = tmp_path / "cat.jsonl"
    path.write_text("\n".join(json.dumps({"at": "2026-01-01T10:00", **line}) for line in lines))
    summary = summarise_chats(run_chats(read_chats([path]), Setup(embedder="hashing")), {})
    figures = summary["metrics"]
    assert (figures["questions"], figures["right"], figures["not told"]) == (2, 1, 1)
    assert (figures["acknowledged"], figures["declined"], figures["in_language"]) == (1.0, 1.0, 1.0)
    assert chats_table(summary).row_count == 2


@pytest.mark.slow
@pytest.mark.timeout(280)
def test_the_natural_chats_are_answered_rightly_and_nothing_is_invented() -> None:
    metrics = summarise_chats(run_chats(read_chats([CHATS]), Setup()), {})["metrics"]
    assert metrics["invented"] == 0
    assert metrics["right or not told"] >= 0.8
    assert metrics["in_language"] == metrics["declined"] == 1.0
    assert metrics["acknowledged"] >= 0.8


def test_a_right_answer_in_the_words_of_the_user_is_not_invented() -> None:
    """Without its Chinese characters it reads like a Wi-Fi password."""
    told = "房租1150包水电, wifi另算25"
    message = ChatMessage.model_validate(
        {"at": "2026-10-14T12:36", "ask": "rent多少来着", "accept": [["1150"]]}
    )
    assert judge_answer(message, f"{told}。", [told, "rent多少来着"], [told]) == "right"
    assert judge_answer(message, "房租1150, wifi另算30。", [told], [told]) == "invented"
