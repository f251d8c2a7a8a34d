"""A consultation to read: who said what, and the memories that stood on the desk at each turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from thinkback_lab.consult.ledger import Entry
from thinkback_lab.consult.record import Patient
from thinkback_lab.errors import LabError
from thinkback_lab.runs.start import slug

FOLDER = "transcripts"


def write_transcripts(entries: Sequence[Entry], patients: Sequence[Patient], folder: Path) -> None:
    """A Markdown file a consultation: transcripts/SCHEME/PATIENT.md."""
    by_id = {patient.id: patient for patient in patients}
    consultations: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        consultations.setdefault((entry.scheme, entry.patient), []).append(entry)
    try:
        for (scheme, id_), visits in consultations.items():
            path = folder / FOLDER / slug(scheme) / f"{id_}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(_lines(scheme, by_id[id_], visits)) + "\n", encoding="utf-8")
    except OSError as error:
        raise LabError(f"{folder}: {error.strerror or error}") from error


def _lines(scheme: str, patient: Patient, visits: Sequence[Entry]) -> Iterator[str]:
    yield f"# {patient.id}: {patient.gender}, {patient.age}, with {scheme}"
    yield "\nA fictional patient of a simulation. Not medical advice."
    for entry in visits:
        visit = patient.visits[entry.played.number]
        yield f"\n## Visit {entry.played.number + 1}, {visit.at.date().isoformat()}\n"
        for number, turn in enumerate(entry.played.turns, start=1):
            yield f"{number}. **Patient:** {turn.patient}"
            yield from (f"   - *rejected, not in the record:* {said}" for said in turn.rejected)
            for context in turn.contexts:
                yield f"   - looked for “{context.question}” ({context.tokens} tokens)"
                yield from (f"     - {line.shown}" for line in context.lines)
            yield f"   **Doctor:** {turn.doctor}{' *(asked before)*' if turn.repeated else ''}"
        yield f"\nThe record: {visit.diagnosis.core}; {visit.treatment.core}.\n"
        yield from (f"- {name}: {value:g}" for name, value in entry.scores.items())
