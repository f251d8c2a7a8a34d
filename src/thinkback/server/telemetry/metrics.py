"""Prometheus metrics of all processes together.

Each process writes files to the folder PROMETHEUS_MULTIPROC_DIR, which the supervisor creates, and the
process that answers `/metrics` adds them up. Without the folder, metrics are those of this process only.
"""

from __future__ import annotations

import os
from threading import Lock
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.multiprocess import MultiProcessCollector

MULTIPROCESS_DIR_VARIABLE = "PROMETHEUS_MULTIPROC_DIR"
CONTENT_TYPE = CONTENT_TYPE_LATEST
MAX_SERIES_PER_METRIC = 500  # so that clients that invent label values cannot fill the memory
OVERFLOW_LABEL = "other"
HISTOGRAM_BUCKETS_SECONDS = (
    *(0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25),
    *(0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0),
)

DESCRIPTIONS = {
    "thinkback_requests_total": "Requests answered, by route, method and status.",
    "thinkback_request_seconds": "Time from a request to the end of its response.",
    "thinkback_requests_in_flight": "Requests being answered now.",
    "thinkback_requests_refused_total": "Requests refused by the security middleware, by reason.",
    "thinkback_turns_refused_total": "Turns not stored, by reason: the key was revoked meanwhile.",
    "thinkback_clients_cut_total": "Clients disconnected because they were too slow, by reason.",
    "thinkback_proxy_answers_total": "Answers of the upstream to chats, by outcome.",
    "thinkback_proxy_stage_seconds": "Time of a stage of a chat: recall, upstream, remember.",
    "thinkback_proxy_cpu_seconds": "CPU time of a stage of a chat.",
    "thinkback_upstream_errors_total": "Chats without a complete answer from the upstream, by reason.",
    "thinkback_recalls_total": "Recalls for a chat that finished in time.",
    "thinkback_recalls_skipped_total": "Chats answered without memories, by reason.",
    "thinkback_recall_errors_total": "Recalls that failed, by error.",
    "thinkback_turns_late_total": "Turns of a chat that were stored after its answer had ended.",
    "thinkback_turns_lost_total": "Turns of a chat that could not be stored, by error.",
    "thinkback_turns_thought_over_total": "Turns that were thought over.",
    "thinkback_thinking_failures_total": "Turns whose thinking failed; they are tried again later.",
    "thinkback_thoughts_total": "Actions of thinking, by action.",
    "thinkback_tokens_total": "Tokens of language models, by purpose and kind.",
    "thinkback_thinking_seconds": "Time of one batch of thinking.",
    "thinkback_pending_turns": "Turns not yet thought over.",
    "thinkback_breaker_open": "Processes whose circuit breaker is open, by part.",
}
"""Help texts. A metric that is missing here works, but a test asks for its description."""

_SeriesKey = tuple[Any, ...]
_Metric = Counter | Histogram | Gauge


class Metrics:
    """Counters, histograms and gauges by name, created on first use."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._metrics: dict[str, _Metric] = {}
        self._series: dict[_SeriesKey, Any] = {}
        self._sizes: dict[str, int] = {}
        self._lock = Lock()

    def count(self, name: str, amount: float, labels: dict[str, str]) -> None:
        self._get_series(Counter, name, labels).inc(amount)

    def observe(self, name: str, seconds: float, labels: dict[str, str]) -> None:
        self._get_series(Histogram, name, labels).observe(seconds)

    def set_gauge(self, name: str, value: float, labels: dict[str, str]) -> None:
        """Set this process's value; `/metrics` shows the sum over all living processes."""
        self._get_series(Gauge, name, labels).set(value)

    def add_to_gauge(self, name: str, by: float) -> None:
        self._get_series(Gauge, name, {}).inc(by)

    def render(self) -> bytes:
        """The metrics of all processes in the Prometheus text format."""
        if MULTIPROCESS_DIR_VARIABLE not in os.environ:
            return generate_latest(self._registry)
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
        return generate_latest(registry)

    def _get_series(self, kind: type[_Metric], name: str, labels: dict[str, str]) -> Any:
        key = (name, *labels.items())
        series = self._series.get(key)
        return series if series is not None else self._create_series(kind, name, labels, key)

    def _create_series(self, kind: type[_Metric], name: str, labels: dict[str, str], key: _SeriesKey) -> Any:
        with self._lock:
            metric = self._metrics.get(name) or self._create_metric(kind, name, tuple(labels))
            if not labels:
                series: Any = metric
            elif self._sizes.get(name, 0) >= MAX_SERIES_PER_METRIC:
                # Not cached: the number of keys is unlimited too.
                return metric.labels(**dict.fromkeys(labels, OVERFLOW_LABEL))
            else:
                series = metric.labels(**labels)
            self._sizes[name] = self._sizes.get(name, 0) + 1
            self._series[key] = series
            return series

    def _create_metric(self, kind: type[_Metric], name: str, labels: tuple[str, ...]) -> _Metric:
        description = DESCRIPTIONS.get(name, name)
        metric: _Metric
        if kind is Histogram:
            metric = Histogram(
                name, description, labels, buckets=HISTOGRAM_BUCKETS_SECONDS, registry=self._registry
            )
        elif kind is Gauge:
            mode: Any = "mostrecent" if name == "thinkback_pending_turns" else "livesum"
            metric = Gauge(name, description, labels, multiprocess_mode=mode, registry=self._registry)
        else:
            metric = Counter(name, description, labels, registry=self._registry)
        self._metrics[name] = metric
        return metric
