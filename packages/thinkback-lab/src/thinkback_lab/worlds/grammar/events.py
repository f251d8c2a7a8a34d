"""Events between a character and the people they know: when they happened, and their texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from thinkback_lab.worlds.grammar.content import EventTemplate, GrammarContent
from thinkback_lab.worlds.grammar.people import CURRENT_YEAR
from thinkback_lab.worlds.grammar.relationships import FIRST_EVENT_YEAR, GeneratedRelationship
from thinkback_lab.worlds.grammar.templates import GeneratedText, TemplateEngine, TextBuilder

CHANGING_FACTS = 2  # per character
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
WEEKDAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


@dataclass(frozen=True, slots=True)
class GeneratedEvent:
    """An event with everything the later steps need."""

    id: str
    relationship: GeneratedRelationship
    template: EventTemplate
    slots: Mapping[str, str]
    passage: GeneratedText
    summary: str
    at: datetime
    twin: bool  # the same circumstances exist with another person


class EventPlanner:
    """Chooses event templates for relationships: none twice with one person, rare ones first."""

    def __init__(
        self,
        engine: TemplateEngine,
        content: GrammarContent,
        relationships: tuple[GeneratedRelationship, ...],
        template_uses: Counter[str],
    ) -> None:
        self._engine = engine
        self._content = content
        self._seen = template_uses
        self.left = {relationship.id: engine.rng.randint(2, 3) for relationship in relationships}
        self.chosen: list[tuple[GeneratedRelationship, EventTemplate]] = []
        self._chains(relationships)
        self._twins(relationships)
        for relationship in relationships:
            while self.left[relationship.id] > 0 and self._next(relationship):
                pass

    def _chains(self, relationships: tuple[GeneratedRelationship, ...]) -> None:
        """Changing facts: an older and a newer event each."""
        chains = sorted({each.chain for each in self._content.scenarios if each.chain})
        for chain in self._engine.rng.sample(chains, CHANGING_FACTS):
            steps = [each for each in self._content.scenarios if each.chain == chain]
            older, newer = sorted(steps, key=lambda each: each.step)
            for first in self._shuffled(self._suited(older, relationships)):
                left = [
                    each
                    for each in self._suited(newer, relationships)
                    if each != first or self.left[each.id] > 1
                ]
                if left:
                    self._take(first, older)
                    self._take(self._engine.rng.choice(left), newer)
                    break

    def _shuffled(self, relationships: list[GeneratedRelationship]) -> list[GeneratedRelationship]:
        return self._engine.rng.sample(relationships, len(relationships))

    def _twins(self, relationships: tuple[GeneratedRelationship, ...]) -> None:
        """Use one template twice, with two people, so that only details distinguish the events."""
        candidates = [
            each
            for each in self._content.scenarios
            if not each.chain and len(self._suited(each, relationships)) > 1
        ]
        if candidates:
            template = self._engine.rng.choice(candidates)
            for relationship in self._engine.rng.sample(self._suited(template, relationships), 2):
                self._take(relationship, template)

    def _suited(
        self, template: EventTemplate, relationships: tuple[GeneratedRelationship, ...]
    ) -> list[GeneratedRelationship]:
        return [
            each
            for each in relationships
            if template.groups & each.relationship_type.groups and self.left[each.id] > 0
        ]

    def _next(self, relationship: GeneratedRelationship) -> bool:
        used = Counter(scenario.id for _, scenario in self.chosen)
        own = {scenario.id for owner, scenario in self.chosen if owner.id == relationship.id}
        free = [
            each
            for each in self._content.scenarios
            if not each.chain and each.groups & relationship.relationship_type.groups and each.id not in own
        ]
        if not free:
            return False
        self._engine.rng.shuffle(free)
        self._take(relationship, min(free, key=lambda each: (used[each.id], self._seen[each.id])))
        return True

    def _take(self, relationship: GeneratedRelationship, template: EventTemplate) -> None:
        self.left[relationship.id] -= 1
        self._seen[template.id] += 1
        self.chosen.append((relationship, template))


def make_events(
    engine: TemplateEngine,
    content: GrammarContent,
    relationships: tuple[GeneratedRelationship, ...],
    template_uses: Counter[str],
) -> tuple[GeneratedEvent, ...]:
    """Two or three events per relationship; `seen` counts template use over the whole world."""
    planner = EventPlanner(engine, content, relationships, template_uses)
    kinds = Counter(template.id for _, template in planner.chosen)
    days: set[datetime] = set()
    facts: dict[str, str] = {}
    events = []
    for relationship, template in planner.chosen:
        at = _draw_date(engine, content, relationship, template, days)
        events.append(_make_event(engine, content, relationship, template, at, facts, kinds[template.id] > 1))
    return _number_events(events)


def _number_events(events: list[GeneratedEvent]) -> tuple[GeneratedEvent, ...]:
    """Number events by relationship and date; the last part of an id counts the events with one person."""
    order = sorted(events, key=lambda each: (int(each.relationship.id.split("_")[1]), each.at))
    counts: Counter[str] = Counter()
    numbered = []
    for each in order:
        numbered.append(replace(each, id=f"{each.relationship.id}_{counts[each.relationship.id]}"))
        counts[each.relationship.id] += 1
    return tuple(numbered)


def _draw_date(
    engine: TemplateEngine,
    content: GrammarContent,
    relationship: GeneratedRelationship,
    template: EventTemplate,
    days: set[datetime],
) -> datetime:
    """Draw a day without other events; the older state of a changing fact comes before the newer."""
    first = max(FIRST_EVENT_YEAR, CURRENT_YEAR - 2 if relationship.person.age < 16 else 0)
    years = range(first, CURRENT_YEAR + 1)
    if template.chain:
        years = range(2020, 2022) if template.step == 1 else range(2023, CURRENT_YEAR + 1)
    while True:
        if template.festival:
            day = datetime.fromisoformat(engine.rng.choice(content.festivals[template.festival]))
            if day.year < first:
                continue
        else:
            day = datetime(
                engine.rng.choice(years), engine.rng.choice(template.months), engine.rng.randint(1, 28)
            )
        if day not in days or template.festival:
            days.add(day)
            return day + timedelta(
                hours=engine.rng.randint(7, 20), minutes=engine.rng.choice((0, 15, 30, 45))
            )


def date_slots(content: GrammarContent, at: datetime) -> dict[str, str]:
    if content.lang == "en":
        return {
            "date": f"{at.day} {MONTHS[at.month - 1]} {at.year}",
            "month": MONTHS[at.month - 1],
            "weekday": WEEKDAYS[at.weekday()],
            "year": str(at.year),
        }
    return {
        "date": f"{at.year}年{at.month}月{at.day}日",
        "month": f"{at.month}月",
        "weekday": f"星期{'一二三四五六日'[at.weekday()]}",
        "year": f"{at.year}年",
    }


def draw_slots(engine: TemplateEngine, template: EventTemplate, slots: dict[str, str]) -> dict[str, str]:
    """Draw the template's values and fill its short descriptions."""
    slots = dict(slots)
    for slot, options in template.values.items():
        slots[slot] = engine.draw(f"{template.id} {slot}", options, slots)
    slots["did"] = engine.value(engine.pick(f"{template.id} did", template.did), slots)
    slots["what"] = engine.value(engine.pick(f"{template.id} what", template.what), slots)
    return slots


