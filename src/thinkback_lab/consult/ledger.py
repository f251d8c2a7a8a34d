"""A consultation run's folder: `run.json`, `visits.jsonl` (a line a visit), `results.json` at the end.

A line is written when its visit is over, so a killed run goes on with the visit it was at. What is in
`run.json` decides whether a folder holds this run; schemes are not in it: others may be added to a finished
run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import IO, Any, Self

from thinkback_lab.consult.context import Context, Line
from thinkback_lab.consult.doctor import Decision
from thinkback_lab.consult.measure import Scores
from thinkback_lab.consult.play import Played, Probe, Turn
from thinkback_lab.errors import LabError
from thinkback_lab.runs.folder import RUN, append_line, cut_torn_line, open_alone, read_json, write_whole

VISITS = "visits.jsonl"
Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class Entry:
    """One visit under one scheme; `turn` counts the patient's turns up to its end, earlier visits too."""

    scheme: str
    patient: str
    lang: str
    played: Played
    turn: int
    scores: Scores

    @property
    def key(self) -> Key:
        return self.scheme, self.patient, self.played.number

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, default=date.isoformat)

    @classmethod
    def from_json(cls, line: str) -> Entry:
        """Raises ValueError on a line that `to_json` never wrote."""
        try:
            told: dict[str, Any] = json.loads(line)
            return cls(**{**told, "played": _played(told["played"])})
        except (AttributeError, KeyError, RecursionError, TypeError) as error:
            raise ValueError(f"not a visit: {error!r}") from error


class Ledger:
    """Opened to begin or to go on; use it in a `with`."""

    def __init__(self, path: Path, identity: Mapping[str, Any], command: str) -> None:
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lines: IO[bytes] = open_alone(path / VISITS)
        except OSError as error:
            raise LabError(f"{path}: {error.strerror or error}") from error
        try:
            self.entries = self._begun(identity, command)
        except BaseException:
            self._lines.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._lines.close()

    def add(self, entry: Entry) -> None:
        append_line(self._lines, entry.to_json())
        self.entries[entry.key] = entry

    def _begun(self, identity: Mapping[str, Any], command: str) -> dict[Key, Entry]:
        run, visits = self.path / RUN, self.path / VISITS
        if not run.exists():
            if visits.stat().st_size:
                raise LabError(f"{self.path} holds visits of no known run: name another folder with --out")
            write_whole(run, {"identity": identity, "command": command})
            return {}
        kept, ours = read_json(run).get("identity"), json.loads(json.dumps(identity))
        if kept != ours:
            other = kept if isinstance(kept, dict) else {}
            differing = sorted(key for key in {*other, *ours} if other.get(key) != ours.get(key))
            raise LabError(
                f"{self.path} holds another run (its {', '.join(differing)} differ): "
                "name another folder with --out, or begin anew with --fresh"
            )
        cut_torn_line(visits)
        return {entry.key: entry for entry in read_visits(visits)}


def read_visits(path: Path) -> list[Entry]:
    entries = []
    for number, line in enumerate(path.read_text("utf-8").split("\n"), start=1):
        if line:
            try:
                entries.append(Entry.from_json(line))
            except ValueError as error:
                raise LabError(
                    f"{path}, line {number}: {error}: take it out, or begin with --fresh"
                ) from error
    return entries


def _played(told: dict[str, Any]) -> Played:
    decision = dict(told["decision"])
    findings = {item: tuple(said) for item, said in decision.pop("findings").items()}
    return Played(
        number=told["number"],
        turns=tuple(map(_turn, told["turns"])),
        decision=Decision(**decision, findings=findings),
        probes=tuple(
            Probe(each["item"], tuple(each["by_question"]), tuple(each["by_name"])) for each in told["probes"]
        ),
    )


def _turn(told: dict[str, Any]) -> Turn:
    contexts = tuple(Context(each["question"], tuple(map(_line, each["lines"]))) for each in told["contexts"])
    plain = {name: tuple(told[name]) for name in ("told", "asked", "rejected")}
    return Turn(**{**told, **plain, "contexts": contexts})


def _line(told: dict[str, Any]) -> Line:
    return Line(date.fromisoformat(told["on"]) if told["on"] else None, told["text"])
