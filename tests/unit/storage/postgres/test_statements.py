"""The statements of the PostgreSQL store: same names as in code, and every one names its tenant and space."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import thinkback.storage.relational
from thinkback.storage import sql_files
from thinkback.storage.relational.erase import _SPACE_TABLES

pytest.importorskip("psycopg")

import thinkback.storage.postgres  # needs psycopg
from thinkback.storage.postgres.connection import QUERIES, STATEMENTS  # needs psycopg
from thinkback.storage.postgres.migrate import MIGRATIONS, compatible_from

PACKAGES = (thinkback.storage.relational, thinkback.storage.postgres)
SPACE_TABLES = {*_SPACE_TABLES, "hashings", "turn_metadata"}
ALL_TENANTS = {
    "space.keys",
    "queue.pending_spaces",
    "queue.backlog",
    "entries.exist",
    "entries.not_by",
    "entries.next_not_by",
    "entries.convert",
    "hashings.delete_all",
    "epochs.advance_all",
}
REFERENCE = re.compile(
    r"\b(?:FROM|JOIN|UPDATE) (\w+)"
    r"(?: (?:AS )?(?!WHERE|SET|ON|JOIN|ORDER|GROUP|CROSS|SELECT)(\w+))?"
)


def names_in_code() -> set[str]:
    shape = re.compile(r"[a-z_]+\.[a-z_]+")
    sources = [path for package in PACKAGES for path in Path(package.__path__[0]).glob("*.py")]
    found = {
        node.value
        for source in sources
        for node in ast.walk(ast.parse(source.read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and shape.fullmatch(node.value)
    }
    literals = {name for name in found if not name.endswith((".sql", ".scope"))}
    return literals | {f"erase.{table}" for table in _SPACE_TABLES}


def missing_predicates(statement: str) -> list[str]:
    """The references to tables of spaces that are not limited to one tenant and one space."""
    problems = []
    unnamed = 0
    for table, alias in REFERENCE.findall(statement):
        if table not in SPACE_TABLES:
            continue
        if not alias:
            unnamed += 1
        elif not re.search(rf"\b{alias}\.tenant = ", statement) or not re.search(
            rf"\b{alias}\.space = ", statement
        ):
            problems.append(f"{table} {alias}")
    if len(re.findall(r"(?<![.\w])tenant = \S+ AND (?:\w+\.)?space = ", statement)) < unnamed:
        problems.append("a table without alias")
    for table, columns in re.findall(r"INSERT INTO (\w+)(?: AS \w+)? \(([^)]*)\)", statement):
        if table in SPACE_TABLES and not columns.startswith("tenant, space,"):
            problems.append(f"insert into {table}")
    return problems


def test_code_uses_exactly_the_statements_of_the_files() -> None:
    assert names_in_code() == set(STATEMENTS)


def test_both_stores_have_the_same_statements() -> None:
    from thinkback.storage.sqlite.connection import QUERIES as SQLITE

    own = {"savepoint.begin", "savepoint.rollback", "savepoint.release"}
    assert set(SQLITE) - own == set(STATEMENTS) - {
        "check.indexes",
        "scrub.size",
        "scrub.snapshots",
        "turns.append",
        "entries.add_one",
    }


def test_only_known_statements_see_all_tenants() -> None:
    found = {name for name, query in QUERIES.items() if query.all_tenants}
    assert {name for name in found if not name.startswith("verify.")} == ALL_TENANTS


@pytest.mark.parametrize("name", sorted(set(STATEMENTS) - ALL_TENANTS))
def test_statement_names_tenant_and_space(name: str) -> None:
    if QUERIES[name].all_tenants or name == "queue.pending_of_tenant":
        pytest.skip("concerns a whole tenant or database")
    assert missing_predicates(STATEMENTS[name]) == []


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT id FROM turns WHERE id = $1",
        "SELECT id FROM turns WHERE tenant = $tenant AND id = $1",
        "SELECT t.id FROM turns t WHERE t.space = $1",
        "SELECT 1 FROM thoughts t JOIN entries e ON e.id = t.id WHERE t.tenant = $tenant AND t.space = $1",
        "UPDATE turns SET lease = NULL WHERE space = $1",
        "INSERT INTO turns (space, id) VALUES ($1, $2)",
    ],
)
def test_missing_predicate_is_found(statement: str) -> None:
    assert missing_predicates(statement)


def test_every_key_and_index_is_led_by_tenant_and_space() -> None:
    schema = "\n".join(migration.script for migration in MIGRATIONS)
    tables = dict(re.findall(r"CREATE TABLE (\w+) \((.*?)\n\)", schema, re.DOTALL))
    for table in SPACE_TABLES:
        (key,) = re.findall(r"PRIMARY KEY \((.*?)\)", tables[table])
        assert key.startswith("tenant, space"), table
    for table, columns in re.findall(r"CREATE (?:UNIQUE )?INDEX \w+ ON (\w+) \((.*?)\)", schema):
        assert columns.startswith("tenant, space") or table == "keys", table


def test_every_migration_says_with_which_version_it_is_compatible() -> None:
    for migration in sql_files.load_migrations("thinkback.storage.postgres.migrations"):
        assert 1 <= compatible_from(migration.script) <= migration.version
