"""One visit: played turn by turn, and scored against the record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import combinations
from statistics import fmean

from thinkback_lab.cases import HistoryItem
from thinkback_lab.consult.context import (
    Context,
    PatientMemory,
    judge_statements,
    read_findings,
    recalls_agree,
)
from thinkback_lab.consult.doctor import Decision, DoctorRole, VisitBrief, make_visit_brief
from thinkback_lab.consult.guide import Guide, retrieve_findings
from thinkback_lab.consult.patient import PatientReply, PatientRole
from thinkback_lab.consult.records import Finding, Patient, Visit

DoctorFactory = Callable[[VisitBrief], DoctorRole]


@dataclass(frozen=True, slots=True)
class VisitTurn:
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
class MemoryProbe:
    """One item looked for in two wordings when the visit is over: the sentences read each time."""

    item: str
    by_question: tuple[str, ...]
    by_name: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlayedVisit:
    """A visit that is over."""

    number: int
    turns: tuple[VisitTurn, ...]
    decision: Decision
    probes: tuple[MemoryProbe, ...]


@dataclass(slots=True)
class ToldFindings:
    """What the doctor was told of each item so far, the newest last."""

    versions: dict[str, list[Finding]] = field(default_factory=dict)

    def add(self, findings: Sequence[Finding]) -> None:
        for each in findings:
            of_item = self.versions.setdefault(each.item, [])
            if each not in of_item:
                of_item.append(each)

    def contains_all(self, findings: Sequence[Finding]) -> bool:
        return bool(findings) and all(
            each.item in self.versions and each is self.versions[each.item][-1] for each in findings
        )


@dataclass(frozen=True, slots=True)
class Roles:
    """Who plays: the doctor is made anew for every visit, and brings nothing but what the desk holds."""

    guide: Guide
    doctor: DoctorFactory
    patient: PatientRole
    rounds: int | None = None  # questions that a doctor may ask at most, where it is not left to the record


def play_visit(
    patient: Patient, number: int, memory: PatientMemory, told: ToldFindings, roles: Roles
) -> PlayedVisit:
    """One visit (counted from 0); the desk and what was told go on to the next."""
    sheet = make_visit_brief(patient, number, roles.rounds)
    doctor = roles.doctor(sheet)
    visit = patient.visits[number]
    today = {each.item: each for each in visit.findings}
    record = (today | patient.current(number)).values()  # in this order: "your symptoms" are today's
    said = PatientReply(visit.opening)
    now: tuple[Finding, ...] = tuple(each for each in visit.findings if each.volunteered)
    turns: list[VisitTurn] = []
    while True:
        told.add(now)
        memory.contexts = []
        move = doctor.next_move(said.text, memory)
        ended = isinstance(move, Decision)
        found = () if ended else retrieve_findings(move.text, record, roles.guide, sheet.lang)
        turns.append(
            VisitTurn(
                patient=said.text,
                doctor=move.text,
                told=_item_names(now),
                contexts=tuple(memory.contexts),
                asked=_item_names(found),
                repeated=told.contains_all(found),
                rejected=said.rejected,
            )
        )
        memory.tell(_history_item(patient, number, len(turns), said.text, move.text))
        if isinstance(move, Decision):
            probes = (
                _probe_item(item, sheet, memory, roles.guide) for item in visit.items if item in told.versions
            )
            return PlayedVisit(number, tuple(turns), move, tuple(probes))
        said, now = roles.patient.reply(move.text, found, patient), found


def replay_visit(patient: Patient, played: PlayedVisit, memory: PatientMemory, told: ToldFindings) -> None:
    """A visit that was played before, so that an interrupted consultation can go on."""
    current = patient.current(played.number)
    for place, turn in enumerate(played.turns, start=1):
        told.add([current[item] for item in turn.told])
        memory.tell(_history_item(patient, played.number, place, turn.patient, turn.doctor))


def _probe_item(item: str, brief: VisitBrief, memory: PatientMemory, guide: Guide) -> MemoryProbe:
    def looked(question: str) -> tuple[str, ...]:
        lines = memory.recall(question, brief.at).lines
        return read_findings(
            lines, item, guide, brief.lang, today=brief.at.date(), valid_days=brief.valid_days_by_item[item]
        )

    asking = guide.question_for(item, brief.lang)
    return MemoryProbe(item, looked(asking.ask), looked(asking.item))


def _history_item(patient: Patient, number: int, place: int, said: str, answered: str) -> HistoryItem:
    return HistoryItem(
        id=f"{patient.id}/{number + 1}/{place}",
        query=said,
        response=answered,
        at=patient.visits[number].at + timedelta(minutes=place),
        session=f"visit-{number + 1}",
    )


def _item_names(findings: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(each.item for each in findings)


VisitScores = dict[str, float]


def score_visit(patient: Patient, played: PlayedVisit, told: ToldFindings) -> VisitScores:
    """One visit's figures, when it is over."""
    visit = patient.visits[played.number]
    asked = [item for turn in played.turns for item in turn.asked]
    versions = told.versions
    verdicts = {
        item: judge_statements(played.decision.findings.get(item, ()), versions[item])
        for item in visit.items
        if item in versions
    }
    probes = [(probe, versions[probe.item]) for probe in played.probes]
    recalled = [judge_statements(probe.by_question, said) for probe, said in probes]
    tokens = [context.tokens for turn in played.turns for context in turn.contexts]
    covered = {*asked, *(item for item, verdict in verdicts.items() if verdict == "right")}
    scores = {
        "diagnosis": float(visit.diagnosis.is_correct(played.decision.diagnosis)),
        "treatment": float(visit.treatment.is_correct(played.decision.treatment)),
        "coverage": fmean(item in covered for item in visit.items),
        "repeated": float(sum(turn.repeated for turn in played.turns)),
        "questions": float(sum(bool(turn.asked) for turn in played.turns)),
        "forgotten": float(recalled.count("forgotten")),
        "told": float(len(recalled)),
        "contradicted": float(list(verdicts.values()).count("contradicted")),
        "rejected": float(sum(len(turn.rejected) for turn in played.turns)),
        "rounds": float(len(played.turns) - 1),
        "context_tokens": fmean(tokens) if tokens else 0.0,
    }
    if probes:  # a doctor may end before anything of the record was told
        scores["consistency"] = fmean(
            recalls_agree(probe.by_question, probe.by_name, said) for probe, said in probes
        )
    if (order := order_score(asked, visit)) is not None:
        scores["order"] = order
    return scores


def order_score(asked: Sequence[str], visit: Visit) -> float | None:
    """Of the pairs that the record puts in order and the doctor asked for; None where there is no pair."""
    group = {item: place for place, items in enumerate(visit.order) for item in items}
    there = [group[item] for item in dict.fromkeys(asked) if item in group]
    pairs = [(one, other) for one, other in combinations(there, 2) if one != other]
    return fmean(one < other for one, other in pairs) if pairs else None
