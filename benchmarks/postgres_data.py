"""Databases for the PostgreSQL benchmarks: many spaces with the rows of a few that were thought over."""

from __future__ import annotations

import argparse
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from tests.postgres_server import PostgresServer, new_schema_url

from thinkback.embedders.registry import create_embedder
from thinkback.memory import Memory
from thinkback.protocols import Store
from thinkback.storage import is_postgres

NAMES = ("Anna", "Ben", "Carla", "David", "Elif", "Femi", "Grace", "Hiro")
PLACES = ("Lyon", "Berlin", "Osaka", "Lima", "Oslo", "Accra", "Pune", "Porto")
FACTS = (
    "My friend {name} lives in {place}.",
    "I visited {place} with {name} in May {year}.",
    "{name} is allergic to nuts, so we never order satay.",
    "My favourite cafe in {place} is the one that {name} found in {year}.",
    "{name} works as a nurse in {place} since {year}.",
)

BEFORE = (
    "Hi, it has been a long day and the train was late again, so I only got home an hour ago.",
    "Thanks for the recipe from yesterday, it turned out much better than I had expected.",
    "Could you help me with something small before I go to bed?",
    "The weather here is awful, and everybody in the office has a cold.",
)
AFTER = (
    "Anyway, what could I cook tonight with the vegetables that are left in the fridge?",
    "Do you think it would be too late to write to them about it now?",
    "By the way, can you explain once more how that spreadsheet formula works?",
)
REPLIES = (
    "That sounds exhausting, I hope you can rest a little now. A curry would be quick.",
    "I am glad that it worked. It is never too late for a short message, just keep it friendly.",
    "Of course. The formula adds up the values in the second column whose date is in this month.",
)

SpaceRows = dict[str, list[tuple[Any, ...]]]


def sentence(number: int) -> str:
    name, place = NAMES[number % 8], PLACES[(number // 8) % 8]
    return FACTS[number % len(FACTS)].format(
        name=f"{name}{number // 64}", place=place, year=1990 + number % 30
    )


def message(number: int) -> tuple[str, str]:
    """What a person writes and the answer, in the length of a real chat: a fact among other sentences."""
    before, after = BEFORE[number % len(BEFORE)], AFTER[(number // 3) % len(AFTER)]
    return f"{before} {sentence(number)} {after}", REPLIES[number % len(REPLIES)]


def thought_over_space(turns: int, embedder: str = "hashing") -> SpaceRows:
    """The rows of a space with this many turns, each remembered and thought over."""
    with Memory.open(":memory:", embedder=embedder, think="extractive", background=False) as memory:
        for number in range(turns):
            memory.remember(sentence(number))
        memory.post_think()
        return memory.store.read_space(memory.user)


def fill(store: Store, embedder: str, sizes: Sequence[int], rows: dict[int, SpaceRows]) -> None:
    """Write one space per size: `user0`, `user1`, ..."""
    store.bind_embedder(embedder)
    for number, size in enumerate(sizes):
        store.write_space(f"user{number}", rows[size])


def repeat_space(url: str, name: str, count: int) -> None:
    """Copy the rows of a space to `user1`, `user2`, ... inside the database: `count` spaces in all."""
    if is_postgres(url):
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("SET thinkback.scope = 'all'")
            columns = connection.execute(
                "SELECT table_name, column_name FROM information_schema.columns"
                " WHERE table_schema = current_schema() ORDER BY table_name, ordinal_position"
            ).fetchall()
            run: Any = connection.execute  # statements without values
            _repeat(columns, run, name, count)
            connection.execute("ANALYZE")
        return
    with closing(sqlite3.connect(url)) as file:
        tables = [row[0] for row in file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        columns = [(table, row[1]) for table in tables for row in file.execute(f"PRAGMA table_info({table})")]
        _repeat(columns, file.execute, name, count)
        file.commit()


def _repeat(columns: Sequence[tuple[str, str]], run: Callable[[str], object], name: str, count: int) -> None:
    """All names are constants of the program."""
    by_table: dict[str, list[str]] = {}
    for table, column in columns:
        by_table.setdefault(table, []).append(column)
    counters = ", ".join(column for column in by_table["spaces"] if column not in ("id", "name"))
    numbers = f"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < {count})"
    run(
        f"INSERT INTO spaces (name, {counters}) {numbers}"
        f" SELECT 'user' || i, {counters} FROM n CROSS JOIN spaces WHERE name = '{name}'"
    )
    for table, names in by_table.items():
        if "space" not in names:
            continue
        copied = ", ".join(f"t.{column}" for column in names if column != "space")
        target = ", ".join(column for column in names if column != "space")
        run(
            f"INSERT INTO {table} (space, {target}) SELECT s.id, {copied} FROM spaces s CROSS JOIN {table} t"
            f" WHERE s.name <> '{name}' AND t.space = (SELECT id FROM spaces WHERE name = '{name}')"
        )


def embedder_name(spec: str) -> str:
    return create_embedder(spec).name


@contextmanager
def databases() -> Iterator[tuple[str, str]]:
    """The URLs of an empty SQLite and an empty PostgreSQL database (durable, with default settings)."""
    server = PostgresServer(durable=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            yield str(Path(folder) / "memory.db"), new_schema_url(server.admin_url)
    finally:
        server.delete()


def arguments(description: str | None, **defaults: int) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    for name, value in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    return parser.parse_args()
