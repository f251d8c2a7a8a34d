"""Space keys, space statistics and API keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import ClassVar, Literal

SpaceKey = tuple[str, str]
"""(tenant, space): identifies a space in a database shared by several tenants."""

KeyScope = Literal["read", "write", "admin"]
KEY_SCOPES: tuple[KeyScope, ...] = ("read", "write", "admin")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A server API key as stored: bound to a tenant, with a digest instead of the secret.

    If `user` is set, the key gives access to that user only.
    """

    JSON_FIELDS: ClassVar = (
        "id",
        "tenant",
        "user",
        "scopes=sorted_scopes",
        "label",
        "created_at",
        "expires_at",
        "revoked_at",
    )

    id: str
    tenant: str
    scopes: frozenset[KeyScope]
    digest: bytes = field(repr=False)
    label: str = ""
    user: str | None = None
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    @property
    def sorted_scopes(self) -> tuple[KeyScope, ...]:
        return tuple(scope for scope in KEY_SCOPES if scope in self.scopes)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceStats:
    """Counts of one space. `retired` thoughts are not included in `thoughts`."""

    user: str
    turns: int
    thoughts: int
    retired: int
    entities: int
    actions: int
    pending: int
    failed: int
    groups: int
    largest_group: int
    embedder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SalvagedSpace:
    """What was read of one user from a damaged database.

    `missing_*` counts the numbers below the last one that were not found: lost now, or erased earlier.
    `keeps_journal` says whether the history of the thoughts could be kept.
    """

    tenant: str
    user: str
    turns: int
    thoughts: int
    missing_turns: int
    missing_thoughts: int
    keeps_journal: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SalvageResult:
    """What was read from a damaged database; `unreadable_rows` were found but could not be decoded."""

    spaces: tuple[SalvagedSpace, ...]
    unreadable_rows: int
