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
from thinkback_lab.runs.record import Record

try:
    import fcntl
except ImportError:  # Windows: nobody is refused there
    fcntl = None  # type: ignore[assignment]

RUN, QUESTIONS, RESULTS, REPORT = "run.json", "questions.jsonl", "results.json", "report.html"


class RunFolder:
    """Opened to go on with (or to begin) the run that `identity` describes; use it in a `with`."""

    def __init__(self, path: Path, identity: Mapping[str, Any], command: str) -> None:
        self.path = path
        self.records: list[Record] = []
        try:
            path.mkdir(parents=True, exist_ok=True)
            if not (path / RUN).exists() and not all(map(_of_a_beginning, path.iterdir())):
                raise LabError(f"{path} holds something that is no run: name another folder with --out")
            self._lines: IO[bytes] = open_alone(path / QUESTIONS)
            try:
                if (path / RUN).exists():
                    self._resume(identity)
                else:
                    write_whole(path / RUN, {"identity": identity, "command": command})
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
        return (self.path / RESULTS).exists()

    def add(self, record: Record) -> None:
        """Keep one question's record, through a power cut."""
        append_line(self._lines, record.to_json())
        self.records.append(record)

    def finish(self, results: Mapping[str, Any]) -> None:
        write_results(self.path, results)

    def _resume(self, identity: Mapping[str, Any]) -> None:
        kept = read_json(self.path / RUN).get("identity")
        if not isinstance(kept, dict):
            raise LabError(f"{self.path / RUN}: names no run: name another folder with --out")
        ours = json.loads(json.dumps(identity))
        if kept != ours:
            differing = sorted(key for key in {*kept, *ours} if kept.get(key) != ours.get(key))
            raise LabError(
                f"{self.path} holds another run (its {', '.join(differing)} differ): "
                "name another folder with --out, or begin anew with --fresh"
            )
        cut_torn_line(self.path / QUESTIONS)
        self.records = list(read_records(self.path))


def read_records(path: Path) -> Iterator[Record]:
    """The questions of a finished run."""
    for number, line in enumerate(_text(path / QUESTIONS).split("\n"), start=1):
        if line:
            try:
                yield Record.from_json(line)
            except ValueError as error:
                raise LabError(
                    f"{path / QUESTIONS}, line {number}: {error}: take the line out, or begin with --fresh"
                ) from error


def open_alone(path: Path) -> IO[bytes]:
    """A file of lines, to append to; locked as long as it is open, and by a death unlocked."""
    lines = path.open("ab")
    try:
        if fcntl is not None:
            fcntl.flock(lines, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        lines.close()
        raise LabError(f"{path.parent}: another process is writing there: wait for its end") from None
    return lines


def cut_torn_line(path: Path) -> None:
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
    if not (path / RESULTS).exists():
        why = "is not finished: run it again to go on" if (path / RUN).exists() else "is no run's folder"
        raise LabError(f"{path} {why}")
    return read_json(path / RESULTS)


def write_results(path: Path, results: Mapping[str, Any]) -> None:
    """The figures of a run, all of them or none."""
    write_whole(path / RESULTS, results)


def read_json(path: Path) -> dict[str, Any]:
    try:
        told = json.loads(_text(path))
    except (ValueError, RecursionError) as error:
        raise LabError(f"{path}: not JSON ({error})") from error
    if not isinstance(told, dict):
        raise LabError(f"{path}: a JSON object is wanted")
    return told


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except UnicodeDecodeError as error:
        raise LabError(f"{path}: not UTF-8 (byte {error.start})") from error
    except OSError as error:
        raise LabError(f"{path}: {error.strerror or error}") from error


def _of_a_beginning(path: Path) -> bool:
    """Whether a run that was killed before it began may have left this behind."""
    return path.name == _part(path.with_name(RUN)).name or (
        path.name == QUESTIONS and not path.stat().st_size
    )


def _part(path: Path) -> Path:
    """Where a file is written before it takes its place; a killed process may leave it behind."""
    return path.with_suffix(".part")


def write_whole(path: Path, told: Mapping[str, Any]) -> None:
    part = _part(path)
    with part.open("w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(json.dumps(told, ensure_ascii=False, indent=2) + "\n")
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
