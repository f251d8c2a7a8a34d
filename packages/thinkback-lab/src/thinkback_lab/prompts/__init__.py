"""One file a prompt and language: `render("read_en", question=..., ...)`; a wrong variable is an error.

A variable is written {{name}}. Values are put in once and never read again for variables: what a history
holds cannot pull in anything else. The language of a prompt is that of the case, English where we have none.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache
from importlib.resources import files

from thinkback_lab.errors import LabError

_VARIABLE = re.compile(r"\{\{(\w+)\}\}")
_CHINESE = ("zh", "cn")


def prompt_language(lang: str) -> str:
    """The language of the prompts for a case's language."""
    return "zh" if lang.casefold().startswith(_CHINESE) else "en"


@lru_cache(maxsize=64)
def prompt_text(name: str) -> str:
    """The text of the prompt file of that name."""
    file = files(__name__).joinpath(f"{name}.txt")
    if not re.fullmatch(r"[a-z][a-z_]*", name) or not file.is_file():
        raise LabError(f"the laboratory has no prompt {name!r}")
    return file.read_text(encoding="utf-8")


def prompt_version(*names: str) -> str:
    """A short hash of the prompts' words: other words, another version."""
    return hashlib.sha256("\0".join(map(prompt_text, names)).encode()).hexdigest()[:8]


def render(name: str, **variables: str) -> str:
    """The prompt with every variable filled in."""
    text = prompt_text(name)
    wanted = set(_VARIABLE.findall(text))
    if wanted != set(variables):
        raise LabError(f"prompt {name!r} takes {sorted(wanted)}, not {sorted(variables)}")
    return _VARIABLE.sub(lambda match: variables[match[1]], text)


def one_line(text: str) -> str:
    """Text as data in a prompt: without line breaks it cannot end its part of the prompt."""
    return " ".join(text.split())
