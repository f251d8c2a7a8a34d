"""Spans by the GenAI conventions: names, usage, no content unless enabled, trace propagation."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode

from thinkback.server.telemetry import Telemetry, spans

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
HEADERS = [(b"host", b"x"), (b"traceparent", PARENT.encode()), (b"tracestate", b"vendor=1")]


@pytest.fixture
def exported(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """An OpenTelemetry SDK for this test only."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer_provider", lambda: provider)
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    yield exporter
    provider.shutdown()


def only(exporter: InMemorySpanExporter) -> ReadableSpan:
    (span,) = exporter.get_finished_spans()
    return span


def test_chat_span_follows_conventions(exported: InMemorySpanExporter) -> None:
    name, attributes = spans.chat_attributes("gpt-4o-mini")
    with Telemetry().span(name, attributes) as span:
        spans.record_usage(span, "gpt-4o-mini-2024-07-18", 12, None)
    made = only(exported)
    assert (made.name, made.kind) == ("chat gpt-4o-mini", SpanKind.CLIENT)
    assert dict(made.attributes or {}) == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-4o-mini",
        "gen_ai.response.model": "gpt-4o-mini-2024-07-18",
        "gen_ai.usage.input_tokens": 12,
    }


@pytest.mark.parametrize("asked", [False, True])
def test_content_is_captured_only_if_enabled(
    exported: InMemorySpanExporter, monkeypatch: pytest.MonkeyPatch, asked: bool
) -> None:
    monkeypatch.setenv(spans.CAPTURE_CONTENT_VARIABLE, str(asked))
    attributes = {"gen_ai.operation.name": "search_memory", "gen_ai.memory.query.text": "Where do I live?"}
    with spans.span("search_memory", attributes):
        pass
    made = only(exported)
    assert ("gen_ai.memory.query.text" in (made.attributes or {})) == asked
    assert made.kind is SpanKind.INTERNAL


def test_error_is_recorded_by_type(exported: InMemorySpanExporter) -> None:
    with pytest.raises(ValueError, match="ann"), spans.span("create_memory", {}):
        raise ValueError("what ann said")
    made = only(exported)
    assert made.status.status_code is StatusCode.ERROR
    assert (made.attributes or {})["error.type"] == "ValueError"
    assert made.events == ()
    assert "ann" not in made.to_json()


def test_trace_is_continued_and_forwarded(exported: InMemorySpanExporter) -> None:
    with spans.continue_trace(HEADERS), spans.span("chat m", {}) as span:
        outgoing = spans.trace_headers()
    made = only(exported)
    assert made.parent is not None
    assert f"{made.parent.trace_id:032x}-{made.parent.span_id:016x}" in PARENT
    assert outgoing["traceparent"].split("-")[1] == PARENT.split("-")[1]
    assert outgoing["traceparent"].split("-")[2] == f"{span.get_span_context().span_id:016x}"
    assert spans.trace_headers() == {}


def test_trace_is_forwarded_without_sdk() -> None:
    assert not spans.is_recording()
    with spans.continue_trace(HEADERS), spans.span("chat m", {}) as span:
        span.set_attribute("anything", 1)
        assert spans.trace_headers() == {"traceparent": PARENT, "tracestate": "vendor=1"}


@pytest.mark.parametrize(
    "value", [b"", b"nonsense", b"00-0-0-00", b"\xff\xfe", b"00-" + b"0" * 32 + b"-" + b"0" * 16]
)
def test_invalid_traceparent_is_ignored(value: bytes) -> None:
    with spans.continue_trace([(b"traceparent", value)]):
        assert spans.trace_headers() == {}
