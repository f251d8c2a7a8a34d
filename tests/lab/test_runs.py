"""Runs and their folders: a killed and resumed run ends like an uninterrupted one."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.lab import resumable_run
from tests.lab.fakes import make_record

from thinkback_lab.errors import LabError
from thinkback_lab.runs.folder import (
    QUESTIONS_FILE,
    RESULTS_FILE,
    RUN_FILE,
    RunFolder,
    read_records,
    read_results,
)
from thinkback_lab.runs.records import Record

ROOT = Path(__file__).parents[2]
TIMINGS = ("ms", "answer_ms")


def child(folder: Path) -> subprocess.Popen[bytes]:
    path = os.pathsep.join((str(ROOT), str(ROOT / "src")))
    return subprocess.Popen(
        [sys.executable, resumable_run.__file__, str(folder)],
        env={**os.environ, "PYTHONPATH": path},
        stderr=subprocess.PIPE,
    )


def untimed(folder: Path) -> tuple[list[str], str]:
    """The bytes of both files, with the timings taken out."""
    lines = []
    for line in (folder / QUESTIONS_FILE).read_text("utf-8").splitlines():
        told = json.loads(line)
        lines.append(json.dumps({name: value for name, value in told.items() if name not in TIMINGS}))
    results = read_results(folder)
    for name in ("ms_per_query", "ms"):
        del results[name]
    return lines, json.dumps(results)


@pytest.fixture(scope="module")
def unbroken(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unbroken") / "run"
    resumable_run.run_toy(folder, folder.with_suffix(".notes"))
    return folder


def killed(folder: Path, *, after_lines: int, and_s: float) -> bool:
    """Kill -9 the child once it has kept so many lines and a while more has passed; false if it had ended."""
    process = child(folder)
    lines = folder / QUESTIONS_FILE
    while process.poll() is None:
        if lines.exists() and lines.read_bytes().count(b"\n") >= after_lines:
            time.sleep(and_s)
            process.send_signal(signal.SIGKILL)
            break
        time.sleep(0.001)
    _, said = process.communicate(timeout=60)
    assert process.returncode in (0, -signal.SIGKILL), said.decode()
    return process.returncode != 0


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
@pytest.mark.parametrize("seed", range(3))
def test_run_killed_at_random_resumes_with_same_result(tmp_path: Path, unbroken: Path, seed: int) -> None:
    rng = random.Random(seed)
    folder = tmp_path / "run"
    deaths, kept = 0, 0
    while killed(folder, after_lines=kept + rng.randrange(9), and_s=rng.random() * 0.02):
        deaths += 1
        kept = (folder / QUESTIONS_FILE).read_bytes().count(b"\n")
    assert deaths >= 3
    assert untimed(folder) == untimed(unbroken)
    asked = folder.with_suffix(".notes").read_text().splitlines()
    assert len(asked) <= len(set(asked)) + deaths  # a kill costs at most the answer that was being given


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_run_killed_at_start_starts_again(tmp_path: Path, unbroken: Path) -> None:
    rng = random.Random(9)
    folder = tmp_path / "run"
    for _ in range(4):
        process = child(folder)
        until = time.monotonic() + 30
        while not folder.exists() and time.monotonic() < until:
            time.sleep(0.0005)
        time.sleep(rng.random() * 0.004)
        process.kill()
        process.communicate()
    resumable_run.run_toy(folder, folder.with_suffix(".notes"))
    assert untimed(folder) == untimed(unbroken)


@pytest.mark.parametrize("seed", range(4))
def test_run_cut_at_any_byte_resumes_with_same_result(tmp_path: Path, unbroken: Path, seed: int) -> None:
    whole = (unbroken / QUESTIONS_FILE).read_bytes()
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / RUN_FILE).write_bytes((unbroken / RUN_FILE).read_bytes())
    (folder / QUESTIONS_FILE).write_bytes(whole[: random.Random(seed).randrange(len(whole))])
    resumable_run.run_toy(folder, tmp_path / "notes")
    assert untimed(folder) == untimed(unbroken)


def test_partial_character_at_end_is_removed(tmp_path: Path) -> None:
    folder = opened(tmp_path, make_record(1, "红"))
    with (folder / QUESTIONS_FILE).open("ab") as file:
        file.write(make_record(2, "红").to_json().encode()[:-20] + "红".encode()[:2])
    with RunFolder(folder, {"scheme": "x"}, "") as again:
        assert [each.id for each in again.records] == ["q1"]
        again.add(make_record(2, "红"))
    assert [each.id for each in read_records(folder)] == ["q1", "q2"]


def opened(folder: Path, *records: Record, **identity: Any) -> Path:
    with RunFolder(folder / "run", {"scheme": "x", **identity}, "command") as run:
        for each in records:
            run.add(each)
    return folder / "run"


def test_other_settings_are_rejected_and_named(tmp_path: Path) -> None:
    folder = opened(tmp_path, make_record(1, None), ks=(1, 5), seed=1)
    with RunFolder(folder, {"scheme": "x", "ks": [1, 5], "seed": 1}, "other words"):
        pass
    with pytest.raises(LabError, match=r"different seed.*--out.*--fresh"):
        RunFolder(folder, {"scheme": "x", "ks": (1, 5), "seed": 2}, "")
    with pytest.raises(LabError, match="different new, seed"):
        RunFolder(folder, {"scheme": "x", "ks": (1, 5), "new": 0}, "")
    assert len(list(read_records(folder))) == 1


def test_finished_run_is_reopened_and_asks_nobody(tmp_path: Path, unbroken: Path) -> None:
    before = (unbroken / QUESTIONS_FILE).read_bytes(), (unbroken / RESULTS_FILE).read_bytes()
    notes = tmp_path / "notes"
    resumable_run.run_toy(unbroken, notes)
    assert not notes.exists()
    assert ((unbroken / QUESTIONS_FILE).read_bytes(), (unbroken / RESULTS_FILE).read_bytes()) == before
    with RunFolder(unbroken, resumable_run.IDENTITY, "") as again:
        assert again.finished
        assert len(again.records) == 32


def test_partly_written_run_file_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / "run.part").write_text('{"iden')
    with RunFolder(tmp_path, {"scheme": "x"}, "") as run:
        run.add(make_record(1, None))
    assert len(list(read_records(tmp_path))) == 1


@pytest.mark.skipif(sys.platform == "win32", reason="files are not locked there")
def test_second_process_is_rejected(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with RunFolder(folder, {"scheme": "x"}, "") as run:
        run.add(make_record(1, None))
        with pytest.raises(LabError, match="another process is writing there"):
            RunFolder(folder, {"scheme": "x"}, "")
        run.add(make_record(2, None))
    with RunFolder(folder, {"scheme": "x"}, "") as again:
        assert [each.id for each in again.records] == ["q1", "q2"]


def test_run_killed_before_first_question_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / QUESTIONS_FILE).touch()
    with RunFolder(tmp_path, {"scheme": "x"}, ""):
        pass
    (tmp_path / RUN_FILE).unlink()
    (tmp_path / QUESTIONS_FILE).write_text("somebody's own")
    with pytest.raises(LabError, match="contains other files"):
        RunFolder(tmp_path, {"scheme": "x"}, "")


def test_folder_with_other_files_is_rejected(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").write_text("dear")
    with pytest.raises(LabError, match="contains other files"):
        RunFolder(tmp_path, {}, "")
    assert [each.name for each in tmp_path.iterdir()] == ["letters.txt"]
    for path in (tmp_path / "letters.txt", tmp_path / "letters.txt" / "run"):
        with pytest.raises(LabError, match="not a folder"):
            RunFolder(path, {}, "")


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b"{}", b'{"identity": 3}', b"\xff\xfe", b"null", b"[" * 100_000]
)
def test_damaged_run_file_is_reported(tmp_path: Path, content: bytes) -> None:
    (tmp_path / RUN_FILE).write_bytes(content)
    with pytest.raises(LabError, match=RUN_FILE.replace(".", r"\.")):
        RunFolder(tmp_path, {"scheme": "x"}, "")


@pytest.mark.parametrize(
    "line",
    [b"{", b"[]", b"{}", b"3", b"null", b"\xff", b'{"found": 1}', b'{"found": [], "x": 1}', b"[" * 100_000],
)
def test_damaged_line_is_reported(tmp_path: Path, line: bytes) -> None:
    folder = opened(tmp_path, make_record(1, None))
    with (folder / QUESTIONS_FILE).open("ab") as file:
        file.write(line + b"\n")
    with pytest.raises(LabError, match=r"questions\.jsonl"):
        RunFolder(folder, {"scheme": "x"}, "")
    with pytest.raises(LabError, match=r"questions\.jsonl"):
        list(read_records(folder))


def test_results_are_written_atomically(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = opened(tmp_path, make_record(1, None))
    with pytest.raises(LabError, match="not finished"):
        read_results(folder)
    with pytest.raises(LabError, match="not the folder of a run"):
        read_results(tmp_path)

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    with RunFolder(folder, {"scheme": "x"}, "") as run:
        run.finish({"n": 1})
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="space"):
            run.finish({"n": 2})
    assert read_results(folder) == {"n": 1}


TEXT = st.text(st.characters(), max_size=12)  # with surrogates: half signs, as models say at times


@given(TEXT, TEXT, st.lists(TEXT, max_size=2))
def test_record_round_trips_through_json(said: str, asked: str, anchors: list[str]) -> None:
    kept = replace(make_record(1, said), question=asked, anchors=tuple(anchors), scores={"hit@1": 0.25})
    assert Record.from_json(kept.to_json()) == kept


def test_any_reply_text_can_be_saved(tmp_path: Path) -> None:
    said = ["a\nb\r\u2028\x85\x00", "half \ud83d sign", "红\u0301", ""]
    folder = opened(tmp_path, *(make_record(number, text) for number, text in enumerate(said)))
    with RunFolder(folder, {"scheme": "x"}, "") as again:
        assert [each.answer for each in again.records] == said
