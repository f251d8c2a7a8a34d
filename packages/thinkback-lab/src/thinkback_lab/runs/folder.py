"""The folder of a run: `run.json` (identity), `questions.jsonl` (one line per question), `results.json` (at
the end).

A line is written when its question is done. A killed run loses at most a partial last line, which is removed
on resume. `results.json` is written atomically. `questions.jsonl` is locked by the writing process, so a
second one is rejected.
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
except ImportError:  # no locking on Windows
    fcntl = None  # type: ignore[assignment]

RUN_FILE, QUESTIONS_FILE, RESULTS_FILE, REPORT_FILE = (
    "run.json",
    "questions.jsonl",
    "results.json",
    "report.html",
)


class RunFolder:
    """A run's folder, opened to start or resume the run with this identity. Use it as a context manager."""

    def __init__(self, path: Path, identity: Mapping[str, Any], command: str) -> None:
        self.path = path
        self.records: list[Record] = []
        try:
            path.mkdir(parents=True, exist_ok=True)
            if not (path / RUN_FILE).exists() and not all(map(_is_startup_file, path.iterdir())):
                raise LabError(f"{path} contains other files: choose another folder with --out")
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
            raise LabError(f"{path} is not a folder: choose another one with --out") from error
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
        """Append a question's record durably."""
        append_line(self._lines, record.to_json())
        self.records.append(record)

    def finish(self, results: Mapping[str, Any]) -> None:
        write_results(self.path, results)

    def _resume(self, identity: Mapping[str, Any]) -> None:
        stored = read_json(self.path / RUN_FILE).get("identity")
        if not isinstance(stored, dict):
            raise LabError(
                f"{self.path / RUN_FILE}: does not describe a run: choose another folder with --out"
            )
        expected = json.loads(json.dumps(identity))
        if stored != expected:
            differing = sorted(key for key in {*stored, *expected} if stored.get(key) != expected.get(key))
            raise LabError(
                f"{self.path} contains another run (different {', '.join(differing)}): "
                "choose another folder with --out, or start again with --fresh"
            )
        truncate_partial_line(self.path / QUESTIONS_FILE)
        self.records = list(read_records(self.path))


def read_records(path: Path) -> Iterator[Record]:
    """Yield the question records of a run."""
    for number, line in enumerate(_read_utf8(path / QUESTIONS_FILE).split("\n"), start=1):
        if line:
            try:
                yield Record.from_json(line)
            except ValueError as error:
                raise LabError(
                    f"{path / QUESTIONS_FILE}, line {number}: {error}: remove it, or start again with --fresh"
                ) from error


def open_locked(path: Path) -> IO[bytes]:
    """Open a file for appending with an exclusive lock, released when it is closed or the process ends."""
    lines = path.open("ab")
    try:
        if fcntl is not None:
            fcntl.flock(lines, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lines.close()
        raise LabError(f"{path.parent}: another process is writing there: wait until it ends") from None
    return lines


def truncate_partial_line(path: Path) -> None:
    """Remove a last line without line end: its process was killed while writing it."""
    content = path.read_bytes()
    end = content.rfind(b"\n") + 1
    if end < len(content):
        os.truncate(path, end)


def append_line(file: IO[bytes], line: str) -> None:
    """Append a line durably; unpaired surrogates, which models sometimes produce, are escaped."""
    file.write(line.encode("utf-8", "backslashreplace") + b"\n")
    file.flush()
    os.fsync(file.fileno())


def read_results(path: Path) -> dict[str, Any]:
    """The results of a finished run."""
    if not (path / RESULTS_FILE).exists():
        why = (
            "is not finished: run it again to resume"
            if (path / RUN_FILE).exists()
            else "is not the folder of a run"
        )
        raise LabError(f"{path} {why}")
    return read_json(path / RESULTS_FILE)


def write_results(path: Path, results: Mapping[str, Any]) -> None:
    """Write the results of a run atomically."""
    write_json_atomic(path / RESULTS_FILE, results)


def read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(_read_utf8(path))
    except (ValueError, RecursionError) as error:
        raise LabError(f"{path}: not JSON ({error})") from error
    if not isinstance(content, dict):
        raise LabError(f"{path}: expected a JSON object")
    return content


def _read_utf8(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise LabError(f"{path}: not UTF-8 (byte {error.start})") from error
    except OSError as error:
        raise LabError(f"{path}: {error.strerror or error}") from error


def _is_startup_file(path: Path) -> bool:
    """Whether a run that was killed at its start may have left this file."""
    return path.name == _temporary_path(path.with_name(RUN_FILE)).name or (
        path.name == QUESTIONS_FILE and not path.stat().st_size
    )


def _temporary_path(path: Path) -> Path:
    """Name of the temporary file used for atomic writes."""
    return path.with_suffix(".part")


def write_json_atomic(path: Path, content: Mapping[str, Any]) -> None:
    temporary = _temporary_path(path)
    with temporary.open("w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(json.dumps(content, ensure_ascii=False, indent=2) + "\n")
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
