"""Session summaries through Memory: updates, revisions, undo, faulty models, concurrency."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from tests.conftest import OpenMemory
from tests.scripted_reader import ScriptedReader
from tests.unit.session.test_llm_summary import EMPTY

from thinkback.errors import BadReply, Conflict, InvalidInput, ModelUnavailable, NotFound
from thinkback.llms.scripted import ScriptedLLM, ScriptedReply
from thinkback.memory import Memory
from thinkback.session.summary_updates import replay_updates
from thinkback.think.contract import ProposedChange, ReadRequest
from thinkback.types import ExcludedOption, Summary, Turn


def reply(**fields: Any) -> str:
    return json.dumps({**EMPTY, **fields}, ensure_ascii=False)


def confirmed(summary: Summary) -> set[object]:
    return {*summary.needs, *summary.constraints, *summary.facts, *summary.excluded}


def tell(memory: Memory, *said: str, session: str = "default") -> None:
    for line in said:
        memory.remember(line, session=session)


def test_summary_includes_pending_and_processed_turns(memory: Memory) -> None:
    tell(memory, "I need a desk.", "Not oak because it scratches.")
    before = memory.summary()
    assert (before.excluded, before.turn, before.version) == ((ExcludedOption("oak", "it scratches"),), 2, 0)
    memory.post_think()
    after = memory.summary()
    assert (after.excluded, after.turn) == (before.excluded, 2)
    assert after.version == 2
    assert memory.store.summary(memory.user, "default") == after


def test_no_summary_is_made_until_it_is_requested(memory: Memory) -> None:
    tell(memory, "I need a desk.")
    memory.post_think()
    assert memory.store.summaries(memory.user) == []


def test_sessions_have_separate_summaries(memory: Memory) -> None:
    tell(memory, "I need a desk.", session="a")
    tell(memory, "I need a boat.", session="b")
    assert (memory.summary("a").needs, memory.summary("b").needs) == (
        ("I need a desk.",),
        ("I need a boat.",),
    )
    assert memory.summary("c") == Summary(session="c")


def test_replaying_updates_gives_the_summary(memory: Memory) -> None:
    tell(
        memory,
        "I need a desk.",
        "Not oak because it scratches.",
        "At most 200 euros.",
        "Let's use oak after all.",
    )
    memory.post_think()
    summary = memory.summary()
    assert summary.excluded == ()
    history = memory.summary_history()
    assert replay_updates("default", history) == summary
    assert any("raised it again in turn:4" in edit.reason for update in history for edit in update.edits)


def test_backlog_costs_few_updates_and_loses_nothing(memory: Memory) -> None:
    tell(memory, "The boat must hold 9 people.", *(f"I saw {n} owls." for n in range(40)))
    memory.post_think()
    assert "The boat must hold 9 people." in memory.summary().constraints
    assert len(memory.summary_history()) < 15


def test_undo_and_undo_again(memory: Memory) -> None:
    tell(memory, "I need a desk.", "Not oak because it scratches.")
    memory.post_think()
    whole = memory.summary()
    undone = memory.undo_summary()
    assert memory.summary().excluded == ()
    assert memory.summary().needs == whole.needs
    assert (undone.actor, undone.version) == ("user", 3)
    memory.undo_summary()
    assert memory.summary().excluded == whole.excluded
    with pytest.raises(NotFound):
        memory.undo_summary("nowhere")


def test_user_can_revise_the_summary(memory: Memory) -> None:
    tell(memory, "I need a desk.")
    memory.post_think()
    update = memory.revise_summary(replace(memory.summary(), needs=("A standing desk.",)), "more precise")
    assert memory.summary().needs == ("A standing desk.",)
    assert {edit.reason for edit in update.edits} == {"more precise"}
    with pytest.raises(InvalidInput):
        memory.revise_summary(memory.summary(), " ")
    with pytest.raises(Conflict, match="version 2"):
        memory.revise_summary(replace(memory.summary(), version=1), "an old one")
    tell(memory, "And a lamp.")
    with pytest.raises(Conflict):
        memory.revise_summary(memory.summary(), "too early")


def test_superseded_fact_is_revised(memory: Memory) -> None:
    tell(memory, "I live in Paris.")
    memory.summary()
    memory.post_think()
    assert memory.summary().facts == ("I live in Paris.",)
    tell(memory, "I moved to Lyon.")
    memory.post_think()
    assert memory.summary().facts == ("I moved to Lyon.",)
    assert any(edit.old == "I live in Paris." for update in memory.summary_history() for edit in update.edits)


def test_model_reads_the_last_turns_once_after_the_answer(open_memory: OpenMemory) -> None:
    llm = ScriptedLLM([reply(constraints=["The desk fits under the stairs."], talk="planning")])
    memory = open_memory(summary_llm=llm)
    tell(memory, "We only have the place under the stairs for the desk.", "So it goes.")
    memory.summary()
    assert llm.calls == []
    done = memory.post_think()
    assert len(llm.calls) == done.usage.llm_calls == 1
    assert "The desk fits under the stairs." in memory.summary().constraints
    assert memory.summary().talk == "planning"
    assert memory.summary_history()[-1].actor.startswith("scripted summarise@")


HOSTILE: list[ScriptedReply] = [
    " ",
    "I have updated it!",
    "{}",
    reply(),
    reply()[:-7],
    reply(facts=["x" * 1_000_000]),
    "[" * 100_000,
    reply(
        reopened=["oak"],
        revised=[
            {"field": "constraints", "old": "At most 200 euros.", "new": "Free of charge.", "reason": "x"}
        ],
    ),
    reply(settled=["everything"], topic="cheese", conclusion="We buy the moon."),
    ModelUnavailable("down"),
]


@pytest.mark.parametrize("said", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_reply_loses_no_confirmed_item(open_memory: OpenMemory, said: ScriptedReply) -> None:
    memory = open_memory(summary_llm=ScriptedLLM({"": said}))
    tell(
        memory,
        "I need a desk.",
        "At most 200 euros.",
        "Not oak because it scratches.",
        "The room has 12 windows.",
    )
    before = memory.summary()
    problems = memory.post_think().problems
    tell(memory, "The weather is fine.")
    memory.post_think()
    assert confirmed(before) <= confirmed(memory.summary())
    assert len(confirmed(before)) == 4
    if said != reply():
        assert problems
        assert memory.summary_history()[-1].problem


def test_model_problem_is_recorded(open_memory: OpenMemory) -> None:
    memory = open_memory(summary_llm=ScriptedLLM([BadReply("gibberish")]))
    tell(memory, "I need a desk.")
    memory.summary()
    (problem,) = memory.post_think().problems
    assert problem == "the summary of session 'default': BadReply: gibberish"


def test_dead_letter_does_not_block_the_summary(open_memory: OpenMemory) -> None:
    def fail(turn: Turn, request: ReadRequest) -> list[ProposedChange]:
        raise ValueError("gravel")

    memory = open_memory(think=ScriptedReader({"I need gravel.": fail}))
    tell(memory, "I need gravel.", "I need a desk.")
    memory.summary()
    memory.post_think()
    kept = memory.store.summary(memory.user, "default")
    assert len(memory.failures()) == 1
    assert kept is not None
    assert (kept.turn, kept.needs) == (2, ("I need gravel.", "I need a desk."))


def test_concurrent_updates_lose_nothing(open_memory: OpenMemory) -> None:
    one, other = open_memory(), open_memory()
    tell(one, "I need a desk.", "Not oak because it scratches.")
    one.post_think()
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda memory: memory.summary(), (one, other)))
    assert found[0] == found[1]
    assert replay_updates("default", one.summary_history()) == found[0]


def test_background_worker_updates_summaries(open_memory: OpenMemory) -> None:
    memory = open_memory(background=True)
    tell(memory, "I need a desk.")
    memory.summary()
    tell(memory, "Not oak because it scratches.")
    assert memory.wait(20)
    kept = memory.store.summary(memory.user, "default")
    assert kept is not None
    assert (kept.turn, [each.option for each in kept.excluded]) == (2, ["oak"])


def test_erased_turn_is_removed_from_summary_and_updates(memory: Memory) -> None:
    tell(memory, "I need a desk.", "Not oak because it scratches.")
    memory.post_think()
    memory.summary()
    memory.erase(turn=2)
    assert memory.summary().excluded == ()
    assert memory.summary().needs == ("I need a desk.",)
    assert "scratches" not in str(memory.summary_history())


def test_export_contains_summaries(open_memory: OpenMemory) -> None:
    source, target = open_memory(":memory:"), open_memory(":memory:", user="eve")
    tell(source, "I need a desk.", "Not oak because it scratches.")
    source.post_think()
    source.summary()
    target.import_(source.export())
    assert target.summary() == source.summary()
    assert target.summary_history() == source.summary_history()


def test_context_and_previous_context(memory: Memory) -> None:
    assert memory.context_before() is None
    tell(memory, "I need a desk.", "Not oak because it scratches.")
    memory.post_think()
    memory.summary()
    before = memory.context_before()
    assert before is not None
    assert before.part("question") == "Not oak because it scratches."
    assert "oak" not in before.part("summary") + before.part("history") + before.part("facts")
    assert "oak (it scratches)" in memory.context("Is oak possible?").part("summary")


def test_chat_uses_the_context(open_memory: OpenMemory) -> None:
    llm = ScriptedLLM(["Fine."])
    memory = open_memory(think="extractive", llm=llm, instructions="Speak like a sailor.")
    tell(memory, "Not oak because it scratches.", "I saw an owl.", "I saw a dog.")
    memory.post_think()
    expected = memory.context("What about oak?")
    memory.chat("What about oak?")
    assert llm.calls[0] == expected.messages
    assert "Speak like a sailor." in llm.calls[0][0].content
    assert "oak (it scratches)" in llm.calls[0][0].content
