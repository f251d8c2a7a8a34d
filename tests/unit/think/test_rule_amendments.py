"""Requests to forget, corrections, and sentences that only look like them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from thinkback.think.rule_generator import RuleGenerator
from thinkback.think.state import Amendment
from thinkback.types import ThoughtDraft, Turn

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)


def read(text: str) -> list[ThoughtDraft]:
    return RuleGenerator().generate(Turn(id=7, query=text, at=AT, recorded_at=AT))


def amendments(text: str) -> list[Amendment]:
    return [draft for draft in read(text) if isinstance(draft, Amendment)]


FORGET_REQUESTS = (  # request, and one (subject, relation, value) that it removes
    ("Please forget my address, I don't want it stored.", ("user", "address", "*")),
    ("Forget that I told you about my salary.", ("user", "salary", "*")),
    ("Could you delete everything about my job?", ("user", "works as", "*")),
    ("Forget that I live in Rome.", ("user", "lives in", "Rome")),
    (
        "Delete what you know about the Novartis application please.",
        ("user", "likes", "Novartis application"),
    ),
    ("Don't remember my phone number.", ("user", "phone number", "*")),
    ("forget my girlfriend", ("user", "has girlfriend", "*")),
    ("forget my girlfriend", ("user's girlfriend", "lives in", "*")),
    ("请把我的地址忘掉，我不想被记录。", ("user", "address", "*")),
    ("忘掉我的电话吧", ("user", "phone number", "*")),
    ("把我的工资删掉", ("user", "salary", "*")),
    ("删除关于我女朋友的信息", ("user", "has girlfriend", "*")),
    ("把我面试字节的事删掉吧，不去了。", ("user", "works at", "面试字节")),
)


@pytest.mark.parametrize(("text", "key"), FORGET_REQUESTS, ids=[text for text, _ in FORGET_REQUESTS])
def test_forget_request_yields_amendments_only(text: str, key: tuple[str, str, str]) -> None:
    found = read(text)
    assert all(isinstance(draft, Amendment) and draft.forget for draft in found)
    assert key in {(draft.subject, draft.relation, draft.object) for draft in found}


@pytest.mark.parametrize("text", ["Forget what I just said.", "忘掉我刚才说的话"])
def test_what_i_just_said_is_recent_only(text: str) -> None:
    found = amendments(text)
    assert found
    assert all(draft.recent_only and draft.object == "*" for draft in found)


@pytest.mark.parametrize(
    "text",
    [
        "Forget it.",
        "I forget my address all the time.",
        "I'll never forget Paris.",
        "Don't forget my address.",
        "Did you forget my address?",
        "How do I delete my account?",
        "She forgot my salary.",
        "我忘了带钥匙",
        "别忘了我的地址",
        "你忘了我的生日吗？",
        "我把钥匙忘在家里了",
    ],
)
def test_other_sentence_about_forgetting_is_ignored(text: str) -> None:
    assert amendments(text) == []


CORRECTIONS = (  # sentence, new value, old value if it is given
    ("Oops, typo, I meant Mila.", "Mila", ""),
    ("Sorry, I meant Austin, not Boston.", "Austin", "Boston"),
    ("Correction: it's 17, not 70.", "17", "70"),
    ("lol typo, 34", "34", ""),
    ("wait, no, it's June 21", "June 21", ""),
    ("It's Thursday, not Tuesday.", "Thursday", "Tuesday"),
    ("写错了，是陈婧，女字旁的婧", "陈婧", ""),
    ("说错了，是86公斤", "86公斤", ""),
    ("不对，应该是8月13号", "8月13号", ""),
    ("不对，是李雷，不是李磊", "李雷", "李磊"),
)


@pytest.mark.parametrize(("text", "new", "old"), CORRECTIONS, ids=[text for text, *_ in CORRECTIONS])
def test_correction_names_new_and_old_value(text: str, new: str, old: str) -> None:
    found = amendments(text)
    assert {(draft.object, draft.instead_of, draft.forget) for draft in found} == {(new, old, False)}
    assert ("user", "is named") in {(draft.subject, draft.relation) for draft in found}


@pytest.mark.parametrize(
    "text",
    [
        "Sorry, it's fine.",
        "It's Thursday.",
        "Is it Thursday, not Tuesday?",
        "Sorry, it's my fault.",
        "I'm sorry, it's late.",
        "Wait, what?",
        "这样不对，我觉得是你的问题",
        "是陈婧",
        "是不是写错了？",
    ],
)
def test_sentence_without_correction_is_ignored(text: str) -> None:
    assert amendments(text) == []


def test_pronoun_in_correction_may_be_any_relative() -> None:
    found = amendments("wait no, I mixed that up with my nephew. Her birthday is June 21.")
    assert ("user's daughter", "birthday", "June 21") in {(d.subject, d.relation, d.object) for d in found}
    assert all(draft.any_value for draft in found)
    assert amendments("Her birthday is June 21.") == []


@pytest.mark.parametrize(
    ("text", "relation", "taken_back"),
    [
        ("Correction: it's cashews I'm allergic to, not walnuts.", "is allergic to", "walnuts"),
        ("I speak Danish, not Dutch.", "speaks", "Dutch"),
        ("更正一下，我不是对芒果过敏，是对菠萝过敏。", "is allergic to", "芒果"),
        ("我是医生，不是律师。", "works as", "律师"),
    ],
)
def test_rejected_value_is_retracted(text: str, relation: str, taken_back: str) -> None:
    (amendment,) = amendments(text)
    assert (amendment.relation, amendment.object, amendment.forget) == (relation, taken_back, True)
    assert any(not isinstance(draft, Amendment) and not draft.negated for draft in read(text))


@pytest.mark.parametrize(
    ("text", "relation", "new"),
    [
        ("啊打错字了，我妹妹叫陈思语，语言的语。", "has sister", "陈思语"),
        ("说错了，我会说德语。", "speaks", "德语"),
        ("手滑了，我对榛子过敏。", "is allergic to", "榛子"),
    ],
)
def test_statement_after_mistake_corrects_similar_value(text: str, relation: str, new: str) -> None:
    (amendment,) = amendments(text)
    assert (amendment.relation, amendment.object, amendment.forget) == (relation, new, False)
    assert any(not isinstance(draft, Amendment) and draft.object == new for draft in read(text))


def test_request_in_two_languages_counts_once() -> None:
    found = {(d.relation, d.object) for d in amendments("Please forget my salary，别记我工资的事了。")}
    assert found == {("salary", "*")}


@pytest.mark.parametrize(
    ("text", "relation"),
    [
        ("别记我老公的名字了，删掉吧。", "has husband"),
        ("刚才说的病情请忘记。", "has condition"),
        ("我的电话请删掉。", "phone number"),
        ("我工资的事别再提了。", "salary"),
        ("把我前任的事都删掉吧。", "has ex"),
    ],
)
def test_topic_before_or_after_the_request(text: str, relation: str) -> None:
    assert relation in {draft.relation for draft in amendments(text)}


@pytest.mark.parametrize("text", ["我的钥匙忘了。", "我把伞忘了带。", "我忘记他的名字了", "别提了，累死。"])
def test_own_forgetfulness_is_no_request(text: str) -> None:
    assert amendments(text) == []
