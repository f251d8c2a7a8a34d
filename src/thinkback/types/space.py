"""Space keys, space statistics and API keys."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

SpaceKey = tuple[str, str]
"""Where a space is in a database of many tenants: (tenant, space)."""

# --- who may ask -----------------------------------------------------------------------------

KeyScope = Literal["read", "write", "admin"]
KEY_SCOPES: tuple[KeyScope, ...] = ("read", "write", "admin")


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKey:
    """A key of the server as it is kept: bound to a tenant; of its secret only a hash is known.

    Bound to a `user` too, it speaks for that one alone.
    """

    id: str
    tenant: str
    scopes: frozenset[KeyScope]
    digest: bytes = field(repr=False)
    label: str = ""
    user: str | None = None
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceStats:
    """One space in numbers."""

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
