"""Consistency score (TiM, figures 3 and 4): the same questions asked again in other wordings as a history grows."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import islice
from statistics import fmean
from time import perf_counter
from typing import TYPE_CHECKING, Any

from thinkback_lab.cases import Case, Dataset, Question
from thinkback_lab.errors import LabError
from thinkback_lab.metrics.answers import anchor_share
from thinkback_lab.metrics.consistency import answer_similarity, mean_over_pairs, recall_overlap
from thinkback_lab.metrics.retrieval import ranking_scores
from thinkback_lab.metrics.statistics import bootstrap_interval
from thinkback_lab.progress import ProgressCallback, no_progress
from thinkback_lab.prompts import prompt_language
from thinkback_lab.runs.runner import READ_LIMIT, Reader
from thinkback_lab.systems.interface import (
    MemorySystem,
    OracleSystem,
    Resources,
    SystemFactory,
    count_read,
    open_system,
    reader_texts,
    recall_memories,
)

if TYPE_CHECKING:
    from rich.table import Table


_QUESTION_FRAMES = {
    "en": (
        "Can you tell me: {}",
        "{} Do you remember?",
        "I would like to know: {}",
        "{} Please tell me.",
        "Once more, please: {}",
    ),
    "zh": ("请问：{}", "{}你还记得吗？", "我想知道：{}", "{}请告诉我。", "再问一次：{}"),
}
MAX_WORDINGS = 1 + len(_QUESTION_FRAMES["en"])


def make_wordings(question: Question, lang: str, n: int) -> tuple[str, ...]:
    """`n` different ones, the question as it stands first; there are frames for at least MOST of them."""
    ended = _with_question_mark(question.text, prompt_language(lang))
    framed = (frame.format(ended) for frame in _QUESTION_FRAMES[prompt_language(lang)])
    different = dict.fromkeys((question.text, *question.again, *framed))
    return tuple(islice(different, n))


def _with_question_mark(text: str, lang: str) -> str:
    """With a mark at its end, so that what follows is a sentence of its own."""
    bare = text.strip()
    return bare + ("？" if lang == "zh" else "?") if bare[-1:].isalnum() else bare


HIT_RANKS = (1, READ_LIMIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsistencyPlan:
    """When to ask, how often, and how many questions; a dialogue of more than `short` items is a long one."""

    turns: tuple[int, ...] = (5, 10, 15, 20, 30, 40)
    wordings: int = 3
    questions: int = 5
    short: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.turns or min(self.turns) < 1:
            raise LabError("turns are counted from 1: name at least one at which to ask")
        if not 2 <= self.wordings <= MAX_WORDINGS:
            raise LabError(f"{self.wordings} wordings: it takes 2 to compare, and there are {MAX_WORDINGS}")
        if self.questions < 1:
            raise LabError(f"{self.questions} questions: at least 1 must be asked at a turn")

    @property
    def as_settings(self) -> dict[str, object]:
        return asdict(self) | {"turns": sorted(set(self.turns))}


@dataclass(frozen=True, slots=True)
class WordingOutcome:
    """What one wording brought: the sources of each memory, and the answer if a model gave one."""

    sources: tuple[tuple[str, ...], ...]
    answer: str | None
    ms: float


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """One question at one checkpoint, with its figures."""

    case: str
    question: str
    turn: int
    length: int  # items of the whole dialogue
    ms: float
    scores: Mapping[str, float]


def run_consistency(
    dataset: Dataset,
    scheme: SystemFactory,
    resources: Resources,
    plan: ConsistencyPlan,
    reader: Reader | None = None,
    on_progress: ProgressCallback = no_progress,
) -> list[QuestionOutcome]:
    """Every question at every checkpoint of every case."""
    asked: list[QuestionOutcome] = []
    for done, case in enumerate(dataset.cases):
        on_progress(done, len(dataset.cases))
        with open_system(scheme, resources) as memory:
            asked += _run_case(case, memory, resources, plan, reader)
    if not asked:
        longest = max((len(case.items) for case in dataset.cases), default=0)
        raise LabError(
            f"{dataset.name}: nothing to ask at turn {min(plan.turns)} or later: its longest history has "
            f"{longest} items, and only a question whose gold has been told can be asked"
        )
    return asked


def _run_case(
    case: Case,
    memory: MemorySystem | OracleSystem,
    resources: Resources,
    plan: ConsistencyPlan,
    reader: Reader | None,
) -> Iterator[QuestionOutcome]:
    order = list(case.questions)
    random.Random(f"{plan.seed} {case.id}").shuffle(order)  # noqa: S311 - a sample, no secret
    told = 0
    before: dict[str, WordingOutcome] = {}
    for turn in sorted(set(plan.turns)):
        if turn > len(case.items):
            return
        memory.tell(case.items[told:turn])
        told = turn
        known = {item.id for item in case.items[:turn]}
        askable = [each for each in order if each.gold and known.issuperset(each.gold)]
        for question in askable[: plan.questions]:
            now = replace(question, at=case.items[turn - 1].at)
            said = _ask_wordings(now, case, memory, resources, plan.wordings, reader)
            first = before.setdefault(question.id, said[0])
            ms = fmean(each.ms for each in said)
            scores = _consistency_scores(question, said, None if first is said[0] else first)
            yield QuestionOutcome(case.id, question.id, turn, len(case.items), ms, scores)


def _ask_wordings(
    question: Question,
    case: Case,
    memory: MemorySystem | OracleSystem,
    resources: Resources,
    n: int,
    reader: Reader | None,
) -> list[WordingOutcome]:
    """Embedded beforehand, as the runner does, so that `ms` is the memory's own."""
    texts = make_wordings(question, case.lang, n)
    resources.embedder.embed(texts)
    said = []
    for text in texts:
        started = perf_counter()
        found = recall_memories(memory, replace(question, text=text), READ_LIMIT)
        ms = (perf_counter() - started) * 1000
        context = reader_texts(found[: count_read(memory, found, READ_LIMIT)], case.items)
        answer = reader.answer(text, context, case.lang) if reader else None
        said.append(WordingOutcome(tuple(each.sources for each in found), answer, ms))
    return said


