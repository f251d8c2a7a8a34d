"""The strict parser: supported thoughts with their sources, or BadReply, and nothing else."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkback.errors import BadReply
from thinkback.think.parse import LONGEST_REPLY, parse
from thinkback.types import Draft, Turn

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)
TURN = Turn(
    id=9,
    query="My sister Anna moved to Berlin last month. I don't like flying. Do I live in Rome?",
    response="Berlin is lovely! I recommend the Pergamon museum.",
    at=AT,
    recorded_at=AT,
    asker="lee",
    answerer="bot",
)


def thought(**changes: Any) -> dict[str, Any]:
    plain = {
        "subject": "Anna", "relation": "lives in", "objects": ["Berlin"], "sentence": "Anna lives in Berlin.",
        "kind": "profile", "speaker": "user", "negated": False, "quote": "", "when": "",
    }  # fmt: skip
    return plain | changes


def read(*thoughts: dict[str, Any]) -> list[Draft]:
    return parse(json.dumps({"thoughts": list(thoughts)}), TURN)


def quoted(draft: Draft) -> str:
    (source,) = draft.sources
    return TURN.said(source.side)[source.start : source.end]


def test_a_quote_gives_the_span_and_the_speaker() -> None:
    (draft,) = read(thought(quote="Anna moved to Berlin", when="last month"))
    assert quoted(draft) == "Anna moved to Berlin"
    assert (draft.sources[0].turn, draft.sources[0].speaker, draft.sources[0].side) == (9, "lee", "query")
    assert (draft.valid_from, draft.valid_to) == (datetime(2024, 4, 1, tzinfo=UTC), None)


def test_a_quote_in_another_case_or_by_its_words() -> None:
    assert quoted(read(thought(quote="anna MOVED to berlin"))[0]) == "Anna moved to Berlin"
    assert (
        quoted(read(thought(quote="sister Anna moves Berlin"))[0])
        == "My sister Anna moved to Berlin last month."
    )
    assert quoted(read(thought())[0]) == "My sister Anna moved to Berlin last month."


def test_the_side_it_was_found_on_decides_who_said_it() -> None:
    (draft,) = read(thought(subject="museum", relation="recommended", objects=["Pergamon"], kind="dialogue",
                            quote="I recommend the Pergamon museum"))  # fmt: skip
    assert (draft.sources[0].speaker, draft.sources[0].side) == ("bot", "response")


def test_denials_are_read_from_the_relation_or_the_flag() -> None:
    (flag,) = read(thought(subject="I", relation="likes", objects=["flying"], negated=True))
    (word,) = read(thought(subject="user", relation="does not like", objects=["flying"]))
    assert (flag.subject, flag.relation, flag.negated) == (word.subject, word.relation, word.negated)
    assert (flag.subject, flag.relation, flag.negated) == ("user", "likes", True)


@pytest.mark.parametrize(
    "unsupported",
    [
        thought(objects=["Madrid"]),
        thought(subject="Beth"),
        thought(subject="user", relation="lives in", objects=["Rome"], quote="Do I live in Rome?"),
        thought(
            subject="user",
            relation="likes",
            objects=["museum"],
            quote="the Pergamon museum",
            speaker="assistant",
        ),
        thought(subject=" ", objects=["Berlin"]),
        thought(objects=["the"]),
        thought(objects=["Madrid"], quote="Anna moved to Berlin"),
    ],
)
def test_what_the_turn_does_not_support_is_dropped(unsupported: dict[str, Any]) -> None:
    assert read(unsupported) == []


def test_unsupported_objects_are_dropped_one_by_one_and_twins_collapse() -> None:
    drafts = read(thought(objects=["Berlin", "Madrid", "Berlin"]), thought(objects=["Berlin"]))
    assert [d.objects for d in drafts] == [("Berlin",)]


def test_a_fenced_reply_is_read() -> None:
    body = json.dumps({"thoughts": [thought()]})
    assert len(parse(f"```json\n{body}\n```", TURN)) == 1
    assert parse('{"thoughts": []}', TURN) == []


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not json",
        "[]",
        "{}",
        '{"thoughts": [{}]}',
        '{"thoughts": [',
        "[" * 50_000,
        "x" * (LONGEST_REPLY + 1),
        json.dumps({"thoughts": [thought(kind="rumour")]}),
        json.dumps({"thoughts": [thought(speaker="system")]}),
        json.dumps({"thoughts": [thought(objects=[])]}),
        json.dumps({"thoughts": [thought(sentence="x" * 601)]}),
        json.dumps({"thoughts": [thought()] * 33}),
        '{"thoughts": "\ud800"}',
        '{"thoughts": [{"subject": "\\ud800"}]}',
    ],
)
def test_anything_else_is_a_bad_reply_that_names_the_turn(text: str) -> None:
    with pytest.raises(BadReply, match="turn 9"):
        parse(text, TURN)


FIELDS = st.fixed_dictionaries(
    {
        "subject": st.text(max_size=20) | st.sampled_from(["user", "Anna", "I"]),
        "relation": st.text(max_size=20) | st.sampled_from(["likes", "hates", "不喜欢"]),
        "objects": st.lists(st.text(max_size=10) | st.just("Berlin"), max_size=4),
        "sentence": st.text(max_size=30),
        "kind": st.sampled_from(["profile", "event", "knowledge", "x"]),
        "speaker": st.sampled_from(["user", "assistant"]),
        "negated": st.booleans() | st.none(),
        "quote": st.text(max_size=20) | st.just("Anna"),
        "when": st.text(max_size=10) | st.sampled_from(["yesterday", "昨天", "in 2019", "99999年"]),
    }
)
REPLIES = st.text(max_size=60) | st.builds(
    lambda ts: json.dumps({"thoughts": ts}), st.lists(FIELDS, max_size=3)
)


@given(REPLIES, st.text(max_size=40))
@settings(max_examples=400, deadline=None)
def test_only_drafts_or_bad_reply_come_out(reply: str, query: str) -> None:
    turn = Turn(id=1, query=query + " Anna likes Berlin", response=query, at=AT, recorded_at=AT)
    try:
        drafts = parse(reply, turn)
    except BadReply:
        return
    for draft in drafts:
        (source,) = draft.sources
        assert 0 <= source.start < source.end <= len(turn.said(source.side))
        assert draft.objects
        assert draft.sentence
