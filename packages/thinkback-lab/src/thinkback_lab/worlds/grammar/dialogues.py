"""Dialogues: the character talks about an event and mentions details that are not in the event's text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from thinkback_lab.worlds.grammar.content import EventTemplate, Facet, GrammarContent
from thinkback_lab.worlds.grammar.events import GeneratedEvent
from thinkback_lab.worlds.grammar.templates import GeneratedText, TemplateEngine, TextBuilder
from thinkback_lab.worlds.world import Anchor

DIALOGUE_SHARE = 0.76  # of the events
ASSISTANT_SHARE = 0.6


@dataclass(frozen=True, slots=True)
class GeneratedDialogue:
    """A dialogue with everything the questions need."""

    id: str
    event: GeneratedEvent
    at: datetime
    lines: tuple[tuple[str, str], ...]
    facets: tuple[Facet, ...]
    anchors: Mapping[str, Anchor]  # name of the facet -> position of its answer
    slots: Mapping[str, str]


def make_dialogues(
    engine: TemplateEngine, content: GrammarContent, events: tuple[GeneratedEvent, ...]
) -> tuple[GeneratedDialogue, ...]:
    dialogues: list[GeneratedDialogue] = []
    for event in events:
        if engine.rng.random() < DIALOGUE_SHARE:
            dialogues.append(_make_dialogue(engine, content, event, len(dialogues)))
    return tuple(dialogues)


def _make_dialogue(
    engine: TemplateEngine, content: GrammarContent, event: GeneratedEvent, count: int
) -> GeneratedDialogue:
    slots = dict(event.slots)
    if event.relationship.namesake:
        slots["B"] = slots["Bfull"]  # another person has the same given name
    own = list(event.template.later[:1])
    general = engine.rng.sample(
        suitable_facets(content, event.template), 3 if engine.rng.random() < 0.25 else 2
    )
    facets = own + general[len(own) :]
    for facet in facets:
        for slot, options in facet.values.items():
            slots[slot] = engine.draw(f"later {facet.name} {slot}", options, slots)
    assistant = engine.rng.random() < ASSISTANT_SHARE
    kind = "ai" if assistant else "friend"
    partner = content.profile["assistant"][0] if assistant else slots["Bfull"]
    script = _make_script(engine, kind, "_hard" if event.template.is_unpleasant else "", facets)
    lines, anchors = _fill_script(engine, content, slots, script, (slots["Afull"], partner))
    at = event.at + timedelta(days=engine.rng.randint(1, 40), hours=engine.rng.randint(0, 3))
    return GeneratedDialogue(f"{event.id}#{count}", event, at, lines, tuple(facets), anchors, slots)


def suitable_facets(content: GrammarContent, template: EventTemplate) -> list[Facet]:
    """General details that cannot be confused with a slot of the event template."""
    return [each for each in content.later if not each.clash & set(template.values)]


def _make_script(
    engine: TemplateEngine, kind: str, mood: str, facets: list[Facet]
) -> list[tuple[int, str, str]]:
    """(speaker, pattern, facet) per line; the character is 0, the partner 1, and they alternate."""
    script = [(0, f"{{+{kind}_open{mood}}}", ""), (1, f"{{+{kind}_reply}}", "")]
    if engine.rng.random() < 0.6:
        script += [(0, f"{{+{kind}_feel{mood}}}", ""), (1, f"{{+{kind}_echo}} ", "")]
    else:
        script.append((0, f"{{+{kind}_feel{mood}}}", ""))
    for facet in facets:
        opening = engine.pick(f"prompt {facet.name}", facet.prompt)
        if kind == "friend":  # the friend was there too and needs a reason to ask
            opening = f"{{+friend_recall}} {opening}"
        if script[-1][0] == 1:
            who, pattern, _ = script.pop()
            script.append((who, f"{pattern}{opening}", ""))
        else:
            script.append((1, opening, ""))
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
    """Shift an anchor to its position in the whole dialogue (`speaker: text` lines)."""
    anchor = passage.anchor(slot)
    return Anchor(anchor.text, anchor.start + start, anchor.end + start)
