"""What the Chinese tables share: how a rule is written, and pieces of patterns that many need."""

from __future__ import annotations

import re
from typing import Any

from thinkback.text.numbers import NUMBER_ZH
from thinkback.text.people.kin import KIN_ZH, PETS_ZH, longest_first
from thinkback.think.rules.rule import Rule

KIN_WORDS = f"(?:{longest_first(KIN_ZH | PETS_ZH)})"
COUNT = f"(?:{NUMBER_ZH}|几)?[个只条位名匹头尾对台辆套部张间把]"
COUNTED = f"{COUNT}(?:亲|大|小)?{KIN_WORDS}"
PROVINCES = (
    "北京|天津|上海|重庆|河北|山西|辽宁|吉林|黑龙江|江苏|浙江|安徽|福建|江西|山东|河南|湖北|湖南|广东|海南"
    "|四川|贵州|云南"
    "|陕西|甘肃|青海|台湾|内蒙古?|广西|西藏|宁夏|新疆|香港|澳门|东北|广州|深圳|成都|杭州|南京|武汉|西安"
    "|苏州|长沙|郑州|青岛"
    "|大连|沈阳|哈尔滨|厦门|福州|昆明|济南|合肥|宁波|无锡|温州|石家庄|太原|南昌|贵阳|南宁|兰州"
)
IS = "(?:是|为|：|:)?"
AMOUNT = "(?:\\d[\\d.]*|[一二两三四五六七八九十百零]{1,6})"


def rule(name: str, pattern: str, relation: str, **options: Any) -> Rule:
    """A rule for the whole rest of a clause, whatever particle closes it."""
    return Rule(name, re.compile(pattern + r"(?:了|啦|呢|的|哦|呀|啊)?\Z", re.DOTALL), relation, **options)
