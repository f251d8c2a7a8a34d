"""Facts of somebody else are not given as facts of the user. The writers of the messages had seen no code."""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

import pytest

from thinkback import Memory
from thinkback.embedders.registry import create_embedder
from thinkback.language.owners import (
    asks_about_user,
    has_person_of_another,
    is_owned_by_another,
    names_subject,
    tells_of_another,
)

OWNERS = Path(__file__).parents[3] / "scenarios" / "owners"
NOT_SURE = ("You have not told me that", "I find no clear answer", "没告诉过", "没有找到确切")


def judge(memory: Memory, line: str) -> str:
    """How a question of a scenario is answered."""
    row = json.loads(line)
    for text in row["said"]:
        memory.chat(text)
        memory.post_think()
    reply = memory.chat(row["ask"]).text
    is_sure = not any(words in reply for words in NOT_SURE)
    if row["answer"] is None:
        has_other = any(word.lower() in reply.lower() for word in row["not"])
        return "given as the user's" if is_sure and has_other else "not told"
    return "told" if any(word.lower() in reply.lower() for word in row["answer"]) else "missed"


@pytest.mark.parametrize(
    # the rules were made with the first file; without them, 21 of 60 were given as the user's in each
    ("name", "max_given", "min_told"),
    [("first.jsonl", 6, 54), ("second.jsonl", 13, 54)],
)
def test_facts_of_others_do_not_answer(name: str, max_given: int, min_told: int) -> None:
    embedder = create_embedder("minilm+use")
    outcomes: Counter[str] = Counter()
    for line in (OWNERS / name).read_text("utf-8").splitlines():
        with Memory.open(":memory:", embedder=embedder, background=False) as memory:
            outcomes[judge(memory, line)] += 1
    assert outcomes["given as the user's"] <= max_given
    assert outcomes["told"] >= min_told


@pytest.mark.parametrize(
    ("question", "about_user"),
    [
        ("what do i drive?", True),
        ("when is my birthday", True),
        ("what pets do i have", True),
        ("我几岁", True),
        ("what does my brother drive?", False),
        ("where did Anna put my keys", False),
        ("remind me where morag is getting married", False),
        ("我儿子几岁", False),
        ("what is the capital of france", False),
    ],
)
def test_asks_about_user(question: str, about_user: bool) -> None:
    assert asks_about_user(question) == about_user


@pytest.mark.parametrize(
    ("sentence", "of_another"),
    [
        ("dan drives a tesla", True),
        ("my older brother is allergic to eggs", True),
        ("the old man in bed 6 was born in 1931", True),
        ("我儿子5岁了", True),
        ("隔壁王阿姨养了只鹦鹉", True),
        ("dan sold me his tesla", False),
        ("get terrible migraines after night shifts", False),
        ("the doctor put iron on top", False),
        ("favourite colour is blue", False),
        ("我对猫毛过敏", False),
        ("半程马拉松又跑了一次", False),
        ("allergic to cats", False),
        ("my cat allergy is getting worse", False),
        ("my student loan is 30k", False),
        ("my dr appointment is on tuesday", False),
        ("lunch with mum on friday", False),
        ("some guy showed up with cash for the boat", False),
        ("去接孩子下午5点", False),
    ],
)
def test_tells_of_another(sentence: str, of_another: bool) -> None:
    assert tells_of_another(sentence) == of_another


def test_names_subject() -> None:
    assert names_subject("where is theo", "Theo moved to Lyon")
    assert names_subject("where is morag now", "my sister Morag is in Oban")
    assert not names_subject("what is my blood type", "my brother is O negative")


def test_is_owned_by_another() -> None:
    assert is_owned_by_another("when is my birthday", "tomeks birthday is 15 march")
    assert is_owned_by_another("whats my wifi called", "Tomek's wifi is called blue")
    assert not is_owned_by_another("when is my birthday", "my birthday is 2 feb, tomeks birthday is 15 march")
    assert not is_owned_by_another("whats my rent", "this months rent is 900")
    assert not is_owned_by_another("when is my birthday", "birthday is halloween")


@pytest.mark.parametrize(
    ("question", "sentence", "of_another"),
    [
        ("do i have a sister", "priya's little sister is getting married", True),
        ("have i got any kids", "my neighbours kids are so loud", True),
        ("do i have a brother", "The user's brother is Tom.", False),
        ("which dog am i looking after", "im looking after dan's dog this week", False),
        ("我有几个女儿", "我有两个可爱的女儿", False),
        ("我有没有狗", "我养了一只白色的狗", False),
        ("我有几个女儿", "我和老公的女儿上学了", False),
        ("how many kids do i have", "kids are 6 and 2", False),
        ("do i have a dog", "his dog bit me", True),
        ("我有弟弟吗", "室友的弟弟来玩了", True),
        ("我有弟弟吗", "我弟弟考上了", False),
        ("我有没有女儿", "老板他女儿出国了", True),
    ],
)
def test_has_person_of_another(question: str, sentence: str, of_another: bool) -> None:
    assert has_person_of_another(question, sentence) == of_another


def test_long_questions_do_not_take_long() -> None:
    started = time.perf_counter()
    asks_about_user("what is my mum " * 3000)
    asks_about_user("我的" + "什么妈妈" * 3000)
    tells_of_another("my " * 8000)
    assert time.perf_counter() - started < 1


@pytest.mark.parametrize(
    ("text", "of_another"),
    [
        ("my brother vikram lives in toronto", True),
        ("我妹妹叫周晓婷 22岁", True),
        ("my cat allergy is bad", False),
        ("my student loan is 300", False),
        ("医生叫我多喝水", False),
    ],
)
def test_a_named_person_is_the_subject(text: str, of_another: bool) -> None:
    assert tells_of_another(text) is of_another
