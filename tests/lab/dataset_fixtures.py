"""Shared by the loader tests: small fixtures, and the real data if it is available."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from thinkback_lab.cases import Dataset, Question

FIXTURES = Path(__file__).parent / "fixtures"


def real_data(name: str) -> Path:
    """The data folder, or a skip: the tests on real data run only where it is."""
    home = os.environ.get("THINKBACK_DATA")
    if not home or not (Path(home) / name).is_dir():
        pytest.skip(f"THINKBACK_DATA does not name a folder with {name}/")
    return Path(home)


def questions_by_id(data: Dataset) -> dict[str, Question]:
    return {question.id: question for case in data.cases for question in case.questions}


def check_gold(data: Dataset) -> bool:
    """Every gold id names an item of its case, items have ids of their own, and time goes on."""
    for case in data.cases:
        ids = [item.id for item in case.items]
        times = [item.at for item in case.items]
        assert len(set(ids)) == len(ids), case.id
        assert times == sorted(times), case.id
        assert all(question.at > times[-1] for question in case.questions), case.id
        assert all(set(question.gold) <= set(ids) for question in case.questions), case.id
    return True
