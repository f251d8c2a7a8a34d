"""A fake model whose replies a function of the prompt decides, and small histories and questions."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from thinkback import Message, Reply
from thinkback_lab.cases import Case, HistoryItem, Question
from thinkback_lab.runs.records import Record, new_record
from thinkback_lab.systems.interface import RetrievedMemory

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
ReplyOrError = str | BaseException


class FakeLLM:
    """Replies with `say(prompt)`, or raises it if it is an exception. Ignores the schema."""

    def __init__(
        self, say: Callable[[str], ReplyOrError], name: str = "talker", follows: bool = True
    ) -> None:
        self.say, self.name, self.follows = say, name, follows
        self.extracts, self.masks, self.speaks = True, False, None
        self.prompts: list[str] = []
        self.temperatures: list[float] = []
        self.schemas: list[Mapping[str, Any] | None] = []

    def complete(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        max_tokens: int = 512,
        temperature: float = 0.0,
    ) -> Reply:
        prompt = "\n".join(message.content for message in messages)
        self.prompts.append(prompt)
        self.temperatures.append(temperature)
        self.schemas.append(schema)
        line = self.say(prompt)
        if isinstance(line, BaseException):
            raise line
        return Reply(line)

    def stream(
        self,
        messages: Sequence[Message],
        *,
        max_tokens: int = 512,
        temperature: float = 0.0,
        forbid: Sequence[str] = (),
    ) -> Generator[str, None, Reply]:
        raise AssertionError("the laboratory asks for whole answers")
        yield


def reply_in_order(*lines: ReplyOrError) -> Callable[[str], ReplyOrError]:
    """One reply per call, in order."""
    rest = iter(lines)
    return lambda prompt: next(rest)


def make_item(number: int, text: str) -> HistoryItem:
    return HistoryItem(id=f"i{number}", query=text, at=NOON + timedelta(minutes=number))


def make_question(number: int, text: str = "", **more: Any) -> Question:
    at = NOON + timedelta(days=1)
    return Question(id=f"q{number}", text=text or f"What about number {number}?", at=at, **more)


def make_record(number: int, said: str | None, lang: str = "en", **more: Any) -> Record:
    """A record as a run writes it, with one recalled memory."""
    case = Case(id="c", items=(make_item(number, f"Number {number} is red."),), questions=(), lang=lang)
    asked = make_question(number, gold=(f"i{number}",), **more)
    found = (RetrievedMemory(f"Number {number} is red.", (f"i{number}",)),)
    return new_record(case, asked, found, read=1, context_tokens=5, ms=1.0, answer=said)
