"""`judgements.jsonl` of a run, and the figures computed from it.

A line records what one judge said about one answer. An answer with a verdict is not judged again; after a
failure it is, and the new line replaces the old one. Lines made with other prompt versions are kept but
ignored.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from statistics import fmean
from types import TracebackType
from typing import IO, Any, Self

from thinkback_lab.errors import LabError
from thinkback_lab.files import read_text
from thinkback_lab.judge.verdict import Verdict
from thinkback_lab.metrics.statistics import bootstrap_interval, cohens_kappa, exact_agreement
from thinkback_lab.runs.folder import append_line, open_locked, truncate_partial_line
from thinkback_lab.runs.records import Record

JUDGEMENTS_FILE = "judgements.jsonl"


@dataclass(frozen=True, slots=True)
class Judgement:
    """One judge's verdict on one answer; None if the judge failed twice, with the reason in `failure`."""

    case: str
    id: str
    judge: str
    prompt: str  # version of the prompt
    verdict: Verdict | None
    failure: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The key of the question, as in its record."""
        return self.case, self.id

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> Judgement:
        """Parse a line; raises ValueError if `to_json` did not write it."""
        try:
            fields = json.loads(line)
            verdict = fields.pop("verdict")
            return cls(**fields, verdict=None if verdict is None else Verdict(**verdict))
        except (AttributeError, KeyError, RecursionError, TypeError) as error:
            raise ValueError(f"not a judgement: {error!r}") from error


class JudgementLog:
    """The judgements of one run, opened for appending. Use it as a context manager."""

    def __init__(self, run: Path, prompt: str) -> None:
        self._path = run / JUDGEMENTS_FILE
        self._prompt = prompt
        self.judgements: dict[tuple[str, str, str], Judgement] = {}  # (case, id, judge)
        try:
            self._lines: IO[bytes] = open_locked(self._path)
            try:
                truncate_partial_line(self._path)
                for each in read_judgements(run):
                    self._index(each)
            except BaseException:
                self._lines.close()
                raise
        except OSError as error:
            raise LabError(f"{self._path}: {error.strerror or error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lines.close()

    def needs_verdict(self, key: tuple[str, str], judge: str) -> bool:
        """Whether this judge has no verdict on that answer yet."""
        judgement = self.judgements.get((*key, judge))
        return judgement is None or judgement.verdict is None

    def add(self, judgement: Judgement) -> None:
        append_line(self._lines, judgement.to_json())
        self._index(judgement)

    def by_judges(self, judges: Iterable[str]) -> list[Judgement]:
        """The judgements of these judges."""
        names = set(judges)
        return [each for each in self.judgements.values() if each.judge in names]

    def _index(self, judgement: Judgement) -> None:
        if judgement.prompt == self._prompt:
            self.judgements[*judgement.key, judgement.judge] = judgement


def read_judgements(run: Path) -> list[Judgement]:
    """Read all judgements of a run in the order they were made; empty if there are none."""
    path = run / JUDGEMENTS_FILE
    if not path.exists():
        return []
    judgements = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line:
            try:
                judgements.append(Judgement.from_json(line))
            except ValueError as error:
                raise LabError(f"{path}, line {number}: {error}: remove the line") from error
    return judgements


ASPECTS = ("correctness", "coherence", "score")
QuestionKey = tuple[str, str]
AnswerKey = tuple[int, str, str]  # number of the run, and the key of the question


def scores_by_question(judgements: Sequence[Judgement]) -> dict[QuestionKey, dict[str, float]]:
    """Mean `judge_correctness`, `judge_coherence` and `judge_score` of every judged question."""
    by_key: defaultdict[QuestionKey, list[Judgement]] = defaultdict(list)
    for each in judgements:
        if each.verdict is not None:
            by_key[each.key].append(each)
    return {
        key: {f"judge_{aspect}": fmean(getattr(each.verdict, aspect) for each in group) for aspect in ASPECTS}
        for key, group in by_key.items()
    }


def add_judgements(
    results: Mapping[str, Any], records: Sequence[Record], judgements: Sequence[Judgement]
) -> dict[str, Any]:
    """Add the judgements to the results of a run, replacing earlier ones."""
    marks = scores_by_question(judgements)
    judged = [each for each in records if each.key in marks]
    names = [f"judge_{aspect}" for aspect in ASPECTS] if judged else []
    values = {name: [marks[each.key][name] for each in judged] for name in names}
    updated = _without_judges(results)
    updated["metrics"] |= {name: _rounded_mean(values[name]) for name in names}
    updated["intervals"] |= {
        name: [round(bound, 4) for bound in bootstrap_interval(values[name])] for name in names
    }
    updated["counts"] |= {name: len(judged) for name in names}
    for category, figures in updated["by_category"].items():
        group = [marks[each.key] for each in judged if each.category == category]
        if group:
            figures |= {name: _rounded_mean([mark[name] for mark in group]) for name in names}
    updated["judges"] = {
        "names": sorted({each.judge for each in judgements}),
        "prompt": judgements[0].prompt if judgements else None,
        "failed": sum(each.verdict is None for each in judgements),
        "agreement": judge_agreement([judgements]),
    }
    return updated


def judge_agreement(runs: Sequence[Sequence[Judgement]]) -> list[dict[str, Any]]:
    """Agreement of every two judges over the answers that both have judged."""
    by_judge: defaultdict[str, dict[AnswerKey, Verdict]] = defaultdict(dict)
    for number, judgements in enumerate(runs):
        for each in judgements:
            if each.verdict is not None:
                by_judge[each.judge][number, *each.key] = each.verdict
    return [
        _pair_agreement(one, by_judge[one], other, by_judge[other])
        for one, other in combinations(sorted(by_judge), 2)
    ]


def _pair_agreement(
    one: str,
    first_verdicts: Mapping[AnswerKey, Verdict],
    other: str,
    second_verdicts: Mapping[AnswerKey, Verdict],
) -> dict[str, Any]:
    shared = sorted(first_verdicts.keys() & second_verdicts.keys())
    agreement: dict[str, Any] = {"judges": [one, other], "n": len(shared)}
    for aspect in ASPECTS if shared else ():
        first = [getattr(first_verdicts[key], aspect) for key in shared]
        second = [getattr(second_verdicts[key], aspect) for key in shared]
        agreement[aspect] = {"exact": round(exact_agreement(first, second), 4)}
        if aspect == "score":
            differences = [abs(a - b) for a, b in zip(first, second, strict=True)]
            agreement[aspect]["mean_difference"] = round(fmean(differences), 4)
        else:
            chance_free = cohens_kappa(first, second)
            agreement[aspect]["kappa"] = None if chance_free is None else round(chance_free, 4)
    return agreement


def _without_judges(results: Mapping[str, Any]) -> dict[str, Any]:
    def unjudged(figures: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in figures.items() if not name.startswith("judge_")}

    stripped = {name: value for name, value in results.items() if name != "judges"}
    for name_of_part in ("metrics", "intervals", "counts"):
        stripped[name_of_part] = unjudged(results.get(name_of_part, {}))
    stripped["by_category"] = {name: unjudged(row) for name, row in results.get("by_category", {}).items()}
    return stripped


def _rounded_mean(values: Sequence[float]) -> float:
    return round(fmean(values), 4)
