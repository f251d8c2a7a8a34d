"""Play a history in steps, and at each ask what has been told in several wordings.

At a checkpoint ("turn 10": ten items told) every question whose gold has been told may be asked, at most so
many of a case, the same ones for the same seed. It is asked as if at that moment. With a reader each wording
is answered anew.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import fmean
from time import perf_counter

from thinkback_lab.cases import Case, Dataset, Question
from thinkback_lab.consistency.wordings import MOST, wordings
from thinkback_lab.errors import LabError
from thinkback_lab.metrics.answers import anchored
from thinkback_lab.metrics.consistency import answers_alike, pairwise, recalls_alike
from thinkback_lab.metrics.retrieval import ranked
from thinkback_lab.progress import Report, silent
from thinkback_lab.runs.run import READ, Reader
from thinkback_lab.schemes.scheme import Kit, Knows, Remembers, Scheme, opened, read_of, recalled, spoken

KS = (1, READ)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """When to ask, how often, and how many questions; a dialogue of more than `short` items is a long one."""

    turns: tuple[int, ...] = (5, 10, 15, 20, 30, 40)
    wordings: int = 3
    questions: int = 5
    short: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.turns or min(self.turns) < 1:
            raise LabError("turns are counted from 1: name at least one at which to ask")
        if not 2 <= self.wordings <= MOST:
            raise LabError(f"{self.wordings} wordings: it takes 2 to compare, and there are {MOST}")
        if self.questions < 1:
            raise LabError(f"{self.questions} questions: at least 1 must be asked at a turn")

    @property
    def told(self) -> dict[str, object]:
        return asdict(self) | {"turns": sorted(set(self.turns))}


@dataclass(frozen=True, slots=True)
class Said:
    """What one wording brought: the sources of each memory, and the answer if a model gave one."""

    sources: tuple[tuple[str, ...], ...]
    answer: str | None
    ms: float


@dataclass(frozen=True, slots=True)
class Asked:
    """One question at one checkpoint, with its figures."""

    case: str
    question: str
    turn: int
    length: int  # items of the whole dialogue
    ms: float
    scores: Mapping[str, float]


def play(
    dataset: Dataset,
    scheme: Scheme,
    kit: Kit,
    plan: Plan,
    reader: Reader | None = None,
    report: Report = silent,
) -> list[Asked]:
    """Every question at every checkpoint of every case."""
    asked: list[Asked] = []
    for done, case in enumerate(dataset.cases):
        report(done, len(dataset.cases))
        with opened(scheme, kit) as memory:
            asked += _case(case, memory, kit, plan, reader)
    if not asked:
        longest = max((len(case.items) for case in dataset.cases), default=0)
        raise LabError(
            f"{dataset.name}: nothing to ask at turn {min(plan.turns)} or later: its longest history has "
            f"{longest} items, and only a question whose gold has been told can be asked"
        )
    return asked


def _case(
    case: Case, memory: Remembers | Knows, kit: Kit, plan: Plan, reader: Reader | None
) -> Iterator[Asked]:
    order = list(case.questions)
    random.Random(f"{plan.seed} {case.id}").shuffle(order)  # noqa: S311 - a sample, no secret
    told = 0
    before: dict[str, Said] = {}
    for turn in sorted(set(plan.turns)):
        if turn > len(case.items):
            return
        memory.tell(case.items[told:turn])
        told = turn
        known = {item.id for item in case.items[:turn]}
        askable = [each for each in order if each.gold and known.issuperset(each.gold)]
        for question in askable[: plan.questions]:
            now = replace(question, at=case.items[turn - 1].at)
            said = _asked(now, case, memory, kit, plan.wordings, reader)
            first = before.setdefault(question.id, said[0])
            ms = fmean(each.ms for each in said)
            scores = _scores(question, said, None if first is said[0] else first)
            yield Asked(case.id, question.id, turn, len(case.items), ms, scores)


def _asked(
    question: Question, case: Case, memory: Remembers | Knows, kit: Kit, n: int, reader: Reader | None
) -> list[Said]:
    """Embedded beforehand, as the runner does, so that `ms` is the memory's own."""
    texts = wordings(question, case.lang, n)
    kit.embedder.embed(texts)
    said = []
    for text in texts:
        started = perf_counter()
        found = recalled(memory, replace(question, text=text), READ)
        ms = (perf_counter() - started) * 1000
        context = spoken(found[: read_of(memory, found, READ)], case.items)
        answer = reader.answer(text, context, case.lang) if reader else None
        said.append(Said(tuple(each.sources for each in found), answer, ms))
    return said


def _scores(question: Question, said: Sequence[Said], first: Said | None) -> dict[str, float]:
    """`kept`: how alike the plain wording's outcome is to that of its first asking, some turns ago."""

    def alike(one: Said, other: Said) -> dict[str, float]:
        recalled = recalls_alike(one.sources, other.sources)
        if one.answer is None or other.answer is None:
            return {"consistency": fmean(recalled.values()), **recalled}
        answered = answers_alike(one.answer, other.answer, question.anchors)
        return {"consistency": fmean(answered.values()), **answered, **recalled}

    told = pairwise(said, alike)
    if first is not None:
        told["kept"] = alike(first, said[0])["consistency"]
    right = [ranked(question.gold, each.sources, KS) for each in said]
    told |= {f"hit@{k}": fmean(each[f"hit@{k}"] for each in right) for k in KS}
    answers = [each.answer for each in said if each.answer is not None]
    if answers and question.anchors:
        told["anchor_map"] = fmean(anchored(answer, question.anchors) for answer in answers)
    return told
