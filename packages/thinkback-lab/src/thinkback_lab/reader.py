"""The reader: a model answers a question from the memories that came back (PerLTQA's synthesis, Eq. 4).

Without memories it answers unaided: that is how the papers ask a model that has no memory. What does not fit
the budget is cut off at the end of the list, where the least fitting memories stand.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from thinkback import LLM, Message, ThinkbackError
from thinkback_lab import prompts
from thinkback_lab.errors import LabError
from thinkback_lab.llms import Sleep, complete_with_retry, is_unusable_reply
from thinkback_lab.text import count_tokens

MAX_MEMORY_TOKENS = (
    2000  # tokens of memories: with prompt and answer it fits a window of 4,096 of any tokenizer
)
MAX_ANSWER_TOKENS = 160  # fifty words, in tokens of the thriftless kind
RETRY_TEMPERATURES = (0.0, 0.4, 0.8)  # temperatures: a model that says nothing at 0 says nothing again at 0
_PROMPT_NAMES = ("read", "read_small", "unaided")


@dataclass(frozen=True, slots=True)
class LLMReader:
    """Answers with one model; a model that cannot follow a long prompt is given a short one."""

    llm: LLM
    budget: int = MAX_MEMORY_TOKENS
    sleep: Sleep = time.sleep

    @property
    def as_settings(self) -> dict[str, object]:
        """What changes its answers, for a run's settings."""
        words = [f"{name}_{lang}" for name in _PROMPT_NAMES for lang in ("en", "zh")]
        return {"reader": self.llm.name, "budget": self.budget, "prompts": prompts.prompt_version(*words)}

    def answer(self, question: str, context: Sequence[str], lang: str) -> str:
        prompt = self._prompt(question, fit_to_budget(context, self.budget), prompts.prompt_language(lang))
        for temperature in RETRY_TEMPERATURES:
            try:
                return self._say(prompt, temperature)
            except ThinkbackError as error:
                failure = error
                if not is_unusable_reply(error):
                    break
        raise LabError(
            f"{self.llm.name} could not answer {question[:80]!r}: {failure} What is answered is kept: "
            "run the same command again to go on"
        ) from failure

    def _say(self, prompt: str, temperature: float) -> str:
        messages = [Message("user", prompt)]
        return complete_with_retry(
            self.llm, messages, max_tokens=MAX_ANSWER_TOKENS, temperature=temperature, sleep=self.sleep
        ).strip()

    def _prompt(self, question: str, memories: Sequence[str], lang: str) -> str:
        asked = prompts.one_line(question)
        if not memories:
            return prompts.render(f"unaided_{lang}", question=asked)
        name = "read" if self.llm.follows else "read_small"
        listed = "\n".join(f"- {memory}" for memory in memories)
        return prompts.render(f"{name}_{lang}", memories=listed, question=asked)


def fit_to_budget(context: Sequence[str], budget: int) -> list[str]:
    """The first memories that cost at most `budget` tokens, one line each; the last is cut where it ends."""
    kept: list[str] = []
    left = budget
    for memory in map(prompts.one_line, context):
        if not memory:
            continue
        if (cost := count_tokens(memory)) > left:
            if part := _cut_to_budget(memory, left):
                kept.append(part)
            break
        kept.append(memory)
        left -= cost
    return kept


def _cut_to_budget(text: str, budget: int) -> str:
    """As many characters as cost at most `budget` tokens: the longest beginning, found by halves."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if count_tokens(text[:middle]) <= budget:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip()
