"""Eyes on the server: structured logs, Prometheus metrics, OpenTelemetry spans; never what was said.

services.telemetry.count("thinkback_recalls_skipped_total", reason="slow")
with services.telemetry.span("search_memory", {"gen_ai.operation.name": "search_memory"}) as span: ...
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any


class Telemetry:
    """What rooms tell; a room names things, this decides where they go."""

    def count(self, name: str, amount: float = 1.0, **labels: str) -> None: ...

    def observe(self, name: str, seconds: float, **labels: str) -> None: ...

    @contextmanager
    def span(self, name: str, attributes: Mapping[str, Any]) -> Iterator[Any]:
        yield None
