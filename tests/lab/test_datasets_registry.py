"""The registry: options are keywords of the loaders, and all their values are accepted."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
from tests.lab.dataset_fixtures import FIXTURES

from thinkback_lab.datasets.registry import DATASETS, DatasetEntry
from thinkback_lab.errors import LabError

THERE: list[tuple[str, dict[str, Any]]] = [  # what the fixtures hold of every data set
    ("gvd", {"lang": "en"}),
    ("gvd", {"lang": "cn"}),
    ("kdconv", {"domain": ("film",)}),
    ("madial", {"lang": "en"}),
    ("madial", {"lang": "zh"}),
    ("perltqa", {"lang": "en"}),
    ("perltqa", {"lang": "zh"}),
    ("locomo", {}),
    ("longmemeval", {"size": "oracle"}),
    ("medical", {"corpus": "cmtmedqa"}),
    ("medical", {"corpus": "mts_dialog"}),
]


def copied(to: Path, change: Callable[[Path], None]) -> Path:
    """The fixtures elsewhere, every file changed."""
    shutil.copytree(FIXTURES, to)
    for path in [path for path in to.rglob("*") if path.is_file()]:
        change(path)
    return to


def packed(path: Path) -> None:
    path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()


def overwritten(content: bytes) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        path.write_bytes(content)

    return change


@pytest.mark.parametrize(("name", "choices"), THERE)
def test_gzipped_files_give_same_data(name: str, choices: dict[str, Any], tmp_path: Path) -> None:
    load = DATASETS[name].load
    assert load(copied(tmp_path / "gz", packed), **choices).digest == load(FIXTURES, **choices).digest


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"a": 1}', b"[1, 2]", b"{", b"\xff\xfe", b"\x1f\x8bno"]
)
@pytest.mark.parametrize(("name", "choices"), THERE)
def test_damaged_files_are_reported_with_file_or_origin(
    name: str, choices: dict[str, Any], content: bytes, tmp_path: Path
) -> None:
    """Some of these are data without anything in it: then there is nothing to ask, which the run says."""
    home = copied(tmp_path / "bad", overwritten(content))
    try:
        asked = [case.questions for case in DATASETS[name].load(home, **choices).cases]
        complaint = "" if any(asked) else f"{home}: nothing to ask"
    except LabError as error:
        complaint = str(error)
    assert str(home) in complaint or DATASETS[name].origin in complaint


@pytest.mark.parametrize("entry", DATASETS.values(), ids=lambda entry: entry.name)
def test_options_are_loader_keywords_with_defaults(entry: DatasetEntry) -> None:
    takes = signature(entry.load).parameters
    for choice in entry.choices:
        assert takes[choice.name].default == choice.default
        if choice.values:
            picked = choice.default if isinstance(choice.default, tuple) else (choice.default,)
            assert set(picked) <= set(choice.values)


@pytest.mark.parametrize("entry", DATASETS.values(), ids=lambda entry: entry.name)
def test_missing_data_names_its_origin(entry: DatasetEntry, tmp_path: Path) -> None:
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
def test_every_option_value_is_accepted(name: str, choice: str, value: str, tmp_path: Path) -> None:
    """With no data there the complaint is about the files, never about the choice."""
    with pytest.raises(LabError, match="contains none of"):
        DATASETS[name].load(tmp_path, **{choice: value})