def _is_brief(content: GrammarContent, text: str) -> bool:
    """Whether a text is too short: PerLTQA's table 8 lists brief narratives as errors."""
    return (
        len(text.split()) < 80 if content.lang == "en" else sum("一" <= each <= "鿿" for each in text) < 122
    )


def _make_event(
    engine: TemplateEngine,
    content: GrammarContent,
    relationship: GeneratedRelationship,
    template: EventTemplate,
    at: datetime,
    facts: dict[str, str],
    twin: bool,
) -> GeneratedEvent:
    slots = {**relationship.slots, **date_slots(content, at)}
    filled = draw_slots(engine, template, slots)
    while template.chain and filled["fact"] == facts.get(template.chain):
        filled = draw_slots(engine, template, slots)
    if template.chain:
        facts[template.chain] = filled["fact"]
    introduced = "{whose} {rel} {Bfull}" if content.lang == "en" else "{rel}{Bfull}"
    builder = TextBuilder(engine, filled, {"A": "{Afull}", "B": introduced}, content.sentence_separator)
    stages = [engine.pick(f"{template.id} {index}", stage) for index, stage in enumerate(template.tell)]
    stages.insert(engine.rng.randint(1, 2), "{+aside}")
    for stage in stages:
        builder.say(stage)
    while _is_brief(content, builder.passage().text):
        builder.say("{+colour}")
    if not template.is_unpleasant and engine.rng.random() < 0.6:
        builder.say("{+closing}")
    summary = TextBuilder(engine, filled, {"A": "{Afull}", "B": "{Bfull}"}, content.sentence_separator)
    summary.expand(engine.shape("{+summary}"))
    return GeneratedEvent(
        "", relationship, template, filled, builder.passage(), summary.passage().text, at, twin
    )
