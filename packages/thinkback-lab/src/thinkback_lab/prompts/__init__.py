"""Prompt templates, one text file per prompt and language: `render("read_en", question=..., ...)`.

A variable is written {{name}}. Values are inserted once and not scanned for variables, so the data cannot
inject anything.
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
    """The prompt language for the language of a case; English unless it is Chinese."""
    return "zh" if lang.casefold().startswith(_CHINESE) else "en"


@lru_cache(maxsize=64)
def prompt_text(name: str) -> str:
    """The template of that name."""
    file = files(__name__).joinpath(f"{name}.txt")
    if not re.fullmatch(r"[a-z][a-z_]*", name) or not file.is_file():
        raise LabError(f"unknown prompt {name!r}")
    return file.read_text(encoding="utf-8")


def prompt_version(*names: str) -> str:
    """A short hash of these templates, to detect changed prompts."""
    return hashlib.sha256("\0".join(map(prompt_text, names)).encode()).hexdigest()[:8]


def render(name: str, **variables: str) -> str:
    """Fill in the variables of a template; raises LabError if they do not match."""
    text = prompt_text(name)
    expected = set(_VARIABLE.findall(text))
    if expected != set(variables):
        raise LabError(f"prompt {name!r} takes {sorted(expected)}, not {sorted(variables)}")
    return _VARIABLE.sub(lambda match: variables[match[1]], text)


def one_line(text: str) -> str:
    """Join all lines, so that data cannot end its section of a prompt."""
    return " ".join(text.split())
