"""The words and patterns of `claims.toml`, compiled: what a statement looks like, and what excludes what."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from thinkback.language.restrictions import KIN_WORDS_EN, KIN_WORDS_ZH
from thinkback.language.tokens import stem
from thinkback.language.writing_systems import has_han

NEGATOR_EN = re.compile(
    r"\b(?:not|never|no|no longer|nor|without|cannot|can'?t|don'?t|doesn'?t|didn'?t|isn'?t|aren'?t|wasn'?t"
    r"|won'?t"
    r"|haven'?t|hasn'?t|quit|stopped|gave up|given up|can't stand|non)\b",
    re.I,
)
NEGATOR_ZH = re.compile("不(?!错|少|同|仅|但|过[，,]|如|妨|用|必)|没(?:有)?|从未|未|别|戒")
CLAUSE_BREAK = re.compile(
    r"(?<!\d)[,:]\s*|[,:](?!\d)\s*|[;，；：。！？!?]\s*|\s(?:but|while|whereas|although|though|so|because"
    r"|since)\s|(?<=\w)\.\s+|但是?|而且?|所以|既然"
)
_PERSON = r"(?:your (?:(?:older|younger|big|little|elder) )?(?:%KIN%)(?: [A-Z]\w+)?|[A-Z][a-z]+)"


@dataclass(frozen=True, slots=True)
class Frame:
    """A kind of statement with one value: "you live in X", "your X is called Y"."""

    name: str
    patterns: tuple[re.Pattern[str], ...]

    def read(self, text: str) -> Iterator[tuple[str, str, str]]:
        """(subject, value, clause) of each match; the subject is "" where the pattern has none."""
        for pattern in self.patterns:
            for match in pattern.finditer(text):
                before = text[max(0, match.start() - 40) : match.start()]
                clause = CLAUSE_BREAK.split(before)[-1] + match.group()
                if not (NEGATOR_ZH if has_han(clause) else NEGATOR_EN).search(clause):
                    yield match.groupdict().get("s") or "", match["v"].strip(), clause


@dataclass(frozen=True, slots=True)
class Exclusive:
    """Words of which only one can be true of the same thing, such as colours or professions."""

    name: str
    pattern: re.Pattern[str]

    def find(self, text: str) -> list[str]:
        return [match.group().lower() for match in self.pattern.finditer(text)]


@dataclass(frozen=True, slots=True)
class State:
    """A condition (`holds`), and statements that it excludes (`excluded`), unless the text says `unless`."""

    name: str
    holds: tuple[re.Pattern[str], ...]
    excluded: tuple[re.Pattern[str], ...]
    unless: tuple[re.Pattern[str], ...]


@dataclass(frozen=True, slots=True)
class ClaimPatterns:
    """Everything in `claims.toml`."""

    frames: tuple[Frame, ...]
    roles: tuple[re.Pattern[str], ...]
    exclusives: tuple[Exclusive, ...]
    scales: tuple[tuple[re.Pattern[str], ...], ...]
    families_en: dict[str, str]
    negative_en: dict[str, str]
    families_zh: tuple[tuple[str, re.Pattern[str], re.Pattern[str] | None], ...]
    tokens: frozenset[str]
    states: tuple[State, ...]
    hedge: re.Pattern[str]


@cache
def claim_patterns() -> ClaimPatterns:
    data: dict[str, Any] = tomllib.loads(
        files("thinkback.language").joinpath("claims.toml").read_text("utf-8")
    )
    families = data["family"]
    return ClaimPatterns(
        frames=tuple(Frame(frame["name"], _compile_frame(frame)) for frame in data["frame"]),
        roles=_compile_roles(data["roles"]),
        exclusives=tuple(
            Exclusive(group["name"], _compile_words(group["en"] + group["zh"])) for group in data["exclusive"]
        ),
        scales=tuple(tuple(map(_compile_words, scale["levels"])) for scale in data["scale"]),
        families_en={stem(word): family["token"] for family in families for word in family["en"]},
        negative_en={
            stem(word): family["token"] for family in families for word in family.get("negative_en", ())
        },
        families_zh=tuple(
            (
                family["token"],
                re.compile("|".join(family["zh"])),
                re.compile("|".join(family["negative_zh"])) if "negative_zh" in family else None,
            )
            for family in families
        ),
        tokens=frozenset(family["token"] for family in families),
        states=tuple(
            State(
                state["name"],
                _compile_all(state["en"] + state["zh"]),
                _compile_all(state["not_en"] + state["not_zh"]),
                _compile_all(state.get("unless_en", []) + state.get("unless_zh", [])),
            )
            for state in data["state"]
        ),
        hedge=re.compile(rf"\b(?:{'|'.join(data['hedges']['en'])})\b|{'|'.join(data['hedges']['zh'])}"),
    )


def _compile_all(patterns: Sequence[str]) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.I) for pattern in patterns)


def _compile_frame(frame: dict[str, Any]) -> tuple[re.Pattern[str], ...]:
    person = _PERSON.replace("%KIN%", KIN_WORDS_EN)
    parts = {
        "{name}": r"(?P<v>(?:the )?[A-Z][\w-]+(?: (?:of )?[A-Z][\w-]+)*)",
        "{person}": person,
        "{zperson}": f"(?:你的?)?(?:{KIN_WORDS_ZH})(?:[\u4e00-\u9fff]{{2}})??|小[\u4e00-\u9fff]",
        "{place}": "(?P<v>[\u4e00-\u9fff]{2,4}?)(?=[，。！？；、,了的]|$)",
    }
    compiled = []
    for template in frame["en"] + frame["zh"]:
        pattern = template
        for key, value in parts.items():
            pattern = pattern.replace(key, value)
        compiled.append(re.compile(pattern))
    return tuple(compiled)


def _compile_roles(roles: dict[str, list[str]]) -> tuple[re.Pattern[str], ...]:
    name = r"(?P<v>(?:Dr|Mr|Mrs|Ms|Prof)?\.? ?[A-Z][\w-]+)"
    names_en, names_zh = "|".join(roles["en"]), "|".join(roles["zh"])
    return (
        re.compile(rf"\byour (?P<r>{names_en})(?:,| is| is called| is named|,? called)? {name}"),
        re.compile(rf"{name}, your (?P<r>{names_en})\b"),
        re.compile(
            rf"你的?(?P<r>{names_zh})(?:是|叫|名叫)?(?P<v>(?!是)[\u4e00-\u9fff](?:医生|老师|经理|教练|律师)"
            rf"|(?<=叫)[\u4e00-\u9fff]{{2,3}}(?=[，。！、；]|$)|(?<=经理)[\u4e00-\u9fff]{{2,3}}(?=[，。！、；]|$))"
        ),
    )


def _compile_words(words: Sequence[str]) -> re.Pattern[str]:
    ordered = sorted(words, key=len, reverse=True)
    return re.compile("|".join(word if has_han(word) else rf"\b{word}\b" for word in ordered), re.I)
