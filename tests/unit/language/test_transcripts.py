"""Messages of a transcript name their speaker; questions about a speaker find what that speaker said."""

from __future__ import annotations

import pytest

from thinkback import Memory
from thinkback.language.transcripts import (
    MAX_PARTS,
    passage_parts,
    possible_speakers,
    remove_names,
    speaker_terms,
)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Priya: I ran today!", ["speaker:", "speaker:priya"]),
        ("Mary Ann: hello", ["speaker:", "speaker:mary ann", "speaker:mary", "speaker:ann"]),
        ("Dr. Smith: hello", ["speaker:", "speaker:dr. smith", "speaker:dr", "speaker:smith"]),
        ("王芳：我今天跑了十公里", ["speaker:", "speaker:王芳"]),
        ("I ran at 10:30 today", []),
        ("see https://example.com", []),
        ("remember this list of things to buy for the party: milk", []),
        ("", []),
    ],
)
def test_speaker_terms(text: str, terms: list[str]) -> None:
    assert speaker_terms(text) == terms


def test_names_are_removed_with_their_possessive() -> None:
    assert remove_names("What is Priya's dog called?", ["Priya"]) == "What is dog called?"
    assert remove_names("Who is Priya?", ["Priya"]) == "Who is ?"
    assert remove_names("Priya?", ["Priya"]) == "Priya?"  # nothing would be left
    assert remove_names("What does Priyanka like?", ["Priya"]) == "What does Priyanka like?"


def test_possible_speakers_are_words_of_the_query() -> None:
    assert "Priya" in possible_speakers("Where did Priya's bike go?")
    assert "王芳" in possible_speakers("王芳跑了多少公里？")
    assert possible_speakers("When will you tell me?").count("will") == 0
    assert "Will" in possible_speakers("What did Will say?")
    assert "Will" not in possible_speakers("Will it rain?")
    assert remove_names("王芳跑了多少公里？", ["王芳"]) == "跑了多少公里？"


@pytest.fixture
def transcript() -> Memory:
    memory = Memory(":memory:", background=False)
    for line in (
        "Priya: Hey Gareth! How was your week?",
        "Gareth: Hi Priya! Busy. I built a bookshelf for the school.",
        "Priya: Nice. I finally bought a road bike for the triathlon.",
        "Gareth: Great, Priya! What colour is it, Priya?",
        "Priya: Green. My old one goes to my cousin.",
        "Gareth: I sold my old van last month and took the train.",
        "Priya: Trains are lovely, Gareth.",
        "Gareth: My dog Biscuit ate the cushion again.",
        "Priya: Poor cushion. See you on Sunday!",
    ):
        memory.remember(line)
    return memory


def test_question_about_a_speaker_finds_what_that_speaker_said(transcript: Memory) -> None:
    with transcript as memory:
        first = memory.recall("What did Priya buy for the race?", explain=True)[0]
        assert "road bike" in first.text
        assert first.score.breakdown is not None
        speaker = [part for part in first.score.breakdown.components if part.name == "speaker"]
        assert [part.value for part in speaker] == [1.0]


def test_two_named_speakers_prefer_neither(transcript: Memory) -> None:
    with transcript as memory:
        (first, *_) = memory.recall("What did Priya and Gareth sell?", explain=True)
        assert first.score.breakdown is not None
        assert all(part.name != "speaker" for part in first.score.breakdown.components)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Bart: I ran today.\nAssistant: Well done!\n\nBart: ok", ["I ran today.", "Well done!"]),
        ("妈妈：今天去爬山了。\n小安：我也想去", ["今天去爬山了。", "我也想去"]),
        ("The pump broke. Who repaired it last year?", ["The pump broke.", "Who repaired it last year?"]),
        ("!!!", []),
    ],
)  # fmt: skip
def test_passage_parts(text: str, parts: list[str]) -> None:
    assert passage_parts(text) == parts


def test_only_the_last_parts_of_a_long_passage_count() -> None:
    parts = passage_parts("\n".join(f"line number {n}" for n in range(40)))
    assert len(parts) == MAX_PARTS
    assert parts[-1] == "line number 39"


def test_a_long_message_to_an_empty_memory_recalls_nothing() -> None:
    long = "We spent the afternoon in the garden. Then it began to rain. " * 8
    with Memory.open(":memory:", embedder="hashing", background=False) as memory:
        assert not memory.recall(long).items
        memory.remember("The blue notebook is at the office.")  # a turn, and no thought
        memory.recall(long + "Where is my blue notebook?")


def test_a_colon_in_ordinary_talk_names_no_speaker() -> None:
    with Memory(":memory:", background=False) as memory:
        memory.remember("Note: the bins go out on Tuesday.")
        for day in range(12):
            memory.remember(f"Today I walked {day + 3} kilometres along the river.")
        (first, *_) = memory.recall("What did I write in the note?", explain=True)
        assert first.score.breakdown is not None
        assert all(part.name != "speaker" for part in first.score.breakdown.components)


def test_speakers_of_a_chinese_transcript() -> None:
    with Memory(":memory:", background=False) as memory:
        for number in range(20):
            memory.remember(f"小红：我第{number}天去游泳了，很喜欢")
            memory.remember(f"王芳：我第{number}天在家看书，很安静")
        first = memory.recall("小红喜欢什么运动？", explain=True)[0]
        assert "游泳" in first.text
        assert first.score.breakdown is not None
        assert [part.value for part in first.score.breakdown.components if part.name == "speaker"] == [1.0]
