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
from thinkback_lab.worlds.grammar.content import GrammarContent, load_content
from thinkback_lab.worlds.grammar.dialogues import make_dialogues
from thinkback_lab.worlds.grammar.events import make_events
from thinkback_lab.worlds.grammar.people import NameGenerator, make_protagonist
from thinkback_lab.worlds.grammar.questions import QuestionGenerator
from thinkback_lab.worlds.grammar.relationships import make_relationships
from thinkback_lab.worlds.grammar.templates import TemplateEngine
from thinkback_lab.worlds.world import Character, Dialogue, Event, Lang, Relationship, World

__all__ = ["TracedWorld", "generate", "generate_traced"]


@dataclass(frozen=True, slots=True)
class TracedWorld:
    """A world, and how often each shape of sentence (slots unfilled) was used in it, by construction."""

    world: World
    sentences: Counter[str]
    questions: Counter[str]


def generate(characters: int, lang: Lang, seed: int) -> World:
    """A world of so many characters; the same arguments give the same world."""
    return generate_traced(characters, lang, seed).world


def generate_traced(characters: int, lang: Lang, seed: int) -> TracedWorld:
    """The world together with the shapes of its sentences."""
    if characters < 1:
        raise LabError(f"a world needs at least one character, not {characters}")
    words = load_content(lang)
    voice = TemplateEngine(random.Random(f"{lang} {seed}"), words.tables, words.pools)  # noqa: S311 - not a secret
    names = NameGenerator(voice, words)
    seen: Counter[str] = Counter()
    cast = tuple(_make_character(voice, words, names, seen, number) for number in range(characters))
    return TracedWorld(World(lang, cast), voice.shapes, voice.questions)


def _make_character(
    engine: TemplateEngine, words: GrammarContent, names: NameGenerator, seen: Counter[str], number: int
) -> Character:
    who = make_protagonist(engine, words, names)
    known = make_relationships(engine, words, names, who, number)
    happened = make_events(engine, words, known, seen)
    talked = make_dialogues(engine, words, happened)
    questions = QuestionGenerator(engine, words, who, known, happened, talked).generate()
    return Character(
        number=number,
        name=who.person.full,
        profile=who.profile,
        description=who.description,
        relationships=tuple(
            Relationship(
                id=each.id,
                name=each.person.full,
                relationship=each.relationship_type.word,
                description=each.passage.text,
            )
            for each in known
        ),
        events=tuple(
            Event(
                id=each.id,
                content=each.passage.text,
                summary=each.summary,
                characters=(each.relationship.id,),
                at=each.at,
                theme=each.template.theme,
            )
            for each in happened
        ),
        dialogues=tuple(
            Dialogue(id=each.id, event=each.event.id, at=each.at, lines=each.lines) for each in talked
        ),
        questions=questions,
    )
