"""`thinkback backup`, `restore`, `salvage` and `doctor --verify`, as a user runs them."""

from __future__ import annotations

import os
import random
import shutil
import stat
from contextlib import closing
from pathlib import Path

import pytest
from tests.acceptance.cli_runner import run, run_process

from thinkback.storage.sqlite import SqliteStore

TURNS = 60


@pytest.fixture
def database(home: Path) -> Path:
    """The default database with the turns of two users, thought over."""
    for user in ("ann", "bob"):
        lines = "\n".join(
            f'{{"query": "My cat number {n} of {user} is called Minka{n}."}}' for n in range(TURNS)
        )
        run("import", "-", "--user", user, stdin=lines).ok()
    return home / "memory.db"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def turn_texts(path: Path, user: str) -> list[str]:
    with closing(SqliteStore(str(path))) as store:
        return [turn.query for turn in store.turns(user)]


def damage(path: Path, word: str) -> None:
    """Overwrite the pages whose text contains `word`, structure included."""
    data, rng = bytearray(path.read_bytes()), random.Random(5)
    for start in range(4096, len(data), 4096):
        if word.encode() in data[start : start + 4096]:
            data[start : start + 2000] = rng.randbytes(2000)
    path.write_bytes(bytes(data))


def test_backup_and_restore(database: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    done = run("backup", str(copy), "--json").ok().json
    assert done == {"file": str(copy), "bytes": copy.stat().st_size, "verified": True}
    assert mode(copy) == 0o600
    assert [file.name for file in tmp_path.glob("copy*")] == ["copy.db"]
    run("remember", "Said after the backup.", "--user", "ann", "--later").ok()
    restored = run("restore", str(copy), "--yes", "--json").ok().json
    assert len(turn_texts(database, "ann")) == TURNS
    assert len(turn_texts(Path(restored["former"]), "ann")) == TURNS + 1
    assert mode(Path(restored["former"])) == 0o600
    assert "verified" in run("doctor", "--verify", "--offline").ok().out


def test_backup_replaces_nothing_and_needs_a_database(database: Path, tmp_path: Path) -> None:
    (tmp_path / "there").write_text("x")
    assert "exists" in run("backup", str(tmp_path / "there")).failed().err
    assert (tmp_path / "there").read_text() == "x"
    missing = str(tmp_path / "no.db")
    assert "does not exist" in run("backup", str(tmp_path / "b"), "--db", missing).failed().err
    assert not Path(missing).exists()
    assert "does not exist" in run("restore", missing, "--yes").failed().err


def test_damaged_database_cannot_be_backed_up_nor_a_damaged_backup_restored(
    database: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.db"
    run("backup", str(copy)).ok()
    before = database.read_bytes()
    damage(copy, "Minka3")
    done = run("restore", str(copy), "--yes").failed()
    assert "damaged" in done.err
    assert database.read_bytes() == before
    damage(database, "Minka3")
    done = run("backup", str(tmp_path / "second.db")).failed()
    assert "Minka" not in done.err
    assert not (tmp_path / "second.db").exists()
    assert list(tmp_path.glob("*.part*")) == []


def test_restore_refuses_a_database_in_use(database: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    run("backup", str(copy)).ok()
    with closing(SqliteStore(str(database))) as store:
        done = run_process("restore", str(copy), "--yes")
        assert "open in another process" in done.failed().err
        assert len(store.turns("ann")) == TURNS
    assert run_process("restore", str(copy), "--yes").ok()


def test_restore_over_a_damaged_database(database: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    run("backup", str(copy)).ok()
    database.write_bytes(random.Random(6).randbytes(50_000))
    run("restore", str(copy), "--yes").ok()
    assert len(turn_texts(database, "bob")) == TURNS


def test_restore_on_a_new_machine(database: Path, tmp_path: Path) -> None:
    run("backup", str(tmp_path / "copy.db")).ok()
    shutil.rmtree(database.parent)
    assert run("restore", str(tmp_path / "copy.db"), "--json").ok().json["former"] is None
    assert len(turn_texts(database, "bob")) == TURNS


def test_restore_asks_before_it_replaces(database: Path, tmp_path: Path) -> None:
    run("backup", str(tmp_path / "copy.db")).ok()
    assert "--yes" in run("restore", str(tmp_path / "copy.db")).failed(2).err


def test_verify_names_the_damage_and_no_text(database: Path) -> None:
    damage(database, "Minka7")
    done = run("doctor", "--verify", "--offline")
    done.assert_no_traceback()
    assert done.code == 1
    assert "broken" in done.out
    assert "Minka" not in done.out + done.err


def test_commands_on_a_damaged_database_fail_without_traceback_or_text(database: Path) -> None:
    data = database.read_bytes()
    database.write_bytes(data.replace(b'"objects": [', b'"objects":\xff['))
    for words in ("export", "journal", "thoughts", "recall cat", "turns", "erase --turn 1 --yes"):
        done = run(*words.split(), "--user", "ann")
        done.assert_no_traceback()
        assert "JSONDecodeError" not in done.err
        assert "Minka" not in done.err
    assert "damaged" in run("export", "--user", "ann").failed().err


def test_salvage_reads_everything_but_the_damaged_pages(database: Path, tmp_path: Path) -> None:
    texts = {user: set(turn_texts(database, user)) for user in ("ann", "bob")}
    broken, out = tmp_path / "broken.db", tmp_path / "out.db"
    broken.write_bytes(database.read_bytes())
    damage(broken, "Minka33 of ann")
    before = broken.read_bytes()
    result = run("salvage", str(broken), str(out), "--json").ok().json
    assert broken.read_bytes() == before
    assert [file.name for file in tmp_path.glob("broken*")] == ["broken.db"]
    found = {space["user"]: space for space in result["spaces"]}
    for user in ("ann", "bob"):
        kept = set(turn_texts(out, user))
        assert kept <= texts[user]
        assert len(kept) == found[user]["turns"]
        assert found[user]["turns"] + found[user]["missing_turns"] == TURNS
    assert found["ann"]["turns"] + found["bob"]["turns"] > TURNS
    assert mode(out) == 0o600
    assert "verified" in run("doctor", "--verify", "--offline", "--db", str(out)).ok().out
    shown = run("recall", "What is my cat called?", "--user", "bob", "--db", str(out)).ok().out
    assert "Minka" in shown


def test_salvage_of_a_file_without_memories_and_over_a_file(database: Path, tmp_path: Path) -> None:
    (tmp_path / "noise").write_bytes(random.Random(7).randbytes(100_000))
    assert "no readable turn" in run("salvage", str(tmp_path / "noise"), str(tmp_path / "o")).failed().err
    assert not (tmp_path / "o").exists()
    assert "exists" in run("salvage", str(database), str(tmp_path / "noise")).failed().err
    assert "cannot be read" in run("salvage", str(tmp_path / "no"), str(tmp_path / "o")).failed().err


def test_export_is_private_even_over_a_public_file(database: Path, tmp_path: Path) -> None:
    target = tmp_path / "ann.jsonl"
    target.write_text("old")
    os.chmod(target, 0o666)
    run("export", str(target), "--user", "ann", "--yes").ok()
    assert mode(target) == 0o600
    assert list(tmp_path.glob("*.part")) == []


def test_doctor_shows_pending_erasures(database: Path) -> None:
    with closing(SqliteStore(str(database))) as store:
        with store._db.write():
            store._db.mark_for_scrub()
        store._scrubber.stop()
        store._db._reader.execute("BEGIN")
        store._db._reader.execute("SELECT count(*) FROM turns").fetchone()
        assert "bytes of erased memories" in " ".join(run_process("doctor", "--offline").ok().out.split())
        store._db._reader.execute("COMMIT")
    assert "bytes of erased memories" not in run("doctor", "--offline").ok().out
