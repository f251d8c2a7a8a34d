"""The doctor's role, played by a script or by a language model (TiM (EMNLP), Eq. 9; TiM (ACL), Eq. 13).

The scripted doctor walks through the key elements. For each it recalls a context and asks the patient if
neither the context nor the patient's last reply states it; it keeps no state between questions. The model
sees the patient's last reply and the memories recalled for it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from thinkback import LLM
from thinkback_lab import prompts
from thinkback_lab.consult.context import Context, ContextLine, PatientMemory, read_findings
from thinkback_lab.consult.guide import Findings, Guide
from thinkback_lab.consult.records import Lang, Patient
from thinkback_lab.llms import Sleep, ask_until_valid

VISIT_DURATION = timedelta(hours=3)  # memories are recalled as of the end of the visit
_CLOSING_PHRASES = {
    "en": (
        "This looks like {}.",
        "I cannot tell what it is yet.",
        "I suggest {}.",
        "I suggest no treatment yet.",
    ),
    "zh": ("这看来是{}。", "现在还不能判断是什么病。", "建议{}。", "暂不治疗。"),
}


@dataclass(frozen=True, slots=True)
class VisitBrief:
    """What a doctor knows at the start of a visit: patient, time and items to find out."""

    lang: Lang
    age: int
    gender: str
    at: datetime
    valid_days_by_item: Mapping[str, int | None]  # item -> number of days a result stays valid
    max_questions: int  # limit for a model; the script ends by itself


@dataclass(frozen=True, slots=True)
class DoctorQuestion:
    text: str


@dataclass(frozen=True, slots=True)
class Decision:
    """The doctor's conclusion (END in Eq. 9 and 13); `findings` are the statements by item."""

    text: str
    diagnosis: str
    treatment: str
    findings: Findings = field(default_factory=dict)


class DoctorRole(Protocol):
    """Plays the doctor for one visit: asks a question or decides."""

    def next_move(self, reply: str, memory: PatientMemory) -> DoctorQuestion | Decision: ...


class ScriptedDoctor:
    """Asks for every item that is not known yet, then decides by the guide. One instance per visit."""

    def __init__(self, brief: VisitBrief, guide: Guide) -> None:
        self._brief, self._guide = brief, guide
        order = sorted(brief.valid_days_by_item, key=lambda item: guide.topic_order(item, brief.lang))
        self._remaining_items = iter(order)

    def next_move(self, reply: str, memory: PatientMemory) -> DoctorQuestion | Decision:
        for item in self._remaining_items:
            if not self._look_up(item, reply, memory):
                return DoctorQuestion(self._guide.question_for(item, self._brief.lang).ask)
        return self._decide(reply, memory)

    def _look_up(self, item: str, reply: str, memory: PatientMemory) -> tuple[str, ...]:
        sheet = self._brief
        context = memory.recall(self._guide.question_for(item, sheet.lang).ask, sheet.at)
        lines = [ContextLine(sheet.at.date(), reply), *context.lines]
        return read_findings(
            lines,
            item,
            self._guide,
            sheet.lang,
            today=sheet.at.date(),
            valid_days=sheet.valid_days_by_item[item],
        )

    def _decide(self, reply: str, memory: PatientMemory) -> Decision:
        lang = self._brief.lang
        statements = {item: self._look_up(item, reply, memory) for item in self._brief.valid_days_by_item}
        findings = {item: sentences for item, sentences in statements.items() if sentences}
        match = self._guide.diagnose(findings, lang)
        plan = match and self._guide.treat(match, findings, lang)
        diagnosis = getattr(match, lang) if match else ""
        treatment = getattr(plan, lang) if plan else ""
        return Decision(decision_text(diagnosis, treatment, lang), diagnosis, treatment, findings)


def decision_text(diagnosis: str, treatment: str, lang: Lang) -> str:
    """The sentences in which the doctor tells the patient the decision."""
    diagnosed, undiagnosed, treated, untreated = _CLOSING_PHRASES[lang]
    return " ".join(
        (
            diagnosed.format(diagnosis) if diagnosis else undiagnosed,
            treated.format(treatment) if treatment else untreated,
        )
    )


