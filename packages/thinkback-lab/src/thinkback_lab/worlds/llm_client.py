"""Requests to a language model for JSON replies: schemas, validation, one retry and a cache on disk.

A valid reply is cached under the digest of the request (model, prompt, schema), so an interrupted run can be
resumed without repeating requests. Maximum text lengths are validated but not part of the schema, because a
grammar that counts thousands of characters slows a local model down; list lengths are part of it, because
small models do not stop by themselves.
"""

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
        """The profile with PerLTQA's field names."""
        values = {field: str(getattr(self, field.lower().replace(" ", "_"))) for field in PROFILE_FIELDS[1:]}
        return {PROFILE_FIELDS[0]: name, **values}


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


def reply_schema(kind: type[BaseModel], max_items: int) -> dict[str, Any]:
    """JSON schema of a reply whose lists have at most `most` entries."""
    schema: dict[str, Any] = _without_lengths(kind.model_json_schema())
    for each in schema["properties"].values():
        if each.get("type") == "array":
            each["maxItems"] = max_items
    return schema


def _without_lengths(node: Any) -> Any:
    if isinstance(node, dict):
        kept = {key: value for key, value in node.items() if key not in ("minLength", "maxLength")}
        return {key: _without_lengths(value) for key, value in kept.items()}
    return [_without_lengths(each) for each in node] if isinstance(node, list) else node


ReplyT = TypeVar("ReplyT", bound=BaseModel)
MAX_FAILURES_IN_A_ROW = 10  # more consecutive failures abort the run


class UnusableReply(LabError):
    """The model gave an unusable reply twice."""


@dataclass(slots=True)
class LLMUsage:
    """Cost of the requests in this run; `kept` counts cached replies of earlier runs."""

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
    """Requests to one model in one language, with a folder of cached replies."""

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
        """Render the prompt of a step and return the reply, from the cache if possible.

        Lists have at most `most` entries. `objection` returns what is wrong with a reply, or an empty string.
        Raises UnusableReply if two replies are invalid.
        """
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
                    f"{path}: not a cached reply ({format_validation_error(error)}): remove it"
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
            previous = [Message("assistant", text)] if text else []
            again = render(f"world_again_{self._lang}", complaint=wrong)
            messages = [*messages, *previous, Message("user", again)]
        self.usage.unusable += 1
        self._failures_in_a_row += 1
        why = f"step {step!r}: {self._llm.name!r} gave no usable reply twice ({wrong})"
        if self._failures_in_a_row >= MAX_FAILURES_IN_A_ROW:
            raise LabError(f"{why}, {MAX_FAILURES_IN_A_ROW} times in a row: use a stronger model")
        raise UnusableReply(why)

    def _digest(self, prompt: str, schema: Mapping[str, Any]) -> str:
        return sha256(json.dumps([self._llm.name, prompt, schema], sort_keys=True).encode()).hexdigest()

    def _complete(self, messages: list[Message], schema: Mapping[str, Any], max_tokens: int) -> str:
        """Call the model; returns an empty string for an unusable reply."""
        try:
            reply = self._llm.complete(messages, schema=schema, max_tokens=max_tokens)
        except ThinkbackError as error:
            if is_unusable_reply(error):
                self.usage.calls += 1
                return ""
            raise LabError(f"{error} Replies are cached: run the same command again to resume.") from error
        self._count(reply)
        return reply.text

    def _count(self, reply: Reply) -> None:
        self.usage.calls += reply.calls
        self.usage.prompt_tokens += reply.prompt_tokens
        self.usage.completion_tokens += reply.completion_tokens

    def _save(self, path: Path, text: str) -> None:
        """Write atomically, because a run may be killed at any time."""
        self._folder.mkdir(parents=True, exist_ok=True)
        temporary = path.with_suffix(".part")
        temporary.write_text(text, encoding="utf-8")
        os.replace(temporary, path)


def _parse_reply(text: str, kind: type[ReplyT]) -> tuple[ReplyT | None, str]:
    """Return (reply, "") or (None, error)."""
    if not text.strip():
        return None, "the answer was empty"
    try:
        return kind.model_validate_json(text), ""
    except ValidationError as error:
        return None, format_validation_error(error)
