"""Requests to a language model for JSON replies: their schemas, validation, one retry and a cache on disk."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from thinkback import LLM, Message, Reply, ThinkbackError
from thinkback_lab.errors import LabError
from thinkback_lab.files import format_validation_error, read_text
from thinkback_lab.llms import is_unusable_reply
from thinkback_lab.prompts import render
from thinkback_lab.worlds.world import PROFILE_FIELDS, Lang

ShortText = Annotated[str, Field(min_length=1, max_length=400)]
LongText = Annotated[str, Field(min_length=1, max_length=6000)]


class _Reply(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=True)


class ProfileReply(_Reply):
    gender: ShortText
    nickname: ShortText
    title: ShortText
    age: ShortText | int
    occupation: ShortText
    nationality: ShortText
    physical_characteristics: ShortText
    hobbies: ShortText
    achievements: ShortText
    ethnic_background: ShortText
    education_background: ShortText
    employer: ShortText
    awards_and_role_models: ShortText
    description: LongText

    def fields(self, name: str) -> dict[str, str]:
        """PerLTQA's profile."""
        told = {field: str(getattr(self, field.lower().replace(" ", "_"))) for field in PROFILE_FIELDS[1:]}
        return {PROFILE_FIELDS[0]: name, **told}


class Person(_Reply):
    name: ShortText
    relationship: ShortText
    description: LongText


class RelationshipsReply(_Reply):
    relationships: Annotated[tuple[Person, ...], Field(min_length=1, max_length=40)]


class Happening(_Reply):
    date: ShortText
    topic: ShortText
    summary: ShortText
    detail: LongText


class EventsReply(_Reply):
    events: Annotated[tuple[Happening, ...], Field(min_length=1, max_length=10)]


class Line(_Reply):
    speaker: ShortText
    text: LongText


class DialogueReply(_Reply):
    lines: Annotated[tuple[Line, ...], Field(min_length=2, max_length=40)]


class Pair(_Reply):
    question: ShortText
    answer: ShortText


class QuestionsReply(_Reply):
    items: Annotated[tuple[Pair, ...], Field(min_length=1, max_length=10)]


class AnchorsReply(_Reply):
    anchors: Annotated[tuple[ShortText, ...], Field(min_length=1, max_length=8)]


class ScoreReply(_Reply):
    reason: Annotated[str, Field(max_length=600)]
    score: Annotated[int, Field(ge=0, le=10)]


def reply_schema(kind: type[BaseModel], most: int) -> dict[str, Any]:
    """The JSON schema of a reply whose lists have at most so many entries."""
    told: dict[str, Any] = _without_lengths(kind.model_json_schema())
    for each in told["properties"].values():
        if each.get("type") == "array":
            each["maxItems"] = most
    return told


def _without_lengths(node: Any) -> Any:
    if isinstance(node, dict):
        kept = {key: value for key, value in node.items() if key not in ("minLength", "maxLength")}
        return {key: _without_lengths(value) for key, value in kept.items()}
    return [_without_lengths(each) for each in node] if isinstance(node, list) else node


ReplyT = TypeVar("ReplyT", bound=BaseModel)
MAX_FAILURES_IN_A_ROW = 10  # so many steps may fail in a row


class UnusableReply(LabError):
    """A model's answer cannot be used, nor the one it gave when asked again."""


@dataclass(slots=True)
class LLMUsage:
    """What the asking cost in this run; `kept` were answered in an earlier one."""

    calls: int = 0
    kept: int = 0
    asked_again: int = 0
    unusable: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def as_dict(self) -> dict[str, int]:
        return asdict(self)


class ReplyClient:
    """One model, one language, one folder of replies."""

    def __init__(self, llm: LLM, folder: Path, lang: Lang, report: Callable[[int], None]) -> None:
        self._llm = llm
        self._folder = folder
        self._lang = lang
        self._report = report
        self._requests = 0
        self._failures_in_a_row = 0
        self.usage = LLMUsage()

    def ask(
        self,
        step: str,
        kind: type[ReplyT],
        variables: Mapping[str, str],
        *,
        max_tokens: int,
        most: int = 1,
        objection: Callable[[ReplyT], str] = lambda _: "",
    ) -> ReplyT:
        """The reply to a prompt, its lists no longer than `most`; `objection` says what is wrong with it."""
        self._report(self._requests)
        self._requests += 1
        prompt = render(f"world_{step}_{self._lang}", **variables)
        schema = reply_schema(kind, most)
        path = self._folder / f"{self._digest(prompt, schema)}.json"
        if path.is_file():
            self.usage.kept += 1
            try:
                return kind.model_validate_json(read_text(path))
            except ValidationError as error:
                raise LabError(
                    f"{path}: not a reply that was kept here ({format_validation_error(error)}): remove it"
                ) from error
        messages = [Message("user", prompt)]
        for _ in range(2):
            text = self._complete(messages, schema, max_tokens)
            reply, wrong = _parse_reply(text, kind)
            if reply is not None and not (wrong := objection(reply)):
                self._save(path, text)
                self._failures_in_a_row = 0
                return reply
            self.usage.asked_again += len(messages) == 1
            said = [Message("assistant", text)] if text else []
            again = render(f"world_again_{self._lang}", complaint=wrong)
            messages = [*messages, *said, Message("user", again)]
        self.usage.unusable += 1
        self._failures_in_a_row += 1
        why = f"step {step!r}: {self._llm.name!r} gave nothing of use, twice ({wrong})"
        if self._failures_in_a_row >= MAX_FAILURES_IN_A_ROW:
            raise LabError(f"{why}; so it went {MAX_FAILURES_IN_A_ROW} times in a row. Take an abler model")
        raise UnusableReply(why)

    def _digest(self, prompt: str, schema: Mapping[str, Any]) -> str:
        return sha256(json.dumps([self._llm.name, prompt, schema], sort_keys=True).encode()).hexdigest()

    def _complete(self, messages: list[Message], schema: Mapping[str, Any], max_tokens: int) -> str:
        """What the model said; nothing where it failed to say something of use."""
        try:
            reply = self._llm.complete(messages, schema=schema, max_tokens=max_tokens)
        except ThinkbackError as error:
            if is_unusable_reply(error):
                self.usage.calls += 1
                return ""
            raise LabError(f"{error} The same command goes on from here: replies are kept.") from error
        self._count(reply)
        return reply.text

    def _count(self, reply: Reply) -> None:
        self.usage.calls += reply.calls
        self.usage.prompt_tokens += reply.prompt_tokens
        self.usage.completion_tokens += reply.completion_tokens

    def _save(self, path: Path, text: str) -> None:
        """Whole or not at all: a run may be killed at any point."""
        self._folder.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)


def _parse_reply(text: str, kind: type[ReplyT]) -> tuple[ReplyT | None, str]:
    """The reply, or what is wrong with it."""
    if not text.strip():
        return None, "the answer was empty"
    try:
        return kind.model_validate_json(text), ""
    except ValidationError as error:
        return None, format_validation_error(error)
