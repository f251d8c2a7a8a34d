"""The messages of a chat as a server takes them: plain dicts of valid Unicode, at least one."""

from __future__ import annotations

from collections.abc import Sequence

from thinkback.errors import InvalidInput
from thinkback.models.vectors import sendable
from thinkback.types import Message


def plain(messages: Sequence[Message]) -> list[dict[str, str]]:
    if not messages:
        raise InvalidInput("A language model was asked without a message. Give it at least one.")
    return [{"role": message.role, "content": sendable(message.content)} for message in messages]