def make_visit_brief(patient: Patient, number: int, rounds: int | None = None) -> VisitBrief:
    """Make the brief of a visit (counted from 0)."""
    visit, current = patient.visits[number], patient.current(number)
    return VisitBrief(
        lang=patient.lang,
        age=patient.age,
        gender=patient.gender,
        at=visit.at + VISIT_DURATION,
        valid_days_by_item={item: current[item].within for item in visit.items},
        max_questions=rounds or max(2 * visit.rounds, len(visit.items)),
    )


MAX_QUESTION_TOKENS, MAX_DECISION_TOKENS = 120, 300
CONSULT_PROMPTS = tuple(
    f"consult_{name}_{lang}" for name in ("ask", "end", "patient") for lang in ("en", "zh")
)
ReplyT = TypeVar("ReplyT", bound=BaseModel)
_NO_MEMORIES = {"en": "(nothing)", "zh": "（无）"}


class Next(BaseModel):
    """Reply to the "ask" prompt; an empty question also ends the visit."""

    model_config = ConfigDict(extra="forbid")
    end: bool
    question: str = Field(max_length=400)


class Conclusion(BaseModel):
    model_config = ConfigDict(extra="forbid")
    findings: list[str] = Field(max_length=20)
    diagnosis: str = Field(max_length=200)
    treatment: str = Field(max_length=300)


class LLMDoctor:
    """A doctor played by a language model. One instance per visit."""

    def __init__(self, brief: VisitBrief, guide: Guide, llm: LLM, sleep: Sleep = time.sleep) -> None:
        self._brief, self._guide, self._llm, self._sleep = brief, guide, llm, sleep
        self._questions_left = brief.max_questions

    def next_move(self, reply: str, memory: PatientMemory) -> DoctorQuestion | Decision:
        context = memory.recall(reply, self._brief.at)
        if self._questions_left:
            reply_form = self._ask(
                self._prompt("ask", reply, context, left=str(self._questions_left)), Next, MAX_QUESTION_TOKENS
            )
            if not reply_form.end and reply_form.question.strip():
                self._questions_left -= 1
                return DoctorQuestion(prompts.one_line(reply_form.question))
        return self._decide(reply, context)

    def _decide(self, reply: str, context: Context) -> Decision:
        conclusion = self._ask(self._prompt("end", reply, context), Conclusion, MAX_DECISION_TOKENS)
        lang = self._brief.lang
        diagnosis, treatment = (
            _without_final_period(conclusion.diagnosis),
            _without_final_period(conclusion.treatment),
        )
        findings = {
            item: tuple(each for each in conclusion.findings if self._guide.states_item(each, item, lang))
            for item in self._brief.valid_days_by_item
        }
        stated = {item: sentences for item, sentences in findings.items() if sentences}
        return Decision(decision_text(diagnosis, treatment, lang), diagnosis, treatment, stated)

    def _ask(self, prompt: str, form: type[ReplyT], max_tokens: int) -> ReplyT:
        return ask_until_valid(
            self._llm,
            prompt,
            form.model_validate_json,
            max_tokens=max_tokens,
            schema=form.model_json_schema(),
            sleep=self._sleep,
        )

    def _prompt(self, name: str, reply: str, context: Context, **more: str) -> str:
        sheet = self._brief
        memories = "\n".join(f"- {line.dated_text}" for line in context.lines) or _NO_MEMORIES[sheet.lang]
        return prompts.render(
            f"consult_{name}_{sheet.lang}",
            age=str(sheet.age),
            gender=sheet.gender,
            memories=memories,
            reply=prompts.one_line(reply),
            **more,
        )


def _without_final_period(name: str) -> str:
    """Put a name on one line without a final period, because it becomes part of a sentence."""
    return prompts.one_line(name).rstrip(".。 ")
