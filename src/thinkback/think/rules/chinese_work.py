"""Work and study: what one does, where, and what one learns."""

from __future__ import annotations

from thinkback.text.numbers import NUMBER_ZH
from thinkback.think.rules.chinese_names import BARE_NAME
from thinkback.think.rules.chinese_parts import IS, rule
from thinkback.think.rules.chinese_words import (
    SCHOOL,
    SURNAMES,
    is_company,
    is_company_or_name,
    is_field,
    is_job,
    is_major,
    is_place_or_work,
    is_school,
    is_skill,
    is_somebody,
    is_thing,
)
from thinkback.think.rules.rule import Rule

RULES: tuple[Rule, ...] = (
    rule("named is", f"(?:是|就是)(?P<o>{BARE_NAME}|[A-Z][a-z]+)", "goes by", accept=is_somebody),
    rule("titled", f"(?:是|就是)(?P<o>[{SURNAMES}](?:教授|老师|医生|大夫|经理|主任|师傅|院士|总|工"
        f"|导))", "goes by"),
    rule("works as at", "在(?P<also>.{1,20}?)(?:当|做|担任)(?:一[名个位])?(?P<o>.+)", "works as", also=
        "works at", accept=is_job),
    rule("works as", "(?:当上?|做|干|担任|是|成为了?|改行[做当]"
        "|转行[做当])了?(?:一)?[名个位]?(?P<o>.+)", "works as",
        split=True, accept=is_job),
    rule("trade", "是(?P<o>(?:修|卖|开|跑|教|种|养|送|拍|搞|做)(?!好|了|过|完|得|心|始|会|学"
        "|玩)[\u4e00-\u9fff]{1,6})的", "works as",
        accept=is_thing, say="{s}是{o}的"),
    rule("works in", "(?:在(?P<place>.{2,8}?))?(?:做|干|搞"
        "|从事)(?:的是)?(?P<o>.{2,8}?)", "works in", accept=is_field),
    rule("is of", "是(?:(?:我们|咱们?|他们)[^的]{1,6}"
        "|(?P<also>.{2,20}?))的(?:一[名个位])?(?P<o>.+)", "works as",
        also="works at", accept=is_job),
    rule("job is", f"(?:的)?(?:职业|工作){IS}(?:一[名个位])?(?P<o>.+)", "works as", accept=is_job),
    rule("works at", "在(?P<o>.{1,20}?)(?:工作|上班|任职|实习|打工"
        "|干活)", "works at", accept=is_place_or_work),
    rule("toils", "在(?P<o>[^这那哪]{2,12}?)(?:干活|干|搬砖)"
        f"(?:了?(?:快|有|整整|差不多)*{NUMBER_ZH}(?:多|来)?年(?:多)?|了(?:大)?半?一?辈子)?", "works at",
        accept=is_place_or_work),
    rule("served", "在(?P<o>.{2,12}?)(?:做|待|呆|工作|上班)"
        f"了?(?:快|有|整整|差不多)*{NUMBER_ZH}(?:多|来)?年(?:多)?", "works at", accept=is_company),
    rule("works there", "在(?P<o>.{2,14}?)(?:开|做|干|搞|跑|教|卖|修|管|负责)(?!会|玩|完|梦|客|检查|手术"
        "|饭)[^了过]{1,8}", "works at",
        accept=is_company),
    rule("serves", "(?:就职|供职|任职|受雇|服务)于(?P<o>.{2,20})", "works at", accept=is_place_or_work),
    rule("went to work", "(?:去|到|转到|调到)(?P<o>.{2,14}?)(?:工作|上班"
        "|任职)(?:去)?了", "works at", accept=is_company_or_name),
    rule("joined", "(?:从.{1,10})?(?:入职|加入|跳槽到|跳槽去|换到|跳到|调到|调去)了?(?P<o>.{1,20}?)(?:工作"
        "|上班)?", "works at", accept=is_place_or_work),
    rule("studied at",
        "(?:本科|大学|研究生|硕士|博士|高中|初中|大专)?(?:是)?在(?P<o>.{2,14}?)(?:读|念|上)(?:的|完)(?:书"
        "|本科|研究生|大学|博士|硕士)?",
        "studied at", accept=is_school),
    rule("at school", f"(?:在|转学到|转到|考上|考进|考入|换到)了?(?P<o>[^上读念]{{1,10}}?{SCHOOL})(?:了"
        f"|读.{{0,6}}|上.{{0,6}}|念.{{0,6}})?",
        "studies at", accept=is_school),
    rule("studies at", "在(?P<o>.{1,20}?)(?:上学|读书|念书|读研|读博|就读|上大学|[读念上](?:高[一二三中]"
        "|初[一二三中]|大[一二三四学]|[一二三四五六]年级"
        "|研究生|博士|本科|幼儿园))", "studies at"),
    rule("attends", "就读于(?P<o>.{1,20})", "studies at"),
    rule("reads", "(?:读|改学|转到|转去|学)(?:的是?)?了?(?P<o>.{2,8}?)(?:专业"
        "|系)?", "studies", accept=is_major),
    rule("major", f"(?:的)?专业{IS}(?P<o>.+)", "studies"),
    rule("learns there", "(?:在|去|跟着?)[^，,]{2,8}?(?:学"
        "|练)(?P<o>.{2,5})", "learns", split=True, accept=is_skill),
    rule("learnt for", f"(?:学|练)了(?:快|有)?(?:{NUMBER_ZH}|好几|几)(?:个?多?月|多?年|节课"
        f"|堂课)多?的?(?P<o>.{{2,5}})", "learns",
        accept=is_skill),
    rule("practises", f"(?:练|打|跳|学|踢)(?P<o>.{{2,5}}?)(?:有|已经|都|了)*(?:快)?(?:{NUMBER_ZH}|好几"
        f"|十几)多?年", "does",
        accept=is_skill),
    rule("signed up", "报(?:名|班|了|名了)*一?个?(?P<o>.{2,5}?)(?:班|课|兴趣班"
        "|培训班)", "learns", accept=is_skill),
    rule("teaches", "(?:在.{2,10}?)?教(?P<o>(?:小学|初中|高中|大学)?(?:语文|数学|英语|物理|化学|生物|历史"
        "|地理|政治|体育|音乐"
        "|美术|科学|舞蹈|钢琴|书法))", "teaches"),
    rule("trade bare", "(?:现在|一直)?(?:在.{2,6}?)?(?P<o>(?:开|跑|卖|修|送)(?:出租车?|滴滴|网约车|公交车?"
        "|货车|大车|长途货车|长途"
        "|外卖|快递|菜|水果|保险|早点|煎饼|空调|手机|房子))", "works as", say="{s}的工作是{o}"),
    rule("runs", "(?:现在|自己|在.{2,6}?)*开了?(?:一)?[家个间](?:小)?(?P<o>.{1,8}?(?:店|馆|厂|公司|工作室"
        "|超市|餐厅|民宿|诊所))",
        "runs", accept=is_thing),
    rule("on duty", "在(?P<o>.{2,12}?)值(?:夜|白)?班", "works at", accept=is_place_or_work),
    rule("learns",
        "(?:在|开始|报名|报班)?学(?:着|做|弹|打|拉|画|说|跳){0,2}(?P<o>(?!习|校|生|术|历|期|分|费|长|姐|弟"
        "|妹|问|不|得|到|会|了|什么|的"
        "|过|成|完|医|法律).{1,8}?)", "learns", split=True, accept=is_thing),
    rule("studies", "(?:主修|攻读|读的(?:是)?|读(?=.{1,10}专业)|学习|学的(?:是)?)(?P<o>.{1,12}?)(?:专业)?",
        "studies", split=True, accept=is_thing),
)  # fmt: skip
