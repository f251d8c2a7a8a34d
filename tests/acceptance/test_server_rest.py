"""REST over HTTP: each operation once, as a user would call it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.acceptance.http_app import AuthenticateAs, Client, open_rest_app, serve_app

from thinkback.memory import Memory
from thinkback.server.identity import Principal
from thinkback.server.services import Options

V1 = "/v1/memory"
NDJSON = {"Content-Type": "application/x-ndjson"}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder="hashing", background=False) as opened:
        yield opened


@pytest.fixture
def middleware(memory: Memory) -> Iterator[AuthenticateAs]:
    with open_rest_app(memory, Options(max_body_bytes=1 << 20)) as app:
        yield AuthenticateAs(app)


@pytest.fixture
def client(middleware: AuthenticateAs) -> Iterator[Client]:
    with serve_app(middleware) as client:
        yield client


def tell(client: Client, *said: str, **more: Any) -> None:
    for query in said:
        assert client.request("POST", f"{V1}/turns", {"query": query, **more}).status == 201
    assert client.request("POST", f"{V1}/think", {"limit": 100}).status == 200


def items(client: Client, path: str, **query: Any) -> list[Any]:
    reply = client.request("GET", f"{V1}/{path}", **query)
    assert reply.status == 200, reply.body
    found: list[Any] = reply.json["items"]
    return found


def sentences(client: Client, **query: Any) -> list[str]:
    return [thought["sentence"] for thought in items(client, "thoughts", **query)]


def error(reply: Any) -> tuple[int, str]:
    told = reply.json
    assert told["detail"] == told["error"]["message"]
    return reply.status, told["error"]["code"]


# --- telling ---------------------------------------------------------------------------------


def test_turn_is_stored_once_and_found(client: Client) -> None:
    said = {"query": "I moved to Lyon.", "response": "Nice!", "session": "s", "key": "1"}
    first = client.request("POST", f"{V1}/turns", {**said, "at": "2024-05-31T18:30:00+02:00"})
    assert first.status == 201
    (turn,) = first.json["turns"]
    assert (turn["query"], turn["at"], first.json["pending"]) == (
        "I moved to Lyon.",
        "2024-05-31T16:30:00+00:00",
        1,
    )
    again = client.request("POST", f"{V1}/turns", said)
    assert (again.status, again.json["turns"]) == (200, [turn])
    assert client.request("GET", f"{V1}/turns/{turn['id']}").json == turn
    assert error(client.request("POST", f"{V1}/turns", {**said, "query": "other"})) == (409, "conflict")
    assert error(client.request("GET", f"{V1}/turns/99")) == (404, "not_found")


def test_messages_become_turns(client: Client) -> None:
    messages = [
        {"role": "system", "content": "be kind"},
        {"role": "user", "content": [{"type": "text", "text": "I like tea."}]},
        {"role": "assistant", "content": "Noted.", "refusal": None},
        {"role": "user", "content": "And Lyon."},
    ]
    reply = client.request("POST", f"{V1}/turns", {"messages": messages, "key": "m"})
    assert reply.status == 201
    assert [(turn["query"], turn["response"]) for turn in reply.json["turns"]] == [
        ("I like tea.", "Noted."),
        ("And Lyon.", ""),
    ]
    assert client.request("POST", f"{V1}/turns", {"messages": messages, "key": "m"}).status == 200


def test_pages_are_consecutive(client: Client) -> None:
    for number in range(7):
        client.request("POST", f"{V1}/turns", {"query": f"word {number}", "session": f"s{number % 2}"})
    seen: list[int] = []
    after: int | None = 0
    while after is not None:
        reply = client.request("GET", f"{V1}/turns", after=after, limit=3).json
        seen += [turn["id"] for turn in reply["items"]]
        after = reply["next"]
    assert seen == list(range(1, 8))
    assert [turn["id"] for turn in items(client, "turns", limit=2, newest=True)] == [6, 7]
    assert [turn["id"] for turn in items(client, "turns", session="s1")] == [2, 4, 6]
    assert items(client, "sessions") == ["s0", "s1"]
    assert client.request("GET", f"{V1}/sessions", limit=1).json == {"items": ["s0"], "next": 1}


# --- understanding and changing one's mind ---------------------------------------------------


def test_changed_fact_is_superseded_and_explained(client: Client) -> None:
    tell(client, "I live in Paris.", "I live in Lyon now.", "My sister is called Anna.")
    held = items(client, "thoughts", subject="user")
    assert any("Lyon" in thought["sentence"] for thought in held)
    assert not any("Paris" in thought["sentence"] for thought in held)
    everything = items(client, "thoughts", current=False)
    paris = next(thought for thought in everything if "Paris" in thought["sentence"])
    lyon = next(thought for thought in held if "Lyon" in thought["sentence"])
    assert client.request("GET", f"{V1}/thoughts/{paris['id']}").json == paris
    versions = items(client, f"thoughts/{lyon['id']}/history")
    assert [each["id"] for each in versions] == [paris["id"], lyon["id"]]
    assert items(client, "history", subject="user", relation=lyon["relation"]) == versions
    first_page = client.request(
        "GET", f"{V1}/history", subject="user", relation=lyon["relation"], limit=1
    ).json
    assert first_page == {"items": versions[:1], "next": 1}

    why = client.request("GET", f"{V1}/why/thought:{lyon['id']}").json
    assert [turn["query"] for turn in why["sources"]] == ["I live in Lyon now."]
    change = next(each for each in items(client, "journal", turn=2) if each["action"] == "supersede")
    assert change in items(client, "journal", thought=paris["id"])
    undone = client.request("POST", f"{V1}/journal/{change['id']}/undo")
    assert undone.json["undoes"] == change["id"]
    assert any("Paris" in sentence for sentence in sentences(client))
    assert error(client.request("POST", f"{V1}/journal/{change['id']}/undo")) == (409, "conflict")


def test_turns_are_hidden_and_corrected(client: Client) -> None:
    tell(client, "I live in Lyon.")
    hidden = client.request("DELETE", f"{V1}/turns/1", reason="private").json
    assert (hidden["hides"], items(client, "turns")) == ([1], [])
    assert [turn["hidden_by"] for turn in items(client, "turns", hidden="true")] == [hidden["id"]]
    assert error(client.request("DELETE", f"{V1}/turns/1", reason="again")) == (409, "conflict")
    assert client.request("POST", f"{V1}/journal/{hidden['id']}/undo").status == 200
    corrected = client.request("POST", f"{V1}/turns/1/correct", {"text": "I live in Paris."})
    assert (corrected.status, corrected.json["id"]) == (201, 2)
    assert [turn["query"] for turn in items(client, "turns")] == ["I live in Paris."]


def test_standing_wishes_are_listed(client: Client) -> None:
    tell(client, "always answer in German")
    assert [wish["sentence"] for wish in items(client, "instructions")] == ["always answer in German"]


def test_forget_needs_reason_and_can_be_undone(client: Client) -> None:
    tell(client, "I live in Lyon.")
    (thought,) = items(client, "thoughts", kind="profile")
    path = f"{V1}/thoughts/{thought['id']}"
    assert error(client.request("DELETE", path)) == (422, "invalid_input")
    action = client.request("DELETE", path, reason="I never said that")
    assert (action.status, action.json["reason"]) == (200, "I never said that")
    assert sentences(client) == []
    assert client.request("POST", f"{V1}/journal/{action.json['id']}/undo").status == 200
    assert sentences(client) == [thought["sentence"]]


def test_as_of_and_known_at(client: Client) -> None:
    tell(client, "I live in Paris.", at="2020-01-01T00:00:00Z")
    tell(client, "I live in Lyon now.", at="2023-01-01T00:00:00Z")
    assert [each for each in sentences(client, as_of="2021-01-01T00:00:00Z") if "Paris" in each]
    assert sentences(client, known_at="2019-01-01T00:00:00Z") == []
    then = client.request(
        "POST", f"{V1}/recall", {"query": "Where do I live?", "as_of": "2021-01-01T00:00:00Z"}
    )
    assert "Paris" in then.json["items"][0]["text"]
    assert error(client.request("GET", f"{V1}/thoughts", as_of="2021-01-01T00:00:00")) == (
        422,
        "invalid_input",
    )


# --- recalling -------------------------------------------------------------------------------


def test_recall_ask_and_context(client: Client) -> None:
    tell(client, "I live in Lyon.", "My sister Anna is a nurse.", "I like tea.")
    plain = client.request("POST", f"{V1}/recall", {"query": "Where do I live?", "k": 1}).json
    assert "Lyon" in plain["items"][0]["text"]
    assert (plain["dropped"], plain["understanding"]) == ([], None)
    told = client.request("POST", f"{V1}/recall", {"query": "Where do I live?", "explain": True, "k": 1}).json
    assert told["dropped"]
    assert told["items"][0]["score"]["sum"]["parts"]
    assert told["understanding"]["question"] == "where"
    answer = client.request("POST", f"{V1}/ask", {"question": "Where do I live?"}).json
    assert "Lyon" in answer["text"]
    assert answer["used"][0]["cited"] == 1
    given = client.request("POST", f"{V1}/context", {"message": "Where do I live?"}).json
    assert given["messages"][-1]["content"]
    assert given["tokens"] > 0
    kinds = client.request("POST", f"{V1}/kinds", {"query": "Where do I live?"}).json
    assert sum(kinds.values()) == pytest.approx(1)
    bad = client.request("POST", f"{V1}/recall", {"query": "x", "preset": "magic"})
    assert error(bad) == (422, "invalid_input")
    assert client.request("GET", f"{V1}/turns").json["items"][-1]["query"] == "I like tea."  # none was stored


# --- what became of a turn -------------------------------------------------------------------


def test_event_reports_state_of_turn(client: Client) -> None:
    client.request("POST", f"{V1}/turns", {"query": "I live in Lyon."})
    waiting = client.request("GET", f"{V1}/events/1").json
    assert (waiting["status"], waiting["actions"]) == ("pending", [])
    thought = client.request("POST", f"{V1}/think").json
    assert (thought["turns"], thought["pending"], thought["failures"]) == (1, 0, [])
    done = client.request("GET", f"{V1}/events/1").json
    assert done["status"] == "done"
    assert done["actions"] == thought["actions"] != []
    assert error(client.request("GET", f"{V1}/events/7")) == (404, "not_found")
    assert client.request("POST", f"{V1}/organise", {}).json["actions"] == []


def test_failures_are_listed_and_retried(client: Client, memory: Memory) -> None:
    client.request("POST", f"{V1}/turns", {"query": "I live in Lyon."})
    (claimed,) = memory.store.claim("default", 1, 60, memory.turns()[0].recorded_at)
    memory.store.release("default", 1, claimed.lease, reason="the model is gone", retry_at=None)
    assert items(client, "failures")[0]["reason"] == "the model is gone"
    event = client.request("GET", f"{V1}/events/1").json
    assert (event["status"], event["reason"]) == ("failed", "the model is gone")
    assert client.request("POST", f"{V1}/failures/retry").json == {"retried": 1}
    assert items(client, "failures") == []
    assert client.request("POST", f"{V1}/think", {}).json["turns"] == 1


# --- working memory and the view from above --------------------------------------------------


def test_summary_can_be_read_revised_and_undone(client: Client) -> None:
    tell(client, "I need a laptop for travelling.", "It must cost less than 900 euros.")
    before = client.request("GET", f"{V1}/summary").json
    wanted = {**before, "topic": "a laptop", "needs": ["a light laptop"]}
    revised = client.request("PUT", f"{V1}/summary", {"summary": wanted, "reason": "shorter"})
    assert revised.status == 200, revised.body
    assert revised.json["actor"] == "user"
    now = client.request("GET", f"{V1}/summary").json
    assert (now["topic"], now["needs"]) == ("a laptop", ["a light laptop"])
    stale = client.request("PUT", f"{V1}/summary", {"summary": wanted, "reason": "again"})
    assert error(stale) == (409, "conflict")
    history = items(client, "summary/history")
    assert history[-1] == revised.json
    assert items(client, "summary/history", after=history[-2]["version"]) == [revised.json]
    assert client.request("POST", f"{V1}/summary/undo").status == 200
    assert client.request("GET", f"{V1}/summary").json["needs"] == before["needs"]


def test_overview_routes(client: Client) -> None:
    tell(client, "My sister Anna lives in Lyon.", "My api key is sk-abcdefghijklmnopqrstuvwxyz123456.")
    stats = client.request("GET", f"{V1}/stats").json
    assert (stats["turns"], stats["pending"], stats["embedder"]) == (2, 0, "hashing-256")
    assert "Anna" in {entity["name"] for entity in items(client, "entities")}
    audit = client.request("GET", f"{V1}/audit")
    assert audit.json["counts"]["quarantined"] >= 1
    assert b"sk-abc" not in audit.body
    client.request("POST", f"{V1}/turns", {"query": "I am Bo."}, user="bo")
    assert [each["user"] for each in items(client, "users")] == ["bo", "default"]


# --- for good --------------------------------------------------------------------------------


def test_erase_leaves_nothing(client: Client) -> None:
    tell(client, "I live in Lyon.", session="a")
    tell(client, "My cat is called Tom.", "I like tea.", session="b")
    assert client.request("POST", f"{V1}/erase", {"turn": 2}).json["turns"] == 1
    assert client.request("POST", f"{V1}/erase", {"session": "a"}).json["turns"] == 1
    assert [turn["query"] for turn in items(client, "turns")] == ["I like tea."]
    assert error(client.request("POST", f"{V1}/erase", {"session": "a"})) == (404, "not_found")
    for wrong in ({}, {"all": False}, {"turn": 3, "all": True}, {"all": 1}):
        assert error(client.request("POST", f"{V1}/erase", wrong)) == (422, "invalid_input")
    assert client.request("POST", f"{V1}/erase", {"all": True}).json["turns"] == 1
    assert items(client, "turns") == items(client, "thoughts") == items(client, "journal") == []


def test_imported_export_is_the_same_memory(client: Client) -> None:
    tell(client, "I live in Paris.", "I live in Lyon now.", "My sister is called Anna.")
    client.request("GET", f"{V1}/summary")
    exported = client.request("GET", f"{V1}/export")
    assert exported.headers["content-type"] == "application/x-ndjson"
    there = client.request("POST", f"{V1}/import", exported.body, headers=NDJSON, user="elsewhere")
    assert there.json == {"turns": 3, "pending": 0}
    again = client.request("GET", f"{V1}/export", user="elsewhere").body.splitlines()
    same = [line for line in exported.body.splitlines() if b'"type":"space"' not in line]
    assert [line for line in again if b'"type":"space"' not in line] == same
    assert items(client, "thoughts", user="elsewhere") == items(client, "thoughts")
    twice = client.request("POST", f"{V1}/import", exported.body, headers=NDJSON, user="elsewhere")
    assert error(twice) == (409, "conflict")


def test_import_is_atomic_and_bounded(client: Client) -> None:
    lines = [json.dumps({"query": f"word {number}"}) for number in range(3)]
    broken = "\n".join([*lines, "{"]).encode()
    assert error(client.request("POST", f"{V1}/import", broken, headers=NDJSON)) == (422, "invalid_input")
    assert items(client, "turns") == []
    whole = "\n".join(lines).encode()
    assert client.request("POST", f"{V1}/import", whole, headers=NDJSON).json == {"turns": 3, "pending": 3}
    big = json.dumps({"query": "x" * (1 << 20)}).encode()
    assert error(client.request("POST", f"{V1}/import", big, headers=NDJSON)) == (413, "too_large")
    assert error(client.request("POST", f"{V1}/import", whole))[0] == 415
    assert error(client.request("POST", f"{V1}/import", b"\xff\xfe", headers=NDJSON)) == (
        422,
        "invalid_input",
    )


# --- who -------------------------------------------------------------------------------------


def test_user_is_given_by_header_or_query(client: Client) -> None:
    client.request("POST", f"{V1}/turns", {"query": "by header"}, headers={"X-Thinkback-User": "ann"})
    assert [turn["query"] for turn in items(client, "turns", user="ann")] == ["by header"]
    assert items(client, "turns") == items(client, "turns", user="bo") == []
    utf8 = {"X-Thinkback-User": "安娜".encode().decode("latin-1")}
    client.request("POST", f"{V1}/turns", {"query": "你好"}, headers=utf8)
    assert [turn["query"] for turn in items(client, "turns", user="安娜")] == ["你好"]


def test_key_scopes_are_enforced(client: Client, middleware: AuthenticateAs) -> None:
    tell(client, "I live in Lyon.")
    middleware.principal = Principal(scopes=frozenset({"read"}))
    assert client.request("GET", f"{V1}/turns").status == 200
    assert error(client.request("GET", f"{V1}/users")) == (403, "forbidden")
    assert error(client.request("POST", f"{V1}/erase", {"all": True})) == (403, "forbidden")
    assert error(client.request("POST", f"{V1}/import", b"{}", headers=NDJSON)) == (403, "forbidden")
    middleware.principal = Principal(scopes=frozenset({"write"}))
    assert error(client.request("GET", f"{V1}/export")) == (403, "forbidden")
    middleware.principal = Principal(user="bo")
    assert items(client, "turns") == []
    assert error(client.request("GET", f"{V1}/turns", user="default")) == (403, "forbidden")
    assert [each["user"] for each in items(client, "users")] == ["bo"]


# --- what nobody should send -----------------------------------------------------------------

DEEP = b"[" * 100_000
BAD_BODIES = [
    b"",
    b"{",
    b"null",
    b"[]",
    b'"text"',
    b"NaN",
    b'{"query": NaN}',
    b'{"query": "\\ud800"}',
    b'{"query": "x", "\\ud800": 1}',
    b'{"query": "x", "k": 1e400}',
    b'{"query": "x", "k": 100000000000000000000}',
    b'{"query": "x", "k": ' + b"9" * 5000 + b"}",
    b'{"query": "x", "k": true}',
    b'{"query": "x", "k": "5"}',
    b'{"query": "\xff"}',
    b'{"query": ' + DEEP,
    b'{"query": "x", "as_of": 5}',
    b'{"query": "x", "as_of": "0001-01-01T00:00:00+14:00"}',
    b'{"query": "  "}',
    b'{"query": "x", "query": "y"}',
    b'{"query": "x", "k": 3, "\\u006b": 4}',
]


@pytest.mark.parametrize("body", BAD_BODIES, ids=lambda body: repr(body[:40]))
def test_invalid_body_is_refused_in_our_error_format(client: Client, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    status, code = error(client.request("POST", f"{V1}/recall", body, headers=headers))
    assert (status, code) in {(422, "invalid_input"), (400, "bad_request")}


def test_nul_character_loses_no_turn(client: Client) -> None:
    reply = client.request("POST", f"{V1}/turns", {"query": "a\0b"})
    assert reply.json["turns"][0]["query"] == "a\ufffdb"


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/turns/9223372036854775808", 422),
        ("GET", "/turns/0", 422),
        ("GET", "/turns/9223372036854775807", 404),
        ("GET", "/why/action:1", 422),
        ("GET", "/why/thought:999999999999999999", 404),
        ("GET", "/why/99999999999999999999", 422),
        ("POST", "/journal/9223372036854775807/undo", 404),
        ("GET", "/nothing", 404),
        ("DELETE", "/turns", 405),
        ("POST", "/failures/retry", 404),
    ],
)
def test_unknown_path_is_not_found(client: Client, method: str, path: str, status: int) -> None:
    assert error(client.request(method, f"{V1}{path}"))[0] == status


def test_other_content_type_is_refused(client: Client) -> None:
    reply = client.request("POST", f"{V1}/recall", b"query=x", headers={"Content-Type": "text/plain"})
    assert error(reply) == (422, "invalid_input")
