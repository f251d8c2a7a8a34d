"""Moves all spaces and API keys from one database to another, of either kind.

A space is written in one transaction with all its rows, then read back and compared by checksum. A move that
was interrupted is repeated: spaces that are already there are compared and skipped. The source is not
changed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

from thinkback import errors
from thinkback.protocols import ProgressCallback, Store
from thinkback.storage import connect, display_name
from thinkback.types import ApiKey


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
        EmbedderMismatch: the target has vectors of another embedder, or the source is being converted.
        CorruptStore: a space was not stored as it was read.
    """
    if source_url == target_url:
        raise errors.InvalidInput("source and target are the same database")
    with closing(connect(source_url)) as source, closing(connect(target_url)) as target:
        embedder = source.embedder()
        if embedder is not None:
            source.bind_embedder(embedder)
            target.bind_embedder(embedder)
        if source.requires_keys():
            target.require_keys()
        keys = _move_keys(source, target)
        return _Mover(source, target, display_name(target_url)).run(keys, progress)


def _move_keys(source: Store, target: Store) -> list[ApiKey]:
    """Copy the keys, and revoke those that were revoked in the source since an earlier move."""
    keys = source.keys()
    for key in keys:
        there = target.key(key.id)
        if there is None:
            target.add_key(key)
        elif replace(there, revoked_at=None) != replace(key, revoked_at=None):
            raise errors.Conflict(
                f"key {key.id!r} exists in the target with other values: move to an empty database"
            )
        elif key.revoked_at is not None:
            target.revoke_key(key.id, key.revoked_at)
    return keys


class _Mover:
    """One move; counts what was done."""

    def __init__(self, source: Store, target: Store, target_name: str) -> None:
        self._source = source
        self._target = target
        self._target_name = target_name
        self._checksums: dict[tuple[str, str], str] = {}

    def run(self, keys: Sequence[ApiKey], progress: ProgressCallback | None) -> MoveResult:
        spaces = self._source.spaces()
        there = set(self._target.spaces())
        already_there = turns = thoughts = rows = 0
        for number, key in enumerate(spaces, start=1):
            tables = self._source.for_tenant(key[0]).read_space(key[1])
            self._checksums[key] = checksum(tables)
            already_there += key in there
            self._copy(key, tables, is_there=key in there)
            turns += len(tables["turns"])
            thoughts += len(tables["thoughts"])
            rows += sum(map(len, tables.values()))
            if progress:
                progress(number, len(spaces))
        self._require_unchanged(keys)
        return MoveResult(
            spaces=len(spaces),
            already_there=already_there,
            turns=turns,
            thoughts=thoughts,
            rows=rows,
            keys=len(keys),
        )

    def _copy(
        self, key: tuple[str, str], tables: Mapping[str, Sequence[tuple[Any, ...]]], *, is_there: bool
    ) -> None:
        tenant, space = key
        view = self._target.for_tenant(tenant)
        if not is_there:
            view.write_space(space, tables)
        if checksum(view.read_space(space)) == self._checksums[key]:
            return
        if is_there:
            raise errors.Conflict(
                f"user {space!r} has other memories in {self._target_name}: erase them there, "
                "or move to an empty database"
            )
        raise errors.CorruptStore(f"user {space!r} was not stored in {self._target_name} as it was read")

    def _require_unchanged(self, keys: Sequence[ApiKey]) -> None:
        """Check that nobody wrote to the source meanwhile: what was written would be missing."""
        now = {key: self._source_checksum(key) for key in self._source.spaces()}
        changed = {key for key, _ in now.items() ^ self._checksums.items()}
        if changed:
            raise errors.Conflict(
                f"{len(changed)} users changed during the move: stop all servers and workers, "
                f"erase these users in {self._target_name}, and repeat it (the first is "
                f"{min(changed)[1]!r})"
            )
        if list(self._source.keys()) != list(keys):
            raise errors.Conflict("API keys changed during the move: stop all servers, and repeat it")

    def _source_checksum(self, key: tuple[str, str]) -> str:
        try:
            return checksum(self._source.for_tenant(key[0]).read_space(key[1]))
        except errors.NotFound:  # erased just now
            return ""
