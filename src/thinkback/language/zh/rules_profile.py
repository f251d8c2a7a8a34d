"""Chinese rules for profile facts: name, age, origin, work, education, looks and traits."""

from __future__ import annotations

import re

from thinkback.language.attributes import ATTRIBUTE_ALIASES, ATTRIBUTE_RELATIONS, Attribute
from thinkback.language.en.lexicon import word_set
from thinkback.language.names import USER
from thinkback.language.rules import ExtractedFact, ProfileLine, Rule, build_profile_fact, chinese_rule
from thinkback.language.tokens import NUMBER_PATTERN_ZH
from thinkback.language.zh.lexicon import (
    BARE_NAME,
    COMMON_SURNAMES,
    COUNTED_KIN,
    COUNTED_UNIT,
    FULL_NAME,
    IS,
    KIN_WORD,
    PROVINCES,
    SCHOOL,
    is_company,
    is_company_or_name,
    is_full_name,
    is_industry,
    is_job,
    is_major,
    is_name,
    is_person_name,
    is_school,
    is_skill,
    is_thing,
    is_workplace,
    split_list,
)

_ATTRIBUTES_BY_NOUN: dict[str, Attribute] = {
    noun: each for each in (*ATTRIBUTE_ALIASES, *ATTRIBUTE_RELATIONS) for noun in each.chinese_nouns
}
_NOUN = "|".join(sorted(_ATTRIBUTES_BY_NOUN, key=lambda noun: (-len(noun), noun)))
_PERSON = f"(?:{FULL_NAME}|[A-Z][A-Za-z'-]+(?: [A-Z][A-Za-z'-]+)?)"
_OPEN_NOUN = "[^的是，,：:]{1,6}(?:号|号码|名|颜色|型号|码|日期|背景|程度|状况|特征|特点|风格|等级|品牌|类型)"
_IS = "(?:主要|目前|现在)?(?:是|为|包括|有(?!点|些)|：|:) ?"
_OWNER_ATTRIBUTE = re.compile(
    f"(?P<owner>我|{_PERSON}) ?的(?:主要|个人|基本)?"
    f"(?:(?P<noun>{_NOUN})(?:{_IS}|(?=比较|很|非常|特别|挺|偏|有点|有些))"
    f"|(?P<open>{_OPEN_NOUN})(?:是|为|：|:))(?P<o>.+)",
    re.S,
)
_LABEL = re.compile(f"[-*•·\\s]*(?P<noun>{_NOUN})\\**\\s*[:：]\\**\\s*(?P<o>.+)", re.S)
_NAME_LABEL = re.compile(f"[-*•·\\s]*(?:姓名|名字|全名)\\**\\s*[:：]\\**\\s*(?P<o>{_PERSON})")
_HEADING = re.compile(f"[#*\\s]*(?P<o>{_PERSON})\\**\\s*[:：]?\\**")
_NOT_A_VALUE = re.compile(
    "\\A(?:不|没|非常?重要|很重要|重要|什么|怎|如何|为了|因为|这|那|最|更|越来越|我|你|您|他|她|它|谁"
    "|哪|一样|相同)"
    "|[我你您：:]|吗|呢\\Z|\\A(?:很|非常|挺|特别|比较)?(?:好|棒|差|高|低|重要|一般|普通|不错|强|弱"
    "|广泛)的?\\Z"
)
_AMBIGUOUS_NOUNS = word_set("样子 身材 模样 个子 单位 出身 为人 岗位 愿望 理想 梦想 名声 榜样")
"""Nouns that are no attribute after 我的."""
_MAX_VALUE_CHARS, _MAX_FREE_TEXT_CHARS = 20, 60
_EDGE_CHARS = " \t。！!；;…~～"
_COMMA = re.compile("[，,；;]")


def read_profile_line(text: str, owner: str = "") -> ProfileLine:
    """Read one line of a profile.

    `owner` is the person that a label without a name (职业：教师) describes.
    """
    plain = text.strip(_EDGE_CHARS)
    if match := _OWNER_ATTRIBUTE.fullmatch(plain):
        noun = match["noun"] or match["open"]
        is_user = match["owner"] == "我"
        if is_user and (noun in _AMBIGUOUS_NOUNS or match["open"]):
            return ProfileLine((), "")
        person = USER if is_user else match["owner"]
        if not is_user and not (person.isascii() or is_full_name(person)):
            return ProfileLine((), "")
        return ProfileLine(_read_attribute(person, noun, match["o"]), person)
    if name := _NAME_LABEL.fullmatch(plain):
        return ProfileLine((), name["o"])
    if owner and (label := _LABEL.fullmatch(plain)):
        return ProfileLine(_read_attribute(owner, label["noun"], label["o"]), owner)
    heading = _HEADING.fullmatch(plain)
    return ProfileLine((), heading["o"] if heading and is_full_name(heading["o"]) else "")


