"""Reads turns with a language model: one call for one turn, or for several of a backlog.

The instructions and examples (prompts/read.txt) come first and never change, so that servers can cache them.
Every change of a reply is parsed alone: an unusable one is dropped, the others stay.
"""

from __future__ import annotations

import calendar
import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from thinkback.errors import BadReply
from thinkback.language.names import USER, normalise_name
from thinkback.language.safety.quarantine import redact
from thinkback.prompts import escape_structure, format_numbered, load_prompt, own_answer
from thinkback.protocols import LLM
from thinkback.think.contract import ProposedChange, ProposedFact, ReadRequest
from thinkback.types import Message, Thought, Turn

if TYPE_CHECKING:
    from thinkback.think.prompts import ChangeReply

MAX_TURNS = 8
_BASE_REPLY_TOKENS = 700
_REPLY_TOKENS_PER_TURN = 500
_MAX_REPLY_TOKENS = 4096
_MAX_MESSAGE_CHARACTERS = 4000  # of one user message; the middle of a longer one is left out
_MAX_ANSWER_CHARACTERS = 700  # of one assistant reply, which is only context
_NONE = "(none)"
_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")


@dataclass(frozen=True, slots=True)
class LLMReader:
    """A `TurnReader` that asks a language model."""

    llm: LLM
    max_turns: int = MAX_TURNS
    needs_related: bool = True

    @property
    def name(self) -> str:
        return f"{self.llm.name} read@{load_prompt('thinkback.think', 'read').version}"

    def prepare(self) -> None:
        """Load the prompt. A model is loaded by its first call."""
        load_prompt("thinkback.think", "read")

    def read(self, request: ReadRequest) -> list[ProposedChange]:
        """Ask the model for the changes of all turns.

        Raises:
            ModelError: the model failed.
            BadReply: its reply is not JSON, even after it was asked again.
        """
        # Imported here: it needs pydantic, which would slow down `import thinkback`.
        from thinkback.think.prompts import read_schema

        count = len(request.turns)
        messages = [
            Message("system", load_prompt("thinkback.think", "read").text.rstrip()),
            Message("user", render_request(request)),
        ]
        max_tokens = min(_MAX_REPLY_TOKENS, _BASE_REPLY_TOKENS + _REPLY_TOKENS_PER_TURN * count)
        reply = self.llm.complete(messages, schema=read_schema(count), max_tokens=max_tokens)
        return parse_reply(reply.text, request)


def render_request(request: ReadRequest) -> str:
    """The part of the prompt that differs from turn to turn. Secrets and orders are replaced by marks."""
    facts = format_numbered(
        (number, f"[{_said_on(thought, request)}] {escape_structure(redact(thought.sentence))}")
        for number, thought in enumerate(request.related, start=1)
    )
    names = "\n".join(f"- {_render_names(group)}" for group in request.names)
    turns = "\n".join(
        f"Turn {number} {_render_turn(turn)}" for number, turn in enumerate(request.turns, start=1)
    )
    return (
        f"Names\n{names or _NONE}\nKnown facts\n{facts or _NONE}\n"
        f"Earlier turns\n{_render_turns(request.recent) or _NONE}\nRead these turns\n{turns}"
    )


def _render_names(names: Sequence[str]) -> str:
    first, *others = names
    return f"{first}: {', '.join(others)}" if others else first


def _render_turns(turns: Iterable[Turn]) -> str:
    return "\n".join(_render_turn(turn) for turn in turns)


def _render_turn(turn: Turn) -> str:
    lines = [f"[{turn.at:%Y-%m-%d %a %H:%M}]"]
    for speaker, text, limit in (
        (turn.asker, turn.query, _MAX_MESSAGE_CHARACTERS),
        (turn.answerer, own_answer(turn.response), _MAX_ANSWER_CHARACTERS),
    ):
        if text.strip():
            lines.append(f"{speaker.capitalize()}: {_shorten(escape_structure(redact(text)), limit)}")
    return "\n".join(lines)


def _shorten(text: str, limit: int) -> str:
    words = " ".join(text.split())
    half = limit // 2
    return words if len(words) <= limit else f"{words[:half]} … {words[-half:]}"


def _said_on(thought: Thought, request: ReadRequest) -> str:
    return f"{request.said_at.get(thought.id, thought.recorded_at):%Y-%m-%d}"


def parse_reply(text: str, request: ReadRequest) -> list[ProposedChange]:
    """The usable changes of a reply, in order.

    Raises:
        BadReply: the reply is not a JSON object with a list of changes.
    """
    from pydantic import ValidationError

    from thinkback.think.prompts import ChangeReply

    try:
        parsed = json.loads(text)
    except ValueError as error:
        raise BadReply(f"reading a turn: the reply is not JSON: {error}") from error
    items = parsed.get("changes") if isinstance(parsed, dict) else parsed
    if not isinstance(items, list):
        raise BadReply("reading a turn: the reply has no list of changes")
    changes: list[ProposedChange] = []
    positions: dict[int, int] = {}  # number given by the model -> position in `changes`
    for item in items:
        try:
            reply = ChangeReply.model_validate(item)
        except ValidationError:
            continue
        if not 1 <= reply.turn <= len(request.turns):
            continue
        if reply.n > len(request.related):
            positions[reply.n] = len(changes)
        changes.append(_to_change(reply, request, positions))
    return changes


def _to_change(reply: ChangeReply, request: ReadRequest, positions: dict[int, int]) -> ProposedChange:
    known = [number for number in reply.target if 1 <= number <= len(request.related)]
    own = positions.get(reply.n)
    new = [positions[number] for number in reply.target if number in positions]
    fact = None
    if reply.op in ("add", "replace"):
        fact = ProposedFact(
            about=USER if normalise_name(reply.about) in ("", USER) else reply.about.strip(),
            relation=reply.relation.strip(),
            value=reply.value.strip(),
            sentence=" ".join(reply.sentence.split()),
            kind=reply.kind,
            valid_from=parse_date(reply.from_),
            valid_to=parse_date(reply.to, end=True),
        )
    return ProposedChange(
        action=reply.op,
        turn=request.turns[reply.turn - 1].id,
        quote=reply.quote,
        fact=fact,
        targets=tuple(request.related[number - 1].id for number in dict.fromkeys(known)),
        new_targets=tuple(position for position in dict.fromkeys(new) if position != own),
        ended_at=parse_date(reply.when),
    )


def parse_date(text: str, *, end: bool = False) -> datetime | None:
    """The start of a day, month or year (or, with `end`, of what follows it); None if it is no date."""
    found = _DATE.match(text.strip())
    if found is None:
        return None
    year, month, day = int(found[1]), int(found[2] or 0), int(found[3] or 0)
    try:
        start = datetime(year, month or 1, day or 1, tzinfo=UTC)
        if not end:
            return start
        if day:
            return start + timedelta(days=1)
        days = calendar.monthrange(year, month)[1] if month else 366 if calendar.isleap(year) else 365
        return start + timedelta(days=days)
    except (ValueError, OverflowError):
        return None
