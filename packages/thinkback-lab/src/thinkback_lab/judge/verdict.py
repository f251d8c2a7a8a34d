"""One answer put to one judge: the prompt, the call and the verdict.

Labels are TiM's: 0, 0.5 or 1 for correctness and coherence, plus a score from 0 to 10. The reason comes first
in the reply, so that the figures follow from it. Recalled memories are not shown, because their form would
reveal the system.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from thinkback import LLM, Message, ThinkbackError
from thinkback_lab import prompts
from thinkback_lab.errors import LabError
from thinkback_lab.llms import Sleep, complete_with_retry, is_unusable_reply
from thinkback_lab.reader import fit_to_budget
from thinkback_lab.recorded.folder import MissingReply
from thinkback_lab.runs.records import Record

ALLOWED_LABELS = (0, 0.5, 1)
ALLOWED_SCORES = tuple(range(11))
MAX_REASON_CHARACTERS = 200

VERDICT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "maxLength": MAX_REASON_CHARACTERS},
        "correctness": {"type": "number", "enum": list(ALLOWED_LABELS)},
        "coherence": {"type": "number", "enum": list(ALLOWED_LABELS)},
        "score": {"type": "integer", "enum": list(ALLOWED_SCORES)},
    },
    "required": ["reason", "correctness", "coherence", "score"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Verdict:
    correctness: float
    coherence: float
    score: float
    reason: str = ""


def parse_verdict(text: str) -> Verdict:
    """Parse a reply; raises ValueError if it is not a verdict."""
    try:
        reply = json.loads(text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(reply, dict):
        raise ValueError("not a JSON object")
    reason = reply.get("reason")
    return Verdict(
        correctness=_allowed_value(ALLOWED_LABELS, reply, "correctness"),
        coherence=_allowed_value(ALLOWED_LABELS, reply, "coherence"),
        score=_allowed_value(ALLOWED_SCORES, reply, "score"),
        reason=reason[:MAX_REASON_CHARACTERS] if isinstance(reason, str) else "",
    )


def _allowed_value(allowed: Sequence[float], reply: dict[str, Any], name: str) -> float:
    value = reply.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or value not in allowed:
        raise ValueError(f"{name} is {json.dumps(value)[:40]}, which is none of {list(allowed)}")
    return float(value)


MAX_VERDICT_TOKENS = 400
MAX_REFERENCE_TOKENS = 1200
MAX_ANSWER_TOKENS = 600

_PHRASES = {
    "en": {
        "expected": "The right answer is: {}",
        "anchors": "It must name: {}",
        "gold": "From the talks themselves: {}",
        "untold": "Nobody told the assistant: the right answer admits that it is not known.",
        "unknown": "The right answer is not noted; judge whether the answer could be true and claims no more "
        "than an assistant can know.",
        "silence": "(the assistant said nothing)",
        "list": "; ",
        "again": "Reply with one JSON object of exactly these four members, and nothing beside it.",
    },
    "zh": {
        "expected": "正确答案是：{}",
        "anchors": "必须提到：{}",
        "gold": "谈话原文：{}",
        "untold": "没有人告诉过助手：正确的回答应当承认不知道。",
        "unknown": "没有记录正确答案；请判断回答是否可能属实，并且没有说出助手不可能知道的事。",
        "silence": "（助手什么也没说）",
        "list": "；",
        "again": "只回复一个 JSON 对象，恰好包含这四项，不要有其他内容。",
    },
}
PROMPT_VERSION = prompts.prompt_version("judge_en", "judge_zh")


def make_judge_prompt(record: Record) -> str:
    """The prompt for one answer; equal answers to the same question give equal prompts."""
    lang = prompts.prompt_language(record.lang)
    answer = " ".join(fit_to_budget([record.answer or ""], MAX_ANSWER_TOKENS))
    return prompts.render(
        f"judge_{lang}",
        question=prompts.one_line(record.question),
        reference=reference_text(record),
        answer=answer or _PHRASES[lang]["silence"],
    )


def reference_text(record: Record) -> str:
    """What is known about the correct answer, on one line."""
    phrases = _PHRASES[prompts.prompt_language(record.lang)]
    if not record.answerable:
        return phrases["untold"]
    parts = []
    if record.expected:
        parts.append(phrases["expected"].format(prompts.one_line(record.expected)))
    if record.anchors:
        parts.append(phrases["anchors"].format(phrases["list"].join(map(prompts.one_line, record.anchors))))
    if record.gold_texts:
        gold = fit_to_budget(record.gold_texts, MAX_REFERENCE_TOKENS)
        parts.append(phrases["gold"].format(" / ".join(gold)))
    return " ".join(parts) or phrases["unknown"]


def ask_judge(judge: LLM, prompt: str, lang: str, sleep: Sleep = time.sleep) -> Verdict | str:
    """Return the verdict, or the reason why there is none after two attempts.

    Raises LabError if the judge cannot be reached, and MissingReply if its verdict is not recorded.
    """
    failure = ""
    for again in (False, True):
        text = f"{prompt}\n{_PHRASES[prompts.prompt_language(lang)]['again']}" if again else prompt
        messages = [Message("user", text)]
        try:
            return parse_verdict(
                complete_with_retry(
                    judge, messages, schema=VERDICT_SCHEMA, max_tokens=MAX_VERDICT_TOKENS, sleep=sleep
                )
            )
        except MissingReply:
            raise
        except ThinkbackError as error:
            if not is_unusable_reply(error):
                raise LabError(
                    f"the judge {judge.name} cannot be reached: {error} Verdicts so far are saved: "
                    "run the same command again to resume"
                ) from error
            failure = str(error)
        except ValueError as error:
            failure = str(error)
    return failure
