"""A consultation run: every patient with every memory system, logged visit by visit so that it can be resumed."""

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
    """One visit under one scheme; `turn` counts the patient's turns up to its end, earlier visits too."""

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
        """Raises ValueError on a line that `to_json` never wrote."""
        try:
            told: dict[str, Any] = json.loads(line)
            return cls(**{**told, "played": _parse_visit(told["played"])})
        except (AttributeError, KeyError, RecursionError, TypeError) as error:
            raise ValueError(f"not a visit: {error!r}") from error


class VisitLog:
    """Opened to begin or to go on; use it in a `with`."""

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
                raise LabError(f"{self.path} holds visits of no known run: name another folder with --out")
            write_json_atomic(run, {"identity": identity, "command": command})
            return {}
        kept, ours = read_json(run).get("identity"), json.loads(json.dumps(identity))
        if kept != ours:
            other = kept if isinstance(kept, dict) else {}
            differing = sorted(key for key in {*other, *ours} if other.get(key) != ours.get(key))
            raise LabError(
                f"{self.path} holds another run (its {', '.join(differing)} differ): "
                "name another folder with --out, or begin anew with --fresh"
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
                    f"{path}, line {number}: {error}: take it out, or begin with --fresh"
                ) from error
    return entries


def _parse_visit(told: dict[str, Any]) -> PlayedVisit:
    decision = dict(told["decision"])
    findings = {item: tuple(said) for item, said in decision.pop("findings").items()}
    return PlayedVisit(
        number=told["number"],
        turns=tuple(map(_parse_turn, told["turns"])),
        decision=Decision(**decision, findings=findings),
        probes=tuple(
            MemoryProbe(each["item"], tuple(each["by_question"]), tuple(each["by_name"]))
            for each in told["probes"]
        ),
    )


def _parse_turn(told: dict[str, Any]) -> VisitTurn:
    contexts = tuple(
        Context(each["question"], tuple(map(_parse_line, each["lines"]))) for each in told["contexts"]
    )
    plain = {name: tuple(told[name]) for name in ("told", "asked", "rejected")}
    return VisitTurn(**{**told, **plain, "contexts": contexts})


def _parse_line(told: dict[str, Any]) -> ContextLine:
    return ContextLine(date.fromisoformat(told["on"]) if told["on"] else None, told["text"])


DEFAULT_SCHEMES = ("none", "raw", "summary", "tim:002", "thinkback")


@dataclass(frozen=True, slots=True)
class ConsultJob:
    """What is run: patients, schemes by name, who plays, and how many tokens a context may have."""

    patients: Sequence[Patient]
    schemes: Mapping[str, SystemFactory]
    resources: Resources
    roles: Roles
    budget: int = MAX_CONTEXT_TOKENS

    @property
    def visits(self) -> int:
        return len(self.schemes) * sum(len(patient.visits) for patient in self.patients)


def records_digest(patients: Sequence[Patient]) -> str:
    """Twelve hexadecimal digits that change with any word of the records."""
    told = json.dumps([patient.model_dump() for patient in patients], sort_keys=True)
    return sha256(told.encode()).hexdigest()[:12]


def run_consultations(
    job: ConsultJob, ledger: VisitLog, on_progress: ProgressCallback = no_progress
) -> list[VisitRecord]:
    """The entries of this job, by scheme, patient and visit."""
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
    kept = [ledger.entries.get((name, patient.id, number)) for number in range(len(patient.visits))]
    if all(kept):
        yield from (entry for entry in kept if entry is not None)
        return
    with open_system(scheme, job.resources) as memory:
        desk, told = PatientMemory(memory, patient.lang, job.budget), ToldFindings()
        for number, entry in enumerate(kept):
            if entry is not None:
                replay_visit(patient, entry.played, desk, told)
            else:
                played = play_visit(patient, number, desk, told, job.roles)
                scores = score_visit(patient, played, told)
                entry = VisitRecord(name, patient.id, patient.lang, played, len(desk.items), scores)  # noqa: PLW2901
                ledger.add(entry)
            yield entry
