"""The text that a model is given for a recalled memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from thinkback.language.assistant_questions import asks_for_reply
from thinkback.language.spoken_dates import add_dates
from thinkback.recall.display import format_thought, format_turn
from thinkback.types import Thought, Turn

SAID = datetime(2025, 4, 14, 9, tzinfo=UTC)
MAY = datetime(2025, 5, 1, tzinfo=UTC)
PLAIN = Thought(
    subject="user",
    relation="lives in",
    objects=("Lyon",),
    sentence="The user lives in Lyon.",
    kind="profile",
    sources=(),
    id=1,
    recorded_at=SAID,
)


@pytest.mark.parametrize(
    ("thought", "text"),
    [
        (PLAIN, "The user lives in Lyon. (said 2025-04-14)"),
        (replace(PLAIN, valid_from=MAY), "The user lives in Lyon. (since 2025-05-01)"),
        (replace(PLAIN, valid_to=MAY), "The user lives in Lyon. (until 2025-05-01)"),
        (replace(PLAIN, valid_from=SAID, valid_to=MAY), "The user lives in Lyon. (2025-04-14 to 2025-05-01)"),
        (replace(PLAIN, valid_from=MAY, valid_to=MAY), "The user lives in Lyon. (2025-05-01)"),
        (replace(PLAIN, sentence="Moved on 2025-05-01.", valid_from=MAY), "Moved on 2025-05-01."),
    ],
)
def test_thought_has_its_dates(thought: Thought, text: str) -> None:
    assert format_thought(thought, SAID) == text


def test_thought_without_any_date() -> None:
    assert format_thought(PLAIN, None) == PLAIN.sentence


def test_reply_is_shown_only_if_it_is_wanted() -> None:
    turn = Turn(id=1, query="I quit.", response="You smoked for nine years.", at=SAID, recorded_at=SAID)
    assert format_turn(turn, with_response=False) == "user, 2025-04-14: I quit."
    assert format_turn(turn, with_response=True).endswith(
        "\nassistant, 2025-04-14: You smoked for nine years."
    )
    assert "nine years" in format_turn(replace(turn, query=""), with_response=False)


@pytest.mark.parametrize(
    ("text", "resolved"),
    [
        ("The check-up is tomorrow.", "The check-up is tomorrow (2025-04-15)."),
        ("我昨天搬家了。", "我昨天 (2025-04-13)搬家了。"),
        ("It was founded in 2008.", "It was founded in 2008."),
        ("I like tea.", "I like tea."),
    ],
)
def test_relative_dates_are_resolved(text: str, resolved: str) -> None:
    assert add_dates(text, SAID) == resolved


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which film did you recommend for Sunday?", True),
        ("what was your advice about the rash", True),
        ("你上次推荐的那本书叫什么？", True),
        ("Where do I live?", False),
        ("Do you know where my keys are?", False),
        ("你知道我住哪里吗？", False),
    ],
)
def test_question_about_the_assistants_words(question: str, expected: bool) -> None:
    assert asks_for_reply(question) is expected
