"""KdConv: Chinese dialogues on film, music and travel; each message lists the knowledge triples it uses.

A file is a JSON list of {"name", "messages": [{"message", "attrs": [{"name", "attrname", "attrvalue"}]}]}.

`load_dialogues` returns the dialogues as turns with their facts, to evaluate extraction. `load_cases` returns
retrieval cases: the memory contains every distinct triple of a dialogue, in order of first use; each message
that uses triples and has a predecessor gives a question, whose text is the predecessor, whose gold are the
triples, and whose answer is the message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter

from thinkback_lab.cases import Case, Dataset, HistoryItem, Question
from thinkback_lab.datasets.loading import data_folder, read_json, require_file
from thinkback_lab.errors import LabError

DOMAINS = ("film", "music", "travel")
SPLITS = ("dev", "test", "train")
FIRST_ITEM_AT = datetime(
    2020, 1, 1, tzinfo=UTC
)  # the triples have no dates: stored minute by minute, asked a day later
ORIGIN = "KdConv is the repository thu-coai/KdConv on GitHub, folder data/: film/dev.json and so on"


class Fact(BaseModel):
    """One gold triple: (name, attrname, attrvalue)."""

    model_config = ConfigDict(frozen=True)

    name: str
    attrname: str
    attrvalue: str


class Message(BaseModel):
    """One message and the facts it uses."""

    model_config = ConfigDict(frozen=True)

    message: str
    attrs: tuple[Fact, ...] = ()


class _Dialogue(BaseModel):
    model_config = ConfigDict(frozen=True)

    name: str = ""
    messages: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Exchange:
    """An utterance and its reply: one turn."""

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


_FILE_ADAPTER = TypeAdapter(tuple[_Dialogue, ...])


def load_dialogues(
    folder: Path | None, domains: Sequence[str] = DOMAINS, split: str = "dev"
) -> list[Dialogue]:
    """Load the dialogues of these domains, in order."""
    return [
        Dialogue(f"{domain}-{split}-{number}", domain, _pair_messages(each.messages))
        for domain, number, each in _read_dialogues(folder, domains, split)
    ]


def load_cases(folder: Path | None, domain: Sequence[str] = DOMAINS, split: str = "dev") -> Dataset:
    """Load one case per dialogue with questions; triples become notes `name attrname attrvalue`."""
    domains = (domain,) if isinstance(domain, str) else tuple(domain)
    cases = (
        _make_case(f"{name}-{split}-{number}", name, each.messages)
        for name, number, each in _read_dialogues(folder, domains, split)
    )
    asking = tuple(case for case in cases if case.questions)
    return Dataset(name="kdconv", cases=asking, settings={"domain": list(domains), "split": split})


def _read_dialogues(
    folder: Path | None, domains: Sequence[str], split: str
) -> Iterator[tuple[str, int, _Dialogue]]:
    if unknown := [domain for domain in domains if domain not in DOMAINS]:
        raise LabError(f"unknown domain {unknown[0]!r}: choose from {', '.join(DOMAINS)}")
    home = data_folder(folder, ORIGIN)
    for domain in domains:
        flat, deep = f"{domain}_{split}.json", f"{domain}/{split}.json"
        path = require_file(home, (f"kdconv/{flat}", flat, f"kdconv/{deep}", deep), ORIGIN)
        dialogues = read_json(path, _FILE_ADAPTER, "a KdConv file")
        for number, each in enumerate(dialogues):
            yield domain, number, each


def _pair_messages(messages: Sequence[Message]) -> tuple[Exchange, ...]:
    """Pair messages into turns; the last one may have no reply."""
    pairs = [messages[at : at + 2] for at in range(0, len(messages), 2)]
    return tuple(
        Exchange(
            pair[0].message,
            "".join(each.message for each in pair[1:]),
            tuple(fact for each in pair for fact in each.attrs),
        )
        for pair in pairs
    )


def _make_case(id: str, domain: str, messages: Sequence[Message]) -> Case:
    bank: dict[Fact, str] = {}
    for message in messages:
        for fact in message.attrs:
            bank.setdefault(fact, f"t{len(bank)}")
    items = tuple(
        HistoryItem(
            id=name,
            query=f"{fact.name} {fact.attrname} {fact.attrvalue}",
            at=FIRST_ITEM_AT + timedelta(minutes=at),
            session=id,
            kind="knowledge",
        )
        for at, (fact, name) in enumerate(bank.items())
    )
    asked = tuple(
        Question(
            id=f"{id}-{at}",
            text=before.message,
            at=FIRST_ITEM_AT + timedelta(days=1, minutes=at),
            gold=tuple(dict.fromkeys(bank[fact] for fact in message.attrs)),
            answer=message.message,
            anchors=_repeated_values(message),
            category=domain,
            kind="knowledge",
        )
        for at, (before, message) in enumerate(pairwise(messages), start=1)
        if message.attrs
    )
    return Case(id=id, items=items, questions=asked, lang="zh")


def _repeated_values(message: Message) -> tuple[str, ...]:
    """Values that the message repeats literally."""
    values = dict.fromkeys(fact.attrvalue for fact in message.attrs)
    return tuple(value for value in values if value and value in message.message)
