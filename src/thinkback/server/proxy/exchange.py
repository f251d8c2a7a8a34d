"""A chat or completion request as memory sees it: query, session, and whether to recall and remember."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from starlette.datastructures import Headers

from thinkback.errors import InvalidInput, InvalidName
from thinkback.language.writing_systems import clean_text
from thinkback.memory import Memory
from thinkback.server.identity import SESSION_HEADER, USER_HEADER, Principal, read_name_header
from thinkback.server.proxy.inject import JsonBody
from thinkback.server.services import Services
from thinkback.types import Candidate, Turn
from thinkback.validation import checked_name


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatQuery:
    """The user's query in a request.

    `text` is the user's last message; `texts` are all texts the client sends, in order; `conversation` is the
    conversation up to the last message of the user, as JSON.
    """

    operation: str = "chat"
    text: str = ""
    session: str = "default"
    conversation: object = ""
    texts: tuple[str, ...] = ()
    user: object = None  # as the client sent it, not checked
    model: str = ""
    forced_tool: bool = False
    """Whether the model must call a tool: then the call is the answer, and no further answer follows."""

    @property
    def digest(self) -> str:
        """Identifies the conversation. Computed when it is needed: a conversation may be long."""
        return hash_json(self.conversation)

    @property
    def has_history(self) -> bool:
        """Whether more than one message is sent; then memory may contain what the client sends itself."""
        return len(self.texts) > 1


def parse_chat(body: JsonBody) -> ChatQuery | None:
    """Parse a chat request; None if it has no list of messages."""
    messages = body.get("messages")
    if not isinstance(messages, list):
        return None
    items = [
        (message.get("role"), clean_text(message_text(message.get("content"))))
        for message in _dicts(messages)
    ]
    user_indexes = [index for index, (role, _) in enumerate(items) if role == "user"]
    last = user_indexes[-1] if user_indexes else -1
    first_text = next((items[index][1] for index in user_indexes if items[index][1]), "")
    return ChatQuery(
        text=items[last][1] if user_indexes else "",
        session=f"chat-{hash_json(first_text)[:12]}",
        conversation=items[: last + 1],
        texts=tuple(text for _, text in items if text),
        user=body.get("user"),
        model=_text(body.get("model")),
        forced_tool=body.get("tool_choice") not in (None, "auto", "none"),
    )


def parse_completion(body: JsonBody) -> ChatQuery | None:
    """Parse a completion request; None if its prompt is not a single text."""
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
        conversation=text,
        texts=(text,),
        user=body.get("user"),
        model=_text(body.get("model")),
    )


def exclude_sent(query: ChatQuery, items: Sequence[Candidate], turns: dict[int, Turn]) -> list[Candidate]:
    """Leave out memories that the client sends itself: their sentence, or all of their turns.

    `turns` are the source turns of the thoughts among `items`.
    """
    sent = frozenset(query.texts)
    return [item for item in items if not _is_sent(item, sent, turns)]


def message_text(content: object) -> str:
    """The text of a message: a string, or the text parts of a list (images and audio have none)."""
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
    return bool(sources) and all(id_ in turns and _is_turn_sent(turns[id_], sent) for id_ in sources)


def _is_turn_sent(turn: Turn, sent: frozenset[str]) -> bool:
    return all(side in sent for side in (turn.query, turn.response) if side)


def _dicts(values: object) -> Iterator[dict[str, Any]]:
    if isinstance(values, list):
        yield from (value for value in values if isinstance(value, dict))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def hash_json(value: object) -> str:
    """A hash of any JSON value."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:32]


MEMORY_MODES = {
    "on": (True, True),
    "read": (True, False),
    "write": (False, True),
    "off": (False, False),
}
"""Values of the header `X-Thinkback-Memory`, and whether the chat then recalls and remembers."""

ParseRequest = Callable[[JsonBody], ChatQuery | None]


@dataclass(frozen=True, slots=True)
class Exchange:
    """One chat with the memory it uses. `key` is the client's idempotency key, if it sends one."""

    memory: Memory
    query: ChatQuery
    session: str
    key: str | None
    may_recall: bool
    may_remember: bool
    api_key: str = ""  # the id of the API key of the request

    @property
    def unanswered_key(self) -> str:
        """Key for a query without an answer: if the client retries, it is stored only once."""
        return f"unanswered-{hash_json([self.session, self.query.digest])}"

    def truncated_key(self, text: str) -> str:
        """Key for an incomplete answer: the client's own key is reserved for the complete one."""
        return f"cut-{hash_json([self.session, self.query.digest, text])}"


def _body_user(body: JsonBody, query: ChatQuery) -> str | None:
    """The user that the body names. OpenAI's `user` is optional, but if it is sent it must be valid."""
    if "user" in body.repeated:
        raise InvalidName("user is sent twice: send it once")
    return None if query.user is None else checked_name(query.user, "user")


def create_exchange(
    services: Services, principal: Principal, headers: Headers, body: JsonBody, parse: ParseRequest
) -> Exchange | None:
    """Create the exchange of a request; None if the request contains nothing that could be remembered.

    Raises `InvalidInput` or `RequestRefused` for an invalid mode, user or session.
    """
    mode = headers.get("x-thinkback-memory", "on").strip().lower()
    if mode not in MEMORY_MODES:
        raise InvalidInput(f"X-Thinkback-Memory={mode!r:.40}: use one of {', '.join(MEMORY_MODES)}")
    query = parse(body)
    if query is None:
        return None
    recalls, remembers = MEMORY_MODES[mode]
    user = read_name_header(headers, USER_HEADER)
    if user is None and principal.user is None:
        user = _body_user(body, query)
    key = headers.get("idempotency-key", "").strip()
    return Exchange(
        memory=services.memories.for_principal(principal, user),
        query=query,
        session=read_name_header(headers, SESSION_HEADER) or query.session,
        key=f"client-{hash_json(key)}" if key else None,
        may_recall=recalls and "read" in principal.scopes,
        may_remember=remembers and "write" in principal.scopes,
        api_key=principal.key,
    )
