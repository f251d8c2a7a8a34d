"""The command as a separate process: entry points, signals, pipes, concurrency."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.acceptance.cli_runner import COMMAND, run_process


@pytest.mark.parametrize("embedder", ["hashing", "minilm"])
def test_memory_is_shared_between_processes(embedder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINKBACK_EMBEDDER", embedder)
    run_process("remember", "I moved to Lyon.", "How exciting!").ok()
    done = run_process("recall", "Where do I live?", "--json").ok()
    assert done.json["items"][0]["thought"]["objects"] == ["Lyon"]
    assert done.err == ""


def test_minilm_recalls_by_meaning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINKBACK_EMBEDDER", "minilm")
    run_process(
        "import", "-", stdin='{"query": "I work as a physician."}\n{"query": "I own a sailing boat."}'
    ).ok()
    first = run_process("recall", "Do I have a medical profession?", "-k", "1").ok().out.splitlines()[1]
    assert "physician" in first


def test_other_entry_points() -> None:
    script = Path(sys.executable).with_name("thinkback")
    for command in ([sys.executable, "-m", "thinkback"], [str(script)]):
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True)
        assert done.stdout.startswith("thinkback 0.")


def test_help_loads_no_heavy_library() -> None:
    """Help must start fast: no model, table or array library is imported."""
    code = (
        "import sys; from thinkback.cli import main; sys.argv = ['thinkback', '--help']\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'rich', 'onnxruntime', 'sqlite3', 'pydantic', 'openai'} & set(sys.modules)\n"
        "print(sorted(heavy), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "[]"
    assert "recall" in done.stdout


def test_traceback_only_with_debug(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"this is no database")
    words = ("stats", "--db", str(tmp_path / "x.db"))
    run_process(*words).failed()
    assert "Traceback" in run_process("--debug", *words).err


def test_ctrl_c_exits_quietly() -> None:
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [*COMMAND, "chat", "--llm", "none"], stdin=pipe, stdout=pipe, stderr=pipe
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"I live in Paris.\n")
        process.stdin.flush()
        while not process.stdout.readline().startswith(b"memory: "):
            assert process.poll() is None
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        try:
            _, err = process.communicate(timeout=20)
        finally:
            process.kill()
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert "Paris" in run_process("turns").ok().out


def test_closed_pipe_is_not_an_error() -> None:
    lines = "\n".join(f'{{"query": "I like the number {n}."}}' for n in range(2000))
    run_process("import", "-", "--later", stdin=lines).ok()
    process = subprocess.Popen([*COMMAND, "export"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    err = process.stderr.read()
    process.stderr.close()
    process.wait(timeout=20)
    assert b"Traceback" not in err


def test_terminal_without_unicode(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    run_process("remember", "我住在北京。").ok()
    assert "北京" in run_process("turns", "--json").ok().json[0]["query"]
    assert run_process("recall", "我住在哪里？").ok().out


def test_no_files_remain_beside_the_database(home: Path) -> None:
    run_process("remember", "I live in Paris.").ok()
    run_process("recall", "Where do I live?").ok()
    names = {path.name for path in home.iterdir()}
    assert "memory.db" in names
    assert all(name.startswith("memory.db") for name in names)


def test_concurrent_processes(home: Path) -> None:
    words = [[*COMMAND, "remember", f"I like the number {n}.", "--key", str(n)] for n in range(6)]
    running = [subprocess.Popen(each, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for each in words]
    for process in running:
        _, err = process.communicate(timeout=60)
        assert process.returncode == 0, err
    assert len(run_process("turns", "--json").ok().json) == 6
    assert run_process("stats", "--json").ok().json["pending"] == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is read-only to root")
def test_read_only_folder_is_an_error(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    run_process("remember", "hello", "--db", str(tmp_path / "x.db")).failed()
    tmp_path.chmod(0o700)
