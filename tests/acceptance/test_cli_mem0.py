"""`thinkback import --from mem0`."""

from __future__ import annotations

import json
from pathlib import Path

from tests.acceptance.cli_runner import run

MEMORIES = [
    {"id": "a1", "memory": "I live in Lyon.", "user_id": "ann", "created_at": "2024-07-26T10:00:00Z"},
    {"id": "a2", "memory": "Prefers dark mode", "user_id": "ann", "run_id": "monday"},
    {"id": "b1", "memory": "I like tea.", "user_id": "bob", "metadata": {"category": "drinks"}},
]


def written(tmp_path: Path) -> str:
    path = tmp_path / "memories.json"
    path.write_text(json.dumps({"results": MEMORIES}), encoding="utf-8")
    return str(path)


def test_mem0_memories_go_to_their_users_once(tmp_path: Path) -> None:
    file = written(tmp_path)
    first = run("import", "--from", "mem0", file, "--json").ok().json
    assert (first["turns"], first["users"], first["pending"]) == (3, 2, 0)
    assert run("import", "--from", "mem0", file, "--json").ok().json["actions"] == 0
    turns = run("turns", "--user", "ann", "--json").ok().json
    assert [(turn["query"], turn["session"]) for turn in turns] == [
        ("I live in Lyon.", "default"),
        ("Prefers dark mode", "monday"),
    ]
    assert turns[0]["at"].startswith("2024-07-26T10:00")
    assert "Lyon" in run("recall", "Where do I live?", "--user", "ann").ok().out


def test_mem0_memories_all_go_to_named_user(tmp_path: Path) -> None:
    done = run("import", "--from", "mem0", written(tmp_path), "--user", "eve", "--later").ok()
    assert "imported 3 turns," in done.out
    assert len(run("turns", "--user", "eve", "--json").ok().json) == 3


def test_mem0_invalid_line_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps(each) for each in [*MEMORIES, {"id": "c1", "user_id": "cat"}])
    assert "line 4: the memory has no text" in run("import", "--from", "mem0", "-", stdin=lines).failed().err
    assert run("users", "--json").ok().json == []


def test_unknown_import_format_is_rejected() -> None:
    run("import", "--from", "mem7", "-", stdin="{}").failed(2)
