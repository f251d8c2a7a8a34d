"""One line of `questions.jsonl`: a question with its recalled memories and scores; and their summary over a
run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from statistics import fmean, quantiles
from typing import Any

from thinkback_lab.cases import Case, Question
from thinkback_lab.metrics.answers import anchor_share, correctness_label, word_f1
from thinkback_lab.metrics.retrieval import context_scores, ranking_scores
from thinkback_lab.metrics.statistics import bootstrap_interval
from thinkback_lab.systems.interface import RetrievedMemory


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One question. `found` are the recalled memories, best first; the first `read` of them were given to the
    reader.

    `answer` is None if there was no reader. `scores` are the metrics of this question; those of a run are
    their means. `gold_texts` allow judging a run without its data.
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
    found: tuple[RetrievedMemory, ...]
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
    def context(self) -> tuple[RetrievedMemory, ...]:
        return self.found[: self.read]

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> Record:
        """Parse a line; raises ValueError if `to_json` did not write it."""
        try:
            fields: dict[str, Any] = json.loads(line)
            found = tuple(
                RetrievedMemory(each["text"], tuple(each["sources"]), each["score"])
                for each in fields.pop("found")
            )
            fields |= {
                name: tuple(fields[name]) for name in ("gold", "anchors", "gold_texts") if name in fields
            }
            return cls(**fields, found=found)
        except (AttributeError, KeyError, RecursionError, TypeError) as error:
            raise ValueError(f"not a record: {error!r}") from error


def new_record(case: Case, question: Question, found: tuple[RetrievedMemory, ...], **measured: Any) -> Record:
    """Make the record of a question that was just asked."""
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


def score_record(record: Record, ks: Sequence[int]) -> dict[str, float]:
    """Score a record; without a reader, the first recalled memory counts as the answer."""
    result: dict[str, float] = {}
    if record.gold:
        result |= ranking_scores(record.gold, [each.sources for each in record.found], ks)
        result |= context_scores(record.gold, [each.sources for each in record.context])
    if not record.answerable:
        result["abstained"] = float(not record.found)
    elif record.anchors or record.expected:
        result |= _answer_scores(record)
    return result | {"context_tokens": float(record.context_tokens)}


def _answer_scores(record: Record) -> dict[str, float]:
    first = record.found[0].text if record.found else ""
    answer = first if record.answer is None else record.answer
    result: dict[str, float] = {}
    if record.anchors:
        share = anchor_share(answer, record.anchors)
        result["anchor_map"] = share
        result["anchor_recall"] = anchor_share(
            "\n".join(each.text for each in record.context), record.anchors
        )
        result["correctness"] = correctness_label(share)
    if record.expected:
        result["f1"] = word_f1(answer, record.expected)
    return result


def summarise_records(
    records: Sequence[Record],
    *,
    dataset: str,
    scheme: str,
    settings: Mapping[str, object],
    command: str = "",
) -> dict[str, Any]:
    """Summarise a run: `n` counts questions, `counts` the questions that have each metric."""
    categories = sorted({each.category for each in records if each.category})
    times = sorted(each.ms for each in records)
    return {
        "dataset": dataset,
        "scheme": scheme,
        "settings": dict(settings),
        "n": len(records),
        "metrics": mean_scores(records),
        "intervals": {
            name: [round(bound, 4) for bound in bootstrap_interval(values)]
            for name, values in score_columns(records).items()
        },
        "counts": {name: len(values) for name, values in score_columns(records).items()},
        "by_category": {
            name: {"n": len(group), **mean_scores(group)}
            for name in categories
            if (group := [each for each in records if each.category == name])
        },
        "ms_per_query": round(fmean(times), 3) if times else None,
        "ms": percentiles(times),
        "command": command,
    }


def score_columns(records: Sequence[Record]) -> dict[str, list[float]]:
    """The values of every metric, in the order of the questions."""
    names = dict.fromkeys(name for each in records for name in each.scores)
    return {name: [each.scores[name] for each in records if name in each.scores] for name in names}


def mean_scores(records: Sequence[Record]) -> dict[str, float]:
    return {name: round(fmean(values), 4) for name, values in score_columns(records).items()}


def percentiles(times: Sequence[float]) -> dict[str, float]:
    if len(times) < 2:
        return {}
    cuts = quantiles(times, n=100, method="inclusive")
    return {f"p{cut}": round(cuts[cut - 1], 3) for cut in (50, 95, 99)}
