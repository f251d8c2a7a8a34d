"""Lives: replay long natural conversations, then score the thoughts and what questions recall.

Every life is one user in an empty memory. Its turns are remembered in order, with their times as the clock
and post-think after each, as the background thread does. A question is asked at the time that the life gives
for it, which may lie between two turns; thoughts are scored at the end of the life (see `lives_scoring`).

Each question is recalled in four modes:

  both      `recall`, as the product does it
  thoughts  the thoughts of a recall without a limit, in its order. Thoughts are selected independently of
            raw turns, so this is what a recall of thoughts alone would return.
  brief     the first of these thoughts that fit into half of the tokens of `raw`
  raw       a recall of a second user who was told the same turns without post-think. Filtering would not do:
            in a memory with thoughts, a raw turn that a thought covers or retires is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from thinkback import Memory, Recollection
from thinkback.types import Source, Turn
from thinkback_lab.datasets.lives import LANGUAGES, QUESTION_KINDS, Life, LifeQuestion, LifeTurn
from thinkback_lab.evaluations.lives_gold import GoldThinker, create_gold_thinker
from thinkback_lab.evaluations.lives_scoring import (
    CONTEXT_ITEMS,
    MAX_RECALLED,
    RECALL_MODES,
    AskedQuestion,
    Figures,
    LifeThought,
    Passage,
    PlayedLife,
    QuestionScore,
    RecalledMemory,
    RecallMode,
    context_tokens,
    memory_figures,
    question_figures,
    score_facts,
    score_questions,
    within_tokens,
)
from thinkback_lab.harness import Harness, ManualClock, Setup, ThinkAfter
from thinkback_lab.progress import ProgressCallback, no_progress

if TYPE_CHECKING:
    from rich.table import Table


def run_lives(
    lives: Sequence[Life],
    setup: Setup,
    on_progress: ProgressCallback = no_progress,
    *,
    with_gold: bool = False,
) -> list[PlayedLife]:
    """Replay every life in its own memory; progress counts turns and questions.

    With `with_gold`, the gold facts become thoughts in place of post-think (see `lives_gold`).
    """
    harness = Harness(setup)
    total = sum(len(life.turns) + len(life.questions) for life in lives)
    done = 0

    def report_step() -> None:
        nonlocal done
        done += 1
        on_progress(done, total)

    return [play_life(harness, life, report_step, with_gold=with_gold) for life in lives]


def play_life(
    harness: Harness,
    life: Life,
    on_step: Callable[[], None] = lambda: None,
    *,
    with_gold: bool = False,
) -> PlayedLife:
    clock = ManualClock()
    asked: dict[int, AskedQuestion] = {}
    with harness.open(clock) as memory:
        replay = _Replay(memory.for_user(life.id), memory.for_user(f"{life.id} without thoughts"))
        replay.thinker = create_gold_thinker(replay.memory) if with_gold else None
        replay.think_after = harness.think_after
        for event in _in_time_order(life):
            replay.prepare(event)
            clock.now = event.at
            if event.turn is not None:
                replay.tell(event.turn)
            else:
                asked[event.number] = replay.ask(life.questions[event.number])
            on_step()
        if replay.thinker is None:
            replay.think()  # the last session, and turns whose post-think failed
        stats = replay.memory.stats()
        return PlayedLife(
            life=life,
            thoughts=replay.thoughts(),
            asked=tuple(asked[number] for number in range(len(life.questions))),
            unprocessed_turns=stats.pending + stats.failed,
            llm_calls=replay.llm_calls,
            llm_tokens=replay.llm_tokens,
        )


@dataclass(frozen=True, slots=True)
class _Event:
    """A turn, or the question with this number."""

    at: datetime
    turn: LifeTurn | None = None
    number: int = 0


def _in_time_order(life: Life) -> list[_Event]:
    """All turns and questions by time; at the same time turns come first."""
    turns = [_Event(turn.at, turn) for turn in life.turns]
    questions = [_Event(question.at, None, number) for number, question in enumerate(life.questions)]
    return sorted([*turns, *questions], key=lambda event: event.at)


@dataclass(slots=True)
class _Replay:
    """The two memories of one life, and which of their turns is which turn of the life."""

    memory: Memory
    without_thoughts: Memory
    thinker: GoldThinker | None = None  # in place of post-think
    numbers: dict[int, int] = field(default_factory=dict)  # turn id in `memory` -> number in the life
    raw_numbers: dict[int, int] = field(default_factory=dict)  # the same for `without_thoughts`
    texts: dict[int, Turn] = field(default_factory=dict)  # the turns of `memory` by id
    llm_calls: int = 0
    llm_tokens: int = 0
    think_after: ThinkAfter = "turn"
    session: str = ""  # of the last turn

    def prepare(self, event: _Event) -> None:
        """Think about the last session before a turn of another one or a question."""
        ends_session = event.turn is None or event.turn.session != self.session
        if self.think_after == "session" and self.session and ends_session:
            self.think()
            self.session = ""

    def tell(self, turn: LifeTurn) -> None:
        for memory, numbers in ((self.memory, self.numbers), (self.without_thoughts, self.raw_numbers)):
            stored = memory.remember(turn.user, turn.assistant, at=turn.at, session=turn.session)
            numbers[stored.id] = turn.n
            if memory is self.memory:
                self.texts[stored.id] = stored
        self.session = turn.session
        if self.thinker is not None:
            self.thinker.think(turn)
        elif self.think_after == "turn":
            self.think()

    def think(self) -> None:
        usage = self.memory.post_think().usage
        self.llm_calls += usage.llm_calls
        self.llm_tokens += usage.prompt_tokens + usage.completion_tokens

    def ask(self, question: LifeQuestion) -> AskedQuestion:
        stats = self.memory.stats()
        everything = max(MAX_RECALLED, stats.turns + stats.thoughts)
        unlimited = _recalled_memories(self.memory.recall(question.q, k=everything), self.numbers)
        thoughts = tuple(item for item in unlimited if item.is_thought)[:MAX_RECALLED]
        raw = _recalled_memories(self.without_thoughts.recall(question.q, k=MAX_RECALLED), self.raw_numbers)
        recalled: dict[RecallMode, tuple[RecalledMemory, ...]] = {
            "both": _recalled_memories(self.memory.recall(question.q, k=MAX_RECALLED), self.numbers),
            "thoughts": thoughts,
            "brief": within_tokens(thoughts, context_tokens(raw) // 2),
            "raw": raw,
        }
        known = None
        if not question.answerable and recalled["both"]:
            known = self.memory.synthesise(question.q, k=CONTEXT_ITEMS).known
        return AskedQuestion(recalled=recalled, known=known)

    def thoughts(self) -> tuple[LifeThought, ...]:
        replaced_by: dict[int, list[str]] = {}
        for action in self.memory.journal():
            kept = {thought.id for thought in action.after if thought.current}
            for old in action.before:
                if old.id not in kept and action.action in ("supersede", "merge"):
                    new = kept - {thought.id for thought in action.before}
                    replaced_by.setdefault(old.id, []).extend(f"thought:{id_}" for id_ in sorted(new))
        return tuple(
            LifeThought(
                ref=str(thought.ref),
                replaced_by=tuple(replaced_by.get(thought.id, ())),
                sentence=thought.sentence,
                objects=thought.objects,
                current=thought.current,
                passages=tuple(
                    Passage(self.numbers[source.turn], source.side, source.start, source.end)
                    for number, source in enumerate(thought.sources)
                    if number == 0 or not self._is_whole_message(source)
                ),
            )
            for thought in self.memory.thoughts(current=False)
        )

    def _is_whole_message(self, source: Source) -> bool:
        """Whether a source is a whole message: recorded because it explains the thought, not as its quote."""
        text = self.texts[source.turn].text_of(source.side)
        return source.start == 0 and source.end >= len(text)


def _recalled_memories(recollection: Recollection, numbers: Mapping[int, int]) -> tuple[RecalledMemory, ...]:
    return tuple(
        RecalledMemory(
            ref=str(item.ref),
            text=item.text,
            turns=_turn_numbers(
                [item.ref.id]
                if item.thought is None
                else [source.turn for thought in item.thoughts for source in thought.sources],
                numbers,
            ),
            is_thought=item.thought is not None,
            outdated=item.outdated is not None,
        )
        for item in recollection
    )


def _turn_numbers(turns: Iterable[int], numbers: Mapping[int, int]) -> tuple[int, ...]:
    return tuple(dict.fromkeys(numbers[turn] for turn in turns))


def summarise_lives(played: Sequence[PlayedLife], settings: Mapping[str, object]) -> dict[str, Any]:
    """Results in the common form; `metrics` and `by_kind` are those of mode `both`.

    `questions`, `facts` and `thoughts` have a line for each of them.
    """
    by_language = {
        lang: [each for each in played if each.life.lang == lang]
        for lang in LANGUAGES
        if any(each.life.lang == lang for each in played)
    }
    scores = {mode: [s for each in played for s in score_questions(each, mode)] for mode in RECALL_MODES}
    turns = sum(len(each.life.turns) for each in played)
    return {
        "dataset": "lives",
        "scheme": "thinkback",
        "settings": dict(settings),
        "n": len(scores["both"]),
        "metrics": _all_figures(played),
        "by_language": {lang: _all_figures(lives) for lang, lives in by_language.items()},
        "by_kind": _by_kind(scores["both"]),
        "ablation": {
            mode: {
                **question_figures(scores[mode]),
                "by_language": {
                    lang: question_figures([s for s in scores[mode] if s.life.lang == lang])
                    for lang in by_language
                },
                "by_kind": _by_kind(scores[mode]),
            }
            for mode in RECALL_MODES
        },
        "llm_calls_per_turn": sum(each.llm_calls for each in played) / turns,
        "llm_tokens_per_turn": sum(each.llm_tokens for each in played) / turns,
        "unthought": sum(each.unprocessed_turns for each in played),
        "questions": [line for each in played for line in _question_lines(each)],
        "facts": [line for each in played for line in _fact_lines(each)],
        "thoughts": [line for each in played for line in _thought_lines(each)],
    }


def _all_figures(played: Sequence[PlayedLife]) -> Figures:
    scores = [score for each in played for score in score_questions(each, "both")]
    figures = question_figures(scores)
    return {**memory_figures(played), "questions": figures.pop("n"), **figures}


def _by_kind(scores: Sequence[QuestionScore]) -> dict[str, Figures]:
    groups = {kind: [s for s in scores if s.question.kind == kind] for kind in QUESTION_KINDS}
    return {kind: question_figures(group) for kind, group in groups.items() if group}


def _question_lines(played: PlayedLife) -> list[dict[str, Any]]:
    scores = {mode: score_questions(played, mode) for mode in RECALL_MODES}
    return [
        {
            "life": played.life.id,
            "lang": played.life.lang,
            "kind": question.kind,
            "question": question.q,
            "answer": question.answer,
            "evidence": list(question.evidence),
            "abstained": scores["both"][number].abstained,
            **{
                mode: {
                    "recall@5": scores[mode][number].evidence_recall_at_5,
                    "recall@10": scores[mode][number].evidence_recall_at_10,
                    "answer@5": scores[mode][number].answer,
                    "clean@5": scores[mode][number].clean,
                    "tokens": scores[mode][number].tokens,
                    "recalled": [_memory_line(item) for item in asked.recalled[mode]],
                }
                for mode in RECALL_MODES
            },
        }
        for number, (question, asked) in enumerate(zip(played.life.questions, played.asked, strict=True))
    ]


def _memory_line(item: RecalledMemory) -> dict[str, Any]:
    return {"ref": item.ref, "turns": list(item.turns), "outdated": item.outdated, "text": item.text}


def _fact_lines(played: PlayedLife) -> list[dict[str, Any]]:
    return [
        {
            "life": played.life.id,
            "lang": played.life.lang,
            "turn": score.turn,
            "id": score.fact.id,
            "kind": score.fact.kind,
            "text": score.fact.text,
            "status": score.status,
            "state": score.state,
            "value_stated": score.value_stated,
            "thoughts": [thought.ref for thought in score.thoughts],
        }
        for score in score_facts(played)
    ]


def _thought_lines(played: PlayedLife) -> list[dict[str, Any]]:
    facts = score_facts(played)
    return [
        {
            "life": played.life.id,
            "lang": played.life.lang,
            "ref": thought.ref,
            "sentence": thought.sentence,
            "current": thought.current,
            "turns": sorted({passage.turn for passage in thought.passages}),
            "facts": [score.fact.id for score in facts if thought in score.thoughts],
        }
        for thought in played.thoughts
    ]


_MEMORY_COLUMNS = (
    "lives", "turns", "facts", "coverage", "value_coverage", "silence", "thoughts_per_turn", "current",
    "stale", "wrongly_retired",
)  # fmt: skip
_QUESTION_COLUMNS = (
    "n", "recall@5", "recall@10", "answer@5", "clean@5", "abstention", "wrongly_silent", "tokens",
)  # fmt: skip


def lives_tables(summary: Mapping[str, Any]) -> list[Table]:
    """Three tables: thoughts by language, questions by kind and language, and the ablation by language."""
    ablation = summary["ablation"]
    both = ablation["both"]
    languages = tuple(summary["by_language"])
    modes = [
        (
            mode if lang == "all" else f"{mode} {lang}",
            figures if lang == "all" else figures["by_language"][lang],
        )
        for lang in (*languages, "all")
        for mode, figures in ablation.items()
    ]
    questions = (*both["by_kind"].items(), *both["by_language"].items(), ("all", both))
    return [
        _table("thoughts", _MEMORY_COLUMNS, (*summary["by_language"].items(), ("all", summary["metrics"]))),
        _table("questions", _QUESTION_COLUMNS, questions),
        _table("recall from", tuple(c for c in _QUESTION_COLUMNS if c != "abstention"), modes),
    ]


def _table(
    title: str, columns: Sequence[str], rows: Iterable[tuple[str, Mapping[str, int | float | None]]]
) -> Table:
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column(title)
    for column in columns:
        grid.add_column(column.replace("_", " "), justify="right")
    for name, figures in rows:
        grid.add_row(name, *(_cell(column, figures[column]) for column in columns))
    return grid


def _cell(column: str, value: int | float | None) -> str:
    if value is None:
        return "-"
    if column == "tokens":
        return f"{value:.1f}"
    return str(value) if isinstance(value, int) else f"{value:.3f}"
