"""Every patient's visits under every scheme, each consultation with a memory of its own, kept visit by visit.

A run that goes on tells the memory again what was said at the visits that are over; no doctor and no patient
is asked twice.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from thinkback_lab.consult.context import BUDGET, Desk
from thinkback_lab.consult.ledger import Entry, Ledger
from thinkback_lab.consult.measure import measure
from thinkback_lab.consult.play import Room, Told, play, retell
from thinkback_lab.consult.record import Patient
from thinkback_lab.progress import Report, silent
from thinkback_lab.schemes.scheme import Kit, Scheme, opened

SCHEMES = ("none", "raw", "summary", "tim:002", "thinkback")


@dataclass(frozen=True, slots=True)
class Job:
    """What is run: patients, schemes by name, who plays, and how many tokens a context may have."""

    patients: Sequence[Patient]
    schemes: Mapping[str, Scheme]
    kit: Kit
    room: Room
    budget: int = BUDGET

    @property
    def visits(self) -> int:
        return len(self.schemes) * sum(len(patient.visits) for patient in self.patients)


def digest(patients: Sequence[Patient]) -> str:
    """Twelve hexadecimal digits that change with any word of the records."""
    told = json.dumps([patient.model_dump() for patient in patients], sort_keys=True)
    return sha256(told.encode()).hexdigest()[:12]


def run(job: Job, ledger: Ledger, report: Report = silent) -> list[Entry]:
    """The entries of this job, by scheme, patient and visit."""
    entries: list[Entry] = []
    for name, scheme in job.schemes.items():
        for patient in job.patients:
            for entry in _consulted(job, name, scheme, patient, ledger):
                entries.append(entry)
                report(len(entries), job.visits)
    return entries


def _consulted(job: Job, name: str, scheme: Scheme, patient: Patient, ledger: Ledger) -> Iterator[Entry]:
    kept = [ledger.entries.get((name, patient.id, number)) for number in range(len(patient.visits))]
    if all(kept):
        yield from (entry for entry in kept if entry is not None)
        return
    with opened(scheme, job.kit) as memory:
        desk, told = Desk(memory, patient.lang, job.budget), Told()
        for number, entry in enumerate(kept):
            if entry is not None:
                retell(patient, entry.played, desk, told)
            else:
                played = play(patient, number, desk, told, job.room)
                scores = measure(patient, played, told)
                entry = Entry(name, patient.id, patient.lang, played, len(desk.items), scores)  # noqa: PLW2901
                ledger.add(entry)
            yield entry
