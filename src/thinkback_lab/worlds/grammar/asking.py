"""Questions with exact gold: each asks for a slot of which the text's position is known, or for nothing told.

An event question is a core ("how much did the parts cost") inside a wrapping that names the circumstance
("When {A} and {B} {did}, {core}?"); the person is always named, so that twins can be told apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from thinkback_lab.worlds.grammar.cast import Lead
from thinkback_lab.worlds.grammar.content import Content
from thinkback_lab.worlds.grammar.happenings import Happening, date_slots, draw_slots
from thinkback_lab.worlds.grammar.talks import Talk, suited
from thinkback_lab.worlds.grammar.ties import Bond
from thinkback_lab.worlds.grammar.voice import Telling, Voice
from thinkback_lab.worlds.world import QA, Anchor, Section

UNANSWERABLE = 0.08
WORDINGS = 3
LED = 0.15  # questions of all kinds that begin with a phrase such as "by the way"
FULL = {"A": "{Afull}", "B": "{Bfull}"}


@dataclass
class Asker:
    """Collects the questions about one character."""

    voice: Voice
    content: Content
    lead: Lead
    bonds: tuple[Bond, ...]
    happened: tuple[Happening, ...]
    talked: tuple[Talk, ...]
    questions: list[QA] = field(default_factory=list)

    def all(self) -> tuple[QA, ...]:
        self._profile()
        for bond in self.bonds:
            self._relationship(bond)
        said = {talk.happening.id: "\n".join(line for _, line in talk.lines) for talk in self.talked}
        for happening in self.happened:
            self._event(happening, said.get(happening.id, ""))
            self._change(happening)
        for talk in self.talked:
            self._dialogue(talk)
        self._unanswerable()
        self.voice.rng.shuffle(self.questions)
        return tuple(self.questions)

    def _put(
        self,
        section: Section,
        key: str,
        patterns: Sequence[str],
        slots: Mapping[str, str],
        answer: str,
        reference: str,
        anchor: Anchor | None,
        topic: str,
    ) -> None:
        """One question in three wordings; a pattern that cannot give three gives what it can."""
        wordings: dict[str, None] = {}
        for _ in range(12):
            shape = self.voice.shape(self.voice.deal(f"ask {key}", patterns))
            if self.voice.rng.random() < LED:
                shape = self.voice.shape("{+lead}") + shape[0].lower() + shape[1:]
            wordings.setdefault(Telling(self.voice, slots, FULL).ask(shape))
            if len(wordings) == WORDINGS:
                break
        question, *again = wordings
        self.questions.append(
            QA(
                section=section,
                question=question,
                answer=answer,
                references=(reference,) if reference else (),
                anchors=(anchor,) if anchor else (),
                topic=topic,
                again=tuple(again),
            )
        )

    def _profile(self) -> None:
        profile = self.lead.profile
        slots = self.bonds[0].slots
        fields = list(self.content.fields)
        self.voice.rng.shuffle(fields)
        for name in fields[: self.voice.rng.randint(8, len(fields))]:
            value = profile[name]
            anchor = Anchor(value, 0, len(value))
            self._put("profile", name, self.content.fields[name], slots, value, name, anchor, "plain")

    def _relationship(self, bond: Bond) -> None:
        topic = "confusable" if bond.namesake else "plain"
        for facet in self.voice.rng.sample(bond.told, self.voice.rng.choice((1, 2, 2))):
            anchor = bond.passage.anchor(facet.name)
            key = f"{facet.name} {sorted(facet.groups)}"
            self._put("social_relationship", key, facet.ask, bond.slots, anchor.text, bond.id, anchor, topic)

    def _event(self, happening: Happening, said: str) -> None:
        """One or two of the details told; none that the dialogue about the event tells as well."""
        scenario, spans = happening.scenario, happening.passage.spans
        told = [slot for slot in scenario.ask if slot in spans and happening.slots[slot] not in said]
        self.voice.rng.shuffle(told)
        picked = {
            slot: self._wrapped(scenario.ask[slot], "wrap_event")
            for slot in told[: self.voice.rng.choice((1, 1, 2))]
        }
        if self.voice.rng.random() < 0.3 or not picked:
            # With a twin, "who was there" has two answers; the date is asked with the person named.
            slot = "date" if happening.twin else self.voice.rng.choice(("date", "Bfull"))
            picked[slot] = self.content.pools["ask_date" if slot == "date" else "ask_who"]
        topic = "confusable" if happening.twin or happening.bond.namesake else "plain"
        for slot, patterns in picked.items():
            anchor = happening.passage.anchor(slot)
            key = f"{scenario.id} {slot}" if slot in scenario.ask else slot
            self._put("events", key, patterns, happening.slots, anchor.text, happening.id, anchor, topic)

    def _wrapped(self, cores: Sequence[str], pool: str) -> Sequence[str]:
        return [wrap.replace("{core}", core) for wrap in self.content.pools[pool] for core in cores]

    def _change(self, happening: Happening) -> None:
        """What holds now is asked of the newer event, what held before of the older one."""
        scenario = happening.scenario
        anchor = happening.passage.anchor("fact") if scenario.chain else None
        for topic, patterns in (("changed", scenario.now), ("past", scenario.past)):
            if patterns and anchor is not None:
                key = f"{scenario.chain} {topic}"
                self._put("events", key, patterns, happening.slots, anchor.text, happening.id, anchor, topic)

    def _dialogue(self, talk: Talk) -> None:
        told = talk.happening.passage.text
        facets = [each for each in talk.facets if talk.slots[each.name] not in told]
        if not facets or self.voice.rng.random() < 0.25:
            return
        facet = self.voice.rng.choice(facets)
        anchor = talk.anchors[facet.name]
        topic = "confusable" if talk.happening.twin or talk.happening.bond.namesake else "plain"
        self._put(
            "dialogues",
            f"later {facet.name}",
            self._wrapped(facet.ask, "wrap_talk"),
            talk.slots,
            anchor.text,
            talk.id,
            anchor,
            topic,
        )

    def _unanswerable(self) -> None:
        """Questions in the same words about what was never told, taken in turns from four places."""
        wanted = round(len(self.questions) * UNANSWERABLE / (1 - UNANSWERABLE))
        kinds = [self._no_field, self._no_facet, self._no_event, self._no_detail]
        for index in range(wanted):
            kinds[(index + self.bonds[0].person.age) % len(kinds)]()

    def _unknown(self, section: Section, key: str, patterns: Sequence[str], slots: Mapping[str, str]) -> None:
        answer = Telling(self.voice, slots, FULL, self.content.joint)
        answer.expand(self.voice.shape("{+unknown}"))
        self._put(section, key, patterns, slots, answer.passage().text, "", None, "unanswerable")

    def _no_field(self) -> None:
        name = self.voice.deal("missing", [each.name for each in self.content.missing])
        facet = next(each for each in self.content.missing if each.name == name)
        self._unknown("profile", f"missing {name}", facet.ask, self.bonds[0].slots)

    def _no_facet(self) -> None:
        bond = self.voice.rng.choice(self.bonds)
        facet = self.voice.rng.choice(bond.untold)
        key = f"{facet.name} {sorted(facet.groups)}"
        self._unknown("social_relationship", key, facet.ask, bond.slots)

    def _no_event(self) -> None:
        """A scenario that happened to others, as if it had happened here."""
        bond = self.voice.rng.choice(self.bonds)
        happened = {each.scenario.id for each in self.happened}
        free = [
            each
            for each in self.content.scenarios
            if not each.chain
            and not each.festival
            and each.id not in happened
            and each.groups & bond.tie.groups
        ]
        if not free:
            self._no_field()
            return
        scenario = self.voice.rng.choice(free)
        slots = draw_slots(
            self.voice, scenario, {**bond.slots, **date_slots(self.content, self.happened[0].at)}
        )
        slot = self.voice.rng.choice(sorted(scenario.ask))
        patterns = self._wrapped(scenario.ask[slot], "wrap_event")
        self._unknown("events", f"{scenario.id} {slot}", patterns, slots)

    def _no_detail(self) -> None:
        """A detail of dialogues, asked of an event about which nobody has talked."""
        talked = {talk.happening.id for talk in self.talked}
        silent = [each for each in self.happened if each.id not in talked]
        if not silent:
            self._no_facet()
            return
        happening = self.voice.rng.choice(silent)
        facet = self.voice.rng.choice((*happening.scenario.later, *suited(self.content, happening.scenario)))
        patterns = self._wrapped(facet.ask, "wrap_talk")
        self._unknown("dialogues", f"later {facet.name}", patterns, happening.slots)
