"""URLs and file names of stores."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.factories import append_turns

from thinkback.errors import InvalidInput
from thinkback.storage import connect


@pytest.mark.parametrize("url", ["memory.db", "sqlite:///memory.db"])
def test_relative_files(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    connect(url).close()
    assert (tmp_path / "memory.db").exists()


@pytest.mark.parametrize("prefix", ["", "sqlite:///"])
def test_absolute_files(prefix: str, tmp_path: Path) -> None:
    path = tmp_path / "my memories 记忆.db"
    connect(f"{prefix}{path}").close()
    assert path.exists()


@pytest.mark.parametrize("url", [":memory:", "sqlite:///:memory:"])
def test_a_store_in_memory_leaves_no_file(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = connect(url)
    append_turns(store, "ann", "a")
    store.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["", "sqlite://", "sqlite:///", "mysql://host/db"])
def test_invalid_urls_are_rejected(url: str) -> None:
    with pytest.raises(InvalidInput):
        connect(url)
