"""Contradictions in free prose: answers that agree or disagree with the thoughts they are based on.

A file has one JSON object per line, plain or gzipped:

  {"id", "lang", "category", "thoughts": [...], "past": [...], "question",
   "contradicting": [{"answer", "thoughts": [n]}], "consistent": [answer]}

`thoughts` hold, `past` ones held earlier; `thoughts` of a contradicting answer are the numbers (from 1) of
those that it contradicts. Each answer is checked as `Memory.chat` checks a draft: without a model sentence by
sentence, and with one by a single call where a sentence needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from thinkback import LLM, Message, Reply, Thought
from thinkback.language.sentences import split_sentences
from thinkback.recall.consistency import Conflict, ConsistencyChecker
from thinkback.types import NewTurn
from thinkback_lab.errors import LabError
from thinkback_lab.files import format_validation_error, iter_json_lines
from thinkback_lab.progress import ProgressCallback, no_progress

if TYPE_CHECKING:
    from rich.table import Table

NonEmptyStr = Annotated[str, StringConstraints(min_length=1)]
ASKED_AT = datetime(2024, 5, 1, 9, tzinfo=UTC)


class ContradictingAnswer(BaseModel):
    """An answer and the numbers of the thoughts that it contradicts."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answer: NonEmptyStr
    thoughts: tuple[int, ...]


class AnswerSet(BaseModel):
    """Thoughts, a question, and answers that contradict them or agree with them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: NonEmptyStr
    lang: Literal["en", "zh"]
    category: NonEmptyStr
    thoughts: tuple[NonEmptyStr, ...]
    past: tuple[NonEmptyStr, ...] = ()
    question: NonEmptyStr
    contradicting: tuple[ContradictingAnswer, ...]
    consistent: tuple[NonEmptyStr, ...]


def read_answer_sets(paths: Iterable[Path]) -> list[AnswerSet]:
    """Read all sets of files and folders, in order; ids must be unique."""
    found: dict[str, AnswerSet] = {}
    for where, line in iter_json_lines(paths):
        try:
            each = AnswerSet.model_validate_json(line)
        except ValidationError as error:
            raise LabError(f"{where}: {format_validation_error(error)}") from error
        if each.id in found:
            raise LabError(f"{where}: duplicate id {each.id!r}")
        found[each.id] = each
    if not found:
        raise LabError("the files contain no answers: each line must be a JSON object")
    return list(found.values())


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOutcome:
    """The conflicts found in one answer. `expected` are the contradicted thoughts, if any."""

    answer_set: AnswerSet
    answer: str
    expected: tuple[int, ...]
    conflicts: tuple[Conflict, ...]
    calls: int
    tokens: int

    @property
    def found(self) -> bool:
        return bool(self.conflicts)

    @property
    def right_thought(self) -> bool:
        """Whether one of the contradicted thoughts was named."""
        return any(conflict.thought.id in self.expected for conflict in self.conflicts)


def run_contradictions(
    sets: Sequence[AnswerSet],
    llm: LLM | None = None,
    on_progress: ProgressCallback = no_progress,
    *,
    model_only: bool = False,
) -> list[AnswerOutcome]:
    """Check every answer; with `model_only` without the checks that need no model."""
    outcomes: list[AnswerOutcome] = []
    for done, each in enumerate(sets):
        on_progress(done, len(sets))
        answers = [(item.answer, item.thoughts) for item in each.contradicting]
        answers += [(answer, ()) for answer in each.consistent]
        outcomes += [_check_answer(each, answer, expected, llm, model_only) for answer, expected in answers]
    return outcomes


def _check_answer(
    each: AnswerSet, answer: str, expected: tuple[int, ...], llm: LLM | None, model_only: bool
) -> AnswerOutcome:
    current = [_make_thought(number, text) for number, text in enumerate(each.thoughts, start=1)]
    past = [_make_thought(number, text) for number, text in enumerate(each.past, start=len(current) + 1)]
    checker = ConsistencyChecker(current, NewTurn(query=each.question, at=ASKED_AT), past, llm)
    conflicts: list[Conflict] = []
    before, held = "", False
    for sentence in split_sentences(answer):
        conflicts += [] if model_only else checker.conflicts(before, sentence.text)
        held = held or checker.needs_model(sentence.text)
        before += f"{sentence.text} "
    replies: list[Reply] = []

    def record_call(messages: Sequence[Message], text: str, reply: Reply | None) -> None:
        if reply is not None:
            replies.append(reply)

    if held and not conflicts:
        conflicts += checker.model_conflicts("", answer, record_call)
    return AnswerOutcome(
        answer_set=each,
        answer=answer,
        expected=expected,
        conflicts=tuple(conflicts),
        calls=len(replies),
        tokens=sum(reply.prompt_tokens + reply.completion_tokens for reply in replies),
    )


def _make_thought(number: int, text: str) -> Thought:
    return Thought(
        id=number,
        subject="user",
        relation="said",
        objects=(text,),
        sentence=text,
        kind="profile",
        sources=(),
        recorded_at=ASKED_AT,
    )


def summarise_contradictions(
    outcomes: Sequence[AnswerOutcome], settings: Mapping[str, object]
) -> dict[str, Any]:
    """Caught contradictions and false alarms, in all and by language, and every miss and false alarm."""
    langs = dict.fromkeys(each.answer_set.lang for each in outcomes)
    return {
        "settings": dict(settings),
        "metrics": _figures(outcomes),
        "by_language": {
            lang: _figures([each for each in outcomes if each.answer_set.lang == lang]) for lang in langs
        },
        "calls": sum(each.calls for each in outcomes),
        "tokens": sum(each.tokens for each in outcomes),
        "failures": [
            {
                "id": each.answer_set.id,
                "why": "missed" if each.expected else "false alarm",
                "answer": each.answer,
                "conflicts": [
                    {
                        "thought": conflict.thought.sentence,
                        "method": conflict.method,
                        "reason": conflict.reason,
                    }
                    for conflict in each.conflicts
                ],
            }
            for each in outcomes
            if each.found != bool(each.expected)
        ],
    }


def _figures(outcomes: Sequence[AnswerOutcome]) -> dict[str, Any]:
    wrong = [each for each in outcomes if each.expected]
    right = [each for each in outcomes if not each.expected]
    caught = [each for each in wrong if each.found]
    alarms = [each for each in right if each.found]
    methods = [conflict.method for each in caught for conflict in each.conflicts[:1]]
    return {
        "contradicting": len(wrong),
        "caught": len(caught),
        "caught_share": round(len(caught) / len(wrong), 4) if wrong else None,
        "right_thought": sum(each.right_thought for each in caught),
        "by_method": {method: methods.count(method) for method in dict.fromkeys(sorted(methods))},
        "consistent": len(right),
        "false_alarms": len(alarms),
        "false_alarm_share": round(len(alarms) / len(right), 4) if right else None,
    }


def contradictions_table(summary: Mapping[str, Any]) -> Table:
    """One row per language, and one for all answers."""
    from rich.table import Table

    grid = Table(box=None, pad_edge=False)
    grid.add_column("", no_wrap=True)
    for title in ("contradicting", "caught", "right thought", "consistent", "false alarms"):
        grid.add_column(title, justify="right", no_wrap=True)
    for label, row in {**summary["by_language"], "all": summary["metrics"]}.items():
        grid.add_row(
            label,
            str(row["contradicting"]),
            f"{row['caught']} ({_percent(row['caught_share'])})",
            str(row["right_thought"]),
            str(row["consistent"]),
            f"{row['false_alarms']} ({_percent(row['false_alarm_share'])})",
        )
    return grid


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}%"
