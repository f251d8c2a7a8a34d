"""Dialogues: the character talks about an event, and says a thing or two which the event's text does not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from thinkback_lab.worlds.grammar.content import Content, Facet, Scenario
from thinkback_lab.worlds.grammar.happenings import Happening
from thinkback_lab.worlds.grammar.voice import Passage, Telling, Voice
from thinkback_lab.worlds.world import Anchor

SHARE = 0.76  # of the events are talked about
WITH_ASSISTANT = 0.6


@dataclass(frozen=True, slots=True)
class Talk:
    """A dialogue with everything the questions need of it."""

    id: str
    happening: Happening
    at: datetime
    lines: tuple[tuple[str, str], ...]
    facets: tuple[Facet, ...]
    anchors: Mapping[str, Anchor]  # facet's name -> where its answer was said
    slots: Mapping[str, str]


def talks(voice: Voice, content: Content, happened: tuple[Happening, ...]) -> tuple[Talk, ...]:
    made: list[Talk] = []
    for each in happened:
        if voice.rng.random() < SHARE:
            made.append(_talk(voice, content, each, len(made)))
    return tuple(made)


def _talk(voice: Voice, content: Content, happening: Happening, count: int) -> Talk:
    slots = dict(happening.slots)
    if happening.bond.namesake:
        slots["B"] = slots["Bfull"]  # there is another of that given name
    own = list(happening.scenario.later[:1])
    general = voice.rng.sample(suited(content, happening.scenario), 3 if voice.rng.random() < 0.25 else 2)
    facets = own + general[len(own) :]
    for facet in facets:
        for slot, options in facet.values.items():
            slots[slot] = voice.draw(f"later {facet.name} {slot}", options, slots)
    assistant = voice.rng.random() < WITH_ASSISTANT
    kind = "ai" if assistant else "friend"
    partner = content.profile["assistant"][0] if assistant else slots["Bfull"]
    script = _script(voice, kind, "_hard" if happening.scenario.hard else "", facets)
    lines, anchors = _speak(voice, content, slots, script, (slots["Afull"], partner))
    at = happening.at + timedelta(days=voice.rng.randint(1, 40), hours=voice.rng.randint(0, 3))
    return Talk(f"{happening.id}#{count}", happening, at, lines, tuple(facets), anchors, slots)


def suited(content: Content, scenario: Scenario) -> list[Facet]:
    """The general details that no sentence of the scenario could be taken for."""
    return [each for each in content.later if not each.clash & set(scenario.values)]


def _script(voice: Voice, kind: str, mood: str, facets: list[Facet]) -> list[tuple[int, str, str]]:
    """(speaker, pattern, facet): the character is 0, the partner 1; they take turns."""
    script = [(0, f"{{+{kind}_open{mood}}}", ""), (1, f"{{+{kind}_reply}}", "")]
    if voice.rng.random() < 0.6:
        script += [(0, f"{{+{kind}_feel{mood}}}", ""), (1, f"{{+{kind}_echo}} ", "")]
    else:
        script.append((0, f"{{+{kind}_feel{mood}}}", ""))
    for facet in facets:
        lead = voice.deal(f"prompt {facet.name}", facet.prompt)
        if kind == "friend":  # they were there too: a reason why they ask
            lead = f"{{+friend_recall}} {lead}"
        if script[-1][0] == 1:
            who, pattern, _ = script.pop()
            script.append((who, f"{pattern}{lead}", ""))
        else:
            script.append((1, lead, ""))
        tail = " {+more}" if voice.rng.random() < 0.4 else ""
        script.append((0, voice.deal(f"say {facet.name}", facet.say) + tail, facet.name))
        if voice.rng.random() < 0.7:
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


def _speak(
    voice: Voice,
    content: Content,
    slots: Mapping[str, str],
    script: list[tuple[int, str, str]],
    speakers: tuple[str, str],
) -> tuple[tuple[tuple[str, str], ...], dict[str, Anchor]]:
    lines: list[tuple[str, str]] = []
    anchors: dict[str, Anchor] = {}
    offset = 0
    for who, pattern, facet in script:
        telling = Telling(voice, slots, joint=content.joint)
        telling.say(pattern.strip() if content.lang == "en" else pattern.replace(" ", ""))
        passage = telling.passage()
        start = offset + len(speakers[who]) + 2
        if facet:
            anchors[facet] = _moved(passage, facet, start)
        lines.append((speakers[who], passage.text))
        offset = start + len(passage.text) + 1
    return tuple(lines), anchors


def _moved(passage: Passage, slot: str, start: int) -> Anchor:
    """The anchor as it stands in the whole dialogue: `speaker: said` lines, one below the other."""
    found = passage.anchor(slot)
    return Anchor(found.text, found.start + start, found.end + start)
