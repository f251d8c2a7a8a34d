"""The reader: a model answers a question from recalled memories (PerLTQA's memory synthesis, Eq. 4).

Without memories it answers unaided, as the papers do for a model without memory. Memories beyond the token
budget are cut from the end of the list, where the least relevant ones are.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

from thinkback import LLM, Message, ThinkbackError
from thinkback_lab import prompts
from thinkback_lab.errors import LabError
from thinkback_lab.llms import Sleep, complete_with_retry, is_unusable_reply
from thinkback_lab.recorded.folder import MissingReply
from thinkback_lab.text import count_tokens

MAX_MEMORY_TOKENS = 2000  # with prompt and answer it fits into a context of 4,096 tokens
MAX_ANSWER_TOKENS = 160  # about fifty words with an inefficient tokenizer
RETRY_TEMPERATURES = (0.0, 0.4, 0.8)  # a model that says nothing at 0 says nothing again at 0
_PROMPT_NAMES = ("read", "read_small", "unaided")


@dataclass(frozen=True, slots=True)
class LLMReader:
    """Answers with one model; models that cannot follow long prompts get a short one."""

    llm: LLM
    budget: int = MAX_MEMORY_TOKENS
    sleep: Sleep = time.sleep

    @property
    def as_settings(self) -> dict[str, object]:
        """Everything that affects its answers, for the settings of a run."""
        names = [f"{name}_{lang}" for name in _PROMPT_NAMES for lang in ("en", "zh")]
        return {"reader": self.llm.name, "budget": self.budget, "prompts": prompts.prompt_version(*names)}

    def answer(self, question: str, context: Sequence[str], lang: str) -> str:
        prompt = self._prompt(question, fit_to_budget(context, self.budget), prompts.prompt_language(lang))
        for temperature in RETRY_TEMPERATURES:
            try:
                return self._say(prompt, temperature)
            except MissingReply:
                raise
            except ThinkbackError as error:
                failure = error
                if not is_unusable_reply(error):
                    break
        raise LabError(
            f"{self.llm.name} could not answer {question[:80]!r}: {failure} Answers so far are saved: "
            "run the same command again to resume"
        ) from failure

    def _say(self, prompt: str, temperature: float) -> str:
        messages = [Message("user", prompt)]
        return complete_with_retry(
            self.llm, messages, max_tokens=MAX_ANSWER_TOKENS, temperature=temperature, sleep=self.sleep
        ).strip()

    def _prompt(self, question: str, memories: Sequence[str], lang: str) -> str:
        question_line = prompts.one_line(question)
        if not memories:
            return prompts.render(f"unaided_{lang}", question=question_line)
        name = "read" if self.llm.follows else "read_small"
        listed = "\n".join(f"- {memory}" for memory in memories)
        return prompts.render(f"{name}_{lang}", memories=listed, question=question_line)


def fit_to_budget(context: Sequence[str], budget: int) -> list[str]:
    """The first memories that fit into `budget` tokens, one line each; the last one may be truncated."""
    fitting: list[str] = []
    left = budget
    for memory in map(prompts.one_line, context):
        if not memory:
            continue
        if (cost := count_tokens(memory)) > left:
            if shortened := _cut_to_budget(memory, left):
                fitting.append(shortened)
            break
        fitting.append(memory)
        left -= cost
    return fitting


def _cut_to_budget(text: str, budget: int) -> str:
    """The longest prefix of at most `budget` tokens, by binary search."""
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if count_tokens(text[:middle]) <= budget:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip()
