"""Load SQL from files: named queries (`-- name: some.name`) and numbered migrations."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import NamedTuple

_NAME = re.compile(r"^-- name: ([a-z_.]+)$", re.MULTILINE)


class Migration(NamedTuple):
    """One step of the schema."""

    version: int
    script: str


def parse_queries(text: str) -> dict[str, str]:
    """Statements by name.

    Raises:
        ValueError: a name is duplicated or has no statement.
    """
    pieces = _NAME.split(text)
    queries: dict[str, str] = {}
    for name, body in zip(pieces[1::2], pieces[2::2], strict=True):
        statement = body.strip().removesuffix(";")
        if name in queries or not statement:
            raise ValueError(f"query {name!r} is empty or duplicated")
        queries[name] = statement
    return queries


def load_queries(package: str, file: str) -> Mapping[str, str]:
    """The named queries of a file in a package."""
    return parse_queries(files(package).joinpath(file).read_text("utf-8"))


def load_migrations(package: str) -> Iterator[Migration]:
    """The migrations `0001_name.sql`, `0002_name.sql`, ... of a package, in order and without gaps."""
    names = sorted(item.name for item in files(package).iterdir() if item.name.endswith(".sql"))
    for version, name in enumerate(names, start=1):
        if not name.startswith(f"{version:04d}_"):
            raise ValueError(f"migration {name} should be number {version:04d}")
        yield Migration(version, files(package).joinpath(name).read_text("utf-8"))
