"""Identities are never repaired: a name is read exactly, or the request is refused with status 400.

Every API is asked with names that an earlier version mapped to the memory of somebody else.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.auth_matrix import AppResponse
from tests.server_app import ServerApp, open_server_app, run_lifespan

NFC, NFD = "Zo\u00eb", "Zoe\u0308"
LATIN_1 = {"Müller": "Müller".encode("latin-1"), "Möller": "Möller".encode("latin-1")}
JSON_HEADER = (b"content-type", b"application/json")
SECRET = "I have diabetes."


@dataclass
class RunningServer:
    app: ServerApp
    runner: asyncio.Runner

    def send(self, method: str, path: str, **given: Any) -> AppResponse:
        return self.runner.run(self.app.request(method, path, **{"key": self.app.keys["acme"], **given}))


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    with open_server_app(tmp_path) as app, asyncio.Runner() as runner:
        lifespan = run_lifespan(app.app)
        runner.run(lifespan.__aenter__())
        yield RunningServer(app, runner)
        runner.run(lifespan.__aexit__(None, None, None))


def ask(
    server: RunningServer, method: str, path: str, value: object = None, *headers: tuple[bytes, bytes]
) -> AppResponse:
    body = b"" if value is None else json.dumps(value).encode()
    given = [JSON_HEADER, (b"accept", b"application/json, text/event-stream"), *headers]
    return server.send(method, path, headers=given, body=body)


def user_header(raw: bytes) -> tuple[bytes, bytes]:
    return b"x-thinkback-user", raw


def session_header(raw: bytes) -> tuple[bytes, bytes]:
    return b"x-thinkback-session", raw


def chat(server: RunningServer, text: str, *headers: tuple[bytes, bytes], **fields: Any) -> AppResponse:
    value = {"model": "m", "messages": [{"role": "user", "content": text}], **fields}
    return ask(server, "POST", "/v1/chat/completions", value, *headers)


def tool_call(
    server: RunningServer, tool: str, arguments: dict[str, Any], *headers: tuple[bytes, bytes]
) -> Any:
    params = {"name": tool, "arguments": arguments}
    value = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return ask(server, "POST", "/mcp", value, (b"mcp-protocol-version", b"2025-06-18"), *headers)


def users(server: RunningServer) -> list[str]:
    return server.app.services.memories.for_tenant("acme").store.users()


def assert_refused(server: RunningServer, response: AppResponse, *words: str) -> None:
    """Refused with status 400 and a message that says what is wrong; no user was created by it."""
    assert response.status == 400, (response.status, response.body)
    assert response.code == "invalid_name"
    assert all(word in response.json()["detail"] for word in words), response.json()["detail"]
    assert users(server) == []


@pytest.mark.parametrize("raw", [*LATIN_1.values(), b"\xff\xfe", b"a\xc0\x80", b"\xed\xa0\x80"])
@pytest.mark.parametrize("header", [user_header, session_header])
def test_header_must_be_utf8(server: RunningServer, raw: bytes, header: Any) -> None:
    assert_refused(server, chat(server, SECRET, header(raw)), "UTF-8")
    assert_refused(server, ask(server, "POST", "/v1/memory/turns", {"query": SECRET}, header(raw)), "UTF-8")
    assert_refused(server, ask(server, "GET", "/v1/memory/turns", None, header(raw)), "UTF-8")
    assert_refused(server, ask(server, "GET", "/memories?user_id=ann", None, header(raw)), "UTF-8")
    assert_refused(server, tool_call(server, "add_memory", {"text": SECRET}, header(raw)), "UTF-8")


def test_names_that_differ_in_latin_1_letters_are_different_users(server: RunningServer) -> None:
    for name in LATIN_1:
        assert chat(server, f"{SECRET} says {name}", user_header(name.encode())).status == 200
    assert sorted(users(server)) == sorted(LATIN_1)


@pytest.mark.parametrize("name", ["ann\x00", "\ud800", "ann\ufffd", "a\u200bnn", " ann", "ann\u3000", ""])
def test_body_names_that_cannot_be_kept_are_refused(server: RunningServer, name: str) -> None:
    assert_refused(server, chat(server, SECRET, user=name), "user")
    value = {"messages": SECRET, "user_id": name}
    assert_refused(server, ask(server, "POST", "/memories", value), "user_id")
    assert_refused(server, ask(server, "POST", "/search", {"query": "?", "filters": {"user_id": name}}))
    value = {"query": SECRET, "session": name}
    assert_refused(server, ask(server, "POST", "/v1/memory/turns?user=ann", value), "session")
    if name:  # the tool's `user` is optional, and empty if it is not given
        reply = tool_call(server, "add_memory", {"text": SECRET, "user": name}).json()
        assert "error" in reply or reply["result"]["isError"], reply
        assert users(server) == []


@pytest.mark.parametrize("value", [5, True, ["ann"], {"id": "ann"}])
def test_body_name_must_be_text(server: RunningServer, value: object) -> None:
    assert_refused(server, chat(server, SECRET, user=value), "user", "text")


@pytest.mark.parametrize("encoded", ["M%FCller", "a%00", "%EF%BF%BD", "%20ann", "%ED%A0%80", "x" * 257, ""])
def test_query_names_that_cannot_be_kept_are_refused(server: RunningServer, encoded: str) -> None:
    assert_refused(server, ask(server, "POST", f"/v1/memory/turns?user={encoded}", {"query": SECRET}), "user")
    assert_refused(server, ask(server, "GET", f"/v1/memory/turns?user=ann&session={encoded}"), "session")
    assert_refused(server, ask(server, "GET", f"/memories?user_id={encoded}"), "user_id")
    assert_refused(server, ask(server, "DELETE", f"/memories?user_id=ann&run_id={encoded}"), "run_id")


def test_query_must_be_percent_encoded(server: RunningServer) -> None:
    response = ask(server, "POST", "/v1/memory/turns?user=Müller", {"query": SECRET})
    assert (response.status, response.code) == (400, "bad_query")
    assert users(server) == []


def test_repeated_identity_is_refused(server: RunningServer) -> None:
    twice = (user_header(b"ann"), user_header(b"bob"))
    for headers in (twice, (session_header(b"one"), session_header(b"one"))):
        assert_refused(server, chat(server, SECRET, *headers), "twice")
        assert_refused(server, ask(server, "GET", "/v1/memory/turns", None, *headers), "twice")
        assert_refused(server, tool_call(server, "add_memory", {"text": SECRET}, *headers), "twice")
    turn = {"query": SECRET}
    assert_refused(server, ask(server, "POST", "/v1/memory/turns?user=ann&user=bob", turn), "twice")
    assert_refused(server, ask(server, "GET", "/v1/memory/turns?session=a&session=b"), "twice")
    assert_refused(server, ask(server, "GET", "/memories?user_id=ann&user_id=ann"), "twice")
    assert_refused(server, ask(server, "DELETE", "/memories?user_id=ann&run_id=a&run_id=b"), "twice")


def test_repeated_name_in_a_chat_body_is_refused(server: RunningServer) -> None:
    body = b'{"model": "m", "user": "ann", "messages": [{"role": "user", "content": "Hi."}], "user": "bob"}'
    response = server.send("POST", "/v1/chat/completions", headers=[JSON_HEADER], body=body)
    assert_refused(server, response, "twice")


def test_header_and_query_that_disagree_are_refused(server: RunningServer) -> None:
    turn = {"query": SECRET}
    path = "/v1/memory/turns?user=bob"
    assert_refused(server, ask(server, "POST", path, turn, user_header(b"ann")), "disagree")
    assert ask(server, "POST", path, turn, user_header(b"bob")).status == 201
    assert users(server) == ["bob"]


@pytest.mark.parametrize("other", [NFC, NFD])
def test_one_name_in_two_unicode_forms_is_one_user(server: RunningServer, other: str) -> None:
    assert chat(server, SECRET, user_header(NFD.encode())).status == 200
    assert chat(server, SECRET, user=other).status == 200
    assert ask(server, "POST", "/memories", {"messages": SECRET, "user_id": other}).status == 200
    assert not tool_call(server, "add_memory", {"text": SECRET, "user": other}).json()["result"]["isError"]
    name = quote(other)
    turn = {"query": SECRET, "session": NFC if other == NFD else NFD}
    assert ask(server, "POST", f"/v1/memory/turns?user={name}", turn).status == 201
    assert len(ask(server, "GET", f"/v1/memory/turns?user={name}&session={name}").json()["items"]) == 1
    assert users(server) == [NFC]


def test_forms_of_one_name_do_not_disagree(server: RunningServer) -> None:
    path = f"/v1/memory/turns?user={quote(NFD)}"
    assert ask(server, "POST", path, {"query": SECRET}, user_header(NFC.encode())).status == 201
    arguments = {"text": SECRET, "user": NFD}
    response = tool_call(server, "add_memory", arguments, user_header(NFC.encode()))
    assert not response.json()["result"]["isError"]
    assert users(server) == [NFC]


def test_key_of_a_user_accepts_both_forms_of_the_name(server: RunningServer) -> None:
    key = server.app.key("acme", user=NFD)
    for form in (NFC, NFD):
        headers = [JSON_HEADER, user_header(form.encode())]
        body = json.dumps({"query": SECRET}).encode()
        response = server.send("POST", "/v1/memory/turns", key=key, headers=headers, body=body)
        assert response.status == 201
    assert users(server) == [NFC]
