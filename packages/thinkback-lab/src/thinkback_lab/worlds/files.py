"""PerLTQA's files: a world written to `perltmem_LANG.json` and `perltqa_LANG.json`, and read back.

`Topic` and `Again` are additional fields of ours. An unanswerable question has an empty `Reference Memory`.
Anchor positions count characters of the reference text; PerLTQA's own count tokens of a Chinese original.
Questions are read by section, in order within each.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from thinkback_lab.errors import LabError
from thinkback_lab.files import read_text
from thinkback_lab.worlds.dates import format_date
from thinkback_lab.worlds.parsing import SECTIONS, get_field, parse_character, to_text
from thinkback_lab.worlds.world import QA, Character, Lang, World


def file_names(lang: Lang) -> tuple[str, str]:
    """Names of the two files: memories and questions."""
    return f"perltmem_{lang}.json", f"perltqa_{lang}.json"


def write_world(world: World, folder: Path) -> tuple[Path, Path]:
    """Write both files; the same world gives the same bytes."""
    if problem := _find_unwritable(world):
        raise LabError(f"{problem}: PerLTQA's files cannot represent that")
    memories, questions = (folder / name for name in file_names(world.lang))
    folder.mkdir(parents=True, exist_ok=True)
    _write_json({each.name: _memories_json(each) for each in world.characters}, memories)
    _write_json(
        [{each.name: _questions_json(each)} for each in world.characters if each.questions], questions
    )
    return memories, questions


def _find_unwritable(world: World) -> str:
    """What could not be read back: the files identify characters by name, memories by id, speakers by a
    colon.
    """
    if duplicate := _first_duplicate([each.name for each in world.characters]):
        return f"two characters are named {duplicate!r}"
    for character in world.characters:
        for memories in (character.relationships, character.events, character.dialogues):
            if duplicate := _first_duplicate([each.id for each in memories]):
                return f"two memories of {character.name!r} have the id {duplicate!r}"
        speakers = {speaker for dialogue in character.dialogues for speaker, _ in dialogue.lines}
        if odd := sorted(speaker for speaker in speakers if ":" in speaker or "：" in speaker):
            return f"a speaker is named {odd[0]!r}"
    return ""


def _first_duplicate(names: Sequence[str]) -> str | None:
    return next((name for name, times in Counter(names).items() if times > 1), None)


def _write_json(content: object, path: Path) -> None:
    path.write_bytes((json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode())


def _memories_json(character: Character) -> dict[str, Any]:
    return {
        "profile": dict(character.profile),
        "profile_description": character.description,
        "social_relationship": {
            each.id: {
                "Supporting Characters": each.name,
                "Description": each.description,
                "Relationship": each.relationship,
            }
            for each in character.relationships
        },
        "events": {
            each.id: {
                "content": each.content,
                "summary": each.summary,
                "Characters": list(each.characters),
                "Creation Time": format_date(each.at),
                "Last Accessed Time": "",
                "Theme": each.theme,
            }
            for each in character.events
        },
        "dialogues": {
            each.id: {
                "events": each.event,
                "contents": {format_date(each.at): [f"{speaker}: {words}" for speaker, words in each.lines]},
            }
            for each in character.dialogues
        },
    }


def _questions_json(character: Character) -> dict[str, list[Any]]:
    """Profile questions are one list; the others are grouped by the first memory they refer to."""
    by_section: dict[str, list[Any]] = {}
    for section in SECTIONS:
        questions = [qa for qa in character.questions if qa.section == section]
        if section == "profile":
            by_section[section] = [_question_json(qa) for qa in questions]
        else:
            runs = groupby(questions, key=lambda qa: qa.references[0] if qa.references else "")
            by_section[section] = [{first: [_question_json(qa) for qa in run]} for first, run in runs]
    return by_section


def _question_json(qa: QA) -> dict[str, Any]:
    plain = qa.section == "profile" and len(qa.references) < 2
    return {
        "Question": qa.question,
        "Answer": qa.answer,
        "Reference Memory": "".join(qa.references) if plain else str(list(qa.references)),
        "Memory Anchors": [{anchor.text: [anchor.start, anchor.end]} for anchor in qa.anchors],
        **({"Topic": qa.topic} if qa.topic != "plain" else {}),
        **({"Again": list(qa.again)} if qa.again else {}),
    }


def read_world(memories: Path, questions: Path, lang: Lang) -> World:
    """Read a world from two files, plain or gzipped; characters without questions are included."""
    try:
        questions_by_name = _records_by_name(_read_json(questions), questions)
        characters = [
            parse_character(name, record, position, questions_by_name.get(name, {}))
            for position, (name, record) in enumerate(
                _records_by_name(_read_json(memories), memories).items(), start=1
            )
        ]
    except (AttributeError, TypeError, ValueError, SyntaxError) as error:
        raise LabError(f"{memories}, {questions}: not PerLTQA's format ({error})") from error
    return World(lang, tuple(characters))


def _read_json(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as error:
        raise LabError(f"{path}: not JSON ({error})") from error


def _records_by_name(content: Any, path: Path) -> dict[str, Mapping[str, Any]]:
    """Records by character name, from {name: record}, a list of such, or records with profiles; the last one
    wins.
    """
    records: dict[str, Mapping[str, Any]] = {}
    for part in content if isinstance(content, list) else [content]:
        if not isinstance(part, dict):
            raise LabError(f"{path}: not PerLTQA's format (expected an object by character)")
        profile = get_field(part, "profile")
        if isinstance(profile, dict):
            records[to_text(get_field(profile, "Protagonist"))] = part
        else:
            records.update(part)
    return records
