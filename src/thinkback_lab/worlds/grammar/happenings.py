"""Events: what happened between a character and the people they know, when, and in which words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from thinkback_lab.worlds.grammar.cast import TODAY
from thinkback_lab.worlds.grammar.content import Content, Scenario
from thinkback_lab.worlds.grammar.ties import EVENTS_FROM, Bond
from thinkback_lab.worlds.grammar.voice import Passage, Telling, Voice

CHAINS = 2  # facts that change in a life
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
class Happening:
    """An event with everything the later steps need of it."""

    id: str
    bond: Bond
    scenario: Scenario
    slots: Mapping[str, str]
    passage: Passage
    summary: str
    at: datetime
    twin: bool  # the same circumstance exists with somebody else


class Plan:
    """Which scenario happens with whom: no two of a kind with one person, the rarest kinds first."""

    def __init__(self, voice: Voice, content: Content, bonds: tuple[Bond, ...], seen: Counter[str]) -> None:
        self._voice = voice
        self._content = content
        self._seen = seen
        self.left = {bond.id: voice.rng.randint(2, 3) for bond in bonds}
        self.chosen: list[tuple[Bond, Scenario]] = []
        self._chains(bonds)
        self._twins(bonds)
        for bond in bonds:
            while self.left[bond.id] > 0 and self._next(bond):
                pass

    def _chains(self, bonds: tuple[Bond, ...]) -> None:
        """Facts that change: an older and a newer event each, with whoever has room for them."""
        chains = sorted({each.chain for each in self._content.scenarios if each.chain})
        for chain in self._voice.rng.sample(chains, CHAINS):
            steps = [each for each in self._content.scenarios if each.chain == chain]
            older, newer = sorted(steps, key=lambda each: each.step)
            for first in self._shuffled(self._suited(older, bonds)):
                left = [
                    each for each in self._suited(newer, bonds) if each != first or self.left[each.id] > 1
                ]
                if left:
                    self._take(first, older)
                    self._take(self._voice.rng.choice(left), newer)
                    break

    def _shuffled(self, bonds: list[Bond]) -> list[Bond]:
        return self._voice.rng.sample(bonds, len(bonds))

    def _twins(self, bonds: tuple[Bond, ...]) -> None:
        """One circumstance twice, with two people: only the detail tells which is meant."""
        both = [
            each for each in self._content.scenarios if not each.chain and len(self._suited(each, bonds)) > 1
        ]
        if both:
            scenario = self._voice.rng.choice(both)
            for bond in self._voice.rng.sample(self._suited(scenario, bonds), 2):
                self._take(bond, scenario)

    def _suited(self, scenario: Scenario, bonds: tuple[Bond, ...]) -> list[Bond]:
        return [each for each in bonds if scenario.groups & each.tie.groups and self.left[each.id] > 0]

    def _next(self, bond: Bond) -> bool:
        used = Counter(scenario.id for _, scenario in self.chosen)
        mine = {scenario.id for taken, scenario in self.chosen if taken.id == bond.id}
        free = [
            each
            for each in self._content.scenarios
            if not each.chain and each.groups & bond.tie.groups and each.id not in mine
        ]
        if not free:
            return False
        self._voice.rng.shuffle(free)
        self._take(bond, min(free, key=lambda each: (used[each.id], self._seen[each.id])))
        return True

    def _take(self, bond: Bond, scenario: Scenario) -> None:
        self.left[bond.id] -= 1
        self._seen[scenario.id] += 1
        self.chosen.append((bond, scenario))


def happenings(
    voice: Voice, content: Content, bonds: tuple[Bond, ...], seen: Counter[str]
) -> tuple[Happening, ...]:
    """Two or three events for each relationship; `seen` counts the scenarios over the whole world."""
    plan = Plan(voice, content, bonds, seen)
    kinds = Counter(scenario.id for _, scenario in plan.chosen)
    days: set[datetime] = set()
    facts: dict[str, str] = {}
    made = []
    for bond, scenario in plan.chosen:
        at = _date(voice, content, bond, scenario, days)
        made.append(_happen(voice, content, bond, scenario, at, facts, kinds[scenario.id] > 1))
    return _numbered(made)


def _numbered(made: list[Happening]) -> tuple[Happening, ...]:
    """By relationship, then by date: the last number of an id counts the events with one person."""
    order = sorted(made, key=lambda each: (int(each.bond.id.split("_")[1]), each.at))
    counts: Counter[str] = Counter()
    numbered = []
    for each in order:
        numbered.append(replace(each, id=f"{each.bond.id}_{counts[each.bond.id]}"))
        counts[each.bond.id] += 1
    return tuple(numbered)


def _date(voice: Voice, content: Content, bond: Bond, scenario: Scenario, days: set[datetime]) -> datetime:
    """A day nothing else of this life happened on; the older state of a changing fact before the newer."""
    first = max(EVENTS_FROM, TODAY - 2 if bond.person.age < 16 else 0)
    years = range(first, TODAY + 1)
    if scenario.chain:
        years = range(2020, 2022) if scenario.step == 1 else range(2023, TODAY + 1)
    while True:
        if scenario.festival:
            day = datetime.fromisoformat(voice.rng.choice(content.festivals[scenario.festival]))
            if day.year < first:
                continue
        else:
            day = datetime(
                voice.rng.choice(years), voice.rng.choice(scenario.months), voice.rng.randint(1, 28)
            )
        if day not in days or scenario.festival:
            days.add(day)
            return day + timedelta(hours=voice.rng.randint(7, 20), minutes=voice.rng.choice((0, 15, 30, 45)))


def date_slots(content: Content, at: datetime) -> dict[str, str]:
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


def draw_slots(voice: Voice, scenario: Scenario, slots: dict[str, str]) -> dict[str, str]:
    """The slots with the scenario's values drawn, and its short descriptions filled."""
    slots = dict(slots)
    for slot, options in scenario.values.items():
        slots[slot] = voice.draw(f"{scenario.id} {slot}", options, slots)
    slots["did"] = voice.value(voice.deal(f"{scenario.id} did", scenario.did), slots)
    slots["what"] = voice.value(voice.deal(f"{scenario.id} what", scenario.what), slots)
    return slots


