"""Moves all spaces and API keys from one database to another, of either kind.

A space is written in one transaction with all its rows, then read back and compared by checksum. A move that
was interrupted is repeated: spaces that are already there are compared and skipped. The source is not
changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from thinkback import errors
from thinkback.protocols import Store
from thinkback.storage import connect, display_name

ProgressCallback = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveResult:
    """What a move did. `rows` counts the rows of all spaces in the target, all verified."""

    spaces: int
    already_there: int
    turns: int
    thoughts: int
    rows: int
    keys: int


def checksum(tables: Mapping[str, Sequence[tuple[Any, ...]]]) -> str:
    """The SHA-256 of all rows of a space."""
    digest = hashlib.sha256()
    for table in sorted(tables):
        digest.update(table.encode())
        for row in tables[table]:
            digest.update(repr(row).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def move(source_url: str, target_url: str, progress: ProgressCallback | None = None) -> MoveResult:
    """Copy everything from one database to another, verified.

    Raises:
        InvalidInput: both are the same database.
        Conflict: a space of the target has other contents, or the source changed meanwhile.
        EmbedderMismatch: the target has vectors of another embedder.
        CorruptStore: a space was not stored as it was read.
    """
    if source_url == target_url:
        raise errors.InvalidInput("source and target are the same database")
    with closing(connect(source_url)) as source, closing(connect(target_url)) as target:
        embedder = source.embedder()
        if embedder is not None:
            target.bind_embedder(embedder)
        keys = _move_keys(source, target)
        return _Mover(source, target, display_name(target_url)).run(keys, progress)


def _move_keys(source: Store, target: Store) -> int:
    keys = source.keys()
    for key in keys:
        there = target.key(key.id)
        if there is None:
            target.add_key(key)
        elif there != key:
            raise errors.Conflict(f"key {key.id!r} exists in the target with other values: revoke it there")
    return len(keys)


class _Mover:
    """One move; counts what was done."""

    def __init__(self, source: Store, target: Store, target_name: str) -> None:
        self._source = source
        self._target = target
        self._target_name = target_name
        self._counters: dict[tuple[str, str], Sequence[tuple[Any, ...]]] = {}

    def run(self, keys: int, progress: ProgressCallback | None) -> MoveResult:
        spaces = self._source.spaces()
        there = set(self._target.spaces())
        already_there = turns = thoughts = rows = 0
        for number, key in enumerate(spaces, start=1):
            tables = self._source.for_tenant(key[0]).read_space(key[1])
            self._counters[key] = tables["spaces"]
            already_there += key in there
            self._copy(key, tables, is_there=key in there)
            turns += len(tables["turns"])
            thoughts += len(tables["thoughts"])
            rows += sum(map(len, tables.values()))
            if progress:
                progress(number, len(spaces))
        self._require_unchanged(spaces)
        return MoveResult(
            spaces=len(spaces),
            already_there=already_there,
            turns=turns,
            thoughts=thoughts,
            rows=rows,
            keys=keys,
        )

    def _copy(
        self, key: tuple[str, str], tables: Mapping[str, Sequence[tuple[Any, ...]]], *, is_there: bool
    ) -> None:
        tenant, space = key
        view = self._target.for_tenant(tenant)
        if not is_there:
            view.write_space(space, tables)
        if checksum(view.read_space(space)) == checksum(tables):
            return
        if is_there:
            raise errors.Conflict(
                f"user {space!r} has other memories in {self._target_name}: erase them there, "
                "or move to an empty database"
            )
        raise errors.CorruptStore(f"user {space!r} was not stored in {self._target_name} as it was read")

    def _require_unchanged(self, spaces: Sequence[tuple[str, str]]) -> None:
        """Check that nobody wrote to the source meanwhile: what was written would be missing."""
        now = self._source.spaces()
        changed = set(now) ^ set(spaces)
        for tenant, space in set(now) & set(spaces):
            if self._source.for_tenant(tenant).space_counters(space) != self._counters[tenant, space][0]:
                changed.add((tenant, space))
        if changed:
            raise errors.Conflict(
                f"{len(changed)} users changed during the move: stop all servers and workers, "
                f"erase these users in {self._target_name}, and repeat it (the first is "
                f"{min(changed)[1]!r})"
            )
