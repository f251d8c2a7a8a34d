"""Random damage to database pages: every failure is a `StoreError` that quotes no stored text.

THINKBACK_DAMAGED_FILES sets the number of damaged files.
"""

from __future__ import annotations

import os
import random
import shutil
import traceback
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.factories import NOW, new_turn
from tests.faults.fault_seed import FAULT_SEED
from tests.faults.test_erase_bytes import Canary, Round

from thinkback.errors import Conflict, NotFound, StoreError, ThinkbackError
from thinkback.memory import Memory
from thinkback.storage.sqlite import SqliteStore
from thinkback.transfer import export_space
from thinkback.types import VersionStamp

FILES = int(os.environ.get("THINKBACK_DAMAGED_FILES", "40"))
PAGE = 4096
Damage = Callable[[bytearray, random.Random], None]


def random_bytes(data: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice((1, 3, 20))):
        start = rng.randrange(PAGE, len(data))
        size = min(rng.choice((1, 4, 60, 900)), len(data) - start)
        data[start : start + size] = rng.randbytes(size)


def flipped_bits(data: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice((5, 50, 500))):
        data[rng.randrange(100, len(data))] ^= 1 << rng.randrange(8)


def zeroed_page(data: bytearray, rng: random.Random) -> None:
    start = PAGE * rng.randrange(1, len(data) // PAGE)
    data[start : start + PAGE] = bytes(PAGE)


def swapped_pages(data: bytearray, rng: random.Random) -> None:
    first, second = (PAGE * rng.randrange(1, len(data) // PAGE) for _ in range(2))
    data[first : first + PAGE], data[second : second + PAGE] = (
        data[second : second + PAGE],
        data[first : first + PAGE],
    )


def damaged_text(data: bytearray, rng: random.Random) -> None:
    """Inside JSON and other text, where no structure of the file is hit: SQLite itself sees nothing."""
    for needle in (b'":', b"[[", b"Canary", b'"}'):
        places = [at for at in range(len(data)) if data.startswith(needle, at)]
        for at in rng.sample(places, min(len(places), 6)):
            data[at : at + 2] = rng.choice((b"\xff\xfe", b"}{", b'""', b"\x00\x00"))


DAMAGES: tuple[Damage, ...] = (random_bytes, flipped_bits, zeroed_page, swapped_pages, damaged_text)


def operations(store: SqliteStore, space: str) -> list[Callable[[], object]]:
    """Everything that reads rows, and some writes."""
    return [
        lambda: store.turns(space, hidden=True),
        lambda: store.turns(space, session="default"),
        lambda: store.thoughts(space, current=False),
        lambda: store.journal(space),
        lambda: store.entities(space),
        lambda: store.subject_names(space),
        lambda: store.sessions(space),
        lambda: store.summaries(space),
        lambda: [store.summary_updates(space, name) for name in store.sessions(space)],
        lambda: store.delta(space, VersionStamp()),
        lambda: store.hashing(space),
        lambda: store.unindexed(space, 1000).items,
        lambda: store.failures(space),
        lambda: store.stats(space),
        lambda: list(export_space(store, space)),
        store.keys,
        store.check,
        store.verify,
        lambda: store.append(space, [new_turn("hello", key="k")], NOW),
        lambda: store.claim(space, 5, 60, NOW),
        lambda: store.forget(space, turns=[1], reason="r", actor="a", now=NOW),
        lambda: store.undo(space, 1, "a", NOW),
        lambda: store.erase(space, turn=2, now=NOW),
        lambda: store.erase(space, now=NOW),
    ]


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, Canary]:
    """The bytes of a database with a canary in every column that holds text."""
    folder = tmp_path_factory.mktemp("healthy")
    lived = Round(folder, 3)
    lived.others(30)
    turn = lived.say_canary()
    lived.think_canary(turn)
    lived.index("ann")
    lived.speak_of_canary_later(turn)
    lived.learn()
    lived.summarise(turn)
    lived.store.close()
    return (folder / "memory.db").read_bytes(), lived.canary


@pytest.mark.timeout(1800)
def test_damage_is_a_store_error_without_stored_text(
    healthy: tuple[bytes, Canary], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, canary = healthy
    outcomes = Counter[str]()
    for number in range(FILES):
        rng = random.Random(f"{FAULT_SEED}:{number}")
        damaged = bytearray(data)
        damage = DAMAGES[number % len(DAMAGES)]
        damage(damaged, rng)
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / "memory.db"
        path.write_bytes(bytes(damaged))
        outcomes += run_all(path, canary, f"{damage.__name__}, file {number}")
        shutil.rmtree(folder)
    with capsys.disabled():
        print(f"\ndamaged files {FILES}: {dict(outcomes)}, no other error, no stored text in any message")
    assert outcomes["CorruptStore"] > FILES / 2


def run_all(path: Path, canary: Canary, label: str) -> Counter[str]:
    outcomes = Counter[str]()

    def attempt(operation: Callable[[], object]) -> None:
        try:
            result = operation()
        except (StoreError, NotFound, Conflict) as error:
            outcomes[type(error).__name__] += 1
            shown = "".join(traceback.format_exception(error))
        else:
            outcomes["ok"] += 1
            shown = repr(result) if operation in (store.check, store.verify) else ""
        assert canary.word not in shown, label
        assert "金丝雀" not in shown, label

    refusal: StoreError | None = None
    try:
        store = SqliteStore(str(path))
    except StoreError as error:
        refusal = error
    if refusal is not None:
        assert canary.word not in "".join(traceback.format_exception(refusal)), label
        return Counter([type(refusal).__name__])
    with closing(store):
        for space in ("ann", "bob"):
            for operation in operations(store, space):
                try:
                    attempt(operation)
                except Exception as error:
                    raise AssertionError(f"{label}: {type(error).__name__} from {operation}") from error
    return outcomes


SENTENCES = (
    "My sister Canary{} lives in Lyon.",
    "I am allergic to canary{} nuts.",
    "Always answer in German, says canary{}.",
    "I moved to Canary{} last May.",
)


def memory_operations(memory: Memory) -> list[Callable[[], object]]:
    return [
        lambda: memory.recall("Where does my sister live?", explain=True),
        lambda: memory.recall("What am I allergic to?", as_of=NOW),
        lambda: memory.recall("What am I allergic to?", known_at=NOW),
        lambda: memory.context("What should I eat?"),
        memory.summary,
        lambda: memory.why("thought:1"),
        lambda: memory.history("user"),
        memory.audit,
        memory.instructions,
        memory.stats,
        lambda: list(memory.export()),
        lambda: memory.remember("Forget what I said about my sister."),
        lambda: memory.post_think(limit=3),
        memory.organise,
        lambda: memory.forget("turn:2", "wrong"),
        lambda: memory.erase(turn=3),
    ]


@pytest.mark.timeout(1800)
def test_memory_on_damaged_files_raises_named_errors_without_stored_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "source.db"
    with Memory(source, embedder="hashing", background=False) as memory:
        for number in range(24):
            memory.remember(SENTENCES[number % len(SENTENCES)].format(number), "Good to know.")
        memory.post_think()
    data, outcomes = source.read_bytes(), Counter[str]()
    for number in range(FILES // 3):
        damaged, damage = bytearray(data), DAMAGES[number % len(DAMAGES)]
        damage(damaged, random.Random(f"{FAULT_SEED}:{1000 + number}"))
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "memory.db").write_bytes(bytes(damaged))
        outcomes += run_memory(folder / "memory.db", f"{damage.__name__}, file {number}")
        shutil.rmtree(folder)
    with capsys.disabled():
        print(f"\nmemories on damaged files {FILES // 3}: {dict(outcomes)}, no other error")


def run_memory(path: Path, label: str) -> Counter[str]:
    outcomes, shown = Counter[str](), ""
    try:
        with Memory(path, embedder="hashing", background=False) as memory:
            for position, operation in enumerate(memory_operations(memory)):
                try:
                    operation()
                    outcomes["ok"] += 1
                except ThinkbackError as error:
                    outcomes[type(error).__name__] += 1
                    shown += "".join(traceback.format_exception(error))
                except Exception as error:
                    raise AssertionError(f"{label}: {type(error).__name__} in {position}") from error
    except StoreError as error:
        outcomes[type(error).__name__] += 1
        shown += "".join(traceback.format_exception(error))
    assert "canary" not in shown.lower(), label
    return outcomes
