"""Metrics by name, over all processes, with a bounded number of series."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

import thinkback.server
from thinkback.server.telemetry.metrics import (
    DESCRIPTIONS,
    MAX_SERIES_PER_METRIC,
    MULTIPROCESS_DIR_VARIABLE,
    OVERFLOW_LABEL,
    Metrics,
)

SERVER = Path(thinkback.server.__file__).parent
WRITER = """
import sys
from thinkback.server.telemetry.metrics import Metrics
metrics = Metrics()
metrics.count("thinkback_turns_late_total", float(sys.argv[1]), {})
metrics.observe("thinkback_request_seconds", 0.01, {"route": "/a", "method": "GET"})
metrics.set_gauge("thinkback_requests_in_flight", 2, {})
metrics.set_gauge("thinkback_pending_turns", float(sys.argv[1]), {})
"""
READER = "from thinkback.server.telemetry.metrics import Metrics; print(Metrics().render().decode())"


def samples(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_counters_histograms_and_gauges() -> None:
    metrics = Metrics()
    for _ in range(3):
        metrics.count("thinkback_recalls_skipped_total", 1, {"reason": "slow"})
    metrics.observe("thinkback_request_seconds", 0.02, {"route": "/a", "method": "GET"})
    metrics.add_to_gauge("thinkback_requests_in_flight", 1)
    metrics.add_to_gauge("thinkback_requests_in_flight", 1)
    metrics.add_to_gauge("thinkback_requests_in_flight", -1)
    found = samples(metrics.render().decode())
    assert found["thinkback_recalls_skipped_total", (("reason", "slow"),)] == 3
    assert found["thinkback_request_seconds_count", (("method", "GET"), ("route", "/a"))] == 1
    assert found["thinkback_requests_in_flight", ()] == 1
    buckets = {
        dict(labels)["le"]: value for (name, labels), value in found.items() if name.endswith("_bucket")
    }
    assert (buckets["0.01"], buckets["0.025"]) == (0, 1)


def test_label_order_does_not_matter() -> None:
    metrics = Metrics()
    metrics.count("thinkback_tokens_total", 1, {"of": "chat", "kind": "prompt"})
    metrics.count("thinkback_tokens_total", 1, {"kind": "prompt", "of": "chat"})
    assert (
        samples(metrics.render().decode())["thinkback_tokens_total", (("kind", "prompt"), ("of", "chat"))]
        == 2
    )


def test_number_of_series_is_bounded() -> None:
    metrics = Metrics()
    for number in range(3 * MAX_SERIES_PER_METRIC):
        metrics.count("thinkback_tokens_total", 1, {"model": f"model-{number}"})
    found = {
        labels: value
        for (name, labels), value in samples(metrics.render().decode()).items()
        if name == "thinkback_tokens_total"
    }
    assert len(found) == MAX_SERIES_PER_METRIC + 1
    assert found[(("model", OVERFLOW_LABEL),)] == 2 * MAX_SERIES_PER_METRIC


def test_metrics_of_processes_add_up(tmp_path: Path) -> None:
    environment = {**os.environ, MULTIPROCESS_DIR_VARIABLE: str(tmp_path)}
    for number in (1, 2):
        subprocess.run([sys.executable, "-c", WRITER, str(number)], env=environment, check=True)
    done = subprocess.run(
        [sys.executable, "-c", READER], env=environment, check=True, capture_output=True, text=True
    )
    found = samples(done.stdout)
    assert found["thinkback_turns_late_total", ()] == 3
    assert found["thinkback_request_seconds_count", (("method", "GET"), ("route", "/a"))] == 2
    assert found["thinkback_requests_in_flight", ()] == 4
    assert (
        found["thinkback_pending_turns", ()] == 2
    )  # the most recent value counts: both processes count the same turns


def test_every_metric_has_a_description() -> None:
    named = {
        node.args[0].value
        for path in SERVER.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("count", "observe", "set_gauge", "add_to_gauge")
        and node.args
        and isinstance(node.args[0], ast.Constant)
        and str(node.args[0].value).startswith("thinkback_")
    }
    assert named
    assert named <= set(DESCRIPTIONS), "a metric needs a description in DESCRIPTIONS"
