"""Prompt templates stored in text files, and helpers that format memories for them.

Each package keeps its prompts in a `prompts` folder: `thinkback/think/prompts/generate.txt` is
`load_prompt("thinkback.think", "generate")`. A variable is written `{{name}}`.
"""

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
    """One prompt template."""

    name: str
    text: str

    @property
    def variables(self) -> frozenset[str]:
        """The names of all variables in the text."""
        return frozenset(_VARIABLE.findall(self.text))

    @property
    def version(self) -> str:
        """A short hash of the text. The journal records it with every thought the prompt produced."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:8]

    def render(self, **variables: str) -> str:
        """Fill in every variable.

        Values are inserted once and are not searched for variables themselves, so text written by a user
        cannot pull in other values.

        Raises:
            InvalidInput: a variable is missing or unknown.
        """
        wanted, given = self.variables, frozenset(variables)
        if wanted != given:
            missing, unknown = sorted(wanted - given), sorted(given - wanted)
            raise InvalidInput(
                f"prompt {self.name!r}: missing variables {missing}, unknown variables {unknown}"
            )
        return _VARIABLE.sub(lambda match: variables[match[1]], self.text)


def prompt_names(package: str) -> list[str]:
    """The names of all prompts of a package, sorted."""
    folder = files(package).joinpath("prompts")
    return sorted(f.name.removesuffix(".txt") for f in folder.iterdir() if f.name.endswith(".txt"))


@lru_cache(maxsize=32)
def load_prompt(package: str, name: str) -> Prompt:
    """Load one prompt of a package.

    Raises:
        NotFound: the package has no prompt of this name; the message lists those it has.
    """
    if not _PROMPT_NAME.match(name) or name not in prompt_names(package):
        raise NotFound(f"{package} has no prompt {name!r}; it has {', '.join(prompt_names(package))}")
    text = files(package).joinpath("prompts", f"{name}.txt").read_text(encoding="utf-8")
    return Prompt(name, text)


NO_FACTS = "(nothing yet)"


def format_facts(texts: Iterable[str]) -> str:
    """Format memories as "Fact #1: ..." lines (TiM (ACL), Eq. 8); an empty list gives NO_FACTS.

    Each text is put on one line: a line break inside a memory could forge another fact.
    """
    lines = [f"Fact #{k}: {' '.join(text.split())}" for k, text in enumerate(texts, start=1)]
    return "\n".join(lines) or NO_FACTS


def format_numbered(texts: Iterable[tuple[int, str]]) -> str:
    """Format (number, text) pairs as "1. ..." lines, each on one line."""
    return "\n".join(f"{number}. {' '.join(text.split())}" for number, text in texts)
