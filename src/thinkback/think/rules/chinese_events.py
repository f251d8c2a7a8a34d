"""What changed, happened or is planned, and last what one has."""

from __future__ import annotations

from thinkback.text.numbers import NUMBER_ZH
from thinkback.think.rules.chinese_parts import rule
from thinkback.think.rules.chinese_words import is_destination, is_thing
from thinkback.think.rules.rule import Rule

RULES: tuple[Rule, ...] = (
    # changes
    rule("left", "(?:从)(?P<o>.{1,20}?)(?:辞职|离职|跳槽)", "works at", negated=True, ended=True),
    rule("left from", "(?:离开|辞去)了?(?P<o>.{1,15}(?:公司|集团|银行|医院|学校|大学))(?:的工作)?",
        "works at", negated=True, ended=True),
    rule("quit", "(?P<o>辞职|离职|辞了工作)", "did", kind="event", say="{s}{o}了"),
    # what happened and what is planned
    rule("graduated", "(?:本科|硕士|博士|研究生|大学|是)*(?:毕业于"
        "|从)(?P<o>.{2,20}?)(?:毕业)?", "graduated from",
        accept=lambda words: words.endswith(("大学", "学院", "学校", "中学", "高中"))),
    rule("went with", "(?:带着?|陪|和|跟|与).{1,8}?(?:一起)?(?:去了"
        "|去过)(?:一?趟)?(?P<o>(?![吃看玩买听见]).{1,30})",
        "went to", kind="event", accept=is_destination),
    rule("went", "(?:去了|去过|到了|去)(?P<o>(?![和跟]).{1,30})", "went to", dated=True, kind="event",
        accept=is_destination),
    rule("went anyway", "(?:去了|去过)(?P<o>.{1,30})", "went to", kind="event", accept=is_destination),
    rule("bought", "买了(?:一)?(?:[个只条台辆套部张本双件把])?(?P<o>.{1,20})", "bought",
        accept=lambda words: is_thing(words) and not words.endswith("的")),
    rule("attended", "参加了?(?P<o>.{1,20})", "attended", dated=True),
    rule("plans", "(?:打算|计划|准备(?=去|在|买|换|搬|考|开始|和|跟|参加))(?P<o>.{2,30})", "plans to"),
    rule("will",
        "(?:要|会|将|将要)(?P<o>(?:去|到|和|跟|参加|搬|做|看|飞|回).{1,30}|(?:考|结婚|出差|手术"
        "|面试).{0,30})",
        "plans to", dated=True),
    rule("appointment",
        "有(?:一)?(?:[个场次节])?(?P<o>.{0,8}(?:面试|考试|会议|手术|预约|约会|体检|比赛|演出|航班"
        "|牙医.{0,4}|复查|讲座))", "has appointment", dated=True),
    rule("did",
        "(?P<o>(?:看了|吃了|见了|做了|开了|办了|拿到了?|跑了|学了|完成了|收到了?|丢了|认识了|开始了?"
        "|和.{1,8}(?:吃饭"
        "|见面|看电影)|跟.{1,8}(?:吃饭|见面|看电影)).{0,30})", "did", dated=True, kind="event"),
    # possession, last
    rule("owns bare", "有(?P<o>车|房|房子|孩子|兄弟姐妹|宠物|驾照|男朋友|女朋友|对象|工作)", "has"),
    rule("owns", f"(?:有|拥有)(?P<o>(?:{NUMBER_ZH}|几)[个只条台辆套部张本间把].{{1,10}})", "has",
        accept=is_thing),
)  # fmt: skip
