"""Pairs of statements: compatible facts must be kept, updated ones must be superseded.

A file has one JSON object per line, plain or gzipped:

  {"id", "lang", "kind": "compatible", "category", "first", "then"}
  {"id", "lang", "kind": "update", "category", "first", "then", "old", "new", "question"}

The user says `first` and `then` three months apart. Both facts of a compatible pair are true in the end; in
an update the value `new` replaces `old`, and `question` asks for it.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError, model_validator

from thinkback import Thought
from thinkback_lab.errors import LabError
from thinkback_lab.files import format_validation_error, iter_json_lines
from thinkback_lab.harness import Harness, ManualClock, Setup
from thinkback_lab.progress import ProgressCallback, no_progress

if TYPE_CHECKING:
    from rich.table import Table


NonEmptyStr = Annotated[str, StringConstraints(min_length=1)]
PairKind = Literal["compatible", "update"]


class Pair(BaseModel):
    """Two statements of one user."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: NonEmptyStr
    lang: Literal["en", "zh"]
    kind: PairKind
    category: NonEmptyStr
    first: NonEmptyStr
    then: NonEmptyStr
    old: str = ""
    new: str = ""
    question: str = ""

    @model_validator(mode="after")
    def _an_update_names_its_values(self) -> Pair:
        given = [bool(value.strip()) for value in (self.old, self.new, self.question)]
        if self.kind == "update" and not all(given):
            raise ValueError("an update needs old, new and question")
        if self.kind == "compatible" and any(given):
            raise ValueError("a compatible pair has no old, new or question")
        return self


def read_pairs(paths: Iterable[Path]) -> list[Pair]:
    """Read all pairs of files and folders, in order; ids must be unique."""
    pairs: dict[str, Pair] = {}
    for where, line in iter_json_lines(paths):
        try:
            pair = Pair.model_validate_json(line)
        except ValidationError as error:
            raise LabError(f"{where}: {format_validation_error(error)}") from error
        if pair.id in pairs:
            raise LabError(f"{where}: duplicate id {pair.id!r}")
        pairs[pair.id] = pair
    if not pairs:
        raise LabError("the files contain no pair: each line must be a JSON object")
    return list(pairs.values())


FIRST_AT, SECOND_AT, ASKED_AT = (datetime(2024, month, 10, 9, tzinfo=UTC) for month in (3, 6, 7))
RECALL_K = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOutcome:
    """The thoughts after each statement of a pair, and what its question recalled."""

    pair: Pair
    before: tuple[Thought, ...]
    after: tuple[Thought, ...]
    second_was_read: bool  # the second statement is the source of a thought
    recalled: tuple[Thought, ...] = ()

    @property
    def lost(self) -> tuple[str, ...]:
        """Facts that are no longer current in any form: unchanged, merged or more precise."""
        return tuple(
            f"{old.sentence} ({item})"
            for old in self.before
            for item in old.objects
            if not any(
                new.id == old.id or (new.negated == old.negated and thought_has_value(new, item))
                for new in self.after
            )
        )

    @property
    def failure(self) -> str:
        """Why an update did not supersede the old value; empty if it did."""
        held = {each.id for each in self._with_value(self.before, self.pair.old)}
        if not held:
            return "the first statement was not read"
        old = any(each.id in held for each in self.after)
        new = bool(self._with_value(self.after, self.pair.new))
        if old:
            return "both values are held" if new else "the update was not read"
        return "" if new else "the old value is gone, the new one was not read"

    @property
    def stale_recalls(self) -> tuple[str, ...]:
        """Recalled current thoughts that contain the old value."""
        return tuple(each.sentence for each in self._stale())

    @property
    def contradicting_recalls(self) -> tuple[str, ...]:
        """Recalled current thoughts that give one relation both values."""
        old, new = self._stale(), self._with_value(self.recalled, self.pair.new)
        shared = {(e.subject, e.relation) for e in old} & {(e.subject, e.relation) for e in new}
        both = dict.fromkeys(each for each in (*old, *new) if (each.subject, each.relation) in shared)
        return tuple(each.sentence for each in both)

    def _stale(self) -> list[Thought]:
        """Recalled thoughts with the old value alone; one with both is what the user said of the change."""
        new = self._with_value(self.recalled, self.pair.new)
        return [each for each in self._with_value(self.recalled, self.pair.old) if each not in new]

    @staticmethod
    def _with_value(thoughts: Iterable[Thought], value: str) -> list[Thought]:
        return [each for each in thoughts if not each.negated and thought_has_value(each, value)]


def run_pairs(
    pairs: Sequence[Pair], setup: Setup, on_progress: ProgressCallback = no_progress
) -> list[PairOutcome]:
    """Run all pairs, each in an empty memory."""
    stage = Harness(setup)
    outcomes: list[PairOutcome] = []
    for pair in pairs:
        outcomes.append(run_pair(stage, pair))
        on_progress(len(outcomes), len(pairs))
    return outcomes


