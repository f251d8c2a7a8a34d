"""One character's records in PerLTQA's files -> values, tolerant as the public files need.

Numbers stand where text is meant, a section may be a string that holds a literal, dates are free words, and a
reference may carry another character's number: it is taken for the same place under the character's own, and
a dialogue's count after # may be off where the event has only one dialogue.

A memory whose date cannot be read takes, in this order: the date of its dialogue (an event) or of its event
(a dialogue), that of the memory before it in the file, the first of January 2000.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, get_args

from thinkback_lab.worlds.dates import read as read_date
from thinkback_lab.worlds.fields import field_name, take
from thinkback_lab.worlds.world import QA, Anchor, Character, Dialogue, Event, Relationship, Section

SECTIONS: tuple[Section, ...] = get_args(Section)
UNDATED = datetime(2000, 1, 1, tzinfo=UTC)
Entry = tuple[str, Mapping[str, Any]]


def character_of(name: str, record: Mapping[str, Any], place: int, asked: Mapping[str, Any]) -> Character:
    relationships = tuple(_relationship(*each) for each in _entries(record, "social_relationship"))
    events, dialogues = _dated(_entries(record, "events"), _entries(record, "dialogues"))
    ids = [*(each.id for each in relationships), *(each.id for each in events)]
    profile = take(record, "profile") or {}
    character = Character(
        number=_number(ids, place),
        name=name,
        profile={field_name(field): text_of(value) for field, value in profile.items()},
        description=text_of(take(record, "profile_description")),
        relationships=relationships,
        events=events,
        dialogues=dialogues,
        questions=(),
    )
    return replace(character, questions=tuple(_asked(asked, character)))


def _number(ids: Sequence[str], place: int) -> int:
    """The number that leads the ids; a character without any has that of its place in the file."""
    head = ids[0].split("_", 1)[0] if ids else ""
    return int(head) if head.isascii() and head.isdigit() else place


def _entries(record: Mapping[str, Any], section: str) -> list[Entry]:
    """(id, fields) of a section; a bare text is the content of what it stands for."""
    told = take(record, section) or {}
    if isinstance(told, str):
        told = ast.literal_eval(told)
    return [
        (str(id), {"content": entry, "Description": entry} if isinstance(entry, str) else entry)
        for id, entry in told.items()
    ]


def _relationship(id: str, entry: Mapping[str, Any]) -> Relationship:
    return Relationship(
        id=id,
        name=text_of(take(entry, "Supporting Characters")),
        relationship=text_of(take(entry, "Relationship")),
        description=text_of(take(entry, "Description")),
    )


def _dated(
    events: Sequence[Entry], dialogues: Sequence[Entry]
) -> tuple[tuple[Event, ...], tuple[Dialogue, ...]]:
    """Events and dialogues with the dates they have or, as the module says, are given."""
    talked = [_dialogue(*each) for each in dialogues]
    told_of = {dialogue.event: at for dialogue, at in reversed(talked) if at}
    happened: list[Event] = []
    last = UNDATED
    for id, entry in events:
        last = read_date(text_of(take(entry, "Creation Time"))) or told_of.get(id) or last
        happened.append(_event(id, entry, last))
    when = {event.id: event.at for event in happened}
    dated: list[Dialogue] = []
    last = UNDATED
    for dialogue, at in talked:
        last = at or when.get(dialogue.event) or last
        dated.append(replace(dialogue, at=last))
    return tuple(happened), tuple(dated)


def _event(id: str, entry: Mapping[str, Any], at: datetime) -> Event:
    people = take(entry, "Characters") or ()
    return Event(
        id=id,
        content=text_of(take(entry, "content")),
        summary=text_of(take(entry, "summary")),
        characters=(people,) if isinstance(people, str) else tuple(map(str, people)),
        at=at,
        theme=text_of(take(entry, "Theme")),
    )


def _dialogue(id: str, entry: Mapping[str, Any]) -> tuple[Dialogue, datetime | None]:
    """All lines of a dialogue, whatever days they stand under; the first day is its date."""
    contents = take(entry, "contents") or {}
    days = contents if isinstance(contents, dict) else {"": contents}
    lines = tuple(_line(str(line)) for day in days.values() for line in day)
    about = text_of(take(entry, "events")) or id.split("#", 1)[0]
    return Dialogue(id=id, event=about, at=UNDATED, lines=lines), read_date(next(iter(days), ""))


def _line(line: str) -> tuple[str, str]:
    """`Speaker: words`, with a colon of either script; without one nobody is named."""
    at = min((found for mark in ":：" if (found := line.find(mark)) >= 0), default=-1)
    if at < 0:
        return "", line
    return line[:at], line[at + 1 :].removeprefix(" ")


def _asked(told: Mapping[str, Any], character: Character) -> Iterator[QA]:
    known = frozenset(character.texts())
    for section in SECTIONS:
        for entry in take(told, section) or ():
            if take(entry, "Question") is not None:
                yield _qa(section, entry, character, known)
            else:
                yield from (_qa(section, each, character, known) for run in entry.values() for each in run)


def _qa(section: Section, entry: Mapping[str, Any], character: Character, known: frozenset[str]) -> QA:
    references = _references(take(entry, "Reference Memory"))
    return QA(
        section=section,
        question=text_of(take(entry, "Question")),
        answer=text_of(take(entry, "Answer")),
        references=tuple(_own(each, character, known) for each in references),
        anchors=tuple(_anchors(take(entry, "Memory Anchors") or ())),
        topic=text_of(entry.get("Topic")) or "plain",
        again=tuple(map(str, entry.get("Again") or ())),
    )


def _references(told: Any) -> tuple[str, ...]:
    """`Gender`, `['4_0']`, a list of them, or nothing."""
    if isinstance(told, str) and told.strip().startswith("["):
        told = ast.literal_eval(told.strip())
    if isinstance(told, list):
        return tuple(field_name(str(each)) for each in told)
    return (field_name(told),) if told else ()


def _own(reference: str, character: Character, known: frozenset[str]) -> str:
    """The character's memory that a reference means, if it is not there to the letter."""
    if reference in known or "_" not in reference:
        return reference
    own = f"{character.number}_{reference.split('_', 1)[1]}"
    if own in known:
        return own
    same = [each.id for each in character.dialogues if each.event == own.split("#", 1)[0]]
    return same[0] if "#" in own and len(same) == 1 else reference


def _anchors(told: Sequence[Any]) -> Iterator[Anchor]:
    for each in told:
        if isinstance(each, str):
            yield Anchor(each)
            continue
        for text, place in each.items():
            start, end = place if isinstance(place, list) and len(place) == 2 else (-1, -1)
            yield Anchor(text, int(start), int(end))


def text_of(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(map(text_of, value))
    return str(value)
