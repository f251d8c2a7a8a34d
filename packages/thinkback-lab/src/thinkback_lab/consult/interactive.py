"""A person plays one role in the terminal: types the doctor's questions, or the patient's answers.

The doctor is shown the recalled memories, the patient what the record says. A person's answers are not
checked against the record.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from thinkback_lab.consult.context import PatientMemory
from thinkback_lab.consult.doctor import Decision, DoctorQuestion, VisitBrief, decision_text
from thinkback_lab.consult.guide import Guide
from thinkback_lab.consult.patient import PatientReply
from thinkback_lab.consult.records import Finding, Patient
from thinkback_lab.text import split_sentences

END_COMMAND = "/end"
PrintLine = Callable[[str], None]
ReadLine = Callable[[str], str]


class InteractiveDoctor:
    """Asks for questions until the line `/end`, then for findings, diagnosis and treatment."""

    def __init__(self, brief: VisitBrief, guide: Guide, say: PrintLine, hear: ReadLine) -> None:
        self._brief, self._guide, self._print_line, self._read_line = brief, guide, say, hear
        say(
            f"\n{brief.at.date().isoformat()}: {brief.gender}, {brief.age}. "
            f"Ask, or type {END_COMMAND} to decide."
        )

    def next_move(self, reply: str, memory: PatientMemory) -> DoctorQuestion | Decision:
        for line in memory.recall(reply, self._brief.at).lines:
            self._print_line(f"  remembered: {line.dated_text}")
        self._print_line(f"Patient: {reply}")
        typed = ""
        while not typed:
            typed = self._read_line("Doctor: ").strip()
        if typed != END_COMMAND:
            return DoctorQuestion(typed)
        statements = split_sentences(self._read_line("Findings you rely on: "))
        diagnosis, treatment = self._read_line("Diagnosis: ").strip(), self._read_line("Treatment: ").strip()
        lang = self._brief.lang
        findings = {
            item: matching
            for item in self._brief.valid_days_by_item
            if (matching := tuple(each for each in statements if self._guide.states_item(each, item, lang)))
        }
        return Decision(decision_text(diagnosis, treatment, lang), diagnosis, treatment, findings)


class InteractivePatient:
    def __init__(self, say: PrintLine, hear: ReadLine) -> None:
        self._print_line, self._read_line = say, hear

    def reply(self, question: str, found: Sequence[Finding], patient: Patient) -> PatientReply:
        for each in found:
            self._print_line(f"  your record: {each.item}: {each.result}")
        self._print_line(f"Doctor: {question}")
        typed = ""
        while not typed:
            typed = self._read_line("Patient: ").strip()
        return PatientReply(typed)
