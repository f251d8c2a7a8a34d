"""All connections to PostgreSQL in use: requests wait a limited time and get 503 with Retry-After.

Five connections and 200 clients with THINKBACK_FAULT_SECONDS of 60 or more; 40 clients by default.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread
from urllib.request import Request, urlopen

import pytest
from tests.auth_matrix import AppResponse, send_request
from tests.fake_openai import FakeOpenAI
from tests.postgres_server import requires_postgres
from tests.proxy_app import run_proxy
from tests.server_app import run_lifespan

from thinkback.memory import Memory
from thinkback.protocols import Store
from thinkback.server.app import create_app
from thinkback.server.services import MemoryRegistry, Options, Services
from thinkback.server.telemetry import Telemetry
from thinkback.server.thread_pool import ThreadPool

CONNECTIONS = 5
CLIENTS = 200 if float(os.environ.get("THINKBACK_FAULT_SECONDS", "0")) >= 60 else 40
POOL_TIMEOUT_SECONDS = 0.5

pytestmark = requires_postgres


@contextmanager
def all_connections_in_use(store: Store) -> Iterator[None]:
    held, done = [Event() for _ in range(CONNECTIONS)], Event()

    def hold(ready: Event) -> None:
        with store._db.write():  # type: ignore[attr-defined]  # the PostgreSQL store
            ready.set()
            done.wait(120)

    threads = [Thread(target=hold, args=(ready,)) for ready in held]
    for thread in threads:
        thread.start()
    for ready in held:
        assert ready.wait(60)
    try:
        yield
    finally:
        done.set()
        for thread in threads:
            thread.join()


@pytest.fixture
def memory(postgres_url: str) -> Iterator[Memory]:
    url = f"{postgres_url}&pool_size={CONNECTIONS}&pool_timeout={POOL_TIMEOUT_SECONDS}"
    with Memory.open(url, embedder="hashing", background=False) as opened:
        yield opened


def test_clients_get_503_with_retry_after_and_are_served_afterwards(memory: Memory) -> None:
    pool = ThreadPool(8)
    app = create_app(Services(Options(), MemoryRegistry(memory), pool, Telemetry()))

    async def write(number: int) -> AppResponse:
        return await send_request(
            app,
            "POST",
            f"/v1/memory/turns?user=user{number}",
            headers=[(b"content-type", b"application/json")],
            body=b'{"query": "I live in Lyon."}',
        )

    async def run() -> tuple[list[AppResponse], AppResponse]:
        async with run_lifespan(app):
            with all_connections_in_use(memory.store):
                refused = await asyncio.gather(*(write(number) for number in range(CLIENTS)))
            return refused, await write(0)

    started = time.monotonic()
    refused, served = asyncio.run(run())
    pool.close()
    statuses = Counter(response.status for response in refused)
    elapsed = time.monotonic() - started
    print(f"{CLIENTS} clients, {CONNECTIONS} connections: {dict(statuses)} in {elapsed:.1f} s")
    assert set(statuses) == {503}
    assert all(int(response.header("retry-after") or 0) >= 1 for response in refused)
    assert served.status in (200, 201)


def test_chats_pass_through_without_memory(memory: Memory) -> None:
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": "I live in Lyon."}]}).encode()
    with (
        FakeOpenAI() as upstream,
        run_proxy("", upstream.url, memory=memory, remember_timeout_seconds=1.0) as proxy,
        all_connections_in_use(memory.store),
    ):
        for _ in range(3):
            request = Request(f"{proxy.url}/chat/completions", body, {"Content-Type": "application/json"})
            with urlopen(request, timeout=60) as answer:  # a server of this test
                assert answer.status == 200
                assert json.load(answer)["choices"]
