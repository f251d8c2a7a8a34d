"""Training examples for a small model that marks which known facts still hold (`think.update_form`).

A life is replayed as the product does it, with sentences that are read without a model, and with the gold of
the life in the place of the model: a thought is outdated as soon as all facts that it states are replaced,
ended or forgotten. A thought that also states a fact that still holds is kept.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from thinkback import Memory
from thinkback.embedders.registry import create_embedder, sentence_encoder
from thinkback.network.cross_encoder import get_cross_encoder
from thinkback.think.contract import ReadRequest
from thinkback.think.reader_updates import Update, UpdatingReader
from thinkback.think.readers import WithoutModelReader
from thinkback.think.update_form import (
    MARKS,
    MAX_KNOWN_FACTS,
    MIN_OUTDATED_SCORE,
    Mark,
    build_prompt,
    choose_known,
    format_reply,
)
from thinkback.types import Thought
from thinkback_lab.datasets.lives import Life, LifeTurn
from thinkback_lab.evaluations.lives_scoring import LifeThought, Passage, covers, states_value
from thinkback_lab.harness import ManualClock
from thinkback_lab.progress import ProgressCallback, no_progress
from thinkback_lab.training.life_variants import make_variant

# The cross-encoder knows the training lives, so that fewer facts seem outdated than in unknown talks.
TRAINING_MIN_SCORE = MIN_OUTDATED_SCORE - 1.5
CHANGES = [mark for mark in MARKS if mark != "keep"]


@dataclass(frozen=True, slots=True)
class UpdateExample:
    """One turn: the system prompt, the text, and the right reply."""

    life: str
    turn: int
    lang: str
    prompt: tuple[str, str]
    reply: str


@dataclass(slots=True)
class GoldUpdateFinder:
    """An `UpdateFinder` that takes the marks from the gold of a life, and records examples.

    With `show_targets`, for training, thoughts that the turn outdates are shown although they were not found.
    """

    life: Life
    memory: Memory | None = None
    show_targets: bool = False
    name: str = "gold updates"
    examples: list[UpdateExample] = field(default_factory=list)
    _facts: dict[int, frozenset[str]] = field(default_factory=dict)  # thought -> the facts that it states

    def prepare(self) -> None:
        """Nothing is loaded."""

    def find(self, request: ReadRequest) -> list[Update]:
        """The related thoughts that the turn outdates; one example is recorded for the turn."""
        stored = request.turns[0]
        turn = next(turn for turn in self.life.turns if turn.user == stored.query and turn.at == stored.at)
        least = TRAINING_MIN_SCORE if self.show_targets else MIN_OUTDATED_SCORE
        known = choose_known(request, stored.query, get_cross_encoder(), least)
        if self.show_targets and self.memory is not None:
            missing = [t for t in self.memory.thoughts() if t not in known and self._mark(t, turn) != "keep"]
            others = [t for t in known if self._mark(t, turn) == "keep"]
            surplus = len(known) + len(missing) - MAX_KNOWN_FACTS
            dropped = others[: max(0, surplus)]
            known = sorted({*known, *missing} - {*dropped}, key=lambda thought: thought.id)[:MAX_KNOWN_FACTS]
        prompt = build_prompt(request, stored.query, known)
        marks = [self._mark(thought, turn) for thought in prompt.known]
        if marks:
            texts = (prompt.messages[0].content, prompt.text)
            self.examples.append(
                UpdateExample(self.life.id, turn.n, self.life.lang, texts, format_reply(marks))
            )
        return [
            Update(thought, mark) for thought, mark in zip(prompt.known, marks, strict=True) if mark != "keep"
        ]

    def _mark(self, thought: Thought, turn: LifeTurn) -> Mark:
        facts = self._facts_of(thought)
        replaced = {id_ for fact in turn.facts for id_ in fact.replaces}
        now = {*replaced, *turn.ends, *turn.forget}
        earlier = {
            id_
            for other in self.life.turns
            if other.n < turn.n
            for id_ in (*other.ends, *other.forget, *(old for fact in other.facts for old in fact.replaces))
        }
        if not facts & now or facts - now - earlier:
            return "keep"
        return "replace" if facts & replaced else "end"

    def _facts_of(self, thought: Thought) -> frozenset[str]:
        """The facts that a thought states: those with their values, else those whose quotes it has."""
        if thought.id not in self._facts:
            source = thought.sources[0]
            turn = self.life.turns[source.turn - 1]  # the turns of the memory are those of the life
            stated = LifeThought(
                ref=str(thought.ref),
                sentence=thought.sentence,
                objects=thought.objects,
                current=True,
                passages=(Passage(turn.n, source.side, source.start, source.end),),
            )
            covered = [fact for fact in turn.facts if covers(stated, fact, turn)]
            with_value = [fact for fact in covered if states_value(stated, fact)]
            self._facts[thought.id] = frozenset(fact.id for fact in with_value or covered)
        return self._facts[thought.id]


def play_with_gold(life: Life, embedder: str = "minilm", *, show_targets: bool = True) -> GoldUpdateFinder:
    """Replay the turns of a life with gold updates; the examples are in the finder."""
    clock = ManualClock()
    finder = GoldUpdateFinder(life, show_targets=show_targets)
    model = create_embedder(embedder)
    reader = UpdatingReader(finder, WithoutModelReader(sentence_encoder(model)))
    with Memory.open(":memory:", embedder=model, think=reader, background=False, clock=clock) as memory:
        finder.memory = memory
        for turn in life.turns:
            clock.now = turn.at
            memory.remember(turn.user, turn.assistant, at=turn.at, session=turn.session)
            memory.post_think()
    return finder


def make_examples(
    lives: Sequence[Life],
    *,
    variants: int = 0,
    show_targets: bool = True,
    seed: int = 0,
    embedder: str = "minilm",
    on_progress: ProgressCallback = no_progress,
) -> Iterator[UpdateExample]:
    """Examples of all turns of the lives, and so many variants (`life_variants`) of those with an update.

    Most turns change nothing: the variants show updates more often than they happen, and a threshold of the
    probability corrects that.
    """
    for done, life in enumerate(lives, start=1):
        examples = play_with_gold(life, embedder, show_targets=show_targets).examples
        yield from examples
        changing = [example for example in examples if any(mark in example.reply for mark in CHANGES)]
        for variant in range(1, variants + 1):
            change = make_variant(life, random.Random(f"{seed} {life.id} {variant}"))  # noqa: S311
            for example in changing:
                system, text = example.prompt
                yield replace(example, prompt=(system, change(text)))
        on_progress(done, len(lives))


def write_examples(path: Path, examples: Iterable[UpdateExample]) -> int:
    """Write the examples as JSON lines; returns their number."""
    count = 0
    with path.open("w", encoding="utf-8") as file:
        for example in examples:
            file.write(json.dumps(asdict(example), ensure_ascii=False) + "\n")
            count += 1
    return count
