"""Questions with exact gold: each asks for a slot whose text position is known, or for something never
mentioned.

An event question consists of a core ("how much did the parts cost") and a frame that names the circumstances
("When {A} and {B} {did}, {core}?"). The person is always named, so that twin events can be distinguished.
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
LEAD_IN_SHARE = 0.15  # share of questions that begin with a phrase such as "by the way"
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
        for relationship in self.relationships:
            self._relationship(relationship)
        dialogue_texts = {
            dialogue.event.id: "\n".join(line for _, line in dialogue.lines) for dialogue in self.dialogues
        }
        for event in self.events:
            self._event(event, dialogue_texts.get(event.id, ""))
            self._change(event)
        for dialogue in self.dialogues:
            self._dialogue(dialogue)
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
        """Add one question in up to three wordings."""
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

    def _relationship(self, relationship: GeneratedRelationship) -> None:
        topic = "confusable" if relationship.namesake else "plain"
        for facet in self.engine.rng.sample(relationship.told_facets, self.engine.rng.choice((1, 2, 2))):
            anchor = relationship.passage.anchor(facet.name)
            key = f"{facet.name} {sorted(facet.groups)}"
            self._put(
                "social_relationship",
                key,
                facet.ask,
                relationship.slots,
                anchor.text,
                relationship.id,
                anchor,
                topic,
            )

    def _event(self, event: GeneratedEvent, dialogue_text: str) -> None:
        """Ask for one or two details of an event that the dialogue about it does not mention."""
        template, spans = event.template, event.passage.spans
        stated = [slot for slot in template.ask if slot in spans and event.slots[slot] not in dialogue_text]
        self.engine.rng.shuffle(stated)
        picked = {
            slot: self._wrapped(template.ask[slot], "wrap_event")
            for slot in stated[: self.engine.rng.choice((1, 1, 2))]
        }
        if self.engine.rng.random() < 0.3 or not picked:
            # With a twin event, "who was there" has two answers; the date is asked with the person named.
            slot = "date" if event.twin else self.engine.rng.choice(("date", "Bfull"))
            picked[slot] = self.content.pools["ask_date" if slot == "date" else "ask_who"]
        topic = "confusable" if event.twin or event.relationship.namesake else "plain"
        for slot, patterns in picked.items():
            anchor = event.passage.anchor(slot)
            key = f"{template.id} {slot}" if slot in template.ask else slot
            self._put("events", key, patterns, event.slots, anchor.text, event.id, anchor, topic)

    def _wrapped(self, cores: Sequence[str], pool: str) -> Sequence[str]:
        return [wrap.replace("{core}", core) for wrap in self.content.pools[pool] for core in cores]

    def _change(self, event: GeneratedEvent) -> None:
        """Ask for the current value of a changing fact (newer event) and the former one (older event)."""
        template = event.template
        anchor = event.passage.anchor("fact") if template.chain else None
        for topic, patterns in (("changed", template.now), ("past", template.past)):
            if patterns and anchor is not None:
                key = f"{template.chain} {topic}"
                self._put("events", key, patterns, event.slots, anchor.text, event.id, anchor, topic)

    def _dialogue(self, dialogue: GeneratedDialogue) -> None:
        event_text = dialogue.event.passage.text
        facets = [each for each in dialogue.facets if dialogue.slots[each.name] not in event_text]
        if not facets or self.engine.rng.random() < 0.25:
            return
        facet = self.engine.rng.choice(facets)
        anchor = dialogue.anchors[facet.name]
        topic = "confusable" if dialogue.event.twin or dialogue.event.relationship.namesake else "plain"
        self._put(
            "dialogues",
            f"later {facet.name}",
            self._wrapped(facet.ask, "wrap_talk"),
            dialogue.slots,
            anchor.text,
            dialogue.id,
            anchor,
            topic,
        )

    def _unanswerable(self) -> None:
        """Add questions of the same forms about things never mentioned, from four sources in turn."""
        count = round(len(self.questions) * UNANSWERABLE_SHARE / (1 - UNANSWERABLE_SHARE))
        kinds = [self._no_field, self._no_facet, self._no_event, self._no_detail]
        for index in range(count):
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
        relationship = self.engine.rng.choice(self.relationships)
        facet = self.engine.rng.choice(relationship.untold_facets)
        key = f"{facet.name} {sorted(facet.groups)}"
        self._unknown("social_relationship", key, facet.ask, relationship.slots)

    def _no_event(self) -> None:
        """Ask about an event that happened to others, but not to this character."""
        relationship = self.engine.rng.choice(self.relationships)
        used = {each.template.id for each in self.events}
        free = [
            each
            for each in self.content.scenarios
            if not each.chain
            and not each.festival
            and each.id not in used
            and each.groups & relationship.relationship_type.groups
        ]
        if not free:
            self._no_field()
            return
        template = self.engine.rng.choice(free)
        slots = draw_slots(
            self.engine, template, {**relationship.slots, **date_slots(self.content, self.events[0].at)}
        )
        slot = self.engine.rng.choice(sorted(template.ask))
        patterns = self._wrapped(template.ask[slot], "wrap_event")
        self._unknown("events", f"{template.id} {slot}", patterns, slots)

    def _no_detail(self) -> None:
        """Ask for a dialogue detail of an event that has no dialogue."""
        discussed = {dialogue.event.id for dialogue in self.dialogues}
        undiscussed = [each for each in self.events if each.id not in discussed]
        if not undiscussed:
            self._no_facet()
            return
        event = self.engine.rng.choice(undiscussed)
        facet = self.engine.rng.choice(
            (*event.template.later, *suitable_facets(self.content, event.template))
        )
        patterns = self._wrapped(facet.ask, "wrap_talk")
        self._unknown("dialogues", f"later {facet.name}", patterns, event.slots)
