"""Values <-> JSON: what goes out comes back equal, and what is not ours is refused."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.errors import InvalidInput
from thinkback.schemas import from_stored_json, to_stored_json
from thinkback.types import KINDS, Action, ConsistencyCheck, Entity, RecalledItem, Source, Thought, Turn

text = st.text(max_size=20)
ids = st.integers(1, 2**53)
times = st.datetimes(timezones=st.just(UTC))
maybe_times = st.none() | times
scores = st.floats(allow_nan=False, allow_infinity=False, width=32)
used = st.builds(RecalledItem, st.sampled_from(("turn", "thought")), ids, scores, scores, scores, ids)
checks = st.builds(
    ConsistencyCheck,
    thought=ids,
    way=st.sampled_from(("triple", "embedding")),
    words=text,
    reason=text,
    score=scores,
    threshold=scores,
    draft=ids,
    outcome=st.sampled_from(("regenerated", "masked", "warned")),
)
turns = st.builds(
    Turn,
    id=ids,
    query=text,
    response=text,
    at=times,
    session=text,
    key=st.none() | text,
    asker=text,
    answerer=text,
    recalled=st.lists(used, max_size=3).map(tuple),
    checks=st.lists(checks, max_size=2).map(tuple),
    recorded_at=times,
    thought_at=maybe_times,
)
sources = st.builds(Source, ids, text, st.sampled_from(("query", "response")), ids, ids)
thoughts = st.builds(
    Thought,
    id=ids,
    subject=text,
    relation=text,
    objects=st.lists(text, max_size=3).map(tuple),
    sentence=text,
    kind=st.sampled_from(KINDS),
    sources=st.lists(sources, max_size=3).map(tuple),
    negated=st.booleans(),
    valid_from=maybe_times,
    valid_to=maybe_times,
    recorded_at=times,
    retired_at=maybe_times,
)
actions = st.builds(
    Action,
    id=ids,
    action=st.sampled_from(("insert", "merge", "forget", "supersede", "end", "undo")),
    reason=text,
    actor=text,
    at=times,
    turn=st.none() | ids,
    undoes=st.none() | ids,
    undone_by=st.none() | ids,
    before=st.lists(thoughts, max_size=2).map(tuple),
    after=st.lists(thoughts, max_size=2).map(tuple),
)
entities = st.builds(Entity, ids, text, st.lists(text, max_size=3).map(tuple))


@given(turns)
def test_turns_come_back_equal(turn: Turn) -> None:
    assert from_stored_json(Turn, json.loads(json.dumps(to_stored_json(turn)))) == turn


@given(thoughts)
def test_thoughts_come_back_equal(thought: Thought) -> None:
    assert from_stored_json(Thought, json.loads(json.dumps(to_stored_json(thought)))) == thought


@given(actions)
def test_actions_come_back_equal(action: Action) -> None:
    assert from_stored_json(Action, json.loads(json.dumps(to_stored_json(action)))) == action


@given(entities)
def test_entities_come_back_equal(entity: Entity) -> None:
    assert from_stored_json(Entity, json.loads(json.dumps(to_stored_json(entity)))) == entity


AT = datetime(2024, 5, 1, tzinfo=UTC)
THOUGHT = Thought(
    id=1, subject="a", relation="b", objects=(), sentence="", kind="event", sources=(), recorded_at=AT
)
VALUES: list[tuple[type, dict[str, Any], str]] = [
    (Turn, to_stored_json(Turn(id=1, query="a", at=AT, recorded_at=AT)), "turn"),
    (Thought, to_stored_json(THOUGHT), "thought"),
    (
        Action,
        to_stored_json(Action(id=1, action="insert", reason="", actor="", at=AT, after=(THOUGHT,))),
        "action",
    ),
    (Entity, to_stored_json(Entity(1, "a", ("b",))), "entity"),
]


@pytest.mark.parametrize(("cls", "data", "name"), VALUES)
def test_what_lacks_its_id_is_refused_by_its_kind(cls: type, data: dict[str, Any], name: str) -> None:
    for bad in ({**data, "id": "one"}, {key: value for key, value in data.items() if key != "id"}):
        with pytest.raises(InvalidInput, match=f"not an? {name}"):
            from_stored_json(cls, bad)


@pytest.mark.parametrize("bad", [5, "yesterday", None])
def test_a_time_that_is_none_is_refused(bad: object) -> None:
    for cls, data, name in VALUES[:3]:
        field = "recorded_at" if "recorded_at" in data else "at"
        with pytest.raises(InvalidInput, match=f"not an? {name}"):
            from_stored_json(cls, {**data, field: bad})


def test_a_source_of_the_wrong_length_is_refused() -> None:
    with pytest.raises(InvalidInput, match="not a thought"):
        from_stored_json(Thought, {**to_stored_json(THOUGHT), "sources": [[1, "a"]]})
