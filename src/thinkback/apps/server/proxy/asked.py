"""What a request asks: the last words of the user, in which session, and what the client sends itself."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from thinkback.apps.server.proxy.splice import Body
from thinkback.text.clean import clean
from thinkback.types import Candidate, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """`said` are the texts the client sends, in order; `digest` is of all up to the user's last words."""

    operation: str = "chat"
    text: str = ""
    session: str = "default"
    digest: str = ""
    said: tuple[str, ...] = ()
    user: str | None = None
    model: str = ""
    forced: bool = False
    """Whether the model must call a tool: then the call is the answer, and no other will follow."""

    @property
    def goes_on(self) -> bool:
        """Whether more than one message is sent: memory may hold what the client still knows."""
        return len(self.said) > 1


def chat(body: Body) -> Asked | None:
    """Of a chat; None without a list of messages."""
    messages = body.get("messages")
    if not isinstance(messages, list):
        return None
    each = [(message.get("role"), clean(text_of(message.get("content")))) for message in _dicts(messages)]
    users = [number for number, (role, text) in enumerate(each) if role == "user"]
    last = users[-1] if users else -1
    first = next((each[number][1] for number in users if each[number][1]), "")
    return Asked(
        text=each[last][1] if users else "",
        session=f"chat-{digest(first)[:12]}",
        digest=digest(each[: last + 1]),
        said=tuple(text for _, text in each if text),
        user=_text(body.get("user")) or None,
        model=_text(body.get("model")),
        forced=body.get("tool_choice") not in (None, "auto", "none"),
    )


def completion(body: Body) -> Asked | None:
    """Of a bare prompt; None if it is not one text."""
    prompt = body.get("prompt")
    if isinstance(prompt, list) and len(prompt) == 1:
        (prompt,) = prompt
    if not isinstance(prompt, str):
        return None
    text = clean(prompt)
    return Asked(
        operation="text_completion",
        text=text,
        session=f"prompt-{digest(text)[:12]}",
        digest=digest(text),
        said=(text,),
        user=_text(body.get("user")) or None,
        model=_text(body.get("model")),
    )


def unsent(asked: Asked, items: Sequence[Candidate], turns: dict[int, Turn]) -> list[Candidate]:
    """The memories that the client does not send itself: neither their sentence, nor all their turns.

    `turns` are those that the thoughts among them come from.
    """
    sent = frozenset(asked.said)
    return [item for item in items if not _is_sent(item, sent, turns)]


def text_of(content: object) -> str:
    """The text of a message: a string, or the text parts of a list; images and sounds have none."""
    if isinstance(content, str):
        return content
    parts = (_text(part.get("text")) for part in _dicts(content) if part.get("type") in ("text", None))
    return "\n".join(part for part in parts if part)


def _is_sent(item: Candidate, sent: frozenset[str], turns: dict[int, Turn]) -> bool:
    if item.turn is not None:
        return _both(item.turn, sent)
    if item.thought is None:
        return False
    if any(item.thought.sentence in text for text in sent):
        return True
    sources = {source.turn for source in item.thought.sources}
    return bool(sources) and all(number in turns and _both(turns[number], sent) for number in sources)


def _both(turn: Turn, sent: frozenset[str]) -> bool:
    return all(side in sent for side in (turn.query, turn.response) if side)


def _dicts(values: object) -> Iterator[dict[str, Any]]:
    if isinstance(values, list):
        yield from (value for value in values if isinstance(value, dict))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def digest(value: object) -> str:
    """Of anything JSON can say: the same for the same."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:32]
