"""Persona worlds written by a language model (PerLTQA, steps 2 to 5, and questions with scores).

The model writes memories, questions, answers and anchor candidates, and scores each question-answer pair from
0 to 10. Ids, dialogue dates and anchor positions are computed here. Pairs with 10 are accepted, pairs with 7
to 9 go to review, others are dropped. (The paper says both "7 to 9" and "below 6", which leaves 6 open.)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

from thinkback import LLM
from thinkback_lab.errors import LabError
from thinkback_lab.progress import ProgressCallback, no_progress
from thinkback_lab.prompts import one_line
from thinkback_lab.worlds import llm_client
from thinkback_lab.worlds.dates import parse_date as read_date
from thinkback_lab.worlds.llm_client import LLMUsage, ReplyClient, UnusableReply
from thinkback_lab.worlds.llm_seeds import ASSISTANT_NAME, SEED_POOLS, draw_names, max_characters
from thinkback_lab.worlds.validation import check_questions, repair_world, world_names
from thinkback_lab.worlds.world import (
    QA,
    Anchor,
    Character,
    Dialogue,
    Event,
    Lang,
    Relationship,
    Section,
    World,
)

MIN_ACCEPTED_SCORE, MIN_REVIEW_SCORE = 10, 7


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldSize:
    """How much to generate per character, relationship and memory."""

    relationships: int = 6
    events: int = 2
    fields: int = 6  # profile fields to ask about
    questions: int = 2  # per event or dialogue

    @property
    def steps(self) -> int:
        """Number of requests for one character."""
        memories = self.relationships * self.events
        question_requests = self.fields + self.relationships + 2 * memories
        pairs = self.fields + self.relationships + 2 * memories * self.questions
        return 2 + self.relationships + memories + question_requests + 2 * pairs


def review_entry(name: str, qa: QA, **why: object) -> dict[str, Any]:
    """A question-answer pair as a review entry."""
    return {"character": name, **asdict(qa), **why}


@dataclass(slots=True)
class CharacterWriter:
    """Writes one character step by step."""

    clerk: ReplyClient
    size: WorldSize
    lang: Lang
    number: int
    name: str
    seed: int
    review: list[dict[str, Any]] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)

    def write(self) -> Character:
        """Write the character; raises if the profile or the relationships cannot be generated."""
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

    def _draw(self, step: str) -> Random:
        """A separate random generator per step, so that a failed step does not affect the others."""
        return Random(f"{self.seed} {self.number} {step}")  # noqa: S311 - no secret is drawn

    def _profile(self, draw: Random) -> llm_client.ProfileReply:
        pool = SEED_POOLS[self.lang]
        variables = {
            "who": self.name,
            "occupation": draw.choice(pool.occupations),
            "hobbies": pool.joined.join(draw.sample(pool.hobbies, 2)),
            "education": draw.choice(pool.educations),
        }
        return self.clerk.ask("profile", llm_client.ProfileReply, variables, max_tokens=900)

    def _relationships(self, description: str) -> tuple[Relationship, ...]:
        def objection(reply: llm_client.RelationshipsReply) -> str:
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
        reply_given = self.clerk.ask(
            "relationships",
            llm_client.RelationshipsReply,
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
            for count, each in enumerate(reply_given.relationships[: size.relationships])
        )

    def _events(self, relationship: Relationship, description: str) -> Iterator[Event]:
        def objection(reply: llm_client.EventsReply) -> str:
            wrong = [each.date for each in reply.events if read_date(each.date) is None]
            return f"{wrong[0]!r} is no date" if wrong else ""

        pool, count = SEED_POOLS[self.lang], self.size.events
        variables = {
            "who": self.name,
            "description": one_line(description),
            "other": relationship.name,
            "relationship": relationship.relationship,
            "about": one_line(relationship.description),
            "topics": pool.joined.join(self._draw(relationship.id).sample(pool.topics, 6)),
            "count": str(count),
        }
        try:
            reply_given = self.clerk.ask(
                "events", llm_client.EventsReply, variables, max_tokens=1500, most=count, objection=objection
            )
        except UnusableReply as error:
            self._drop(relationship.id, error)
            return
        for position, each in enumerate(reply_given.events[:count]):
            yield Event(
                id=f"{relationship.id}_{position}",
                content=each.detail,
                summary=each.summary,
                characters=(relationship.id,),
                at=_require_date(each.date),
                theme=each.topic,
            )

    def _dialogues(self, events: Sequence[Event]) -> Iterator[Dialogue]:
        assistant = ASSISTANT_NAME[self.lang]

        def objection(reply: llm_client.DialogueReply) -> str:
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
                reply_given = self.clerk.ask(
                    "dialogue",
                    llm_client.DialogueReply,
                    variables,
                    max_tokens=1500,
                    most=10,
                    objection=objection,
                )
            except UnusableReply as error:
                self._drop(event.id, error)
                continue
            lines = tuple((line.speaker, one_line(line.text)) for line in reply_given.lines)
            yield Dialogue(id=f"{event.id}#{count}", event=event.id, at=later, lines=lines)

    def _questions(self, character: Character) -> Iterator[QA]:
        size = self.size
        fields = [field for field in character.profile if field != "Protagonist"]
        picked = self._draw("fields").sample(fields, min(size.fields, len(fields)))
        requests: list[tuple[Section, str, int]] = [
            *(("profile", field, 1) for field in picked),
            *(("social_relationship", each.id, 1) for each in character.relationships),
            *(("events", each.id, size.questions) for each in character.events),
            *(("dialogues", each.id, size.questions) for each in character.dialogues),
        ]
        texts = character.texts()
        for section, reference, count in requests:
            memory = texts[reference]
            shown = f"{self.name}, {reference}: {memory}" if section == "profile" else memory
            try:
                variables = {"who": self.name, "memory": shown, "count": str(count)}
                reply_given = self.clerk.ask(
                    "questions", llm_client.QuestionsReply, variables, max_tokens=700, most=count
                )
            except UnusableReply as error:
                self._drop(reference, error)
                continue
            for pair in reply_given.items[:count]:
                yield from self._scored_question(section, reference, memory, shown, pair)

    def _scored_question(
        self, section: Section, reference: str, memory: str, shown: str, pair: llm_client.Pair
    ) -> Iterator[QA]:
        """Yield the pair with its anchors if it has any and its score is sufficient."""
        variables = {"memory": one_line(shown), "question": pair.question, "answer": pair.answer}
        try:
            candidates = self.clerk.ask("anchors", llm_client.AnchorsReply, variables, max_tokens=200, most=4)
            score_reply = self.clerk.ask("score", llm_client.ScoreReply, variables, max_tokens=200)
        except UnusableReply as error:
            self._drop(reference, error)
            return
        anchors = tuple(_locate_anchors(candidates.anchors, pair.answer, memory))
        qa = QA(
            section=section,
            question=pair.question,
            answer=pair.answer,
            references=(reference,),
            anchors=anchors,
        )
        if not anchors:
            self._drop(reference, f"no anchor of {pair.question!r} stands in answer and memory")
        elif score_reply.score >= MIN_ACCEPTED_SCORE:
            yield qa
        elif score_reply.score >= MIN_REVIEW_SCORE:
            self.review.append(review_entry(self.name, qa, score=score_reply.score, why=score_reply.reason))
        else:
            self._drop(reference, f"{pair.question!r} was scored {score_reply.score} ({score_reply.reason})")

    def _drop(self, location: str, reason: object) -> None:
        self.dropped.append(f"{self.name}, {location}: {reason}")


def _require_date(text: str) -> datetime:
    at = read_date(text)
    if at is None:
        raise LabError(f"{text!r} is no date")
    return at


def _locate_anchors(candidates: Sequence[str], answer: str, memory: str) -> Iterator[Anchor]:
    """Keep candidates that occur in both answer and memory, with their position in the memory."""
    for text in dict.fromkeys(candidates):
        start = memory.find(text)
        if text in answer and start >= 0:
            yield Anchor(text, start, start + len(text))


@dataclass(slots=True)
class WorldWriter:
    """Generates worlds like `grammar.generate`; an interrupted run can be resumed."""

    llm: LLM
    folder: Path  # for cached replies
    size: WorldSize = field(default_factory=WorldSize)
    report: ProgressCallback = no_progress
    review: list[dict[str, Any]] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    usage: LLMUsage = field(default_factory=LLMUsage)

    def generate(self, characters: int, lang: Lang, seed: int) -> World:
        if characters > max_characters(lang):
            raise LabError(
                f"at most {max_characters(lang)} characters are possible in {lang!r}, not {characters}"
            )
        steps = characters * self.size.steps
        clerk = ReplyClient(self.llm, self.folder, lang, lambda done: self.report(min(done, steps), steps))
        self.usage = clerk.usage
        characters_made = []
        for number, name in enumerate(draw_names(characters, lang, seed), start=1):
            writer = CharacterWriter(clerk, self.size, lang, number, name, seed)
            characters_made.append(writer.write())
            self.review += writer.review
            self.dropped += writer.dropped
        return self._repair(World(lang, tuple(characters_made)))

    def _repair(self, world: World) -> World:
        """Repair the world and move questions with remaining faults to the review."""
        repaired = repair_world(world)
        people = world_names(repaired)
        characters = []
        for character in repaired.characters:
            questions = []
            for qa in character.questions:
                faults, _ = check_questions(replace(character, questions=(qa,)), world.lang, people)
                if faults:
                    why = "; ".join(each.words for each in faults)
                    self.review.append(review_entry(character.name, qa, why=why))
                else:
                    questions.append(qa)
            characters.append(replace(character, questions=tuple(questions)))
        return replace(repaired, characters=tuple(characters))
