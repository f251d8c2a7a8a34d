"""The memories of one character: profile, relationships, events and dialogues (seed 004, Table 8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from thinkback_lab.worlds.findings import Finding
from thinkback_lab.worlds.wording import ASSISTANT, ONE_AT_A_TIME, is_brief, is_placeholder
from thinkback_lab.worlds.world import Character, Event, Lang, Relationship


def check_memories(character: Character, lang: Lang) -> tuple[list[Finding], Character]:
    """The faults, and the character without them."""
    found: list[Finding] = []
    profile = _profile(character, found)
    events = _events(character, lang, found)
    relationships = _relationships(character, events, found)
    known = {each.id for each in relationships}
    _strangers(character, found)
    happened = tuple(
        replace(event, characters=tuple(each for each in event.characters if each in known))
        for event in events
        if not (people := _people(event, character)) or people & known
    )
    left = {event.id for event in happened}
    return found, replace(
        character,
        profile=profile,
        relationships=relationships,
        events=happened,
        dialogues=tuple(each for each in character.dialogues if each.event in left),
    )


def _profile(character: Character, found: list[Finding]) -> dict[str, str]:
    for field, value in character.profile.items():
        if is_placeholder(value):
            found.append(
                Finding(
                    code="profile-anomaly",
                    place=f"{character.name}, {field}",
                    words=f"the value {value!r} says nothing",
                    operation="remove",
                    repair="the field",
                )
            )
    return {field: value for field, value in character.profile.items() if not is_placeholder(value)}


def _events(character: Character, lang: Lang, found: list[Finding]) -> list[Event]:
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


def _people(event: Event, character: Character) -> set[str]:
    """The relationships an event is with: those it lists, and the one whose number its id carries."""
    known = {each.id for each in character.relationships}
    return {*event.characters, *({event.id.rpartition("_")[0]} & known)}


def _strangers(character: Character, found: list[Finding]) -> None:
    """Whoever and whatever events and dialogues name, and is not there."""
    people = {each.id for each in character.relationships}
    events = {each.id for each in character.events}
    for event in character.events:
        for stranger in sorted(set(event.characters) - people):
            found.append(_missing(character, event.id, f"{stranger!r} is no relationship", "its mention"))
    for dialogue in character.dialogues:
        if dialogue.event not in events:
            found.append(_missing(character, dialogue.id, f"{dialogue.event!r} is no event", "the dialogue"))


def _missing(character: Character, id: str, words: str, repair: str) -> Finding:
    place = f"{character.name}, {id}"
    return Finding(code="missing-reference", place=place, words=words, operation="remove", repair=repair)


def _relationships(
    character: Character, events: Sequence[Event], found: list[Finding]
) -> tuple[Relationship, ...]:
    busy = Counter(person for event in events for person in _people(event, character))
    out: dict[str, str] = {}
    for known in character.relationships:
        if is_placeholder(known.name) or ASSISTANT.fullmatch(known.name.strip()):
            out[known.id] = f"{known.name!r} is nobody"
        elif not busy[known.id]:
            out[known.id] = f"no event with {known.name}, {known.relationship}"
    left = [known for known in character.relationships if known.id not in out]
    for group in ONE_AT_A_TIME:
        rivals = [known for known in left if known.relationship.strip().lower() in group]
        out.update(_weaker(rivals, busy, "at the same time as"))
    by_name: dict[tuple[str, str], list[Relationship]] = {}
    for known in left:  # a namesake in another relationship is a person of their own
        by_name.setdefault((known.name, known.relationship.strip().lower()), []).append(known)
    for same in by_name.values():
        out.update(_weaker(same, busy, "is there twice, beside"))
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


def _weaker(rivals: Sequence[Relationship], busy: Counter[str], how: str) -> dict[str, str]:
    """Of those who cannot all be, all but the one with the most events."""
    if len(rivals) < 2:
        return {}
    best = max(rivals, key=lambda known: busy[known.id])  # the first of equals
    return {
        known.id: f"{known.relationship} {known.name} {how} {best.relationship} {best.name}"
        for known in rivals
        if known is not best
    }
