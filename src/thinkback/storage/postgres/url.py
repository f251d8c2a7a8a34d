"""URLs of PostgreSQL databases: those of libpq, with options of thinkback in the query."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, urlencode, urlsplit, urlunsplit

from thinkback.errors import InvalidInput
from thinkback.storage import display_name

SCHEMES = ("postgresql", "postgres")
POOL_SIZE = 10
POOL_TIMEOUT_SECONDS = 5.0
VACUUM_LIMIT_MB = 256
HNSW_MIN_ROWS = 500_000


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
    read_url: PostgresUrl | None = None
    """A replica, from which recall reads. It may be behind the primary."""
    vacuum_limit_mb: int = VACUUM_LIMIT_MB
    """Up to this size of the tables, an erasure rewrites them at once; see docs/postgres.md."""
    hnsw_min_rows: int = HNSW_MIN_ROWS
    """A space with as many turns, or thoughts, is searched by meaning inside the database; 0: none is."""


def parse_url(url: str) -> PostgresUrl:
    """Raises:
    InvalidInput: an option is not a number, or out of range.
    """
    parts = urlsplit(url)
    own = {"pool_size": "", "pool_timeout": "", "read_url": "", "vacuum_limit_mb": "", "hnsw_min_rows": ""}
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
        hnsw_min_rows = int(own["hnsw_min_rows"] or HNSW_MIN_ROWS)
    except ValueError:
        raise InvalidInput(
            "pool_size, pool_timeout, vacuum_limit_mb and hnsw_min_rows of the database URL are numbers"
        ) from None
    if size < 1 or not 0 < timeout <= 600 or min(limit, hnsw_min_rows) < 0:
        raise InvalidInput(
            "use pool_size of at least 1, a pool_timeout above 0 and up to 600 seconds, and vacuum_limit_mb "
            "and hnsw_min_rows of at least 0"
        )
    options = urlencode(rest, quote_via=quote)  # libpq does not read + as a space
    conninfo = urlunsplit((SCHEMES[0], parts.netloc, parts.path, options, ""))
    if not parts.netloc:  # urlunsplit drops the empty host of postgresql:///name
        conninfo = f"{SCHEMES[0]}://{parts.path}" + (f"?{options}" if rest else "")
    read_url = parse_url(own["read_url"]) if own["read_url"] else None
    return PostgresUrl(conninfo, display_name(url), size, timeout, read_url, limit, hnsw_min_rows)
