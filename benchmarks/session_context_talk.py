"""Generated conversations for benchmarks/session_context.py: small talk with planted facts."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_DATA = tomllib.loads(Path(__file__).with_name("session_context.toml").read_text("utf-8"))
_CHINESE_SHARE = 0.4


@dataclass(frozen=True)
class PlantedFact:
    """A fact that is said once, the question for it, and what the context must contain then."""

    kind: str
    said: str
    asked: str
    proof: tuple[str, ...]


@dataclass(frozen=True)
class Option:
    """An option that is rejected, with the words and the reason."""

    name: str
    said: str
    reason: str
    zh: bool


FACTS = [PlantedFact(row["kind"], row["said"], row["asked"], tuple(row["proof"])) for row in _DATA["facts"]]


def rejected_options() -> list[Option]:
    """Forty rejected options, half of them in Chinese."""
    options: list[Option] = []
    for lang in ("en", "zh"):
        forms = _DATA[lang]["rejecting"]
        for number, (name, reason) in enumerate(_DATA[lang]["options"]):
            form = forms[number % len(forms)]
            said = form.format(o=name, O=name[0].upper() + name[1:], r=reason)
            options.append(Option(name, said, reason, lang == "zh"))
    return options


def small_talk(seed: int) -> Iterator[tuple[str, str]]:
    """An endless stream of unimportant turns."""
    rng = random.Random(seed)
    while True:
        words = _DATA["zh" if rng.random() < _CHINESE_SHARE else "en"]
        filled = {
            "a": rng.choice(words["words"]),
            "b": rng.choice(words["places"]),
            "c": rng.choice(words["moods"]),
        }
        query, response = rng.choice(words["turns"])
        yield query.format(**filled), response.format(**filled)
