"""Parsing of chat requests: query, session, and what the client sends itself."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.language.writing_systems import clean_text
from thinkback.server.proxy.exchange import ChatQuery, exclude_sent, parse_chat, parse_completion
from thinkback.server.proxy.inject import parse_body
from thinkback.types import Candidate, Score, Source, Thought, Turn

NOW = datetime(2024, 5, 1, tzinfo=UTC)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["role", "content", "type", "text", "user"]), inner, max_size=3)
    ),
    max_leaves=8,
)


def asked(*messages: Any, **more: Any) -> ChatQuery:
    body = parse_body(json.dumps({"messages": messages, **more}).encode())
    assert body is not None
    found = parse_chat(body)
    assert found is not None
    return found


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


def assistant(content: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": content}


def test_query_is_last_user_message() -> None:
    talk = asked(
        {"role": "system", "content": "Be brief."}, user("I am Ann."), assistant("Hi!"), user("Who am I?")
    )
    assert talk.text == "Who am I?"
    assert talk.texts == ("Be brief.", "I am Ann.", "Hi!", "Who am I?")


def test_text_parts_are_joined_and_images_ignored() -> None:
    picture = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    parts = [{"type": "text", "text": "What is"}, picture, {"type": "text", "text": "this?"}]
    assert asked(user(parts)).text == "What is\nthis?"
    assert asked(user([picture])).text == ""


def test_query_after_tool_calls_is_last_user_message() -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}
    first = asked(user("What is the weather?"))
    then = asked(user("What is the weather?"), call, {"role": "tool", "content": "rain", "tool_call_id": "1"})
    assert then.text == first.text
    assert (then.digest, then.session) == (first.digest, first.session)


def test_session_is_derived_from_first_user_message() -> None:
    first = asked({"role": "system", "content": "It is 12:01."}, user("I am Ann."))
    later = asked(
        {"role": "system", "content": "It is 12:02."}, user("I am Ann."), assistant("Hi"), user("Bye")
    )
    other = asked(user("I am Bob."))
    assert first.session == later.session != other.session
    assert first.digest != later.digest


@pytest.mark.parametrize(
    ("choice", "forced"),
    [(None, False), ("auto", False), ("none", False), ("required", True), ({"type": "function"}, True)],
)
def test_forced_tool(choice: object, forced: bool) -> None:
    assert asked(user("x"), tool_choice=choice).forced_tool is forced


@given(VALUES, VALUES)
def test_parsing_never_fails(messages: Any, prompt: Any) -> None:
    body = parse_body(json.dumps({"messages": messages, "prompt": prompt, "user": messages}).encode())
    assert body is not None
    found = parse_chat(body)
    assert (found is None) == (not isinstance(messages, list))
    assert found is None or found.session.isprintable()
    bare = parse_completion(body)
    assert bare is None or bare.text == clean_text(prompt if isinstance(prompt, str) else prompt[0])


def turn(id_: int, query: str, response: str = "") -> Turn:
    return Turn(id=id_, query=query, response=response, at=NOW, recorded_at=NOW)


def recalled(memory: Turn | Thought) -> Candidate:
    told = {"turn": memory} if isinstance(memory, Turn) else {"thought": memory}
    text = memory.text if isinstance(memory, Turn) else memory.sentence
    return Candidate(ref=memory.ref, text=text, score=Score(1, 1, 1), group=0, reason="", **told)


def thought(sentence: str, *turns: int) -> Thought:
    sources = tuple(Source(number, "user", "query", 0, 1) for number in turns)
    triple = {"subject": "user", "relation": "lives in", "objects": ("Lyon",)}
    return Thought(id=1, sentence=sentence, kind="profile", sources=sources, recorded_at=NOW, **triple)  # type: ignore[arg-type]


def test_memories_sent_by_client_are_excluded() -> None:
    talk = asked(user("I moved to Lyon."), assistant("How nice!"), user("Where do I live?"))
    sent, half, other = (
        turn(1, "I moved to Lyon.", "How nice!"),
        turn(2, "Where do I live?", "In Lyon."),
        turn(3, "x"),
    )
    turns = {each.id: each for each in (sent, half, other)}
    memories = [
        recalled(sent),
        recalled(half),  # the client sends the query but not the answer
        recalled(other),
        recalled(thought("The user lives in Lyon.", 1)),
        recalled(thought("The user lives in Lyon.", 1, 3)),
        recalled(thought("I moved to Lyon", 3)),
        recalled(thought("The user lives in Lyon.", 9)),
    ]
    assert exclude_sent(talk, memories, turns) == [memories[1], memories[2], memories[4], memories[6]]
