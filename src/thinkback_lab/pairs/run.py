"""Tell both statements of a pair to an empty memory, and see what it holds and recalls then."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from thinkback import Thought
from thinkback_lab.pairs.format import Pair
from thinkback_lab.progress import Report, silent
from thinkback_lab.stage import Clock, Setup, Stage

FIRST, THEN, ASKED = (datetime(2024, month, 10, 9, tzinfo=UTC) for month in (3, 6, 7))
K = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One pair, told: what was held after each statement, and what its question recalled."""

    pair: Pair
    before: tuple[Thought, ...]
    after: tuple[Thought, ...]
    told_then: bool  # whether the second statement is the source of a thought
    recalled: tuple[Thought, ...] = ()

    @property
    def lost(self) -> tuple[str, ...]:
        """What was held and is held no more: neither as it was, nor in a merged or a more precise thought."""
        return tuple(
            f"{old.sentence} ({item})"
            for old in self.before
            for item in old.objects
            if not any(
                says(new, item) and (new.relation, new.negated) == (old.relation, old.negated)
                for new in self.after
            )
        )

    @property
    def failure(self) -> str:
        """Why an update did not supersede, or nothing: the new value must stand where the old one stood."""
        places = {each.relation for each in self._holding(self.before, self.pair.old)}
        if not places:
            return "the first statement was not read"
        old, new = (
            any(each.relation in places for each in self._holding(self.after, value))
            for value in (self.pair.old, self.pair.new)
        )
        if old:
            return "both values are held" if new else "the update was not read"
        return "" if new else "the old value is gone, the new one was not read"

    @property
    def stale(self) -> tuple[str, ...]:
        """Recalled current thoughts that still say the old value."""
        return tuple(each.sentence for each in self._holding(self.recalled, self.pair.old))

    @property
    def contradicting(self) -> tuple[str, ...]:
        """Recalled current thoughts that give one relation both values."""
        old, new = (self._holding(self.recalled, value) for value in (self.pair.old, self.pair.new))
        shared = {(e.subject, e.relation) for e in old} & {(e.subject, e.relation) for e in new}
        both = dict.fromkeys(each for each in (*old, *new) if (each.subject, each.relation) in shared)
        return tuple(each.sentence for each in both)

    @staticmethod
    def _holding(thoughts: Iterable[Thought], value: str) -> list[Thought]:
        return [each for each in thoughts if not each.negated and says(each, value)]


def run(pairs: Sequence[Pair], setup: Setup, report: Report = silent) -> list[Outcome]:
    """Every pair in turn; `report` is told how far it is."""
    stage = Stage(setup)
    outcomes: list[Outcome] = []
    for pair in pairs:
        outcomes.append(tell(stage, pair))
        report(len(outcomes), len(pairs))
    return outcomes


def tell(stage: Stage, pair: Pair) -> Outcome:
    clock = Clock(FIRST)
    with stage.open(clock) as memory:
        memory.remember(pair.first)
        memory.post_think()
        before = memory.thoughts()
        clock.now = THEN
        second = memory.remember(pair.then)
        memory.post_think()
        ever = memory.thoughts(current=False)
        clock.now = ASKED
        found = memory.recall(pair.question, k=K) if pair.question else ()
        return Outcome(
            pair=pair,
            before=tuple(before),
            after=tuple(each for each in ever if each.current),
            told_then=any(source.turn == second.id for each in ever for source in each.sources),
            recalled=tuple(item.thought for item in found if item.thought and item.thought.current),
        )


def says(thought: Thought, value: str) -> bool:
    """Whether an object is the value, or holds it as whole words."""
    wanted = _folded(value)
    return any(_holds(_folded(item), wanted) for item in thought.objects)


def _holds(text: str, wanted: str) -> bool:
    start, end = (
        (r"(?<![a-z0-9])" if wanted[0].isascii() else ""),
        (r"(?![a-z0-9])" if wanted[-1].isascii() else ""),
    )
    return re.search(start + re.escape(wanted) + end, text) is not None


def _folded(words: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", words).casefold().split()).strip("《》\"'“”. ")
