"""The reply parser: supported thoughts with their sources, or BadReply."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkback.errors import BadReply
from thinkback.think.prompt_lines import statement_lines
from thinkback.think.reply_parser import MAX_REPLY_CHARACTERS, parse_reply
from thinkback.types import ThoughtDraft, Turn

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)


def turn(query: str, response: str = "") -> Turn:
    return Turn(id=9, query=query, response=response, at=AT, recorded_at=AT, asker="lee", answerer="bot")


TURN = turn(
    "My sister Anna moved to Berlin last month. I don't like flying. Do I live in Rome?",
    "Berlin is lovely! I recommend the Pergamon museum.",
)
LINES = statement_lines(TURN)
"""Lines 1 and 2 are the user's, 3 and 4 the assistant's; the question has no number."""


def thought(**changes: Any) -> dict[str, Any]:
    plain = {"line": 1, "subject": "Anna", "relation": "lives in", "objects": ["Berlin"], "kind": "profile"}
    return plain | changes


def read(*thoughts: dict[str, Any], of: Turn = TURN) -> list[ThoughtDraft]:
    return parse_reply(json.dumps({"thoughts": list(thoughts)}), of, statement_lines(of))


def test_line_gives_span_speaker_and_time() -> None:
    (draft,) = read(thought())
    (source,) = draft.sources
    assert (source.turn, source.speaker, source.side) == (9, "lee", "query")
    assert TURN.query[source.start : source.end] == "My sister Anna moved to Berlin last month."
    assert (draft.valid_from, draft.valid_to) == (datetime(2024, 4, 1, tzinfo=UTC), None)
    assert draft.sentence == "Anna lives in Berlin (since 2024-04)."


def test_assistant_is_the_speaker_of_its_recommendation() -> None:
    (draft,) = read(thought(line=4, subject="museum", relation="recommended", objects=["Pergamon"]))
    assert (draft.sources[0].speaker, draft.sources[0].side, draft.kind) == ("bot", "response", "dialogue")


def test_denials_are_read_from_the_relation() -> None:
    (draft,) = read(thought(line=2, subject="I", relation="does not like", objects=["flying"]))
    assert (draft.subject, draft.relation, draft.negated) == ("user", "likes", True)
    assert draft.sentence == "The user does not like flying."


def test_time_belongs_to_the_event_if_a_line_has_several_thoughts() -> None:
    said = turn("My sister Anna is a nurse and went to Lyon yesterday.")
    state, event = read(
        thought(relation="works as", objects=["nurse"]),
        thought(relation="went to", objects=["Lyon"]),
        of=said,
    )
    assert state.valid_from is None
    assert event.valid_from == datetime(2024, 5, 14, tzinfo=UTC)
    assert event.sentence == "Anna went to Lyon (2024-05-14)."


@pytest.mark.parametrize(
    "unsupported",
    [
        thought(objects=["Madrid"]),
        thought(objects=["Berlin Alexanderplatz"]),
        thought(objects=["flying"]),  # another line says it
        thought(subject="Beth"),
        thought(subject="user", relation="has sister", objects=["Rome"]),
        thought(line=5),
        thought(line=0),
        thought(line=3, relation="lives in", subject="Anna"),  # the assistant knows nobody's data
        thought(line=4, subject="user", relation="recommended", objects=["museum"]),
        thought(subject=" ", objects=["Berlin"]),
        thought(objects=["the"]),
        thought(subject="安娜", relation="住在", objects=["柏林"]),
    ],
)
def test_unsupported_thought_is_dropped_or_raises_if_alone(
    unsupported: dict[str, Any],
) -> None:
    with pytest.raises(BadReply, match="turn 9: it supports none of 1 thoughts"):
        read(unsupported)
    flying = thought(line=2, subject="user", relation="does not like", objects=["flying"])
    assert [d.relation for d in read(unsupported, flying)] == ["likes"]


@pytest.mark.parametrize("query", ["He's also from 温哥华, 说那边老下雨。", "她是温哥华人，爱下雨天。"])
def test_statements_about_others_are_not_about_the_user(query: str) -> None:
    with pytest.raises(BadReply, match="does not speak of the user"):
        read(thought(subject="user", relation="comes from", objects=["温哥华"]), of=turn(query))


@pytest.mark.parametrize(
    ("query", "relation", "item", "own"),
    [
        ("that was fast, my legs are jelly", "legs", "jelly", False),
        ("our boiler is making a clunk noise", "is making", "a clunk noise", False),
        ("My little son is allergic to nuts.", "is allergic to", "nuts", False),
        ("we sold the car and she bought a bike", "bought", "a bike", False),
        ("I cleaned the car and sold it to Bob", "sold", "Bob", True),
        ("the good news: I am allergic to nuts no more", "am allergic to", "nuts", True),
    ],
)
def test_actions_of_others_are_not_the_users(query: str, relation: str, item: str, own: bool) -> None:
    told = thought(subject="user", relation=relation, objects=[item])
    if own:
        assert len(read(told, of=turn(query))) == 1
    else:
        with pytest.raises(BadReply, match="it is not the user who"):
            read(told, of=turn(query))


@pytest.mark.parametrize(
    ("query", "subject", "relation", "item", "kept"),
    [
        ("ran my first half marathon in the rain", "user", "ran", "first half marathon", True),
        ("Our gnome Gustav guards the old pond.", "Gustav", "guards", "the pond", True),
        ("The project is written in Rust.", "project", "is written in", "Rust", True),
        ("昨天跟老伴去公园跳了广场舞，很累。", "user", "跳了", "广场舞", True),
        ("我从小跟外婆讲闽南话，做梦都是闽南话。", "user", "讲", "闽南话", True),
        ("我从小跟外婆讲闽南话，做梦都是闽南话。", "user", "做梦", "闽南话", False),
        ("换了新键盘，打字声音像下雨。", "user", "换了", "新键盘", True),
        ("换了新键盘，打字声音像下雨。", "user", "换了新键盘", "打字声音", False),
        ("Our gnome Gustav guards the pond.", "Gustav", "protects", "the pond", False),  # nobody said so
        ("My flight to Lisbon leaves early.", "user", "leaves", "Lisbon", False),  # the wrong way round
        ("well who knows, anyway Terminal 2", "user", "well who knows", "anyway", False),
        ("well who knows, anyway Terminal 2", "user", "Terminal 2", "Terminal 2", False),
        ("my sense of smell is back", "user", "sense of smell", "smell", False),
        ("slept on the floor with a cold", "user", "with", "cold", False),
        ("it's costing me a fortune", "user", "costing", "fortune", False),
        ("I broke his record, most of saturday", "user", "broke his record", "most of saturday", False),
        ("I did it, a new personal best", "user", "did it", "personal best", False),
        ("bills not included, plain robbery for a box room", "user", "bills not included", "box room", False),
        ("science kit under 30 dollars then", "user", "bought", "science kit", False),  # known, but not said
        ("finally bought the science kit", "user", "bought", "science kit", True),
    ],
)
def test_unknown_relation_must_be_a_verb_of_the_line(
    query: str, subject: str, relation: str, item: str, kept: bool
) -> None:
    """A thought with another relation is dropped, but it does not make the reply a BadReply."""
    told = thought(subject=subject, relation=relation, objects=[item], kind="event")
    assert [draft.objects for draft in read(told, of=turn(query))] == ([(item,)] if kept else [])


def test_sentence_uses_the_language_of_the_turn() -> None:
    assert read(thought(relation="住在"))[0].sentence == "Anna lives in Berlin (since 2024-04)."
    (draft,) = read(
        thought(subject="user", relation="is allergic to", objects=["花生"]),
        of=turn("我吃花生会过敏，很难受。"),
    )
    assert draft.sentence == "用户对花生过敏。"


def test_has_favourite_is_the_favourite_relation() -> None:
    told = thought(subject="user", relation="has favorite color", objects=["teal"])
    (draft,) = read(told, of=turn("My favorite color has been teal since forever"))
    assert (draft.relation, draft.sentence) == ("favourite colour", "The user's favourite colour is teal.")


def test_preposition_is_taken_from_the_line() -> None:
    told = thought(subject="user", relation="went", objects=["Lake Bled"], kind="event")
    (draft,) = read(told, of=turn("we went to Lake Bled with the kids"))
    assert (draft.relation, draft.sentence) == ("went to", "The user went to Lake Bled.")


def test_unsupported_objects_are_dropped_one_by_one_and_repetitions_collapse() -> None:
    drafts = read(
        thought(objects=["Berlin", "Madrid", "Berlin."]),
        thought(),
        thought(relation="moved to", kind="event"),
    )
    assert [(d.relation, d.objects) for d in drafts] == [("lives in", ("Berlin",))]


def test_fenced_reply_and_empty_list_are_accepted() -> None:
    body = json.dumps({"thoughts": [thought()]})
    assert len(parse_reply(f"```json\n{body}\n```", TURN, LINES)) == 1
    assert parse_reply('{"thoughts": []}', TURN, LINES) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not json",
        "[]",
        "{}",
        "NaN",
        '{"thoughts": NaN}',
        '{"thoughts": [{}]}',
        '{"thoughts": [',
        "[" * 50_000,
        '{"thoughts":' * 5_000,
        '{"thoughts": [' + "[" * 20_000 + "]" * 20_000 + "]}",
        "x" * (MAX_REPLY_CHARACTERS + 1),
        "x" * (10 << 20),
        json.dumps({"thoughts": [thought(kind="rumour")]}),
        json.dumps({"thoughts": [thought(line="one")]}),
        json.dumps({"thoughts": [thought(line=float("nan"))]}),
        json.dumps({"thoughts": [thought(line=10**400)]}),
        json.dumps({"thoughts": [thought(objects=[])]}),
        json.dumps({"thoughts": [thought(objects="Berlin")]}),
        json.dumps({"thoughts": [thought(relation="x" * 121)]}),
        json.dumps({"thoughts": [thought()] * 33}),
        '{"thoughts": "\ud800"}',
        '{"thoughts": [{"subject": "\\ud800"}]}',
        '{"thoughts": [], "thoughts": 1}',  # of twins the last counts
    ],
    ids=lambda text: text[:40],
)
def test_invalid_reply_raises_bad_reply_with_the_turn(text: str) -> None:
    with pytest.raises(BadReply, match="turn 9"):
        parse_reply(text, TURN, LINES)


FIELDS = st.fixed_dictionaries(
    {
        "line": st.integers(-1, 4) | st.floats() | st.none(),
        "subject": st.text(max_size=20) | st.sampled_from(["user", "Anna", "I"]),
        "relation": st.text(max_size=20) | st.sampled_from(["likes", "hates", "不喜欢", "went to"]),
        "objects": st.lists(st.text(max_size=10) | st.just("Berlin"), max_size=4),
        "kind": st.sampled_from(["profile", "event", "knowledge", "x"]),
    }
)
SOUND = st.builds(
    thought,
    line=st.integers(0, 3),
    subject=st.sampled_from(["user", "Anna", "I", "Berlin"]),
    relation=st.sampled_from(["likes", "hates", "不喜欢", "went to", "lives in"])
    | st.text("likes ", max_size=8),
    objects=st.lists(st.sampled_from(["Berlin", "Anna", "tea", " "]), min_size=1, max_size=3),
)
NESTED = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=12,
)
REPLIES = (
    st.text(max_size=60)
    | st.builds(lambda ts: json.dumps({"thoughts": ts}), st.lists(FIELDS | SOUND, max_size=3))
    | st.builds(lambda value: json.dumps({"thoughts": value}), NESTED)
    | st.builds(lambda value, at: json.dumps(value)[:at], NESTED, st.integers(0, 60))
)


@given(REPLIES, st.text(max_size=40))
@settings(max_examples=500, deadline=None)
def test_any_input_gives_drafts_or_bad_reply(reply: str, words: str) -> None:
    said = turn(words + " Anna likes Berlin. I went to Berlin yesterday", words)
    try:
        drafts = parse_reply(reply, said, statement_lines(said))
    except BadReply:
        return
    for draft in drafts:
        (source,) = draft.sources
        assert 0 <= source.start < source.end <= len(said.text_of(source.side))
        assert draft.objects
        assert draft.sentence
