"""The Chinese table: what is said of a subject after its time, adverbs and negation are taken off.

One table serves predicates and attributes: Chinese drops 的 and 是 freely (我的生日是5月6日, 我生日5月6日).
"""

from __future__ import annotations

import re
from typing import Any

from thinkback.text.kin import KIN_ZH, PETS_ZH, longest_first
from thinkback.text.numbers import NUMBER_ZH
from thinkback.think.rules.chinese_words import (
    is_condition,
    is_feared,
    is_job,
    is_language,
    is_name,
    is_place_or_work,
    is_school,
    is_thing,
)
from thinkback.think.rules.rule import Rule

_KIN = f"(?:{longest_first(KIN_ZH | PETS_ZH)})"
_COUNT = f"(?:{NUMBER_ZH}|几)?[个只条位名匹头尾对台辆套部张间把]"
_IS = "(?:是|为|：|:)?"


def _rule(name: str, pattern: str, relation: str, **options: Any) -> Rule:
    return Rule(name, re.compile(pattern + r"(?:了|啦|呢|的|哦|呀|啊)?\Z", re.DOTALL), relation, **options)


RULES: tuple[Rule, ...] = (
    # who is who
    _rule("is my kin", f"是我(?:的|们的)?(?P<kin>{_KIN})", "has {kin}"),
    _rule("kin named",
        f"(?:家)?(?:有|又?养了?|收养了?|领养了?|捡了|抱了|买了|生了)(?:{_COUNT})?(?:流浪|小|大|黑|白|橘"
        f"|宠物)*(?P<kin>{_KIN})"
        "，?(?:名字|取名|起名)?(?:叫做?|名叫|是|为)(?P<o>.+)",
        "has {kin}", accept=is_name),
    _rule("kin counted", f"(?:有|养了?|领养了?)(?P<o>{_COUNT}(?:亲|大|小)?{_KIN})", "has", kind=
        "relationship"),
    # name and age
    _rule("surname", "姓(?P<o>[\u4e00-\u9fff]{1,2})", "surname"),
    _rule("nickname", f"(?:的)?(?:小名|昵称|外号)(?:叫|{_IS})(?P<o>.+)", "goes by", accept=is_name),
    _rule("english name", f"(?:的)?英文名(?:字)?(?:叫|{_IS})(?P<o>[A-Za-z][A-Za-z .'-]+)", "english name"),
    _rule("name", "(?:把|的)?(?:名字|全名|真名|大名)(?:是|叫)(?P<o>.+)", "is named", accept=is_name),
    _rule("named", "(?:叫做?|名叫|改名叫?)(?P<o>.+)", "is named", accept=is_name),
    _rule("aged", f"(?:的)?(?:年龄)?(?:今年|现在|已经|刚满|快|满)*{_IS}(?P<o>{NUMBER_ZH})岁", "is aged"),
    _rule("birthday", f"(?:的)?(?:生日|出生日期){_IS}(?:在)?(?P<o>.*[月日号年].*)", "birthday"),
    _rule("born on", "(?:出生于|生于)(?P<o>\\d{4}年.*)", "birthday"),
    _rule("born date", "(?:是)?(?P<o>\\d{4}年.*)出生", "birthday"),
    # where
    _rule("lives", "(?:家住|居住在|定居在?|住在|现居|住|base ?在|常住)(?P<o>.+)", "lives in", place=True),
    _rule("home in", "家在(?P<o>.+)", "lives in", place=True),
    _rule("moved", "(?:从.{1,10})?(?:搬家?到|搬去|搬来|搬回|迁到)了?(?P<o>.+?)(?:住|生活)?",
        "lives in", place=True),
    _rule("born in", "(?:出生在|出生于|生于)(?P<o>.+)", "was born in", place=True),
    _rule("grew up", "(?:从小)?在(?P<o>.+?)长大", "grew up in", place=True),
    _rule("from", "(?:来自|老家在|老家是|的?家乡[是在])(?P<o>.+)", "comes from", place=True),
    _rule("native", "是(?:一个|地道的)?(?P<o>[\u4e00-\u9fff]{2,6})人", "comes from", place=True),
    # work and study
    _rule("works as at", "在(?P<also>.{1,20}?)(?:当|做|担任)(?:一[名个位])?(?P<o>.+)", "works as", also=
        "works at", accept=is_job),
    _rule("works as", "(?:当|做|担任|是|成为了?|改行做|转行做)了?(?:一)?[名个位]?(?P<o>.+)", "works as",
        split=True, accept=is_job),
    _rule("is of", "是(?P<also>.{2,20}?)的(?:一[名个位])?(?P<o>.+)", "works as",
        also="works at", accept=is_job),
    _rule("job is", f"(?:的)?(?:职业|工作){_IS}(?:一[名个位])?(?P<o>.+)", "works as", accept=is_job),
    _rule("works at", "在(?P<o>.{1,20}?)(?:工作|上班|任职|实习)", "works at", accept=is_place_or_work),
    _rule("joined", "(?:入职|加入|跳槽到|跳槽去|换到|跳到)了?(?P<o>.{1,20}?)(?:工作"
        "|上班)?", "works at", accept=is_place_or_work),
    _rule("at school",
        "(?:在|转学到|转到|考上|考进|考入)了?(?P<o>[^上读念]{1,10}?(?:小学|中学|大学|学院|学校|高中"
        "|初中|幼儿园))"
        "(?:了|读.{0,6}|上.{0,6}|念.{0,6})?", "studies at", accept=is_school),
    _rule("studies at", "在(?P<o>.{1,20}?)(?:上学|读书|念书|读研|读博|就读|上大学)", "studies at"),
    _rule("attends", "就读于(?P<o>.{1,20})", "studies at"),
    _rule("major", f"(?:的)?专业{_IS}(?P<o>.+)", "studies"),
    _rule("studies", "(?:主修|攻读|读的是|读(?=.{1,10}专业)|在?学习|在学|学的是)(?P<o>.{1,12}?)(?:专业)?",
        "studies", split=True, accept=is_thing),
    # tastes
    _rule("favourite",
        "(?:的)?最(?:喜欢|爱|喜爱)(?:吃|喝|看|听|玩|读)?的(?P<what>.{1,4}?)(?:是|为)(?P<o>.+)",
        "favourite {what}", accept=is_thing),
    _rule("hobby", "(?:的)?(?:爱好|兴趣爱好|兴趣)(?:是|有|包括)(?P<o>.+)", "likes", split=True),
    _rule("prefers", "(?:更喜欢|比较喜欢|偏爱)(?P<o>.+)", "prefers", split=True, accept=is_thing),
    _rule("hates", "(?:讨厌|厌恶|受不了|反感|最怕)(?P<o>.+)", "likes", split=True, negated=True, say=
        "{s}讨厌{o}", accept=is_thing),
    _rule("took to", "喜欢上了?(?P<o>.+)", "likes", split=True, accept=is_thing),
    _rule("likes", "(?:喜欢|热爱|喜爱|迷上了?|爱上了?)(?P<o>.+)", "likes", split=True, accept=is_thing),
    _rule("interested", "对(?P<o>.+?)(?:也|都)?(?:很|非常|越来越|特别|比较|挺|十分|最)?感兴趣", "likes",
        split=True, accept=is_thing),
    _rule("loves to", "爱(?P<o>(?:吃|喝|看|听|玩|打|跑|唱|读|画|做|踢|弹|运动|旅).*)", "likes", split=True),
    # body and health
    _rule("not allergic", "对(?P<o>.+?)不过敏", "is allergic to", split=True, negated=True),
    _rule("allergic", "对(?P<o>.+?)(?:严重|有点)?过敏", "is allergic to", split=True),
    _rule("weighs",
        f"(?:的)?体重{_IS}(?:大概|大约|现在|已经|有)?(?P<o>\\d[\\d.]*\\s*(?:公斤|千克|kg|KG|斤|磅))",
        "weighs"),
    _rule("weight changed",
        "(?:的)?体重(?:从.{1,10})?[降涨增减]了?[到至]了?(?P<o>\\d[\\d.]*\\s*(?:公斤|千克|kg|斤|磅))",
        "weighs"),
    _rule("height",
        f"(?:的)?身高{_IS}(?:大概|大约|有)?(?P<o>(?:一米[\u4e00-\u9fff]{{1,2}}|\\d[\\d.]*\\s*(?:米|厘米"
        "|公分|cm|CM|m)\\d*|1[5-9]\\d|20\\d))", "height"),
    _rule("phone",
        "(?:的)?(?:新)?(?:电话|手机|手机号|电话号码|手机号码"
        f"|联系方式)(?:号码?)?{_IS}(?P<o>\\+?\\d[\\d\\s-]{{5,18}}\\d)", "phone number"),
    _rule("email",
        f"(?:的)?新?(?:电子)?(?:邮箱|邮件地址)(?:地址)?{_IS}(?P<o>\\S+@\\S+\\.[a-zA-Z]+)", "email"),
    _rule("number",
        "(?:的)?(?:每个?月的?)?(?P<what>血压|血型|鞋码|月薪|工资|房租|租金|预算|房贷|心率|血糖|绩点|GPA"
        "|房间号|座位号|航班号)"
        f"(?:现在|大概|大约|目前)?(?:[涨降]到了?"
        f"|{_IS})(?P<o>[\\dABO一二两三四五六七八九十百千万][^，]*)", "{what}"),
    _rule("address", f"(?:家)?(?:的)?(?:家庭)?(?:地址"
        f"|住址){_IS}(?:在)?(?P<o>.*[路街道号区巷弄村楼].*)", "address"),
    _rule("diagnosed", "(?:患有|得了|被诊断(?:为|出|患有)?|确诊了?)(?P<o>.+)", "has condition",
        accept=is_thing),
    _rule("condition", "有(?P<o>.+)", "has condition", accept=is_condition),
    _rule("takes", f"(?:服用|吃)(?P<o>(?:{NUMBER_ZH}|半)[片粒颗].{{2,10}})", "takes"),
    _rule("takes drug", "(?:在)?服用(?P<o>.{2,12})", "takes", accept=is_thing),
    # traits
    _rule("afraid", "(?:害怕|怕)(?P<o>.+)", "is afraid of", split=True, accept=is_feared),
    _rule("instrument", "会(?:弹|拉|吹)(?P<o>.{1,6})", "plays", split=True, say="{s}会演奏{o}",
        accept=is_thing),
    _rule("speaks", "(?:会|能)(?:说|讲)(?:一点|流利的)?(?P<o>.+)", "speaks", split=True, accept=is_language),
    _rule("milestone", "(?:(?:和|跟|与).{1,8}?)?(?P<o>(?:研究生|本科|大学|硕士|博士|高中|初中|大专)?毕业"
        "|退休|搬家|入职|辞职|离职"
        "|分手|怀孕|买房|买车|出院|住院|做(?:了)?手术|创业|领证|当爸爸"
        "|当妈妈)", "did", dated=True, kind="event", say="{s}{o}了"),
    _rule("marital", "(?:(?:和|跟|与).{1,8}?)?(?:已经)?(?P<o>结婚|离婚|订婚|单身|已婚"
        "|未婚)", "marital status"),
    _rule("trait",
        "是(?:一[个名位])?(?P<o>素食主义者|素食者|左撇子|独生子女|独生子|独生女|佛教徒|基督徒|穆斯林"
        "|糖尿病患者|退休人员)", "is"),
    _rule("retired", "(?P<o>退休)", "is", say="{s}已退休"),
    _rule("smokes", "抽(?P<o>烟)", "smokes"),
    _rule("eats", "(?:改|只|戒糖后)?(?P<verb>吃|喝)(?P<o>(?!饭|完|过|了"
        "|不).{1,8})", "{verb}", split=True, accept=is_thing),
    # changes
    _rule("left", "(?:从)(?P<o>.{1,20}?)(?:辞职|离职|跳槽)", "works at", negated=True, ended=True),
    _rule("left from", "(?:离开|辞去)了?(?P<o>.{1,15}(?:公司|集团|银行|医院|学校|大学))(?:的工作)?",
        "works at", negated=True, ended=True),
    _rule("quit", "(?P<o>戒烟|戒酒|辞职|离职)", "did", kind="event", say="{s}{o}了"),
    # what happened and what is planned
    _rule("graduated", "(?:毕业于|从)(?P<o>.{2,20}?)(?:毕业)?", "graduated from",
        accept=lambda words: words.endswith(("大学", "学院", "学校", "中学", "高中"))),
    _rule("went with", "(?:带着?|陪|和|跟|与).{1,8}?(?:一起)?(?:去了|去过)(?P<o>(?![吃看玩买听见]).{1,30})",
        "went to", kind="event"),
    _rule("went", "(?:去了|去过|到了|去)(?P<o>(?![和跟]).{1,30})", "went to", dated=True, kind="event"),
    _rule("went anyway", "(?:去了|去过)(?P<o>.{1,30})", "went to", kind="event"),
    _rule("bought", "买了(?:一)?(?:[个只条台辆套部张本双件])?(?P<o>.{1,20})", "bought", accept=is_thing),
    _rule("attended", "参加了?(?P<o>.{1,20})", "attended", dated=True),
    _rule("plans", "(?:打算|计划|准备(?=去|在|买|换|搬|考|开始|和|跟|参加))(?P<o>.{2,30})", "plans to"),
    _rule("will",
        "(?:要|会|将|将要)(?P<o>(?:去|到|和|跟|参加|搬|做|看|飞|回).{1,30}|(?:考|结婚|出差|手术|面试).{0,30})",
        "plans to", dated=True),
    _rule("appointment",
        "有(?:一)?(?:[个场次节])?(?P<o>.{0,8}(?:面试|考试|会议|手术|预约|约会|体检|比赛|演出|航班"
        "|牙医.{0,4}|复查|讲座))", "has appointment", dated=True),
    _rule("did",
        "(?P<o>(?:看了|吃了|见了|做了|开了|办了|拿到了?|跑了|学了|完成了|收到了?|丢了|认识了|开始了?"
        "|和.{1,8}(?:吃饭"
        "|见面|看电影)|跟.{1,8}(?:吃饭|见面|看电影)).{0,30})", "did", dated=True, kind="event"),
    # possession, last
    _rule("owns bare", "有(?P<o>车|房|房子|孩子|兄弟姐妹|宠物|驾照|男朋友|女朋友|对象|工作)", "has"),
    _rule("owns", f"(?:有|拥有)(?P<o>(?:{NUMBER_ZH}|几)[个只条台辆套部张本间把].{{1,10}})", "has",
        accept=is_thing),
)  # fmt: skip
