"""All data sets by name: loader, options and where to get the files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from thinkback_lab.cases import Dataset
from thinkback_lab.datasets import gvd, kdconv, locomo, longmemeval, madial, medical, perltqa
from thinkback_lab.errors import LabError


@dataclass(frozen=True, slots=True)
class DatasetOption:
    """A keyword of a loader: one of `values` (several if `multiple`), or an integer without values."""

    name: str
    values: tuple[str, ...]
    default: str | int | tuple[str, ...]
    help: str
    multiple: bool = False


@dataclass(frozen=True, slots=True)
class DatasetEntry:
    """A data set; `load(folder, **choices)` returns it, `origin` says where to get its files.

    `suite_option` names the option (language, domain) whose values a suite treats as separate data sets.
    """

    name: str
    load: Callable[..., Dataset]
    choices: tuple[DatasetOption, ...]
    origin: str
    description: str
    suite_option: str = ""

    def suite_parts(self) -> list[dict[str, Any]]:
        """The options of each run of a suite over this data set."""
        usual = {choice.name: choice.default for choice in self.choices}
        for choice in self.choices:
            if choice.name == self.suite_option:
                values = [(value,) if choice.multiple else value for value in choice.values]
                return [{**usual, choice.name: value} for value in values]
        return [usual]

    def part_name(self, choices: Mapping[str, Any]) -> str:
        """The name of one part: `cn` of gvd, `travel` of KdConv."""
        value = choices.get(self.suite_option, "")
        return " ".join(value) if isinstance(value, tuple) else str(value)


_ENTRIES = (
    DatasetEntry(
        "gvd",
        gvd.load,
        (DatasetOption("lang", gvd.LANGS, "en", "English or Chinese."),),
        gvd.ORIGIN,
        "MemoryBank's virtual users: ten days of dialogue with an assistant, and questions about it.",
        suite_option="lang",
    ),
    DatasetEntry(
        "kdconv",
        kdconv.load_cases,
        (
            DatasetOption(
                "domain", kdconv.DOMAINS, kdconv.DOMAINS, "What the dialogues are about.", multiple=True
            ),
            DatasetOption("split", kdconv.SPLITS, "dev", "Which part of the data."),
        ),
        kdconv.ORIGIN,
        "KdConv: the knowledge triples that the next message of a Chinese dialogue uses.",
        suite_option="domain",
    ),
    DatasetEntry(
        "madial",
        madial.load,
        (
            DatasetOption("lang", madial.LANGS, "en", "English or Chinese."),
            DatasetOption(
                "bank",
                madial.BANKS,
                "own",
                "The events of each child separately, or of both children together.",
            ),
        ),
        madial.ORIGIN,
        "MADial-Bench: events of a child's life that an assistant should bring up by itself.",
        suite_option="lang",
    ),
    DatasetEntry(
        "perltqa",
        perltqa.load,
        (DatasetOption("lang", ("en", "zh"), "en", "English or Chinese."),),
        perltqa.ORIGIN,
        "PerLTQA: a character's profile, relationships, events and dialogues, and questions about them.",
        suite_option="lang",
    ),
    DatasetEntry(
        "locomo",
        locomo.load,
        (),
        locomo.ORIGIN,
        "LoCoMo: ten long conversations between friends, and questions with their evidence turns.",
    ),
    DatasetEntry(
        "longmemeval",
        longmemeval.load,
        (
            DatasetOption(
                "size", longmemeval.SIZES, "s", "How many sessions to search: 40, 500, only evidence."
            ),
            DatasetOption(
                "grain", longmemeval.GRAINS, "turn", "What should be recalled: evidence turns or sessions."
            ),
        ),
        longmemeval.ORIGIN,
        "LongMemEval: questions to an assistant, each with its own haystack of sessions.",
    ),
    DatasetEntry(
        "medical",
        medical.load,
        (
            DatasetOption(
                "corpus", medical.CORPORA, "cmtmedqa", "Chinese consultations or English encounters."
            ),
            DatasetOption("files", (), 8, "Number of files of 25 encounters."),
        ),
        medical.ORIGIN,
        "Consultations of many patients: the turns of the patient who asks, or of the one a note is about.",
        suite_option="corpus",
    ),
)

DATASETS = {entry.name: entry for entry in _ENTRIES}


def find_dataset(spec: str) -> tuple[DatasetEntry, list[dict[str, Any]]]:
    """Resolve `gvd` or `gvd:cn` to the data set and the options of the selected parts."""
    name, _, part = spec.partition(":")
    if name not in DATASETS:
        raise LabError(f"unknown data set {name!r}: choose from {', '.join(DATASETS)}")
    entry = DATASETS[name]
    parts = {entry.part_name(choices): choices for choices in entry.suite_parts()}
    if part and part not in parts:
        raise LabError(f"{spec}: {name} has {', '.join(filter(None, parts)) or 'no parts'}")
    return entry, [parts[part]] if part else list(parts.values())
