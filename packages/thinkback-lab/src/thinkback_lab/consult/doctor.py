"""The doctor's role: by script or by a language model."""

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

VISIT_DURATION = timedelta(hours=3)  # a visit's day as its memories are asked: after all that was said in it
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
    """What a doctor is given of a visit: whom, when, and what is to be known; no result is on it."""

    lang: Lang
    age: int
    gender: str
    at: datetime
    valid_days_by_item: Mapping[str, int | None]  # item -> for how many days its result may be relied on
    max_questions: int  # questions that a model may ask; the walk of a script ends by itself


@dataclass(frozen=True, slots=True)
class DoctorQuestion:
    text: str


@dataclass(frozen=True, slots=True)
class Decision:
    """END of Eq. 9 and 13: `findings` are the doctor's statements by item."""

    text: str
    diagnosis: str
    treatment: str
    findings: Findings = field(default_factory=dict)


class DoctorRole(Protocol):
    """Q_doc / END = Agent(R_pat, T_med, Role_doc, Prompt_doc), for one visit."""

    def next_move(self, reply: str, memory: PatientMemory) -> DoctorQuestion | Decision: ...


class ScriptedDoctor:
    """One visit's walk."""

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
        looked = {item: self._look_up(item, reply, memory) for item in self._brief.valid_days_by_item}
        findings = {item: sentences for item, sentences in looked.items() if sentences}
        found = self._guide.diagnose(findings, lang)
        plan = found and self._guide.treat(found, findings, lang)
        diagnosis = getattr(found, lang) if found else ""
        treatment = getattr(plan, lang) if plan else ""
        return Decision(decision_text(diagnosis, treatment, lang), diagnosis, treatment, findings)


def decision_text(diagnosis: str, treatment: str, lang: Lang) -> str:
    """The words in which a doctor tells the patient."""
    known, unknown, treated, untreated = _CLOSING_PHRASES[lang]
    return " ".join(
        (
            known.format(diagnosis) if diagnosis else unknown,
            treated.format(treatment) if treatment else untreated,
        )
    )


def make_visit_brief(patient: Patient, number: int, rounds: int | None = None) -> VisitBrief:
    """A visit (counted from 0) without its results."""
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
    """A doctor who neither ends nor asks anything has come to the end."""

    model_config = ConfigDict(extra="forbid")
    end: bool
    question: str = Field(max_length=400)


class Conclusion(BaseModel):
    model_config = ConfigDict(extra="forbid")
    findings: list[str] = Field(max_length=20)
    diagnosis: str = Field(max_length=200)
    treatment: str = Field(max_length=300)


class LLMDoctor:
    """One visit."""

    def __init__(self, brief: VisitBrief, guide: Guide, llm: LLM, sleep: Sleep = time.sleep) -> None:
        self._brief, self._guide, self._llm, self._sleep = brief, guide, llm, sleep
        self._questions_left = brief.max_questions

    def next_move(self, reply: str, memory: PatientMemory) -> DoctorQuestion | Decision:
        context = memory.recall(reply, self._brief.at)
        if self._questions_left:
            wanted = self._ask(
                self._prompt("ask", reply, context, left=str(self._questions_left)), Next, MAX_QUESTION_TOKENS
            )
            if not wanted.end and wanted.question.strip():
                self._questions_left -= 1
                return DoctorQuestion(prompts.one_line(wanted.question))
        return self._decide(reply, context)

    def _decide(self, reply: str, context: Context) -> Decision:
        said = self._ask(self._prompt("end", reply, context), Conclusion, MAX_DECISION_TOKENS)
        lang = self._brief.lang
        diagnosis, treatment = _without_final_period(said.diagnosis), _without_final_period(said.treatment)
        findings = {
            item: tuple(each for each in said.findings if self._guide.states_item(each, item, lang))
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
    """On one line, and without a mark at its end: it becomes part of a sentence."""
    return prompts.one_line(name).rstrip(".。 ")
