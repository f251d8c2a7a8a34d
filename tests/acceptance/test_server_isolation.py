"""Isolation of three tenants on one server with users of the same names.

Every remembered text contains a canary with its tenant's name, and every response of every API is searched
for the canaries of others. Full run: THINKBACK_ISOLATION_STEPS=20000 and THINKBACK_CANCELLED=2000.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import shutil
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from tests.auth_matrix import AppResponse, scope_of
from tests.server_app import TENANTS, ServerApp, open_server_app, run_lifespan

from thinkback.server import identity
from thinkback.types import Ref

STEPS = int(os.environ.get("THINKBACK_ISOLATION_STEPS", "300"))
CANCELLED = int(os.environ.get("THINKBACK_CANCELLED", "100"))
A_RUN = 50  # steps of one machine

CANARY = re.compile(rb"(acme|globex|initech)canary\d+")
USERS = ("ann", "bob")
TOLD = (
    "I live in {}.",
    "My sister {} is a nurse.",
    "I like {} and tea.",
    "I moved to {} last week.",
    "我住在{}。",
    "Remember: {}.",
)
LOOKS = (
    "turns", "thoughts", "thoughts?current=false", "journal", "stats", "audit", "sessions", "entities",
    "summary", "summary/history", "export", "failures", "users", "turns/1", "thoughts/1", "why/thought:1",
    "why/turn:1", "events/1", "history?subject=user", "thoughts/1/history", "browse?state=all", "timeline",
    "thoughts/1/detail", "graph", "map", "journal/recent", "journal/stream?after=0&seconds=0", "health",
)  # fmt: skip

tenants = st.sampled_from(TENANTS)
users = st.sampled_from(USERS)
numbers = st.integers(1, 12)


def body(value: object) -> dict[str, Any]:
    return {"body": json.dumps(value).encode(), "headers": [(b"content-type", b"application/json")]}


def rpc(tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    call = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments},
    }
    headers = [
        (b"content-type", b"application/json"),
        (b"accept", b"application/json, text/event-stream"),
        (b"mcp-protocol-version", b"2025-06-18"),
    ]
    return {"body": json.dumps(call).encode(), "headers": headers}


def foreign(tenant: str, said: bytes) -> set[bytes]:
    return {found for found in CANARY.findall(said) if found != tenant.encode()}


class Tenants(RuleBasedStateMachine):
    """Random operations in random order, through all APIs."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp()
        self.open = ExitStack()
        self.server = self.open.enter_context(open_server_app(Path(self.folder)))
        self.runner = self.open.enter_context(asyncio.Runner())
        self.life = run_lifespan(self.server.app)
        self.runner.run(self.life.__aenter__())
        self.serial = 0

    def teardown(self) -> None:
        self.runner.run(self.life.__aexit__(None, None, None))
        self.open.close()
        shutil.rmtree(self.folder)

    def words(self, tenant: str, which: int) -> str:
        self.serial += 1
        return TOLD[which % len(TOLD)].format(f"{tenant}canary{self.serial}")

    def ask(self, tenant: str, method: str, path: str, **given: Any) -> AppResponse:
        response = self.runner.run(self.server.request(method, path, key=self.server.keys[tenant], **given))
        headers = "\n".join(f"{name}: {value}" for name, value in response.headers).encode()
        assert not foreign(tenant, response.body + headers), f"{tenant}: {method} {path}"
        assert response.status < 500, f"{method} {path}: {response.status} {response.body!r}"
        return response

    @rule(tenant=tenants, user=users, which=numbers)
    def told_to_the_library(self, tenant: str, user: str, which: int) -> None:
        memory = self.server.services.memories.for_tenant(tenant).for_user(user)
        memory.remember(self.words(tenant, which), "I see.")

    @rule(tenant=tenants, user=users)
    def the_library_recalls(self, tenant: str, user: str) -> None:
        memory = self.server.services.memories.for_tenant(tenant).for_user(user)
        found = memory.recall("Where do I live, and what do I like?", k=10)
        said = [*(item.text for item in found), *memory.export(), *memory.store.users()]
        assert not foreign(tenant, "\n".join(said).encode())

    @rule(tenant=tenants, user=users)
    def thought_over(self, tenant: str, user: str) -> None:
        self.ask(tenant, "POST", f"/v1/memory/think?user={user}")

    @rule(tenant=tenants, user=users, which=numbers)
    def told_by_rest(self, tenant: str, user: str, which: int) -> None:
        said = {"query": self.words(tenant, which), "response": "I see."}
        assert self.ask(tenant, "POST", f"/v1/memory/turns?user={user}", **body(said)).status == 201

    @rule(tenant=tenants, user=users, look=st.sampled_from(LOOKS))
    def looked_at_by_rest(self, tenant: str, user: str, look: str) -> None:
        joint = "&" if "?" in look else "?"
        self.ask(tenant, "GET", f"/v1/memory/{look}{joint}user={user}")

    @rule(tenant=tenants, user=users, what=st.sampled_from(["recall", "ask", "context"]))
    def asked_by_rest(self, tenant: str, user: str, what: str) -> None:
        name = {"recall": "query", "ask": "question", "context": "message"}[what]
        said = {
            name: "Where do I live, and what do I like?",
            **({"explain": True} if what == "recall" else {}),
        }
        assert self.ask(tenant, "POST", f"/v1/memory/{what}?user={user}", **body(said)).status == 200

    @rule(tenant=tenants, user=users, number=numbers)
    def changed_by_rest(self, tenant: str, user: str, number: int) -> None:
        self.ask(tenant, "DELETE", f"/v1/memory/thoughts/{number}?user={user}&reason=wrong")
        self.ask(tenant, "POST", f"/v1/memory/journal/{number}/undo?user={user}")

    @rule(tenant=tenants, user=users, number=numbers)
    def erased_by_rest(self, tenant: str, user: str, number: int) -> None:
        self.ask(tenant, "POST", f"/v1/memory/erase?user={user}", **body({"turn": number}))

    @rule(tenant=tenants, user=users, which=numbers, stream=st.booleans())
    def chatted(self, tenant: str, user: str, which: int, stream: bool) -> None:
        messages = [{"role": "user", "content": self.words(tenant, which)}]
        said = {"model": "m", "user": user, "stream": stream, "messages": messages}
        assert self.ask(tenant, "POST", "/v1/chat/completions", **body(said)).status == 200

    @rule(tenant=tenants, user=users, stream=st.booleans())
    def asked_in_a_chat(self, tenant: str, user: str, stream: bool) -> None:
        messages = [{"role": "user", "content": "Where do I live?"}]
        said = {"model": "m", "user": user, "stream": stream, "messages": messages}
        assert self.ask(tenant, "POST", "/v1/chat/completions", **body(said)).status == 200

    @rule(tenant=tenants, user=users, which=numbers)
    def told_as_to_mem0(self, tenant: str, user: str, which: int) -> None:
        said = {"messages": [{"role": "user", "content": self.words(tenant, which)}], "user_id": user}
        assert self.ask(tenant, "POST", "/memories", **body(said)).status == 200

    @rule(tenant=tenants, user=users)
    def asked_as_of_mem0(self, tenant: str, user: str) -> None:
        self.ask(tenant, "POST", "/search", **body({"query": "Where do I live?", "user_id": user}))
        self.ask(tenant, "GET", f"/memories?user_id={user}")

    @rule(tenant=tenants, user=users, number=numbers, kind=st.sampled_from(["thought", "turn"]))
    def asked_by_an_id_that_others_have_too(self, tenant: str, user: str, number: int, kind: Any) -> None:
        named = identity.encode_id(user, Ref(kind, number))
        self.ask(tenant, "GET", f"/memories/{named}")
        self.ask(tenant, "GET", f"/memories/{named}/history")
        for tool in ("get_memory", "why_memory"):
            self.ask(tenant, "POST", "/mcp", **rpc(tool, {"memory_id": named}))

    @rule(tenant=tenants, user=users, which=numbers)
    def told_by_mcp(self, tenant: str, user: str, which: int) -> None:
        response = self.ask(
            tenant, "POST", "/mcp", **rpc("add_memory", {"text": self.words(tenant, which), "user": user})
        )
        assert response.status == 200
        assert not response.json()["result"].get("isError"), response.body

    @rule(tenant=tenants, user=users)
    def asked_by_mcp(self, tenant: str, user: str) -> None:
        arguments = {"query": "Where do I live, and what do I like?", "user": user}
        response = self.ask(tenant, "POST", "/mcp", **rpc("search_memories", arguments))
        assert not response.json()["result"].get("isError"), response.body
        self.ask(tenant, "POST", "/mcp", **rpc("get_memories", {"user": user}))

    @rule(tenant=tenants, other=tenants, user=users)
    def another_tenant_is_claimed(self, tenant: str, other: str, user: str) -> None:
        """The tenant comes from the key alone, whatever else the request says."""
        claims = [(b"x-thinkback-tenant", other.encode()), (b"x-tenant", other.encode())]
        for name in (user, f"{other}/{user}", f"{other}:{user}"):
            path = f"/v1/memory/export?user={name}&tenant={other}"
            self.ask(tenant, "GET", path, headers=claims)


