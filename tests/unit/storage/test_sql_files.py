"""Loading of SQL files, and agreement of query names in code and file."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

import pytest

import thinkback.storage.relational
import thinkback.storage.sqlite
from thinkback.storage import sql_files
from thinkback.storage.relational.erase import _SPACE_TABLES
from thinkback.storage.sqlite.connection import QUERIES

PACKAGES = (thinkback.storage.relational, thinkback.storage.sqlite)
SOURCES = sorted(path for package in PACKAGES for path in Path(package.__path__[0]).glob("*.py"))


def names_in_code() -> set[str]:
    """All string literals that look like a query name."""
    shape = re.compile(r"[a-z_]+\.[a-z_]+")
    found = {
        node.value
        for source in SOURCES
        for node in ast.walk(ast.parse(source.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and shape.fullmatch(node.value)
    }
    return {name for name in found if not name.endswith(".sql")} | {
        f"erase.{table}" for table in _SPACE_TABLES
    }


def test_code_uses_exactly_the_queries_of_the_file() -> None:
    assert names_in_code() == set(QUERIES)


def test_statements_are_found_by_name() -> None:
    text = "-- a comment\n\n-- name: a.one\nSELECT 1;\n\n-- name: b.two\nSELECT\n  2 -- two\n"
    assert sql_files.parse_queries(text) == {"a.one": "SELECT 1", "b.two": "SELECT\n  2 -- two"}


@pytest.mark.parametrize(
    "text",
    [
        "-- name: a\nSELECT 1\n-- name: a\nSELECT 2\n",
        "-- name: a\n\n-- name: b\nSELECT 2\n",
        "-- name: a\n;\n",
    ],
)
def test_duplicate_or_empty_query_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="query 'a' is empty or duplicated"):
        sql_files.parse_queries(text)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "scripts_of_a_test"
    folder.mkdir()
    (folder / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, folder.name, raising=False)
    return folder


def test_migrations_come_in_order(package: Path) -> None:
    (package / "0002_second.sql").write_text("two")
    (package / "0001_first.sql").write_text("one")
    assert [tuple(migration) for migration in sql_files.load_migrations(package.name)] == [
        (1, "one"),
        (2, "two"),
    ]


@pytest.mark.parametrize("name", ["0003_third.sql", "2_second.sql", "0001_again.sql"])
def test_a_gap_between_migrations_is_an_error(package: Path, name: str) -> None:
    (package / "0001_first.sql").write_text("one")
    (package / name).write_text("other")
    with pytest.raises(ValueError, match="should be number"):
        list(sql_files.load_migrations(package.name))
