"""Structured logs, Prometheus metrics and OpenTelemetry spans. Message content is never recorded.

services.telemetry.count("thinkback_recalls_skipped_total", reason="slow")
with services.telemetry.span("search_memory", {"gen_ai.operation.name": "search_memory"}) as span: ...
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from random import Random
from typing import Any

from thinkback.server.telemetry import spans
from thinkback.server.telemetry.logs import EventLog
from thinkback.server.telemetry.metrics import Metrics


class Telemetry:
    """Logs, metrics and spans of one process."""

    def __init__(self, logs: EventLog | None = None, metrics: Metrics | None = None) -> None:
        self.logs = logs or EventLog()
        self.metrics = metrics or Metrics()

    def count(self, name: str, amount: float = 1.0, **labels: str) -> None:
        self.metrics.count(name, amount, labels)

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        self.metrics.observe(name, seconds, labels)

    def set_gauge(self, name: str, value: float, **labels: str) -> None:
        self.metrics.set_gauge(name, value, labels)

    def span(self, name: str, attributes: Mapping[str, Any]) -> AbstractContextManager[Any]:
        return spans.span(name, attributes)


_request_ids = Random()  # noqa: S311 (not a secret)


def new_request_id() -> str:
    """A random id for a request. It is no secret.

    Reading entropy of the system would release the interpreter lock, and the event loop would have to wait
    until other threads return it.
    """
    return f"{_request_ids.getrandbits(64):016x}"
