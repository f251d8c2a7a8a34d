"""Prometheus metrics of all processes together: each writes files in one folder, whoever is asked adds up.

The folder is PROMETHEUS_MULTIPROC_DIR, made by the supervisor before it starts a process; without one the
metrics are those of this process alone.
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
MAX_SERIES_PER_METRIC = 500  # of one metric; a client that invents names cannot make more of them than this
OVERFLOW_LABEL = "other"
HISTOGRAM_BUCKETS_SECONDS = (
    0.001,
    0.0025,
    0.005,
    0.01,
    0.025,
    0.05,
    0.1,
    0.25,
    0.5,
    1.0,
    2.5,
    5.0,
    10.0,
    30.0,
    60.0,
)

DESCRIPTIONS = {
    "thinkback_requests_total": "Requests answered, by route, method and status.",
    "thinkback_request_seconds": "From a request to the end of its answer.",
    "thinkback_requests_in_flight": "Requests being answered now.",
    "thinkback_requests_refused_total": "Requests that the gate did not let in, by reason.",
    "thinkback_clients_cut_total": "Clients that were too slow, by reason.",
    "thinkback_proxy_answers_total": "Answers of the upstream to chats, by outcome.",
    "thinkback_proxy_stage_seconds": "Time a stage of a chat took: recall, upstream, remember.",
    "thinkback_proxy_cpu_seconds": "CPU time of a stage of a chat.",
    "thinkback_upstream_errors_total": "Chats that the upstream did not answer well, by reason.",
    "thinkback_recalls_total": "Recalls for a chat that were done in time.",
    "thinkback_recalls_skipped_total": "Chats that passed without memories, by reason.",
    "thinkback_recall_errors_total": "Recalls that failed, by error.",
    "thinkback_turns_late_total": "Turns of a chat that were kept after its answer had ended.",
    "thinkback_turns_lost_total": "Turns of a chat that could not be kept, by error.",
    "thinkback_turns_thought_over_total": "Turns that were thought over.",
    "thinkback_thinking_failures_total": "Turns given back to be thought over later.",
    "thinkback_thoughts_total": "What thinking did, by action.",
    "thinkback_tokens_total": "Tokens of language models, by what for and kind.",
    "thinkback_thinking_seconds": "Time a bite of thinking took.",
    "thinkback_pending_turns": "Turns still to be thought over.",
    "thinkback_breaker_open": "Processes that leave a failing part alone, by part.",
}
"""What each metric says. One that is not here works, and a test asks for its line."""

_SeriesKey = tuple[Any, ...]


class Metrics:
    """Counters, times and levels by name; the first use of a name makes it."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._metrics: dict[str, Counter | Histogram | Gauge] = {}
        self._series: dict[_SeriesKey, Any] = {}
        self._sizes: dict[str, int] = {}
        self._lock = Lock()

    def count(self, name: str, amount: float, labels: dict[str, str]) -> None:
        self._get_series(Counter, name, labels).inc(amount)

    def observe(self, name: str, seconds: float, labels: dict[str, str]) -> None:
        self._get_series(Histogram, name, labels).observe(seconds)

    def set_gauge(self, name: str, value: float, labels: dict[str, str]) -> None:
        """What stands at a value of this process; the sum over processes that live is shown."""
        self._get_series(Gauge, name, labels).set(value)

    def add_to_gauge(self, name: str, by: float) -> None:
        self._get_series(Gauge, name, {}).inc(by)

    def render(self) -> bytes:
        """Of every process, as Prometheus reads it."""
        if MULTIPROCESS_DIR_VARIABLE not in os.environ:
            return generate_latest(self._registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)

    def _get_series(self, kind: type[Counter | Histogram | Gauge], name: str, labels: dict[str, str]) -> Any:
        key = (name, *labels.items())
        found = self._series.get(key)
        return found if found is not None else self._create_series(kind, name, labels, key)

    def _create_series(
        self, kind: type[Counter | Histogram | Gauge], name: str, labels: dict[str, str], key: _SeriesKey
    ) -> Any:
        with self._lock:
            metric = self._metrics.get(name) or self._declare(kind, name, tuple(labels))
            if not labels:
                series: Any = metric
            elif self._sizes.get(name, 0) >= MAX_SERIES_PER_METRIC:
                return metric.labels(
                    **dict.fromkeys(labels, OVERFLOW_LABEL)
                )  # not kept: the keys are endless too
            else:
                series = metric.labels(**labels)
            self._sizes[name] = self._sizes.get(name, 0) + 1
            self._series[key] = series
            return series

    def _declare(
        self, kind: type[Counter | Histogram | Gauge], name: str, labels: tuple[str, ...]
    ) -> Counter | Histogram | Gauge:
        about = DESCRIPTIONS.get(name, name)
        made: Counter | Histogram | Gauge
        if kind is Histogram:
            made = Histogram(name, about, labels, buckets=HISTOGRAM_BUCKETS_SECONDS, registry=self._registry)
        elif kind is Gauge:
            mode: Any = "mostrecent" if name == "thinkback_pending_turns" else "livesum"
            made = Gauge(name, about, labels, multiprocess_mode=mode, registry=self._registry)
        else:
            made = Counter(name, about, labels, registry=self._registry)
        self._metrics[name] = made
        return made
