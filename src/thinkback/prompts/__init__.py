"""One file a prompt: `load(name).render(**variables)`; an unknown or a missing variable is an error.

A variable is written {{name}}. Values are put in once and never read again for variables, so that what a user
said cannot pull in anything else. `version` goes into the journal with every thought a prompt made.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from thinkback.errors import InvalidInput, NotFound

_VARIABLE = re.compile(r"\{\{(\w+)\}\}")
_NAME = re.compile(r"[a-z][a-z_]*\Z")


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


def names() -> list[str]:
    """Every prompt there is."""
    return sorted(f.name.removesuffix(".txt") for f in files(__name__).iterdir() if f.name.endswith(".txt"))


@lru_cache(maxsize=32)
def load(name: str) -> Prompt:
    """The prompt of that name; NotFound lists those there are."""
    if not _NAME.match(name) or name not in names():
        raise NotFound(f"no prompt named {name!r}; there are {', '.join(names())}")
    text = files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
    return Prompt(name, text)
