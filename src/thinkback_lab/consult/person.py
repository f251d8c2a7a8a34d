"""A person takes a side: types the doctor's questions, or the patient's answers.

The doctor sees what the scheme recalls for the patient's words; the patient sees what the record holds of
what was asked. What a person answers is not checked against the record: it is a person's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from thinkback_lab.consult.context import Desk
from thinkback_lab.consult.doctor import Ask, Decision, Sheet, ended
from thinkback_lab.consult.guide import Guide
from thinkback_lab.consult.patient import Reply
from thinkback_lab.consult.record import Finding, Patient
from thinkback_lab.text import sentences

END = "/end"
Say = Callable[[str], None]
Hear = Callable[[str], str]


class PersonDoctor:
    """Ends with a line `/end`; then findings, diagnosis and treatment are asked for."""

    def __init__(self, sheet: Sheet, guide: Guide, say: Say, hear: Hear) -> None:
        self._sheet, self._guide, self._say, self._hear = sheet, guide, say, hear
        say(f"\n{sheet.at.date().isoformat()}: {sheet.gender}, {sheet.age}. Ask, or type {END} to decide.")

    def move(self, reply: str, desk: Desk) -> Ask | Decision:
        for line in desk.recall(reply, self._sheet.at).lines:
            self._say(f"  remembered: {line.shown}")
        self._say(f"Patient: {reply}")
        typed = ""
        while not typed:
            typed = self._hear("Doctor: ").strip()
        if typed != END:
            return Ask(typed)
        said = sentences(self._hear("Findings you rely on: "))
        diagnosis, treatment = self._hear("Diagnosis: ").strip(), self._hear("Treatment: ").strip()
        lang = self._sheet.lang
        stated = {
            item: found
            for item in self._sheet.wanted
            if (found := tuple(each for each in said if self._guide.states(each, item, lang)))
        }
        return Decision(ended(diagnosis, treatment, lang), diagnosis, treatment, stated)


class PersonPatient:
    def __init__(self, say: Say, hear: Hear) -> None:
        self._say, self._hear = say, hear

    def reply(self, question: str, found: Sequence[Finding], patient: Patient) -> Reply:
        for each in found:
            self._say(f"  your record: {each.item}: {each.result}")
        self._say(f"Doctor: {question}")
        typed = ""
        while not typed:
            typed = self._hear("Patient: ").strip()
        return Reply(typed)