def _brief(content: Content, text: str) -> bool:
    """Table 8 of the seed: a brief narrative is an error."""
    return (
        len(text.split()) < 80 if content.lang == "en" else sum("一" <= each <= "鿿" for each in text) < 122
    )


def _happen(
    voice: Voice,
    content: Content,
    bond: Bond,
    scenario: Scenario,
    at: datetime,
    facts: dict[str, str],
    twin: bool,
) -> Happening:
    slots = {**bond.slots, **date_slots(content, at)}
    drawn = draw_slots(voice, scenario, slots)
    while scenario.chain and drawn["fact"] == facts.get(scenario.chain):
        drawn = draw_slots(voice, scenario, slots)
    if scenario.chain:
        facts[scenario.chain] = drawn["fact"]
    introduced = "{whose} {rel} {Bfull}" if content.lang == "en" else "{rel}{Bfull}"
    telling = Telling(voice, drawn, {"A": "{Afull}", "B": introduced}, content.joint)
    stages = [voice.deal(f"{scenario.id} {index}", stage) for index, stage in enumerate(scenario.tell)]
    stages.insert(voice.rng.randint(1, 2), "{+aside}")
    for stage in stages:
        telling.say(stage)
    while _brief(content, telling.passage().text):
        telling.say("{+colour}")
    if not scenario.hard and voice.rng.random() < 0.6:
        telling.say("{+closing}")
    summary = Telling(voice, drawn, {"A": "{Afull}", "B": "{Bfull}"}, content.joint)
    summary.expand(voice.shape("{+summary}"))
    return Happening("", bond, scenario, drawn, telling.passage(), summary.passage().text, at, twin)
