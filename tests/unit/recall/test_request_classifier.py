"""The request classifier, on messages by a writer who did not know it, and its model file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from thinkback.network.cross_encoder import find_cross_encoder
from thinkback.recall import message_classifier
from thinkback.recall.message_parts import split_message
from thinkback.recall.question_classifier import QuestionModel
from thinkback.recall.request_classifier import RequestModel, asks_for_work

SCENARIOS = Path(__file__).parents[3] / "scenarios"
HELDOUT, HELDOUT_B = (SCENARIOS / "requests" / "heldout" / name for name in ("mixed.jsonl", "mixed_b.jsonl"))
CHATS = SCENARIOS / "chats" / "heldout"

needs_network = pytest.mark.skipif(find_cross_encoder() is None, reason="thinkback-reranker is not installed")


def _messages(wants: str, file: Path = HELDOUT) -> list[str]:
    messages = map(json.loads, file.read_text("utf-8").splitlines())
    return [message["text"] for message in messages if message["wants"] == wants]


def _count_requests(messages: list[str]) -> int:
    return sum(split_message(message).is_request for message in messages)


@needs_network
def test_finds_requests_that_were_not_trained_on() -> None:
    tasks, asked, told = map(_messages, ("task", "memory", "tell"))
    assert (len(tasks), len(asked), len(told)) == (80, 60, 60)
    assert _count_requests(tasks) >= 57
    assert _count_requests(asked) <= 3
    assert _count_requests(told) <= 5


@needs_network
def test_remarks_of_another_writer_are_mostly_no_requests_and_no_questions() -> None:
    tasks, asked, told = (_messages(wants, HELDOUT_B) for wants in ("task", "memory", "tell"))
    assert (len(tasks), len(asked), len(told)) == (100, 100, 100)
    assert _count_requests(tasks) >= 78  # 71 before remarks were learned
    assert sum(bool(split_message(message).question) for message in asked) >= 88
    answered = [parts for parts in map(split_message, told) if parts.is_request or parts.question]
    assert len(answered) <= 27  # 48 before


def test_words_alone_find_requests_without_the_network() -> None:
    model = RequestModel.shipped()
    found = {
        wants: sum(model.probability(text) >= 0.3 for text in _messages(wants))
        for wants in ("task", "memory", "tell")
    }
    assert found["task"] >= 40
    assert found["memory"] + found["tell"] <= 7


def test_messages_of_chats_are_no_requests() -> None:
    lines = [line for file in sorted(CHATS.glob("*.jsonl")) for line in file.read_text("utf-8").splitlines()]
    chats = [message.get("ask") or message.get("say") for message in map(json.loads, lines)]
    messages = [message for message in chats if message]
    assert len(messages) > 250
    assert _count_requests(messages) <= 0.035 * len(messages)


@pytest.mark.parametrize(
    "message",
    [
        "remember im off dairy",
        "note that the plumber comes friday",
        "please write down: rent is 840 now",
        "帮我记一下，水管工周五来",
        "my sister anna wrote a card for mum",
    ],
)
def test_what_is_to_be_kept_in_mind_is_a_statement(message: str) -> None:
    parts = split_message(message)
    assert (parts.is_request, parts.tells) == (False, True)


@pytest.mark.parametrize(
    "message",
    ["tell me about my sister anna", "what do you know about the boiler?", "你都记得我什么？"],
)
def test_what_is_known_about_something_is_for_memory(message: str) -> None:
    parts = split_message(message)
    assert (parts.is_request, bool(parts.question)) == (False, True)


@pytest.mark.parametrize(
    "message",
    [
        "write a card for my sister anna who just moved to turku",
        "how do i get candle wax out of a tablecloth",
        "翻译成英文：我明天不来上班",
    ],
)
def test_work_for_a_model_is_a_request_also_if_it_names_facts(message: str) -> None:
    assert split_message(message).is_request


def test_the_network_is_not_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "could you maybe sort the seating for the fundraiser"  # in no other test: vectors are cached
    monkeypatch.setattr(message_classifier, "load_cross_encoder", lambda: None)
    probability = RequestModel.shipped().probability(text)
    assert asks_for_work(text, threshold=probability)
    assert not asks_for_work(text, threshold=probability + 1e-9)


def test_the_two_models_differ_in_what_they_find() -> None:
    question, request = "when was the dentist again", "write me a limerick about dentists"
    asks, wants = QuestionModel.shipped(), RequestModel.shipped()
    assert asks.probability(question) > 0.5 > wants.probability(question)
    assert wants.probability(request) > 0.5 > asks.probability(request)


def test_empty_and_endless_messages_are_no_requests() -> None:
    assert not asks_for_work("")
    assert 0 <= RequestModel.shipped().probability("where " * 100_000) <= 1


@pytest.mark.parametrize(
    ("message", "is_request"),
    [
        ("my algo midterm is on oct 17 and the linear algebra one is the 19th", False),
        ("my ex wife lenka lives in prague with our daughter ema, shes 12 and plays the violin", False),
        ("my email is too long: shorten it", True),
        ("my speech is 5 minutes, turn it into a poem", True),
        ("my regex is slow - optimise it", True),
        ("my essay is here, proofread and correct it", True),
    ],
)
def test_a_statement_about_ones_own_is_no_request(message: str, is_request: bool) -> None:
    assert split_message(message).is_request is is_request


@pytest.mark.parametrize(
    ("message", "question"),
    [
        ("团团幼儿园在西湖区 老师姓方", ""),
        ("we got a cat last month, shes called biscuit. declan wanted a dog but whatever", ""),
        ("老师姓方 她电话多少", "她电话多少"),
        ("im at the shops. my sister's address again", "my sister's address again"),
    ],
)
def test_a_question_beside_statements_has_a_question_word(message: str, question: str) -> None:
    assert split_message(message).question == question


@needs_network
def test_plans_for_somebody_are_mostly_no_requests() -> None:
    plans = [
        "我妈妈下个月生日，想送她一条围巾",
        "下周岳父过六十大寿，准备给他订个蛋糕",
        "儿子快中考了，想给他换个好点的台灯",
        "周末同学结婚，打算包八百",
        "我爸腿脚不好，想给他装个扶手",
        "老婆怀孕六个月了，想换辆七座的",
        "奶奶眼睛花了，打算给她买个大字手机",
        "女朋友对猫过敏，我们想养只狗",
        "dads 70th is coming up, thinking of getting him a telescope",
        "my niece starts school in september, want to get her a proper backpack",
        "we're redoing the kitchen, going for green tiles",
        "grandma can't climb stairs now so we want to put in a lift",
        "my sister graduates in june and i wanna surprise her with a trip",
    ]
    assert _count_requests(plans) <= 3  # 6 before such plans were learned
    assert not _count_requests(plans[:1])
