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


_DATE = r"\d{4}-\d{2}-\d{2}"
_SPEAKERS = "user|assistant|system|developer|human|ai|用户|助手|系统"
_HEADINGS = "said earlier|what you remember|known facts|earlier turns|read these turns|the user wishes"
_STRUCTURE = re.compile(
    rf"(?<!\w)(?:{_SPEAKERS})(?:\s{{0,3}},\s{{0,3}}{_DATE})?\s{{0,3}}[:：]"  # a speaker
    rf"|(?<!\w)(?:fact\s{{0,3}}#\s{{0,3}}\d+|{_HEADINGS})\s{{0,3}}[:：]"
    r"|(?<!\w)turn\s{1,3}\d+\s{0,3}\["
    r"|\(must be respected\)|\(past[:,]|（已成过去"
    r"|[-=_*~─—]{4,}",  # a line between two parts
    re.IGNORECASE,
)
_MAY_IMITATE = re.compile(r"[:：\[(（]|[-=_*~─—]{4}")  # in every match of `_STRUCTURE`; fast
_TEMPLATE_TOKEN = re.compile(r"<\|[^|<>]{1,40}\|>|</?s>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>")
_IMITATED_USER = re.compile(
    rf"(?:^|\s/)[ \t]*(?:[-*][ \t]+)?(?:on[ \t]+{_DATE}[ \t]+)?"
    rf"(?:user|human|用户)(?:[ \t]*,[ \t]*{_DATE})?[ \t]*[:：]",
    re.IGNORECASE | re.MULTILINE,
)


def escape_structure(text: str) -> str:
    """A remembered text that cannot pass for a part of the prompt around it.

    What imitates the structure of our prompts (`assistant:`, `Fact #2:`, a line of dashes) is put into
    quotation marks, and the special tokens of chat templates are taken apart. Other text is unchanged. Apply
    it once, to the words alone, before labels are added.
    """
    if "<" in text or "[" in text:  # each template token has one of them
        text = _TEMPLATE_TOKEN.sub(lambda match: f"{match[0][0]} {match[0][1:-1]} {match[0][-1]}", text)
    if _MAY_IMITATE.search(text) is None:
        return text
    return _STRUCTURE.sub(lambda match: f'"{match[0]}"', text)


def own_answer(response: str) -> str:
    """The beginning of a model's answer, up to where it goes on in the name of the user.

    A model that sees memories sometimes continues them ("user: You're my cat"). The user said no such thing,
    so it is neither shown as part of the conversation nor accepted as evidence.
    """
    found = _IMITATED_USER.search(response)
    return response if found is None else response[: found.start()]


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
