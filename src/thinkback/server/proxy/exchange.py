"""A chat or completion request as memory sees it: the user's last message, its session, what the client sends itself, and whether to recall and remember."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers

from thinkback.errors import InvalidInput
from thinkback.language.scripts import clean_text
from thinkback.memory import Memory
from thinkback.server.principal import SESSION_HEADER, USER_HEADER, Principal, read_name_header
from thinkback.server.proxy.inject import JsonBody
from thinkback.server.services import Services
from thinkback.types import Candidate, Turn


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatQuery:
    """`said` are the texts the client sends, in order; `digest` is of all up to the user's last words."""

    operation: str = "chat"
    text: str = ""
    session: str = "default"
    digest: str = ""
    texts: tuple[str, ...] = ()
    user: str | None = None
    model: str = ""
    forced_tool: bool = False
    """Whether the model must call a tool: then the call is the answer, and no other will follow."""

    @property
    def has_history(self) -> bool:
        """Whether more than one message is sent: memory may hold what the client still knows."""
        return len(self.texts) > 1


def parse_chat(body: JsonBody) -> ChatQuery | None:
    """Of a chat; None without a list of messages."""
    messages = body.get("messages")
    if not isinstance(messages, list):
        return None
    each = [
        (message.get("role"), clean_text(message_text(message.get("content"))))
        for message in _dicts(messages)
    ]
    users = [number for number, (role, text) in enumerate(each) if role == "user"]
    last = users[-1] if users else -1
    first = next((each[number][1] for number in users if each[number][1]), "")
    return ChatQuery(
        text=each[last][1] if users else "",
        session=f"chat-{hash_json(first)[:12]}",
        digest=hash_json(each[: last + 1]),
        texts=tuple(text for _, text in each if text),
        user=_text(body.get("user")) or None,
        model=_text(body.get("model")),
        forced_tool=body.get("tool_choice") not in (None, "auto", "none"),
    )


def parse_completion(body: JsonBody) -> ChatQuery | None:
    """Of a bare prompt; None if it is not one text."""
    prompt = body.get("prompt")
    if isinstance(prompt, list) and len(prompt) == 1:
        (prompt,) = prompt
    if not isinstance(prompt, str):
        return None
    text = clean_text(prompt)
    return ChatQuery(
        operation="text_completion",
        text=text,
        session=f"prompt-{hash_json(text)[:12]}",
        digest=hash_json(text),
        texts=(text,),
        user=_text(body.get("user")) or None,
        model=_text(body.get("model")),
    )


def exclude_sent(asked: ChatQuery, items: Sequence[Candidate], turns: dict[int, Turn]) -> list[Candidate]:
    """The memories that the client does not send itself: neither their sentence, nor all their turns.

    `turns` are those that the thoughts among them come from.
    """
    sent = frozenset(asked.texts)
    return [item for item in items if not _is_sent(item, sent, turns)]


def message_text(content: object) -> str:
    """The text of a message: a string, or the text parts of a list; images and sounds have none."""
    if isinstance(content, str):
        return content
    parts = (_text(part.get("text")) for part in _dicts(content) if part.get("type") in ("text", None))
    return "\n".join(part for part in parts if part)


def _is_sent(item: Candidate, sent: frozenset[str], turns: dict[int, Turn]) -> bool:
    if item.turn is not None:
        return _is_turn_sent(item.turn, sent)
    if item.thought is None:
        return False
    if any(item.thought.sentence in text for text in sent):
        return True
    sources = {source.turn for source in item.thought.sources}
    return bool(sources) and all(number in turns and _is_turn_sent(turns[number], sent) for number in sources)


def _is_turn_sent(turn: Turn, sent: frozenset[str]) -> bool:
    return all(side in sent for side in (turn.query, turn.response) if side)


def _dicts(values: object) -> Iterator[dict[str, Any]]:
    if isinstance(values, list):
        yield from (value for value in values if isinstance(value, dict))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def hash_json(value: object) -> str:
    """Of anything JSON can say: the same for the same."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:32]


MEMORY_MODES = {
    "on": (True, True),
    "read": (True, False),
    "write": (False, True),
    "off": (False, False),
}
"""What `X-Thinkback-Memory` may say, and whether it then recalls and remembers."""

ParseRequest = Callable[[JsonBody], ChatQuery | None]


@dataclass(frozen=True, slots=True)
class Exchange:
    """`key` is the client's own name for the turn, if it gives one."""

    memory: Memory
    query: ChatQuery
    session: str
    key: str | None
    may_recall: bool
    may_remember: bool

    @property
    def unanswered_key(self) -> str:
        """The key of what was not answered: however often the client tries again, it is kept once."""
        return f"unanswered-{hash_json([self.session, self.query.digest])}"

    def truncated_key(self, text: str) -> str:
        """The key of an answer that broke off: the client's own is for the whole one."""
        return f"cut-{hash_json([self.session, self.query.digest, text])}"


def create_exchange(
    services: Services, caller: Principal, given: Headers, body: JsonBody, ask: ParseRequest
) -> Exchange | None:
    """None where nothing is asked that could be remembered; InvalidInput or Refused for a false name."""
    mode = given.get("x-thinkback-memory", "on").strip().lower()
    if mode not in MEMORY_MODES:
        raise InvalidInput(f"X-Thinkback-Memory={mode!r:.40}: use one of {', '.join(MEMORY_MODES)}")
    asked = ask(body)
    if asked is None:
        return None
    reads, writes = MEMORY_MODES[mode]
    user = read_name_header(given, USER_HEADER) or (asked.user if caller.user is None else None)
    key = given.get("idempotency-key", "").strip()
    return Exchange(
        memory=services.memories.for_principal(caller, user),
        query=asked,
        session=read_name_header(given, SESSION_HEADER) or asked.session,
        key=f"client-{hash_json(key)}" if key else None,
        may_recall=reads and "read" in caller.scopes,
        may_remember=writes and "write" in caller.scopes,
    )
