"""Consistency score (TiM (ACL), figures 3 and 4): the same questions asked again in other wordings as a
history grows.

At a checkpoint ("turn 10": ten items stored) every question whose gold has been stored may be asked, up to a
maximum per case. Other wordings come from the data set, or from frames that keep every word of the question,
so that differences in the results are due to the memory.
"""

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
    """Return `n` different wordings, the original question first."""
    question_text = _with_question_mark(question.text, prompt_language(lang))
    framed = (frame.format(question_text) for frame in _QUESTION_FRAMES[prompt_language(lang)])
    different = dict.fromkeys((question.text, *question.again, *framed))
    return tuple(islice(different, n))


def _with_question_mark(text: str, lang: str) -> str:
    """Add a missing question mark, so that a frame can append a sentence."""
    bare = text.strip()
    return bare + ("？" if lang == "zh" else "?") if bare[-1:].isalnum() else bare


HIT_RANKS = (1, READ_LIMIT)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsistencyPlan:
    """When to ask, how many wordings and questions; a dialogue of more than `short` items counts as long."""

    turns: tuple[int, ...] = (5, 10, 15, 20, 30, 40)
    wordings: int = 3
    questions: int = 5
    short: int = 20
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.turns or min(self.turns) < 1:
            raise LabError("give at least one turn; turns are counted from 1")
        if not 2 <= self.wordings <= MAX_WORDINGS:
            raise LabError(f"wordings must be between 2 and {MAX_WORDINGS}, not {self.wordings}")
        if self.questions < 1:
            raise LabError(f"questions must be at least 1, not {self.questions}")

    @property
    def as_settings(self) -> dict[str, object]:
        return asdict(self) | {"turns": sorted(set(self.turns))}


@dataclass(frozen=True, slots=True)
class WordingOutcome:
    """The result of one wording: sources of each memory, and the answer if there is a reader."""

    sources: tuple[tuple[str, ...], ...]
    answer: str | None
    ms: float


@dataclass(frozen=True, slots=True)
class QuestionOutcome:
    """One question at one checkpoint, with its scores."""

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
    """Ask every question at every checkpoint of every case."""
    outcomes: list[QuestionOutcome] = []
    for done, case in enumerate(dataset.cases):
        on_progress(done, len(dataset.cases))
        with open_system(scheme, resources) as memory:
            outcomes += _run_case(case, memory, resources, plan, reader)
    if not outcomes:
        longest = max((len(case.items) for case in dataset.cases), default=0)
        raise LabError(
            f"{dataset.name}: no question can be asked at turn {min(plan.turns)} or later: "
            "the longest history has "
            f"{longest} items, and a question can only be asked after its gold items"
        )
    return outcomes


def _run_case(
    case: Case,
    memory: MemorySystem | OracleSystem,
    resources: Resources,
    plan: ConsistencyPlan,
    reader: Reader | None,
) -> Iterator[QuestionOutcome]:
    order = list(case.questions)
    random.Random(f"{plan.seed} {case.id}").shuffle(order)  # noqa: S311 - a sample, no secret
    stored = 0
    first_outcomes: dict[str, WordingOutcome] = {}
    for turn in sorted(set(plan.turns)):
        if turn > len(case.items):
            return
        memory.add_items(case.items[stored:turn])
        stored = turn
        stored_ids = {item.id for item in case.items[:turn]}
        askable = [each for each in order if each.gold and stored_ids.issuperset(each.gold)]
        for question in askable[: plan.questions]:
            now = replace(question, at=case.items[turn - 1].at)
            outcomes = _ask_wordings(now, case, memory, resources, plan.wordings, reader)
            first = first_outcomes.setdefault(question.id, outcomes[0])
            ms = fmean(each.ms for each in outcomes)
            scores = _consistency_scores(question, outcomes, None if first is outcomes[0] else first)
            yield QuestionOutcome(case.id, question.id, turn, len(case.items), ms, scores)


