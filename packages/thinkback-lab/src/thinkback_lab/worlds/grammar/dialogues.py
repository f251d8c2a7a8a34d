"""Dialogues: the character talks about an event, and says a thing or two which the event's text does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from thinkback_lab.worlds.grammar.content import EventTemplate, Facet, GrammarContent
from thinkback_lab.worlds.grammar.events import GeneratedEvent
from thinkback_lab.worlds.grammar.templates import GeneratedText, TemplateEngine, TextBuilder
from thinkback_lab.worlds.world import Anchor

DIALOGUE_SHARE = 0.76  # of the events are talked about
ASSISTANT_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class GeneratedDialogue:
    """A dialogue with everything the questions need of it."""

    id: str
    event: GeneratedEvent
    at: datetime
    lines: tuple[tuple[str, str], ...]
    facets: tuple[Facet, ...]
    anchors: Mapping[str, Anchor]  # facet's name -> where its answer was said
    slots: Mapping[str, str]


def make_dialogues(
    engine: TemplateEngine, content: GrammarContent, happened: tuple[GeneratedEvent, ...]
) -> tuple[GeneratedDialogue, ...]:
    made: list[GeneratedDialogue] = []
    for each in happened:
        if engine.rng.random() < DIALOGUE_SHARE:
            made.append(_make_dialogue(engine, content, each, len(made)))
    return tuple(made)


def _make_dialogue(
    engine: TemplateEngine, content: GrammarContent, happening: GeneratedEvent, count: int
) -> GeneratedDialogue:
    slots = dict(happening.slots)
    if happening.relationship.namesake:
        slots["B"] = slots["Bfull"]  # there is another of that given name
    own = list(happening.template.later[:1])
    general = engine.rng.sample(
        suitable_facets(content, happening.template), 3 if engine.rng.random() < 0.25 else 2
    )
    facets = own + general[len(own) :]
    for facet in facets:
        for slot, options in facet.values.items():
            slots[slot] = engine.draw(f"later {facet.name} {slot}", options, slots)
    assistant = engine.rng.random() < ASSISTANT_SHARE
    kind = "ai" if assistant else "friend"
    partner = content.profile["assistant"][0] if assistant else slots["Bfull"]
    script = _make_script(engine, kind, "_hard" if happening.template.is_unpleasant else "", facets)
    lines, anchors = _fill_script(engine, content, slots, script, (slots["Afull"], partner))
    at = happening.at + timedelta(days=engine.rng.randint(1, 40), hours=engine.rng.randint(0, 3))
    return GeneratedDialogue(f"{happening.id}#{count}", happening, at, lines, tuple(facets), anchors, slots)


def suitable_facets(content: GrammarContent, scenario: EventTemplate) -> list[Facet]:
    """The general details that no sentence of the scenario could be taken for."""
    return [each for each in content.later if not each.clash & set(scenario.values)]


def _make_script(
    engine: TemplateEngine, kind: str, mood: str, facets: list[Facet]
) -> list[tuple[int, str, str]]:
    """(speaker, pattern, facet): the character is 0, the partner 1; they take turns."""
    script = [(0, f"{{+{kind}_open{mood}}}", ""), (1, f"{{+{kind}_reply}}", "")]
    if engine.rng.random() < 0.6:
        script += [(0, f"{{+{kind}_feel{mood}}}", ""), (1, f"{{+{kind}_echo}} ", "")]
    else:
        script.append((0, f"{{+{kind}_feel{mood}}}", ""))
    for facet in facets:
        lead = engine.pick(f"prompt {facet.name}", facet.prompt)
        if kind == "friend":  # they were there too: a reason why they ask
            lead = f"{{+friend_recall}} {lead}"
        if script[-1][0] == 1:
            who, pattern, _ = script.pop()
            script.append((who, f"{pattern}{lead}", ""))
        else:
            script.append((1, lead, ""))
        tail = " {+more}" if engine.rng.random() < 0.4 else ""
        script.append((0, engine.pick(f"say {facet.name}", facet.say) + tail, facet.name))
        if engine.rng.random() < 0.7:
            script.append((1, f"{{+{kind}_react}} ", ""))
    if script[-1][0] == 1:
        script += [(0, f"{{+{kind}_thanks}}", ""), (1, f"{{+{kind}_close}}", "")]
    else:
        script += [
            (1, f"{{+{kind}_react}}", ""),
            (0, f"{{+{kind}_thanks}}", ""),
            (1, f"{{+{kind}_close}}", ""),
        ]
    return script


def _fill_script(
    engine: TemplateEngine,
    content: GrammarContent,
    slots: Mapping[str, str],
    script: list[tuple[int, str, str]],
    speakers: tuple[str, str],
) -> tuple[tuple[tuple[str, str], ...], dict[str, Anchor]]:
    lines: list[tuple[str, str]] = []
    anchors: dict[str, Anchor] = {}
    offset = 0
    for who, pattern, facet in script:
        telling = TextBuilder(engine, slots, joint=content.sentence_separator)
        telling.say(pattern.strip() if content.lang == "en" else pattern.replace(" ", ""))
        passage = telling.passage()
        start = offset + len(speakers[who]) + 2
        if facet:
            anchors[facet] = _shift_anchor(passage, facet, start)
        lines.append((speakers[who], passage.text))
        offset = start + len(passage.text) + 1
    return tuple(lines), anchors


def _shift_anchor(passage: GeneratedText, slot: str, start: int) -> Anchor:
    """The anchor as it stands in the whole dialogue: `speaker: said` lines, one below the other."""
    found = passage.anchor(slot)
    return Anchor(found.text, found.start + start, found.end + start)
