"""The registry tells the truth: its choices are keywords of the loaders, and all their values are taken."""

from __future__ import annotations

from inspect import signature
from pathlib import Path

import pytest

from thinkback_lab.datasets.registry import DATASETS, Entry
from thinkback_lab.errors import LabError


@pytest.mark.parametrize("entry", DATASETS.values(), ids=lambda entry: entry.name)
def test_choices_are_the_loaders_keywords_with_their_defaults(entry: Entry) -> None:
    takes = signature(entry.load).parameters
    for choice in entry.choices:
        assert takes[choice.name].default == choice.default
        if choice.values:
            picked = choice.default if isinstance(choice.default, tuple) else (choice.default,)
            assert set(picked) <= set(choice.values)


@pytest.mark.parametrize("entry", DATASETS.values(), ids=lambda entry: entry.name)
def test_absent_data_says_where_its_home_is(entry: Entry, tmp_path: Path) -> None:
    with pytest.raises(LabError, match="GitHub") as told:
        entry.load(tmp_path)
    assert any(part in str(told.value) for part in entry.origin.split(". "))


@pytest.mark.parametrize(
    ("name", "choice", "value"),
    [
        (entry.name, choice.name, value)
        for entry in DATASETS.values()
        for choice in entry.choices
        for value in choice.values
    ],
)
def test_every_value_is_taken(name: str, choice: str, value: str, tmp_path: Path) -> None:
    """With no data there the complaint is about the files, never about the choice."""
    with pytest.raises(LabError, match="is there"):
        DATASETS[name].load(tmp_path, **{choice: value})
