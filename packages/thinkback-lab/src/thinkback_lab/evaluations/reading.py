"""Scores what a tuned model read in examples with gold context, and helps to choose how sure it must be.

A line of a reply is right if it states the value of a gold fact of the same turn: one value contains the
other, or the sentences share most words. Lines that are true but not in the gold count as wrong: precision is
a lower bound. A line may be left out because its tokens are too improbable, or because a second reading does
not state the same.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from thinkback.think.grounding import SupportingText
from thinkback_lab.errors import LabError
from thinkback_lab.metrics.answers import normalise_text

MIN_SHARED_WORDS = 0.7  # of the sentences of a fact and of a line that state the same
MIN_SHARED_VALUE = 0.5
_FIELDS = 6


@dataclass(frozen=True, slots=True)
class ReadLine:
    """One line of a reply; a line without a fact has empty texts. `confidence` is a log probability."""

    action: str
    numbers: frozenset[int]
    about: str = ""
    value: str = ""
    sentence: str = ""
    confidence: float = 0.0

    @property
    def states_fact(self) -> bool:
        return bool(self.value)


@dataclass(frozen=True, slots=True)
class ReadTurn:
    """The gold lines of a turn and those that were read."""

    lang: str
    gold: tuple[ReadLine, ...]
    read: tuple[ReadLine, ...]


def parse_reply(reply: str, tokens: Sequence[tuple[str, float]] = ()) -> list[ReadLine]:
    """The usable lines of a reply. `tokens` are its tokens with their log probabilities."""
    confidences = list(_line_confidences(tokens))
    lines = []
    for number, line in enumerate(reply.splitlines()):
        head, *fields = (field.strip() for field in line.split("|"))
        action, _, rest = head.partition(" ")
        numbers = frozenset(int(part) for part in rest.split(",") if part.strip().isdecimal())
        confidence = confidences[number] if number < len(confidences) else 0.0
        if action in ("end", "forget") and numbers:
            lines.append(ReadLine(action, numbers, confidence=confidence))
        elif action in ("add", "replace") and len(fields) >= _FIELDS and fields[2] and fields[5]:
            lines.append(ReadLine(action, numbers, fields[0], fields[2], fields[5], confidence))
    return lines


def _line_confidences(tokens: Sequence[tuple[str, float]]) -> Iterator[float]:
    """The mean log probability of the tokens of each line."""
    values: list[float] = []
    for word, probability in tokens:
        values.append(probability)
        if "\n" in word:
            yield sum(values) / len(values)
            values.clear()
    if values:
        yield sum(values) / len(values)


def same_fact(gold: ReadLine, read: ReadLine) -> bool:
    """Whether a line states a gold fact, leniently."""
    first, second = normalise_text(gold.value), normalise_text(read.value)
    if first in second or second in first or first in normalise_text(read.sentence):
        return True
    shares = [
        SupportingText([one]).share(other)
        for one, other in ((gold.sentence, read.sentence), (read.sentence, gold.sentence))
    ]
    return min(shares) >= MIN_SHARED_WORDS


def confirmed(read: Sequence[ReadLine], second: Sequence[ReadLine]) -> list[ReadLine]:
    """The lines that a second reading states too (see `thinkback.think.reader_lines.agreed_changes`)."""
    stated = SupportingText(
        f"{line.about} {line.value} {line.sentence}" for line in second if line.states_fact
    )
    retired = {number for line in second for number in line.numbers}
    kept = []
    for line in read:
        numbers = line.numbers & retired
        if line.states_fact and stated.share(line.value) >= MIN_SHARED_VALUE:
            action = "replace" if numbers else "add"
            kept.append(
                ReadLine(action, frozenset(numbers), line.about, line.value, line.sentence, line.confidence)
            )
        elif not line.states_fact and numbers:
            kept.append(ReadLine(line.action, frozenset(numbers), confidence=line.confidence))
    return kept


def score_reading(
    turns: Iterable[ReadTurn], *, min_fact: float = -99.0, min_retirement: float = -99.0
) -> dict[str, Any]:
    """Coverage of gold facts, precision of facts and retirements, and silence on turns without facts.

    Lines below `min_fact` are left out; lines below `min_retirement` retire nothing.
    """
    gold_facts = found = lines = right = retired = wanted = agreed = quiet = silent = 0
    for turn in turns:
        read = [line for line in turn.read if line.confidence >= min_fact]
        gold = [line for line in turn.gold if line.states_fact]
        stated = [line for line in read if line.states_fact]
        covered = {n for n, fact in enumerate(gold) for line in stated if same_fact(fact, line)}
        right += sum(any(same_fact(fact, line) for fact in gold) for line in stated)
        gold_facts, found, lines = gold_facts + len(gold), found + len(covered), lines + len(stated)
        sure = [line for line in read if line.confidence >= min_retirement]
        retires = {number for line in sure for number in line.numbers}
        should = {number for line in turn.gold for number in line.numbers}
        retired, wanted = retired + len(retires), wanted + len(should)
        agreed += len(retires & should)
        if not turn.gold:
            quiet += 1
            silent += not stated
    return {
        "facts": gold_facts,
        "coverage": _share(found, gold_facts),
        "lines": lines,
        "precision": _share(right, lines),
        "retired": retired,
        "retirement_precision": _share(agreed, retired),
        "retirement_recall": _share(agreed, wanted),
        "silence": _share(silent, quiet),
    }


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def read_turns(examples: Path, replies: Path, second: Path | None = None) -> list[ReadTurn]:
    """The turns of examples with what a model replied; with a second reading, what both state."""
    rows, answers = read_json_rows(examples), read_json_rows(replies)
    others = read_json_rows(second) if second else [None] * len(answers)
    if [(row["life"], row["turn"]) for row in rows] != [(row["life"], row["turn"]) for row in answers]:
        raise LabError(f"{replies} has not the replies to {examples}")
    turns = []
    for row, answer, other in zip(rows, answers, others, strict=True):
        read = parse_reply(answer["reply"], answer.get("tokens") or ())
        if other is not None:
            read = confirmed(read, parse_reply(other["reply"]))
        turns.append(ReadTurn(row["lang"], tuple(parse_reply(row["reply"])), tuple(read)))
    return turns


def read_json_rows(path: Path) -> list[Any]:
    """The rows of a file of JSON lines, plain or gzipped."""
    open_text = gzip.open if path.suffix == ".gz" else open
    with open_text(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]
