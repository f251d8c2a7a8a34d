"""A run's folder: `run.json` (what is run), `questions.jsonl` (a line a question), `results.json` (the end).

A line is written when its question is done, so a killed run loses at most the line it was writing: that one
has no line end, and is cut off when the run goes on. `results.json` appears whole or not at all. Whoever
writes into the folder holds its `questions.jsonl` locked: a second process is refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, Self

from thinkback_lab.errors import LabError
from thinkback_lab.runs.records import Record

try:
    import fcntl
except ImportError:  # Windows: nobody is refused there
    fcntl = None  # type: ignore[assignment]

RUN_FILE, QUESTIONS_FILE, RESULTS_FILE, REPORT_FILE = (
    "run.json",
    "questions.jsonl",
    "results.json",
    "report.html",
)


class RunFolder:
    """Opened to go on with (or to begin) the run that `identity` describes; use it in a `with`."""

    def __init__(self, path: Path, identity: Mapping[str, Any], command: str) -> None:
        self.path = path
        self.records: list[Record] = []
        try:
            path.mkdir(parents=True, exist_ok=True)
            if not (path / RUN_FILE).exists() and not all(map(_is_startup_file, path.iterdir())):
                raise LabError(f"{path} holds something that is no run: name another folder with --out")
            self._lines: IO[bytes] = open_locked(path / QUESTIONS_FILE)
            try:
                if (path / RUN_FILE).exists():
                    self._resume(identity)
                else:
                    write_json_atomic(path / RUN_FILE, {"identity": identity, "command": command})
            except BaseException:
                self._lines.close()
                raise
        except (FileExistsError, NotADirectoryError) as error:
            raise LabError(f"{path}: not a folder: name another with --out") from error
        except OSError as error:
            raise LabError(f"{path}: {error.strerror or error}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._lines.close()

    @property
    def finished(self) -> bool:
        return (self.path / RESULTS_FILE).exists()

    def add(self, record: Record) -> None:
        """Keep one question's record, through a power cut."""
        append_line(self._lines, record.to_json())
        self.records.append(record)

    def finish(self, results: Mapping[str, Any]) -> None:
        write_results(self.path, results)

    def _resume(self, identity: Mapping[str, Any]) -> None:
        kept = read_json(self.path / RUN_FILE).get("identity")
        if not isinstance(kept, dict):
            raise LabError(f"{self.path / RUN_FILE}: names no run: name another folder with --out")
        ours = json.loads(json.dumps(identity))
        if kept != ours:
            differing = sorted(key for key in {*kept, *ours} if kept.get(key) != ours.get(key))
            raise LabError(
                f"{self.path} holds another run (its {', '.join(differing)} differ): "
                "name another folder with --out, or begin anew with --fresh"
            )
        truncate_partial_line(self.path / QUESTIONS_FILE)
        self.records = list(read_records(self.path))


def read_records(path: Path) -> Iterator[Record]:
    """The questions of a finished run."""
    for number, line in enumerate(_read_utf8(path / QUESTIONS_FILE).split("\n"), start=1):
        if line:
            try:
                yield Record.from_json(line)
            except ValueError as error:
                raise LabError(
                    f"{path / QUESTIONS_FILE}, line {number}: {error}: take the line out, or begin with --fresh"
                ) from error


def open_locked(path: Path) -> IO[bytes]:
    """A file of lines, to append to; locked as long as it is open, and by a death unlocked."""
    lines = path.open("ab")
    try:
        if fcntl is not None:
            fcntl.flock(lines, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lines.close()
        raise LabError(f"{path.parent}: another process is writing there: wait for its end") from None
    return lines


def truncate_partial_line(path: Path) -> None:
    """A line without an end was being written when its process was killed: it never counted."""
    whole = path.read_bytes()
    end = whole.rfind(b"\n") + 1
    if end < len(whole):
        os.truncate(path, end)


def append_line(file: IO[bytes], line: str) -> None:
    """Whole, and through a power cut; half a sign, as models say at times, is written as JSON's escape."""
    file.write(line.encode("utf-8", "backslashreplace") + b"\n")
    file.flush()
    os.fsync(file.fileno())


def read_results(path: Path) -> dict[str, Any]:
    """The figures of a finished run."""
    if not (path / RESULTS_FILE).exists():
        why = "is not finished: run it again to go on" if (path / RUN_FILE).exists() else "is no run's folder"
        raise LabError(f"{path} {why}")
    return read_json(path / RESULTS_FILE)


def write_results(path: Path, results: Mapping[str, Any]) -> None:
    """The figures of a run, all of them or none."""
    write_json_atomic(path / RESULTS_FILE, results)


def read_json(path: Path) -> dict[str, Any]:
    try:
        told = json.loads(_read_utf8(path))
    except (ValueError, RecursionError) as error:
        raise LabError(f"{path}: not JSON ({error})") from error
    if not isinstance(told, dict):
        raise LabError(f"{path}: a JSON object is wanted")
    return told


def _read_utf8(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise LabError(f"{path}: not UTF-8 (byte {error.start})") from error
    except OSError as error:
        raise LabError(f"{path}: {error.strerror or error}") from error


def _is_startup_file(path: Path) -> bool:
    """Whether a run that was killed before it began may have left this behind."""
    return path.name == _temporary_path(path.with_name(RUN_FILE)).name or (
        path.name == QUESTIONS_FILE and not path.stat().st_size
    )


def _temporary_path(path: Path) -> Path:
    """Where a file is written before it takes its place; a killed process may leave it behind."""
    return path.with_suffix(".part")


def write_json_atomic(path: Path, told: Mapping[str, Any]) -> None:
    part = _temporary_path(path)
    with part.open("w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(json.dumps(told, ensure_ascii=False, indent=2) + "\n")
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
