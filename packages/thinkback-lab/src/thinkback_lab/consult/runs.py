"""A consultation run: every patient with every memory system, logged visit by visit so that it can be
resumed.

The folder contains `run.json`, `visits.jsonl` (one line per visit) and `results.json`. A resumed run stores
the logged visits in the memory again and continues with the next one; no model is asked twice. Schemes are
not part of the run's identity, so more can be added to a finished run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, Self

from thinkback_lab.consult.context import MAX_CONTEXT_TOKENS, Context, ContextLine, PatientMemory
from thinkback_lab.consult.doctor import Decision
from thinkback_lab.consult.records import Patient
from thinkback_lab.consult.visits import (
    MemoryProbe,
    PlayedVisit,
    Roles,
    ToldFindings,
    VisitScores,
    VisitTurn,
    play_visit,
    replay_visit,
    score_visit,
)
from thinkback_lab.errors import LabError
from thinkback_lab.progress import ProgressCallback, no_progress
from thinkback_lab.runs.folder import (
    RUN_FILE,
    append_line,
    open_locked,
    read_json,
    truncate_partial_line,
    write_json_atomic,
)
from thinkback_lab.systems.interface import Resources, SystemFactory, open_system

VISITS_FILE = "visits.jsonl"
VisitKey = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class VisitRecord:
    """One visit with one memory system; `turn` counts the patient's turns so far, over all visits."""

    scheme: str
    patient: str
    lang: str
    played: PlayedVisit
    turn: int
    scores: VisitScores

    @property
    def key(self) -> VisitKey:
        return self.scheme, self.patient, self.played.number

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False, default=date.isoformat)

    @classmethod
    def from_json(cls, line: str) -> VisitRecord:
        """Parse a line; raises ValueError if `to_json` did not write it."""
        try:
            fields: dict[str, Any] = json.loads(line)
            return cls(**{**fields, "played": _parse_visit(fields["played"])})
        except (AttributeError, KeyError, RecursionError, TypeError) as error:
            raise ValueError(f"not a visit: {error!r}") from error


class VisitLog:
    """The log of a run, opened to start or to resume it. Use it as a context manager."""

    def __init__(self, path: Path, identity: Mapping[str, Any], command: str) -> None:
        self.path = path
        try:
            path.mkdir(parents=True, exist_ok=True)
            self._lines: IO[bytes] = open_locked(path / VISITS_FILE)
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

    def add(self, entry: VisitRecord) -> None:
        append_line(self._lines, entry.to_json())
        self.entries[entry.key] = entry

    def _begun(self, identity: Mapping[str, Any], command: str) -> dict[VisitKey, VisitRecord]:
        run, visits = self.path / RUN_FILE, self.path / VISITS_FILE
        if not run.exists():
            if visits.stat().st_size:
                raise LabError(
                    f"{self.path} contains visits but no run.json: choose another folder with --out"
                )
            write_json_atomic(run, {"identity": identity, "command": command})
            return {}
        stored, expected = read_json(run).get("identity"), json.loads(json.dumps(identity))
        if stored != expected:
            other = stored if isinstance(stored, dict) else {}
            differing = sorted(key for key in {*other, *expected} if other.get(key) != expected.get(key))
            raise LabError(
                f"{self.path} contains another run (different {', '.join(differing)}): "
                "choose another folder with --out, or start again with --fresh"
            )
        truncate_partial_line(visits)
        return {entry.key: entry for entry in read_visits(visits)}


def read_visits(path: Path) -> list[VisitRecord]:
    entries = []
    for number, line in enumerate(path.read_text("utf-8").split("\n"), start=1):
        if line:
            try:
                entries.append(VisitRecord.from_json(line))
            except ValueError as error:
                raise LabError(
                    f"{path}, line {number}: {error}: remove the line, or start again with --fresh"
                ) from error
    return entries


def _parse_visit(fields: dict[str, Any]) -> PlayedVisit:
    decision = dict(fields["decision"])
    findings = {item: tuple(statements) for item, statements in decision.pop("findings").items()}
    return PlayedVisit(
        number=fields["number"],
        turns=tuple(map(_parse_turn, fields["turns"])),
        decision=Decision(**decision, findings=findings),
        probes=tuple(
            MemoryProbe(each["item"], tuple(each["by_question"]), tuple(each["by_name"]))
            for each in fields["probes"]
        ),
    )


def _parse_turn(fields: dict[str, Any]) -> VisitTurn:
    contexts = tuple(
        Context(each["question"], tuple(map(_parse_line, each["lines"]))) for each in fields["contexts"]
    )
    plain = {name: tuple(fields[name]) for name in ("told", "asked", "rejected")}
    return VisitTurn(**{**fields, **plain, "contexts": contexts})


def _parse_line(fields: dict[str, Any]) -> ContextLine:
    return ContextLine(date.fromisoformat(fields["on"]) if fields["on"] else None, fields["text"])


DEFAULT_SCHEMES = ("none", "raw", "summary", "tim:002", "thinkback")


@dataclass(frozen=True, slots=True)
class ConsultJob:
    """Patients, memory systems by name, roles and the token budget of a context."""

    patients: Sequence[Patient]
    schemes: Mapping[str, SystemFactory]
    resources: Resources
    roles: Roles
    budget: int = MAX_CONTEXT_TOKENS

    @property
    def visits(self) -> int:
        return len(self.schemes) * sum(len(patient.visits) for patient in self.patients)


def records_digest(patients: Sequence[Patient]) -> str:
    """First 12 hexadecimal digits of a SHA-256 over all records."""
    records = json.dumps([patient.model_dump() for patient in patients], sort_keys=True)
    return sha256(records.encode()).hexdigest()[:12]


def run_consultations(
    job: ConsultJob, ledger: VisitLog, on_progress: ProgressCallback = no_progress
) -> list[VisitRecord]:
    """Return the visits of this job, by scheme, patient and visit number."""
    entries: list[VisitRecord] = []
    for name, scheme in job.schemes.items():
        for patient in job.patients:
            for entry in _consult_patient(job, name, scheme, patient, ledger):
                entries.append(entry)
                on_progress(len(entries), job.visits)
    return entries


def _consult_patient(
    job: ConsultJob, name: str, scheme: SystemFactory, patient: Patient, ledger: VisitLog
) -> Iterator[VisitRecord]:
    logged = [ledger.entries.get((name, patient.id, number)) for number in range(len(patient.visits))]
    if all(logged):
        yield from (entry for entry in logged if entry is not None)
        return
    with open_system(scheme, job.resources) as memory:
        desk, findings = PatientMemory(memory, patient.lang, job.budget), ToldFindings()
        for number, entry in enumerate(logged):
            if entry is not None:
                replay_visit(patient, entry.played, desk, findings)
            else:
                played = play_visit(patient, number, desk, findings, job.roles)
                scores = score_visit(patient, played, findings)
                entry = VisitRecord(name, patient.id, patient.lang, played, len(desk.items), scores)  # noqa: PLW2901
                ledger.add(entry)
            yield entry
