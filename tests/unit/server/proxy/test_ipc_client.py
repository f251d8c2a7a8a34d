"""The office and the post to it, over a real socket: errands are done, late ones not, none is lost."""

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
from thinkback.server.options import Options
from thinkback.server.processes.recall_worker import RecallWorker
from thinkback.server.proxy.exchange import ChatQuery
from thinkback.server.proxy.ipc_client import MAX_UNREAD_BYTES, IpcRecallClient, RemoteError
from thinkback.server.proxy.recall_client import ChatTurn, LocalRecallClient, UnusableQuery
from thinkback.server.services import MemoryRegistry
from thinkback.server.thread_pool import DeadlineExceeded, ThreadPool

LIVES = ChatTurn(query="I live in Lyon.", response="Noted.", session="s", key=None)
ASKED = ChatQuery(text="Where do I live?", texts=("Where do I live?",))
_Result = TypeVar("_Result")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "memory.db", embedder="hashing", background=False) as memory:
        yield memory


@pytest.fixture
def options(tmp_path: Path) -> Options:
    return Options(
        recall_sockets=(str(tmp_path / "office"),), recall_timeout_seconds=20.0, remember_timeout_seconds=20.0
    )


@contextmanager
def office(memory: Memory, options: Options) -> Iterator[Callable[[], None]]:
    """The office in a thread of its own, as if it were a process; what is given stops it."""
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


def by_post(
    memory: Memory, options: Options, work: Callable[[IpcRecallClient], Awaitable[_Result]]
) -> _Result:
    async def served() -> _Result:
        desk = ThreadPool(threads=1)
        post = IpcRecallClient(options, LocalRecallClient(options, desk))
        try:
            return await work(post)
        finally:
            await post.close()
            desk.close()

    return asyncio.run(served())


def test_an_errand_is_done_there_and_told_here(memory: Memory, options: Options) -> None:
    async def both(post: IpcRecallClient) -> None:
        assert await post.remember(memory, LIVES) == "turn:1"
        found = await post.recall(memory, ASKED)
        assert "I live in Lyon." in found.block
        assert found.refs == "turn:1"
        assert found.seconds > 0
        given = replace(LIVES, query="And?", key="mine", used=found.used)
        assert await post.remember(memory, given) == "turn:2"

    with office(memory, options):
        by_post(memory, options, both)
    assert memory.turns()[1].recalled[0].id == 1


def test_tenants_and_users_are_told_apart(memory: Memory, options: Options) -> None:
    other, ann = memory.for_tenant("acme"), memory.for_user("ann")

    async def all_three(post: IpcRecallClient) -> list[str]:
        await post.remember(memory, LIVES)
        return [(await post.recall(each, ASKED)).block for each in (memory, other, ann)]

    with office(memory, options):
        mine, theirs, hers = by_post(memory, options, all_three)
    assert "Lyon" in mine
    assert theirs == hers == ""


def test_many_errands_at_once_each_get_their_own_reply(memory: Memory, options: Options) -> None:
    users = [memory.for_user(f"u{number}") for number in range(12)]
    for number, user in enumerate(users):
        user.remember(f"I live in Town{number}.")

    async def many(post: IpcRecallClient) -> list[str]:
        return [found.block for found in await asyncio.gather(*(post.recall(each, ASKED) for each in users))]

    with office(memory, options):
        blocks = by_post(memory, options, many)
    assert all(f"Town{number}." in block for number, block in enumerate(blocks))


def test_what_fails_there_is_told_by_its_kind(
    memory: Memory, options: Options, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise CorruptStore("a file of ours")

    async def wrong(post: IpcRecallClient) -> None:
        with pytest.raises(UnusableQuery):
            await post.recall(memory, ChatQuery(text="  "))
        monkeypatch.setattr(Memory, "recall", broken)
        with pytest.raises(RemoteError, match="CorruptStore"):
            await post.recall(memory, ASKED)

    with office(memory, options):
        by_post(memory, options, wrong)


def test_a_late_recall_is_not_waited_for(memory: Memory, options: Options) -> None:
    async def late(post: IpcRecallClient) -> None:
        with pytest.raises(DeadlineExceeded):
            await post.recall(memory, ASKED)
        assert await post.remember(memory, LIVES) == "turn:1"

    with office(memory, options):
        by_post(memory, replace(options, recall_timeout_seconds=0.0), late)


def test_without_an_office_a_turn_is_kept_here_and_recall_fails_at_once(
    memory: Memory, options: Options
) -> None:
    async def alone(post: IpcRecallClient) -> None:
        assert await post.remember(memory, LIVES) == "turn:1"
        with pytest.raises(ConnectionError):
            await post.recall(memory, ASKED)

    by_post(memory, options, alone)


def test_an_office_that_came_back_is_asked_again(memory: Memory, options: Options) -> None:
    async def twice(post: IpcRecallClient) -> None:
        with office(memory, options) as end:
            assert await post.remember(memory, LIVES) == "turn:1"
            await asyncio.to_thread(end)
        await asyncio.sleep(0.01)
        assert await post.remember(memory, replace(LIVES, query="Here.")) == "turn:2"
        with office(memory, options):
            await asyncio.sleep(0.3)
            assert "Lyon" in (await post.recall(memory, ASKED)).block

    by_post(memory, options, twice)


def test_an_office_that_does_not_read_is_not_written_to_without_end(memory: Memory, options: Options) -> None:
    async def story(post: IpcRecallClient) -> int:
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
                    await post.recall(memory, long)
            (box,) = post._connections
            assert box._out is not None
            held = box._out.get_write_buffer_size()
            box._out.abort()
            asleep.set()
        return held

    assert by_post(memory, replace(options, recall_timeout_seconds=0.02), story) < MAX_UNREAD_BYTES + (
        2 << 20
    )


def test_a_turn_does_not_wait_behind_what_is_read(memory: Memory, options: Options) -> None:
    free = threading.Event()

    async def story() -> str:
        desk = ThreadPool(threads=1)
        clerk = LocalRecallClient(options, desk)
        reading = asyncio.ensure_future(desk.run(lambda: free.wait(20)))
        await asyncio.sleep(0)
        try:
            return await clerk.remember(memory, LIVES)
        finally:
            free.set()
            assert await reading
            await clerk.close()
            desk.close()

    assert asyncio.run(story()) == "turn:1"