def _read_attribute(owner: str, noun: str, words: str) -> tuple[ExtractedFact, ...]:
    """The fact of "owner's noun is words", if the words can be a value."""
    attribute = _ATTRIBUTES_BY_NOUN.get(noun)
    value = words.strip(_EDGE_CHARS)
    may_be_long = attribute is not None and (attribute.is_free_text or attribute.is_list)
    if not may_be_long:
        value = _COMMA.split(value)[0]
    values = split_list(value) if attribute is not None and attribute.is_list else (value,)
    if not all(
        0 < len(each) <= (_MAX_FREE_TEXT_CHARS if may_be_long else _MAX_VALUE_CHARS) for each in values
    ):
        return ()
    if any(_NOT_A_VALUE.search(each) for each in values):
        return ()
    fact = build_profile_fact(owner, noun, values, f"{{s}}的{noun}是{{o}}")
    return () if fact is None else (fact,)


_PERSON_NAME = f"(?:{BARE_NAME}|[A-Z][a-z]+(?: [A-Z][a-z]+)?)"

HOME_RULES: tuple[Rule, ...] = (
    # relatives
    chinese_rule("is my kin", f"是我(?:的|们的)?(?P<kin>{KIN_WORD})", "has {kin}"),
    chinese_rule("wed him", f"嫁给了?(?P<o>{_PERSON_NAME})", "has husband", accept=is_person_name,
        template="{s}的丈夫是{o}"),
    chinese_rule("wed her", f"娶了?(?P<o>{_PERSON_NAME})", "has wife", accept=is_person_name,
        template="{s}的妻子是{o}"),
    chinese_rule("kin named",
        f"(?:家)?(?:里)?(?:有|又?养了?|收养了?|领养了?|捡了|抱了|买了|生了|来了|添了|多了|新?[交谈找处换]了"
        f"|接回|抱回来?"
        f"|捡回来?)了?(?:{COUNTED_UNIT})?(?:流浪|新|小|大|黑|白|橘"
        f"|亲|宠物)*(?P<kin>{KIN_WORD})"
        "，?(?:我?(?:给|管)(?:它|他|她))?(?:(?:名字|取名|起名)?(?:叫做?|名叫|是|为)|取名|起名)(?P<o>.+)",
        "has {kin}", accept=is_name),
    chinese_rule("kin counted", f"(?:有|养了?|领养了?)(?P<o>{COUNTED_KIN}(?:[、和跟]{COUNTED_KIN})*)", "has",
        kind="relationship", is_list=True),
    # name and age
    chinese_rule("surname", "姓(?P<o>[\u4e00-\u9fff]{1,2})", "surname"),
    chinese_rule("nickname", f"(?:的)?(?:小名|昵称|外号|网名|笔名|艺名|微信名)(?:叫"
        f"|{IS})(?P<o>.+)", "goes by", accept=is_name),
    chinese_rule("english name", f"(?:的)?英文名(?:字)?(?:叫|{IS})(?P<o>[A-Za-z][A-Za-z .'-]+)",
        "english name"),
    chinese_rule("name", "(?:把|的)?(?:名字|全名|真名|大名)(?:是|叫)(?P<o>.+)", "is named", accept=is_name),
    chinese_rule("named", "(?:叫做?|名叫|改名叫?)(?P<o>.+)", "is named", accept=is_name),
    chinese_rule("aged", f"(?:的)?(?:年龄)?(?:今年|现在|已经|刚满|快|满)*{IS}(?P<o>{NUMBER_PATTERN_ZH})岁",
        "is aged"),
    chinese_rule("aged bare", "(?P<o>[1-9]\\d|[二三四五六七八九]?十[一二三四五六七八九]?)(?:了|整|啦)",
        "is aged"),
    chinese_rule("birthday", f"(?:的)?(?:生日|出生日期){IS}(?:在)?(?P<o>.*[月日号年].*)", "birthday"),
    chinese_rule("born on", "(?:出生于|生于)(?P<o>\\d{4}年.*)", "birthday"),
    chinese_rule("born date", "(?:是)?(?P<o>\\d{4}年.*)出生", "birthday"),
    # homes and origins
    chinese_rule("lives",
        "改?(?:家住在?|居住在|定居在?|住在|现居|住(?:到|去)?|base ?在|常住)(?!了|着|过|院|的"
        "|一)了?(?P<o>.+)", "lives in", needs_place=True),
    chinese_rule("lives at", "在(?P<o>.{2,12}?)(?:生活|居住|定居|安家|安了家|落户|常住|住(?!院|校|过"
        "|的))(?:着)?", "lives in", needs_place=True),
    chinese_rule("rents", "(?:租的(?:房子?|公寓|单间)?|租住|合租"
        "|租房)(?:的房子)?在(?P<o>.{2,12})", "lives in", needs_place=True),
    chinese_rule("home in", "(?:新)?家(?:在|搬到了?)(?P<o>.+)", "lives in", needs_place=True),
    chinese_rule("moved", "(?:从.{1,10})?(?:搬家?到|搬家?去|搬来|搬回|迁到)了?(?P<o>.+?)(?:住|生活|来|去)?",
        "lives in", needs_place=True),
    chinese_rule("born in", "(?:出生在|出生于|生于)(?P<o>.+)", "was born in", needs_place=True),
    chinese_rule("grew up", "(?:从小)?在(?P<o>.+?)长大", "grew up in", needs_place=True),
    chinese_rule("from", "(?:来自|老家在|老家是|老家(?=[\u4e00-\u9fff]{2})"
        "|的?家乡[是在])(?P<o>.+?)", "comes from", needs_place=True),
    chinese_rule("origin", "(?:祖籍|籍贯)(?:是|在)?(?P<o>.{2,8})", "comes from", needs_place=True),
    chinese_rule("of a province", f"[是系](?P<o>(?:{PROVINCES})[\u4e00-\u9fff]{{0,5}}?)(?:那边|那儿"
        f"|这边)?的", "comes from", needs_place=True),
    chinese_rule("native bare", f"系?(?P<o>(?:{PROVINCES})[\u4e00-\u9fff]{{0,4}}?)人", "comes from",
        needs_place=True),
    chinese_rule("native",
        "是(?:一个|地道的?|土生土长的?|正宗的?)?(?P<o>(?!个|好|坏|老|年轻|大|男|女|本|机器|夜"
        "|早起|病|什么|自己|这|那|有|没|爱|怕|很)(?:(?!的)[\u4e00-\u9fff]){2,6}?)人", "comes from",
        needs_place=True),
)  # fmt: skip

