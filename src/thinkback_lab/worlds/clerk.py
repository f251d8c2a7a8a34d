"""Asks a model for JSON of a kind: parsed strictly, asked once more if it is of no use, kept for a resume.

A reply that was of use is kept in a folder under the digest of what was asked (model, prompt, schema), so a
run that was killed goes on where it stood and asks nothing twice.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from thinkback import LLM, Message, Reply, ThinkbackError
from thinkback_lab.errors import LabError
from thinkback_lab.files import complaint, read_text
from thinkback_lab.models import replied
from thinkback_lab.prompts import render
from thinkback_lab.worlds.replies import schema as schema_of
from thinkback_lab.worlds.world import Lang

T = TypeVar("T", bound=BaseModel)
PATIENCE = 10  # so many steps may fail in a row


class Unusable(LabError):
    """A model's answer cannot be used, nor the one it gave when asked again."""


@dataclass(slots=True)
class Receipt:
    """What the asking cost in this run; `kept` were answered in an earlier one."""

    calls: int = 0
    kept: int = 0
    asked_again: int = 0
    unusable: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    @property
    def told(self) -> dict[str, int]:
        return asdict(self)


class Clerk:
    """One model, one language, one folder of replies."""

    def __init__(self, llm: LLM, folder: Path, lang: Lang, report: Callable[[int], None]) -> None:
        self._llm = llm
        self._folder = folder
        self._lang = lang
        self._report = report
        self._asked = 0
        self._in_a_row = 0
        self.receipt = Receipt()

    def ask(
        self,
        step: str,
        kind: type[T],
        variables: Mapping[str, str],
        *,
        max_tokens: int,
        most: int = 1,
        objection: Callable[[T], str] = lambda _: "",
    ) -> T:
        """The reply to a prompt, its lists no longer than `most`; `objection` says what is wrong with it."""
        self._report(self._asked)
        self._asked += 1
        prompt = render(f"world_{step}_{self._lang}", **variables)
        schema = schema_of(kind, most)
        path = self._folder / f"{self._digest(prompt, schema)}.json"
        if path.is_file():
            self.receipt.kept += 1
            try:
                return kind.model_validate_json(read_text(path))
            except ValidationError as error:
                raise LabError(
                    f"{path}: not a reply that was kept here ({complaint(error)}): remove it"
                ) from error
        messages = [Message("user", prompt)]
        for _ in range(2):
            text = self._called(messages, schema, max_tokens)
            reply, wrong = _parsed(text, kind)
            if reply is not None and not (wrong := objection(reply)):
                self._keep(path, text)
                self._in_a_row = 0
                return reply
            self.receipt.asked_again += len(messages) == 1
            said = [Message("assistant", text)] if text else []
            again = render(f"world_again_{self._lang}", complaint=wrong)
            messages = [*messages, *said, Message("user", again)]
        self.receipt.unusable += 1
        self._in_a_row += 1
        why = f"step {step!r}: {self._llm.name!r} gave nothing of use, twice ({wrong})"
        if self._in_a_row >= PATIENCE:
            raise LabError(f"{why}; so it went {PATIENCE} times in a row. Take an abler model")
        raise Unusable(why)

    def _digest(self, prompt: str, schema: Mapping[str, Any]) -> str:
        return sha256(json.dumps([self._llm.name, prompt, schema], sort_keys=True).encode()).hexdigest()

    def _called(self, messages: list[Message], schema: Mapping[str, Any], max_tokens: int) -> str:
        """What the model said; nothing where it failed to say something of use."""
        try:
            reply = self._llm.complete(messages, schema=schema, max_tokens=max_tokens)
        except ThinkbackError as error:
            if replied(error):
                self.receipt.calls += 1
                return ""
            raise LabError(f"{error} The same command goes on from here: replies are kept.") from error
        self._count(reply)
        return reply.text

    def _count(self, reply: Reply) -> None:
        self.receipt.calls += reply.calls
        self.receipt.prompt_tokens += reply.prompt_tokens
        self.receipt.completion_tokens += reply.completion_tokens

    def _keep(self, path: Path, text: str) -> None:
        """Whole or not at all: a run may be killed at any point."""
        self._folder.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(text, encoding="utf-8")
        os.replace(part, path)


def _parsed(text: str, kind: type[T]) -> tuple[T | None, str]:
    """The reply, or what is wrong with it."""
    if not text.strip():
        return None, "the answer was empty"
    try:
        return kind.model_validate_json(text), ""
    except ValidationError as error:
        return None, complaint(error)
