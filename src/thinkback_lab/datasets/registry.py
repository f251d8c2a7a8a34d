"""Every data set by name: its loader, the choices it takes, and where its files are at home."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from thinkback_lab.cases import Dataset
from thinkback_lab.datasets import gvd, kdconv, locomo, longmemeval, madial, medical, perltqa
from thinkback_lab.errors import LabError


@dataclass(frozen=True, slots=True)
class Choice:
    """A keyword of a loader: one of `values`, several where `many`; without values it is a whole number."""

    name: str
    values: tuple[str, ...]
    default: str | int | tuple[str, ...]
    help: str
    many: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """`load(folder, **choices)` gives the data set; `origin` says where to get its files.

    `apart` names the choice whose values are data sets of their own to a suite: a language, a domain.
    """

    name: str
    load: Callable[..., Dataset]
    choices: tuple[Choice, ...]
    origin: str
    about: str
    apart: str = ""

    def parts(self) -> list[dict[str, Any]]:
        """The choices of each run of a suite over this data set."""
        usual = {choice.name: choice.default for choice in self.choices}
        for choice in self.choices:
            if choice.name == self.apart:
                values = [(value,) if choice.many else value for value in choice.values]
                return [{**usual, choice.name: value} for value in values]
        return [usual]

    def part(self, choices: Mapping[str, Any]) -> str:
        """What a part is called: `cn` of gvd, `travel` of KdConv."""
        value = choices.get(self.apart, "")
        return " ".join(value) if isinstance(value, tuple) else str(value)


_ENTRIES = (
    Entry(
        "gvd",
        gvd.load,
        (Choice("lang", gvd.LANGS, "en", "English or Chinese."),),
        gvd.ORIGIN,
        "MemoryBank's virtual users: ten days of talk with an assistant, and questions about it.",
        apart="lang",
    ),
    Entry(
        "kdconv",
        kdconv.load_cases,
        (
            Choice("domain", kdconv.DOMAINS, kdconv.DOMAINS, "What the dialogues are about.", many=True),
            Choice("split", kdconv.SPLITS, "dev", "Which part of the data."),
        ),
        kdconv.ORIGIN,
        "KdConv: the knowledge triples that the next message of a Chinese dialogue rests on.",
        apart="domain",
    ),
    Entry(
        "madial",
        madial.load,
        (
            Choice("lang", madial.LANGS, "en", "English or Chinese."),
            Choice("bank", madial.BANKS, "own", "Each child's own events, or both children's in one bank."),
        ),
        madial.ORIGIN,
        "MADial-Bench: events of a child's life that an assistant should bring up by itself.",
        apart="lang",
    ),
    Entry(
        "perltqa",
        perltqa.load,
        (Choice("lang", ("en", "zh"), "en", "English or Chinese."),),
        perltqa.ORIGIN,
        "PerLTQA: a character's profile, relationships, events and dialogues, and questions about them.",
        apart="lang",
    ),
    Entry(
        "locomo",
        locomo.load,
        (),
        locomo.ORIGIN,
        "LoCoMo: ten long conversations between friends, and questions with their evidence turns.",
    ),
    Entry(
        "longmemeval",
        longmemeval.load,
        (
            Choice("size", longmemeval.SIZES, "s", "How many sessions to search: 40, 500, only evidence."),
            Choice("grain", longmemeval.GRAINS, "turn", "What should come back: evidence turns or sessions."),
        ),
        longmemeval.ORIGIN,
        "LongMemEval: questions to an assistant, each with its own haystack of sessions.",
    ),
    Entry(
        "medical",
        medical.load,
        (
            Choice("corpus", medical.CORPORA, "cmtmedqa", "Chinese consultations or English encounters."),
            Choice("files", (), 8, "How many clinics' files of 25 encounters are drawn."),
        ),
        medical.ORIGIN,
        "Consultations of many patients: the turns of the patient who asks, or of the one a note is about.",
        apart="corpus",
    ),
)

DATASETS = {entry.name: entry for entry in _ENTRIES}


def named(spec: str) -> tuple[Entry, list[dict[str, Any]]]:
    """`gvd`, or one part of it, `gvd:cn`: the entry, and the choices of each part that is meant."""
    name, _, part = spec.partition(":")
    if name not in DATASETS:
        raise LabError(f"no data set {name!r}: there are {', '.join(DATASETS)}")
    entry = DATASETS[name]
    parts = {entry.part(choices): choices for choices in entry.parts()}
    if part and part not in parts:
        raise LabError(f"{spec}: {name} has {', '.join(filter(None, parts)) or 'no parts'}")
    return entry, [parts[part]] if part else list(parts.values())
