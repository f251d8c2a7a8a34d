"""Counts of a world (PerLTQA, table 2) and the variety of its sentences.

Variety is the share of the most frequent sentence template. Templates are reconstructed by masking names,
numbers, dates, quoted titles and capitalised words, so the measure works for any world, whatever generated
it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from thinkback_lab.text import split_sentences
from thinkback_lab.worlds.text_checks import text_length
from thinkback_lab.worlds.world import Character, World


def count_world(world: World) -> dict[str, int | float]:
    """The rows of PerLTQA's table 2 in order, and the number of unanswerable questions. Chinese is counted in
    characters.
    """
    characters = world.characters
    relationships = [each for character in characters for each in character.relationships]
    events = [each for character in characters for each in character.events]
    dialogues = [each for character in characters for each in character.dialogues]
    lines = [said for dialogue in dialogues for _, said in dialogue.lines]
    questions = [each for character in characters for each in character.questions]
    anchors = sum(len(qa.anchors) for qa in questions)

    def words(texts: Sequence[str]) -> float:
        return _rounded_mean(sum(text_length(text, world.lang) for text in texts), len(texts))

    return {
        "characters": len(characters),
        "jobs": len({character.profile.get("Occupation", "") for character in characters} - {""}),
        "relationships": len(relationships),
        "relationship_categories": len({each.relationship for each in relationships}),
        "relationships_per_character": _rounded_mean(len(relationships), len(characters)),
        "topics": len({event.theme for event in events}),
        "events": len(events),
        "words_per_event": words([event.content for event in events]),
        "dialogues": len(dialogues),
        "utterances": len(lines),
        "words_per_utterance": words(lines),
        "questions": len(questions),
        "unanswerable": sum(qa.topic == "unanswerable" for qa in questions),
        "words_per_question": words([qa.question for qa in questions]),
        "words_per_answer": words([qa.answer for qa in questions]),
        "anchors": anchors,
        "anchors_per_question": _rounded_mean(anchors, len(questions)),
    }


def _rounded_mean(total: int, of: int) -> float:
    return round(total / of, 1) if of else 0.0


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
class TemplateVariety:
    """The most frequent template and its share of all sentences."""

    sentences: int
    templates: int
    commonest: str
    share: float


def memory_variety(world: World) -> TemplateVariety:
    """Variety of all memory texts: descriptions, relationships, events, dialogue lines."""
    return measure_variety(
        world, (text for character in world.characters for text in _memory_texts(character))
    )


def question_variety(world: World) -> TemplateVariety:
    """Variety of the questions in their first wording."""
    return measure_variety(
        world, (qa.question for character in world.characters for qa in character.questions)
    )


def wording_variety(world: World) -> TemplateVariety:
    """Variety of the questions in all wordings."""
    return measure_variety(
        world,
        (
            wording
            for character in world.characters
            for qa in character.questions
            for wording in (qa.question, *qa.again)
        ),
    )


def measure_variety(world: World, texts: Iterable[str]) -> TemplateVariety:
    """Variety of these texts."""
    names = _names_pattern(world)
    counts = Counter(mask_slots(sentence, names) for text in texts for sentence in split_sentences(text))
    if not counts:
        return TemplateVariety(0, 0, "", 0.0)
    template, count = counts.most_common(1)[0]
    total = counts.total()
    return TemplateVariety(total, len(counts), template, count / total)


def mask_slots(sentence: str, names: re.Pattern[str]) -> str:
    """Replace everything that varies by slot with a mark."""
    for pattern in (_QUOTED, names, _DATES, _NUMBERS, _CAPITALISED):
        sentence = pattern.sub("#", sentence)
    return _MASKS.sub("#", sentence).strip()


def _names_pattern(world: World) -> re.Pattern[str]:
    """Matches all names of the world, whole and in parts, longest first."""
    names: set[str] = set()
    for character in world.characters:
        for name in (character.name, *(each.name for each in character.relationships)):
            names.add(name)
            names.update(part for part in name.split() if len(part) > 2)
    longest = sorted(names, key=lambda name: (-len(name), name))
    return re.compile("|".join(re.escape(name) for name in longest))


def _memory_texts(character: Character) -> Iterator[str]:
    yield character.description
    yield from (each.description for each in character.relationships)
    yield from (each.content for each in character.events)
    for dialogue in character.dialogues:
        yield from (said for _, said in dialogue.lines)
