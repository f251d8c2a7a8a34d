"""Parsing of PerLTQA's character records, tolerant of what the public files contain.

Numbers may replace text, a section may be a string with a Python literal, and dates are free text. A
reference with another character's number is taken as the same place under the own number, and the count after
# of a dialogue may be wrong if the event has only one. A memory without a readable date takes that of its
dialogue (event) or of its event (dialogue), that of the memory before it, or 1 January 2000.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, get_args

from thinkback_lab.worlds.dates import parse_date as read_date
from thinkback_lab.worlds.world import (
    PROFILE_FIELDS,
    QA,
    Anchor,
    Character,
    Dialogue,
    Event,
    Lang,
    Relationship,
    Section,
)

# Our field names and their variants. The Chinese files were not available: the names are those that the
# repository's own reader uses, and plausible translations of the English ones.
_OTHER_NAMES: dict[str, tuple[str, ...]] = {
    "Protagonist": ("主角", "主人公", "姓名", "名字", "name"),
    "Gender": ("性别",),
    "Nickname": ("昵称", "绰号"),
    "Title": ("头衔", "称谓", "称号"),
    "Age": ("年龄",),
    "Occupation": ("职业",),
    "Nationality": ("国籍",),
    "Physical Characteristics": ("体貌特征", "外貌特征", "身体特征", "外貌"),
    "Hobbies": ("爱好", "兴趣爱好"),
    "Achievements": ("成就",),
    "Ethnic Background": ("种族背景", "民族背景", "民族"),
    "Education Background": ("教育背景", "学历", "Educational Background"),
    "Employer": ("雇主", "工作单位"),
    "Awards and Role Models": ("奖项和榜样", "奖项与榜样", "获奖和榜样", "获奖与榜样"),
    "profile": ("简介", "个人简介", "人物简介"),
    "profile_description": ("profile description", "人物描述", "简介描述"),
    "social_relationship": ("social relationship", "social_relationships", "社会关系", "社交关系"),
    "events": ("event", "事件"),
    "dialogues": ("dialogue", "对话", "历史对话"),
    "Supporting Characters": ("Supporting Character", "配角", "支持人物", "姓名"),
    "Description": ("描述", "关系描述"),
    "Relationship": ("关系",),
    "content": ("内容", "事件内容"),
    "summary": ("概要", "摘要", "事件概要"),
    "Characters": ("人物", "角色", "相关人物"),
    "Creation Time": ("创建时间", "时间"),
    "Theme": ("主题",),
    "contents": ("对话内容", "内容"),
    "Question": ("问题", "Q"),
    "Answer": ("回答", "答案", "A"),
    "Reference Memory": ("参考记忆", "Reference Memories"),
    "Memory Anchors": ("记忆锚点", "Memory Anchor"),
}
_CANONICAL = {_: field for field in PROFILE_FIELDS for _ in (field, field.lower(), *_OTHER_NAMES[field])}

# How a profile field is worded: singular or plural in English; the noun in Chinese.
FIELD_LABELS: dict[Lang, dict[str, str]] = {
    "en": {
        **{field: f"{field.lower()} is" for field in PROFILE_FIELDS},
        "Protagonist": "name is",
        "Physical Characteristics": "physical characteristics are",
        "Hobbies": "hobbies are",
        "Achievements": "achievements are",
        "Awards and Role Models": "awards and role models are",
    },
    "zh": {
        **{field: _OTHER_NAMES[field][0] for field in PROFILE_FIELDS},
        "Protagonist": "名字",
    },
}


def canonical_field(name: str) -> str:
    """Normalise a field name to `PROFILE_FIELDS`; unknown names are unchanged."""
    return _CANONICAL.get(name) or _CANONICAL.get(name.strip().lower(), name)


def get_field(record: Mapping[str, Any], name: str) -> Any:
    """Get a field by any of its names, or None."""
    return next((record[key] for key in (name, *_OTHER_NAMES.get(name, ())) if key in record), None)


SECTIONS: tuple[Section, ...] = get_args(Section)
DEFAULT_DATE = datetime(2000, 1, 1, tzinfo=UTC)
RecordEntry = tuple[str, Mapping[str, Any]]


def parse_character(
    name: str, record: Mapping[str, Any], position: int, questions: Mapping[str, Any]
) -> Character:
    relationships = tuple(
        _parse_relationship(*each) for each in _section_entries(record, "social_relationship")
    )
    events, dialogues = _parse_dated(
        _section_entries(record, "events"), _section_entries(record, "dialogues")
    )
    ids = [*(each.id for each in relationships), *(each.id for each in events)]
    profile = get_field(record, "profile") or {}
    character = Character(
        number=_character_number(ids, position),
        name=name,
        profile={canonical_field(field): to_text(value) for field, value in profile.items()},
        description=to_text(get_field(record, "profile_description")),
        relationships=relationships,
        events=events,
        dialogues=dialogues,
        questions=(),
    )
    return replace(character, questions=tuple(_parse_questions(questions, character)))


def _character_number(ids: Sequence[str], position: int) -> int:
    """The number that starts the ids; without ids, the position in the file."""
    head = ids[0].split("_", 1)[0] if ids else ""
    return int(head) if head.isascii() and head.isdigit() else position


def _section_entries(record: Mapping[str, Any], section: str) -> list[RecordEntry]:
    """(id, fields) of a section; a plain string becomes the content."""
    section_data = get_field(record, section) or {}
    if isinstance(section_data, str):
        section_data = ast.literal_eval(section_data)
    return [
        (str(id), {"content": entry, "Description": entry} if isinstance(entry, str) else entry)
        for id, entry in section_data.items()
    ]


def _parse_relationship(id: str, entry: Mapping[str, Any]) -> Relationship:
    return Relationship(
        id=id,
        name=to_text(get_field(entry, "Supporting Characters")),
        relationship=to_text(get_field(entry, "Relationship")),
        description=to_text(get_field(entry, "Description")),
    )


def _parse_dated(
    events: Sequence[RecordEntry], dialogues: Sequence[RecordEntry]
) -> tuple[tuple[Event, ...], tuple[Dialogue, ...]]:
    """Events and dialogues with their dates; missing dates are filled in as the module docstring says."""
    parsed_dialogues = [_parse_dialogue(*each) for each in dialogues]
    told_of = {dialogue.event: at for dialogue, at in reversed(parsed_dialogues) if at}
    parsed_events: list[Event] = []
    last = DEFAULT_DATE
    for id, entry in events:
        last = read_date(to_text(get_field(entry, "Creation Time"))) or told_of.get(id) or last
        parsed_events.append(_parse_event(id, entry, last))
    when = {event.id: event.at for event in parsed_events}
    dated: list[Dialogue] = []
    last = DEFAULT_DATE
    for dialogue, at in parsed_dialogues:
        last = at or when.get(dialogue.event) or last
        dated.append(replace(dialogue, at=last))
    return tuple(parsed_events), tuple(dated)


def _parse_event(id: str, entry: Mapping[str, Any], at: datetime) -> Event:
    people = get_field(entry, "Characters") or ()
    return Event(
        id=id,
        content=to_text(get_field(entry, "content")),
        summary=to_text(get_field(entry, "summary")),
        characters=(people,) if isinstance(people, str) else tuple(map(str, people)),
        at=at,
        theme=to_text(get_field(entry, "Theme")),
    )


def _parse_dialogue(id: str, entry: Mapping[str, Any]) -> tuple[Dialogue, datetime | None]:
    """A dialogue with the lines of all its days; the first day is its date."""
    contents = get_field(entry, "contents") or {}
    days = contents if isinstance(contents, dict) else {"": contents}
    lines = tuple(_parse_line(str(line)) for day in days.values() for line in day)
    about = to_text(get_field(entry, "events")) or id.split("#", 1)[0]
    return Dialogue(id=id, event=about, at=DEFAULT_DATE, lines=lines), read_date(next(iter(days), ""))


def _parse_line(line: str) -> tuple[str, str]:
    """Split `Speaker: words` at a Latin or Chinese colon; without one the speaker is empty."""
    at = min((found for mark in ":：" if (found := line.find(mark)) >= 0), default=-1)
    if at < 0:
        return "", line
    return line[:at], line[at + 1 :].removeprefix(" ")


def _parse_questions(sections: Mapping[str, Any], character: Character) -> Iterator[QA]:
    ids = frozenset(character.texts())
    for section in SECTIONS:
        for entry in get_field(sections, section) or ():
            if get_field(entry, "Question") is not None:
                yield _parse_question(section, entry, character, ids)
            else:
                yield from (
                    _parse_question(section, each, character, ids) for run in entry.values() for each in run
                )


def _parse_question(
    section: Section, entry: Mapping[str, Any], character: Character, ids: frozenset[str]
) -> QA:
    references = _parse_references(get_field(entry, "Reference Memory"))
    return QA(
        section=section,
        question=to_text(get_field(entry, "Question")),
        answer=to_text(get_field(entry, "Answer")),
        references=tuple(_own_reference(each, character, ids) for each in references),
        anchors=tuple(_parse_anchors(get_field(entry, "Memory Anchors") or ())),
        topic=to_text(entry.get("Topic")) or "plain",
        again=tuple(map(str, entry.get("Again") or ())),
    )


def _parse_references(value: Any) -> tuple[str, ...]:
    """Parse `Gender`, `['4_0']`, a list, or nothing."""
    if isinstance(value, str) and value.strip().startswith("["):
        value = ast.literal_eval(value.strip())
    if isinstance(value, list):
        return tuple(canonical_field(str(each)) for each in value)
    return (canonical_field(value),) if value else ()


def _own_reference(reference: str, character: Character, ids: frozenset[str]) -> str:
    """Map a reference to the character's own memory if it does not match exactly."""
    if reference in ids or "_" not in reference:
        return reference
    own = f"{character.number}_{reference.split('_', 1)[1]}"
    if own in ids:
        return own
    same = [each.id for each in character.dialogues if each.event == own.split("#", 1)[0]]
    return same[0] if "#" in own and len(same) == 1 else reference


def _parse_anchors(values: Sequence[Any]) -> Iterator[Anchor]:
    for each in values:
        if isinstance(each, str):
            yield Anchor(each)
            continue
        for text, span in each.items():
            start, end = span if isinstance(span, list) and len(span) == 2 else (-1, -1)
            yield Anchor(text, int(start), int(end))


def to_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(map(to_text, value))
    return str(value)
