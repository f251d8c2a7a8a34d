"""The patient's role, played by rules or by a language model (TiM (EMNLP), Eq. 8; TiM (ACL), Eq. 12).

The patient answers only what was asked, in the words of the record. A model is given only the retrieved
findings; if its reply contains a value that is not in them, it is asked once more, and then the record's
words are used.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from thinkback import LLM
from thinkback_lab import prompts
from thinkback_lab.consult.guide import find_invented_values
from thinkback_lab.consult.records import Finding, Lang, Patient
from thinkback_lab.llms import Sleep, ask_until_valid

UNKNOWN_REPLIES = {"en": "I don't know anything about that.", "zh": "这个我不清楚。"}


@dataclass(frozen=True, slots=True)
class PatientReply:
    """The patient's reply; `rejected` contains replies of a model with values that are not in the record."""

    text: str
    rejected: tuple[str, ...] = ()


class PatientRole(Protocol):
    """Plays the patient: answers a question from the findings that were retrieved for it."""

    def reply(self, question: str, found: Sequence[Finding], patient: Patient) -> PatientReply: ...


def answer_from_record(found: Sequence[Finding], lang: Lang) -> str:
    """The patient's answer in the words of the record."""
    return " ".join(each.says for each in found) or UNKNOWN_REPLIES[lang]


class RulePatient:
    name = "rules"

    def reply(self, question: str, found: Sequence[Finding], patient: Patient) -> PatientReply:
        return PatientReply(answer_from_record(found, patient.lang))


MAX_REPLY_TOKENS = 80
RETRY_TEMPERATURES = ((0.0, 0.4), (0.8,))  # of the first and of the second attempt


class LLMPatient:
    def __init__(self, llm: LLM, sleep: Sleep = time.sleep) -> None:
        self._llm, self._sleep = llm, sleep

    def reply(self, question: str, found: Sequence[Finding], patient: Patient) -> PatientReply:
        if not found:
            return PatientReply(answer_from_record(found, patient.lang))
        facts = [f"{each.item}: {each.result}. {each.says}" for each in found]
        prompt = prompts.render(
            f"consult_patient_{patient.lang}",
            age=str(patient.age),
            gender=patient.gender,
            facts="\n".join(f"- {fact}" for fact in facts),
            question=prompts.one_line(question),
        )
        rejected: list[str] = []
        for warmer in RETRY_TEMPERATURES:
            text = ask_until_valid(
                self._llm,
                prompt,
                prompts.one_line,
                max_tokens=MAX_REPLY_TOKENS,
                temperatures=warmer,
                sleep=self._sleep,
            )
            if not find_invented_values(text, facts):
                return PatientReply(text, tuple(rejected))
            rejected.append(text)
        return PatientReply(answer_from_record(found, patient.lang), tuple(rejected))
