"""mem0's API over HTTP: requests, responses, and no server errors."""

from __future__ import annotations

import asyncio
import inspect
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
import uvicorn
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from thinkback.errors import ThinkbackError
from thinkback.memory import Memory
from thinkback.server.errors import error_response
from thinkback.server.identity import Principal
from thinkback.server.routes import mem0
from thinkback.server.routes.mem0 import operations
from thinkback.server.services import MemoryRegistry, Options, Services
from thinkback.server.telemetry import Telemetry
from thinkback.server.thread_pool import ThreadPool

PRINCIPALS = {
    "all": Principal(),
    "reader": Principal(scopes=frozenset({"read"})),
    "writer": Principal(scopes=frozenset({"write"})),
    "ann": Principal(user="ann"),
}
TALK = [
    {"role": "user", "content": "I live in Lyon and I like jazz."},
    {"role": "assistant", "content": "You live on the moon."},
]


class Gate:
    """Replaces the security middleware: the Authorization header names the principal."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            name = Request(scope).headers.get("authorization", "all")
            scope["state"] = {**scope.get("state", {}), "principal": PRINCIPALS[name]}
        await self._app(scope, receive, send)


async def _ours(request: Request, error: Exception) -> Response:
    assert isinstance(error, ThinkbackError)
    return error_response(error)


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "server.db", embedder="hashing", background=False) as memory:
        yield memory


@pytest.fixture
def client(root: Memory) -> Iterator[httpx2.Client]:
    pool = ThreadPool()
    app = FastAPI()
    app.include_router(mem0.create_router(Services(Options(), MemoryRegistry(root), pool, Telemetry())))
    app.add_exception_handler(ThinkbackError, _ours)
    server = uvicorn.Server(uvicorn.Config(Gate(app), port=0, log_level="error"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
        port = server.servers[0].sockets[0].getsockname()[1]
        with httpx2.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as found:
            yield found
    finally:
        server.should_exit = True
        thread.join()
        pool.close()


def add(client: httpx2.Client, messages: Any = "I live in Lyon.", **fields: Any) -> list[dict[str, Any]]:
    reply = client.post("/memories", json={"messages": messages, "user_id": "ann", **fields})
    assert reply.status_code == 200, reply.text
    results: list[dict[str, Any]] = reply.json()["results"]
    return results


def search(client: httpx2.Client, query: str, **fields: Any) -> list[str]:
    reply = client.post("/search", json={"query": query, "user_id": "ann", **fields})
    assert reply.status_code == 200, reply.text
    return [each["memory"] for each in reply.json()["results"]]


def memories(client: httpx2.Client, **identifiers: str) -> list[str]:
    reply = client.get("/memories", params=identifiers or {"user_id": "ann"})
    assert reply.status_code == 200, reply.text
    return [each["memory"] for each in reply.json()["results"]]


def test_add_thinks_before_it_returns(client: httpx2.Client) -> None:
    added = add(client, TALK)
    assert {(each["event"], each["memory"]) for each in added} == {
        ("ADD", "The user lives in Lyon."),
        ("ADD", "The user likes jazz."),
    }
    assert sorted(memories(client)) == sorted(each["memory"] for each in added)
    (item,) = [
        each for each in client.get("/memories?user_id=ann").json()["results"] if "Lyon" in each["memory"]
    ]
    assert set(item) >= {"id", "memory", "hash", "metadata", "created_at", "updated_at", "user_id"}
    assert client.get(f"/memories/{item['id']}").json() == item
    assert search(client, "Where do I live?")[0].startswith("The user lives in Lyon. (said 20")


def test_newer_value_is_update_and_forget_request_is_delete(client: httpx2.Client) -> None:
    add(client)
    (moved,) = add(client, "I live in Paris now.")
    assert (moved["event"], moved["previous_memory"]) == ("UPDATE", "The user lives in Lyon.")
    (gone,) = add(client, "Forget that I live in Paris.")
    assert (gone["event"], gone["id"]) == ("DELETE", moved["id"])


def test_updated_memory_is_found_by_old_and_new_id(client: httpx2.Client) -> None:
    (lyon,) = add(client)
    done = client.put(f"/memories/{lyon['id']}", json={"text": "I live in Paris."}).json()
    assert client.get(f"/memories/{lyon['id']}").json()["memory"] == "The user lives in Paris."
    assert client.get(f"/memories/{done['id']}").json()["memory"] == "The user lives in Paris."
    assert memories(client) == ["The user lives in Paris."]
    assert not any("Lyon" in each for each in search(client, "Where do I live?"))
    past = client.get(f"/memories/{lyon['id']}/history").json()
    assert [(each["event"], each["old_memory"], each["new_memory"]) for each in past] == [
        ("ADD", None, "The user lives in Lyon."),
        ("UPDATE", "The user lives in Lyon.", "The user lives in Paris."),
    ]
    client.put(f"/memories/{lyon['id']}", json={"text": "I live in Rome."})
    assert client.get(f"/memories/{lyon['id']}").json()["memory"] == "The user lives in Rome."


def test_deleted_memory_is_hidden_and_undo_restores_it(client: httpx2.Client, root: Memory) -> None:
    (lyon,) = add(client)
    assert client.delete(f"/memories/{lyon['id']}").status_code == 200
    assert memories(client) == []
    assert search(client, "Where do I live?") == []
    assert client.get(f"/memories/{lyon['id']}").status_code == 404
    assert client.delete(f"/memories/{lyon['id']}").status_code == 404
    ann = root.for_user("ann")
    ann.undo(ann.journal()[-1])
    assert memories(client) == ["The user lives in Lyon."]


def test_raw_memories_can_be_listed_found_updated_and_erased(client: httpx2.Client, root: Memory) -> None:
    (raw,) = add(client, "Dark mode, always", infer=False)
    assert (raw["event"], raw["memory"]) == ("ADD", "Dark mode, always")
    assert memories(client) == ["Dark mode, always"]
    (found,) = search(client, "dark mode")
    assert re.fullmatch(r"user, [\d-]{10}: Dark mode, always", found)
    new = client.put(f"/memories/{raw['id']}", json={"text": "Light mode, always"}).json()["id"]
    assert memories(client) == ["Light mode, always"]
    assert client.get(f"/memories/{raw['id']}").json()["memory"] == "Light mode, always"
    assert client.get(f"/memories/{new}/history").json()[0]["event"] == "ADD"
    assert client.delete(f"/memories/{new}").status_code == 200
    assert root.for_user("ann").turns(hidden=True) == []


@pytest.mark.parametrize("updates", [0, 1, 3])
def test_deleting_an_updated_raw_memory_leaves_all_others(client: httpx2.Client, updates: int) -> None:
    """The id of an erased turn was once taken for the thought of the same number."""
    (raw,) = add(client, "Dark mode, always", infer=False)
    add(client, "I live in Lyon.")
    add(client, "I like jazz.")
    before = [each for each in memories(client) if each != "Dark mode, always"]
    for number in range(updates):
        assert client.put(f"/memories/{raw['id']}", json={"text": f"Mode {number}"}).status_code == 200
    assert client.delete(f"/memories/{raw['id']}").status_code == 200
    assert memories(client) == before
    assert client.delete(f"/memories/{raw['id']}").status_code == 404
    assert client.put(f"/memories/{raw['id']}", json={"text": "x"}).status_code == 404
    assert memories(client) == before


def test_deleting_an_updated_memory_leaves_what_was_known_before(client: httpx2.Client) -> None:
    """The new text repeats another memory, which must not be deleted with the updated one."""
    (lyon,) = add(client, "I live in Lyon.")
    (jazz,) = add(client, "I like jazz.")
    assert client.put(f"/memories/{lyon['id']}", json={"text": "I like jazz."}).status_code == 200
    assert client.delete(f"/memories/{lyon['id']}").status_code == 200
    assert memories(client) == ["The user likes jazz."]
    assert client.get(f"/memories/{jazz['id']}").status_code == 200


def test_deleting_an_updated_memory_deletes_all_of_its_new_text(client: httpx2.Client) -> None:
    (lyon,) = add(client, "I live in Lyon.")
    add(client, "I like jazz.")
    text = "I live in Paris and I like tea."
    assert client.put(f"/memories/{lyon['id']}", json={"text": text}).status_code == 200
    assert sorted(memories(client)) == [
        "The user likes jazz.",
        "The user likes tea.",
        "The user lives in Paris.",
    ]
    assert client.delete(f"/memories/{lyon['id']}").status_code == 200
    assert memories(client) == ["The user likes jazz."]


def test_metadata_is_kept_and_searchable(client: httpx2.Client, root: Memory) -> None:
    (tea,) = add(client, "I like tea.", metadata={"category": "drink", "year": 2024})
    (rice,) = add(client, "I like rice.", metadata={"category": "food", "tags": ["hot", "plain"]})
    add(client, "I like jazz.")
    raw = add(client, "I like rum", infer=False, metadata={"category": "drink", "year": 2020})[0]
    item = client.get(f"/memories/{tea['id']}").json()
    assert item["metadata"] == {"category": "drink", "year": 2024, "kind": "profile"}
    listed = {each["id"]: each["metadata"] for each in client.get("/memories?user_id=ann").json()["results"]}
    assert listed[rice["id"]]["tags"] == ["hot", "plain"]
    assert listed[raw["id"]]["category"] == "drink"

    def found(filters: dict[str, Any]) -> set[str]:
        body = {"query": "What do I like?", "filters": {"user_id": "ann", **filters}}
        reply = client.post("/search", json=body)
        assert reply.status_code == 200, reply.text
        return {each["id"] for each in reply.json()["results"]}

    assert found({"category": "drink"}) == {tea["id"], raw["id"]}
    assert found({"category": "drink", "year": {"gte": 2022}}) == {tea["id"]}
    assert found({"tags": {"contains": "hot"}}) == {rice["id"]}
    assert found({"AND": [{"category": {"in": ["food", "drink"]}}, {"NOT": [{"year": "*"}]}]}) == {rice["id"]}
    assert found({"category": "none"}) == set()
    client.put(f"/memories/{tea['id']}", json={"text": "I like green tea."})
    assert client.get(f"/memories/{tea['id']}").json()["metadata"]["category"] == "drink"
    client.put(f"/memories/{tea['id']}", json={"text": "I like mint tea.", "metadata": {"category": "herb"}})
    assert client.get(f"/memories/{tea['id']}").json()["metadata"]["category"] == "herb"
    root.for_user("ann").erase(user="ann")
    assert root.store.metadata("ann", range(1, 10)) == {}


def test_metadata_is_erased_with_its_turn(client: httpx2.Client, root: Memory) -> None:
    (raw,) = add(client, "Dark mode", infer=False, metadata={"color": "ultraviolet"})
    assert root.store.metadata("ann", [1]) == {1: {"color": "ultraviolet"}}
    client.delete(f"/memories/{raw['id']}")
    assert root.store.metadata("ann", [1]) == {}


def test_filter_finds_a_memory_beyond_the_best_hundred(client: httpx2.Client, root: Memory) -> None:
    ann = root.for_user("ann")
    (rare,) = add(client, "I like tea, any number", infer=False, metadata={"rare": 1})
    for number in range(150):
        ann.remember(f"I like tea number {number}.")
    body = {"query": "I like tea number 7", "user_id": "ann", "filters": {"rare": 1}, "limit": 1}
    assert [each["id"] for each in client.post("/search", json=body).json()["results"]] == [rare["id"]]


def test_metadata_has_a_size_limit(client: httpx2.Client, root: Memory) -> None:
    body = {"messages": "I like tea.", "user_id": "ann", "metadata": {"a": "x" * 20_000}}
    assert client.post("/memories", json=body).status_code == 422
    assert root.store.users() == []


def test_identifiers_are_isolated(client: httpx2.Client) -> None:
    add(client, "I like jazz.", run_id="monday")
    add(client, "I live in Lyon.", run_id="tuesday", agent_id="helper")
    add(client, "I like tea.", user_id=None, agent_id="helper")
    add(client, "I like rum.", user_id=None, run_id="monday")
    assert memories(client, user_id="ann", run_id="monday") == ["The user likes jazz."]
    assert memories(client, user_id="ann", agent_id="helper") == ["The user lives in Lyon."]
    assert memories(client, agent_id="helper") == ["The user likes tea."]
    assert memories(client, run_id="monday") == ["The user likes rum."]
    assert "The user likes jazz." not in search(client, "What do I like?", run_id="tuesday")
    reply = client.post(
        "/search", json={"query": "What do I like?", "filters": {"agent_id": "helper"}}
    ).json()
    assert [(each["agent_id"], each["user_id"]) for each in reply["results"]] == [("helper", None)]


def test_delete_all_erases_run_or_user(client: httpx2.Client, root: Memory) -> None:
    add(client, "I like jazz.", run_id="monday")
    add(client, "I live in Lyon.")
    assert client.delete("/memories", params={"user_id": "ann", "run_id": "monday"}).status_code == 200
    assert memories(client) == ["The user lives in Lyon."]
    assert client.delete("/memories", params={"user_id": "ann"}).status_code == 200
    assert client.delete("/memories", params={"user_id": "ann"}).status_code == 200
    assert root.store.users() == []


def test_unknown_fields_are_reported(client: httpx2.Client) -> None:
    body = {"messages": "I like tea.", "user_id": "ann", "output_format": "v1.1", "async_mode": False}
    assert client.post("/memories", json=body).headers["X-Thinkback-Ignored"] == "output_format"


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/memories", {"messages": "x", "user_id": "ann", "expiration_date": "2030-01-01"}),
        ("POST", "/memories", {"messages": "x", "user_id": "ann", "memory_type": "procedural_memory"}),
        ("POST", "/memories", {"messages": "x", "user_id": "ann", "prompt": "be brief"}),
        ("POST", "/search", {"query": "x", "user_id": "ann", "rerank": True}),
        ("POST", "/search", {"query": "x", "user_id": "ann", "filters": {"a": {"regex": "b"}}}),
        ("POST", "/search", {"query": "x", "filters": {"user_id": {"in": ["ann", "bob"]}}}),
        ("POST", "/search", {"query": "x", "filters": {"OR": [{"user_id": "ann"}, {"user_id": "bob"}]}}),
        ("POST", "/configure", {}),
        ("POST", "/reset", {}),
        ("GET", "/v1/memories/", None),
        ("POST", "/v2/memories/search/", {"query": "x"}),
        ("DELETE", "/v1/entities/user/ann", None),
    ],
)
def test_what_is_not_supported_is_501_with_a_pointer(
    client: httpx2.Client, root: Memory, method: str, path: str, body: Any
) -> None:
    reply = client.request(method, path, json=body)
    assert (reply.status_code, reply.json()["error"]["code"]) == (501, "not_supported"), reply.text
    assert "docs/mem0.md" in reply.json()["detail"]
    assert root.store.users() == []


def test_key_scopes_apply_to_every_path(client: httpx2.Client) -> None:
    (mine,) = add(client, "I like jazz.")
    (other,) = add(client, "I like tea.", user_id="bob")
    reader, ann = {"Authorization": "reader"}, {"Authorization": "ann"}
    for method, path in (("PUT", f"/memories/{mine['id']}"), ("POST", "/memories")):
        body = {"text": "I like rum.", "messages": "I like rum.", "user_id": "ann"}
        assert client.request(method, path, json=body, headers=reader).status_code == 403
    for path in (f"/memories/{mine['id']}", "/memories?user_id=ann"):
        assert client.delete(path, headers=reader).status_code == 403
        assert client.get(path, headers=reader).status_code == 200
    for path in (f"/memories/{other['id']}", f"/memories/{other['id']}/history"):
        assert client.get(path, headers=ann).status_code == 404
    assert client.delete(f"/memories/{other['id']}", headers=ann).status_code == 404
    assert client.get("/memories?user_id=bob", headers=ann).status_code == 403
    assert client.delete("/memories?agent_id=bob", headers=ann).status_code == 200  # none of ann's own
    assert memories(client) == ["The user likes jazz."]
    assert memories(client, user_id="bob") == ["The user likes tea."]


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/memories", {"messages": []}, 400),
        ("POST", "/memories", {"messages": [], "user_id": "ann"}, 422),
        ("POST", "/memories", {"messages": [{"role": "wizard", "content": "x"}], "user_id": "ann"}, 422),
        ("POST", "/memories", {"messages": [{"role": "user", "content": ""}], "user_id": "ann"}, 422),
        ("POST", "/memories", {"messages": "x", "user_id": "agent:smith"}, 422),
        ("POST", "/memories", {"messages": "x", "user_id": "a\nb"}, 400),
        ("POST", "/memories", {"messages": "x", "user_id": "ann", "timestamp": 1 << 62}, 422),
        ("POST", "/search", {"query": "x"}, 400),
        ("POST", "/search", {"query": " ", "user_id": "ann"}, 422),
        ("POST", "/search", {"query": "x", "user_id": "ann", "limit": 0}, 422),
        ("PUT", "/memories/none", {"text": "x"}, 404),
        ("PUT", "/memories/dDE6YW5u", {"text": "x"}, 404),
        ("PUT", "/memories/dDE6YW5u", {}, 422),
        ("GET", "/memories/dDE6YW5u/history", None, 404),
        ("GET", "/memories/%00%ff", None, 404),
        ("DELETE", "/memories/dDE6YW5u", None, 404),
        ("GET", "/memories", None, 400),
        ("DELETE", "/memories", None, 400),
    ],
)  # fmt: skip
def test_invalid_requests_have_clear_errors(
    client: httpx2.Client, method: str, path: str, body: Any, status: int
) -> None:
    reply = client.request(method, path, json=body)
    assert reply.status_code == status, reply.text
    assert reply.json()["detail"]


def test_paths_are_in_openapi(client: httpx2.Client) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    assert {(method, path) for path, methods in paths.items() for method in methods} == {
        ("post", "/memories"),
        ("get", "/memories"),
        ("delete", "/memories"),
        ("get", "/memories/{memory_id}"),
        ("put", "/memories/{memory_id}"),
        ("delete", "/memories/{memory_id}"),
        ("get", "/memories/{memory_id}/history"),
        ("post", "/search"),
    }


def test_key_that_may_only_write_sees_what_it_sent(client: httpx2.Client) -> None:
    add(client, "I live in Lyon.")
    request = {"messages": "I live in Paris.", "user_id": "ann"}
    writer = {"authorization": "writer"}
    shown = client.post("/memories", json=request, headers=writer)
    assert shown.status_code == 200
    assert [item["memory"] for item in shown.json()["results"]] == ["I live in Paris."]
    assert "Lyon" not in shown.text
    assert "Lyon" in client.post("/memories", json={**request, "messages": "I live in Lyon."}).text


def test_no_request_uses_the_memory_in_the_event_loop(
    client: httpx2.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One slow request must not stop the others."""
    in_loop: dict[str, bool] = {}

    def watch(name: str, function: Any) -> Any:
        def watched(*args: Any, **options: Any) -> Any:
            try:
                asyncio.get_running_loop()
            except RuntimeError:  # a thread of the pool
                in_loop.setdefault(name, False)
            else:
                in_loop[name] = True
            return function(*args, **options)

        return watched

    for name, function in inspect.getmembers(operations, inspect.isfunction):
        if "memory" in inspect.signature(function).parameters:
            monkeypatch.setattr(operations, name, watch(name, function))
    (added,) = add(client)
    add(client, infer=False)
    client.post(
        "/memories", json={"messages": "I like jazz.", "user_id": "ann"}, headers={"authorization": "writer"}
    )
    search(client, "Where do I live?")
    memories(client)
    path = f"/memories/{added['id']}"
    assert client.get(path).status_code == client.get(f"{path}/history").status_code == 200
    assert client.put(path, json={"text": "I live in Paris."}).status_code == 200
    assert client.delete(path).status_code == client.delete("/memories?user_id=ann").status_code == 200
    assert {"remember", "added_turns", "added_thoughts", "search_memories", "list_memories"} <= set(in_loop)
    assert [name for name, is_in_loop in in_loop.items() if is_in_loop] == []
