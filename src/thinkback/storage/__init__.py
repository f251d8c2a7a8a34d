"""Stores: where spaces live. `connect` takes a URL, so that an application changes one string to move."""

from __future__ import annotations

from thinkback.errors import InvalidInput
from thinkback.protocols import Store


def connect(url: str) -> Store:
    """`memory.db`, `sqlite:///path/to/memory.db`, or `:memory:`."""
    from thinkback.storage.sqlite import SqliteStore

    scheme, separator, rest = url.partition("://")
    if not separator:
        path = url
    elif scheme == "sqlite":
        path = rest.removeprefix("/") if rest != "/:memory:" else ":memory:"
    else:
        raise InvalidInput(f"{url!r}: thinkback opens sqlite:///FILE or a plain file name")
    if not path:
        raise InvalidInput(f"{url!r} names no file")
    return SqliteStore(path)
