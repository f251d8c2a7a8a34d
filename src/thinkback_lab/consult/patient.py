"""The patient without a model (TiM 000, Eq. 8; 001, Eq. 12): lazy, and true to the record.

It answers what it was asked, in the record's own words for the patient, and nothing else: what the record
does not hold, it does not know.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from thinkback_lab.consult.record import Finding, Lang, Patient

UNKNOWN = {"en": "I don't know anything about that.", "zh": "这个我不清楚。"}


@dataclass(frozen=True, slots=True)
class Reply:
    """What the patient says; `rejected` are a model's replies that said a value the record does not hold."""

    text: str
    rejected: tuple[str, ...] = ()


class PatientSide(Protocol):
    """R_pat = Agent(Q_doc, Role_pat, Prompt_pat); the retrieval-augmented module adds `found` to Q_doc."""

    def reply(self, question: str, found: Sequence[Finding], patient: Patient) -> Reply: ...


def plainly(found: Sequence[Finding], lang: Lang) -> str:
    """The record's words for the patient."""
    return " ".join(each.says for each in found) or UNKNOWN[lang]


class RulePatient:
    name = "rules"

    def reply(self, question: str, found: Sequence[Finding], patient: Patient) -> Reply:
        return Reply(plainly(found, patient.lang))
