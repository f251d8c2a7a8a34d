"""`AsyncMemory` has the methods of `Memory` and does not block the event loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from thinkback.aio import AsyncMemory
from thinkback.errors import InvalidInput, ThinkbackError
from thinkback.llms.scripted import ScriptedLLM
from thinkback.memory import Memory
from thinkback.types import Ref


def public(kind: type) -> set[str]:
    return {name for name, value in inspect.getmembers(kind, callable) if not name.startswith("_")}


def test_async_memory_has_every_method_of_memory() -> None:
    assert public(AsyncMemory) == public(Memory)


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 60))


def open_async(path: Path | str = ":memory:", **options: Any) -> AsyncMemory:
    return AsyncMemory.open(path, **{"embedder": "hashing", "background": False, **options})


def test_open_can_be_awaited_or_used_as_a_context_manager(tmp_path: Path) -> None:
    async def story() -> None:
        async with open_async(tmp_path / "a.db") as memory:
            await memory.remember("I live in Lyon.")
        with pytest.raises(ThinkbackError):
            await memory.turns()
        memory = await open_async(tmp_path / "a.db")
        assert [turn.query for turn in await memory.turns()] == ["I live in Lyon."]
        await memory.close()
        async with await open_async(tmp_path / "a.db", user="ann") as memory:
            assert await memory.turns() == []

    run(story())


def test_constructor_takes_the_arguments_of_memory(tmp_path: Path) -> None:
    def create(user: str) -> AsyncMemory:
        return AsyncMemory(tmp_path / "a.db", user=user, embedder="hashing", background=False)

    async def story() -> None:
        async with create("ann") as memory:
            await memory.remember("I live in Lyon.")
        later = create("ann")  # the first call opens it
        assert [turn.query for turn in await later.turns()] == ["I live in Lyon."]
        await later.close()
        other = await create("bob")
        assert await other.turns() == []
        assert [turn.query for turn in await other.for_user("ann").turns()] == ["I live in Lyon."]
        await other.close()
        unused = AsyncMemory(tmp_path / "unused.db")
        await unused.close()
        assert not (tmp_path / "unused.db").exists()
        with Memory(":memory:", embedder="hashing", background=False) as wrapped:
            assert AsyncMemory(wrapped).memory is wrapped
            with pytest.raises(InvalidInput, match="has its options already"):
                AsyncMemory(wrapped, user="ann")

    run(story())


def test_constructors_have_the_same_parameters() -> None:
    def names(kind: type) -> list[str]:
        return [name for name, p in inspect.signature(kind).parameters.items() if p.kind is not p.VAR_KEYWORD]

    assert names(AsyncMemory) == names(Memory)


def test_open_passes_its_errors_on() -> None:
    async def story() -> None:
        with pytest.raises(InvalidInput, match="no preset"):
            await open_async(preset="best")
        with pytest.raises(InvalidInput, match="no preset"):
            async with open_async(preset="best"):
                pass

    run(story())


class Notes(AsyncMemory):
    """A subclass."""


def test_open_returns_the_subclass() -> None:
    async def story() -> None:
        async with Notes.open(":memory:", embedder="hashing", background=False) as notes:
            assert type(notes) is Notes
            assert type(notes.for_user("ann")) is Notes

    run(story())


def test_all_methods_in_one_story(tmp_path: Path) -> None:
    async def story() -> None:
        async with await open_async(tmp_path / "a.db") as memory:
            turn = await memory.remember("I live in Lyon.", session="s", key="k")
            await memory.remember_messages([{"role": "user", "content": "I like tea."}])
            assert (await memory.post_think()).turns == 2
            assert await memory.wait(1)
            assert [item.ref for item in await memory.recall("Where do I live?")] == [Ref("thought", 1)]
            assert (await memory.thoughts())[0].sentence == "The user lives in Lyon."
            answer = await memory.chat("Where do I live?")
            assert "Lyon" in answer.text
            assert (await memory.why(answer)).used == answer.turn.recalled
            assert len(await memory.turns()) == 3
            assert (await memory.stats()).thoughts == len(await memory.thoughts()) == 2
            assert len(await memory.entities()) == 1
            action = await memory.forget("thought:1", "joke")
            await memory.undo(action)
            assert [entry.action for entry in await memory.journal(thought=1)] == ["insert", "forget", "undo"]
            assert (await memory.failures(), await memory.retry_failures()) == ([], 0)
            lines = await memory.export()
            copy = memory.for_user("copy")
            assert await copy.import_(lines) == 3
            assert (await copy.export())[2:] == lines[2:]
            assert (await memory.erase(turn=turn)).turns == 1
        assert await AsyncMemory.reembed(tmp_path / "a.db", "hashing") == 0

    run(story())


def test_errors_are_raised_to_the_caller() -> None:
    async def story() -> None:
        async with await open_async() as memory:
            with pytest.raises(InvalidInput):
                await memory.remember("")

    run(story())


def test_concurrent_calls() -> None:
    async def story() -> None:
        async with await open_async() as memory:
            await asyncio.gather(*(memory.remember(f"I own boat {number}.") for number in range(20)))
            found = await asyncio.gather(*(memory.recall(f"boat {number}", k=1) for number in range(20)))
            queries = [answer[0].turn.query for answer in found if answer[0].turn]
            assert queries == [f"I own boat {number}." for number in range(20)]

    run(story())


def test_chat_stream_yields_pieces() -> None:
    async def story() -> None:
        llm = ScriptedLLM(["one two three"], extracts=False)
        async with await open_async(llm=llm) as memory:
            pieces = [piece async for piece in memory.chat_stream("write the numbers")]
            assert len(pieces) > 1
            assert "".join(pieces) == (await memory.turns())[0].response == "one two three"

    run(story())


def test_abandoned_stream_is_remembered() -> None:
    async def story() -> None:
        llm = ScriptedLLM(["one two three"], extracts=False)
        async with await open_async(llm=llm) as memory:
            stream = memory.chat_stream("write the numbers")
            assert await anext(stream) == "one"
            await stream.aclose()  # type: ignore[attr-defined]
            assert [turn.response for turn in await memory.turns()] == ["one"]

    run(story())


def test_cancelled_stream_is_remembered() -> None:
    async def story() -> None:
        import threading

        asked, speak = threading.Event(), threading.Event()

        def slowly(messages: object) -> str:
            asked.set()
            speak.wait(20)
            return "too late"

        async with await open_async(llm=ScriptedLLM([slowly], extracts=False)) as memory:

            async def listen() -> None:
                async for _ in memory.chat_stream("write to Lyon"):
                    pass

            task = asyncio.create_task(listen())
            await asyncio.to_thread(asked.wait, 20)
            task.cancel()
            await asyncio.sleep(0.02)
            speak.set()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert [turn.query for turn in await memory.turns()] == ["write to Lyon"]

    run(story())
