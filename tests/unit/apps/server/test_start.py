"""Composing a server: the folder its processes share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from thinkback.apps.server import start
from thinkback.apps.server.telemetry.metrics import FOLDER


def test_the_folder_of_metrics_is_private_and_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDER, raising=False)
    with start.metrics_folder() as at_death:
        folder = Path(os.environ[FOLDER])
        assert folder.stat().st_mode & 0o077 == 0
        (folder / "gauge_livesum_123.db").touch()
        at_death(123)
        assert list(folder.iterdir()) == []
    assert not folder.exists()
    assert FOLDER not in os.environ
