"""Events: what happened between a character and the people they know, when, and in which words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from thinkback_lab.worlds.grammar.content import EventTemplate, GrammarContent
from thinkback_lab.worlds.grammar.people import CURRENT_YEAR
from thinkback_lab.worlds.grammar.relationships import FIRST_EVENT_YEAR, GeneratedRelationship
from thinkback_lab.worlds.grammar.templates import GeneratedText, TemplateEngine, TextBuilder

CHANGING_FACTS = 2  # facts that change in a life
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
    """An event with everything the later steps need of it."""

    id: str
    relationship: GeneratedRelationship
    template: EventTemplate
    slots: Mapping[str, str]
    passage: GeneratedText
    summary: str
    at: datetime
    twin: bool  # the same circumstance exists with somebody else


class EventPlanner:
    """Which scenario happens with whom: no two of a kind with one person, the rarest kinds first."""

    def __init__(
        self,
        engine: TemplateEngine,
        content: GrammarContent,
        bonds: tuple[GeneratedRelationship, ...],
        seen: Counter[str],
    ) -> None:
        self._engine = engine
        self._content = content
        self._seen = seen
        self.left = {bond.id: engine.rng.randint(2, 3) for bond in bonds}
        self.chosen: list[tuple[GeneratedRelationship, EventTemplate]] = []
        self._chains(bonds)
        self._twins(bonds)
        for bond in bonds:
            while self.left[bond.id] > 0 and self._next(bond):
                pass

    def _chains(self, bonds: tuple[GeneratedRelationship, ...]) -> None:
        """Facts that change: an older and a newer event each, with whoever has room for them."""
        chains = sorted({each.chain for each in self._content.scenarios if each.chain})
        for chain in self._engine.rng.sample(chains, CHANGING_FACTS):
            steps = [each for each in self._content.scenarios if each.chain == chain]
            older, newer = sorted(steps, key=lambda each: each.step)
            for first in self._shuffled(self._suited(older, bonds)):
                left = [
                    each for each in self._suited(newer, bonds) if each != first or self.left[each.id] > 1
                ]
                if left:
                    self._take(first, older)
                    self._take(self._engine.rng.choice(left), newer)
                    break

    def _shuffled(self, bonds: list[GeneratedRelationship]) -> list[GeneratedRelationship]:
        return self._engine.rng.sample(bonds, len(bonds))

    def _twins(self, bonds: tuple[GeneratedRelationship, ...]) -> None:
        """One circumstance twice, with two people: only the detail tells which is meant."""
        both = [
            each for each in self._content.scenarios if not each.chain and len(self._suited(each, bonds)) > 1
        ]
        if both:
            scenario = self._engine.rng.choice(both)
            for bond in self._engine.rng.sample(self._suited(scenario, bonds), 2):
                self._take(bond, scenario)

    def _suited(
        self, scenario: EventTemplate, bonds: tuple[GeneratedRelationship, ...]
    ) -> list[GeneratedRelationship]:
        return [
            each
            for each in bonds
            if scenario.groups & each.relationship_type.groups and self.left[each.id] > 0
        ]

    def _next(self, bond: GeneratedRelationship) -> bool:
        used = Counter(scenario.id for _, scenario in self.chosen)
        mine = {scenario.id for taken, scenario in self.chosen if taken.id == bond.id}
        free = [
            each
            for each in self._content.scenarios
            if not each.chain and each.groups & bond.relationship_type.groups and each.id not in mine
        ]
        if not free:
            return False
        self._engine.rng.shuffle(free)
        self._take(bond, min(free, key=lambda each: (used[each.id], self._seen[each.id])))
        return True

    def _take(self, bond: GeneratedRelationship, scenario: EventTemplate) -> None:
        self.left[bond.id] -= 1
        self._seen[scenario.id] += 1
        self.chosen.append((bond, scenario))


def make_events(
    engine: TemplateEngine,
    content: GrammarContent,
    bonds: tuple[GeneratedRelationship, ...],
    seen: Counter[str],
) -> tuple[GeneratedEvent, ...]:
    """Two or three events for each relationship; `seen` counts the scenarios over the whole world."""
    plan = EventPlanner(engine, content, bonds, seen)
    kinds = Counter(scenario.id for _, scenario in plan.chosen)
    days: set[datetime] = set()
    facts: dict[str, str] = {}
    made = []
    for bond, scenario in plan.chosen:
        at = _draw_date(engine, content, bond, scenario, days)
        made.append(_make_event(engine, content, bond, scenario, at, facts, kinds[scenario.id] > 1))
    return _number_events(made)


def _number_events(made: list[GeneratedEvent]) -> tuple[GeneratedEvent, ...]:
    """By relationship, then by date: the last number of an id counts the events with one person."""
    order = sorted(made, key=lambda each: (int(each.relationship.id.split("_")[1]), each.at))
    counts: Counter[str] = Counter()
    numbered = []
    for each in order:
        numbered.append(replace(each, id=f"{each.relationship.id}_{counts[each.relationship.id]}"))
        counts[each.relationship.id] += 1
    return tuple(numbered)


def _draw_date(
    engine: TemplateEngine,
    content: GrammarContent,
    bond: GeneratedRelationship,
    scenario: EventTemplate,
    days: set[datetime],
) -> datetime:
    """A day nothing else of this life happened on; the older state of a changing fact before the newer."""
    first = max(FIRST_EVENT_YEAR, CURRENT_YEAR - 2 if bond.person.age < 16 else 0)
    years = range(first, CURRENT_YEAR + 1)
    if scenario.chain:
        years = range(2020, 2022) if scenario.step == 1 else range(2023, CURRENT_YEAR + 1)
    while True:
        if scenario.festival:
            day = datetime.fromisoformat(engine.rng.choice(content.festivals[scenario.festival]))
            if day.year < first:
                continue
        else:
            day = datetime(
                engine.rng.choice(years), engine.rng.choice(scenario.months), engine.rng.randint(1, 28)
            )
        if day not in days or scenario.festival:
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


def draw_slots(engine: TemplateEngine, scenario: EventTemplate, slots: dict[str, str]) -> dict[str, str]:
    """The slots with the scenario's values drawn, and its short descriptions filled."""
    slots = dict(slots)
    for slot, options in scenario.values.items():
        slots[slot] = engine.draw(f"{scenario.id} {slot}", options, slots)
    slots["did"] = engine.value(engine.pick(f"{scenario.id} did", scenario.did), slots)
    slots["what"] = engine.value(engine.pick(f"{scenario.id} what", scenario.what), slots)
    return slots


