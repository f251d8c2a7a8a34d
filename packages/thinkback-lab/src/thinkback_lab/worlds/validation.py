"""Faults of a world (PerLTQA, table 8): found by rules, and repaired where rules suffice."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from thinkback_lab.worlds.text_checks import (
    ASSISTANT,
    EXCLUSIVE_RELATIONSHIPS,
    PREPOSITION,
    content_words,
    is_brief,
    is_name_part,
    is_placeholder,
    strip_anchor,
    treats_assistant_as_person,
)
from thinkback_lab.worlds.world import QA, Anchor, Character, Event, Lang, Relationship, World

# PerLTQA, table 8, row by row; then what the paper validates automatically (section 3.2).
Code = Literal[
    "profile-anomaly",
    "invalid-relationship",
    "brief-event",
    "referent-error",
    "redundant-answer",
    "anchor-boundary",
    "missing-reference",
    "anchor-missing",
]
Operation = Literal["remove", "replace", "reduce", "correct", "rewrite"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One fault. `rewrite` needs a person; all other operations are done by `repair_world`."""

    code: Code
    place: str  # `Tara Quill, Hobbies`, `Tara Quill, 7_0_0`, `Tara Quill, question 12`
    words: str
    operation: Operation
    repair: str

    @property
    def line(self) -> str:
        return f"{self.place}: {self.code}, {self.words} -> {self.operation}: {self.repair}"


def check_memories(character: Character, lang: Lang) -> tuple[list[Finding], Character]:
    """Return the faults, and the character without them."""
    found: list[Finding] = []
    profile = _check_profile(character, found)
    events = _check_events(character, lang, found)
    relationships = _check_relationships(character, events, found)
    known = {each.id for each in relationships}
    _check_mentions(character, found)
    kept_events = tuple(
        replace(event, characters=tuple(each for each in event.characters if each in known))
        for event in events
        if not (people := _event_people(event, character)) or people & known
    )
    event_ids = {event.id for event in kept_events}
    return found, replace(
        character,
        profile=profile,
        relationships=relationships,
        events=kept_events,
        dialogues=tuple(each for each in character.dialogues if each.event in event_ids),
    )


def _check_profile(character: Character, found: list[Finding]) -> dict[str, str]:
    for name, value in character.profile.items():
        if is_placeholder(value):
            found.append(
                Finding(
                    code="profile-anomaly",
                    place=f"{character.name}, {name}",
                    words=f"the value {value!r} says nothing",
                    operation="remove",
                    repair="the field",
                )
            )
    return {name: value for name, value in character.profile.items() if not is_placeholder(value)}


def _check_events(character: Character, lang: Lang, found: list[Finding]) -> list[Event]:
    kept = []
    for event in character.events:
        if is_brief(event.content, lang):
            found.append(
                Finding(
                    code="brief-event",
                    place=f"{character.name}, {event.id}",
                    words=f"too short to be a memory: {event.content!r}",
                    operation="remove",
                    repair="the event, with its dialogues and questions",
                )
            )
        else:
            kept.append(event)
    return kept


def _event_people(event: Event, character: Character) -> set[str]:
    """The relationships of an event: those it lists, and the one whose number is in its id."""
    known = {each.id for each in character.relationships}
    return {*event.characters, *({event.id.rpartition("_")[0]} & known)}


def _check_mentions(character: Character, found: list[Finding]) -> None:
    """Report references of events and dialogues to people and events that do not exist."""
    people = {each.id for each in character.relationships}
    events = {each.id for each in character.events}
    for event in character.events:
        for stranger in sorted(set(event.characters) - people):
            found.append(
                _missing_reference(character, event.id, f"{stranger!r} is not a relationship", "its mention")
            )
    for dialogue in character.dialogues:
        if dialogue.event not in events:
            found.append(
                _missing_reference(
                    character, dialogue.id, f"{dialogue.event!r} is not an event", "the dialogue"
                )
            )


def _missing_reference(character: Character, id: str, words: str, repair: str) -> Finding:
    place = f"{character.name}, {id}"
    return Finding(code="missing-reference", place=place, words=words, operation="remove", repair=repair)


