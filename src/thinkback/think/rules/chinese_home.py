"""Who one is and where one lives: names, ages, people and pets, homes and origins."""

from __future__ import annotations

from thinkback.text.numbers import NUMBER_ZH
from thinkback.think.rules.chinese_names import BARE_NAME
from thinkback.think.rules.chinese_parts import COUNT, COUNTED, IS, KIN_WORDS, PROVINCES, rule
from thinkback.think.rules.chinese_words import is_name, is_somebody
from thinkback.think.rules.rule import Rule

_SOMEBODY = f"(?:{BARE_NAME}|[A-Z][a-z]+(?: [A-Z][a-z]+)?)"

RULES: tuple[Rule, ...] = (
    # who is who
    rule("is my kin", f"是我(?:的|们的)?(?P<kin>{KIN_WORDS})", "has {kin}"),
    rule("wed him", f"嫁给了?(?P<o>{_SOMEBODY})", "has husband", accept=is_somebody, say="{s}的丈夫是{o}"),
    rule("wed her", f"娶了?(?P<o>{_SOMEBODY})", "has wife", accept=is_somebody, say="{s}的妻子是{o}"),
    rule("kin named",
        f"(?:家)?(?:里)?(?:有|又?养了?|收养了?|领养了?|捡了|抱了|买了|生了|来了|添了|多了|新?[交谈找处换]了"
        f"|接回|抱回来?"
        f"|捡回来?)了?(?:{COUNT})?(?:流浪|新|小|大|黑|白|橘"
        f"|亲|宠物)*(?P<kin>{KIN_WORDS})"
        "，?(?:我?(?:给|管)(?:它|他|她))?(?:(?:名字|取名|起名)?(?:叫做?|名叫|是|为)|取名|起名)(?P<o>.+)",
        "has {kin}", accept=is_name),
    rule("kin counted", f"(?:有|养了?|领养了?)(?P<o>{COUNTED}(?:[、和跟]{COUNTED})*)", "has",
        kind="relationship", split=True),
    # name and age
    rule("surname", "姓(?P<o>[\u4e00-\u9fff]{1,2})", "surname"),
    rule("nickname", f"(?:的)?(?:小名|昵称|外号|网名|笔名|艺名|微信名)(?:叫"
        f"|{IS})(?P<o>.+)", "goes by", accept=is_name),
    rule("english name", f"(?:的)?英文名(?:字)?(?:叫|{IS})(?P<o>[A-Za-z][A-Za-z .'-]+)", "english name"),
    rule("name", "(?:把|的)?(?:名字|全名|真名|大名)(?:是|叫)(?P<o>.+)", "is named", accept=is_name),
    rule("named", "(?:叫做?|名叫|改名叫?)(?P<o>.+)", "is named", accept=is_name),
    rule("aged", f"(?:的)?(?:年龄)?(?:今年|现在|已经|刚满|快|满)*{IS}(?P<o>{NUMBER_ZH})岁", "is aged"),
    rule("aged bare", "(?P<o>[1-9]\\d|[二三四五六七八九]?十[一二三四五六七八九]?)(?:了|整|啦)", "is aged"),
    rule("birthday", f"(?:的)?(?:生日|出生日期){IS}(?:在)?(?P<o>.*[月日号年].*)", "birthday"),
    rule("born on", "(?:出生于|生于)(?P<o>\\d{4}年.*)", "birthday"),
    rule("born date", "(?:是)?(?P<o>\\d{4}年.*)出生", "birthday"),
    # where
    rule("lives", "改?(?:家住在?|居住在|定居在?|住在|现居|住(?:到|去)?|base ?在|常住)(?!了|着|过|院|的"
        "|一)了?(?P<o>.+)", "lives in",
        place=True),
    rule("lives at", "在(?P<o>.{2,12}?)(?:生活|居住|定居|安家|安了家|落户|常住|住(?!院|校|过"
        "|的))(?:着)?", "lives in", place=True),
    rule("rents", "(?:租的(?:房子?|公寓|单间)?|租住|合租"
        "|租房)(?:的房子)?在(?P<o>.{2,12})", "lives in", place=True),
    rule("home in", "(?:新)?家(?:在|搬到了?)(?P<o>.+)", "lives in", place=True),
    rule("moved", "(?:从.{1,10})?(?:搬家?到|搬家?去|搬来|搬回|迁到)了?(?P<o>.+?)(?:住|生活|来|去)?",
        "lives in", place=True),
    rule("born in", "(?:出生在|出生于|生于)(?P<o>.+)", "was born in", place=True),
    rule("grew up", "(?:从小)?在(?P<o>.+?)长大", "grew up in", place=True),
    rule("from", "(?:来自|老家在|老家是|老家(?=[\u4e00-\u9fff]{2})"
        "|的?家乡[是在])(?P<o>.+?)", "comes from", place=True),
    rule("origin", "(?:祖籍|籍贯)(?:是|在)?(?P<o>.{2,8})", "comes from", place=True),
    rule("of a province", f"[是系](?P<o>(?:{PROVINCES})[\u4e00-\u9fff]{{0,5}}?)(?:那边|那儿"
        f"|这边)?的", "comes from", place=True),
    rule("native bare", f"系?(?P<o>(?:{PROVINCES})[\u4e00-\u9fff]{{0,4}}?)人", "comes from", place=True),
    rule("native", "是(?:一个|地道的?|土生土长的?|正宗的?)?(?P<o>(?!个|好|坏|老|年轻|大|男|女|本|机器|夜"
        "|早起|病|什么|自己|这|那|有|没|爱|怕|很)(?:(?!的)[\u4e00-\u9fff]){2,6}?)人", "comes from",
            place=True),
)  # fmt: skip
