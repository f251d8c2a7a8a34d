"""The recall client and worker over a real socket."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import pytest

from thinkback import Memory
from thinkback.errors import CorruptStore
from thinkback.server.circuit_breaker import FAILURE_THRESHOLD
from thinkback.server.processes.recall_worker import RecallWorker
from thinkback.server.proxy.exchange import ChatQuery
from thinkback.server.proxy.handler import RecallStep
from thinkback.server.proxy.ipc_client import (
    MAX_UNREAD_BYTES,
    IpcRecallClient,
    LoadFile,
    RemoteError,
    WorkerUnavailable,
)
from thinkback.server.proxy.recall_client import ChatTurn, LocalRecallClient, UnusableQuery
from thinkback.server.services import MemoryRegistry, Options
from thinkback.server.telemetry import Telemetry
from thinkback.server.thread_pool import DeadlineExceeded, ThreadPool
from thinkback.types import Recollection

LIVES = ChatTurn(query="I live in Lyon.", response="Noted.", session="s", key=None)
QUERY = ChatQuery(text="Where do I live?", texts=("Where do I live?",))
_Result = TypeVar("_Result")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder="hashing", background=False) as memory:
        yield memory


@pytest.fixture
def options(tmp_path: Path) -> Options:
    return Options(
        recall_sockets=(str(tmp_path / "running_worker"),),
        recall_timeout_seconds=20.0,
        remember_timeout_seconds=20.0,
    )


@contextmanager
def running_worker(memory: Memory, options: Options) -> Iterator[Callable[[], None]]:
    """A recall worker in a thread; yields a function that stops it."""
    ready = threading.Event()
    stop: list[Callable[[], None]] = []

    def run() -> None:
        async def serve() -> None:
            await RecallWorker(MemoryRegistry(memory), options).serve(options.recall_sockets[0], told)

        def told(end: Callable[[], None]) -> None:
            stop.append(end)
            ready.set()

        asyncio.run(serve())

    thread = threading.Thread(target=run)
    thread.start()
    assert ready.wait(20)

    def end() -> None:
        stop[0]()
        thread.join(20)
        assert not thread.is_alive()

    try:
        yield end
    finally:
        end()


def with_client(
    memory: Memory, options: Options, work: Callable[[IpcRecallClient], Awaitable[_Result]]
) -> _Result:
    async def served() -> _Result:
        pool = ThreadPool(threads=1)
        client = IpcRecallClient(options, LocalRecallClient(options, pool))
        try:
            return await work(client)
        finally:
            await client.close()
            pool.close()

    return asyncio.run(served())


def test_recall_in_worker(memory: Memory, options: Options) -> None:
    async def both(client: IpcRecallClient) -> None:
        assert await client.remember(memory, LIVES) == "turn:1"
        found = await client.recall(memory, QUERY)
        assert "I live in Lyon." in found.block
        assert found.refs == "turn:1"
        assert found.seconds > 0
        given = replace(LIVES, query="And?", key="mine", used=found.used)
        assert await client.remember(memory, given) == "turn:2"

    with running_worker(memory, options):
        with_client(memory, options, both)
    assert memory.turns()[1].recalled[0].id == 1


def test_worker_separates_tenants_and_users(memory: Memory, options: Options) -> None:
    other, ann = memory.for_tenant("acme"), memory.for_user("ann")

    async def all_three(client: IpcRecallClient) -> list[str]:
        await client.remember(memory, LIVES)
        return [(await client.recall(each, QUERY)).block for each in (memory, other, ann)]

    with running_worker(memory, options):
        mine, theirs, hers = with_client(memory, options, all_three)
    assert "Lyon" in mine
    assert theirs == hers == ""


def test_concurrent_requests_get_their_own_replies(memory: Memory, options: Options) -> None:
    users = [memory.for_user(f"u{number}") for number in range(12)]
    for number, user in enumerate(users):
        user.remember(f"I live in Town{number}.")

    async def many(client: IpcRecallClient) -> list[str]:
        return [
            found.block for found in await asyncio.gather(*(client.recall(each, QUERY) for each in users))
        ]

    with running_worker(memory, options):
        blocks = with_client(memory, options, many)
    assert all(f"Town{number}." in block for number, block in enumerate(blocks))


def test_worker_errors_are_reported_by_type(
    memory: Memory, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise CorruptStore("a file of ours")

    async def wrong(client: IpcRecallClient) -> None:
        with pytest.raises(UnusableQuery):
            await client.recall(memory, ChatQuery(text="  "))
        monkeypatch.setattr(Memory, "recall", broken)
        with pytest.raises(RemoteError, match="CorruptStore"):
            await client.recall(memory, QUERY)

    with running_worker(memory, options):
        with_client(memory, options, wrong)


def test_late_recall_exceeds_deadline(memory: Memory, options: Options) -> None:
    async def late(client: IpcRecallClient) -> None:
        with pytest.raises(DeadlineExceeded):
            await client.recall(memory, QUERY)
        assert await client.remember(memory, LIVES) == "turn:1"

    with running_worker(memory, options):
        with_client(memory, replace(options, recall_timeout_seconds=0.0), late)


def test_load_file_of_a_restarted_worker_replaces_the_one_that_is_still_mapped(tmp_path: Path) -> None:
    path = str(tmp_path / "worker")
    assert LoadFile.open(path) is None
    written, read = LoadFile.create(path), LoadFile.open(path)
    written.requests = 7
    assert read is not None
    assert read.requests == 7
    LoadFile.create(path).requests = 1000
    again = LoadFile.open(path)
    assert again is not None
    assert (read.requests, again.requests) == (7, 255)


def test_less_busy_worker_of_a_user_recalls(memory: Memory, options: Options, tmp_path: Path) -> None:
    """The load is known from the workers themselves, whichever processes it comes from."""
    paths = [str(tmp_path / name) for name in ("one", "other")]
    sockets = [replace(options, recall_sockets=(path,)) for path in paths]

    async def story(client: IpcRecallClient) -> None:
        await client.remember(memory, LIVES)
        for connection in client._connections:
            await connection._ensure_open()
        usual = client._connection_for(memory)
        (other,) = (each for each in client._connections if each is not usual)
        published = usual._load_file
        usual._load_file = busy = LoadFile.create(usual._path)  # as if other processes asked it
        busy.requests = 9
        assert client._connection_for(memory) is other
        assert "Lyon" in (await client.recall(memory, QUERY)).block
        usual._load_file = published
        assert client._connection_for(memory) is usual
        assert (usual.load, other.load) == (0, 0)

    with running_worker(memory, sockets[0]), running_worker(memory, sockets[1]):
        with_client(memory, replace(options, recall_sockets=tuple(paths)), story)


def test_worker_that_was_never_reached_is_not_preferred(
    memory: Memory, options: Options, tmp_path: Path
) -> None:
    paths = [str(tmp_path / name) for name in ("one", "other")]

    async def story(client: IpcRecallClient) -> None:
        await client.remember(memory, LIVES)
        usual = client._connection_for(memory)
        (other,) = (each for each in client._connections if each is not usual)
        with running_worker(memory, replace(options, recall_sockets=(usual._path,))):
            with pytest.raises(WorkerUnavailable):
                await other.request([], 1.0)
            assert await asyncio.gather(*(client.recall(memory, QUERY) for _ in range(8)))
            assert other.is_lost
            assert client._connection_for(memory) is usual

    with_client(memory, replace(options, recall_sockets=tuple(paths)), story)


def test_worker_publishes_how_many_requests_it_has(
    memory: Memory, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = threading.Event()
    recall = Memory.recall

    def slow(memory: Memory, query: str, k: int) -> Recollection:
        assert free.wait(20)
        return recall(memory, query, k)

    async def story(client: IpcRecallClient) -> None:
        await client.remember(memory, LIVES)
        await client._connections[0]._ensure_open()
        load = LoadFile.open(options.recall_sockets[0])  # as another process sees it
        assert load is not None
        monkeypatch.setattr(Memory, "recall", slow)
        tasks = [asyncio.ensure_future(client.recall(memory, QUERY)) for _ in range(5)]
        async with asyncio.timeout(10):
            while load.requests < 5:
                await asyncio.sleep(0.01)
            free.set()
            assert all("Lyon" in found.block for found in await asyncio.gather(*tasks))
            while load.requests:
                await asyncio.sleep(0.01)

    with running_worker(memory, options):
        with_client(memory, options, story)


def test_without_worker_this_process_recalls(memory: Memory, options: Options) -> None:
    async def alone(client: IpcRecallClient) -> None:
        assert await client.remember(memory, LIVES) == "turn:1"
        for _ in range(8):
            assert "Lyon" in (await client.recall(memory, QUERY)).block

    with_client(memory, options, alone)


def test_recall_that_loses_its_worker_is_answered_by_this_process(memory: Memory, options: Options) -> None:
    async def story(client: IpcRecallClient) -> None:
        await client.remember(memory, LIVES)

        async def dies(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                await asyncio.sleep(0.1)
            finally:  # also if the test ends while a later connection sleeps
                writer.transport.abort()

        async with await asyncio.start_unix_server(dies, options.recall_sockets[0]):
            found = await asyncio.gather(*(client.recall(memory, QUERY) for _ in range(16)))
        assert all("Lyon" in each.block for each in found)

    with_client(memory, options, story)


@pytest.mark.parametrize("steps", range(6))
def test_closing_while_the_connection_opens_leaves_no_socket(
    memory: Memory, options: Options, steps: int
) -> None:
    async def story() -> list[bytes]:
        received: list[bytes] = []

        async def reads(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            received.append(await reader.read())  # until the client closes
            writer.close()

        pool = ThreadPool(threads=1)
        client = IpcRecallClient(options, LocalRecallClient(options, pool))
        async with await asyncio.start_unix_server(reads, options.recall_sockets[0]):
            opening = asyncio.ensure_future(client._connections[0]._ensure_open())
            for _ in range(steps):
                await asyncio.sleep(0)
            await client.close()
            await opening
            async with asyncio.timeout(5):
                while not received:
                    await asyncio.sleep(0.01)
        pool.close()
        return received

    assert asyncio.run(story()) == [b""]


def test_restarted_worker_closes_the_breaker_without_a_trial(memory: Memory, options: Options) -> None:
    async def story(client: IpcRecallClient) -> None:
        step = RecallStep(options, client, Telemetry())
        with running_worker(memory, options) as end:
            await client.recall(memory, QUERY)
            for _ in range(FAILURE_THRESHOLD):
                step._breaker.record_failure()
            assert (await step.run(memory, QUERY)).skipped == "busy"
            await asyncio.to_thread(end)
        with running_worker(memory, options):
            async with asyncio.timeout(5):
                while step._breaker.is_open:
                    await asyncio.sleep(0.01)
            assert (await step.run(memory, QUERY)).skipped == ""

    with_client(memory, options, story)


def test_client_reconnects_to_restarted_worker(memory: Memory, options: Options) -> None:
    async def twice(client: IpcRecallClient) -> None:
        with running_worker(memory, options) as end:
            assert await client.remember(memory, LIVES) == "turn:1"
            await asyncio.to_thread(end)
        await asyncio.sleep(0.01)
        assert await client.remember(memory, replace(LIVES, query="Here.")) == "turn:2"
        with running_worker(memory, options):
            await asyncio.sleep(0.3)
            assert "Lyon" in (await client.recall(memory, QUERY)).block
            assert client._connections[0].load == 0

    with_client(memory, options, twice)


def test_unread_bytes_are_bounded(memory: Memory, options: Options) -> None:
    async def story(client: IpcRecallClient) -> int:
        asleep = asyncio.Event()

        async def never_reads(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.transport.pause_reading()  # type: ignore[attr-defined]
            await asleep.wait()
            writer.close()

        server = await asyncio.start_unix_server(never_reads, options.recall_sockets[0])
        async with server:
            long = ChatQuery(text="Where?", texts=("x" * (1 << 20), "Where?"))
            for _ in range(20):
                with pytest.raises(DeadlineExceeded):
                    await client.recall(memory, long)
            (connection,) = client._connections
            assert connection._transport is not None
            held = connection._transport.get_write_buffer_size()
            connection._transport.abort()
            asleep.set()
        return held

    assert with_client(memory, replace(options, recall_timeout_seconds=0.02), story) < MAX_UNREAD_BYTES + (
        2 << 20
    )


def test_turn_does_not_wait_for_reads(memory: Memory, options: Options) -> None:
    free = threading.Event()

    async def story() -> str:
        pool = ThreadPool(threads=1)
        recall_client = LocalRecallClient(options, pool)
        reading = asyncio.ensure_future(pool.run(lambda: free.wait(20)))
        await asyncio.sleep(0)
        try:
            return await recall_client.remember(memory, LIVES)
        finally:
            free.set()
            assert await reading
            await recall_client.close()
            pool.close()

    assert asyncio.run(story()) == "turn:1"
