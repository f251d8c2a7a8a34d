"""One character of a world, written by a language model: seed 004's steps 2 to 5, and questions with marks.

A model writes memories, questions, answers and candidates for anchors, and scores each pair from 0 to 10.
Everything exact is computed here: ids, dates of dialogues, and where an anchor stands. A pair is accepted
with 10, kept for a person to look at with 7 to 9, and dropped below; the paper says both "7 to 9" and "below
6", which leaves 6 open.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from random import Random
from typing import Any

from thinkback_lab.errors import LabError
from thinkback_lab.prompts import one_line
from thinkback_lab.worlds import replies
from thinkback_lab.worlds.clerk import Clerk, Unusable
from thinkback_lab.worlds.dates import read as read_date
from thinkback_lab.worlds.seeds import ASSISTANT, POOLS
from thinkback_lab.worlds.world import QA, Anchor, Character, Dialogue, Event, Lang, Relationship, Section

ACCEPTED, LOOKED_AT = 10, 7


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much is asked for: of a character, of a relationship, of a memory."""

    relationships: int = 6
    events: int = 2
    fields: int = 6  # of the profile, asked about
    questions: int = 2  # about an event or a dialogue

    @property
    def steps(self) -> int:
        """What a model is asked for one character: memories, questions on them, anchors and marks."""
        told = self.relationships * self.events
        asked = self.fields + self.relationships + 2 * told
        pairs = self.fields + self.relationships + 2 * told * self.questions
        return 2 + self.relationships + told + asked + 2 * pairs


def to_look_at(name: str, qa: QA, **why: object) -> dict[str, Any]:
    """A pair as it stands in the review."""
    return {"character": name, **asdict(qa), **why}


