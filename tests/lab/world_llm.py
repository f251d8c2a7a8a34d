"""Replies of a well-behaved model to the prompts of a world."""

from __future__ import annotations

import json
import re
from typing import Any

NAMES = {"en": ("Ida Moss", "Ben Reed"), "zh": ("马小川", "丁一鸣")}
PLACES = {"en": "Lake Varr", "zh": "望月湖"}


def world_reply(prompt: str) -> str:
    return json.dumps(_answer(prompt), ensure_ascii=False)


def step_of(prompt: str) -> str:
    """The step that a prompt belongs to, by the form of the answer it asks for."""
    forms = ("relationships", "events", "lines", "items", "anchors")
    found = [form for form in forms if f'{{"{form}": [' in prompt]
    return found[-1] if found else "score" if '"score"' in prompt else "profile"


def _answer(prompt: str) -> dict[str, Any]:
    lang = "zh" if "请" in prompt else "en"
    match step_of(prompt):
        case "profile":
            told = _profile(_found(r"(?:name: |姓名：)(.+)", prompt), lang)
        case "relationships":
            name = _found(r"(?:This is |人物 )(.+?)\s?[:：]", prompt)
            told = {"relationships": [_person(each, name, lang) for each in NAMES[lang]]}
        case "events":
            name = _found(r"(?:This is |人物 )(.+?)\s?[:：]", prompt)
            other = _found(r"\n(.+?) (?:is the|是) ", prompt)
            told = {"events": [_event(name, other, day, lang) for day in (3, 14)]}
        case "lines":
            name = _found(r"(?:On \S+ |\n\S+，)(.+?) (?:talks|和)", prompt)
            told = {"lines": _talk(name, prompt.splitlines()[0], lang)}
        case "items":
            name = _found(r"(?:A memory of )?(.+?)(?::| 的一段记忆：)\n", prompt)
            told = {"items": [_pair(name, _found(r"(?::|：)\n([\s\S]+?)\n\n", prompt), lang)]}
        case "anchors":
            told = {"anchors": [_found(r"(?:Answer: |答案：)(.+)\n\n", prompt)]}
        case _:
            told = {"reason": "exact", "score": 10}
    return told


def _found(pattern: str, prompt: str) -> str:
    match = re.search(pattern, prompt)
    assert match, (pattern, prompt)
    return match[1]


def _profile(name: str, lang: str) -> dict[str, Any]:
    fields = (
        *("gender", "nickname", "title", "occupation", "nationality", "physical_characteristics", "hobbies"),
        *("achievements", "ethnic_background", "education_background", "employer", "awards_and_role_models"),
    )
    told: dict[str, Any] = {field: ("one kind of " if lang == "en" else "某种") + field for field in fields}
    return {**told, "age": 41, "description": name}


def _person(other: str, name: str, lang: str) -> dict[str, str]:
    said = f"{other} taught {name} to row." if lang == "en" else f"{other}教{name}划船。"
    return {"name": other, "relationship": "friend" if lang == "en" else "朋友", "description": said}


def _event(name: str, other: str, day: int, lang: str) -> dict[str, str]:
    place = PLACES[lang]
    if lang == "en":
        said = f"{name} and {other} rowed across {place} for {day} hours and mended an oar with a red scarf."
    else:
        said = f"{name}和{other}花了{day}个小时划过{place}，又用一条红围巾修好了一支断桨。"
    return {"date": f"2021-06-{day:02d}", "topic": place, "summary": place, "detail": said}


def _talk(name: str, about: str, lang: str) -> list[dict[str, str]]:
    said = (
        ("The scarf was my aunt's.", "A good use for it.") if lang == "en" else ("围巾是姑姑的。", "用得好。")
    )
    return [
        {"speaker": name, "text": f"{about} {said[0]}"},
        {"speaker": "AI assistant" if lang == "en" else "AI助手", "text": said[1]},
    ]


def _pair(name: str, memory: str, lang: str) -> dict[str, str]:
    """The last word of the memory, asked for."""
    words = memory.rstrip(".。")
    answer = words.split()[-1] if lang == "en" else words[-4:]
    asked = f"What is the last thing told of {name}?" if lang == "en" else f"关于{name}最后说了什么？"
    return {"question": asked, "answer": answer}
