"""What the Chinese tables share: how a rule is written, and pieces of patterns that many need."""

from __future__ import annotations

import re
from typing import Any

from thinkback.text.kin import KIN_ZH, PETS_ZH, longest_first
from thinkback.text.numbers import NUMBER_ZH
from thinkback.think.rules.rule import Rule

KIN_WORDS = f"(?:{longest_first(KIN_ZH | PETS_ZH)})"
COUNT = f"(?:{NUMBER_ZH}|几)?[个只条位名匹头尾对台辆套部张间把]"
COUNTED = f"{COUNT}(?:亲|大|小)?{KIN_WORDS}"
IS = "(?:是|为|：|:)?"
AMOUNT = "(?:\\d[\\d.]*|[一二两三四五六七八九十百零]{1,6})"


def rule(name: str, pattern: str, relation: str, **options: Any) -> Rule:
    """A rule for the whole rest of a clause, whatever particle closes it."""
    return Rule(name, re.compile(pattern + r"(?:了|啦|呢|的|哦|呀|啊)?\Z", re.DOTALL), relation, **options)
