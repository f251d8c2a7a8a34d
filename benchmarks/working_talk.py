"""The generated conversations of benchmarks/working.py: talk in two languages, with facts planted in it."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_DATA = tomllib.loads(Path(__file__).with_name("working.toml").read_text("utf-8"))
_CHINESE = 0.4  # of the turns


@dataclass(frozen=True)
class Planted:
    """Something said once: how it is asked for later, and what must stand in the context then."""

    kind: str
    said: str
    asked: str
    proof: tuple[str, ...]


@dataclass(frozen=True)
class Option:
    """An option that is rejected: in whose words, and why."""

    name: str
    said: str
    reason: str
    zh: bool


FACTS = [Planted(row["kind"], row["said"], row["asked"], tuple(row["proof"])) for row in _DATA["facts"]]


def options() -> list[Option]:
    """Forty options that are rejected, half of them in Chinese."""
    made: list[Option] = []
    for lang in ("en", "zh"):
        forms = _DATA[lang]["rejecting"]
        for number, (name, reason) in enumerate(_DATA[lang]["options"]):
            form = forms[number % len(forms)]
            said = form.format(o=name, O=name[0].upper() + name[1:], r=reason)
            made.append(Option(name, said, reason, lang == "zh"))
    return made


def talk(seed: int) -> Iterator[tuple[str, str]]:
    """Turns that matter to nobody, without end."""
    rng = random.Random(seed)
    while True:
        words = _DATA["zh" if rng.random() < _CHINESE else "en"]
        filled = {
            "a": rng.choice(words["words"]),
            "b": rng.choice(words["places"]),
            "c": rng.choice(words["moods"]),
        }
        said, answered = rng.choice(words["turns"])
        yield said.format(**filled), answered.format(**filled)
