"""KdConv: Chinese dialogues on film, music and travel; each utterance names the knowledge it rests on.

A file is a JSON list of {"name", "messages": [{"message", "attrs": [{"name", "attrname", "attrvalue"}]}]}.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from thinkback_lab.datasets.home import data_folder, first_file
from thinkback_lab.errors import LabError
from thinkback_lab.files import complaint, read_text

DOMAINS = ("film", "music", "travel")
ORIGIN = "KdConv is the repository thu-coai/KdConv on GitHub, folder data/: film/dev.json and so on"


class Fact(BaseModel):
    """One gold triple: (name, attrname, attrvalue)."""

    model_config = ConfigDict(frozen=True)

    name: str
    attrname: str
    attrvalue: str


class Message(BaseModel):
    """One utterance, and the facts it rests on."""

    model_config = ConfigDict(frozen=True)

    message: str
    attrs: tuple[Fact, ...] = ()


class _Dialogue(BaseModel):
    model_config = ConfigDict(frozen=True)

    name: str = ""
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Exchange:
    """An utterance and its reply: one turn of memory."""

    query: str
    response: str
    facts: tuple[Fact, ...]

    @property
    def text(self) -> str:
        return f"{self.query}\n{self.response}"


@dataclass(frozen=True, slots=True)
class Dialogue:
    id: str
    domain: str
    exchanges: tuple[Exchange, ...]


_FILE = TypeAdapter(tuple[_Dialogue, ...])


def load(folder: Path | None, domains: Sequence[str] = DOMAINS, split: str = "dev") -> list[Dialogue]:
    """The dialogues of these domains, in order; an absent file is an error that says where to get it."""
    if unknown := [domain for domain in domains if domain not in DOMAINS]:
        raise LabError(f"no domain {unknown[0]!r}: KdConv has {', '.join(DOMAINS)}")
    home = data_folder(folder, ORIGIN)
    return [dialogue for domain in domains for dialogue in _read(home, domain, split)]


def _read(home: Path, domain: str, split: str) -> list[Dialogue]:
    flat, deep = f"{domain}_{split}.json", f"{domain}/{split}.json"
    path = first_file(home, (f"kdconv/{flat}", flat, f"kdconv/{deep}", deep), ORIGIN)
    try:
        found = _FILE.validate_json(read_text(path))
    except ValidationError as error:
        raise LabError(f"{path}: not a KdConv file, {complaint(error)}") from error
    return [
        Dialogue(f"{domain}-{split}-{number}", domain, _exchanges(each.messages))
        for number, each in enumerate(found)
    ]


def _exchanges(messages: Sequence[Message]) -> tuple[Exchange, ...]:
    """Utterance and reply by twos: every message stands in one turn, the last may stay unanswered."""
    pairs = [messages[at : at + 2] for at in range(0, len(messages), 2)]
    return tuple(
        Exchange(
            pair[0].message,
            "".join(each.message for each in pair[1:]),
            tuple(fact for each in pair for fact in each.attrs),
        )
        for pair in pairs
    )
