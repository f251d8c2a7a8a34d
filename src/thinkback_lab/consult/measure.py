"""The automatic evaluation from the record (the second use of the retrieval-augmented module, TiM 000, 3.4).

diagnosis, treatment   1 where the decision names the record's, and nothing that is to be avoided
coverage               share of the visit's key elements that were asked for, or rightly stated
order                  share of the pairs of examinations asked for in the correct order
repeated               questions for what the patient had told already
forgotten              key elements told, of which the memory brings nothing, or not the result
contradicted           the doctor's statements of what the patient told otherwise (table 5)
consistency            key elements told, of which two recalls in other words tell the same (figures 3, 4)
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from statistics import fmean

from thinkback_lab.consult.play import Played, Told
from thinkback_lab.consult.reading import alike, judge
from thinkback_lab.consult.record import Patient, Visit

Scores = dict[str, float]


def measure(patient: Patient, played: Played, told: Told) -> Scores:
    """One visit's figures, when it is over."""
    visit = patient.visits[played.number]
    asked = [item for turn in played.turns for item in turn.asked]
    versions = told.versions
    verdicts = {
        item: judge(played.decision.findings.get(item, ()), versions[item])
        for item in visit.items
        if item in versions
    }
    probes = [(probe, versions[probe.item]) for probe in played.probes]
    recalled = [judge(probe.by_question, said) for probe, said in probes]
    tokens = [context.tokens for turn in played.turns for context in turn.contexts]
    covered = {*asked, *(item for item, verdict in verdicts.items() if verdict == "right")}
    scores = {
        "diagnosis": float(visit.diagnosis.right(played.decision.diagnosis)),
        "treatment": float(visit.treatment.right(played.decision.treatment)),
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
        scores["consistency"] = fmean(alike(probe.by_question, probe.by_name, said) for probe, said in probes)
    if (order := in_order(asked, visit)) is not None:
        scores["order"] = order
    return scores


def in_order(asked: Sequence[str], visit: Visit) -> float | None:
    """Of the pairs that the record puts in order and the doctor asked for; None where there is no pair."""
    group = {item: place for place, items in enumerate(visit.order) for item in items}
    there = [group[item] for item in dict.fromkeys(asked) if item in group]
    pairs = [(one, other) for one, other in combinations(there, 2) if one != other]
    return fmean(one < other for one, other in pairs) if pairs else None
