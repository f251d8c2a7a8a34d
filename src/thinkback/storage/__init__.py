"""Databases. `connect` opens one by its URL."""

from __future__ import annotations

from thinkback.errors import InvalidInput
from thinkback.protocols import Store


def connect(url: str) -> Store:
    """Open a store: `memory.db`, `sqlite:///path/to/memory.db` or `:memory:`."""
    from thinkback.storage.sqlite import SqliteStore

    scheme, separator, rest = url.partition("://")
    if not separator:
        path = url
    elif scheme == "sqlite":
        path = rest.removeprefix("/") if rest != "/:memory:" else ":memory:"
    else:
        raise InvalidInput(f"{url!r} is not supported: use sqlite:///FILE or a file name")
    if not path:
        raise InvalidInput(f"{url!r} contains no file name")
    return SqliteStore(path)
