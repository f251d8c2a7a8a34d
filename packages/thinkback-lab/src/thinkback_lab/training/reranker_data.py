"""Training examples of the reranker: questions with memories that answer them, and older with newer texts.

Each question of a life is learned with three kinds of memories: its messages, the quotes of its facts, and
its facts as whole sentences; a further question about it (`LifeQuestions`) with its messages, and with all
three if nothing answers it. Pairs are the facts that replace each other, and pairs of other facts, half of
them those with most words in common. Memories (`datasets/memories.py`), LoCoMo's dialogues and pairs of
statements (`eval pairs`) are learned as they are.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from thinkback_lab.datasets import locomo
from thinkback_lab.datasets.lives import GoldFact, Life, LifeTurn
from thinkback_lab.datasets.memories import LifeQuestions, ToldMemory, read_memories
from thinkback_lab.errors import LabError
from thinkback_lab.evaluations.pairs import Pair, read_pairs
from thinkback_lab.files import iter_json_lines, read_models
from thinkback_lab.training.sentence_classifier import read_lives

if TYPE_CHECKING:
    import numpy.typing as npt

SIMILAR_PAIRS, RANDOM_PAIRS = 60, 60  # of facts of a life that do not replace each other
MAX_ANSWERS = 4  # of a question in one batch
NEAREST, MAX_NEAREST_CHOSEN, MAX_RANDOM_CHOSEN = 24, 9, 4  # memories that do not answer


@dataclass(frozen=True, slots=True)
class RankingExample:
    """A question, memories, and the numbers of those that answer it; none if it was never answered."""

    question: str
    memories: tuple[str, ...]
    answers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PairExample:
    """An older and a newer text, and whether the newer one makes the older one outdated."""

    older: str
    newer: str
    is_outdated: bool


Examples = tuple[Sequence[RankingExample], Sequence[PairExample]]


def read_examples(data: Sequence[str], folder: Path | None, seed: int) -> Examples:
    """The examples of all data, in order: `train` (lives of the data folder), files and folders.

    A JSON lines file contains lives, further questions about lives, memories or pairs; a folder with
    `locomo10.json` contains dialogues.

    Raises:
        LabError: a file cannot be read, or contains something else.
    """
    rankings: list[RankingExample] = []
    pairs: list[PairExample] = []
    for name in data:
        more = _read_source(name, folder, seed)
        rankings += more[0]
        pairs += more[1]
    return rankings, pairs


def _read_source(name: str, folder: Path | None, seed: int) -> Examples:
    path = Path(name)
    if (path / "locomo10.json").is_file():
        return list(dialogue_rankings(path)), []
    fields = json.loads(next(iter_json_lines([path]))[1]) if path.is_file() else {"turns": ()}
    if "messages" in fields:
        memories = read_memories([path])
        return (
            [each for memory in memories for each in memory_rankings(memory)],
            [PairExample(*pair) for memory in memories for pair in memory.labelled_pairs],
        )
    if "first" in fields:
        return [], [_statement_pair(pair) for pair in read_pairs([path])]
    if "turns" in fields:
        lives = read_lives([name], folder)
        return (
            [each for life in lives for each in life_rankings(life)],
            [each for life in lives for each in life_pairs(life, seed)],
        )
    if "life" in fields:
        return list(_further_rankings(path, folder)), []
    raise LabError(f"{path}: expected lives, questions, memories or pairs, one JSON object per line")


def _further_rankings(path: Path, folder: Path | None) -> Iterator[RankingExample]:
    """The examples of further questions; their lives are those of `train` and of the files beside them."""
    beside = [str(file) for file in sorted(path.parent.glob("*.jsonl")) if file.name != path.name]
    lives = {life.id: life for life in read_lives(["train", *beside], folder)}
    for asked in read_models([path], LifeQuestions, "questions about lives"):
        if (life := lives.get(asked.life)) is None:
            raise LabError(f"{path}: there is no life {asked.life!r} in train or beside this file")
        messages, quotes, texts = _memory_forms(life)
        for question in asked.questions:
            answers = tuple(turn - 1 for turn in question.answered_by)
            if not all(0 <= number < len(messages) for number in answers):
                raise LabError(f"{path}: {question.q!r}: life {asked.life!r} has no such turn")
            for memories in (messages,) if answers else (messages, quotes, texts):
                yield RankingExample(question.q, memories, answers)


def _memory_forms(life: Life) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """The messages of a life, the distinct quotes of its facts, and its facts."""
    facts = [fact for turn in life.turns for fact in turn.facts]
    return (
        tuple(turn.user for turn in life.turns),
        tuple(dict.fromkeys(fact.quote for fact in facts)),
        tuple(fact.text for fact in facts),
    )


def memory_rankings(memory: ToldMemory) -> Iterator[RankingExample]:
    for question in memory.questions:
        yield RankingExample(question.q, memory.texts, question.answered_by)


def dialogue_rankings(folder: Path) -> Iterator[RankingExample]:
    """The questions of LoCoMo's dialogues; each utterance is a memory."""
    for case in locomo.load(folder).cases:
        numbers = {item.id: number for number, item in enumerate(case.items)}
        texts = tuple(item.query for item in case.items)
        for question in case.questions:
            yield RankingExample(question.text, texts, tuple(numbers[id_] for id_ in question.gold))


