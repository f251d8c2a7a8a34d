"""The public names, and the cost and side effects of importing them."""

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
        "MemoryConfig",
        "Message",
        "ModelError",
        "Preset",
        "QuestionModel",
        "Recollection",
        "Reply",
        "RequestModel",
        "SafetyModel",
        "SentenceModel",
        "Store",
        "Synthesis",
        "ThinkbackError",
        "Thought",
        "Turn",
        "UpdateModel",
    ]


def test_public_names_can_be_imported() -> None:
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


def test_import_has_no_side_effects(tmp_path: Path) -> None:
    """No file is opened for writing, no socket is created, no heavy library is imported."""
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


def test_import_takes_less_than_200_ms_of_cpu(tmp_path: Path) -> None:
    code = """
        import time
        before = time.process_time()
        import thinkback
        print(time.process_time() - before)
        """
    assert min(float(run(code, tmp_path)) for _ in range(3)) < 0.2