def _ask_wordings(
    question: Question,
    case: Case,
    memory: MemorySystem | OracleSystem,
    resources: Resources,
    n: int,
    reader: Reader | None,
) -> list[WordingOutcome]:
    """Ask all wordings; they are embedded beforehand, so that `ms` is the time of the memory alone."""
    texts = make_wordings(question, case.lang, n)
    resources.embedder.embed(texts)
    outcomes = []
    for text in texts:
        started = perf_counter()
        memories = recall_memories(memory, replace(question, text=text), READ_LIMIT)
        ms = (perf_counter() - started) * 1000
        context = reader_texts(memories[: count_read(memory, memories, READ_LIMIT)], case.items)
        answer = reader.answer(text, context, case.lang) if reader else None
        outcomes.append(WordingOutcome(tuple(each.sources for each in memories), answer, ms))
    return outcomes


def _consistency_scores(
    question: Question, outcomes: Sequence[WordingOutcome], first: WordingOutcome | None
) -> dict[str, float]:
    """Scores of one question; `kept` is the similarity to the result of its first asking."""

    def alike(one: WordingOutcome, other: WordingOutcome) -> dict[str, float]:
        recalled = recall_overlap(one.sources, other.sources)
        if one.answer is None or other.answer is None:
            return {"consistency": fmean(recalled.values()), **recalled}
        answered = answer_similarity(one.answer, other.answer, question.anchors)
        return {"consistency": fmean(answered.values()), **answered, **recalled}

    scores_made = mean_over_pairs(outcomes, alike)
    if first is not None:
        scores_made["kept"] = alike(first, outcomes[0])["consistency"]
    hits = [ranking_scores(question.gold, each.sources, HIT_RANKS) for each in outcomes]
    scores_made |= {f"hit@{k}": fmean(each[f"hit@{k}"] for each in hits) for k in HIT_RANKS}
    answers = [each.answer for each in outcomes if each.answer is not None]
    if answers and question.anchors:
        scores_made["anchor_map"] = fmean(anchor_share(answer, question.anchors) for answer in answers)
    return scores_made


_SHOWN_METRICS = ("kept", "hit@1", "hit@5", "anchor_map")  # besides the score itself
MEASURED_ON_ANSWERS = "answers: mean of lexical F1 and of anchors said alike"
MEASURED_ON_RECALLS = "recalled items: mean of the Jaccard overlap of the first 1 and of the first 5"


def summarise_consistency(
    outcomes: Sequence[QuestionOutcome],
    plan: ConsistencyPlan,
    *,
    dataset: str,
    scheme: str,
    settings: Mapping[str, object],
) -> dict[str, Any]:
    """Results in the common form; `n` counts questions at checkpoints."""
    groups = {
        f"turn {turn}": [each for each in outcomes if each.turn == turn] for turn in sorted(set(plan.turns))
    }
    groups["short dialogue"] = [each for each in outcomes if each.length <= plan.short]
    groups["long dialogue"] = [each for each in outcomes if each.length > plan.short]
    answered = any("same_words" in each.scores for each in outcomes)
    return {
        "dataset": f"consistency:{dataset}",
        "scheme": scheme,
        "settings": {
            **settings,
            **plan.as_settings,
            "measured": MEASURED_ON_ANSWERS if answered else MEASURED_ON_RECALLS,
        },
        "n": len(outcomes),
        "metrics": _mean_scores(outcomes),
        "intervals": {name: _rounded_interval(values) for name, values in _score_columns(outcomes).items()},
        "counts": {name: len(values) for name, values in _score_columns(outcomes).items()},
        "by_category": {
            name: {
                "n": len(group),
                **_mean_scores(group),
                "interval": _rounded_interval(_score_columns(group)["consistency"]),
            }
            for name, group in groups.items()
            if group
        },
        "ms_per_query": round(fmean(each.ms for each in outcomes), 3),
    }


def consistency_table(summary: Mapping[str, Any]) -> Table:
    """One row per turn number and dialogue length."""
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


def _score_columns(outcomes: Sequence[QuestionOutcome]) -> dict[str, list[float]]:
    names = dict.fromkeys(name for each in outcomes for name in each.scores)
    return {name: [each.scores[name] for each in outcomes if name in each.scores] for name in names}


def _mean_scores(outcomes: Sequence[QuestionOutcome]) -> dict[str, float]:
    return {name: round(fmean(values), 4) for name, values in _score_columns(outcomes).items()}


def _rounded_interval(values: Sequence[float]) -> list[float]:
    return [round(bound, 4) for bound in bootstrap_interval(values)]
