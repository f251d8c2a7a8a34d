"""Rules combined with a model: rules win, the model adds, each draft names its maker."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.conftest import OpenMemory

from thinkback.llms.scripted import ScriptedLLM
from thinkback.think.generators import CombinedGenerator, LLMGenerator, is_covered
from thinkback.types import Source, ThoughtDraft, Turn

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)
READ, UNREAD = "I live in Lyon.", "Our gnome Gustav guards the pond."


def turn(query: str, response: str = "") -> Turn:
    return Turn(id=1, query=query, response=response, at=AT, recorded_at=AT)


def reply(*thoughts: tuple[str, str, str]) -> str:
    told = [
        {"line": 1, "subject": s, "relation": r, "objects": [o], "kind": "profile"} for s, r, o in thoughts
    ]
    return json.dumps({"thoughts": told})


def combined(*replies: str) -> tuple[CombinedGenerator, ScriptedLLM]:
    llm = ScriptedLLM(replies, name="able")
    return CombinedGenerator(LLMGenerator(llm)), llm


def test_model_is_asked_only_about_uncovered_lines() -> None:
    generator, llm = combined(reply(("Gustav", "guards", "the pond")))
    drafts = generator.generate(turn(f"{READ} {UNREAD}", "How nice!"))
    assert [(d.subject, d.relation, d.made_by.split("@")[0]) for d in drafts] == [
        ("user", "lives in", "rules"),
        ("Gustav", "guards", "able generate"),
    ]
    assert llm.calls[0][0].content.rstrip().endswith(f"User:\n- {READ}\n1. {UNREAD}\nAssistant:\n- How nice!")


@pytest.mark.parametrize(
    "query",
    [READ, "Hello there!", "Where do I live?", "If I were rich I would sail.", "", "Thanks, that is great!"],
)
def test_model_is_not_called_without_uncovered_lines(query: str) -> None:
    generator, llm = combined()
    generator.generate(turn(query, "The Louvre is in Paris. I recommend it."))
    assert llm.calls == []


def draft(relation: str, *objects: str, subject: str = "user", start: int = 0, **more: Any) -> ThoughtDraft:
    source = Source(1, "user", "query", start, start + 10)
    return ThoughtDraft(
        subject=subject,
        relation=relation,
        objects=objects,
        sentence="s",
        kind="profile",
        sources=(source,),
        **more,
    )


LYON = draft("lives in", "Lyon")
TEA = draft("likes", "tea", "coffee")


@pytest.mark.parametrize(
    "added",
    [
        draft("lives in", "Lyon", start=50),
        draft("resides at", "lyon", start=5),  # the same words, the same one, the same object
        draft("lives in", "Paris", start=50),  # one lives in one place
        draft("lives in", "Lyon", start=50, negated=True),
        draft("likes", "Tea", start=50),
        draft("likes", "tea", "juice", start=50, negated=True),
    ],
)
def test_drafts_stated_or_contradicted_by_rules_are_covered(added: ThoughtDraft) -> None:
    assert is_covered(added, [LYON, TEA])


@pytest.mark.parametrize(
    "added",
    [
        draft("lives in", "Paris", subject="Anna"),
        draft("resides at", "Lyon", start=50),
        draft("works in", "Paris", start=5),
        draft("likes", "jazz", start=50),
        draft("likes", "jazz", start=50, negated=True),
        draft("lives in", "Paris", start=50, negated=True),
    ],
)
def test_new_drafts_are_not_covered(added: ThoughtDraft) -> None:
    assert not is_covered(added, [LYON, TEA])


def test_journal_records_the_maker_of_each_operation(open_memory: OpenMemory) -> None:
    llm = ScriptedLLM([reply(("Gustav", "guards", "the pond"), ("user", "likes", "gnome"))], name="able")
    memory = open_memory(llm=llm)
    memory.remember(f"{READ} I like tea. {UNREAD}")
    result = memory.post_think()
    able = LLMGenerator(llm).name
    by = {action.after[-1].sentence: action.actor for action in result.actions}
    assert by == {
        "The user lives in Lyon.": "rules",
        "The user likes tea and gnome.": f"rules + {able}",
        "Gustav guards the pond.": able,
    }
    assert (result.usage.llm_calls, result.usage.prompt_tokens > 100) == (1, True)
    memory.remember("I live in Paris.")
    result = memory.post_think()
    assert [action.actor for action in result.actions] == ["rules"]
    assert result.usage.llm_calls == 0
