"""Inserts memories into a request and leaves every other byte unchanged.

A model server may know fields, number formats and key orders that we do not, so a request is never parsed and
serialised again. Some models allow only one system message, at the start: if the first message is one, the
memories are appended to it, otherwise a system message is inserted before it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thinkback.server.proxy import json_spans
from thinkback.server.proxy.json_spans import Member

SYSTEM_ROLES = ("system", "developer")


@dataclass(frozen=True, slots=True)
class JsonBody:
    """A request's JSON object: its text, and its members by key (the last one, if a key is repeated)."""

    text: str
    members: Mapping[str, Member]
    repeated: frozenset[str] = frozenset()

    def get(self, key: str) -> Any:
        member = self.members.get(key)
        return None if member is None else member.value


def parse_body(raw: bytes) -> JsonBody | None:
    """Parse the body; None if it is not a JSON object (the upstream then reports the error)."""
    try:
        text = raw.decode()
        members, end = json_spans.read_members(text, json_spans.skip_whitespace(text, 0))
        if json_spans.skip_whitespace(text, end) != len(text):
            return None
    except (ValueError, RecursionError):
        return None
    by_key = {member.key: member for member in members}
    repeated = len(by_key) < len(members)
    counts = Counter(member.key for member in members) if repeated else {}
    return JsonBody(text, by_key, frozenset(key for key, count in counts.items() if count > 1))


def inject_memories(body: JsonBody, block: str) -> bytes | None:
    """The body with the block of memories inserted; None if there is no place for it."""
    if "messages" in body.members:
        insertion = _messages_insertion(body, block)
    else:
        insertion = _prompt_insertion(body, block)
    if insertion is None:
        return None
    at, inserted = insertion
    return f"{body.text[:at]}{inserted}{body.text[at:]}".encode()


def _messages_insertion(body: JsonBody, block: str) -> tuple[int, str] | None:
    """Where to insert into a list of messages, and what."""
    messages = body.members["messages"]
    if not isinstance(messages.value, list) or not messages.value:
        return None
    first = json_spans.skip_whitespace(body.text, messages.start + 1)
    message = messages.value[0]
    if isinstance(message, dict) and message.get("role") in SYSTEM_ROLES:
        members = {member.key: member for member in json_spans.read_members(body.text, first)[0]}
        content = members.get("content")
        if content is not None and isinstance(content.value, str):
            return content.end - 1, _escape(f"\n\n{block}" if content.value else block)
        if content is not None and isinstance(content.value, list):
            part = json.dumps({"type": "text", "text": block})
            return content.end - 1, f",{part}" if content.value else part
    return first, json.dumps({"role": "system", "content": block}) + ","


def _prompt_insertion(body: JsonBody, block: str) -> tuple[int, str] | None:
    """Insert before a single text prompt; token prompts and several prompts are left unchanged."""
    prompt = body.members.get("prompt")
    if prompt is None:
        return None
    if isinstance(prompt.value, str):
        return prompt.start + 1, _escape(f"{block}\n\n")
    if isinstance(prompt.value, list) and len(prompt.value) == 1 and isinstance(prompt.value[0], str):
        return json_spans.skip_whitespace(body.text, prompt.start + 1) + 1, _escape(f"{block}\n\n")
    return None


def _escape(text: str) -> str:
    """Escape text for the inside of a JSON string."""
    return json.dumps(text)[1:-1]
