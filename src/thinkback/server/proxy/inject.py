"""Memories put into a request: one insertion, every other byte stays as it came.

A model's own server may know fields, numbers and orders of keys that we do not, so a request is never parsed
and written anew. Some models allow one system message alone, and only at the start: where the first message
is one, the memories are appended to it, else they come as a system message before it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thinkback.server.proxy import json_spans
from thinkback.server.proxy.json_spans import Member

SYSTEM_ROLES = ("system", "developer")


@dataclass(frozen=True, slots=True)
class JsonBody:
    """A request's JSON object: its text, and its members by key (of a key given twice, the last)."""

    text: str
    members: Mapping[str, Member]

    def get(self, key: str) -> Any:
        member = self.members.get(key)
        return None if member is None else member.value


def parse_body(raw: bytes) -> JsonBody | None:
    """The body as an object, or None if it is none: then the upstream says so in its own words."""
    try:
        text = raw.decode()
        found, end = json_spans.read_members(text, json_spans.skip_whitespace(text, 0))
        if json_spans.skip_whitespace(text, end) != len(text):
            return None
    except (ValueError, RecursionError):
        return None
    return JsonBody(text, {member.key: member for member in found})


def inject_memories(body: JsonBody, block: str) -> bytes | None:
    """The body with the block at its place; None where it has no place for one."""
    place = _messages_insertion(body, block) if "messages" in body.members else _prompt_insertion(body, block)
    if place is None:
        return None
    at, inserted = place
    return f"{body.text[:at]}{inserted}{body.text[at:]}".encode()


def _messages_insertion(body: JsonBody, block: str) -> tuple[int, str] | None:
    messages = body.members["messages"]
    if not isinstance(messages.value, list) or not messages.value:
        return None
    first = json_spans.skip_whitespace(body.text, messages.start + 1)
    message = messages.value[0]
    if isinstance(message, dict) and message.get("role") in SYSTEM_ROLES:
        inside = {member.key: member for member in json_spans.read_members(body.text, first)[0]}
        content = inside.get("content")
        if content is not None and isinstance(content.value, str):
            return content.end - 1, _escape(f"\n\n{block}" if content.value else block)
        if content is not None and isinstance(content.value, list):
            part = json.dumps({"type": "text", "text": block})
            return content.end - 1, f",{part}" if content.value else part
    return first, json.dumps({"role": "system", "content": block}) + ","


def _prompt_insertion(body: JsonBody, block: str) -> tuple[int, str] | None:
    """Before a prompt of one text; several, or tokens, stay alone."""
    prompt = body.members.get("prompt")
    if prompt is None:
        return None
    if isinstance(prompt.value, str):
        return prompt.start + 1, _escape(f"{block}\n\n")
    if isinstance(prompt.value, list) and len(prompt.value) == 1 and isinstance(prompt.value[0], str):
        return json_spans.skip_whitespace(body.text, prompt.start + 1) + 1, _escape(f"{block}\n\n")
    return None


def _escape(text: str) -> str:
    """As it stands between the quotes of a JSON string."""
    return json.dumps(text)[1:-1]
