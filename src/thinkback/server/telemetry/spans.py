"""OpenTelemetry spans in the GenAI semantic conventions: `chat MODEL`, `search_memory`, `create_memory`.

Only the OpenTelemetry API is used. The operator adds an SDK (`opentelemetry-instrument thinkback serve`);
without one a span costs nothing. Memory operations use the names of the conventions in development, or
`thinkback.*` where there is none. Message content is left out unless
OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT is true. The W3C `traceparent` of a request is forwarded to
the upstream, with or without an SDK.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry import context, trace
from opentelemetry.trace import INVALID_SPAN, ProxyTracerProvider, Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

CAPTURE_CONTENT_VARIABLE = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
CONTENT_ATTRIBUTES = frozenset(
    {
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.system_instructions",
        "gen_ai.prompt",
        "gen_ai.completion",
        "gen_ai.memory.query.text",
        "gen_ai.memory.records",
        "gen_ai.retrieval.query.text",
        "gen_ai.retrieval.documents",
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.call.result",
    }
)
"""Attributes that contain message content."""

CLIENT_OPERATIONS = ("chat", "text_completion", "embeddings")
_W3C = TraceContextTextMapPropagator()


def is_recording() -> bool:
    """Whether an SDK is installed."""
    return not isinstance(trace.get_tracer_provider(), ProxyTracerProvider)


def chat_attributes(
    model: str, *, operation: str = "chat", provider: str = "openai"
) -> tuple[str, dict[str, Any]]:
    """The span name and attributes of a request to a model."""
    return f"{operation} {model}", {
        "gen_ai.operation.name": operation,
        "gen_ai.provider.name": provider,
        "gen_ai.request.model": model,
    }


def record_usage(span: Span, model: str | None, prompt: int | None, completion: int | None) -> None:
    """Add the model and token counts of a response to a span."""
    attributes = {
        "gen_ai.response.model": model,
        "gen_ai.usage.input_tokens": prompt,
        "gen_ai.usage.output_tokens": completion,
    }
    for name, value in attributes.items():
        if value is not None:
            span.set_attribute(name, value)


@contextmanager
def span(name: str, attributes: Mapping[str, Any]) -> Iterator[Span]:
    """A span around the block; of an error only the type is recorded."""
    if not is_recording():
        yield INVALID_SPAN
        return
    operation = attributes.get("gen_ai.operation.name")
    kind = SpanKind.CLIENT if operation in CLIENT_OPERATIONS else SpanKind.INTERNAL
    with start_span(name, kind, attributes) as current:
        yield current


@contextmanager
def start_span(name: str, kind: SpanKind, attributes: Mapping[str, Any]) -> Iterator[Span]:
    tracer = trace.get_tracer("thinkback")
    with tracer.start_as_current_span(
        name,
        kind=kind,
        attributes=without_content(attributes),
        record_exception=False,
        set_status_on_exception=False,
    ) as current:
        try:
            yield current
        except Exception as error:
            current.set_attribute("error.type", type(error).__name__)
            current.set_status(Status(StatusCode.ERROR))
            raise


def without_content(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """The attributes without message content, unless capturing it is enabled."""
    if os.environ.get(CAPTURE_CONTENT_VARIABLE, "").lower() == "true":
        return dict(attributes)
    return {name: value for name, value in attributes.items() if name not in CONTENT_ATTRIBUTES}


def trace_headers() -> dict[str, str]:
    """Headers that continue the current trace in the upstream."""
    headers: dict[str, str] = {}
    _W3C.inject(headers)
    return headers


@contextmanager
def continue_trace(headers: Iterable[tuple[bytes, bytes]]) -> Iterator[None]:
    """Make the trace of the request headers current in the block."""
    carrier = {
        name.decode("latin-1"): value.decode("latin-1")
        for name, value in headers
        if name in (b"traceparent", b"tracestate")
    }
    token = context.attach(_W3C.extract(carrier))
    try:
        yield
    finally:
        context.detach(token)
