"""Short corrections of the message before. The writers of the messages in `scenarios` had seen no code."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from thinkback import Memory
from thinkback.embedders.registry import create_embedder
from thinkback.language.corrections import Correction, read_corrections
from thinkback.language.value_types import find_values, value_type

CORRECTIONS = Path(__file__).parents[3] / "scenarios" / "corrections"
MIN_CORRECTED = {"en": 0.38, "zh": 0.28}  # of both files, which were read; see docs/log.md for a first run


def examples(lang: str) -> list[dict[str, Any]]:
    files = sorted(CORRECTIONS.glob("*.jsonl"))
    lines = [line for path in files for line in path.read_text("utf-8").splitlines()]
    return [example for example in map(json.loads, lines) if example["lang"] == lang]


def corrected_sentence(memory: Memory, said: str, then: str) -> str | None:
    """The sentence after a correction; None if nothing was corrected."""
    memory.remember(said)
    memory.post_think()
    memory.remember(then)
    memory.post_think()
    found = [action for action in memory.journal() if "corrects" in action.reason]
    return next(thought.sentence for thought in found[0].after if thought.current) if found else None


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_corrections_as_people_write_them(lang: str) -> None:
    embedder = create_embedder("minilm+use")
    corrected, wrong = 0, []
    for example in examples(lang):
        with Memory.open(":memory:", embedder=embedder, background=False) as memory:
            sentence = corrected_sentence(memory, example["said"], example["then"])
        if example["new"] is None and sentence is not None:
            wrong.append((example["said"], example["then"], sentence))
        corrected += bool(example["new"] and sentence and example["new"].lower() in sentence.lower())
    assert wrong == []
    wanted = sum(example["new"] is not None for example in examples(lang))
    assert corrected / wanted >= MIN_CORRECTED[lang]


@pytest.mark.parametrize(
    ("said", "then", "sentence"),
    [
        ("i have a dentist appointment on thursday", "no wait its friday", "on friday"),
        ("my doctor is dr hansen", "no sorry dr haugen", "dr haugen"),
        ("the rent is 850", "oops, 950", "the rent is 950"),
        ("my sister lives in porto", "no, it's lisbon", "The user's sister lives in lisbon."),
        ("我周四去看牙医", "不对，是周五", "我周五去看牙医"),
        ("房租是3200", "哦不，3500", "房租是3500"),
        ("my dog is called Rex", "actually it's Max", "The user has a dog named Max."),
        ("my appointment is on 3 december", "sorry, the 5th", "on 5th december"),
        ("我女儿叫朵朵", "打错了，叫多多", "用户的女儿是多多。"),
        ("parked on level 3", "no wait level 2", "parked on level 2"),
    ],
)
def test_corrected_fact_answers_the_question(said: str, then: str, sentence: str) -> None:
    with Memory.open(":memory:", embedder="minilm+use", background=False) as memory:
        found = corrected_sentence(memory, said, then)
        assert found is not None
        assert sentence in found
        assert [thought.sentence for thought in memory.thoughts()] == [found]
        memory.undo(next(action for action in memory.journal() if "corrects" in action.reason))
        assert found not in [thought.sentence for thought in memory.thoughts()]


@pytest.mark.parametrize(
    ("said", "asked", "then"),
    [
        ("my rent is 850", "How many rooms do you have?", "3"),
        ("I live in Berlin.", "Were you born there too?", "no, Hamburg"),
        ("My wife is Anna.", "Is your daughter called Anna too?", "no, Maria"),
        ("I'm allergic to nuts.", "And to milk?", "no, eggs"),
        ("I work at Google.", "", "sorry, Bob"),
        ("I work at Google.", "", "No, Microsoft sucks"),
        ("I'm vegetarian.", "", "no meat"),
        ("I love coffee.", "", "no sugar please"),
        ("I'm allergic to peanuts.", "", "actually cashews too"),
        ("I'm allergic to peanuts.", "", "not peanuts, thanks"),
        ("I take lisinopril 20mg.", "", "and 10mg"),
        ("My flight is at 8:40.", "", "9:30, dinner with Bob"),
        ("I have 3 kids.", "", "4, 6 and 9 years old"),
        ("I have 2 cats.", "", "5 minutes please"),
        ("我周四去看牙医", "", "周五，去爬山"),
        ("我是护士，在急诊", "", "等等 来病人了 回头聊"),
    ],
)
def test_other_messages_correct_nothing(said: str, asked: str, then: str) -> None:
    with Memory.open(":memory:", embedder="minilm+use", background=False) as memory:
        memory.remember(said, asked)
        memory.post_think()
        memory.remember(then)
        memory.post_think()
        assert not [action for action in memory.journal() if "corrects" in action.reason]


@pytest.mark.parametrize(
    ("said", "then", "sentence"),
    [
        ("我哥叫阿凯，在深圳做外贸", "哦打错了 是在东莞", "我哥叫阿凯，在东莞做外贸"),
        ("我姐叫小云，在成都当老师", "不对 是在重庆", "我姐叫小云，在重庆当老师"),
        ("我不在北京，我在天津上班", "打错了，不在天津，是在唐山", "我不在北京，我在唐山上班"),
        ("我们搬去青岛了", "不对，是到烟台", "用户住在烟台。"),
        ("my best friend is Zoe, we met in Prague", "i meant in Vienna", "is Zoe, we met in Vienna"),
        ("my cousin is called Dev and he's in Leeds", "oops, it's in Bradford", "he's in Bradford"),
    ],
)
def test_a_place_replaces_a_place_and_no_name(said: str, then: str, sentence: str) -> None:
    with Memory.open(":memory:", embedder="minilm+use", background=False) as memory:
        assert sentence in (corrected_sentence(memory, said, then) or "")


@pytest.mark.parametrize(
    ("said", "then"),
    [
        ("我老公叫建国，在工地干活", "错了，是在厂里"),
        ("我女儿叫朵朵，在实验小学上学", "打错了 是在附小"),
        ("我弟叫小杰，学的是会计", "打错了 是金融"),
        ("我室友叫小顾，喜欢打篮球", "错了，是排球"),
        ("我妈叫桂芳", "打错了一个字，改天说"),
        ("my uncle is called Sam", "typo, in Canada"),
        ("my neighbour is called Tom", "no, at Lidl"),
        ("my brother is called Ken, works at Aldi", "sorry, at Tesco"),
        ("my boss is Priya, office is in Utrecht", "wait no, it's in Arnhem"),
        ("my boss is called helene", "her name is on the door now"),
        ("my boss is called helene", "actually her name is hard to spell"),
        ("my boss is called helene", "no, her sister's name is Marie"),
        ("my son is called Leo", "actually her name is Mia"),
        ("我哥叫阿凯", "不对，我弟叫阿伟"),
    ],
)
def test_a_name_is_replaced_by_no_other_kind_of_value(said: str, then: str) -> None:
    with Memory.open(":memory:", embedder="minilm+use", background=False) as memory:
        assert corrected_sentence(memory, said, then) is None


@pytest.mark.parametrize(
    ("said", "then", "sentence"),
    [
        (
            "my boss is called helene",
            "actually scratch that her name is hélène dubreuil, with accents",
            "The user's boss is hélène dubreuil.",
        ),
        ("my neighbour is called Stefan", "sorry, his name is Stephan", "The user's neighbour is Stephan."),
        ("my dentist is called Marko", "no wait, his name's Mirko Petrov", "dentist is Mirko Petrov."),
        ("my therapist is called jo", "oops, she's called joanne", "The user's therapist is joanne."),
        ("我领导叫王红", "打错了，她的名字是汪红", "用户的老板是汪红。"),
        ("我同桌叫李想", "不对，他叫李响", "用户的同学是李响。"),
        ("我家猫叫豆豆", "说错了，它的名字叫逗逗", "用户有猫叫逗逗。"),
    ],
)
def test_a_name_is_corrected_by_a_clause_that_says_it(said: str, then: str, sentence: str) -> None:
    with Memory.open(":memory:", embedder="minilm+use", background=False) as memory:
        assert sentence in (corrected_sentence(memory, said, then) or "")


def test_bare_value_corrects_only_what_was_just_told() -> None:
    now = [datetime(2026, 5, 1, 9, tzinfo=UTC)]
    with Memory.open(":memory:", embedder="hashing", background=False, clock=lambda: now[0]) as memory:
        memory.remember("I have 2 cats.")
        memory.post_think()
        now[0] += timedelta(hours=20)
        memory.remember("3")
        memory.post_think()
        assert not [action for action in memory.journal() if "corrects" in action.reason]


@pytest.mark.parametrize(
    ("said", "then", "sentence"),
    [
        ("my rent is 1,200", "no, 1,500", "1,500"),
        ("our budget is 4000", "no, 5050", "5050"),
        ("we have 5 hens", "oops, 15", "15 hens"),
        ("我女儿5岁", "不对，3岁", "3岁。"),
    ],
)
def test_whole_value_is_replaced(said: str, then: str, sentence: str) -> None:
    with Memory.open(":memory:", embedder="minilm+use", background=False) as memory:
        assert sentence in (corrected_sentence(memory, said, then) or "")


@pytest.mark.parametrize(
    ("said", "then"),
    [
        ("我对花生过敏", "不好意思饿了"),
        ("my brother is Rob", "oops brb"),
        ("my husband is in hospital", "actually it's fine"),
        ("it takes me 20 mins to cycle to work", "wait, 2 mins"),
        ("my flat is 20 minutes away", "sorry 5 minutes, phone"),
        ("my daughter mia loves her new school", "i mean great"),
        ("im 16 and i wanna be a welder", "no one in my family gets it"),
        ("i go to yoga on wednesdays", "wait, its already thursday?? this week is flying"),
        ("dentist is on thursday", "friday i go swimming"),
        ("i have two kids", "3 dogs"),
        ("i have 4 kids", "sorry 2 of my kids are sick"),
        ("my appointment is on thursday", "actually friday is my favourite day"),
        ("the party is for 30 people", "wait 10 people cancelled"),
        ("my train is at 8am", "damn it was 5am when i got home"),
        ("my dentist appointment is on thursday", "today is friday, i think"),
        ("the drive takes 3 hours", "2 hours in traffic, damn"),
        ("my dentist appointment is on thursday", "no, not on friday"),
        ("我周四去看牙医", "今天是周五！"),
    ],
)
def test_small_talk_corrects_nothing(said: str, then: str) -> None:
    with Memory.open(":memory:", embedder="minilm+use", background=False) as memory:
        assert corrected_sentence(memory, said, then) is None


def test_a_question_in_between_does_not_hide_what_is_corrected() -> None:
    with Memory.open(":memory:", embedder="minilm+use", background=False) as memory:
        for text in ("my sister's wedding is on friday", "what day is the wedding", "no wait saturday"):
            memory.remember(text)
            memory.post_think()
        (thought,) = memory.thoughts()
    assert "on saturday" in thought.sentence


def test_one_of_two_values_is_corrected() -> None:
    with Memory.open(":memory:", embedder="minilm+use", background=False) as memory:
        assert corrected_sentence(memory, "i have 2 dogs and 3 cats", "no wait, 4 cats")
        assert {thought.sentence for thought in memory.thoughts()} == {
            "The user has 2 dogs.",
            "i have 2 dogs and 4 cats",
        }


def test_correction_in_a_backlog_is_carried_out_after_the_message_it_means() -> None:
    with Memory.open(":memory:", embedder=create_embedder("minilm"), background=False) as memory:
        for text in ("the rent is 850", "oops, 950", "my sister lives in porto", "no, it's lisbon"):
            memory.remember(text)
        assert memory.post_think().failed == 0
        sentences = [thought.sentence for thought in memory.thoughts()]
    assert any("950" in sentence for sentence in sentences)
    assert any("lisbon" in sentence.lower() for sentence in sentences)
    assert not any("850" in sentence or "porto" in sentence.lower() for sentence in sentences)


def test_fixed_form_needs_no_similar_value() -> None:
    with Memory.open(":memory:", embedder="minilm+use", background=False) as memory:
        memory.remember("Can you help me plan meals? I'm allergic to walnuts.")
        memory.post_think()
        memory.remember("Correction: it's cashews I'm allergic to, not walnuts. I always mix those two up.")
        memory.post_think()
        current = [thought.sentence for thought in memory.thoughts()]
        assert "The user is allergic to walnuts." not in current
        assert any("cashews" in sentence for sentence in current)


def test_laughing_does_not_take_long() -> None:
    started = time.perf_counter()
    assert read_corrections("笑死我" + "哈" * 70 + "你呢") == ()
    assert all(each.needs_known_words for each in read_corrections("no " * 20 + "ha" * 8))
    assert find_values("9" * 8000, "5") == []
    assert find_values("may " * 5000, "june") == []
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("no wait its friday", Correction("friday", "", "likely")),
        ("*thursday", Correction("thursday", "", "certain")),
        ("not deloitte, kpmg", Correction("kpmg", "deloitte", "certain")),
        ("make that 14, forgot my uncle", Correction("14", "", "certain", tells_more=True)),
        ("8:40", Correction("8:40", "", "bare")),
        ("no, 1,500", Correction("1,500", "", "likely")),
        ("no sorry dr. haugen", Correction("dr. haugen", "", "likely")),
        ("打错了 是周四", Correction("周四", "", "certain")),
        ("and 10mg", None),
        ("9:30, dinner with Bob", None),
        ("4, 6 and 9 years old", None),
        ("周五，去爬山", None),
        ("is it friday?", None),
        ("great, thanks", None),
        ("", None),
    ],
)
def test_read_corrections(text: str, expected: Correction | None) -> None:
    assert next(iter(read_corrections(text)), None) == expected


@pytest.mark.parametrize(
    ("text", "like", "values"),
    [
        ("dentist on thursday at 3", "friday", ["thursday"]),
        ("dentist on thursday at 3", "4", ["3"]),
        ("i may visit my parents", "june", []),
        ("we fly in may", "june", ["may"]),
        ("I have 2 cats", "5 minutes", []),
        ("flights booked 28th of september", "27th", ["28th"]),
        ("下周三去体检", "下周四", ["下周三"]),
        ("下周三去体检", "周四", ["周三"]),
        ("a table for 12 people at 8:30", "14", ["12"]),
        ("lunch is at 12:30", "5 min", []),
        ("我爸降压药一天吃两片", "一片", ["两片"]),
        ("周末聚餐一共8个人", "9个", ["8个"]),
        ("flight KL1009 on friday", "KL1007", ["KL1009"]),
        ("my sister lives in porto", "lisbon", []),
    ],
)
def test_find_values(text: str, like: str, values: list[str]) -> None:
    assert find_values(text, like) == values


def test_value_type_of_prose_is_unknown() -> None:
    assert value_type("lisbon") is None
    assert value_type("the day after") is None
