"""How varied a world is: the share of its sentences that one template makes up, seen from outside.

A template sentence is a sentence with its slot values masked. The measure knows no generator: it masks the
world's own names, numbers, dates, quoted titles and, in English, capitalised words inside a sentence, and
counts what is left. It works for any world, by grammar, by a model, or read from files.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from thinkback_lab.text import sentences
from thinkback_lab.worlds.world import Character, World

_QUOTED = re.compile(r"[“\"《「][^“”\"《》「」]*[”\"》」]")
_DATES = re.compile(
    r"\b(?:January|February|March|April|May|June|July|August|September|October|November|December|"
    r"Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)s?\b|星期[一二三四五六日天]"
)
_NUMBERS = re.compile(r"\d+(?:[.,:]\d+)*|[〇零一二三四五六七八九十百千万两]+(?=[年月日号个位次天岁名家只张])")
_CAPITALISED = re.compile(
    r"(?<=[\w,;:] )[A-ZÀ-Ý][\w'’-]*(?:(?: of| and|-) ?[A-ZÀ-Ý][\w'’-]*| [A-ZÀ-Ý][\w'’-]*)*"
)
_MASKS = re.compile(r"#(?: ?#)+")


@dataclass(frozen=True, slots=True)
class Variety:
    """What the most frequent template is, and its share of all sentences."""

    sentences: int
    templates: int
    commonest: str
    share: float


def memories(world: World) -> Variety:
    """Over all sentences of all memory texts: descriptions, relationships, events, lines of dialogues."""
    return measure(world, (text for character in world.characters for text in _texts(character)))


def questions(world: World) -> Variety:
    """Over the questions, in their first wording."""
    return measure(world, (qa.question for character in world.characters for qa in character.questions))


def wordings(world: World) -> Variety:
    """Over the questions in all their wordings."""
    return measure(
        world,
        (
            wording
            for character in world.characters
            for qa in character.questions
            for wording in (qa.question, *qa.again)
        ),
    )


def measure(world: World, texts: Iterable[str]) -> Variety:
    """The variety of these texts of the world."""
    names = _names(world)
    counts = Counter(masked(sentence, names) for text in texts for sentence in sentences(text))
    if not counts:
        return Variety(0, 0, "", 0.0)
    template, most = counts.most_common(1)[0]
    total = counts.total()
    return Variety(total, len(counts), template, most / total)


def masked(sentence: str, names: re.Pattern[str]) -> str:
    """The sentence with what varies by slot replaced by a mark."""
    for pattern in (_QUOTED, names, _DATES, _NUMBERS, _CAPITALISED):
        sentence = pattern.sub("#", sentence)
    return _MASKS.sub("#", sentence).strip()


def _names(world: World) -> re.Pattern[str]:
    """All names of the world, whole and in parts; the longest is tried first."""
    known: set[str] = set()
    for character in world.characters:
        for name in (character.name, *(each.name for each in character.relationships)):
            known.add(name)
            known.update(part for part in name.split() if len(part) > 2)
    longest = sorted(known, key=lambda name: (-len(name), name))
    return re.compile("|".join(re.escape(name) for name in longest))


def _texts(character: Character) -> Iterator[str]:
    yield character.description
    yield from (each.description for each in character.relationships)
    yield from (each.content for each in character.events)
    for dialogue in character.dialogues:
        yield from (said for _, said in dialogue.lines)
