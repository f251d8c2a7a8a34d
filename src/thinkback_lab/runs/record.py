"""A line of `questions.jsonl`: one question, what came back, and its figures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from thinkback_lab.cases import Case, Question
from thinkback_lab.schemes.scheme import Found


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """`found` is best first; `read` are the first of them that stood in the reader's context.

    `answer` is what a model said with that context, None where no model was asked. `scores` are this
    question's figures by name: a run's metrics are their means. `gold_texts` are what the gold items say: a
    judge needs them, and a run can be judged where its data is not at hand.
    """

    case: str
    id: str
    lang: str
    category: str
    kind: str | None
    question: str
    asked_at: str
    gold: tuple[str, ...]
    answerable: bool
    expected: str
    anchors: tuple[str, ...]
    found: tuple[Found, ...]
    read: int
    context_tokens: int
    ms: float
    answer: str | None = None
    answer_ms: float = 0.0
    scores: Mapping[str, float] = field(default_factory=dict)
    gold_texts: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str]:
        return self.case, self.id

    @property
    def context(self) -> tuple[Found, ...]:
        return self.found[: self.read]

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> Record:
        """Raises ValueError on a line that `to_json` never wrote."""
        try:
            told: dict[str, Any] = json.loads(line)
            found = tuple(
                Found(each["text"], tuple(each["sources"]), each["score"]) for each in told.pop("found")
            )
            told |= {name: tuple(told[name]) for name in ("gold", "anchors", "gold_texts") if name in told}
            return cls(**told, found=found)
        except (AttributeError, KeyError, RecursionError, TypeError) as error:
            raise ValueError(f"not a record: {error!r}") from error


def begun(case: Case, question: Question, found: tuple[Found, ...], **measured: Any) -> Record:
    """The record of a question that was just asked."""
    return Record(
        case=case.id,
        id=question.id,
        lang=case.lang,
        category=question.category,
        kind=question.kind,
        question=question.text,
        asked_at=question.at.isoformat(),
        gold=question.gold,
        answerable=question.answerable,
        expected=question.answer,
        anchors=question.anchors,
        found=found,
        gold_texts=tuple(item.text for item in case.items if item.id in question.gold),
        **measured,
    )
