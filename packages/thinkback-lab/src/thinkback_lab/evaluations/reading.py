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
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from thinkback.think.grounding import SupportingText
from thinkback.think.line_form import MIN_RETIREMENT_CONFIDENCE, line_confidence, mean
from thinkback_lab.errors import LabError
from thinkback_lab.metrics.answers import normalise_text

MIN_SHARED_WORDS = 0.7  # of the sentences of a fact and of a line that state the same
MIN_SHARED_VALUE = 0.5
_FIELDS = 6


@dataclass(frozen=True, slots=True)
class ReadLine:
    """One line of a reply; a line without a fact has empty texts.

    Attributes:
        confidence: How sure the model is of the fact (`thinkback.think.line_form.line_confidence`).
        probability: The mean log probability of the tokens of the line; decides whether it retires facts.
    """

    action: str
    numbers: frozenset[int]
    about: str = ""
    value: str = ""
    sentence: str = ""
    confidence: float = 0.0
    probability: float = 0.0

    @property
    def states_fact(self) -> bool:
        return bool(self.value)


@dataclass(frozen=True, slots=True)
class ReadTurn:
    """The gold lines of a turn and those that were read."""

    lang: str
    gold: tuple[ReadLine, ...]
    read: tuple[ReadLine, ...]


def parse_reply(
    reply: str, tokens: Sequence[tuple[str, float]] = (), message: str | None = None
) -> list[ReadLine]:
    """The usable lines of a reply. `tokens` are its tokens with their log probabilities."""
    by_line = list(_split_lines(tokens))
    lines = []
    for number, line in enumerate(reply.splitlines()):
        head, *fields = (field.strip() for field in line.split("|"))
        action, _, rest = head.partition(" ")
        numbers = frozenset(int(part) for part in rest.split(",") if part.strip().isdecimal())
        said = by_line[number] if number < len(by_line) else []
        sure = mean([probability for _, probability in said])
        if action in ("end", "forget") and numbers:
            lines.append(ReadLine(action, numbers, confidence=sure, probability=sure))
        elif action in ("add", "replace") and len(fields) >= _FIELDS and fields[2] and fields[5]:
            confidence = sure if message is None else line_confidence(said, fields[2], message)
            lines.append(ReadLine(action, numbers, fields[0], fields[2], fields[5], confidence, sure))
    return lines


def _split_lines(tokens: Sequence[tuple[str, float]]) -> Iterator[list[tuple[str, float]]]:
    line: list[tuple[str, float]] = []
    for word, probability in tokens:
        line.append((word, probability))
        if "\n" in word:
            yield line
            line = []
    if line:
        yield line


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
            kept.append(replace(line, action=action, numbers=frozenset(numbers)))
        elif not line.states_fact and numbers:
            kept.append(replace(line, numbers=frozenset(numbers)))
    return kept


def score_reading(
    turns: Iterable[ReadTurn], *, min_fact: float = -99.0, min_retirement: float = -99.0
) -> dict[str, Any]:
    """Coverage of gold facts, precision of facts and retirements, and silence on turns without facts.

    Lines below `min_fact` are left out; lines below `min_retirement` retire nothing.
    """
    gold_facts = found = lines = right = retired = wanted = agreed = quiet = silent = 0
    for turn in turns:
        read = [line for line in turn.read if not line.states_fact or line.confidence >= min_fact]
        gold = [line for line in turn.gold if line.states_fact]
        stated = [line for line in read if line.states_fact]
        covered = {n for n, fact in enumerate(gold) for line in stated if same_fact(fact, line)}
        right += sum(any(same_fact(fact, line) for fact in gold) for line in stated)
        gold_facts, found, lines = gold_facts + len(gold), found + len(covered), lines + len(stated)
        sure = [line for line in read if line.probability >= min_retirement]
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


def score_thresholds(turns: Sequence[ReadTurn], thresholds: Sequence[float]) -> dict[str, Any]:
    """The figures of all lines, and of those that are sure enough for each threshold."""
    figures = {"all": score_reading(turns)}
    for limit in thresholds:
        figures[f"confidence >= {limit}"] = score_reading(
            turns, min_fact=limit, min_retirement=MIN_RETIREMENT_CONFIDENCE
        )
    return figures


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
        read = parse_reply(answer["reply"], answer.get("tokens") or (), _message_of(row["first"][1]))
        if other is not None:
            read = confirmed(read, parse_reply(other["reply"]))
        turns.append(ReadTurn(row["lang"], tuple(parse_reply(row["reply"])), tuple(read)))
    return turns


def _message_of(prompt: str) -> str:
    """The user's message in a prompt (see `thinkback.think.line_form`)."""
    return prompt.rpartition("Message:\nUser: ")[2].rpartition("\nAssistant: ")[0] or prompt


def read_json_rows(path: Path) -> list[Any]:
    """The rows of a file of JSON lines, plain or gzipped."""
    open_text = gzip.open if path.suffix == ".gz" else open
    with open_text(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]
