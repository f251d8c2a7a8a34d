"""One visit: played turn by turn, and scored against the record.

A turn is the patient's message and the doctor's reply. It is stored in the memory after the doctor's reply,
so that at the next move the doctor has only the patient's last message and what the memory recalls.

  diagnosis, treatment   1 if the decision names the record's and nothing to be avoided
  coverage               share of the key elements that were asked for or stated correctly
  order                  share of the pairs of examinations that were asked for in the correct order
  repeated               questions for what the patient had already said
  forgotten              key elements said, but not recalled at the end of the visit
  contradicted           statements of the doctor that contradict the patient (TiM (ACL), table 5)
  consistency            key elements for which two recalls in other words agree (figures 3 and 4)
"""

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
    """The patient's message with its findings (`told`), the doctor's reply, and the contexts recalled for it.

    `asked` are the items the doctor asks for now; `repeated` means that the patient had said all of them;
    `rejected` are replies of a model that were not true to the record.
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
    """One item recalled in two wordings after the visit: the sentences read each time."""

    item: str
    by_question: tuple[str, ...]
    by_name: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlayedVisit:
    """A completed visit."""

    number: int
    turns: tuple[VisitTurn, ...]
    decision: Decision
    probes: tuple[MemoryProbe, ...]


@dataclass(slots=True)
class ToldFindings:
    """The findings the patient has told, by item, newest last."""

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
    """Who plays the doctor and the patient. The doctor is created anew for every visit."""

    guide: Guide
    doctor: DoctorFactory
    patient: PatientRole
    rounds: int | None = None  # limits the doctor's questions; None: the record does


def play_visit(
    patient: Patient, number: int, memory: PatientMemory, told: ToldFindings, roles: Roles
) -> PlayedVisit:
    """Play one visit (counted from 0); `memory` and `told` carry over to the next."""
    sheet = make_visit_brief(patient, number, roles.rounds)
    doctor = roles.doctor(sheet)
    visit = patient.visits[number]
    today = {each.item: each for each in visit.findings}
    record = (today | patient.current(number)).values()  # today's findings first: "your symptoms" are today's
    reply = PatientReply(visit.opening)
    new_findings: tuple[Finding, ...] = tuple(each for each in visit.findings if each.volunteered)
    turns: list[VisitTurn] = []
    while True:
        told.add(new_findings)
        memory.contexts = []
        move = doctor.next_move(reply.text, memory)
        decided = isinstance(move, Decision)
        findings = () if decided else retrieve_findings(move.text, record, roles.guide, sheet.lang)
        turns.append(
            VisitTurn(
                patient=reply.text,
                doctor=move.text,
                told=_item_names(new_findings),
                contexts=tuple(memory.contexts),
                asked=_item_names(findings),
                repeated=told.contains_all(findings),
                rejected=reply.rejected,
            )
        )
        memory.add_item(_history_item(patient, number, len(turns), reply.text, move.text))
        if isinstance(move, Decision):
            probes = (
                _probe_item(item, sheet, memory, roles.guide) for item in visit.items if item in told.versions
            )
            return PlayedVisit(number, tuple(turns), move, tuple(probes))
        reply, new_findings = roles.patient.reply(move.text, findings, patient), findings


def replay_visit(patient: Patient, played: PlayedVisit, memory: PatientMemory, told: ToldFindings) -> None:
    """Store a logged visit in the memory again, so that an interrupted consultation can continue."""
    current = patient.current(played.number)
    for position, turn in enumerate(played.turns, start=1):
        told.add([current[item] for item in turn.told])
        memory.add_item(_history_item(patient, played.number, position, turn.patient, turn.doctor))


def _probe_item(item: str, brief: VisitBrief, memory: PatientMemory, guide: Guide) -> MemoryProbe:
    def looked(question: str) -> tuple[str, ...]:
        lines = memory.recall(question, brief.at).lines
        return read_findings(
            lines, item, guide, brief.lang, today=brief.at.date(), valid_days=brief.valid_days_by_item[item]
        )

    asking = guide.question_for(item, brief.lang)
    return MemoryProbe(item, looked(asking.ask), looked(asking.item))


def _history_item(patient: Patient, number: int, position: int, message: str, reply: str) -> HistoryItem:
    return HistoryItem(
        id=f"{patient.id}/{number + 1}/{position}",
        query=message,
        response=reply,
        at=patient.visits[number].at + timedelta(minutes=position),
        session=f"visit-{number + 1}",
    )


def _item_names(findings: Sequence[Finding]) -> tuple[str, ...]:
    return tuple(each.item for each in findings)


VisitScores = dict[str, float]


def score_visit(patient: Patient, played: PlayedVisit, told: ToldFindings) -> VisitScores:
    """Score a completed visit."""
    visit = patient.visits[played.number]
    asked = [item for turn in played.turns for item in turn.asked]
    versions = told.versions
    verdicts = {
        item: judge_statements(played.decision.findings.get(item, ()), versions[item])
        for item in visit.items
        if item in versions
    }
    probes = [(probe, versions[probe.item]) for probe in played.probes]
    recalled = [judge_statements(probe.by_question, findings) for probe, findings in probes]
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
    if probes:  # a doctor may decide before anything of the record was said
        scores["consistency"] = fmean(
            recalls_agree(probe.by_question, probe.by_name, findings) for probe, findings in probes
        )
    if (order := order_score(asked, visit)) is not None:
        scores["order"] = order
    return scores


def order_score(asked: Sequence[str], visit: Visit) -> float | None:
    """Share of the pairs of items, ordered by the record and asked for by the doctor, that are in order."""
    group = {item: position for position, items in enumerate(visit.order) for item in items}
    groups_asked = [group[item] for item in dict.fromkeys(asked) if item in group]
    pairs = [(one, other) for one, other in combinations(groups_asked, 2) if one != other]
    return fmean(one < other for one, other in pairs) if pairs else None
