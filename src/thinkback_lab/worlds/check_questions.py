"""The questions of one character: referents, answers, references, anchors (seed 004, Table 8)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from thinkback_lab.worlds.findings import Code, Finding, Operation
from thinkback_lab.worlds.wording import (
    ASSISTANT,
    PREPOSITION,
    bare,
    content_words,
    is_name,
    takes_assistant_for_a_person,
)
from thinkback_lab.worlds.world import QA, Anchor, Character, Lang, World

_MYSELF = re.compile(r"\b(?:i|my|me|mine|myself)\b|我", re.IGNORECASE)
_FEWEST_SAID_AGAIN: dict[Lang, int] = {"en": 2, "zh": 4}


@dataclass(slots=True)
class _Desk:
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
    own = [*names_of(character, lang), *people]
    for count, qa in enumerate(character.questions):
        desk = _Desk(f"{character.name}, question {count}", lang, character, texts, own)
        repaired = _question(qa, desk)
        found += desk.found
        if repaired:
            kept.append(repaired)
    return found, tuple(kept)


def people_of(world: World) -> list[str]:
    """What anybody of the world is called."""
    return sorted({name for each in world.characters for name in names_of(each, world.lang)})


def names_of(character: Character, lang: Lang) -> list[str]:
    """The character's names and those of everyone they know; in parts, as they are called."""
    whole = [character.name, character.profile.get("Nickname", "")]
    whole += [known.name for known in character.relationships]
    if lang == "zh":
        parts = [name[1:] for name in whole if len(name) > 2]
    else:
        parts = [part for part in " ".join(whole).split() if is_name(part)]
    return [name for name in dict.fromkeys((*whole, *parts)) if len(name) > 1]


def _question(qa: QA, desk: _Desk) -> QA | None:
    referred = _references(qa, desk)
    if referred is None:
        return None
    told = _anchors(_answer(_referents(referred, desk), desk), desk)
    return told if told.anchors or not qa.anchors else None


def _references(qa: QA, desk: _Desk) -> QA | None:
    if not qa.references and qa.topic != "unanswerable":
        desk.note("missing-reference", f"no reference: {qa.question!r}", "remove", "the question")
        return None
    there = tuple(each for each in qa.references if each in desk.texts)
    for gone in (each for each in qa.references if each not in desk.texts):
        repair = "the reference" if there else "the question"
        desk.note("missing-reference", f"{gone!r} is no memory", "remove", repair)
    return replace(qa, references=there) if there or not qa.references else None


def _referents(qa: QA, desk: _Desk) -> QA:
    for words in (qa.question, *qa.again):
        if not any(name in words for name in desk.people) and not _MYSELF.search(words):
            desk.note("referent-error", f"nobody of the world is named: {words!r}", "rewrite", "name them")
    if not any(map(takes_assistant_for_a_person, (qa.question, *qa.again))):
        return qa
    partner = _partner(qa, desk.character)
    if not partner:
        desk.note(
            "referent-error", f"the assistant takes part: {qa.question!r}", "rewrite", "name the person"
        )
        return qa
    question, *again = (
        ASSISTANT.sub(lambda _: partner, words) if takes_assistant_for_a_person(words) else words
        for words in (qa.question, *qa.again)
    )
    desk.note("referent-error", f"the assistant takes part: {qa.question!r}", "replace", question)
    return replace(qa, question=question, again=tuple(again))


def _partner(qa: QA, character: Character) -> str:
    """Who was there: the one person of the event that is asked about."""
    events = {each.split("#", 1)[0] for each in qa.references}
    there = {person for event in character.events if event.id in events for person in event.characters}
    names = [known.name for known in character.relationships if known.id in there]
    return names[0] if len(names) == 1 else ""


def _answer(qa: QA, desk: _Desk) -> QA:
    """An answer that says only the question again, besides its anchors, is these."""
    rest = qa.answer
    for anchor in sorted(qa.anchors, key=lambda each: -len(each.text)):
        rest = rest.replace(anchor.text, " ")
    again, asked = content_words(rest, desk.lang), content_words(qa.question, desk.lang)
    if len(again) < _FEWEST_SAID_AGAIN[desk.lang] or not set(again) <= set(asked):
        return qa
    places = [(at, at + len(each.text)) for each in qa.anchors if (at := qa.answer.find(each.text)) >= 0]
    if not places:
        return qa
    short = qa.answer[min(start for start, _ in places) : max(end for _, end in places)]
    desk.note("redundant-answer", f"the question is said again: {qa.answer!r}", "reduce", short)
    return replace(qa, answer=short)


def _anchors(qa: QA, desk: _Desk) -> QA:
    anchors = [_anchor(each, qa, desk) for each in qa.anchors]
    return replace(qa, anchors=tuple(dict.fromkeys(each for each in anchors if each)))


def _anchor(anchor: Anchor, qa: QA, desk: _Desk) -> Anchor | None:
    references = [desk.texts[each] for each in qa.references]
    text = bare(anchor.text)
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
    return _placed(text, anchor, references, desk)


def _placed(text: str, anchor: Anchor, references: Sequence[str], desk: _Desk) -> Anchor:
    """The anchor where it stands: its own place if that is right, else the first."""
    if any(anchor.start >= 0 and words[anchor.start : anchor.end] == text for words in references):
        return Anchor(text, anchor.start, anchor.end)
    start = next(at for words in references if (at := words.find(text)) >= 0)
    if text == anchor.text:
        said = f"{text!r} does not stand at [{anchor.start}, {anchor.end}]"
        desk.note("anchor-boundary", said, "correct", f"[{start}, {start + len(text)}]")
    return Anchor(text, start, start + len(text))
