"""What the classifier of kinds learns from: questions of persona worlds, and questions written by hand.

The grammar's questions are many, but of some hundred templates, about named characters, and none asks for
knowledge. Those written by hand are in other words, mostly of the one who asks. In half of the grammar's we
put "I", another name or a pronoun for the names, so that no name tells a kind. Questions after what holds now
(topic `changed`, `past`) keep their names: a world answers them by an event, which no user means who asks
"where do I live now?".
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from thinkback_lab.cases import Kind
from thinkback_lab.sample import sample
from thinkback_lab.worlds.grammar import generate
from thinkback_lab.worlds.world import QA, Character, Lang, Section

LANGUAGES: tuple[Lang, Lang] = ("en", "zh")
HELD_OUT = 5  # a fifth of each kind is only tested on
NAMELESS = 0.5
_KINDS: dict[Section, Kind] = {
    "profile": "profile",
    "social_relationship": "relationship",
    "events": "event",
    "dialogues": "dialogue",
}
_LEADS = {"en": ("I", "I", "I", "she", "Anna", "Tom"), "zh": ("我", "我", "我", "她", "小林", "老王")}
_OTHERS = {"en": ("my friend", "a friend", "Maria", "Ken"), "zh": ("朋友", "她", "小陈", "阿芳")}
_OWN = {"I": "my", "she": "her"}


@dataclass(frozen=True, slots=True)
class Asked:
    text: str
    kind: Kind
    lang: Lang


def by_hand(lang: Lang, seed: int) -> tuple[list[Asked], list[Asked]]:
    """Those to learn from, and the fifth of each kind that is held out, drawn by the seed."""
    file = files("thinkback_lab.training").joinpath("questions", f"{lang}.toml")
    told: dict[Kind, list[str]] = tomllib.loads(file.read_text("utf-8"))  # type: ignore[assignment]
    learn: list[Asked] = []
    tested: list[Asked] = []
    for kind, questions in told.items():
        held = set(sample(questions, round(len(questions) / HELD_OUT), seed))
        for text in questions:
            (tested if text in held else learn).append(Asked(text, kind, lang))
    return learn, tested


def by_worlds(characters: int, lang: Lang, seed: int, most: int, *, nameless: float = 0.0) -> list[Asked]:
    """At most so many questions of a world, all their wordings, drawn by the seed."""
    rng = random.Random(f"kinds {lang} {seed}")  # noqa: S311 - not a secret
    told = [
        Asked(
            _without_names(text, who, lang, rng) if _may_lose_names(qa, rng, nameless) else text, kind, lang
        )
        for who in generate(characters, lang, seed).characters
        for qa in who.questions
        for kind in (_KINDS[qa.section],)
        for text in (qa.question, *qa.again)
    ]
    return sample(told, min(most, len(told)), seed)


def _may_lose_names(qa: QA, rng: random.Random, share: float) -> bool:
    return rng.random() < share and qa.topic not in ("changed", "past")


def _without_names(text: str, who: Character, lang: Lang, rng: random.Random) -> str:
    lead = rng.choice(_LEADS[lang])
    text = _put(text, who.name, lead, lang)
    for other in who.relationships:
        text = _put(text, other.name, rng.choice(_OTHERS[lang]), lang)
    return text[:1].upper() + text[1:]


def _put(text: str, name: str, instead: str, lang: Lang) -> str:
    """The name, and in English the first name alone, with the possessive of each."""
    names: Sequence[str] = (name, name.split(maxsplit=1)[0]) if lang == "en" else (name,)
    for each in names:
        text = text.replace(f"{each}'s", _OWN.get(instead, f"{instead}'s")).replace(each, instead)
    return text