def _check_relationships(
    character: Character, events: Sequence[Event], found: list[Finding]
) -> tuple[Relationship, ...]:
    event_counts = Counter(person for event in events for person in _event_people(event, character))
    removed: dict[str, str] = {}
    for known in character.relationships:
        if is_placeholder(known.name) or ASSISTANT.fullmatch(known.name.strip()):
            removed[known.id] = f"{known.name!r} is nobody"
        elif not event_counts[known.id]:
            removed[known.id] = f"no event with {known.name}, {known.relationship}"
    remaining = [known for known in character.relationships if known.id not in removed]
    for group in EXCLUSIVE_RELATIONSHIPS:
        rivals = [known for known in remaining if known.relationship.strip().lower() in group]
        removed.update(_weaker_rivals(rivals, event_counts, "at the same time as"))
    by_name: dict[tuple[str, str], list[Relationship]] = {}
    for known in remaining:  # a namesake with another relationship is another person
        by_name.setdefault((known.name, known.relationship.strip().lower()), []).append(known)
    for same in by_name.values():
        removed.update(_weaker_rivals(same, event_counts, "is a duplicate of"))
    for id, words in removed.items():
        found.append(
            Finding(
                code="invalid-relationship",
                place=f"{character.name}, {id}",
                words=words,
                operation="remove",
                repair="the relationship, with its events and questions",
            )
        )
    return tuple(known for known in character.relationships if known.id not in removed)


def _weaker_rivals(rivals: Sequence[Relationship], event_counts: Counter[str], how: str) -> dict[str, str]:
    """Of people who exclude each other, all but the one with the most events."""
    if len(rivals) < 2:
        return {}
    best = max(rivals, key=lambda known: event_counts[known.id])  # first of equals
    return {
        known.id: f"{known.relationship} {known.name} {how} {best.relationship} {best.name}"
        for known in rivals
        if known is not best
    }


_FIRST_PERSON = re.compile(r"\b(?:i|my|me|mine|myself)\b|我", re.IGNORECASE)
_MIN_REPEATED_WORDS: dict[Lang, int] = {"en": 2, "zh": 4}


@dataclass(slots=True)
class _QuestionCheck:
    """One question under check: what is known, and the findings so far."""

    place: str
    lang: Lang
    character: Character
    texts: dict[str, str]
    people: Sequence[str]
    found: list[Finding] = field(default_factory=list)

    def note(self, code: Code, words: str, operation: Operation, repair: str) -> None:
        self.found.append(
            Finding(code=code, place=self.place, words=words, operation=operation, repair=repair)
        )


def check_questions(
    character: Character, lang: Lang, people: Sequence[str]
) -> tuple[list[Finding], tuple[QA, ...]]:
    """Return the faults, and the repaired questions; questions beyond repair are removed."""
    found: list[Finding] = []
    kept: list[QA] = []
    texts = character.texts()
    own = [*character_names(character, lang), *people]
    for count, qa in enumerate(character.questions):
        check = _QuestionCheck(f"{character.name}, question {count}", lang, character, texts, own)
        repaired = _check_question(qa, check)
        found += check.found
        if repaired:
            kept.append(repaired)
    return found, tuple(kept)


def world_names(world: World) -> list[str]:
    """All names of the people in a world."""
    return sorted({name for each in world.characters for name in character_names(each, world.lang)})


def character_names(character: Character, lang: Lang) -> list[str]:
    """Names of the character and of everyone they know, whole and in parts."""
    whole = [character.name, character.profile.get("Nickname", "")]
    whole += [known.name for known in character.relationships]
    if lang == "zh":
        parts = [name[1:] for name in whole if len(name) > 2]
    else:
        parts = [part for part in " ".join(whole).split() if is_name_part(part)]
    return [name for name in dict.fromkeys((*whole, *parts)) if len(name) > 1]


def _check_question(qa: QA, check: _QuestionCheck) -> QA | None:
    with_references = _check_references(qa, check)
    if with_references is None:
        return None
    repaired = _check_anchors(_check_answer(_check_referents(with_references, check), check), check)
    return repaired if repaired.anchors or not qa.anchors else None


def _check_references(qa: QA, check: _QuestionCheck) -> QA | None:
    if not qa.references and qa.topic != "unanswerable":
        check.note("missing-reference", f"no reference: {qa.question!r}", "remove", "the question")
        return None
    existing = tuple(each for each in qa.references if each in check.texts)
    for missing in (each for each in qa.references if each not in check.texts):
        repair = "the reference" if existing else "the question"
        check.note("missing-reference", f"{missing!r} is not a memory", "remove", repair)
    return replace(qa, references=existing) if existing or not qa.references else None


def _check_referents(qa: QA, check: _QuestionCheck) -> QA:
    for words in (qa.question, *qa.again):
        if not any(name in words for name in check.people) and not _FIRST_PERSON.search(words):
            check.note(
                "referent-error", f"no person of the world is named: {words!r}", "rewrite", "name them"
            )
    if not any(map(treats_assistant_as_person, (qa.question, *qa.again))):
        return qa
    fault = f"the assistant takes part: {qa.question!r}"
    partner = _event_partner(qa, check.character)
    question, *again = (
        ASSISTANT.sub(lambda _: partner, words) if treats_assistant_as_person(words) else words
        for words in (qa.question, *qa.again)
    )
    # The partner's name may itself mention the assistant. Repairing that again would never end.
    if not partner or any(map(treats_assistant_as_person, (question, *again))):
        check.note("referent-error", fault, "rewrite", "name the person")
        return qa
    check.note("referent-error", fault, "replace", question)
    return replace(qa, question=question, again=tuple(again))


