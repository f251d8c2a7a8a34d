"""A Chinese sentence -> its clauses: what stands between commas."""

from __future__ import annotations

import re

from thinkback.text.sentences import Sentence
from thinkback.think.rules.rule import Clause

_COMMA = re.compile(
    "[，,；;]|(?<=[\u4e00-\u9fff])[ 　]+(?=[\u4e00-\u9fff])"
    "|(?<=[^口点根杯支瓶滴谁么样儿啥都再一，,])(?=也不[吃喝抽喜爱会是]|也没有)"
    "|(?<=不[抽喝吃][\u4e00-\u9fff])(?=不[抽喝吃])"
)
_CONTINUES = re.compile(
    "\\s*(?:不是(?!.{1,12}[，,](?:而)?是)|而不是|叫|名叫|名字叫|取名|起名|我?[给管](?:它|他|她)(?:取名"
    "|起名)?叫)"
)


def clauses(sentence: Sentence) -> list[Clause]:
    """The parts between commas; one that only goes on ("，不是巴黎", "，叫小白") stays with its neighbour."""
    out: list[Clause] = []
    start = 0
    for cut in (*_COMMA.finditer(sentence.text), None):
        if cut and _CONTINUES.match(sentence.text, cut.end()):
            continue
        end = cut.start() if cut else len(sentence.text)
        body = sentence.text[start:end]
        if body.strip():
            first = sentence.start + start + len(body) - len(body.lstrip())
            out.append(Clause(body.strip().rstrip("。！!.~～… "), first, first + len(body.strip())))
        start = cut.end() if cut else end
    return out
