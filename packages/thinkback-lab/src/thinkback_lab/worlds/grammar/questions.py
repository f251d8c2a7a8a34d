"""Questions with exact gold: each asks for a slot of which the text's position is known, or for nothing told.

An event question is a core ("how much did the parts cost") inside a wrapping that names the circumstance
("When {A} and {B} {did}, {core}?"); the person is always named, so that twins can be told apart.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from thinkback_lab.worlds.grammar.content import GrammarContent
from thinkback_lab.worlds.grammar.dialogues import GeneratedDialogue, suitable_facets
from thinkback_lab.worlds.grammar.events import GeneratedEvent, date_slots, draw_slots
from thinkback_lab.worlds.grammar.people import Protagonist
from thinkback_lab.worlds.grammar.relationships import GeneratedRelationship
from thinkback_lab.worlds.grammar.templates import TemplateEngine, TextBuilder
from thinkback_lab.worlds.world import QA, Anchor, Section

UNANSWERABLE_SHARE = 0.08
WORDINGS_PER_QUESTION = 3
LEAD_IN_SHARE = 0.15  # questions of all kinds that begin with a phrase such as "by the way"
FULL_NAMES = {"A": "{Afull}", "B": "{Bfull}"}


@dataclass
class QuestionGenerator:
    """Collects the questions about one character."""

    engine: TemplateEngine
    content: GrammarContent
    protagonist: Protagonist
    relationships: tuple[GeneratedRelationship, ...]
    events: tuple[GeneratedEvent, ...]
    dialogues: tuple[GeneratedDialogue, ...]
    questions: list[QA] = field(default_factory=list)

    def generate(self) -> tuple[QA, ...]:
        self._profile()
        for bond in self.relationships:
            self._relationship(bond)
        said = {talk.event.id: "\n".join(line for _, line in talk.lines) for talk in self.dialogues}
        for happening in self.events:
            self._event(happening, said.get(happening.id, ""))
            self._change(happening)
        for talk in self.dialogues:
            self._dialogue(talk)
        self._unanswerable()
        self.engine.rng.shuffle(self.questions)
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
            shape = self.engine.shape(self.engine.pick(f"ask {key}", patterns))
            if self.engine.rng.random() < LEAD_IN_SHARE:
                shape = self.engine.shape("{+lead}") + shape[0].lower() + shape[1:]
            wordings.setdefault(TextBuilder(self.engine, slots, FULL_NAMES).ask(shape))
            if len(wordings) == WORDINGS_PER_QUESTION:
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
        profile = self.protagonist.profile
        slots = self.relationships[0].slots
        fields = list(self.content.fields)
        self.engine.rng.shuffle(fields)
        for name in fields[: self.engine.rng.randint(8, len(fields))]:
            value = profile[name]
            anchor = Anchor(value, 0, len(value))
            self._put("profile", name, self.content.fields[name], slots, value, name, anchor, "plain")

    def _relationship(self, bond: GeneratedRelationship) -> None:
        topic = "confusable" if bond.namesake else "plain"
        for facet in self.engine.rng.sample(bond.told_facets, self.engine.rng.choice((1, 2, 2))):
            anchor = bond.passage.anchor(facet.name)
            key = f"{facet.name} {sorted(facet.groups)}"
            self._put("social_relationship", key, facet.ask, bond.slots, anchor.text, bond.id, anchor, topic)

    def _event(self, happening: GeneratedEvent, said: str) -> None:
        """One or two of the details told; none that the dialogue about the event tells as well."""
        scenario, spans = happening.template, happening.passage.spans
        told = [slot for slot in scenario.ask if slot in spans and happening.slots[slot] not in said]
        self.engine.rng.shuffle(told)
        picked = {
            slot: self._wrapped(scenario.ask[slot], "wrap_event")
            for slot in told[: self.engine.rng.choice((1, 1, 2))]
        }
        if self.engine.rng.random() < 0.3 or not picked:
            # With a twin, "who was there" has two answers; the date is asked with the person named.
            slot = "date" if happening.twin else self.engine.rng.choice(("date", "Bfull"))
            picked[slot] = self.content.pools["ask_date" if slot == "date" else "ask_who"]
        topic = "confusable" if happening.twin or happening.relationship.namesake else "plain"
        for slot, patterns in picked.items():
            anchor = happening.passage.anchor(slot)
            key = f"{scenario.id} {slot}" if slot in scenario.ask else slot
            self._put("events", key, patterns, happening.slots, anchor.text, happening.id, anchor, topic)

    def _wrapped(self, cores: Sequence[str], pool: str) -> Sequence[str]:
        return [wrap.replace("{core}", core) for wrap in self.content.pools[pool] for core in cores]

    def _change(self, happening: GeneratedEvent) -> None:
        """What holds now is asked of the newer event, what held before of the older one."""
        scenario = happening.template
        anchor = happening.passage.anchor("fact") if scenario.chain else None
        for topic, patterns in (("changed", scenario.now), ("past", scenario.past)):
            if patterns and anchor is not None:
                key = f"{scenario.chain} {topic}"
                self._put("events", key, patterns, happening.slots, anchor.text, happening.id, anchor, topic)

    def _dialogue(self, talk: GeneratedDialogue) -> None:
        told = talk.event.passage.text
        facets = [each for each in talk.facets if talk.slots[each.name] not in told]
        if not facets or self.engine.rng.random() < 0.25:
            return
        facet = self.engine.rng.choice(facets)
        anchor = talk.anchors[facet.name]
        topic = "confusable" if talk.event.twin or talk.event.relationship.namesake else "plain"
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
        wanted = round(len(self.questions) * UNANSWERABLE_SHARE / (1 - UNANSWERABLE_SHARE))
        kinds = [self._no_field, self._no_facet, self._no_event, self._no_detail]
        for index in range(wanted):
            kinds[(index + self.relationships[0].person.age) % len(kinds)]()

    def _unknown(self, section: Section, key: str, patterns: Sequence[str], slots: Mapping[str, str]) -> None:
        answer = TextBuilder(self.engine, slots, FULL_NAMES, self.content.sentence_separator)
        answer.expand(self.engine.shape("{+unknown}"))
        self._put(section, key, patterns, slots, answer.passage().text, "", None, "unanswerable")

    def _no_field(self) -> None:
        name = self.engine.pick("missing", [each.name for each in self.content.missing])
        facet = next(each for each in self.content.missing if each.name == name)
        self._unknown("profile", f"missing {name}", facet.ask, self.relationships[0].slots)

    def _no_facet(self) -> None:
        bond = self.engine.rng.choice(self.relationships)
        facet = self.engine.rng.choice(bond.untold_facets)
        key = f"{facet.name} {sorted(facet.groups)}"
        self._unknown("social_relationship", key, facet.ask, bond.slots)

    def _no_event(self) -> None:
        """A scenario that happened to others, as if it had happened here."""
        bond = self.engine.rng.choice(self.relationships)
        happened = {each.template.id for each in self.events}
        free = [
            each
            for each in self.content.scenarios
            if not each.chain
            and not each.festival
            and each.id not in happened
            and each.groups & bond.relationship_type.groups
        ]
        if not free:
            self._no_field()
            return
        scenario = self.engine.rng.choice(free)
        slots = draw_slots(
            self.engine, scenario, {**bond.slots, **date_slots(self.content, self.events[0].at)}
        )
        slot = self.engine.rng.choice(sorted(scenario.ask))
        patterns = self._wrapped(scenario.ask[slot], "wrap_event")
        self._unknown("events", f"{scenario.id} {slot}", patterns, slots)

    def _no_detail(self) -> None:
        """A detail of dialogues, asked of an event about which nobody has talked."""
        talked = {talk.event.id for talk in self.dialogues}
        silent = [each for each in self.events if each.id not in talked]
        if not silent:
            self._no_facet()
            return
        happening = self.engine.rng.choice(silent)
        facet = self.engine.rng.choice(
            (*happening.template.later, *suitable_facets(self.content, happening.template))
        )
        patterns = self._wrapped(facet.ask, "wrap_talk")
        self._unknown("dialogues", f"later {facet.name}", patterns, happening.slots)
