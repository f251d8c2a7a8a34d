"""Tastes: favourites, what is liked, and what is not."""

from __future__ import annotations

from thinkback.think.rules.chinese_parts import rule
from thinkback.think.rules.chinese_words import is_favourite, is_thing
from thinkback.think.rules.rule import Rule

RULES: tuple[Rule, ...] = (
    rule("favourite",
        "(?:的)?最?(?:喜欢|爱|喜爱|迷|中意)(?:吃|喝|看|听|玩|读|穿)?的(?P<what>(?!就|还|一"
        "|莫)[^是为]{1,4}?)(?:就|还|现在|如今|目前"
        "|一直|莫过于)?(?:是|为)(?P<o>.+)",
        "favourite {what}", accept=is_favourite),
    rule("favourite act", "(?:的)?最(?:喜欢|爱)(?P<act>吃|喝)的(?:东西)?(?:就|还|一直)?(?:是"
        "|为)(?P<o>.+)", "favourite {act}",
        accept=is_thing),
    rule("keen on", "(?:的)?最(?:迷|上头|沉迷|着迷)的(?:就)?是(?P<o>.{1,12})", "likes", split=True,
        accept=is_thing),
    rule("most", "最(?:喜欢|爱|喜爱)(?P<o>(?!的).{1,12})", "likes", split=True, accept=is_thing),
    rule("hobby", "(?:的)?(?:爱好|兴趣爱好|兴趣)(?:是|有|包括)(?P<o>.+)", "likes", split=True),
    rule("prefers", "(?:更喜欢|更爱|比较喜欢|偏爱|更中意)(?P<o>.+)", "prefers", split=True, accept=is_thing),
    rule("hates", "(?:讨厌|厌恶|受不了|反感|最烦|接受不了)(?P<o>.+)", "likes", split=True, negated=True, say=
        "{s}讨厌{o}", accept=is_thing),
    rule("hated most", "最?(?:讨厌|烦|不喜欢)的.{0,4}?(?:就)?是(?P<o>.+)", "likes", negated=True,
        say="{s}讨厌{o}", accept=is_thing),
    rule("idol", "(?:的)?偶像(?:是|为)(?P<o>.+)", "likes", split=True, accept=is_thing),
    rule("took to", "喜欢上了?(?P<o>.+)", "likes", split=True, accept=is_thing),
    rule("likes", "(?:喜欢|热爱|喜爱|痴迷|迷上了?|爱上了?"
        "|沉迷)(?P<o>.+)", "likes", split=True, accept=is_thing),
    rule("not interested",
        "对(?P<o>.+?)(?:也|都|已经|再也)?(?:没有?|不)(?:什么|啥|太|怎么)?(?:兴趣|感觉|感冒|感兴趣)", "likes",
        negated=True, split=True, accept=is_thing),
    rule("interested", "对(?P<o>.+?)(?:也|都)?(?:很|非常|越来越|特别|比较|挺|十分|最)?感兴趣", "likes",
        split=True, accept=is_thing),
    rule("loves to", "爱(?P<o>(?:吃|喝|看|听|玩|打|跑|唱|读|画|做|踢|弹|运动|旅|下|钓|逛|种|养|拍|写|滑|骑"
        "|爬|游|睡|泡|收集|跳|织).*)", "likes", split=True),
)  # fmt: skip