def _consistency_scores(
    question: Question, said: Sequence[WordingOutcome], first: WordingOutcome | None
) -> dict[str, float]:
    """`kept`: how alike the plain wording's outcome is to that of its first asking, some turns ago."""

    def alike(one: WordingOutcome, other: WordingOutcome) -> dict[str, float]:
        recalled = recall_overlap(one.sources, other.sources)
        if one.answer is None or other.answer is None:
            return {"consistency": fmean(recalled.values()), **recalled}
        answered = answer_similarity(one.answer, other.answer, question.anchors)
        return {"consistency": fmean(answered.values()), **answered, **recalled}

    told = mean_over_pairs(said, alike)
    if first is not None:
        told["kept"] = alike(first, said[0])["consistency"]
    right = [ranking_scores(question.gold, each.sources, HIT_RANKS) for each in said]
    told |= {f"hit@{k}": fmean(each[f"hit@{k}"] for each in right) for k in HIT_RANKS}
    answers = [each.answer for each in said if each.answer is not None]
    if answers and question.anchors:
        told["anchor_map"] = fmean(anchor_share(answer, question.anchors) for answer in answers)
    return told


_SHOWN_METRICS = ("kept", "hit@1", "hit@5", "anchor_map")  # beside the score itself
MEASURED_ON_ANSWERS = "answers: mean of lexical F1 and of anchors said alike"
MEASURED_ON_RECALLS = "recalled items: mean of the Jaccard overlap of the first 1 and of the first 5"


def summarise_consistency(
    asked: Sequence[QuestionOutcome],
    plan: ConsistencyPlan,
    *,
    dataset: str,
    scheme: str,
    settings: Mapping[str, object],
) -> dict[str, Any]:
    """The common shape of results; `n` counts questions at checkpoints."""
    groups = {
        f"turn {turn}": [each for each in asked if each.turn == turn] for turn in sorted(set(plan.turns))
    }
    groups["short dialogue"] = [each for each in asked if each.length <= plan.short]
    groups["long dialogue"] = [each for each in asked if each.length > plan.short]
    answered = any("same_words" in each.scores for each in asked)
    return {
        "dataset": f"consistency:{dataset}",
        "scheme": scheme,
        "settings": {
            **settings,
            **plan.as_settings,
            "measured": MEASURED_ON_ANSWERS if answered else MEASURED_ON_RECALLS,
        },
        "n": len(asked),
        "metrics": _mean_scores(asked),
        "intervals": {name: _rounded_interval(values) for name, values in _score_columns(asked).items()},
        "counts": {name: len(values) for name, values in _score_columns(asked).items()},
        "by_category": {
            name: {
                "n": len(chosen),
                **_mean_scores(chosen),
                "interval": _rounded_interval(_score_columns(chosen)["consistency"]),
            }
            for name, chosen in groups.items()
            if chosen
        },
        "ms_per_query": round(fmean(each.ms for each in asked), 3),
    }


def consistency_table(summary: Mapping[str, Any]) -> Table:
    """A line a turn number and length of dialogue; a figure that a line does not have is left empty."""
    from rich.table import Table

    names = [name for name in _SHOWN_METRICS if name in summary["metrics"]]
    grid = Table(box=None, pad_edge=False)
    grid.add_column("", no_wrap=True)
    for name in ("n", "consistency", "95%", *names):
        grid.add_column(name, justify="right", no_wrap=True)
    whole = {"n": summary["n"], **summary["metrics"], "interval": summary["intervals"]["consistency"]}
    for label, row in {**summary["by_category"], "all": whole}.items():
        low, high = row["interval"]
        figures = [f"{row[name]:.3f}" if name in row else "" for name in names]
        grid.add_row(label, str(row["n"]), f"{row['consistency']:.3f}", f"{low:.3f} to {high:.3f}", *figures)
    return grid


def _score_columns(asked: Sequence[QuestionOutcome]) -> dict[str, list[float]]:
    names = dict.fromkeys(name for each in asked for name in each.scores)
    return {name: [each.scores[name] for each in asked if name in each.scores] for name in names}


def _mean_scores(asked: Sequence[QuestionOutcome]) -> dict[str, float]:
    return {name: round(fmean(values), 4) for name, values in _score_columns(asked).items()}


def _rounded_interval(values: Sequence[float]) -> list[float]:
    return [round(bound, 4) for bound in bootstrap_interval(values)]
