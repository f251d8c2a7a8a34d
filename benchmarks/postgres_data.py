"""Databases for the PostgreSQL benchmarks: many spaces with the rows of a few that were thought over."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.postgres_server import PostgresServer, new_schema_url

from thinkback.embedders.registry import create_embedder
from thinkback.memory import Memory
from thinkback.protocols import Store

NAMES = ("Anna", "Ben", "Carla", "David", "Elif", "Femi", "Grace", "Hiro")
PLACES = ("Lyon", "Berlin", "Osaka", "Lima", "Oslo", "Accra", "Pune", "Porto")
FACTS = (
    "My friend {name} lives in {place}.",
    "I visited {place} with {name} in May {year}.",
    "{name} is allergic to nuts, so we never order satay.",
    "My favourite cafe in {place} is the one that {name} found in {year}.",
    "{name} works as a nurse in {place} since {year}.",
)

SpaceRows = dict[str, list[tuple[Any, ...]]]


def sentence(number: int) -> str:
    name, place = NAMES[number % 8], PLACES[(number // 8) % 8]
    return FACTS[number % len(FACTS)].format(
        name=f"{name}{number // 64}", place=place, year=1990 + number % 30
    )


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
