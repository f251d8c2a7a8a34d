"""PerLTQA: a memory database per character, and questions that name the memories they need.

A character with questions is one case. An item is one memory; its id is the one used by `Reference Memory`: a
profile field (`Gender`), a relationship (`4_0`), an event (`4_0_0`) or a dialogue (`4_0_0#2`).

- Profile fields and relationships become sentences that name the character. Empty fields are skipped, and so
  is the profile description, which repeats all fields.
- A dialogue is one item with all its lines, because questions refer to it as a whole.
- Profile and relationships have no date: they are stored, a minute apart, on the day before the first event.
- All questions are asked on the day after the last memory.
- A reference to a missing memory is not gold; the retrieval of such a question is not scored.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from html import unescape
from pathlib import Path
from typing import get_args

from thinkback_lab.cases import Case, Dataset, HistoryItem, Kind, Question
from thinkback_lab.datasets.loading import data_folder, require_file
from thinkback_lab.errors import LabError
from thinkback_lab.worlds.files import read_world
from thinkback_lab.worlds.parsing import DEFAULT_DATE, FIELD_LABELS
from thinkback_lab.worlds.world import QA, Character, Lang, Section

ORIGIN = (
    "PerLTQA is the repository Elvin-Yiming-Du/PerLTQA on GitHub, folder Dataset/: perltmem_en_v2.json and "
    "perltqa_en_v2.json; a world of your own: thinkback-lab generate --lang en --out DIR"
)
_KIND_BY_SECTION: dict[Section, Kind] = {
    "profile": "profile",
    "social_relationship": "relationship",
    "events": "event",
    "dialogues": "dialogue",
}
_ONE_MINUTE, _ONE_DAY = timedelta(minutes=1), timedelta(days=1)


def load(folder: Path | None, lang: str = "en") -> Dataset:
    """Load one case per character with questions, in the order of the file."""
    language: Lang | None = next((each for each in get_args(Lang) if each == lang), None)
    if language is None:
        raise LabError(f"unknown language {lang!r}: choose from {', '.join(get_args(Lang))}")
    home = data_folder(folder, ORIGIN)
    memories = require_file(home, _file_names("perltmem", language), ORIGIN)
    questions = require_file(home, _file_names("perltqa", language), ORIGIN)
    characters = [each for each in read_world(memories, questions, language).characters if each.questions]
    if not characters:
        raise LabError(f"{questions}: no question about a character of {memories}. {ORIGIN}")
    return Dataset(
        name="perltqa",
        cases=tuple(_make_case(character, language) for character in characters),
        settings={"lang": lang},
    )


def _file_names(stem: str, lang: Lang) -> list[str]:
    """Possible paths of a file, newest version first: the folder, `perltqa/`, the repository's layout."""
    homes = ("", "perltqa/", f"perltqa/{lang}/", f"{lang}_v2/", f"Dataset/{lang}_v2/")
    return [f"{home}{stem}_{version}.json" for home in homes for version in (f"{lang}_v2", lang)]


def _make_case(character: Character, lang: Lang) -> Case:
    items = sorted(_history_items(character, lang), key=lambda item: item.at)
    ids = {item.id for item in items}
    at = items[-1].at + _ONE_DAY if items else DEFAULT_DATE
    return Case(
        id=character.name,
        items=tuple(items),
        questions=tuple(
            _make_question(f"{character.number}-{count}", qa, ids, at)
            for count, qa in enumerate(character.questions)
        ),
        lang=lang,
    )


def _history_items(character: Character, lang: Lang) -> Iterator[HistoryItem]:
    moments = [*(event.at for event in character.events), *(talk.at for talk in character.dialogues)]
    at = min(moments, default=DEFAULT_DATE) - _ONE_DAY
    for field, value in character.profile.items():
        if value.strip():
            yield HistoryItem(
                id=field,
                query=_field_sentence(character.name, field, value, lang),
                at=at,
                session="profile",
                kind="profile",
            )
            at += _ONE_MINUTE
    for relationship in character.relationships:
        sentence = _relationship_sentence(
            character.name, relationship.name, relationship.relationship, relationship.description, lang
        )
        yield HistoryItem(
            id=relationship.id, query=sentence, at=at, session="relationships", kind="relationship"
        )
        at += _ONE_MINUTE
    for event in character.events:
        yield HistoryItem(id=event.id, query=event.content, at=event.at, session=event.id, kind="event")
    for dialogue in character.dialogues:
        yield HistoryItem(
            id=dialogue.id, query=dialogue.text, at=dialogue.at, session=dialogue.id, kind="dialogue"
        )


def _field_sentence(name: str, field: str, value: str, lang: Lang) -> str:
    if lang == "zh":
        return f"{name}的{FIELD_LABELS['zh'].get(field, field)}是{value.rstrip('。')}。"
    return f"{name}'s {FIELD_LABELS['en'].get(field, f'{field} is')} {value.rstrip('.')}."


def _relationship_sentence(name: str, other: str, relationship: str, description: str, lang: Lang) -> str:
    if lang == "zh":
        return f"{other}是{name}的{relationship}。{description}"
    return f"{other} is {name}'s {relationship}. {description}"


def _make_question(id: str, qa: QA, ids: set[str], at: datetime) -> Question:
    topic = "" if qa.topic == "plain" else f"-{qa.topic}"
    return Question(
        id=f"{id}-{qa.section}{topic}",
        text=unescape(qa.question),
        at=at,
        gold=tuple(dict.fromkeys(each for each in qa.references if each in ids)),
        answerable=qa.topic != "unanswerable",
        answer=unescape(qa.answer),
        anchors=tuple(unescape(anchor.text) for anchor in qa.anchors),
        category=qa.section,
        kind=_KIND_BY_SECTION[qa.section],
        again=qa.again,
    )
