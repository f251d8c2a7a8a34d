"""What strangers may rely on, and that importing it costs and does nothing."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import thinkback


def test_the_public_names() -> None:
    assert sorted(thinkback.__all__) == [
        "Action",
        "Answer",
        "AsyncMemory",
        "Embedder",
        "KindModel",
        "LLM",
        "Memory",
        "Message",
        "Preset",
        "Recollection",
        "Reply",
        "Store",
        "Synthesis",
        "ThinkbackError",
        "Thought",
        "Turn",
    ]


def test_every_public_name_is_there_and_others_are_not() -> None:
    for name in thinkback.__all__:
        assert getattr(thinkback, name).__name__ == name
    assert set(thinkback.__all__) <= set(dir(thinkback))
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = thinkback.no_such_name


def run(code: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, cwd=folder, check=True
    )
    return done.stdout.strip()


def test_importing_does_nothing_and_loads_nothing_heavy(tmp_path: Path) -> None:
    """No file is opened for writing, no socket is made, no heavy library comes along."""
    code = """
        import sys
        seen = []
        def watch(event, args):
            if event == "open" and args[1] and any(flag in str(args[1]) for flag in "wax+"):
                seen.append(args[0])
            if event.startswith(("socket.", "subprocess.", "sqlite3.")):
                seen.append(event)
        sys.dont_write_bytecode = True
        sys.addaudithook(watch)
        import thinkback
        heavy = {"numpy", "pydantic", "rich", "typer", "onnxruntime", "sqlite3"} & set(sys.modules)
        print(seen, sorted(heavy))
        """
    assert run(code, tmp_path) == "[] []"
    assert list(tmp_path.iterdir()) == []


def test_importing_stays_below_a_fifth_of_a_second_of_cpu(tmp_path: Path) -> None:
    code = """
        import time
        before = time.process_time()
        import thinkback
        print(time.process_time() - before)
        """
    assert min(float(run(code, tmp_path)) for _ in range(3)) < 0.2
