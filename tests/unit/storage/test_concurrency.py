"""Several threads and processes on one database file."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tests.factories import EMBEDDER, NOW, add_thought, append_turns, index_all, index_entry, new_turn

from thinkback.errors import EmbedderMismatch
from thinkback.storage import connect
from thinkback.storage.sqlite import SqliteStore

WRITER = """
import sys
from tests.factories import EMBEDDER, index_entry, insert_operation, minute, new_turn, thought_draft
from thinkback.storage.sqlite import SqliteStore
from thinkback.types import Plan
path, name = sys.argv[1:]
store = SqliteStore(path)
store.bind_embedder(EMBEDDER)
for n in range(60):
    store.append("ann", [new_turn(f"{name} {n}", key=f"{name} {n}")], minute(0))
    for claimed in store.claim("ann", 3, 3600, minute(0)):
        turn = claimed.turn.id
        operations = (insert_operation(thought_draft(f"about {turn}", turn)),)
        plan = Plan(turn=turn, lease=claimed.lease, actor=name, operations=operations)
        store.apply("ann", plan, [index_entry("thought", 0, f"about {turn}")], minute(0))
        print(turn, flush=True)
store.close()
"""


def test_processes_share_one_file(tmp_path: Path) -> None:
    path, names = str(tmp_path / "memory.db"), ("one", "two", "three")
    command = [sys.executable, "-c", WRITER, path]
    running = [subprocess.Popen([*command, name], stdout=subprocess.PIPE, text=True) for name in names]
    thought_over = [int(line) for child in running for line in child.communicate(timeout=120)[0].split()]
    assert [child.returncode for child in running] == [0, 0, 0]
    store = SqliteStore(path)
    try:
        turns = store.turns("ann")
        assert [turn.id for turn in turns] == list(range(1, 181))
        assert sorted(turn.query for turn in turns) == sorted(
            f"{name} {n}" for name in names for n in range(60)
        )
        assert len(thought_over) == len(set(thought_over))
        done = [turn.id for turn in turns if turn.thought_at is not None]
        assert sorted(thought_over) == done
        assert [action.turn for action in sorted(store.journal("ann"), key=lambda a: a.turn or 0)] == done
        assert store.check() == []
    finally:
        store.close()
    print(f"\n3 processes: {len(turns)} turns, {len(done)} thought over, none twice")


def test_a_writer_is_seen_by_another_connection_at_once(tmp_path: Path) -> None:
    path = str(tmp_path / "memory.db")
    one, two = SqliteStore(path), SqliteStore(path)
    one.bind_embedder(EMBEDDER)
    add_thought(one, "ann", "a")
    index_all(one, "ann")
    seen = two.delta("ann", two.stamp("nobody"))
    assert [turn.query for turn in two.turns("ann")] == ["a"]
    assert {(item.kind, item.id) for item in seen.entries} == {("turn", 1), ("thought", 1)}
    one.retire("ann", 1, "wrong", "ann", NOW)
    assert [period.id for period in two.delta("ann", seen.stamp).periods] == [1]
    one.close()
    two.close()


def test_threads_share_one_store(tmp_path: Path) -> None:
    store = SqliteStore(str(tmp_path / "memory.db"))
    store.bind_embedder(EMBEDDER)
    failures: list[BaseException] = []

    def write(name: int) -> None:
        try:
            for n in range(20):
                (turn,) = append_turns(store, "ann", f"{name} {n}")
                store.index("ann", [index_entry("turn", turn.id, turn.text)])
                assert turn in store.turns("ann", after=turn.id - 1)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(name,)) for name in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert [turn.id for turn in store.turns("ann")] == list(range(1, 121))
    assert len(store.delta("ann", store.stamp("nobody")).entries) == 120
    store.close()


@pytest.mark.parametrize("kind", ["sqlite", "postgres"])
def test_process_that_missed_a_conversion_cannot_write(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = request.getfixturevalue("postgres_url") if kind == "postgres" else str(tmp_path / "memory.db")
    slow, converter = connect(url), connect(url)
    slow.bind_embedder(EMBEDDER)
    add_thought(slow, "ann", "a")
    converter.reembed_begin("new")
    found = converter.reembed_next("new", 10)
    converter.reembed_write("new", [(space, index_entry(item.kind, item.id, "new")) for space, item in found])
    converter.reembed_finish("new")
    with pytest.raises(EmbedderMismatch, match="open it again"):
        add_thought(slow, "ann", "b")
    with pytest.raises(EmbedderMismatch, match="open it again"):
        index_all(slow, "ann")
    with pytest.raises(EmbedderMismatch, match="open it again"):
        slow.index("ann", [index_entry("thought", 1, "a")], slow.stamp("ann").epoch)
    assert slow.pending("ann") == 1
    index_all(converter, "ann")
    slow.append("ann", [new_turn("turns are always welcome")], NOW)
    slow.close()
    converter.close()
