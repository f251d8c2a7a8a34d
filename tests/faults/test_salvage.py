"""`salvage` on healthy and damaged files: what it recovers, what stays hidden, and that it is consistent."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from tests.factories import EMBEDDER, NOW, add_thought, append_turns, index_entry, minute
from tests.faults.crash_child import SPACES, Life
from tests.faults.fault_seed import FAULT_SEED
from tests.faults.test_damaged_pages import (
    DAMAGES,
    FILES,
    PAGE,
    random_bytes,
    swapped_pages,
    zeroed_page,
)

from thinkback.errors import CorruptStore
from thinkback.storage import salvage
from thinkback.storage.sqlite import SqliteStore
from thinkback.types import Action, Turn

STEPS = 150


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed database with the random history of two users."""
    path = tmp_path_factory.mktemp("lived") / "memory.db"
    with closing(SqliteStore(str(path))) as store:
        store.bind_embedder(EMBEDDER)
        life = Life(store, seed=8)
        for _ in range(STEPS):
            life.step()
        for space in SPACES:
            store.forget(space, turns=[1, 3], reason="hide", actor="user", now=minute(999))
    return path


def turns_of(path: Path) -> dict[tuple[str, int], Turn]:
    with closing(SqliteStore(str(path))) as store:
        return {(space, t.id): t for space in store.users() for t in store.turns(space, hidden=True)}


def journal_of(path: Path, space: str) -> list[Action]:
    with closing(SqliteStore(str(path))) as store:
        return store.journal(space)


def test_healthy_database_is_salvaged_completely(lived: Path, tmp_path: Path) -> None:
    result = salvage(str(lived), str(tmp_path / "out.db"))
    assert turns_of(tmp_path / "out.db") == turns_of(lived)
    for space in SPACES:
        assert journal_of(tmp_path / "out.db", space) == journal_of(lived, space)
    with closing(SqliteStore(str(lived))) as before, closing(SqliteStore(str(tmp_path / "out.db"))) as after:
        for space in SPACES:
            assert after.thoughts(space, current=False) == before.thoughts(space, current=False)
            assert after.summaries(space) == before.summaries(space)
    assert result.unreadable_rows == 0
    for found in result.spaces:
        assert (found.missing_turns, found.missing_thoughts, found.keeps_journal) == (0, 0, True)


def test_metadata_of_turns_is_salvaged(tmp_path: Path) -> None:
    with closing(SqliteStore(str(tmp_path / "memory.db"))) as store:
        first, second = append_turns(store, "ann", "I live in Lyon.", "I like tea.")
        store.set_metadata("ann", [first.id], {"place": "Lyon"})
    salvage(str(tmp_path / "memory.db"), str(tmp_path / "out.db"))
    with closing(SqliteStore(str(tmp_path / "out.db"))) as store:
        assert store.metadata("ann", [first.id, second.id]) == {first.id: {"place": "Lyon"}}


def test_damaged_metadata_is_reported_without_its_text(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(SqliteStore(str(path))) as store:
        (turn,) = append_turns(store, "ann", "I live in Lyon.")
        store.set_metadata("ann", [turn.id], {"place": "canary"})
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("UPDATE turn_metadata SET body = '{canary'")
    with closing(SqliteStore(str(path))) as store, pytest.raises(CorruptStore) as caught:
        store.metadata("ann", [turn.id])
    assert "canary" not in str(caught.value)


def test_rows_in_the_wal_are_salvaged(tmp_path: Path) -> None:
    """A copy of the files while they are open: everything is in the WAL, and the database file is lost."""
    path = tmp_path / "memory.db"
    with closing(SqliteStore(str(path))) as store:
        append_turns(store.for_tenant("acme"), "ann", "in the WAL", "x" * 20_000)
        shutil.copy(f"{path}-wal", tmp_path / "copy.db-wal")
        (tmp_path / "copy.db").write_bytes(bytes(100))
    (found,) = salvage(str(tmp_path / "copy.db"), str(tmp_path / "out.db")).spaces
    assert (found.tenant, found.user, found.turns) == ("acme", "ann", 2)


def test_lost_journal_keeps_hidden_turns_hidden_and_forgotten_thoughts_retired(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    with closing(SqliteStore(str(path))) as store:
        store.bind_embedder(EMBEDDER)
        for number in range(40):
            add_thought(store, "ann", f"thought {number} " + "y" * 500)
        for number in (1, 2, 3):
            store.forget("ann", thoughts=[number], reason="wrong", actor="user", now=minute(number))
        store.forget("ann", turns=[7], reason="hide", actor="user", now=NOW)
        retired = {t.id for t in store.thoughts("ann", current=False)} - {t.id for t in store.thoughts("ann")}
    data = bytearray(path.read_bytes())
    for start in range(PAGE, len(data), PAGE):
        if b'"sentence"' in data[start : start + PAGE]:  # pages of the journal
            data[start : start + PAGE] = bytes(PAGE)
    path.write_bytes(bytes(data))
    (found,) = salvage(str(path), str(tmp_path / "out.db")).spaces
    assert (found.turns, found.thoughts, found.keeps_journal) == (40, 40, False)
    with closing(SqliteStore(str(tmp_path / "out.db"))) as store:
        assert [turn.id for turn in store.turns("ann", hidden=True) if turn.hidden] == [7]
        current = {thought.id for thought in store.thoughts("ann")}
        assert current == set(range(1, 41)) - retired
        store.bind_embedder(EMBEDDER)
        while waiting := store.unindexed("ann", 100).items:
            store.index("ann", [index_entry(item.kind, item.id, item.text) for item in waiting])
        assert store.verify() == []
        assert store.erase("ann", turn=20, now=NOW).thoughts == 1
        assert store.verify() == []


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_damaged_files_are_salvaged_consistently(
    lived: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whatever the damage, the result is consistent and contains nothing that was not there."""
    data, original = lived.read_bytes(), turns_of(lived)
    recovered, possible, outcomes = Counter[str](), Counter[str](), Counter[str]()
    for number in range(FILES):
        damage, rng = DAMAGES[number % len(DAMAGES)], random.Random(f"{FAULT_SEED}:{number}")
        damaged = bytearray(data)
        damage(damaged, rng)
        broken, out = tmp_path / f"{number}.db", tmp_path / f"{number}-out.db"
        broken.write_bytes(bytes(damaged))
        try:
            salvage(str(broken), str(out))
        except CorruptStore:
            outcomes["nothing readable"] += 1
            continue
        kept = turns_of(out)  # salvage has verified it
        known = {key: turn for key, turn in kept.items() if key in original}
        if damage in (zeroed_page, swapped_pages):  # other damage may change a text and nothing else
            assert all(turn.query == original[key].query for key, turn in known.items())
        hidden = {key for key, turn in original.items() if turn.hidden}
        if damage in (zeroed_page, swapped_pages, random_bytes):
            assert all(kept[key].hidden for key in hidden & kept.keys())
        recovered[damage.__name__] += len(known)
        possible[damage.__name__] += len(original)
        outcomes["salvaged"] += 1
        for file in tmp_path.glob(f"{number}*"):
            file.unlink()
    with capsys.disabled():
        shares = {name: f"{recovered[name] / possible[name]:.1%}" for name in possible}
        print(f"\nsalvaged {FILES} damaged files: {dict(outcomes)}, turns recovered: {shares}")
    assert outcomes["nothing readable"] < FILES / 10
    assert recovered.total() > 0.8 * possible.total()