def _statement_pair(pair: Pair) -> PairExample:
    return PairExample(pair.first, pair.then, pair.kind == "update")


def life_rankings(life: Life) -> Iterator[RankingExample]:
    """The questions of a life with its messages, quotes and facts."""
    facts = [fact for turn in life.turns for fact in turn.facts]
    messages, quotes, texts = _memory_forms(life)
    for question in life.questions:
        used = [number for number, fact in enumerate(facts) if fact.id in question.facts]
        by_quote = sorted({quotes.index(facts[number].quote) for number in used})
        lists = ((messages, [n - 1 for n in question.evidence]), (quotes, by_quote), (texts, used))
        for memories, answers in lists:
            yield RankingExample(question.q, memories, tuple(answers) if question.answerable else ())


def life_pairs(life: Life, seed: int) -> Iterator[PairExample]:
    """Facts that replace or end each other, and some that do not; as sentences, quotes and whole messages."""
    chance = random.Random(f"{seed} {life.id}")  # noqa: S311
    stated = [(fact, turn) for turn in life.turns for fact in turn.facts]
    by_id = {fact.id: fact for fact, _ in stated}
    replaced = [(by_id[id_], fact, turn) for fact, turn in stated for id_ in fact.replaces]
    for old, new, turn in replaced:
        yield from _three_forms(old, new, turn, is_outdated=True)
    ended = [(by_id[id_], turn) for turn in life.turns for id_ in turn.ends]
    for old, turn in ended:
        yield PairExample(old.quote, turn.user, is_outdated=True)
    gone = {(old.id, turn.n) for old, _, turn in replaced} | {(old.id, turn.n) for old, turn in ended}
    words = {fact.id: _words(f"{fact.text} {fact.quote}") for fact, _ in stated}

    def similarity(old: GoldFact, new: GoldFact) -> float:
        shared = len(words[old.id] & words[new.id]) / (1 + min(len(words[old.id]), len(words[new.id])))
        return shared + 0.05 * (old.about == new.about) + 0.05 * chance.random()

    others = [
        (similarity(old, new), old, new, turn)
        for (old, before), (new, turn) in product(stated, stated)
        if before.n < turn.n and (old.id, turn.n) not in gone
    ]
    others.sort(key=lambda each: -each[0])
    rest = others[SIMILAR_PAIRS:]
    for _, old, new, turn in (*others[:SIMILAR_PAIRS], *chance.sample(rest, min(RANDOM_PAIRS, len(rest)))):
        yield from _three_forms(old, new, turn, is_outdated=False)


def _three_forms(old: GoldFact, new: GoldFact, turn: LifeTurn, *, is_outdated: bool) -> Iterator[PairExample]:
    yield PairExample(old.text, new.text, is_outdated)
    yield PairExample(old.quote, new.quote, is_outdated)
    yield PairExample(old.quote, turn.user, is_outdated)


def _words(text: str) -> set[str]:
    """English words of three letters and more, and pairs of characters that begin with a Chinese one."""
    folded = text.lower()
    return {*re.findall(r"[a-z0-9]{3,}", folded), *re.findall(r"(?=([\u3400-\u9fff].))", folded)}


def choose_memories(
    example: RankingExample, similarities: npt.NDArray[np.float32], chance: random.Random
) -> list[int]:
    """The memories of an example that one batch shows: answers, hard negatives, a few others.

    Hard negatives are drawn from the memories that are most similar to the question but do not answer it.
    """
    answers = sorted(set(example.answers))
    others = [int(number) for number in np.argsort(-similarities, kind="stable") if number not in answers]
    nearest = others[:NEAREST]
    chosen = {
        *chance.sample(nearest, min(MAX_NEAREST_CHOSEN, len(nearest))),
        *chance.sample(others, min(MAX_RANDOM_CHOSEN, len(others))),
    }
    return [*chance.sample(answers, min(MAX_ANSWERS, len(answers))), *sorted(chosen)]


def distinct_texts(rankings: Iterable[RankingExample], pairs: Iterable[PairExample]) -> list[str]:
    """All texts of the examples, each once, in order."""
    texts: dict[str, None] = {}
    for ranking in rankings:
        texts |= dict.fromkeys((ranking.question, *ranking.memories))
    for pair in pairs:
        texts |= dict.fromkeys((pair.older, pair.newer))
    return list(texts)
