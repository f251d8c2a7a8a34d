"""Variants of a life with other names, places, numbers and years, and gold that is exact again.

A variant replaces words by others in all texts of a life alike, in prompts and in the facts that are read
from them. So what a fact says is still what the turn says.

- first names of people whose sex is known from who they are ("the user's sister"), by names of the same sex
- cities, by other cities
- numbers of three and more digits that are no years, by numbers of the same length, unless a fact states in
  digits what the user said in words
- years, all by the same shift, to years with the same weekdays at all dates of the turns
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import lru_cache
from importlib.resources import files
from random import Random
from typing import Literal

from thinkback_lab.datasets.lives import Life

_YEAR_SHIFTS = (-17, -11, -6, -5, 5, 6, 11, 17, 22, 28, -28)
_YEAR = re.compile(r"(?<![\d.,:/])(?:19|20)\d\d(?![\d.,]*\d)(?!\s*(?:kg|km|g|ml|m|元|块|字|公里|米)\b)")
_NUMBER = re.compile(r"(?<![\d.,:/\-])(?!(?:19|20)\d\d(?!\d))(?:\d{1,3}(?:,\d{3})+|\d{3,})(?![\d.:/\-])")
_FEMALE = re.compile(
    r"\b(?:wife|sister|mother|mum|mom|daughter|girlfriend|aunt|niece|grandmother|granddaughter|woman|girl)\b"
    r"|妻子|老婆|姐|妹|妈|母|女儿|女友|女朋友|姑|姨|奶奶|外婆|婶|嫂",
    re.IGNORECASE,
)
_MALE = re.compile(
    r"\b(?:husband|brother|father|dad|son|boyfriend|uncle|nephew|grandfather|grandson|man|boy)\b"
    r"|丈夫|老公|哥|弟|爸|父|儿子|男友|男朋友|叔|舅|伯|爷爷|外公|姐夫|妹夫",
    re.IGNORECASE,
)
_LATIN_NAME = re.compile(r"[A-Z][a-zà-öø-ÿ]{2,}\Z")
_HAN_NAME = re.compile(r"[\u4e00-\u9fff]{2,3}\Z")
_HAN_ROLE = re.compile(r"[用户的爸妈爷奶哥姐弟妹叔姨舅婶嫂医老师总]")


def make_variant(life: Life, chance: Random) -> Callable[[str], str]:
    """A function that changes texts of this life; the same chance makes the same variant."""
    words = _new_words(life, chance)
    shift = _year_shift(life, chance)
    numbers: dict[str, str] = {}
    fixed = _fixed_numbers(life)

    def change(text: str) -> str:
        text = _replace_words(text, words)
        if shift:
            text = _YEAR.sub(lambda found: str(int(found[0]) + shift), text)
        return _NUMBER.sub(
            lambda found: found[0] if found[0] in fixed else _new_number(found[0], numbers, chance), text
        )

    return change


def _fixed_numbers(life: Life) -> set[str]:
    """Numbers of facts that the turn states in words ("thirty-eight thousand"): they cannot be replaced."""
    return {
        number
        for turn in life.turns
        for fact in turn.facts
        for text in (fact.value, fact.text)
        for number in _NUMBER.findall(text)
        if number not in turn.user
    }


def _new_words(life: Life, chance: Random) -> dict[str, str]:
    """Names and cities of the life, each with what replaces it."""
    pools = _pools()
    text = "\n".join(turn.user for turn in life.turns)
    taken = {word for names in pools.values() for word in names if word.casefold() in text.casefold()}
    words: dict[str, str] = {}

    def draw(pool: str, length: int | None = None) -> str | None:
        free = [word for word in pools[pool] if word not in taken and length in (None, len(word))]
        if not free:
            return None
        word = chance.choice(free)
        taken.add(word)
        return word

    for person in life.people:
        sex = _sex_of(person.description)
        script = _name_script(person.name)
        if sex is None or script is None or chance.random() < 0.25:
            continue
        if new := draw(f"{sex}_{script}", len(person.name) if script == "zh" else None):
            words[person.name] = new
    for pool in ("cities_en", "cities_zh"):
        for city in pools[pool]:
            chinese = pool == "cities_zh"
            found = city in text if chinese else re.search(rf"\b{city}\b", text, re.IGNORECASE)
            if found and (new := draw(pool, len(city) if chinese else None)):
                words[city] = new
    return words


def _sex_of(description: str) -> Literal["female", "male"] | None:
    female, male = _FEMALE.search(description), _MALE.search(description)
    if bool(female) == bool(male):
        return None
    return "female" if female else "male"


def _name_script(name: str) -> Literal["en", "zh"] | None:
    if _LATIN_NAME.match(name):
        return "en"
    return "zh" if _HAN_NAME.match(name) and not _HAN_ROLE.search(name) else None


def _replace_words(text: str, words: Mapping[str, str]) -> str:
    """Replace whole words, whatever their case; an all lower-case word stays one."""
    if not words:
        return text
    folded = {old.casefold(): new for old, new in words.items()}
    latin = [re.escape(old) for old in words if old.isascii() or not _HAN_NAME.match(old)]
    han = [re.escape(old) for old in words if _HAN_NAME.match(old)]
    patterns = ([rf"\b(?:{'|'.join(latin)})(?=s?\b)"] if latin else []) + han

    def new_word(found: re.Match[str]) -> str:
        new = folded[found[0].casefold()]
        return new.lower() if found[0].islower() else new.upper() if found[0].isupper() else new

    return re.sub("|".join(patterns), new_word, text, flags=re.IGNORECASE)


def _new_number(text: str, numbers: dict[str, str], chance: Random) -> str:
    """Another number of the same length with the same first digit; the same one for the same number."""
    digits = text.replace(",", "")
    if digits not in numbers:
        zeros = len(digits) - len(digits.rstrip("0"))
        changed = "".join(chance.choice("123456789") for _ in digits[1 : len(digits) - zeros])
        first = digits[0] if changed else chance.choice("123456789")
        numbers[digits] = first + changed + "0" * zeros
    new = numbers[digits]
    return f"{int(new):,}" if "," in text else new


def _year_shift(life: Life, chance: Random) -> int:
    """A shift of all years that keeps the weekdays around the dates of the turns; 0 if there is none."""
    if chance.random() < 0.4:
        return 0
    days = {turn.at + timedelta(days=offset) for turn in life.turns for offset in (-40, 0, 40)}
    shifts = [shift for shift in _YEAR_SHIFTS if all(_keeps_weekday(day, shift) for day in days)]
    return chance.choice(shifts) if shifts else 0


def _keeps_weekday(day: datetime, shift: int) -> bool:
    try:
        return day.replace(year=day.year + shift).weekday() == day.weekday()
    except ValueError:  # 29 February
        return False


@lru_cache(maxsize=1)
def _pools() -> dict[str, list[str]]:
    text = files("thinkback_lab.training").joinpath("names.toml").read_text(encoding="utf-8")
    return {pool: words.split() for pool, words in tomllib.loads(text).items()}