def _is_brief(content: GrammarContent, text: str) -> bool:
    """Table 8 of the seed: a brief narrative is an error."""
    return (
        len(text.split()) < 80 if content.lang == "en" else sum("一" <= each <= "鿿" for each in text) < 122
    )


def _make_event(
    engine: TemplateEngine,
    content: GrammarContent,
    bond: GeneratedRelationship,
    scenario: EventTemplate,
    at: datetime,
    facts: dict[str, str],
    twin: bool,
) -> GeneratedEvent:
    slots = {**bond.slots, **date_slots(content, at)}
    drawn = draw_slots(engine, scenario, slots)
    while scenario.chain and drawn["fact"] == facts.get(scenario.chain):
        drawn = draw_slots(engine, scenario, slots)
    if scenario.chain:
        facts[scenario.chain] = drawn["fact"]
    introduced = "{whose} {rel} {Bfull}" if content.lang == "en" else "{rel}{Bfull}"
    telling = TextBuilder(engine, drawn, {"A": "{Afull}", "B": introduced}, content.sentence_separator)
    stages = [engine.pick(f"{scenario.id} {index}", stage) for index, stage in enumerate(scenario.tell)]
    stages.insert(engine.rng.randint(1, 2), "{+aside}")
    for stage in stages:
        telling.say(stage)
    while _is_brief(content, telling.passage().text):
        telling.say("{+colour}")
    if not scenario.is_unpleasant and engine.rng.random() < 0.6:
        telling.say("{+closing}")
    summary = TextBuilder(engine, drawn, {"A": "{Afull}", "B": "{Bfull}"}, content.sentence_separator)
    summary.expand(engine.shape("{+summary}"))
    return GeneratedEvent("", bond, scenario, drawn, telling.passage(), summary.passage().text, at, twin)