WORK_RULES: tuple[Rule, ...] = (
    chinese_rule("named is", f"(?:是|就是)(?P<o>{BARE_NAME}|[A-Z][a-z]+)", "goes by", accept=is_person_name),
    chinese_rule("titled",
        f"(?:是|就是)(?P<o>[{COMMON_SURNAMES}](?:教授|老师|医生|大夫|经理|主任|师傅|院士|总|工"
        f"|导))", "goes by"),
    chinese_rule("works as at", "在(?P<also>.{1,20}?)(?:当|做|担任)(?:一[名个位])?(?P<o>.+)", "works as",
        second_relation="works at", accept=is_job),
    chinese_rule("works as", "(?:当上?|做|干|担任|是|成为了?|改行[做当]"
        "|转行[做当])了?(?:一)?[名个位]?(?P<o>.+)", "works as",
        is_list=True, accept=is_job),
    chinese_rule("trade", "是(?P<o>(?:修|卖|开|跑|教|种|养|送|拍|搞|做)(?!好|了|过|完|得|心|始|会|学"
        "|玩)[\u4e00-\u9fff]{1,6})的", "works as",
        accept=is_thing, template="{s}是{o}的"),
    chinese_rule("works in", "(?:在(?P<place>.{2,8}?))?(?:做|干|搞"
        "|从事)(?:的是)?(?P<o>.{2,8}?)", "works in", accept=is_industry),
    chinese_rule("is of", "是(?:(?:我们|咱们?|他们)[^的]{1,6}"
        "|(?P<also>.{2,20}?))的(?:一[名个位])?(?P<o>.+)", "works as",
        second_relation="works at", accept=is_job),
    chinese_rule("job is", f"(?:的)?(?:职业|工作){IS}(?:一[名个位])?(?P<o>.+)", "works as", accept=is_job),
    chinese_rule("works at", "在(?P<o>.{1,20}?)(?:工作|上班|任职|实习|打工"
        "|干活)", "works at", accept=is_workplace),
    chinese_rule("toils", "在(?P<o>[^这那哪]{2,12}?)(?:干活|干|搬砖)"
        f"(?:了?(?:快|有|整整|差不多)*{NUMBER_PATTERN_ZH}(?:多|来)?年(?:多)?|了(?:大)?半?一?辈子)?",
        "works at", accept=is_workplace),
    chinese_rule("served", "在(?P<o>.{2,12}?)(?:做|待|呆|工作|上班)"
        f"了?(?:快|有|整整|差不多)*{NUMBER_PATTERN_ZH}(?:多|来)?年(?:多)?", "works at", accept=is_company),
    chinese_rule("works there",
        "在(?P<o>.{2,14}?)(?:开|做|干|搞|跑|教|卖|修|管|负责)(?!会|玩|完|梦|客|检查|手术"
        "|饭)[^了过]{1,8}", "works at", accept=is_company),
    chinese_rule("serves", "(?:就职|供职|任职|受雇|服务)于(?P<o>.{2,20})", "works at", accept=is_workplace),
    chinese_rule("went to work", "(?:去|到|转到|调到)(?P<o>.{2,14}?)(?:工作|上班"
        "|任职)(?:去)?了", "works at", accept=is_company_or_name),
    chinese_rule("joined",
        "(?:从.{1,10})?(?:入职|加入|跳槽到|跳槽去|换到|跳到|调到|调去)了?(?P<o>.{1,20}?)(?:工作"
        "|上班)?", "works at", accept=is_workplace),
    chinese_rule("studied at",
        "(?:本科|大学|研究生|硕士|博士|高中|初中|大专)?(?:是)?在(?P<o>.{2,14}?)(?:读|念|上)(?:的|完)(?:书"
        "|本科|研究生|大学|博士|硕士)?",
        "studied at", accept=is_school),
    chinese_rule("at school",
        f"(?:在|转学到|转到|考上|考进|考入|换到)了?(?P<o>[^上读念]{{1,10}}?{SCHOOL})(?:了"
        f"|读.{{0,6}}|上.{{0,6}}|念.{{0,6}})?", "studies at", accept=is_school),
    chinese_rule("studies at",
        "在(?P<o>.{1,20}?)(?:上学|读书|念书|读研|读博|就读|上大学|[读念上](?:高[一二三中]"
        "|初[一二三中]|大[一二三四学]|[一二三四五六]年级"
        "|研究生|博士|本科|幼儿园))", "studies at"),
    chinese_rule("attends", "就读于(?P<o>.{1,20})", "studies at"),
    chinese_rule("reads", "(?:读|改学|转到|转去|学)(?:的是?)?了?(?P<o>.{2,8}?)(?:专业"
        "|系)?", "studies", accept=is_major),
    chinese_rule("major", f"(?:的)?专业{IS}(?P<o>.+)", "studies"),
    chinese_rule("learns there", "(?:在|去|跟着?)[^，,]{2,8}?(?:学"
        "|练)(?P<o>.{2,5})", "learns", is_list=True, accept=is_skill),
    chinese_rule("learnt for", f"(?:学|练)了(?:快|有)?(?:{NUMBER_PATTERN_ZH}|好几|几)(?:个?多?月|多?年|节课"
        f"|堂课)多?的?(?P<o>.{{2,5}})", "learns",
        accept=is_skill),
    chinese_rule("practises",
        f"(?:练|打|跳|学|踢)(?P<o>.{{2,5}}?)(?:有|已经|都|了)*(?:快)?(?:{NUMBER_PATTERN_ZH}|好几"
        f"|十几)多?年", "does", accept=is_skill),
    chinese_rule("signed up", "报(?:名|班|了|名了)*一?个?(?P<o>.{2,5}?)(?:班|课|兴趣班"
        "|培训班)", "learns", accept=is_skill),
    chinese_rule("teaches",
        "(?:在.{2,10}?)?教(?P<o>(?:小学|初中|高中|大学)?(?:语文|数学|英语|物理|化学|生物|历史"
        "|地理|政治|体育|音乐"
        "|美术|科学|舞蹈|钢琴|书法))", "teaches"),
    chinese_rule("trade bare",
        "(?:现在|一直)?(?:在.{2,6}?)?(?P<o>(?:开|跑|卖|修|送)(?:出租车?|滴滴|网约车|公交车?"
        "|货车|大车|长途货车|长途"
        "|外卖|快递|菜|水果|保险|早点|煎饼|空调|手机|房子))", "works as", template="{s}的工作是{o}"),
    chinese_rule("runs",
        "(?:现在|自己|在.{2,6}?)*开了?(?:一)?[家个间](?:小)?(?P<o>.{1,8}?(?:店|馆|厂|公司|工作室"
        "|超市|餐厅|民宿|诊所))", "runs", accept=is_thing),
    chinese_rule("on duty", "在(?P<o>.{2,12}?)值(?:夜|白)?班", "works at", accept=is_workplace),
    chinese_rule("learns",
        "(?:在|开始|报名|报班)?学(?:着|做|弹|打|拉|画|说|跳){0,2}(?P<o>(?!习|校|生|术|历|期|分|费|长|姐|弟"
        "|妹|问|不|得|到|会|了|什么|的"
        "|过|成|完|医|法律).{1,8}?)", "learns", is_list=True, accept=is_thing),
    chinese_rule("studies",
        "(?:主修|攻读|读的(?:是)?|读(?=.{1,10}专业)|学习|学的(?:是)?)(?P<o>.{1,12}?)(?:专业)?", "studies",
        is_list=True, accept=is_thing),
)  # fmt: skip
