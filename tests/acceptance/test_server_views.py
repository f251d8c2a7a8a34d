"""Views of a memory for the web page, over the real server and database: three tenants, hostile text."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from tests.auth_matrix import AppResponse
from tests.server_app import ServerApp, open_server_app

from thinkback.memory import Memory
from thinkback.server.views import projection
from thinkback.server.views.snapshot import SnapshotCache
from thinkback.types import IndexEntry, Operation, Plan, Source, ThoughtDraft

JSON = (b"content-type", b"application/json")
HOSTILE = "I love </script><img src=x onerror=alert(1)>\u2028data: x\r\nevent: action\n\n tea."


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ServerApp]:
    with open_server_app(tmp_path) as server:
        yield server


@pytest.fixture
def memory(server: ServerApp) -> Memory:
    memory = server.services.memories.for_tenant("acme").for_user("default")
    start = datetime(2024, 1, 1, tzinfo=UTC)
    said = (
        "I live in Paris.",
        "My sister is called Anna.",
        "Anna works as a nurse.",
        "I like green tea.",
        "I live in Lyon now.",
        "I am allergic to peanuts.",
    )
    for day, text in enumerate(said):
        memory.remember(text, "I see.", at=start + timedelta(days=40 * day))
    memory.post_think()
    return memory


class Api:
    """Requests of one tenant, in a running server."""

    def __init__(self, server: ServerApp, tenant: str = "acme") -> None:
        self._server = server
        self._key = server.keys[tenant]

    async def get(self, path: str, **query: Any) -> Any:
        response = await self.ask("GET", path, **query)
        assert response.status == 200, response.body
        return response.json()

    async def ask(self, method: str, path: str, body: Any = None, **query: Any) -> AppResponse:
        said = {} if body is None else {"body": json.dumps(body).encode(), "headers": [JSON]}
        target = f"{path}?{urlencode(query, doseq=True)}" if query else path
        return await self._server.request(method, target, key=self._key, **said)


def test_browse_filters_and_counts(server: ServerApp, memory: Memory) -> None:
    api = Api(server)

    async def work() -> None:
        found = await api.get("/v1/memory/browse")
        assert found["total"] == len(memory.thoughts()) == found["counts"]["states"]["current"]
        assert [item["id"] for item in found["items"]] == sorted(
            (item["id"] for item in found["items"]), reverse=True
        )
        lyon = await api.get("/v1/memory/browse", q="LYON live")
        assert [item["objects"] for item in lyon["items"]] == [["Lyon"]]
        past = await api.get("/v1/memory/browse", q="paris", state="past")
        assert past["total"] == 1
        assert past["items"][0]["retired_at"] is not None
        nurse = await api.get("/v1/memory/browse", person="Anna")
        assert any("nurse" in item["sentence"] for item in nurse["items"])
        assert {person["name"] for person in found["people"]} >= {"user", "Anna"}
        relations = await api.get("/v1/memory/browse", kind=["relationship"])
        assert {item["kind"] for item in relations["items"]} == {"relationship"}
        assert relations["counts"]["kinds"]["profile"] > 0, "counts ignore the filter of their own kind"
        early = await api.get("/v1/memory/browse", until="2024-01-02T00:00:00Z", state="all")
        assert [item["objects"] for item in early["items"]] == [["Paris"]]
        pages = [await api.get("/v1/memory/browse", limit=2, after=after) for after in (0, 2)]
        assert pages[0]["next"] == 2
        assert {item["id"] for item in pages[0]["items"]}.isdisjoint(item["id"] for item in pages[1]["items"])

    server.run(work)


def test_browse_sees_every_change_at_once(server: ServerApp, memory: Memory) -> None:
    api = Api(server)

    async def sentences(**query: Any) -> list[str]:
        return [item["sentence"] for item in (await api.get("/v1/memory/browse", **query))["items"]]

    async def work() -> None:
        (tea,) = (await api.get("/v1/memory/browse", q="green tea"))["items"]
        edited = await api.ask("PATCH", f"/v1/memory/thoughts/{tea['id']}", {"value": "black tea"})
        assert edited.status == 200
        assert await sentences(q="green tea") == []
        assert len(await sentences(q="black tea")) == 1
        undone = await api.ask("POST", f"/v1/memory/journal/{edited.json()['id']}/undo")
        assert undone.status == 200
        assert len(await sentences(q="green tea")) == 1
        gone = await api.ask("DELETE", f"/v1/memory/thoughts/{tea['id']}", reason="x")
        assert gone.status == 200
        assert await sentences(q="green tea") == []
        assert len(await sentences(q="green tea", state="past")) == 1
        turn = tea["sources"][0][0]
        assert (await api.ask("POST", "/v1/memory/erase", {"turn": turn})).status == 200
        assert await sentences(q="green tea", state="all") == []
        again = await api.ask("PATCH", f"/v1/memory/thoughts/{tea['id']}", {"value": "x"})
        assert again.status == 404

    server.run(work)


def test_detail_has_source_quote_history_and_replacement(server: ServerApp, memory: Memory) -> None:
    api = Api(server)

    async def work() -> None:
        (paris,) = (await api.get("/v1/memory/browse", q="paris", state="past"))["items"]
        detail = await api.get(f"/v1/memory/thoughts/{paris['id']}/detail")
        (source,) = detail["sources"]
        assert source["before"] + source["quote"] + source["after"] == "I live in Paris."
        assert "Paris" in source["quote"]
        assert [other["objects"] for other in detail["replaced_by"]] == [["Lyon"]]
        assert detail["replaces"] == []
        assert [version["objects"] for version in detail["history"]] == [["Paris"], ["Lyon"]]
        assert [action["action"] for action in detail["actions"]] == ["insert", "supersede"]
        lyon = await api.get(f"/v1/memory/thoughts/{detail['replaced_by'][0]['id']}/detail")
        assert [other["objects"] for other in lyon["replaces"]] == [["Paris"]]
        assert lyon["replaced_by"] == []
        stranger = await Api(server, "globex").ask("GET", f"/v1/memory/thoughts/{paris['id']}/detail")
        assert stranger.status == 404

    server.run(work)


def test_transcripts_are_redacted_wherever_they_are_shown(server: ServerApp, memory: Memory) -> None:
    api = Api(server)
    said = memory.remember(
        "My door code is 7741. My brother is called Tom.", "Noted: 7741 opens it.", session="flat"
    )
    memory.post_think()
    brother = next(thought for thought in memory.thoughts() if "Tom" in thought.objects)

    async def work() -> None:
        turns = await api.get("/v1/memory/turns", session="flat")
        assert turns["items"] == [await api.get(f"/v1/memory/turns/{said.id}")]
        shown = turns["items"][0]
        assert "[redacted" in shown["query"]
        assert shown["query"].endswith("My brother is called Tom.")
        detail = await api.get(f"/v1/memory/thoughts/{brother.id}/detail")
        quoted = detail["sources"][0]
        assert quoted["before"] + quoted["quote"] + quoted["after"] == shown["query"]
        assert "Tom" in quoted["quote"]
        assert quoted["before"]
        assert shown["query"][quoted["start"] : quoted["end"]] == quoted["quote"]
        again = {"text": "The door code is 7742.", "session": "flat"}
        corrected = await api.ask("POST", f"/v1/memory/turns/{said.id}/correct", again)
        sent = {"query": "My cabin alarm code is 7743.", "response": "", "session": "flat"}
        stored = await api.ask("POST", "/v1/memory/turns", sent)
        for reply in (turns, detail, corrected.json(), stored.json()):
            assert "774" not in json.dumps(reply)

    server.run(work)
    assert "7741" in memory.turns(session="flat", hidden=True)[0].query


def test_timeline_graph_and_map(server: ServerApp, memory: Memory) -> None:
    api = Api(server)

    async def work() -> None:
        told = await api.get("/v1/memory/timeline")
        times = [item["at"] for item in told["items"]]
        assert times == sorted(times)
        assert told["step"] == "month"
        assert sum(sum(bucket["counts"].values()) for bucket in told["buckets"]) == told["total"]
        graph = await api.get("/v1/memory/graph")
        names = {node["id"]: node["name"] for node in graph["nodes"]}
        edges = {(names[edge["source"]], names[edge["target"]]) for edge in graph["edges"]}
        assert ("user", "Anna") in edges
        types = {node["name"]: node["type"] for node in graph["nodes"]}
        assert (types["user"], types["Anna"]) == ("user", "person")
        drawn = await api.get("/v1/memory/map")
        assert {point[0] for point in drawn["points"]} == {thought.id for thought in memory.thoughts()}
        assert sum(group["count"] for group in drawn["groups"]) == len(drawn["points"])
        empty = await api.get("/v1/memory/map", user="nobody")
        assert empty["points"] == []
        assert (await api.get("/v1/memory/timeline", user="nobody"))["items"] == []

    server.run(work)


def test_negation_is_kept_in_the_graph(server: ServerApp, memory: Memory) -> None:
    memory.remember("I don't eat pork.")
    memory.post_think()
    api = Api(server)

    async def work() -> None:
        edges = (await api.get("/v1/memory/graph"))["edges"]
        negated = [edge for edge in edges if edge["negated"]]
        assert [edge["relation"] for edge in negated] == ["eats"]
        assert len(edges) > len(negated)

    server.run(work)


def test_announced_events_are_on_their_day(server: ServerApp, memory: Memory) -> None:
    said_on = datetime(2024, 9, 2, 10, tzinfo=UTC)
    memory.remember("I have an eye test on 19 September.", at=said_on)
    memory.remember("I fell off my bike on 30 August.", at=said_on)
    memory.post_think()
    api = Api(server)

    async def work() -> None:
        life = await api.get("/v1/memory/timeline")
        days = {item["sentence"]: (item["at"][:10], item["dated"]) for item in life["items"]}
        test = next(found for sentence, found in days.items() if "eye test" in sentence)
        assert test == ("2024-09-19", True)
        fall = next(day for sentence, (day, _) in days.items() if "bike" in sentence)
        assert fall <= "2024-09-02"
        assert [item["at"] for item in life["items"]] == sorted(item["at"] for item in life["items"])
        assert life["last"].startswith("2024-09-19")
        assert sum(sum(bucket["counts"].values()) for bucket in life["buckets"]) == life["total"]

    server.run(work)


def test_names_in_plain_sentences_are_people_of_graph_and_filter(server: ServerApp, memory: Memory) -> None:
    api = Api(server)
    said = (
        "My neighbour Kristin and our old cat Bolota get along badly.",
        "Drove with Kristin to Boston, she works at the harbour there these days.",
    )
    for text in said:
        memory.remember(text, "I see.", at=datetime(2025, 1, 6, tzinfo=UTC))
    memory.post_think()

    async def work() -> None:
        graph = await api.get("/v1/memory/graph")
        types = {node["name"]: node["type"] for node in graph["nodes"]}
        assert (types["Kristin"], types["Bolota"], types["Boston"]) == ("person", "person", "thing")
        assert "Drove" not in types
        names = {node["id"]: node["name"] for node in graph["nodes"]}
        edges = {(names[edge["source"]], names[edge["target"]]) for edge in graph["edges"]}
        assert ("Kristin", "Bolota") in edges, "names of one sentence are joined"
        found = await api.get("/v1/memory/browse", person="kristin")
        assert found["total"] == 2
        assert {person["name"]: person["count"] for person in found["people"]}["Kristin"] == 2
        assert "Boston" not in {person["name"] for person in found["people"]}

    server.run(work)


def test_topics_count_the_current_thoughts_and_are_a_filter(server: ServerApp, memory: Memory) -> None:
    api = Api(server)

    async def work() -> None:
        topics = (await api.get("/v1/memory/topics"))["items"]
        assert sum(topic["count"] for topic in topics) == len(memory.thoughts())
        assert all(topic["label"] for topic in topics)
        for topic in topics:
            found = await api.get("/v1/memory/browse", group=topic["group"])
            assert found["total"] == topic["count"]
            assert {item["group"] for item in found["items"]} == {topic["group"]}
        ordered = (await api.get("/v1/memory/browse", sort="topic"))["items"]
        groups = [item["group"] for item in ordered]
        assert list(dict.fromkeys(groups)) == [topic["group"] for topic in topics]
        assert groups == sorted(groups, key=[topic["group"] for topic in topics].index), "not interleaved"
        assert (await api.get("/v1/memory/topics", user="nobody")) == {"items": [], "total": 0}

    server.run(work)


def test_explain_shows_candidates_and_the_context_as_sent(server: ServerApp, memory: Memory) -> None:
    api = Api(server)

    async def work() -> None:
        told = await api.ask("POST", "/v1/memory/explain", {"query": "Where do I live?", "k": 1})
        assert told.status == 200, told.body
        result = told.json()
        assert len(result["recollection"]["items"]) == 1
        assert result["recollection"]["dropped"]
        assert result["recollection"]["items"][0]["score"]["sum"]["parts"]
        system, user = result["context"]["messages"]
        assert (system["role"], user["content"]) == ("system", "Where do I live?")
        assert system["content"] == result["context"]["block"]
        assert "Lyon" in system["content"]
        assert result["context"]["tokens"] == system["tokens"] + user["tokens"]

    server.run(work)


def test_check_reports_contradictions_and_safety(server: ServerApp, memory: Memory) -> None:
    api = Api(server)

    async def work() -> None:
        body = {"query": "What shall I order?", "answer": "Go for the chicken satay."}
        found = (await api.ask("POST", "/v1/memory/check", body)).json()
        assert [conflict["method"] for conflict in found["conflicts"]] == ["safety"]
        assert found["constraints"][0]["kind"] == "allergy"
        stranger = (await Api(server, "globex").ask("POST", "/v1/memory/check", body)).json()
        assert stranger == {"conflicts": [], "constraints": []}

    server.run(work)


def test_recent_journal_is_filtered_and_paged(server: ServerApp, memory: Memory) -> None:
    api = Api(server)

    async def work() -> None:
        everything = await api.get("/v1/memory/journal/recent", limit=100)
        ids = [action["id"] for action in everything["items"]]
        assert ids == sorted((action.id for action in memory.journal()), reverse=True)
        assert everything["next"] is None
        seen: list[int] = []
        before: dict[str, int] = {}
        while True:
            page = await api.get("/v1/memory/journal/recent", limit=2, **before)
            seen += [action["id"] for action in page["items"]]
            if page["next"] is None:
                break
            before = {"before": page["next"]}
        assert seen == ids
        replaced = await api.get("/v1/memory/journal/recent", action="supersede", q="lyon")
        assert [action["action"] for action in replaced["items"]] == ["supersede"]
        assert (await api.get("/v1/memory/journal/recent", actor="nobody"))["items"] == []

    server.run(work)


def events_in(body: bytes) -> list[tuple[str, Any]]:
    blocks = [block.split("\n") for block in body.decode().split("\n\n") if block.startswith("event:")]
    return [
        (lines[0].removeprefix("event: "), json.loads(lines[-1].removeprefix("data: "))) for lines in blocks
    ]


def test_journal_stream_sends_actions_once(server: ServerApp, memory: Memory) -> None:
    memory.remember(HOSTILE)
    memory.post_think()
    api = Api(server)

    async def work() -> None:
        told = await api.ask("GET", "/v1/memory/journal/stream", after=0, seconds=0)
        assert told.header("content-type") == "text/event-stream; charset=utf-8"
        events = events_in(told.body)
        sent = [value["id"] for name, value in events if name == "action"]
        assert sent == [action.id for action in memory.journal()]
        assert events[-1] == ("status", {"pending": 0, "failed": 0, "last": sent[-1]})
        later = await api.ask("GET", "/v1/memory/journal/stream", seconds=0)
        assert [name for name, _ in events_in(later.body)] == ["status"]
        stranger = await Api(server, "globex").ask("GET", "/v1/memory/journal/stream", after=0, seconds=0)
        assert [name for name, _ in events_in(stranger.body)] == ["status"]

    server.run(work)


def test_hostile_text_is_returned_as_json_text(server: ServerApp, memory: Memory) -> None:
    turn = memory.remember(HOSTILE)
    memory.post_think()
    api = Api(server)

    async def work() -> None:
        for path in ("browse", "timeline", "graph", "journal/recent"):
            response = await api.ask("GET", f"/v1/memory/{path}")
            assert response.header("content-type") == "application/json"
            assert response.header("x-content-type-options") == "nosniff"
        kept = await api.get(f"/v1/memory/turns/{turn.id}")
        assert kept["query"] == turn.query
        assert "</script><img src=x onerror=alert(1)>" in turn.query

    server.run(work)


def test_health_reports_queue_models_and_audit(server: ServerApp, memory: Memory) -> None:
    memory.remember("This one waits.")
    api = Api(server)
    reader = server.key("acme", "read")

    async def work() -> None:
        health = await api.get("/v1/memory/health")
        assert health["queue"]["pending"] == 1
        assert health["models"]["embedder"].startswith("hashing")
        assert health["audit"]["turns"] == memory.stats().turns
        assert health["usage"]["requests"] >= 0
        assert health["scrubs_pending"] is False
        limited = (await server.request("GET", "/v1/memory/health?audit=false", key=reader)).json()
        assert (limited["usage"], limited["audit"], limited["queue"]["backlog"]) == (None, None, None)

    server.run(work)


# --- 10,000 thoughts ---


def fill(memory: Memory, count: int) -> None:
    """Store many thoughts in one plan, with random vectors around 40 centres."""
    turn = memory.remember("Everything.")
    rng = np.random.default_rng(5)
    dim = memory.embedder.dim
    centres = rng.normal(size=(40, dim))
    drafts, entries = [], []
    for number in range(count):
        vector = centres[number % 40] + 0.5 * rng.normal(size=dim)
        unit = (vector / np.linalg.norm(vector)).astype(np.float32)
        drafts.append(
            ThoughtDraft(
                subject="user" if number % 3 else f"Person{number % 300}",
                relation=f"knows {number % 17}",
                objects=(f"thing {number}",),
                sentence=f"The user knows thing {number} of topic {number % 40}.",
                kind="knowledge",
                sources=(Source(turn.id, turn.asker, "query", 0, 5),),
            )
        )
        entries.append(IndexEntry("thought", 0, unit, np.zeros(0, np.uint32), number % 40))
    plan = Plan(
        turn=None,
        lease="",
        actor="test",
        operations=(Operation(action="insert", reason="x", add=tuple(drafts)),),
    )
    memory.store.apply(memory.user, plan, entries, datetime.now(UTC))


@pytest.mark.slow
def test_ten_thousand_thoughts_are_fluid(tmp_path: Path) -> None:
    """Figures in CPU seconds of this thread, because test machines are busy."""
    with Memory.open(tmp_path / "large.db", embedder="hashing", background=False) as memory:
        fill(memory, 10_000)
        from thinkback.server.views.browse import Filter, browse
        from thinkback.server.views.graph import graph
        from thinkback.server.views.timeline import timeline

        cache = SnapshotCache()
        timings: dict[str, float] = {}

        def timed(name: str, work: Any) -> Any:
            started = time.thread_time()
            result = work()
            timings[name] = min(timings.get(name, float("inf")), time.thread_time() - started)
            return result

        snapshot = timed("first snapshot", lambda: cache.get(memory))
        assert timed("same snapshot", lambda: cache.get(memory)) is snapshot
        for _ in range(3):  # the best of three: a collection of garbage may fall into one
            found = timed("search", lambda: browse(snapshot, Filter(words="topic 7"), "newest", 0, 100))
        assert found["total"] > 250
        memory.forget(snapshot.rows[0].thought, "x")
        timed("changed snapshot", lambda: cache.get(memory))
        timed("timeline", lambda: timeline(snapshot, Filter(state="all"), 0, 1000))
        timed("graph", lambda: graph(snapshot, "current", 150))
        drawn = timed("map", lambda: projection.make_map(memory, cache.get(memory)))
        print({name: f"{seconds * 1000:.0f} ms" for name, seconds in timings.items()})
        assert len(drawn["points"]) == 9_999
        assert timings["search"] < 0.1
        assert timings["same snapshot"] < 0.02


def test_map_is_deterministic_and_keeps_neighbours() -> None:
    rng = np.random.default_rng(3)
    centres = rng.normal(size=(8, 64))
    labels = np.arange(160) % 8
    vectors = (centres[labels] + 0.3 * rng.normal(size=(160, 64))).astype(np.float32)
    placed = projection.project(vectors)
    assert np.array_equal(placed, projection.project(vectors))
    assert np.isfinite(placed).all()
    assert np.abs(placed).max() == pytest.approx(1.0, abs=1e-5)
    distances = ((placed[:, None] - placed[None]) ** 2).sum(axis=2)
    np.fill_diagonal(distances, np.inf)
    assert np.mean(labels[distances.argmin(axis=1)] == labels) > 0.9


@pytest.mark.parametrize("count", [1, 2, 5, 12, 13])
def test_small_maps_are_finite(count: int) -> None:
    vectors = np.eye(16, dtype=np.float32)[:count]
    assert projection.project(vectors).shape == (count, 2)
    assert np.isfinite(projection.project(vectors)).all()
    assert np.isfinite(projection.project(np.ones((count, 16), dtype=np.float32))).all()
