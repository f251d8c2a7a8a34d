"""Counting LLM calls, tokens and milliseconds, per thread."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest
from tests.conftest import OpenMemory

from thinkback.errors import ModelUnavailable
from thinkback.llms.metering import MeteredLLM
from thinkback.llms.scripted import ScriptedLLM
from thinkback.types import Message, Reply
from thinkback.usage import Stopwatch, UsageCounter, count_usage

ASK = [Message("user", "how are you")]
EMPTY = '{"changes": []}'


def cost(tally: UsageCounter) -> tuple[int, int, int]:
    return tally.calls, tally.prompt_tokens, tally.completion_tokens


def test_stopwatch_adds_up_repeated_stages() -> None:
    watch = Stopwatch()
    with watch("one"):
        pass
    first = watch.ms["one"]
    with pytest.raises(ValueError, match="late"), watch("one"), watch("two"):
        raise ValueError("late")
    assert watch.ms["one"] > first
    assert set(watch.ms) == {"one", "two"}


def test_nested_counters() -> None:
    llm = MeteredLLM(ScriptedLLM(["fine", "fine thanks", "fine", ModelUnavailable("down")]))
    llm.complete(ASK)
    with count_usage() as outer:
        with count_usage() as inner:
            llm.complete(ASK)
        llm.complete(ASK)
        with pytest.raises(ModelUnavailable):
            llm.complete(ASK)
    assert cost(inner) == (1, 3, 2)
    assert cost(outer) == (3, 6, 3)


@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_call_that_is_interrupted_counts(error: type[BaseException]) -> None:
    class Interrupted(ScriptedLLM):
        def complete(self, messages: Sequence[Message], **_: object) -> Reply:
            raise error

        def complete_with_grammar(self, messages: Sequence[Message], **_: object) -> Reply:
            raise error

    llm = MeteredLLM(Interrupted([]))
    with count_usage() as tally:
        with pytest.raises(error):
            llm.complete(ASK)
        with pytest.raises(error):
            llm.complete_with_grammar(ASK, grammar="", max_tokens=1)
    assert cost(tally) == (2, 0, 0)


def test_usage_of_a_stream() -> None:
    llm = MeteredLLM(ScriptedLLM(["one two three"] * 2))
    with count_usage() as tally:
        assert "".join(llm.stream(ASK)) == "one two three"
    assert cost(tally) == (1, 3, 3)
    with count_usage() as tally:
        stream = llm.stream(ASK)
        next(stream)
        stream.close()
    assert cost(tally) == (1, 3, 1)


def test_tokens_that_are_not_reported_are_estimated() -> None:
    class Silent(ScriptedLLM):
        def complete(self, messages: Sequence[Message], **_: object) -> Reply:
            return Reply("four letters make one")

    with count_usage() as tally:
        MeteredLLM(Silent([])).complete(ASK)
    assert cost(tally) == (1, 3, 6)


def test_metered_llm_delegates_to_the_model() -> None:
    meter = MeteredLLM(ScriptedLLM([], name="m", extracts=False, speaks=("en",)))
    assert (meter.name, meter.extracts, meter.speaks) == ("m", False, ("en",))


def test_threads_are_counted_separately() -> None:
    both, seen = threading.Barrier(2), {}
    llm = MeteredLLM(ScriptedLLM({"": "ok"}))

    def work(calls: int) -> None:
        with count_usage() as tally:
            both.wait()
            for _ in range(calls):
                llm.complete(ASK)
            both.wait()
        seen[calls] = tally.calls

    threads = [threading.Thread(target=work, args=(calls,)) for calls in (3, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {3: 3, 5: 5}


def test_every_call_of_a_memory_reports_usage(open_memory: OpenMemory) -> None:
    memory = open_memory(llm=ScriptedLLM([EMPTY, "Hello there, Ann."]), think="llm")
    memory.remember("I live in Lyon.")
    thought = memory.post_think().usage
    assert (thought.llm_calls, thought.completion_tokens) == (1, 2)
    assert thought.prompt_tokens > 100
    assert set(thought.ms) == {"scan", "embed", "read", "organise", "store"}
    assert set(memory.recall("Where?").usage.ms) == {"index", "understand", "embed", "search"}
    said = memory.chat("Hi!").usage
    assert (said.llm_calls, set(said.ms)) == (1, {"index", "understand", "embed", "search", "answer"})
    assert said.completion_tokens > 0
