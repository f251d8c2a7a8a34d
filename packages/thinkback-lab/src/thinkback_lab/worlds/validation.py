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

# Seed 004, Table 8, line by line; then what the paper validates automatically (section 3.2).
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
    """One fault. `rewrite` needs somebody who understands; all other repairs `mended` makes."""

    code: Code
    place: str  # `Tara Quill, Hobbies`, `Tara Quill, 7_0_0`, `Tara Quill, question 12`
    words: str
    operation: Operation
    repair: str

    @property
    def line(self) -> str:
        return f"{self.place}: {self.code}, {self.words} -> {self.operation}: {self.repair}"


def check_memories(character: Character, lang: Lang) -> tuple[list[Finding], Character]:
    """The faults, and the character without them."""
    found: list[Finding] = []
    profile = _check_profile(character, found)
    events = _check_events(character, lang, found)
    relationships = _check_relationships(character, events, found)
    known = {each.id for each in relationships}
    _check_mentions(character, found)
    happened = tuple(
        replace(event, characters=tuple(each for each in event.characters if each in known))
        for event in events
        if not (people := _event_people(event, character)) or people & known
    )
    left = {event.id for event in happened}
    return found, replace(
        character,
        profile=profile,
        relationships=relationships,
        events=happened,
        dialogues=tuple(each for each in character.dialogues if each.event in left),
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
    """The relationships an event is with: those it lists, and the one whose number its id carries."""
    known = {each.id for each in character.relationships}
    return {*event.characters, *({event.id.rpartition("_")[0]} & known)}


def _check_mentions(character: Character, found: list[Finding]) -> None:
    """Whoever and whatever events and dialogues name, and is not there."""
    people = {each.id for each in character.relationships}
    events = {each.id for each in character.events}
    for event in character.events:
        for stranger in sorted(set(event.characters) - people):
            found.append(
                _missing_reference(character, event.id, f"{stranger!r} is no relationship", "its mention")
            )
    for dialogue in character.dialogues:
        if dialogue.event not in events:
            found.append(
                _missing_reference(character, dialogue.id, f"{dialogue.event!r} is no event", "the dialogue")
            )


def _missing_reference(character: Character, id: str, words: str, repair: str) -> Finding:
    place = f"{character.name}, {id}"
    return Finding(code="missing-reference", place=place, words=words, operation="remove", repair=repair)


def _check_relationships(
    character: Character, events: Sequence[Event], found: list[Finding]
) -> tuple[Relationship, ...]:
    busy = Counter(person for event in events for person in _event_people(event, character))
    out: dict[str, str] = {}
    for known in character.relationships:
        if is_placeholder(known.name) or ASSISTANT.fullmatch(known.name.strip()):
            out[known.id] = f"{known.name!r} is nobody"
        elif not busy[known.id]:
            out[known.id] = f"no event with {known.name}, {known.relationship}"
    left = [known for known in character.relationships if known.id not in out]
    for group in EXCLUSIVE_RELATIONSHIPS:
        rivals = [known for known in left if known.relationship.strip().lower() in group]
        out.update(_weaker_rivals(rivals, busy, "at the same time as"))
    by_name: dict[tuple[str, str], list[Relationship]] = {}
    for known in left:  # a namesake in another relationship is a person of their own
        by_name.setdefault((known.name, known.relationship.strip().lower()), []).append(known)
    for same in by_name.values():
        out.update(_weaker_rivals(same, busy, "is there twice, beside"))
    for id, words in out.items():
        found.append(
            Finding(
                code="invalid-relationship",
                place=f"{character.name}, {id}",
                words=words,
                operation="remove",
                repair="the relationship, with its events and questions",
            )
        )
    return tuple(known for known in character.relationships if known.id not in out)


def _weaker_rivals(rivals: Sequence[Relationship], busy: Counter[str], how: str) -> dict[str, str]:
    """Of those who cannot all be, all but the one with the most events."""
    if len(rivals) < 2:
        return {}
    best = max(rivals, key=lambda known: busy[known.id])  # the first of equals
    return {
        known.id: f"{known.relationship} {known.name} {how} {best.relationship} {best.name}"
        for known in rivals
        if known is not best
    }


_FIRST_PERSON = re.compile(r"\b(?:i|my|me|mine|myself)\b|我", re.IGNORECASE)
_MIN_REPEATED_WORDS: dict[Lang, int] = {"en": 2, "zh": 4}


@dataclass(slots=True)
class _QuestionCheck:
    """Where one question is looked at: what is known, and the findings so far."""

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
    """The faults, and the questions repaired; one that cannot stand is gone."""
    found: list[Finding] = []
    kept: list[QA] = []
    texts = character.texts()
    own = [*character_names(character, lang), *people]
    for count, qa in enumerate(character.questions):
        desk = _QuestionCheck(f"{character.name}, question {count}", lang, character, texts, own)
        repaired = _check_question(qa, desk)
        found += desk.found
        if repaired:
            kept.append(repaired)
    return found, tuple(kept)


def world_names(world: World) -> list[str]:
    """What anybody of the world is called."""
    return sorted({name for each in world.characters for name in character_names(each, world.lang)})


def character_names(character: Character, lang: Lang) -> list[str]:
    """The character's names and those of everyone they know; in parts, as they are called."""
    whole = [character.name, character.profile.get("Nickname", "")]
    whole += [known.name for known in character.relationships]
    if lang == "zh":
        parts = [name[1:] for name in whole if len(name) > 2]
    else:
        parts = [part for part in " ".join(whole).split() if is_name_part(part)]
    return [name for name in dict.fromkeys((*whole, *parts)) if len(name) > 1]


def _check_question(qa: QA, desk: _QuestionCheck) -> QA | None:
    referred = _check_references(qa, desk)
    if referred is None:
        return None
    told = _check_anchors(_check_answer(_check_referents(referred, desk), desk), desk)
    return told if told.anchors or not qa.anchors else None


def _check_references(qa: QA, desk: _QuestionCheck) -> QA | None:
    if not qa.references and qa.topic != "unanswerable":
        desk.note("missing-reference", f"no reference: {qa.question!r}", "remove", "the question")
        return None
    there = tuple(each for each in qa.references if each in desk.texts)
    for gone in (each for each in qa.references if each not in desk.texts):
        repair = "the reference" if there else "the question"
        desk.note("missing-reference", f"{gone!r} is no memory", "remove", repair)
    return replace(qa, references=there) if there or not qa.references else None


def _check_referents(qa: QA, desk: _QuestionCheck) -> QA:
    for words in (qa.question, *qa.again):
        if not any(name in words for name in desk.people) and not _FIRST_PERSON.search(words):
            desk.note("referent-error", f"nobody of the world is named: {words!r}", "rewrite", "name them")
    if not any(map(treats_assistant_as_person, (qa.question, *qa.again))):
        return qa
    partner = _event_partner(qa, desk.character)
    if not partner:
        desk.note(
            "referent-error", f"the assistant takes part: {qa.question!r}", "rewrite", "name the person"
        )
        return qa
    question, *again = (
        ASSISTANT.sub(lambda _: partner, words) if treats_assistant_as_person(words) else words
        for words in (qa.question, *qa.again)
    )
    desk.note("referent-error", f"the assistant takes part: {qa.question!r}", "replace", question)
    return replace(qa, question=question, again=tuple(again))


def _event_partner(qa: QA, character: Character) -> str:
    """Who was there: the one person of the event that is asked about."""
    events = {each.split("#", 1)[0] for each in qa.references}
    there = {person for event in character.events if event.id in events for person in event.characters}
    names = [known.name for known in character.relationships if known.id in there]
    return names[0] if len(names) == 1 else ""


def _check_answer(qa: QA, desk: _QuestionCheck) -> QA:
    """An answer that says only the question again, besides its anchors, is these."""
    rest = qa.answer
    for anchor in sorted(qa.anchors, key=lambda each: -len(each.text)):
        rest = rest.replace(anchor.text, " ")
    again, asked = content_words(rest, desk.lang), content_words(qa.question, desk.lang)
    if len(again) < _MIN_REPEATED_WORDS[desk.lang] or not set(again) <= set(asked):
        return qa
    places = [(at, at + len(each.text)) for each in qa.anchors if (at := qa.answer.find(each.text)) >= 0]
    if not places:
        return qa
    short = qa.answer[min(start for start, _ in places) : max(end for _, end in places)]
    desk.note("redundant-answer", f"the question is said again: {qa.answer!r}", "reduce", short)
    return replace(qa, answer=short)


def _check_anchors(qa: QA, desk: _QuestionCheck) -> QA:
    anchors = [_check_anchor(each, qa, desk) for each in qa.anchors]
    return replace(qa, anchors=tuple(dict.fromkeys(each for each in anchors if each)))


def _check_anchor(anchor: Anchor, qa: QA, desk: _QuestionCheck) -> Anchor | None:
    references = [desk.texts[each] for each in qa.references]
    text = strip_anchor(anchor.text)
    if (begins := PREPOSITION.match(text)) and any(
        begins[0].lower() + text[begins.end() :] in words for words in (qa.answer, *references)
    ):
        text = text[begins.end() :]
    if text != anchor.text:
        desk.note("anchor-boundary", f"blurred: {anchor.text!r}", "correct", repr(text))
    if not text:
        return None
    if text.casefold() not in qa.answer.casefold():
        desk.note("anchor-missing", f"{text!r} is not in the answer {qa.answer!r}", "remove", "the anchor")
        return None
    if not any(text in words for words in references):
        desk.note("anchor-missing", f"{text!r} is not in {', '.join(qa.references)}", "remove", "the anchor")
        return None
    return _locate_anchor(text, anchor, references, desk)


def _locate_anchor(text: str, anchor: Anchor, references: Sequence[str], desk: _QuestionCheck) -> Anchor:
    """The anchor where it stands: its own place if that is right, else the first."""
    if any(anchor.start >= 0 and words[anchor.start : anchor.end] == text for words in references):
        return Anchor(text, anchor.start, anchor.end)
    start = next(at for words in references if (at := words.find(text)) >= 0)
    if text == anchor.text:
        said = f"{text!r} does not stand at [{anchor.start}, {anchor.end}]"
        desk.note("anchor-boundary", said, "correct", f"[{start}, {start + len(text)}]")
    return Anchor(text, start, start + len(text))


def find_faults(world: World) -> list[Finding]:
    """All faults, character by character; a good world has none."""
    people = world_names(world)
    found: list[Finding] = []
    for character in world.characters:
        found += check_memories(character, world.lang)[0]
        found += check_questions(character, world.lang, people)[0]
    return found


def repair_world(world: World) -> World:
    """The world after every repair that is mechanical; what has to be rewritten is left as it is.

    A repair may show the next fault (a relationship that lost its only event), so it is repeated until
    nothing changes: each round takes something away or sets it right, so that this ends.
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