def _event_partner(qa: QA, character: Character) -> str:
    """The only other person of the event that is asked about, or ""."""
    events = {each.split("#", 1)[0] for each in qa.references}
    participants = {person for event in character.events if event.id in events for person in event.characters}
    names = [known.name for known in character.relationships if known.id in participants]
    return names[0] if len(names) == 1 else ""


def _check_answer(qa: QA, check: _QuestionCheck) -> QA:
    """Reduce an answer that only repeats the question to its anchors."""
    remainder = qa.answer
    for anchor in sorted(qa.anchors, key=lambda each: -len(each.text)):
        remainder = remainder.replace(anchor.text, " ")
    repeated, asked = content_words(remainder, check.lang), content_words(qa.question, check.lang)
    if len(repeated) < _MIN_REPEATED_WORDS[check.lang] or not set(repeated) <= set(asked):
        return qa
    spans = [(at, at + len(each.text)) for each in qa.anchors if (at := qa.answer.find(each.text)) >= 0]
    if not spans:
        return qa
    shortened = qa.answer[min(start for start, _ in spans) : max(end for _, end in spans)]
    check.note("redundant-answer", f"repeats the question: {qa.answer!r}", "reduce", shortened)
    return replace(qa, answer=shortened)


def _check_anchors(qa: QA, check: _QuestionCheck) -> QA:
    anchors = [_check_anchor(each, qa, check) for each in qa.anchors]
    return replace(qa, anchors=tuple(dict.fromkeys(each for each in anchors if each)))


def _check_anchor(anchor: Anchor, qa: QA, check: _QuestionCheck) -> Anchor | None:
    references = [check.texts[each] for each in qa.references]
    text = strip_anchor(anchor.text)
    if (begins := PREPOSITION.match(text)) and any(
        begins[0].lower() + text[begins.end() :] in words for words in (qa.answer, *references)
    ):
        text = text[begins.end() :]
    if text != anchor.text:
        check.note("anchor-boundary", f"blurred: {anchor.text!r}", "correct", repr(text))
    if not text:
        return None
    if text.casefold() not in qa.answer.casefold():
        check.note("anchor-missing", f"{text!r} is not in the answer {qa.answer!r}", "remove", "the anchor")
        return None
    if not any(text in words for words in references):
        check.note("anchor-missing", f"{text!r} is not in {', '.join(qa.references)}", "remove", "the anchor")
        return None
    return _locate_anchor(text, anchor, references, check)


def _locate_anchor(text: str, anchor: Anchor, references: Sequence[str], check: _QuestionCheck) -> Anchor:
    """The anchor with its own position if that is correct, otherwise with the first one."""
    if any(anchor.start >= 0 and words[anchor.start : anchor.end] == text for words in references):
        return Anchor(text, anchor.start, anchor.end)
    start = next(at for words in references if (at := words.find(text)) >= 0)
    if text == anchor.text:
        fault = f"{text!r} does not stand at [{anchor.start}, {anchor.end}]"
        check.note("anchor-boundary", fault, "correct", f"[{start}, {start + len(text)}]")
    return Anchor(text, start, start + len(text))


def find_faults(world: World) -> list[Finding]:
    """All faults, character by character."""
    people = world_names(world)
    found: list[Finding] = []
    for character in world.characters:
        found += check_memories(character, world.lang)[0]
        found += check_questions(character, world.lang, people)[0]
    return found


def repair_world(world: World) -> World:
    """Apply every mechanical repair; faults that need rewriting stay.

    A repair may reveal another fault (a relationship that lost its only event), so repairs are repeated until
    nothing changes. This ends, because every round that changes the world lowers one of these numbers and
    none before it: (1) memories, references, mentions, questions and anchors; (2) total length of answers and
    anchors; (3) questions that treat the assistant as a person; (4) anchors with a wrong position.
    """
    while (better := _repair_once(world)) != world:
        world = better
    return world


def _repair_once(world: World) -> World:
    characters = [check_memories(each, world.lang)[1] for each in world.characters]
    people = world_names(world)
    return replace(
        world,
        characters=tuple(
            replace(each, questions=check_questions(each, world.lang, people)[1]) for each in characters
        ),
    )
