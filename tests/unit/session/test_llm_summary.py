"""The model side of summaries: its prompt and the parsing of its reply."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.unit.session.factories import summary_of, turn

from thinkback.errors import BadReply
from thinkback.llms.scripted import ScriptedLLM
from thinkback.session.summarizer import LLMSummaryReader, parse_summary_reply
from thinkback.types import ExcludedOption

EMPTY: dict[str, Any] = {
    "talk": "task",
    "topic": "",
    "needs": [],
    "constraints": [],
    "excluded": [],
    "facts": [],
    "conclusion": "",
    "to_clarify": [],
    "settled": [],
    "reopened": [],
    "revised": [],
}


def test_prompt_contains_notes_and_turn_without_secrets() -> None:
    llm = ScriptedLLM([json.dumps({**EMPTY, "excluded": [{"option": "oak", "reason": "it scratches"}]})])
    reader = LLMSummaryReader(llm, "Use few words.")
    proposal = reader.read(
        [turn("Not oak, it scratches. My password is hunter2xyz.", "Fine.")], summary_of("I need a desk.")
    )
    assert proposal.excluded == (ExcludedOption("oak", "it scratches"),)
    prompt = llm.calls[0][0].content
    assert "- I need a desk." in prompt
    assert "Use few words." in prompt
    assert "Assistant: Fine." in prompt
    assert "hunter2xyz" not in prompt
    assert reader.name.startswith("scripted summarise@")


def test_complete_reply_becomes_a_proposal() -> None:
    revised = [{"field": "facts", "old": "a", "new": "b", "reason": "c"}]
    proposal = parse_summary_reply(
        json.dumps(
            {**EMPTY, "topic": "desks", "needs": ["a desk"], "revised": revised, "settled": ["colour?"]}
        )
    )
    assert (proposal.talk, proposal.topic, proposal.needs, proposal.settled) == (
        "task",
        "desks",
        ("a desk",),
        ("colour?",),
    )
    assert (proposal.revisions[0].old, proposal.revisions[0].reason) == ("a", "c")


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "no JSON",
        "{}",
        "[]",
        "null",
        json.dumps(EMPTY)[:-5],
        json.dumps({**EMPTY, "needs": None}),
        json.dumps({**EMPTY, "talk": "chess"}),
        json.dumps({**EMPTY, "facts": ["x" * 1_000_000]}),
        json.dumps({**EMPTY, "facts": ["x"] * 1000}),
        json.dumps({**EMPTY, "revised": [{"field": "topic"}]}),
    ],
)
def test_unusable_reply_raises_bad_reply(reply: str) -> None:
    with pytest.raises(BadReply):
        parse_summary_reply(reply)
