"""Copies of a database that a process writes to: `backup` is always whole, `cp` is not, and that is noticed.

4 copies of each kind; THINKBACK_LIVE_COPIES=200 (`make faults`) makes more.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread
from typing import IO

import pytest
from tests.faults.invariants import assert_invariants

from thinkback.errors import StoreError
from thinkback.storage.sqlite import SqliteStore

COPIES = int(os.environ.get("THINKBACK_LIVE_COPIES", "4"))

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs kill -9")


class Writer:
    """A process that writes all the time; `acknowledged` are the turns it has stored."""

    def __init__(self, path: Path, seed: int) -> None:
        command = [sys.executable, "-m", "tests.faults.crash_child", str(path), str(seed), "never"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        self.process.stdout.readline()  # "open"
        self.acknowledged: list[tuple[str, int]] = []
        self._thread = Thread(target=self._read, args=(self.process.stdout,))
        self._thread.start()

    def _read(self, lines: IO[bytes]) -> None:
        for line in lines:
            with suppress(ValueError):  # the last line may be incomplete
                space, id_, _ = json.loads(line)
                self.acknowledged.append((space, id_))

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
        self._thread.join()
        assert self.process.stdout is not None
        self.process.stdout.close()


def turn_ids(path: Path) -> set[tuple[str, int]]:
    with closing(SqliteStore(str(path))) as store:
        assert_invariants(store)
        assert store.verify() == []
        return {(space, turn.id) for space in store.users() for turn in store.turns(space)}


def copy_files(path: Path, target: Path, suffixes: tuple[str, ...], before: set[tuple[str, int]]) -> str:
    """Copy as `cp` does, and say what the copy is. `before` are the turns acknowledged before copying."""
    for suffix in suffixes:
        with suppress(FileNotFoundError):
            shutil.copyfile(f"{path}{suffix}", f"{target}{suffix}")
    try:
        with closing(SqliteStore(str(target))) as store:
            if store.verify():
                return "damaged, found by verify"
            kept = {(space, turn.id) for space in store.users() for turn in store.turns(space)}
            return "whole" if before <= kept else "consistent, but turns are missing"
    except StoreError as error:
        return f"damaged, {type(error).__name__} on opening"


@pytest.mark.slow
@pytest.mark.timeout(max(300, COPIES * 30))
def test_backup_of_a_database_in_use_is_whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, plain = tmp_path / "memory.db", Counter[str]()
    turns, rng = 0, random.Random(9)
    for number in range(COPIES):
        writer = Writer(path, number)
        try:
            time.sleep(rng.uniform(0, 1))
            with closing(SqliteStore(str(path))) as store:
                before = set(writer.acknowledged)
                store.backup(str(tmp_path / "backup.db"))
            known = set(writer.acknowledged)
            plain["all files: " + copy_files(path, tmp_path / "all.db", ("", "-wal"), known)] += 1
            plain["database alone: " + copy_files(path, tmp_path / "alone.db", ("",), known)] += 1
        finally:
            writer.kill()
        kept = turn_ids(tmp_path / "backup.db")
        assert before <= kept
        turns += len(kept)
        for name in ("backup", "all", "alone"):
            for file in tmp_path.glob(f"{name}.db*"):
                file.unlink()
    with capsys.disabled():
        print(
            f"\n{COPIES} backups of a database in use, {turns} turns: all whole, none missing. {dict(plain)}"
        )
