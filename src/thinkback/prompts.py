"""Prompt templates stored in text files, and helpers that format memories for them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from thinkback.errors import InvalidInput, NotFound

_VARIABLE = re.compile(r"\{\{(\w+)\}\}")
_PROMPT_NAME = re.compile(r"[a-z][a-z_]*\Z")


@dataclass(frozen=True, slots=True)
class Prompt:
    """The text of one prompt file."""

    name: str
    text: str

    @property
    def variables(self) -> frozenset[str]:
        return frozenset(_VARIABLE.findall(self.text))

    @property
    def version(self) -> str:
        """A short hash of the text: another text, another version."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:8]

    def render(self, **variables: str) -> str:
        """The text with every variable filled in."""
        wanted, given = self.variables, frozenset(variables)
        if wanted != given:
            missing, unknown = sorted(wanted - given), sorted(given - wanted)
            raise InvalidInput(
                f"prompt {self.name!r}: missing variables {missing}, unknown variables {unknown}"
            )
        return _VARIABLE.sub(lambda match: variables[match[1]], self.text)


def prompt_names() -> list[str]:
    """Every prompt there is."""
    return sorted(f.name.removesuffix(".txt") for f in files(__name__).iterdir() if f.name.endswith(".txt"))


@lru_cache(maxsize=32)
def load_prompt(name: str) -> Prompt:
    """The prompt of that name; NotFound lists those there are."""
    if not _PROMPT_NAME.match(name) or name not in prompt_names():
        raise NotFound(f"no prompt named {name!r}; there are {', '.join(prompt_names())}")
    text = files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
    return Prompt(name, text)


NO_FACTS = "(nothing yet)"


def format_facts(texts: Iterable[str]) -> str:
    """Numbered from 1; a list of none says so."""
    lines = [f"Fact #{k}: {' '.join(text.split())}" for k, text in enumerate(texts, start=1)]
    return "\n".join(lines) or NO_FACTS


def format_numbered(texts: Iterable[tuple[int, str]]) -> str:
    """Thoughts with the numbers that proposals refer to."""
    return "\n".join(f"{number}. {' '.join(text.split())}" for number, text in texts)
