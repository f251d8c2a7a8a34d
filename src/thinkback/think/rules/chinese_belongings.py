"""Things of which one has one: plates and numbers, cars and phones, what one lifts; and types one is."""

from __future__ import annotations

from thinkback.think.rules.chinese_parts import AMOUNT, IS, rule
from thinkback.think.rules.chinese_words import is_model
from thinkback.think.rules.rule import Rule

_PROVINCES = "京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼"
_CHANGED = "(?:换成了?|改成了?|变成了?|换了)"

RULES: tuple[Rule, ...] = (
    rule("plate", f"(?:的)?(?:新)?(?:车)?的?(?:车牌|牌照|牌子)(?:号码?)?(?:{_CHANGED}|{IS})"
        f"(?P<o>[{_PROVINCES}] ?[A-Z][ ·]?[A-Z0-9]{{5,6}})", "license plate"),
    rule("own number", f"(?:的)?(?P<what>学号|工号|会员号|准考证号|社保号|病历号)(?:{_CHANGED}|{IS})"
        "(?P<o>[A-Za-z0-9-]{3,16})", "{what}"),
    rule("lifts", "(?:的)?(?P<what>卧推|深蹲|硬拉)(?:的?(?:PR|pr|极限|最大重量|重量|最多)|已经|现在|终于|能"
        "|都)*"
        f"(?:推|拉|蹲|做|到|是|了|破|上|冲)*(?P<o>{AMOUNT} ?(?:公斤|千克|kg|KG|斤|磅))", "{what}"),
    rule("drives one", "(?:现在)?开(?:的是|着|了)?一?[辆台](?:二手|新|旧|白色?|黑色?|红色?"
        "|的)*(?P<o>.{2,10})", "drives",
        accept=is_model),
    rule("car is", "(?:的|那辆|这辆)?车(?:子)?是一?[辆台]?(?P<o>.{2,10})", "drives", accept=is_model),
    rule("uses", "(?:的)?(?:平时|现在|一直)?(?:用的(?:手机|电脑|相机)?是|(?:手机|电脑|笔记本|平板"
        "|相机)(?:换成了?|是))"
        "(?P<o>.{2,20})", "uses", accept=is_model),
    rule("type", "(?:是)?(?:个|典型的?|一个)*(?P<o>[IE][NS][TF][JP])(?:人格|型)?(?:人)?", "is"),
)  # fmt: skip
