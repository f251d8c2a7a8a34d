"""Persona worlds by grammar (seed 004, steps 1-5): varied, bilingual, deterministic, without a model.

The steps are PerLTQA's own: seeds (the TOML tables of `en` and `zh`) -> profiles (`cast`) -> social
relationships (`ties`) -> events (`happenings`) -> dialogues (`talks`); then the questions (`asking`), whose
anchors are exact because `voice` notes where each slot was said. The same seed gives the same world in any
process.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

from thinkback_lab.errors import LabError
from thinkback_lab.worlds.grammar.asking import Asker
from thinkback_lab.worlds.grammar.cast import Names, lead
from thinkback_lab.worlds.grammar.content import Content, content
from thinkback_lab.worlds.grammar.happenings import happenings
from thinkback_lab.worlds.grammar.talks import talks
from thinkback_lab.worlds.grammar.ties import bonds
from thinkback_lab.worlds.grammar.voice import Voice
from thinkback_lab.worlds.world import Character, Dialogue, Event, Lang, Relationship, World

__all__ = ["Traced", "generate", "traced"]


@dataclass(frozen=True, slots=True)
class Traced:
    """A world, and how often each shape of sentence (slots unfilled) was used in it, by construction."""

    world: World
    sentences: Counter[str]
    questions: Counter[str]


def generate(characters: int, lang: Lang, seed: int) -> World:
    """A world of so many characters; the same arguments give the same world."""
    return traced(characters, lang, seed).world


def traced(characters: int, lang: Lang, seed: int) -> Traced:
    """The world together with the shapes of its sentences."""
    if characters < 1:
        raise LabError(f"a world needs at least one character, not {characters}")
    words = content(lang)
    voice = Voice(random.Random(f"{lang} {seed}"), words.tables, words.pools)  # noqa: S311 - not a secret
    names = Names(voice, words)
    seen: Counter[str] = Counter()
    cast = tuple(_character(voice, words, names, seen, number) for number in range(characters))
    return Traced(World(lang, cast), voice.shapes, voice.questions)


def _character(voice: Voice, words: Content, names: Names, seen: Counter[str], number: int) -> Character:
    who = lead(voice, words, names)
    known = bonds(voice, words, names, who, number)
    happened = happenings(voice, words, known, seen)
    talked = talks(voice, words, happened)
    questions = Asker(voice, words, who, known, happened, talked).all()
    return Character(
        number=number,
        name=who.person.full,
        profile=who.profile,
        description=who.description,
        relationships=tuple(
            Relationship(
                id=each.id, name=each.person.full, relationship=each.tie.word, description=each.passage.text
            )
            for each in known
        ),
        events=tuple(
            Event(
                id=each.id,
                content=each.passage.text,
                summary=each.summary,
                characters=(each.bond.id,),
                at=each.at,
                theme=each.scenario.theme,
            )
            for each in happened
        ),
        dialogues=tuple(
            Dialogue(id=each.id, event=each.happening.id, at=each.at, lines=each.lines) for each in talked
        ),
        questions=questions,
    )
