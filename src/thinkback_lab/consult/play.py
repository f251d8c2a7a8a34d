"""One consultation played: visits over months, turn by turn, through the interface that every scheme has.

A turn is what the patient said and what the doctor answered; it is told to the memory when the doctor has
spoken, so that at his next move he has the patient's last words and what the scheme recalls, and no more.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from thinkback_lab.cases import Item
from thinkback_lab.consult.context import Context, Desk
from thinkback_lab.consult.doctor import Decision, DoctorSide, Sheet, sheet_of
from thinkback_lab.consult.guide import Guide
from thinkback_lab.consult.patient import PatientSide, Reply
from thinkback_lab.consult.reading import read
from thinkback_lab.consult.record import Finding, Patient
from thinkback_lab.consult.retrieval import retrieve

MakeDoctor = Callable[[Sheet], DoctorSide]


@dataclass(frozen=True, slots=True)
class Turn:
    """The patient's words (`told`: the findings in them), the doctor's, and the contexts he had looked at.

    `asked` are the items he now asks for, `repeated`: he had been told all of them; `rejected`: a model's
    replies that were not true to the record and not said.
    """

    patient: str
    doctor: str
    told: tuple[str, ...]
    contexts: tuple[Context, ...]
    asked: tuple[str, ...] = ()
    repeated: bool = False
    rejected: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Probe:
    """One item looked for in two wordings when the visit is over: the sentences read each time."""

    item: str
    by_question: tuple[str, ...]
    by_name: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Played:
    """A visit that is over."""

    number: int
    turns: tuple[Turn, ...]
    decision: Decision
    probes: tuple[Probe, ...]


@dataclass(slots=True)
class Told:
    """What the doctor was told of each item so far, the newest last."""

    versions: dict[str, list[Finding]] = field(default_factory=dict)

    def add(self, findings: Sequence[Finding]) -> None:
        for each in findings:
            of_item = self.versions.setdefault(each.item, [])
            if each not in of_item:
                of_item.append(each)

    def all_of(self, findings: Sequence[Finding]) -> bool:
        return bool(findings) and all(
            each.item in self.versions and each is self.versions[each.item][-1] for each in findings
        )


@dataclass(frozen=True, slots=True)
class Room:
    """Who plays: the doctor is made anew for every visit, and brings nothing but what the desk holds."""

    guide: Guide
    doctor: MakeDoctor
    patient: PatientSide
    rounds: int | None = None  # questions that a doctor may ask at most, where it is not left to the record


def play(patient: Patient, number: int, desk: Desk, told: Told, room: Room) -> Played:
    """One visit (counted from 0); the desk and what was told go on to the next."""
    sheet = sheet_of(patient, number, room.rounds)
    doctor = room.doctor(sheet)
    visit = patient.visits[number]
    today = {each.item: each for each in visit.findings}
    record = (today | patient.current(number)).values()  # in this order: "your symptoms" are today's
    said = Reply(visit.opening)
    now: tuple[Finding, ...] = tuple(each for each in visit.findings if each.volunteered)
    turns: list[Turn] = []
    while True:
        told.add(now)
        desk.contexts = []
        move = doctor.move(said.text, desk)
        ended = isinstance(move, Decision)
        found = () if ended else retrieve(move.text, record, room.guide, sheet.lang)
        turns.append(
            Turn(
                patient=said.text,
                doctor=move.text,
                told=_items(now),
                contexts=tuple(desk.contexts),
                asked=_items(found),
                repeated=told.all_of(found),
                rejected=said.rejected,
            )
        )
        desk.tell(_item(patient, number, len(turns), said.text, move.text))
        if isinstance(move, Decision):
            probes = (_probe(item, sheet, desk, room.guide) for item in visit.items if item in told.versions)
            return Played(number, tuple(turns), move, tuple(probes))
        said, now = room.patient.reply(move.text, found, patient), found


def retell(patient: Patient, played: Played, desk: Desk, told: Told) -> None:
    """A visit that was played before, so that an interrupted consultation can go on."""
    current = patient.current(played.number)
    for place, turn in enumerate(played.turns, start=1):
        told.add([current[item] for item in turn.told])
        desk.tell(_item(patient, played.number, place, turn.patient, turn.doctor))


def _probe(item: str, sheet: Sheet, desk: Desk, guide: Guide) -> Probe:
    def looked(question: str) -> tuple[str, ...]:
        lines = desk.recall(question, sheet.at).lines
        return read(lines, item, guide, sheet.lang, today=sheet.at.date(), within=sheet.wanted[item])

    asking = guide.asking(item, sheet.lang)
    return Probe(item, looked(asking.ask), looked(asking.item))


def _item(patient: Patient, number: int, place: int, said: str, answered: str) -> Item:
    return Item(
        id=f"{patient.id}/{number + 1}/{place}",
        query=said,
        response=answered,
        at=patient.visits[number].at + timedelta(minutes=place),
        session=f"visit-{number + 1}",
    )


def _items(findings: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(each.item for each in findings)
