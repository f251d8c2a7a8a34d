"""The JSON inside what a language model said: found, never invented.

A model wraps its JSON in prose, code fences or its own reasoning. This takes the outermost value as it stands
in the text; what is cut off or malformed is a BadReply, because a completed guess would be a false memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from thinkback.errors import BadReply
from thinkback.models.schema import misfit
from thinkback.types import Message

MAX_STARTS = 200  # brackets tried before giving up: bounds the work on a hostile reply
REASONING = re.compile(r"\A\s*<think>.*?</think>", re.DOTALL)
FENCED = re.compile(r"\A\s*```[\w-]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)


def conform(text: str, schema: Mapping[str, Any]) -> str:
    """The first JSON value in the text that fits the schema, as written there; BadReply if there is none."""
    first: str | None = None
    for found, value in values(text):
        problem = misfit(value, schema)
        if problem is None:
            return found
        first = first or problem
    if first is None:
        raise BadReply(
            f"The model was asked for JSON and said {_excerpt(text)}. Ask again, or use another model."
        )
    raise BadReply(
        f"The model's JSON does not fit the schema: {first}. It said {_excerpt(text)}. "
        "Ask again, or use a larger model."
    )


def values(text: str) -> Iterator[tuple[str, Any]]:
    """Every outermost JSON value in the text from left to right, with its exact characters."""
    body = REASONING.sub("", text)
    fence = FENCED.match(body)
    whole = (fence.group(1) if fence else body).strip()
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    found = _decode(decoder, whole, 0)
    if found is not None and found[1] == len(whole):
        yield whole, found[0]
        return
    at, starts = 0, 0
    while starts < MAX_STARTS and (match := re.compile(r"[{\[]").search(body, at)):
        starts += 1
        found = _decode(decoder, body, match.start())
        if found is None:
            at = match.end()
        else:
            yield body[match.start() : found[1]], found[0]
            at = found[1]


def asking(messages: Sequence[Message], schema: Mapping[str, Any]) -> list[Message]:
    """The messages with the schema spelled out behind the last one, for servers that cannot enforce it."""
    wanted = json.dumps(schema, ensure_ascii=False, separators=(",", ":"))
    line = f"Reply with a single JSON value that satisfies this JSON schema, with no other text:\n{wanted}"
    *before, last = messages
    return [*before, replace(last, content=f"{last.content}\n\n{line}")]


def _decode(decoder: json.JSONDecoder, text: str, at: int) -> tuple[Any, int] | None:
    try:
        return decoder.raw_decode(text, at)
    except (
        ValueError,
        RecursionError,
    ):  # malformed, cut off, a number of 5,000 digits, or nested without end
        return None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")


def _excerpt(text: str) -> str:
    return repr(text[:120] + ("…" if len(text) > 120 else ""))
