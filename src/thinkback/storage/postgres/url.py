"""URLs of PostgreSQL databases: those of libpq, with three options of thinkback in the query."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from thinkback.errors import InvalidInput

SCHEMES = ("postgresql", "postgres")
POOL_SIZE = 10
POOL_TIMEOUT_SECONDS = 5.0
VACUUM_LIMIT_MB = 256


@dataclass(frozen=True)
class PostgresUrl:
    """A URL, taken apart."""

    conninfo: str
    """The URL for libpq."""
    name: str
    """Host and database, without user, password and options: for messages."""
    pool_size: int = POOL_SIZE
    """Most connections that this process opens."""
    pool_timeout: float = POOL_TIMEOUT_SECONDS
    """Seconds to wait for a free connection, or for a server that is starting."""
    vacuum_limit_mb: int = VACUUM_LIMIT_MB
    """Up to this size of the tables, an erasure rewrites them at once; see docs/postgres.md."""


def parse_url(url: str) -> PostgresUrl:
    """Raises:
    InvalidInput: an option is not a number, or out of range.
    """
    parts = urlsplit(url)
    own = {"pool_size": "", "pool_timeout": "", "vacuum_limit_mb": ""}
    rest = []
    for key, value in parse_qsl(parts.query, keep_blank_values=True):
        if key in own:
            own[key] = value
        else:
            rest.append((key, value))
    try:
        size = int(own["pool_size"] or POOL_SIZE)
        timeout = float(own["pool_timeout"] or POOL_TIMEOUT_SECONDS)
        limit = int(own["vacuum_limit_mb"] or VACUUM_LIMIT_MB)
    except ValueError:
        raise InvalidInput(
            "pool_size, pool_timeout and vacuum_limit_mb of the database URL are numbers"
        ) from None
    if size < 1 or not 0 < timeout <= 600 or limit < 0:
        raise InvalidInput("use pool_size of at least 1, and a pool_timeout above 0 and up to 600 seconds")
    host = parts.netloc.rpartition("@")[2] or "localhost"
    name = f"{SCHEMES[0]}://{host}{parts.path}"
    conninfo = urlunsplit((SCHEMES[0], parts.netloc, parts.path, urlencode(rest), ""))
    if not parts.netloc:  # urlunsplit drops the empty host of postgresql:///name
        conninfo = f"{SCHEMES[0]}://{parts.path}" + (f"?{urlencode(rest)}" if rest else "")
    return PostgresUrl(conninfo, name, size, timeout, limit)
