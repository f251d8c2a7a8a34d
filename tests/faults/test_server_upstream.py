"""The proxy in front of a failing upstream: answers are relayed unchanged, and no turn is lost.

Three rounds by default; full run: THINKBACK_FAULT_ROUNDS=50.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.faulty_upstream import FAULTS, FaultyUpstream, SentAnswer
from tests.raw_http import RawResponse, post

from thinkback.server.processes.supervisor import DEFAULT_ENVIRONMENT
from thinkback.server.proxy.answer_capture import MAX_ANSWER_CHARS
from thinkback.storage.sqlite import SqliteStore
from thinkback.types import Turn

pytestmark = pytest.mark.timeout(1800)

ROUNDS = int(os.environ.get("THINKBACK_FAULT_ROUNDS", "3"))
AT_ONCE = 16
SILENCE_SECONDS = 12.0  # longest silence of the upstream
GROWTH = 50 << 20
UNANSWERED = ("empty", "refusal", "wrong-schema")  # status 200, but no text
PASSED_ON = ("content-type", "x-request-id", "retry-after")


@dataclass
class Run:
    """Requests, sent and received answers, and the growth of the server."""

    upstream: FaultyUpstream
    got: dict[str, RawResponse] = field(default_factory=dict)
    grown: int = 0
    turns: list[Turn] = field(default_factory=list)

    def each(self) -> Iterator[tuple[str, str, SentAnswer, RawResponse]]:
        for number, got in self.got.items():
            yield number, number.partition("/")[0], self.upstream.sent[number], got


def text_of(number: str) -> str:
    return f"My question {number} is about the sky."


async def asked(run: Run, url: str, rounds: range) -> None:
    middleware = asyncio.Semaphore(AT_ONCE)

    async def one(fault: str, mode: str, number: int) -> None:
        name = f"{fault}/{mode}/{number}"
        body = {
            "model": fault,
            "messages": [{"role": "user", "content": text_of(name)}],
            "stream": mode == "stream",
            "metadata": {"id": name},
        }
        async with middleware:
            run.got[name] = await post(f"{url}/chat/completions", body, {"X-Thinkback-User": fault})

    modes = ("plain", "stream")
    await asyncio.gather(*(one(f, mode, n) for n in rounds for f in FAULTS for mode in modes))


def resident(pid: int) -> int:
    pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    database = tmp_path_factory.mktemp("proxy") / "memory.db"
    command = [sys.executable, "-m", "tests.faults.proxy_process", str(database)]
    with FaultyUpstream() as upstream:
        run = Run(upstream)
        child = subprocess.Popen(
            [*command, upstream.url, str(SILENCE_SECONDS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**DEFAULT_ENVIRONMENT, **os.environ},  # as in every process of the server
        )
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            url = child.stdout.readline().strip()
            asyncio.run(asked(run, url, range(1)))  # what is loaded once does not count as growth
            before = resident(child.pid)
            asyncio.run(asked(run, url, range(1, ROUNDS)))
            run.grown = resident(child.pid) - before
            child.stdin.close()
            assert child.wait(120) == 0
        finally:
            child.kill()
            child.wait()
            child.stdout.close()
        store = SqliteStore(str(database))
        run.turns = [turn for fault in FAULTS for turn in store.turns(fault)]
        store.close()
        outcomes = Counter((fault, got.status, got.ended) for _, fault, _, got in run.each())
        print(f"\n{len(run.got)} requests, {len(run.turns)} turns, grown by {run.grown / 2**20:.1f} MB")
        print("\n".join(f"{count:5} {outcome}" for outcome, count in sorted(outcomes.items())))
        yield run


def test_client_gets_what_upstream_sent(run: Run) -> None:
    assert len(run.got) == len(FAULTS) * 2 * ROUNDS
    for number, _, sent, got in run.each():
        if sent.status == 0:
            continue  # never answered
        assert got.status == sent.status, number
        same = got.body == bytes(sent.body)  # a boolean, so that a failure does not print 10 MB
        assert same, number
        assert got.ended == sent.ended, number
        told = {name.lower(): value for name, value in sent.headers.items()}
        assert {name: got.headers.get(name) for name in PASSED_ON} == {
            name: told.get(name) for name in PASSED_ON
        }


def test_missing_answer_is_an_error(run: Run) -> None:
    silent = [(fault, got) for _, fault, sent, got in run.each() if sent.status == 0]
    assert len(silent) == 2 * ROUNDS
    for fault, got in silent:
        assert got.status == {"timeout": 504, "reset": 502}[fault]
        assert b'"error"' in got.body
        assert got.ended


def test_no_turn_is_lost(run: Run) -> None:
    kept: dict[str, list[str]] = {}
    for turn in run.turns:
        kept.setdefault(turn.query, []).append(turn.response)
    for number, _, sent, _ in run.each():
        same = kept.get(text_of(number)) == [sent.text[:MAX_ANSWER_CHARS]]
        assert same, number
    assert len(run.turns) == len(run.got)


def test_empty_answer_is_not_reported_as_success(run: Run) -> None:
    for number, fault, _, got in run.each():
        memory = got.headers.get("x-thinkback-memory", "")
        if fault in UNANSWERED and "/plain/" in number:
            assert "kept=question" in memory, (number, memory)


def test_server_memory_does_not_grow(run: Run) -> None:
    assert run.grown < GROWTH
