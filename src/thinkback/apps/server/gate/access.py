"""What each route asks of a key, told in one table: a route that is not in it does not exist.

The first rule that fits decides. `{name}` stands for one part of the path, `/**` for a path and all below it.
A room adds its routes here; `tests/doors.py` proves for an app that every route has a rule and keeps to it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal

Need = Literal["nothing", "operator", "any", "read", "write", "admin"]
"""`operator`: admin, or nothing where only this machine can ask. `any`: a key; the room does what it may."""

RULES: tuple[tuple[str, str, Need], ...] = (
    ("GET", "/health", "nothing"),
    ("GET", "/ready", "nothing"),
    ("GET", "/metrics", "operator"),
    ("GET", "/openapi.json", "any"),
    # chats: recalled for who may read, remembered for who may write
    ("POST", "/v1/chat/completions", "any"),
    ("POST", "/v1/completions", "any"),
    ("POST", "/v1/embeddings", "any"),
    ("GET", "/v1/models/**", "any"),
    ("*", "/mcp/**", "any"),  # the tools ask `require`
    # questions too long for an address
    ("POST", "/v1/memory/recall", "read"),
    ("POST", "/v1/memory/ask", "read"),
    ("POST", "/v1/memory/context", "read"),
    ("POST", "/v1/memory/kinds", "read"),
    ("POST", "/search", "read"),
    # what is about all users of a tenant
    ("*", "/v1/memory/users/**", "admin"),
    # whatever else: to look is to read, the rest is to write
    ("GET", "/v1/memory/**", "read"),
    ("*", "/v1/memory/**", "write"),
    ("GET", "/memories/**", "read"),
    ("*", "/memories/**", "write"),
)


class Access:
    """The table, quick to ask."""

    def __init__(self, rules: tuple[tuple[str, str, Need], ...] = RULES) -> None:
        self._rules = tuple((method, _pattern(path), need) for method, path, need in rules)

    def need(self, method: str, path: str) -> Need | None:
        """What a request asks of its key; None where there is no such route."""
        asked = "GET" if method == "HEAD" else method
        for verb, pattern, need in self._rules:
            if verb in ("*", asked) and pattern(path):
                return need
        return None

    def methods(self, path: str) -> list[str]:
        """Those a path can be asked by; none where there is no such path."""
        return sorted({verb for verb, pattern, _ in self._rules if pattern(path)})


def _pattern(path: str) -> Callable[[str], object]:
    below = path.endswith("/**")
    parts = re.split(r"\{\w+\}", path.removesuffix("/**"))
    return re.compile(
        "[^/]+".join(map(re.escape, parts)) + ("(?:/.*)?" if below else "/?"), re.DOTALL
    ).fullmatch
