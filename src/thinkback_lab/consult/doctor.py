"""The doctor without a model (TiM 000, Eq. 9; 001, Eq. 13): walks the key elements, asks what is not known.

For each element it has the scheme compose a context, and looks there, and in the patient's last words,
whether it knows it; it keeps nothing in its own head, not from one question to the next. At the end it looks
again for every element, names what it found, and decides by its guide.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from thinkback_lab.consult.context import Desk, Line
from thinkback_lab.consult.guide import Findings, Guide
from thinkback_lab.consult.reading import read
from thinkback_lab.consult.record import Lang, Patient

CLOSES = timedelta(hours=3)  # a visit's day as its memories are asked: after all that was said in it
_END = {
    "en": (
        "This looks like {}.",
        "I cannot tell what it is yet.",
        "I suggest {}.",
        "I suggest no treatment yet.",
    ),
    "zh": ("这看来是{}。", "现在还不能判断是什么病。", "建议{}。", "暂不治疗。"),
}


@dataclass(frozen=True, slots=True)
class Sheet:
    """What a doctor is given of a visit: whom, when, and what is to be known; no result is on it."""

    lang: Lang
    age: int
    gender: str
    at: datetime
    wanted: Mapping[str, int | None]  # item -> for how many days its result may be relied on
    most: int  # questions that a model may ask; the walk of a script ends by itself


@dataclass(frozen=True, slots=True)
class Ask:
    text: str


@dataclass(frozen=True, slots=True)
class Decision:
    """END of Eq. 9 and 13: `findings` are the doctor's statements by item."""

    text: str
    diagnosis: str
    treatment: str
    findings: Findings = field(default_factory=dict)


class DoctorSide(Protocol):
    """Q_doc / END = Agent(R_pat, T_med, Role_doc, Prompt_doc), for one visit."""

    def move(self, reply: str, desk: Desk) -> Ask | Decision: ...


class ScriptedDoctor:
    """One visit's walk."""

    def __init__(self, sheet: Sheet, guide: Guide) -> None:
        self._sheet, self._guide = sheet, guide
        order = sorted(sheet.wanted, key=lambda item: guide.place(item, sheet.lang))
        self._left = iter(order)

    def move(self, reply: str, desk: Desk) -> Ask | Decision:
        for item in self._left:
            if not self._known(item, reply, desk):
                return Ask(self._guide.asking(item, self._sheet.lang).ask)
        return self._decided(reply, desk)

    def _known(self, item: str, reply: str, desk: Desk) -> tuple[str, ...]:
        sheet = self._sheet
        context = desk.recall(self._guide.asking(item, sheet.lang).ask, sheet.at)
        lines = [Line(sheet.at.date(), reply), *context.lines]
        return read(lines, item, self._guide, sheet.lang, today=sheet.at.date(), within=sheet.wanted[item])

    def _decided(self, reply: str, desk: Desk) -> Decision:
        lang = self._sheet.lang
        looked = {item: self._known(item, reply, desk) for item in self._sheet.wanted}
        findings = {item: sentences for item, sentences in looked.items() if sentences}
        found = self._guide.diagnose(findings, lang)
        plan = found and self._guide.treat(found, findings, lang)
        diagnosis = getattr(found, lang) if found else ""
        treatment = getattr(plan, lang) if plan else ""
        return Decision(ended(diagnosis, treatment, lang), diagnosis, treatment, findings)


def ended(diagnosis: str, treatment: str, lang: Lang) -> str:
    """The words in which a doctor tells the patient."""
    known, unknown, treated, untreated = _END[lang]
    return " ".join(
        (
            known.format(diagnosis) if diagnosis else unknown,
            treated.format(treatment) if treatment else untreated,
        )
    )


def sheet_of(patient: Patient, number: int, rounds: int | None = None) -> Sheet:
    """A visit (counted from 0) without its results."""
    visit, current = patient.visits[number], patient.current(number)
    return Sheet(
        lang=patient.lang,
        age=patient.age,
        gender=patient.gender,
        at=visit.at + CLOSES,
        wanted={item: current[item].within for item in visit.items},
        most=rounds or max(2 * visit.rounds, len(visit.items)),
    )