def run_pair(stage: Harness, pair: Pair) -> PairOutcome:
    clock = ManualClock(FIRST_AT)
    with stage.open(clock) as memory:
        memory.remember(pair.first)
        memory.post_think()
        before = memory.thoughts()
        clock.now = SECOND_AT
        second = memory.remember(pair.then)
        memory.post_think()
        ever = memory.thoughts(current=False)
        clock.now = ASKED_AT
        recollection = memory.recall(pair.question, k=RECALL_K) if pair.question else ()
        return PairOutcome(
            pair=pair,
            before=tuple(before),
            after=tuple(each for each in ever if each.current),
            second_was_read=any(source.turn == second.id for each in ever for source in each.sources),
            recalled=tuple(
                item.thought
                for item in recollection
                if item.thought and item.thought.current and item.outdated is None
            ),
        )


def thought_has_value(thought: Thought, value: str) -> bool:
    """Whether an object of the thought, or its subject, is the value or contains it as whole words.

    Models put a name into either place: (user, has boss, Ruth) or (Ruth, is, the user's boss).
    """
    normalised = _normalise(value)
    return any(_contains_words(_normalise(item), normalised) for item in (thought.subject, *thought.objects))


def _contains_words(text: str, wanted: str) -> bool:
    start, end = (
        (r"(?<![a-z0-9])" if wanted[0].isascii() else ""),
        (r"(?![a-z0-9])" if wanted[-1].isascii() else ""),
    )
    return re.search(start + re.escape(wanted) + end, text) is not None


def _normalise(words: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", words).casefold().split()).strip("《》\"'“”. ")


def summarise_pairs(outcomes: Sequence[PairOutcome], settings: Mapping[str, object]) -> dict[str, Any]:
    """Results in the common form, with every failure.

    `first_read` and `both_read` count the pairs from which statements were extracted at all.
    """
    return {
        "dataset": "pairs",
        "scheme": "thinkback",
        "settings": dict(settings),
        "n": len(outcomes),
        "metrics": _count_outcomes(outcomes),
        "by_category": _group_outcomes(outcomes, lambda each: f"{each.pair.kind}: {each.pair.category}"),
        "by_language": _group_outcomes(outcomes, lambda each: each.pair.lang),
        "failures": [description for each in outcomes if (description := _describe_failure(each))],
    }


def pairs_table(summary: Mapping[str, Any]) -> Table:
    """Rows by category, then by language, then all."""
    from rich.table import Table

    columns = {
        "compatible": "compatible",
        "first_read": "read",
        "wrongly_retired": "wrongly retired",
        "updates": "updates",
        "superseded": "superseded",
        "superseded_rate": "rate",
        "contradicting": "contradicting",
        "stale": "stale",
    }
    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("pairs")
    for title in columns.values():
        grid.add_column(title, justify="right")
    groups = (*summary["by_category"].items(), *summary["by_language"].items(), ("all", summary["metrics"]))
    for name, counts in groups:
        cells = {**counts, "superseded_rate": _format_percent(counts["superseded_rate"])}
        grid.add_row(name, *(str(cells[each]) for each in columns))
    return grid


def _count_outcomes(outcomes: Sequence[PairOutcome]) -> dict[str, Any]:
    compatible = [each for each in outcomes if each.pair.kind == "compatible"]
    updates = [each for each in outcomes if each.pair.kind == "update"]
    superseded = sum(not each.failure for each in updates)
    return {
        "compatible": len(compatible),
        "first_read": sum(bool(each.before) for each in compatible),
        "both_read": sum(bool(each.before) and each.second_was_read for each in compatible),
        "wrongly_retired": sum(bool(each.lost) for each in compatible),
        "updates": len(updates),
        "superseded": superseded,
        "superseded_rate": superseded / len(updates) if updates else None,
        "not_superseded": dict(sorted(Counter(each.failure for each in updates if each.failure).items())),
        "contradicting": sum(bool(each.contradicting_recalls) for each in updates),
        "stale": sum(bool(each.stale_recalls) for each in updates),
    }


def _group_outcomes(outcomes: Sequence[PairOutcome], key: Callable[[PairOutcome], str]) -> dict[str, Any]:
    groups: dict[str, list[PairOutcome]] = {}
    for each in outcomes:
        groups.setdefault(key(each), []).append(each)
    return {name: _count_outcomes(groups[name]) for name in sorted(groups)}


def _describe_failure(outcome: PairOutcome) -> dict[str, Any] | None:
    pair = outcome.pair
    if pair.kind == "compatible":
        why = f"wrongly retired: {'; '.join(outcome.lost)}" if outcome.lost else ""
    else:
        contradicting = outcome.contradicting_recalls
        recalled = f"recalled both: {'; '.join(contradicting)}" if contradicting else ""
        why = "; ".join(part for part in (outcome.failure, recalled) if part)
    if not why:
        return None
    current = [("not: " if each.negated else "") + each.sentence for each in outcome.after]
    return {"id": pair.id, "first": pair.first, "then": pair.then, "why": why, "held": current}


def _format_percent(rate: float | None) -> str:
    return "-" if rate is None else f"{rate:.1%}"
