"""The same turns, times and settings give the same bytes, whatever the hash seed."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from typer.testing import CliRunner

from thinkback_lab.cli import app
from thinkback_lab.errors import LabError
from thinkback_lab.evaluations.determinism import (
    HASH_SEEDS,
    DatabaseDump,
    compare_dumps,
    dump_database,
    replay_in_subprocess,
    replay_scenarios,
)
from thinkback_lab.evaluations.scenario_format import format_scenario, read_scenarios
from thinkback_lab.harness import Setup

SETUP = Setup(embedder="hashing", think="extractive")
SHIPPED = Path(__file__).parents[2] / "scenarios"
EVERY = 12  # a part of the shipped scenarios, of every file


@pytest.fixture(scope="module")
def part(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("turns") / "part.jsonl"
    lines = [format_scenario(scenario) for scenario in read_scenarios([SHIPPED])[::EVERY]]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_processes_with_different_hash_seeds_write_same_bytes(part: Path, tmp_path: Path) -> None:
    users = [scenario.id for scenario in read_scenarios([part])]
    texts = []
    for seed in HASH_SEEDS:
        replay_in_subprocess([part], tmp_path / f"{seed}.db", SETUP, seed)
        texts.append(dump_database(tmp_path / f"{seed}.db", users, SETUP))
    told = compare_dumps(*texts)
    assert told["export"]["differences"] == told["tables"]["differences"] == []
    assert told["export"]["identical"]
    assert told["tables"]["identical"]
    assert len(texts[0].export) > 3 * len(users), "every space has turns and actions to compare"


def test_different_turn_gives_different_bytes(part: Path, tmp_path: Path) -> None:
    """The comparison can fail."""
    scenarios = read_scenarios([part])[:2]
    replay_scenarios(scenarios, tmp_path / "one.db", SETUP)
    changed = scenarios[0].model_copy(update={"turns": (*scenarios[0].turns, scenarios[1].turns[0])})
    replay_scenarios([changed, scenarios[1]], tmp_path / "other.db", SETUP)
    users = [scenario.id for scenario in scenarios]
    told = compare_dumps(*(dump_database(tmp_path / f"{name}.db", users, SETUP) for name in ("one", "other")))
    assert not told["export"]["identical"]
    assert not told["tables"]["identical"]
    assert (
        told["export"]["sha256"]
        != compare_dumps(DatabaseDump((), ()), DatabaseDump((), ()))["export"]["sha256"]
    )


def test_tables_are_compared_besides_export(part: Path, tmp_path: Path) -> None:
    """What the export does not tell (vectors, groups) stands in the tables."""
    db = tmp_path / "one.db"
    scenarios = read_scenarios([part])[:1]
    replay_scenarios(scenarios, db, SETUP)
    before = dump_database(db, [scenarios[0].id], SETUP)
    with sqlite3.connect(db) as connection:
        connection.execute("CREATE TABLE extra (n)")
    told = compare_dumps(before, dump_database(db, [scenarios[0].id], SETUP))
    assert told["export"]["identical"]
    assert told["tables"]["differences"]


def test_existing_database_is_not_overwritten(part: Path, tmp_path: Path) -> None:
    db = tmp_path / "one.db"
    db.write_text("mine", encoding="utf-8")
    with pytest.raises(LabError, match="exists already"):
        replay_in_subprocess([part], db, SETUP, "1")
    assert db.read_text(encoding="utf-8") == "mine"


def test_command_prints_both_comparisons(part: Path, tmp_path: Path) -> None:
    two = tmp_path / "two.jsonl"
    two.write_text("\n".join(part.read_text(encoding="utf-8").split("\n")[:2]), encoding="utf-8")
    words = ["eval", "determinism", str(two), "--embedder", "hashing", "--json"]
    done = CliRunner().invoke(app, words, prog_name="thinkback-lab")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["dataset"], told["metrics"]["identical"]) == ("determinism", True)
    assert told["metrics"]["tables"]["lines"] > told["n"]
