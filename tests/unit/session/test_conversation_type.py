"""Classification of conversation types and their recall strategies."""

from __future__ import annotations

from typing import get_args

import pytest

from thinkback.session.conversation_type import (
    STRATEGIES,
    classify_conversation,
    max_memories,
    min_score,
)
from thinkback.types import ConversationType


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Please write a script that renames files.", "task"),
        ("帮我写一个函数。", "task"),
        ("We are planning a trip to Norway.", "planning"),
        ("国庆的行程怎么安排", "planning"),
        ("I have had a fever since Monday.", "medical"),
        ("我头痛，吃什么药好", "medical"),
        ("Who painted the Mona Lisa?", "question-answering"),
        ("Hello, nice weather today.", "small talk"),
        ("你好呀", "small talk"),
    ],
)
def test_type_is_recognised_by_words(said: str, kind: ConversationType) -> None:
    assert classify_conversation(said) == kind


def test_message_without_clues_keeps_the_type() -> None:
    for kind in get_args(ConversationType):
        assert classify_conversation("Thanks, that is nice.", kind) == kind
    assert classify_conversation("Which server is cheaper?", "planning") == "planning"
    assert classify_conversation("My doctor found a rash.", "planning") == "medical"


def test_every_type_has_a_strategy() -> None:
    assert set(STRATEGIES) == set(get_args(ConversationType))
    assert STRATEGIES["medical"].field_order[0] == "facts"
    assert STRATEGIES["task"].field_order[0] == "constraints"


def test_min_score_depends_on_type_and_message() -> None:
    scores = [0.8, 0.3]
    told = {talk: min_score(talk, "I saw an owl.", scores) for talk in get_args(ConversationType)}
    assert told["small talk"] > told["question-answering"] > told["task"] > told["medical"] > 0
    assert min_score("small talk", "Did I see an owl?", scores) < told["small talk"]
    assert min_score("small talk", "The owl we discussed earlier.", scores) == 0
    assert min_score("task", "An owl.", []) == 0


def test_small_talk_recalls_fewer_memories_unless_asked() -> None:
    assert max_memories("small talk", "I saw an owl.", 5) < max_memories("task", "I saw an owl.", 5) == 5
    assert max_memories("small talk", "What did I see?", 5) == 5
    assert max_memories("small talk", "那个之前说的猫头鹰", 5) == 5
