"""The Chinese table: what is said of a subject after its time, adverbs and negation are taken off.

One table serves predicates and attributes: Chinese drops 的 and 是 freely (我的生日是5月6日, 我生日5月6日).
"""

from __future__ import annotations

from thinkback.think.rules import (
    chinese_belongings,
    chinese_events,
    chinese_health,
    chinese_home,
    chinese_tastes,
    chinese_traits,
    chinese_work,
)
from thinkback.think.rules.rule import Rule

RULES: tuple[Rule, ...] = (
    *chinese_home.RULES,
    *chinese_work.RULES,
    *chinese_tastes.RULES,
    *chinese_health.RULES,
    *chinese_traits.RULES,
    *chinese_belongings.RULES,
    *chinese_events.RULES,
)
"""The first that matches decides."""
