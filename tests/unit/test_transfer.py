"""Export and import: round trips, turns of other systems, and errors that write nothing."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.conftest import FakeClock, OpenMemory

from thinkback.errors import Conflict, InvalidInput, NotFound
from thinkback.memory import Memory
from thinkback.storage import connect
from thinkback.transfer import export_space, pair_messages

TOLD = (
    "I live in Lyon.",
    "I live in Oslo.",
    "I like tea.",
    "I like coffee.",
    "I do not like tea.",
    "My sister Anna is a doctor.",
    "我住在北京。",
    "我喜欢喝茶。",
    "Hello \u2028 there 🦜 \ud800",
)

Step = tuple[str, int]
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("tell"), st.integers(0, len(TOLD) - 1)),
        st.tuples(st.sampled_from(("think", "forget", "undo", "chat", "erase")), st.integers(1, 8)),
    ),
    max_size=25,
)


ACTS: dict[str, Callable[[Memory, int], object]] = {
    "tell": lambda memory, n: memory.remember(TOLD[n], "ok", session=f"s{n % 2}"),
    "think": lambda memory, n: memory.post_think(limit=n),
    "forget": lambda memory, n: memory.forget(n, "no more"),
    "undo": lambda memory, n: memory.undo(n),
    "chat": lambda memory, n: memory.chat("Where do I live?"),
    "erase": lambda memory, n: memory.erase(turn=n) if n < 3 else None,
}


def live(memory: Memory, clock: FakeClock, steps: list[Step]) -> None:
    """Random changes of a space; rejected ones are ignored."""
    for name, number in steps:
        clock.advance(60)
        with suppress(NotFound, Conflict):
            ACTS[name](memory, number)


@settings(max_examples=40, deadline=None)
@given(STEPS)
def test_export_round_trip(steps: list[Step]) -> None:
    clock = FakeClock()
    with (
        Memory.open(":memory:", embedder="hashing", background=False, clock=clock) as memory,
        Memory.open(":memory:", embedder="hashing", background=False, clock=clock) as copy,
    ):
        live(memory, clock, steps)
        lines = list(memory.export())
        assert all("\n" not in line for line in lines)
        assert copy.import_(lines) == len(memory.turns())
        assert list(copy.export()) == lines
        assert copy.thoughts(current=False) == memory.thoughts(current=False)
        assert copy.stats().pending == memory.stats().pending
        for query in ("Where do I live?", "我住在哪里？", "tea"):
            assert [i.ref for i in copy.recall(query)] == [i.ref for i in memory.recall(query)]


def test_import_into_another_user_but_not_into_an_existing_one(memory: Memory) -> None:
    memory.remember("I live in Lyon.")
    lines = list(memory.export())
    other = memory.for_user("bob")
    assert other.import_("\n".join(lines)) == 1
    (found,) = other.recall("Where do I live?")
    assert found.turn is not None
    assert found.turn.query == "I live in Lyon."
    with pytest.raises(Conflict, match="'bob' already has memories"):
        other.import_(lines)


def test_imported_space_continues(memory: Memory) -> None:
    memory.remember("I live in Lyon.")
    memory.post_think()
    memory.remember("I live in Oslo.")
    other = memory.for_user("bob")
    other.import_(memory.export())
    assert other.post_think().turns == 1
    assert [(t.id, t.objects) for t in other.thoughts()] == [(2, ("Oslo",))]
    assert other.remember("next").id == 3


def test_import_of_other_turns(memory: Memory, clock: FakeClock) -> None:
    lines = [
        {"query": "I live in Lyon.", "response": "Nice.", "at": "2020-01-02T03:04:05", "key": "k"},
        {"query": "No answer."},
        {"response": "Only an answer.", "query": None, "at": "2020-01-02T03:04:05+02:00"},
        {"messages": [{"role": "user", "content": "One."}, {"role": "assistant", "content": "Two."},
                      {"role": "user", "content": "Three."}], "key": "m"},
    ]  # fmt: skip
    texts = [json.dumps(line) for line in lines]
    done: list[tuple[int, int]] = []
    assert memory.import_(["", *texts, "\n"], progress=lambda *step: done.append(step)) == 5
    assert done == [(5, 5)]
    turns = memory.turns()
    assert [(turn.query, turn.response) for turn in turns] == [
        ("I live in Lyon.", "Nice."),
        ("No answer.", ""),
        ("", "Only an answer."),
        ("One.", "Two."),
        ("Three.", ""),
    ]
    assert [turn.at for turn in turns[:3]] == [
        datetime(2020, 1, 2, 3, 4, 5, tzinfo=UTC), clock.now, datetime(2020, 1, 2, 1, 4, 5, tzinfo=UTC),
    ]  # fmt: skip
    assert [turn.key for turn in turns] == ["k", None, None, "m#0", "m#1"]
    assert memory.import_([texts[0], texts[3]]) == 3
    assert len(memory.turns()) == 5


GOOD = '{"query": "I am fine."}'
HEAD = ['{"type":"thinkback","format":1}', '{"type":"space","user":"ann"}']
TURN = (
    '{"type":"turn","id":1,"session":"s","query":"q","response":"","at":"2024-05-01T12:00:00+00:00",'
    '"recorded_at":"2024-05-01T12:00:00+00:00","thought_at":null,"key":null,"asker":"user",'
    '"answerer":"assistant","recalled":[]}'
)


@pytest.mark.parametrize(
    ("lines", "complaint"),
    [
        ([GOOD, "not json"], "line 2: "),
        ([GOOD, "[1]"], "line 2: expected a JSON object"),
        ([GOOD, "", '{"text": "x"}'], 'line 3: expected "query"'),
        ([GOOD, '{"query": " "}'], "line 2: a turn needs"),
        ([GOOD, '{"query": {"a": 1}}'], "line 2: query must be text, not dict"),
        ([GOOD, '{"query": "x", "at": "yesterday"}'], "line 2: Invalid isoformat"),
        ([GOOD, '{"query": "x", "at": "0001-01-01T00:00:00+05:00"}'], "line 2: "),
        ([GOOD, '{"query": "x", "session": 5}'], "line 2: session must be text"),
        ([GOOD, '{"query": "x", "key": 5}'], "line 2: key must be text"),
        ([GOOD, '{"messages": "x"}'], "line 2: messages must be a list"),
        ([GOOD, '{"messages": [{"role": "bot", "content": "x"}]}'], "line 2: unknown role 'bot'"),
        ([GOOD, "[" * 100_000], "line 2: "),
        ([GOOD, *HEAD], "line 3: the file mixes an export"),
        ([*HEAD, TURN, GOOD], "line 4: the file mixes an export"),
        ([TURN], "line 1: a turn before its space"),
        ([*HEAD, HEAD[1]], "line 3: the file has several spaces"),
        (['{"type":"thinkback","format":99}'], "line 1: unknown export format 99: upgrade"),
        (['{"type":"space"}'], "line 1: the space has no user"),
        ([*HEAD, '{"type":"turn","id":1}'], "line 3: this is not a turn"),
        ([*HEAD, '{"type":"action","id":1}'], "line 3: this is not an action"),
        ([*HEAD, '{"type":"entity","id":"x"}'], "line 3: this is not an entity"),
        ([*HEAD, TURN, TURN], "line 4: turn 1 .* duplicated"),
        ([*HEAD, TURN.replace('"id":1', '"id":0')], "line 3: turn 0 is out of range"),
        ([*HEAD, TURN.replace("+00:00", "", 1)], "line 3: "),
        ([*HEAD, TURN.replace('"q"', '"\\ud800"')], "line 3: "),
        ([*HEAD, TURN.replace('"session":"s"', '"session":"a\\u0000"')], "line 3: session='a"),
        ([*HEAD, TURN.replace('"session":"s"', '"session":"a\\ufffd"')], "line 3: session='a"),
        ([*HEAD, TURN.replace('"key":null', '"key":" k"')], "line 3: key=' k'"),
    ],
)
def test_invalid_line_is_named_and_nothing_is_written(
    memory: Memory, lines: list[str], complaint: str
) -> None:
    with pytest.raises(InvalidInput, match=complaint):
        memory.import_(lines)
    assert memory.store.users() == []


def test_key_conflict_rolls_back_the_import(memory: Memory) -> None:
    memory.remember("mine", key="k")
    lines = [json.dumps({"query": f"line {number}"}) for number in range(600)]
    with pytest.raises(Conflict, match="'k'"):
        memory.import_([*lines, '{"query": "other", "key": "k"}'])
    assert [turn.query for turn in memory.turns()] == ["mine"]


def test_export_of_an_unknown_user_is_empty(memory: Memory) -> None:
    assert [json.loads(line)["type"] for line in memory.export()] == ["thinkback", "space"]
    assert memory.store.users() == []


def test_long_history_is_exported_in_order(memory: Memory) -> None:
    memory.remember_messages(
        [{"role": role, "content": f"{n}"} for n in range(1100) for role in ("user", "assistant")]
    )
    numbers = [json.loads(line)["id"] for line in memory.export() if '"type":"turn"' in line]
    assert numbers == list(range(1, 1101))


def test_export_is_a_consistent_snapshot(open_memory: OpenMemory) -> None:
    """A turn processed between two reads must not be exported as pending next to its thoughts."""
    store = open_memory().store
    memory = open_memory()
    memory.remember("I live in Lyon.")

    class Busy:
        """A store that is changed by others during so many exports, between turns and journal."""

        def __init__(self, times: int) -> None:
            self.times = times
            self.begun = False

        def __getattr__(self, name: str) -> Any:
            self.begun |= name == "stamp"
            if name == "journal" and self.begun and self.times:
                self.times -= 1
                self.begun = False
                memory.remember("I like tea.")
                memory.post_think()
            return getattr(store, name)

    lines = [json.loads(line) for line in export_space(Busy(1), "default")]
    acted = {line["turn"] for line in lines if line["type"] == "action"}
    assert acted == {1, 2}
    assert all(line["thought_at"] for line in lines if line["type"] == "turn")
    with pytest.raises(Conflict, match="keep changing"):
        list(export_space(Busy(1000), "default"))


WORDS = st.text(alphabet="ab \n", max_size=4)
MESSAGES = st.lists(
    st.fixed_dictionaries({"role": st.sampled_from(("user", "assistant", "system")), "content": WORDS}),
    max_size=12,
)


@given(MESSAGES)
def test_pair_messages_keeps_all_text(messages: list[dict[str, str]]) -> None:
    turns = list(pair_messages(messages))
    spoken = [m["content"] for m in messages if m["role"] != "system" and m["content"].strip()]
    assert "\n".join(side for turn in turns for side in turn if side) == "\n".join(spoken)
    assert all(query.strip() or response.strip() for query, response in turns)


def test_export_does_not_depend_on_the_file(open_memory: OpenMemory, tmp_path: Any) -> None:
    with open_memory() as memory:
        memory.remember("I live in Lyon.")
        lines = list(memory.export())
    store = connect(str(tmp_path / "memory.db"))
    assert list(export_space(store, "default")) == lines
    store.close()


SPACE = ['{"type":"thinkback","format":1}', '{"type":"space","user":"ann"}']
SUMMARY = {
    "type": "summary", "session": "s", "version": 0, "turn": 0, "talk": "task", "topic": "", "conclusion": "",
    "needs": [], "constraints": [], "excluded": [], "facts": [], "to_clarify": [], "discussed": [],
}  # fmt: skip
CHANGE = {"type": "summary update", "session": "s", "version": 1, "turn": 1, "actor": "rules",
          "at": "2024-05-01T12:00:00+00:00", "edits": [], "problem": ""}  # fmt: skip


@pytest.mark.parametrize(
    "lines",
    [
        [SUMMARY, SUMMARY],
        [CHANGE, CHANGE],
        [{**SUMMARY, "talk": "chess"}],
        [{**SUMMARY, "needs": None}],
        [{**CHANGE, "edits": [{"field": "needs", "colour": "red"}]}],
        [{**CHANGE, "at": "noon"}],
    ],
)
def test_invalid_summary_is_rejected(lines: list[dict[str, Any]], memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="line"):
        memory.import_([*SPACE, *map(json.dumps, lines)])
    assert memory.store.users() == []


def test_summary_before_its_space_is_rejected(memory: Memory) -> None:
    with pytest.raises(InvalidInput, match="before its space"):
        memory.import_([json.dumps(SUMMARY)])


def space_of(memory: Memory) -> list[dict[str, Any]]:
    memory.remember("I live in Lyon.")
    memory.post_think()
    return [json.loads(line) for line in memory.export()]


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("kind", "turn"),
        ("id", 1 << 63),
        ("sources", [[1, "user", "aside", 0, 3]]),
        ("sources", [[1, "user", "query", "0", 3]]),
        ("sources", [["1", "user", "query", 0, 3]]),
        ("sources", [[1, ["user"], "query", 0, 3]]),
        ("sources", [[1, "user", "query", 0, 1 << 63]]),
    ],
)
def test_thought_with_wrong_types_is_rejected(memory: Memory, field: str, wrong: Any) -> None:
    lines = space_of(memory)
    action = next(line for line in lines if line["type"] == "action")
    action["after"][0][field] = wrong
    with pytest.raises(InvalidInput, match="line"):
        memory.for_user("elsewhere").import_(map(json.dumps, lines))


def test_contradicting_lines_are_rejected(memory: Memory) -> None:
    lines = space_of(memory)
    action = next(line for line in lines if line["type"] == "action")
    again = {**action, "id": action["id"] + 1}  # creates the same thought again
    with pytest.raises(InvalidInput, match="contradict"):
        memory.for_user("elsewhere").import_(map(json.dumps, [*lines, again]))
    assert memory.store.users() == [memory.user]


@pytest.mark.parametrize("score", ["NaN", "Infinity", '"high"', "null"])
def test_score_that_is_not_a_number_is_rejected(memory: Memory, score: str) -> None:
    lines = space_of(memory)
    turn = json.dumps({**next(line for line in lines if line["type"] == "turn"), "recalled": ["USED"]})
    used = turn.replace('"USED"', f'["thought", 1, {score}, 0.5, 0.5, 0]')
    with pytest.raises(InvalidInput, match="line"):
        memory.for_user("elsewhere").import_([*SPACE, used])


def test_metadata_of_turns_is_exported_and_imported(open_memory: OpenMemory) -> None:
    memory = open_memory(user="ann")
    first, second = memory.remember("I live in Lyon."), memory.remember("I like tea.")
    memory.store.set_metadata("ann", [first.id], {"place": "Lyon", "tags": ["家", 2]})
    lines = list(memory.export())
    target = memory.for_user("bob")
    target.import_(lines)
    assert target.store.metadata("bob", [first.id, second.id]) == {
        first.id: {"place": "Lyon", "tags": ["家", 2]}
    }
    assert [line for line in target.export() if '"space"' not in line] == [
        line for line in lines if '"space"' not in line
    ]


def test_metadata_that_is_no_object_is_refused(open_memory: OpenMemory) -> None:
    memory = open_memory(user="ann")
    memory.remember("I live in Lyon.")
    lines = [
        json.dumps({**json.loads(line), "metadata": [1]}) if '"turn"' in line[:16] else line
        for line in memory.export()
    ]
    with pytest.raises(InvalidInput, match="metadata of turn 1"):
        memory.for_user("bob").import_(lines)


def test_summary_updates_newer_than_their_summary_are_refused(open_memory: OpenMemory) -> None:
    with open_memory() as memory:
        memory.remember("I live in Paris.")
        memory.post_think()
        memory.revise_summary(replace(memory.summary(), topic="moving"), "in short")
        lines = [json.loads(line) for line in memory.export()]
    for line in lines:
        if line.get("type") == "summary":
            line["version"] = 1
    with open_memory() as other, pytest.raises(InvalidInput, match="newer than the summary"):
        other.import_([json.dumps(line) for line in lines])
