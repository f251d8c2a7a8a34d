"""The doctor, a model: Q_doc / END = Agent(R_pat, T_med, Role, Prompt) (TiM 000, Eq. 9; 001, Eq. 13).

T_med is what the scheme recalls for the patient's last words. A visit costs a call a question, one that says
that it is time (none, where no more questions are allowed), and one for the decision.
"""

from __future__ import annotations

import time
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field

from thinkback import LLM
from thinkback_lab import prompts
from thinkback_lab.consult.asking import ask
from thinkback_lab.consult.context import Context, Desk
from thinkback_lab.consult.doctor import Ask, Decision, Sheet, ended
from thinkback_lab.consult.guide import Guide
from thinkback_lab.models import Sleep

ASK_TOKENS, END_TOKENS = 120, 300
PROMPTS = tuple(f"consult_{name}_{lang}" for name in ("ask", "end", "patient") for lang in ("en", "zh"))
Form = TypeVar("Form", bound=BaseModel)
_NOTHING = {"en": "(nothing)", "zh": "（无）"}


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


class ModelDoctor:
    """One visit."""

    def __init__(self, sheet: Sheet, guide: Guide, llm: LLM, sleep: Sleep = time.sleep) -> None:
        self._sheet, self._guide, self._llm, self._sleep = sheet, guide, llm, sleep
        self._left = sheet.most

    def move(self, reply: str, desk: Desk) -> Ask | Decision:
        context = desk.recall(reply, self._sheet.at)
        if self._left:
            wanted = self._asked(self._prompt("ask", reply, context, left=str(self._left)), Next, ASK_TOKENS)
            if not wanted.end and wanted.question.strip():
                self._left -= 1
                return Ask(prompts.one_line(wanted.question))
        return self._decided(reply, context)

    def _decided(self, reply: str, context: Context) -> Decision:
        said = self._asked(self._prompt("end", reply, context), Conclusion, END_TOKENS)
        lang = self._sheet.lang
        diagnosis, treatment = _plain(said.diagnosis), _plain(said.treatment)
        findings = {
            item: tuple(each for each in said.findings if self._guide.states(each, item, lang))
            for item in self._sheet.wanted
        }
        stated = {item: sentences for item, sentences in findings.items() if sentences}
        return Decision(ended(diagnosis, treatment, lang), diagnosis, treatment, stated)

    def _asked(self, prompt: str, form: type[Form], max_tokens: int) -> Form:
        return ask(
            self._llm,
            prompt,
            form.model_validate_json,
            max_tokens=max_tokens,
            schema=form.model_json_schema(),
            sleep=self._sleep,
        )

    def _prompt(self, name: str, reply: str, context: Context, **more: str) -> str:
        sheet = self._sheet
        memories = "\n".join(f"- {line.shown}" for line in context.lines) or _NOTHING[sheet.lang]
        return prompts.render(
            f"consult_{name}_{sheet.lang}",
            age=str(sheet.age),
            gender=sheet.gender,
            memories=memories,
            reply=prompts.one_line(reply),
            **more,
        )


def _plain(name: str) -> str:
    """On one line, and without a mark at its end: it becomes part of a sentence."""
    return prompts.one_line(name).rstrip(".。 ")