def test_tenants_never_see_each_others_content() -> None:
    run_state_machine_as_test(
        Tenants,
        settings=settings(
            max_examples=max(1, STEPS // A_RUN),
            stateful_step_count=A_RUN,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )


async def cancelled(server: ServerApp, dice: random.Random, tenant: str, serial: int) -> None:
    """One request whose client disconnects, or whose task is cancelled, at a random moment."""
    words = f"I live in {tenant}canary{serial}."
    which = dice.randrange(4)
    path, said = [
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": words}], "stream": True}),
        ("/v1/chat/completions", {"messages": [{"role": "user", "content": words}]}),
        ("/v1/memory/turns", {"query": words}),
        ("/v1/memory/recall", {"query": "Where do I live?"}),
    ][which]
    data = json.dumps(said).encode()
    key = server.keys[tenant].encode()
    headers = [
        (b"host", b"127.0.0.1:8765"),
        (b"authorization", b"Bearer " + key),
        (b"content-type", b"application/json"),
        (b"content-length", str(len(data)).encode()),
    ]
    gone, given = asyncio.Event(), False

    async def receive() -> dict[str, Any]:
        nonlocal given
        if not given:
            given = True
            return {"type": "http.request", "body": data, "more_body": False}
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        assert not foreign(tenant, message.get("body", b""))
        await asyncio.sleep(0)

    task = asyncio.ensure_future(server.app(scope_of("POST", path, headers), receive, send))
    await asyncio.sleep(dice.choice([0, 0, dice.random() * 0.002, dice.random() * 0.01]))
    if dice.random() < 0.5:
        gone.set()
        await asyncio.wait((task,), timeout=dice.random() * 0.005)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def kept_apart(server: ServerApp) -> None:
    for tenant in TENANTS:
        for path in ("export", "journal", "turns", "thoughts?current=false"):
            response = await server.request("GET", f"/v1/memory/{path}", key=server.keys[tenant])
            assert response.status == 200
            assert not foreign(tenant, response.body)


def test_cancelled_requests_leak_nothing(tmp_path: Path) -> None:
    dice = random.Random(8)
    with open_server_app(tmp_path) as server:

        async def all_of_them() -> None:
            for serial in range(CANCELLED):
                many = [
                    cancelled(server, dice, dice.choice(TENANTS), serial * 4 + n)
                    for n in range(1, 1 + dice.randrange(1, 4))
                ]
                await asyncio.gather(*many)
                if serial % 50 == 0:
                    await kept_apart(server)
            await asyncio.sleep(0.2)
            await kept_apart(server)

        server.run(all_of_them)
        assert server.services.pool.pending == 0, "nothing is left behind"


def test_canary_check_detects_a_leak() -> None:
    """The check itself is able to fail."""
    assert foreign("acme", b'{"text": "I live in globexcanary7."}') == {b"globex"}
    assert not foreign("acme", b"acmecanary3 and acmecanary4")
    machine = Tenants()
    try:
        machine.server.keys["acme"] = machine.server.keys["globex"]  # as if the middleware confused the two
        machine.told_by_rest("globex", "ann", 1)
        with pytest.raises(AssertionError, match="acme"):
            machine.asked_by_rest("acme", "ann", "recall")
    finally:
        machine.teardown()
