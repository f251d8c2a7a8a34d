"""AsyncMemory: the same methods, awaited, and nothing blocks the loop."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import pytest

from thinkback.aio import AsyncMemory
from thinkback.errors import InvalidInput
from thinkback.llms.scripted import ScriptedLLM
from thinkback.memory import Memory


def public(kind: type) -> set[str]:
    return {name for name, value in inspect.getmembers(kind, callable) if not name.startswith("_")}


def test_it_has_every_method_of_memory() -> None:
    assert public(AsyncMemory) == public(Memory)


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 60))


def open_async(path: Path | str = ":memory:", **options: Any) -> Coroutine[Any, Any, AsyncMemory]:
    return AsyncMemory.open(path, **{"embedder": "hashing", "background": False, **options})


def test_a_story_from_beginning_to_end(tmp_path: Path) -> None:
    async def story() -> None:
        async with await open_async(tmp_path / "a.db") as memory:
            turn = await memory.remember("I live in Lyon.", session="s", key="k")
            await memory.remember_messages([{"role": "user", "content": "I like tea."}])
            assert (await memory.post_think()).turns == 2
            assert await memory.wait(1)
            assert [item.text for item in await memory.recall("Where do I live?")] == [
                "The user lives in Lyon."
            ]
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


def test_errors_come_through() -> None:
    async def story() -> None:
        async with await open_async() as memory:
            with pytest.raises(InvalidInput):
                await memory.remember("")

    run(story())


def test_many_at_once() -> None:
    async def story() -> None:
        async with await open_async() as memory:
            await asyncio.gather(*(memory.remember(f"I own boat {number}.") for number in range(20)))
            found = await asyncio.gather(*(memory.recall(f"boat {number}", k=1) for number in range(20)))
            assert [answer[0].text for answer in found] == [f"I own boat {number}." for number in range(20)]

    run(story())


def test_an_answer_streams() -> None:
    async def story() -> None:
        llm = ScriptedLLM(["one two three"], extracts=False)
        async with await open_async(llm=llm) as memory:
            pieces = [piece async for piece in memory.chat_stream("count")]
            assert len(pieces) > 1
            assert "".join(pieces) == (await memory.turns())[0].response == "one two three"

    run(story())


def test_a_stream_left_early_is_kept() -> None:
    async def story() -> None:
        llm = ScriptedLLM(["one two three"], extracts=False)
        async with await open_async(llm=llm) as memory:
            stream = memory.chat_stream("count")
            assert await anext(stream) == "one"
            await stream.aclose()  # type: ignore[attr-defined]
            assert [turn.response for turn in await memory.turns()] == ["one"]

    run(story())


def test_a_stream_cancelled_while_the_model_is_thinking_is_kept() -> None:
    async def story() -> None:
        import threading

        asked, speak = threading.Event(), threading.Event()

        def slowly(messages: object) -> str:
            asked.set()
            speak.wait(20)
            return "too late"

        async with await open_async(llm=ScriptedLLM([slowly], extracts=False)) as memory:

            async def listen() -> None:
                async for _ in memory.chat_stream("I live in Lyon."):
                    pass

            task = asyncio.create_task(listen())
            await asyncio.to_thread(asked.wait, 20)
            task.cancel()
            await asyncio.sleep(0.02)
            speak.set()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert [turn.query for turn in await memory.turns()] == ["I live in Lyon."]

    run(story())
