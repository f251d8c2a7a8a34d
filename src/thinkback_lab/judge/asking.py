"""One answer put to one judge: the question, what is known of the true answer, and nothing of whose it is.

The memories that a scheme recalled are not shown: their form would give it away.
"""

from __future__ import annotations

import time

from thinkback import LLM, Message, ThinkbackError
from thinkback_lab import prompts
from thinkback_lab.errors import LabError
from thinkback_lab.judge.verdict import SCHEMA, Verdict, read
from thinkback_lab.models import Sleep, patiently, replied
from thinkback_lab.reader import within
from thinkback_lab.runs.record import Record

MAX_TOKENS = 400
REFERENCE_TOKENS = 1200
ANSWER_TOKENS = 600

_WORDS = {
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
PROMPT = prompts.version("judge_en", "judge_zh")


def prompt_for(record: Record) -> str:
    """What a judge reads; equal answers to the same question are equal prompts."""
    lang = prompts.language(record.lang)
    answer = " ".join(within([record.answer or ""], ANSWER_TOKENS))
    return prompts.render(
        f"judge_{lang}",
        question=prompts.one_line(record.question),
        reference=reference(record),
        answer=answer or _WORDS[lang]["silence"],
    )


def reference(record: Record) -> str:
    """What is known of the true answer, on one line."""
    words = _WORDS[prompts.language(record.lang)]
    if not record.answerable:
        return words["untold"]
    told = []
    if record.expected:
        told.append(words["expected"].format(prompts.one_line(record.expected)))
    if record.anchors:
        told.append(words["anchors"].format(words["list"].join(map(prompts.one_line, record.anchors))))
    if record.gold_texts:
        gold = within(record.gold_texts, REFERENCE_TOKENS)
        told.append(words["gold"].format(" / ".join(gold)))
    return " ".join(told) or words["unknown"]


def ask(judge: LLM, prompt: str, lang: str, sleep: Sleep = time.sleep) -> Verdict | str:
    """The verdict, or why there is none after a second try; LabError where the judge cannot be reached."""
    failure = ""
    for again in (False, True):
        text = f"{prompt}\n{_WORDS[prompts.language(lang)]['again']}" if again else prompt
        messages = [Message("user", text)]
        try:
            return read(patiently(judge, messages, schema=SCHEMA, max_tokens=MAX_TOKENS, sleep=sleep))
        except ThinkbackError as error:
            if not replied(error):
                raise LabError(
                    f"the judge {judge.name} cannot be asked: {error} What is judged is kept: "
                    "run the same command again to go on"
                ) from error
            failure = str(error)
        except ValueError as error:
            failure = str(error)
    return failure
