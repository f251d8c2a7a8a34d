"""Reading turns with a model: the prompt, the parsing of replies, and the whole way through Memory."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.conftest import OpenMemory

from thinkback.errors import BadReply
from thinkback.llms.scripted import ScriptedLLM
from thinkback.think.contract import ReadRequest
from thinkback.think.reader_llm import LLMReader, parse_date, parse_reply, render_request
from thinkback.types import Source, Thought, Turn

AT = datetime(2025, 6, 10, 18, 4, tzinfo=UTC)


def turn(id_: int, query: str, response: str = "") -> Turn:
    return Turn(id=id_, query=query, response=response, at=AT, recorded_at=AT)


def thought(id_: int, sentence: str) -> Thought:
    return Thought(
        id=id_,
        subject="user",
        relation="lives in",
        objects=("Leeds",),
        sentence=sentence,
        kind="profile",
        sources=(Source(1, "user", "query", 0, 5),),
        recorded_at=AT,
    )


def request(*turns: Turn, related: Sequence[Thought] = ()) -> ReadRequest:
    return ReadRequest(
        turns=turns,
        recent=(turn(6, "we are looking at houses", "Where?"),),
        names=(("Anna", "user's sister"), ("Otto",)),
        related=tuple(related),
        said_at={related_thought.id: AT for related_thought in related},
    )


def change(**fields: Any) -> dict[str, Any]:
    return {
        "op": "add",
        "turn": 1,
        "n": 2,
        "quote": "moving to york",
        "about": "user",
        "relation": "moves to",
        "value": "York",
        "sentence": "The user moves to York on 2025-06-13.",
        "kind": "event",
        "from": "2025-06-13",
        "to": None,
        **fields,
    }


def reply(*changes: object) -> str:
    return json.dumps({"changes": changes})


def test_prompt_shows_names_numbered_facts_earlier_turns_and_the_turn_with_its_time() -> None:
    text = render_request(
        request(turn(7, "moving to york", "Nice!"), related=[thought(3, "The user lives in Leeds.")])
    )
    assert text == (
        "Names\n- Anna: user's sister\n- Otto\n"
        "Known facts\n1. [2025-06-10] The user lives in Leeds.\n"
        "Earlier turns\n[2025-06-10 Tue 18:04]\nUser: we are looking at houses\nAssistant: Where?\n"
        "Read these turns\nTurn 1 [2025-06-10 Tue 18:04]\nUser: moving to york\nAssistant: Nice!"
    )


def test_prompt_hides_secrets() -> None:
    assert "hunter2" not in render_request(request(turn(7, "my password is hunter2!x")))


def test_instructions_come_first_and_do_not_change() -> None:
    llm = ScriptedLLM([reply(), reply()])
    reader = LLMReader(llm)
    reader.read(request(turn(7, "hello")))
    reader.read(request(turn(8, "moving to york")))
    first, second = llm.calls
    assert first[0] == second[0]
    assert first[0].role == "system"


def test_change_numbers_become_targets() -> None:
    asked = request(
        turn(7, "moving to york"), turn(8, "no, hull"), related=[thought(3, "a"), thought(5, "b")]
    )
    first, second = parse_reply(
        reply(
            change(op="replace", target=[2, 9], n=3),
            change(op="replace", turn=2, target=3, n=4, value="Hull"),
        ),
        asked,
    )
    assert (first.action, first.turn, first.targets, first.new_targets) == ("replace", 7, (5,), ())
    assert (second.turn, second.targets, second.new_targets) == (8, (), (0,))
    assert first.fact is not None
    assert first.fact.valid_from == datetime(2025, 6, 13, tzinfo=UTC)


@pytest.mark.parametrize(
    "bad",
    [
        "a string",
        {"op": "rename", "turn": 1},
        change(turn=7),
        change(turn="soon"),
        change(sentence="x" * 10_000),
        change(target={"a": 1}),
    ],
    ids=["no object", "unknown op", "no such turn", "turn in words", "too long", "target no number"],
)
def test_unusable_change_is_dropped_alone(bad: object) -> None:
    (kept,) = parse_reply(reply(bad, change()), request(turn(7, "moving to york")))
    assert kept.quote == "moving to york"


def test_missing_fields_and_unknown_kind_do_not_drop_a_change() -> None:
    lean = {"op": "end", "turn": 1, "quote": "sold it", "target": 1, "when": "2025-05"}
    asked = request(turn(7, "sold it"), related=[thought(3, "a")])
    ended, odd = parse_reply(reply(lean, change(kind="diary", value=25)), asked)
    assert (ended.targets, ended.ended_at) == ((3,), datetime(2025, 5, 1, tzinfo=UTC))
    assert odd.fact is not None
    assert (odd.fact.kind, odd.fact.value) == ("profile", "25")


@pytest.mark.parametrize("text", ["no JSON", "{}", '{"changes": 3}'])
def test_reply_without_changes_is_refused(text: str) -> None:
    with pytest.raises(BadReply):
        parse_reply(text, request(turn(7, "hello")))


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2025-06-30", datetime(2025, 6, 30, tzinfo=UTC), datetime(2025, 7, 1, tzinfo=UTC)),
        ("2025-12", datetime(2025, 12, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)),
        ("2024", datetime(2024, 1, 1, tzinfo=UTC), datetime(2025, 1, 1, tzinfo=UTC)),
        ("2025-02-30", None, None),
        ("soon", None, None),
        ("", None, None),
    ],
)
def test_dates(text: str, start: datetime | None, end: datetime | None) -> None:
    assert parse_date(text) == start
    assert parse_date(text, end=True) == end


def test_model_thinks_and_is_recorded_with_its_prompt(open_memory: OpenMemory) -> None:
    llm = ScriptedLLM([reply(change())], name="able")
    memory = open_memory(llm=llm, think="llm")
    memory.remember("moving to york")
    result = memory.post_think()
    (action,) = result.actions
    assert action.actor.startswith("able read@")
    assert result.usage.llm_calls == 1
    assert [held.sentence for held in memory.thoughts()] == ["The user moves to York on 2025-06-13."]


def test_backlog_needs_one_call_for_several_turns(open_memory: OpenMemory) -> None:
    llm = ScriptedLLM([reply(change(turn=2)), reply()], name="able")
    memory = open_memory(llm=llm, think="llm")
    for number in range(8):
        memory.remember("moving to york" if number == 1 else f"hello {number}")
    memory.remember("bye")
    result = memory.post_think()
    assert (result.turns, result.usage.llm_calls) == (9, 2)
    assert [held.last_turn for held in memory.thoughts()] == [2]
