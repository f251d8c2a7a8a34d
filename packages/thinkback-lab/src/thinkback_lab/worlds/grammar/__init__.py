"""Persona worlds by grammar (PerLTQA, steps 1 to 5): varied, bilingual, deterministic, without a model.

The steps are PerLTQA's: seeds (the TOML tables of `en` and `zh`), profiles (`people`), social relationships
(`relationships`), events (`events`), dialogues (`dialogues`), then questions (`questions`). Anchors are exact
because `templates` records the position of every filled slot.
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
    """A world, and how often each sentence template was used in it."""

    world: World
    sentences: Counter[str]
    questions: Counter[str]


def generate(characters: int, lang: Lang, seed: int) -> World:
    """Generate a world; the same arguments give the same world in any process."""
    return generate_traced(characters, lang, seed).world


def generate_traced(characters: int, lang: Lang, seed: int) -> TracedWorld:
    """Generate a world together with its template counts."""
    if characters < 1:
        raise LabError(f"a world needs at least one character, not {characters}")
    content_tables = load_content(lang)
    voice = TemplateEngine(random.Random(f"{lang} {seed}"), content_tables.tables, content_tables.pools)  # noqa: S311 - not a secret
    names = NameGenerator(voice, content_tables)
    template_uses: Counter[str] = Counter()
    cast = tuple(
        _make_character(voice, content_tables, names, template_uses, number) for number in range(characters)
    )
    return TracedWorld(World(lang, cast), voice.shapes, voice.questions)


def _make_character(
    engine: TemplateEngine,
    content: GrammarContent,
    names: NameGenerator,
    template_uses: Counter[str],
    number: int,
) -> Character:
    protagonist = make_protagonist(engine, content, names)
    relationships = make_relationships(engine, content, names, protagonist, number)
    events = make_events(engine, content, relationships, template_uses)
    dialogues = make_dialogues(engine, content, events)
    questions = QuestionGenerator(engine, content, protagonist, relationships, events, dialogues).generate()
    return Character(
        number=number,
        name=protagonist.person.full,
        profile=protagonist.profile,
        description=protagonist.description,
        relationships=tuple(
            Relationship(
                id=each.id,
                name=each.person.full,
                relationship=each.relationship_type.word,
                description=each.passage.text,
            )
            for each in relationships
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
            for each in events
        ),
        dialogues=tuple(
            Dialogue(id=each.id, event=each.event.id, at=each.at, lines=each.lines) for each in dialogues
        ),
        questions=questions,
    )
