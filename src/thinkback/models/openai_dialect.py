"""What one OpenAI-compatible server understands, learned from the requests it rejects.

The ladder for structured output: JSON schema enforced by the server -> JSON mode with the schema in the
prompt -> the prompt alone. The same lesson covers servers that renamed `max_tokens` or fix the temperature.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from thinkback.models.chat import plain
from thinkback.models.retry import Fault
from thinkback.models.schema import closed
from thinkback.models.structured import asking
from thinkback.types import Message

Rung = Literal["schema", "json", "prompt"]
BELOW: dict[Rung, Rung] = {"schema": "json", "json": "prompt"}


@dataclass(frozen=True, slots=True)
class Dialect:
    rung: Rung = "schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    temperature: bool = True
    usage: bool = True  # whether a stream may be asked what it costs

    def after(self, fault: Fault, structured: bool, streamed: bool = False) -> Dialect | None:
        """The next form to try after a request was rejected for its form, None when nothing is left."""
        if fault.status not in (400, 422):
            return None
        said = str(fault.error).lower()
        if self.limit == "max_tokens" and "max_completion_tokens" in said:
            return replace(self, limit="max_completion_tokens")
        if self.temperature and "temperature" in said:
            return replace(self, temperature=False)
        if streamed and self.usage:
            return replace(self, usage=False)
        if structured and self.rung in BELOW:
            return replace(self, rung=BELOW[self.rung])
        return None

    def body(
        self,
        model: str,
        messages: Sequence[Message],
        schema: Mapping[str, Any] | None,
        max_tokens: int,
        temperature: float,
        streamed: bool = False,
    ) -> dict[str, Any]:
        """The request in this dialect."""
        body: dict[str, Any] = {
            "model": model,
            "messages": plain(
                asking(messages, schema) if schema is not None and self.rung != "schema" else messages
            ),
            self.limit: max_tokens,
        }
        if self.temperature:
            body["temperature"] = temperature
        if streamed and self.usage:
            body["stream_options"] = {"include_usage": True}
        if schema is not None and self.rung == "schema":
            form = {"name": "reply", "schema": dict(schema), "strict": closed(schema)}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        elif schema is not None and self.rung == "json":
            body["response_format"] = {"type": "json_object"}
        return body
