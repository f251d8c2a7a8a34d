"""`judgements.jsonl` of a run, and the figures made from it."""

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
    """`verdict` is None where the judge gave none twice; `failure` then tells why."""

    case: str
    id: str
    judge: str
    prompt: str  # its version
    verdict: Verdict | None
    failure: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """The question's, as in its record."""
        return self.case, self.id

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, line: str) -> Judgement:
        """Raises ValueError on a line that `to_json` never wrote."""
        try:
            told = json.loads(line)
            verdict = told.pop("verdict")
            return cls(**told, verdict=None if verdict is None else Verdict(**verdict))
        except (AttributeError, KeyError, RecursionError, TypeError) as error:
            raise ValueError(f"not a judgement: {error!r}") from error


class JudgementLog:
    """Those of one run, opened to add to; use it in a `with`."""

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
        kept = self.judgements.get((*key, judge))
        return kept is None or kept.verdict is None

    def add(self, judgement: Judgement) -> None:
        append_line(self._lines, judgement.to_json())
        self._index(judgement)

    def by_judges(self, judges: Iterable[str]) -> list[Judgement]:
        """What these judges said."""
        wanted = set(judges)
        return [each for each in self.judgements.values() if each.judge in wanted]

    def _index(self, judgement: Judgement) -> None:
        if judgement.prompt == self._prompt:
            self.judgements[*judgement.key, judgement.judge] = judgement


def read_judgements(run: Path) -> list[Judgement]:
    """Every line of a run's judgements, in the order they were made; none where nobody judged."""
    path = run / JUDGEMENTS_FILE
    if not path.exists():
        return []
    made = []
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if line:
            try:
                made.append(Judgement.from_json(line))
            except ValueError as error:
                raise LabError(f"{path}, line {number}: {error}: take the line out") from error
    return made


ASPECTS = ("correctness", "coherence", "score")
QuestionKey = tuple[str, str]
AnswerKey = tuple[int, str, str]  # the number of the run, and the question's key


def scores_by_question(judgements: Sequence[Judgement]) -> dict[QuestionKey, dict[str, float]]:
    """`judge_correctness`, `judge_coherence` and `judge_score` of every judged question."""
    said: defaultdict[QuestionKey, list[Judgement]] = defaultdict(list)
    for each in judgements:
        if each.verdict is not None:
            said[each.key].append(each)
    return {
        key: {f"judge_{aspect}": fmean(getattr(each.verdict, aspect) for each in made) for aspect in ASPECTS}
        for key, made in said.items()
    }


def add_judgements(
    results: Mapping[str, Any], records: Sequence[Record], judgements: Sequence[Judgement]
) -> dict[str, Any]:
    """A run's results and what the judges said, in place of what any judge said of it before."""
    marks = scores_by_question(judgements)
    judged = [each for each in records if each.key in marks]
    names = [f"judge_{aspect}" for aspect in ASPECTS] if judged else []
    values = {name: [marks[each.key][name] for each in judged] for name in names}
    told = _without_judges(results)
    told["metrics"] |= {name: _rounded_mean(values[name]) for name in names}
    told["intervals"] |= {
        name: [round(bound, 4) for bound in bootstrap_interval(values[name])] for name in names
    }
    told["counts"] |= {name: len(judged) for name in names}
    for category, figures in told["by_category"].items():
        chosen = [marks[each.key] for each in judged if each.category == category]
        if chosen:
            figures |= {name: _rounded_mean([mark[name] for mark in chosen]) for name in names}
    told["judges"] = {
        "names": sorted({each.judge for each in judgements}),
        "prompt": judgements[0].prompt if judgements else None,
        "failed": sum(each.verdict is None for each in judgements),
        "agreement": judge_agreement([judgements]),
    }
    return told


def judge_agreement(runs: Sequence[Sequence[Judgement]]) -> list[dict[str, Any]]:
    """For every two judges, over all answers that both have judged."""
    said: defaultdict[str, dict[AnswerKey, Verdict]] = defaultdict(dict)
    for number, judgements in enumerate(runs):
        for each in judgements:
            if each.verdict is not None:
                said[each.judge][number, *each.key] = each.verdict
    return [
        _pair_agreement(one, said[one], other, said[other]) for one, other in combinations(sorted(said), 2)
    ]


def _pair_agreement(
    one: str, ours: Mapping[AnswerKey, Verdict], other: str, theirs: Mapping[AnswerKey, Verdict]
) -> dict[str, Any]:
    both = sorted(ours.keys() & theirs.keys())
    told: dict[str, Any] = {"judges": [one, other], "n": len(both)}
    for aspect in ASPECTS if both else ():
        first = [getattr(ours[key], aspect) for key in both]
        second = [getattr(theirs[key], aspect) for key in both]
        told[aspect] = {"exact": round(exact_agreement(first, second), 4)}
        if aspect == "score":
            apart = [abs(a - b) for a, b in zip(first, second, strict=True)]
            told[aspect]["mean_difference"] = round(fmean(apart), 4)
        else:
            chance_free = cohens_kappa(first, second)
            told[aspect]["kappa"] = None if chance_free is None else round(chance_free, 4)
    return told


def _without_judges(results: Mapping[str, Any]) -> dict[str, Any]:
    def unjudged(figures: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in figures.items() if not name.startswith("judge_")}

    told = {name: value for name, value in results.items() if name != "judges"}
    for part in ("metrics", "intervals", "counts"):
        told[part] = unjudged(results.get(part, {}))
    told["by_category"] = {name: unjudged(row) for name, row in results.get("by_category", {}).items()}
    return told


def _rounded_mean(values: Sequence[float]) -> float:
    return round(fmean(values), 4)
