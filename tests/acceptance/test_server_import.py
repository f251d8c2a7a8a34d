"""Imports of corrupted files: each is refused, or becomes a memory that works."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.acceptance.http_app import AuthenticateAs, Client, open_rest_app, serve_app

from thinkback.memory import Memory

V1 = "/v1/memory"
NDJSON = {"Content-Type": "application/x-ndjson"}
CASES = int(os.environ.get("THINKBACK_SCHEMA_CASES", "40"))
REMOVED = object()
HOSTILE = [
    REMOVED, None, True, -1, 0, 5, 1 << 63, -(1 << 63) - 1, 10**400, 1e308, float("nan"), float("inf"), "",
    "x", "\0", "\ud800", "turn", "insert", "x" * 10_000, [], {}, [1], [[]], {"a": 1}, ["a", ["b"]],
    [["turn", 1, 0.5, 0.5, 0.5, 1]], [[1, "user", "query", 0, 1 << 40]], "9999-12-31T23:59:59-14:00",
    "0001-01-01T00:00:00+00:00",
]  # fmt: skip
LOOKS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("GET", "turns", {}),
    ("GET", "thoughts", {"current": False}),
    ("GET", "journal", {}),
    ("GET", "entities", {}),
    ("GET", "history", {"subject": "user"}),
    ("GET", "why/thought:1", {}),
    ("GET", "why/turn:1", {}),
    ("GET", "audit", {}),
    ("GET", "summary", {}),
    ("GET", "summary/history", {}),
    ("GET", "export", {}),
    ("POST", "think", {}),
    ("POST", "journal/1/undo", {}),
)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with (
        Memory.open(":memory:", embedder="hashing", background=False) as memory,
        open_rest_app(memory) as app,
        serve_app(AuthenticateAs(app)) as client,
    ):
        yield client


def exported() -> list[dict[str, Any]]:
    with Memory.open(":memory:", embedder="hashing", background=False) as memory:
        for said in ("I live in Paris.", "I live in Lyon now.", "My sister is called Anna."):
            memory.remember(said, "I see.")
        memory.post_think()
        memory.revise_summary(replace(memory.summary(), topic="moving"), "in short")
        memory.remember("This one waits.")
        return [json.loads(line) for line in memory.export()]


LINES = exported()
USERS = (f"user {number}" for number in itertools.count())


def places(value: Any, above: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all values in a JSON value."""
    keys = value.keys() if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield (*above, key)
        yield from places(value[key], (*above, key))


PLACES = [(number, place) for number, line in enumerate(LINES) for place in places(line)]


def spoilt(place: tuple[int, tuple[Any, ...]], value: Any) -> bytes:
    """The export with one value replaced."""
    lines = json.loads(json.dumps(LINES))
    holder = lines[place[0]]
    for key in place[1][:-1]:
        holder = holder[key]
    if value is REMOVED:
        del holder[place[1][-1]]
    else:
        holder[place[1][-1]] = value
    return "\n".join(map(json.dumps, lines)).encode()


@settings(max_examples=CASES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.sampled_from(PLACES), st.sampled_from(HOSTILE))
def test_corrupted_export_is_refused_or_usable(client: Client, place: Any, value: Any) -> None:
    user = next(USERS)
    reply = client.request("POST", f"{V1}/import", spoilt(place, value), headers=NDJSON, user=user)
    assert reply.status in {200, 422}, reply.body
    if reply.status == 422:
        assert client.request("GET", f"{V1}/turns", user=user).json["items"] == []
        return
    recall = {"query": "Where do I live?", "explain": True}
    assert client.request("POST", f"{V1}/recall", recall, user=user).status == 200
    for method, path, choices in LOOKS:
        looked = client.request(method, f"{V1}/{path}", user=user, **choices)
        assert looked.status < 500, (path, looked.body)
