"""A machine of its own for every test: no configuration, no key, nothing remembered."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from thinkback.config import ENVIRONMENT_VARIABLES


@pytest.fixture(autouse=True, scope="session")
def ctrl_c_reaches_programs() -> None:
    """A shell ignores Ctrl-C for what it runs in the background, and its children inherit that."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home of thinkback; the hashing embedder unless a test chooses another."""
    for name in [
        *ENVIRONMENT_VARIABLES.values(),
        "OPENAI_API_KEY",
        "HF_TOKEN",
        "THINKBACK_CONFIG",
        "XDG_DATA_HOME",
    ]:
        monkeypatch.delenv(name, raising=False)
    # Coverage and plug-ins of this run are not for the processes it starts.
    for name in [each for each in os.environ if each.startswith("COV_")]:
        monkeypatch.delenv(name)
    folder = tmp_path / "home"
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("THINKBACK_HOME", str(folder))
    monkeypatch.setenv("THINKBACK_EMBEDDER", "hashing")
    return folder
