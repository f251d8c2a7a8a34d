"""The patient played by a model, held to the record: a value that the record does not hold is not said.

What the retrieval-augmented module found is all it is given. Where it invents a value it is asked once more,
and then the record's own words are said; the replies that were rejected are kept with the turn and counted.
Where nothing was found no model is asked: it could only invent.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from thinkback import LLM
from thinkback_lab import prompts
from thinkback_lab.consult.asking import ask
from thinkback_lab.consult.patient import Reply, plainly
from thinkback_lab.consult.record import Finding, Patient
from thinkback_lab.consult.words import invented
from thinkback_lab.models import Sleep

MAX_TOKENS = 80
TRIES = ((0.0, 0.4), (0.8,))  # temperatures of the first and of the second time


class ModelPatient:
    def __init__(self, llm: LLM, sleep: Sleep = time.sleep) -> None:
        self._llm, self._sleep = llm, sleep

    def reply(self, question: str, found: Sequence[Finding], patient: Patient) -> Reply:
        if not found:
            return Reply(plainly(found, patient.lang))
        facts = [f"{each.item}: {each.result}. {each.says}" for each in found]
        prompt = prompts.render(
            f"consult_patient_{patient.lang}",
            age=str(patient.age),
            gender=patient.gender,
            facts="\n".join(f"- {fact}" for fact in facts),
            question=prompts.one_line(question),
        )
        rejected: list[str] = []
        for warmer in TRIES:
            said = ask(
                self._llm, prompt, prompts.one_line, max_tokens=MAX_TOKENS, warmer=warmer, sleep=self._sleep
            )
            if not invented(said, facts):
                return Reply(said, tuple(rejected))
            rejected.append(said)
        return Reply(plainly(found, patient.lang), tuple(rejected))