@dataclass(slots=True)
class Biography:
    """One character, written step by step."""

    clerk: Clerk
    size: Size
    lang: Lang
    number: int
    name: str
    seed: int
    review: list[dict[str, Any]] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)

    def written(self) -> Character:
        """The whole of it. Without profile and relationships there is nobody: their failure is an error."""
        profile = self._profile(self._draw("profile"))
        relationships = self._relationships(profile.description)
        events = tuple(event for known in relationships for event in self._events(known, profile.description))
        dialogues = tuple(self._dialogues(events))
        character = Character(
            number=self.number,
            name=self.name,
            profile=profile.fields(self.name),
            description=profile.description,
            relationships=relationships,
            events=events,
            dialogues=dialogues,
            questions=(),
        )
        return replace(character, questions=tuple(self._questions(character)))

    def _draw(self, place: str) -> Random:
        """Dice of its own for each step: one that fails changes nothing for the others."""
        return Random(f"{self.seed} {self.number} {place}")  # noqa: S311 - no secret is drawn

    def _profile(self, draw: Random) -> replies.ProfileReply:
        pool = POOLS[self.lang]
        given = {
            "who": self.name,
            "occupation": draw.choice(pool.occupations),
            "hobbies": pool.joined.join(draw.sample(pool.hobbies, 2)),
            "education": draw.choice(pool.educations),
        }
        return self.clerk.ask("profile", replies.ProfileReply, given, max_tokens=900)

    def _relationships(self, description: str) -> tuple[Relationship, ...]:
        def objection(reply: replies.RelationshipsReply) -> str:
            named = [each.name for each in reply.relationships]
            if self.name in named:
                return f"{self.name} is there as an acquaintance of {self.name}"
            return "two people have one name" if len(set(named)) < len(named) else ""

        size = self.size
        variables = {
            "who": self.name,
            "description": one_line(description),
            "count": str(size.relationships),
        }
        told = self.clerk.ask(
            "relationships",
            replies.RelationshipsReply,
            variables,
            max_tokens=1200,
            most=size.relationships,
            objection=objection,
        )
        return tuple(
            Relationship(
                id=f"{self.number}_{count}",
                name=each.name,
                relationship=each.relationship,
                description=each.description,
            )
            for count, each in enumerate(told.relationships[: size.relationships])
        )

    def _events(self, known: Relationship, description: str) -> Iterator[Event]:
        def objection(reply: replies.EventsReply) -> str:
            wrong = [each.date for each in reply.events if read_date(each.date) is None]
            return f"{wrong[0]!r} is no date" if wrong else ""

        pool, count = POOLS[self.lang], self.size.events
        variables = {
            "who": self.name,
            "description": one_line(description),
            "other": known.name,
            "relationship": known.relationship,
            "about": one_line(known.description),
            "topics": pool.joined.join(self._draw(known.id).sample(pool.topics, 6)),
            "count": str(count),
        }
        try:
            told = self.clerk.ask(
                "events", replies.EventsReply, variables, max_tokens=1500, most=count, objection=objection
            )
        except Unusable as error:
            self._drop(known.id, error)
            return
        for place, each in enumerate(told.events[:count]):
            yield Event(
                id=f"{known.id}_{place}",
                content=each.detail,
                summary=each.summary,
                characters=(known.id,),
                at=_date(each.date),
                theme=each.topic,
            )

    def _dialogues(self, events: Sequence[Event]) -> Iterator[Dialogue]:
        assistant = ASSISTANT[self.lang]

        def objection(reply: replies.DialogueReply) -> str:
            strangers = {line.speaker for line in reply.lines} - {self.name, assistant}
            return f"{min(strangers)!r} speaks, who is not there" if strangers else ""

        for count, event in enumerate(events):
            draw = self._draw(event.id)
            later = event.at + timedelta(days=draw.randint(1, 20), hours=draw.randint(8, 20))
            variables = {
                "who": self.name,
                "assistant": assistant,
                "date": f"{event.at:%Y-%m-%d}",
                "later": f"{later:%Y-%m-%d}",
                "event": one_line(event.content),
            }
            try:
                told = self.clerk.ask(
                    "dialogue",
                    replies.DialogueReply,
                    variables,
                    max_tokens=1500,
                    most=10,
                    objection=objection,
                )
            except Unusable as error:
                self._drop(event.id, error)
                continue
            lines = tuple((line.speaker, one_line(line.text)) for line in told.lines)
            yield Dialogue(id=f"{event.id}#{count}", event=event.id, at=later, lines=lines)

    def _questions(self, character: Character) -> Iterator[QA]:
        size = self.size
        fields = [field for field in character.profile if field != "Protagonist"]
        picked = self._draw("fields").sample(fields, min(size.fields, len(fields)))
        asked: list[tuple[Section, str, int]] = [
            *(("profile", field, 1) for field in picked),
            *(("social_relationship", each.id, 1) for each in character.relationships),
            *(("events", each.id, size.questions) for each in character.events),
            *(("dialogues", each.id, size.questions) for each in character.dialogues),
        ]
        texts = character.texts()
        for section, reference, count in asked:
            memory = texts[reference]
            shown = f"{self.name}, {reference}: {memory}" if section == "profile" else memory
            try:
                variables = {"who": self.name, "memory": shown, "count": str(count)}
                told = self.clerk.ask(
                    "questions", replies.QuestionsReply, variables, max_tokens=700, most=count
                )
            except Unusable as error:
                self._drop(reference, error)
                continue
            for pair in told.items[:count]:
                yield from self._judged(section, reference, memory, shown, pair)

    def _judged(
        self, section: Section, reference: str, memory: str, shown: str, pair: replies.Pair
    ) -> Iterator[QA]:
        """The pair with its anchors, if it has any and is good enough."""
        variables = {"memory": one_line(shown), "question": pair.question, "answer": pair.answer}
        try:
            told = self.clerk.ask("anchors", replies.AnchorsReply, variables, max_tokens=200, most=4)
            mark = self.clerk.ask("score", replies.ScoreReply, variables, max_tokens=200)
        except Unusable as error:
            self._drop(reference, error)
            return
        anchors = tuple(_anchors(told.anchors, pair.answer, memory))
        qa = QA(
            section=section,
            question=pair.question,
            answer=pair.answer,
            references=(reference,),
            anchors=anchors,
        )
        if not anchors:
            self._drop(reference, f"no anchor of {pair.question!r} stands in answer and memory")
        elif mark.score >= ACCEPTED:
            yield qa
        elif mark.score >= LOOKED_AT:
            self.review.append(to_look_at(self.name, qa, score=mark.score, why=mark.reason))
        else:
            self._drop(reference, f"{pair.question!r} was scored {mark.score} ({mark.reason})")

    def _drop(self, place: str, why: object) -> None:
        self.dropped.append(f"{self.name}, {place}: {why}")


def _date(words: str) -> datetime:
    at = read_date(words)
    if at is None:
        raise LabError(f"{words!r} is no date")
    return at


def _anchors(candidates: Sequence[str], answer: str, memory: str) -> Iterator[Anchor]:
    """The candidates that stand in both, and where in the memory: never the model's word for it."""
    for text in dict.fromkeys(candidates):
        start = memory.find(text)
        if text in answer and start >= 0:
            yield Anchor(text, start, start + len(text))
