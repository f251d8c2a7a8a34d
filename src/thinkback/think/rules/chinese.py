"""The Chinese table: what is said of a subject after its time, adverbs and negation are taken off.

One table serves predicates and attributes: Chinese drops 的 and 是 freely (我的生日是5月6日, 我生日5月6日).
"""

from __future__ import annotations

import re
from typing import Any

from thinkback.text.kin import KIN_ZH, PETS_ZH, longest_first
from thinkback.text.numbers import NUMBER_ZH
from thinkback.think.rules.chinese_words import (
    SURNAMES,
    is_company,
    is_condition,
    is_drug,
    is_feared,
    is_field,
    is_job,
    is_language,
    is_major,
    is_name,
    is_person,
    is_place_or_work,
    is_school,
    is_thing,
)
from thinkback.think.rules.rule import Rule

_KIN = f"(?:{longest_first(KIN_ZH | PETS_ZH)})"
_COUNT = f"(?:{NUMBER_ZH}|几)?[个只条位名匹头尾对台辆套部张间把]"
_COUNTED = f"{_COUNT}(?:亲|大|小)?{_KIN}"
_IS = "(?:是|为|：|:)?"
_AMOUNT = "(?:\\d[\\d.]*|[一二两三四五六七八九十百零]{1,6})"


def _rule(name: str, pattern: str, relation: str, **options: Any) -> Rule:
    return Rule(name, re.compile(pattern + r"(?:了|啦|呢|的|哦|呀|啊)?\Z", re.DOTALL), relation, **options)


RULES: tuple[Rule, ...] = (
    # who is who
    _rule("is my kin", f"是我(?:的|们的)?(?P<kin>{_KIN})", "has {kin}"),
    _rule("kin named",
        f"(?:家)?(?:里)?(?:有|又?养了?|收养了?|领养了?|捡了|抱了|买了|生了|来了|添了|多了|新?[交谈找处换]了"
        f"|接回|抱回来?"
        f"|捡回来?)了?(?:{_COUNT})?(?:流浪|新|小|大|黑|白|橘"
        f"|亲|宠物)*(?P<kin>{_KIN})"
        "，?(?:我?(?:给|管)(?:它|他|她))?(?:(?:名字|取名|起名)?(?:叫做?|名叫|是|为)|取名|起名)(?P<o>.+)",
        "has {kin}", accept=is_name),
    _rule("kin counted", f"(?:有|养了?|领养了?)(?P<o>{_COUNTED}(?:[、和跟]{_COUNTED})*)", "has",
        kind="relationship", split=True),
    # name and age
    _rule("surname", "姓(?P<o>[\u4e00-\u9fff]{1,2})", "surname"),
    _rule("nickname", f"(?:的)?(?:小名|昵称|外号|网名|笔名|艺名|微信名)(?:叫"
        f"|{_IS})(?P<o>.+)", "goes by", accept=is_name),
    _rule("english name", f"(?:的)?英文名(?:字)?(?:叫|{_IS})(?P<o>[A-Za-z][A-Za-z .'-]+)", "english name"),
    _rule("name", "(?:把|的)?(?:名字|全名|真名|大名)(?:是|叫)(?P<o>.+)", "is named", accept=is_name),
    _rule("named", "(?:叫做?|名叫|改名叫?)(?P<o>.+)", "is named", accept=is_name),
    _rule("aged", f"(?:的)?(?:年龄)?(?:今年|现在|已经|刚满|快|满)*{_IS}(?P<o>{NUMBER_ZH})岁", "is aged"),
    _rule("aged bare", "(?P<o>[1-9]\\d|[二三四五六七八九]?十[一二三四五六七八九]?)(?:了|整|啦)", "is aged"),
    _rule("birthday", f"(?:的)?(?:生日|出生日期){_IS}(?:在)?(?P<o>.*[月日号年].*)", "birthday"),
    _rule("born on", "(?:出生于|生于)(?P<o>\\d{4}年.*)", "birthday"),
    _rule("born date", "(?:是)?(?P<o>\\d{4}年.*)出生", "birthday"),
    # where
    _rule("lives", "(?:家住在?|居住在|定居在?|住在|现居|住(?:到|去)?|base ?在|常住)(?!了|着|过|院|的"
        "|一)了?(?P<o>.+)", "lives in",
        place=True),
    _rule("home in", "(?:新)?家(?:在|搬到了?)(?P<o>.+)", "lives in", place=True),
    _rule("moved", "(?:从.{1,10})?(?:搬家?到|搬家?去|搬来|搬回|迁到)了?(?P<o>.+?)(?:住|生活|来|去)?",
        "lives in", place=True),
    _rule("born in", "(?:出生在|出生于|生于)(?P<o>.+)", "was born in", place=True),
    _rule("grew up", "(?:从小)?在(?P<o>.+?)长大", "grew up in", place=True),
    _rule("from", "(?:来自|老家在|老家是|的?家乡[是在])(?P<o>.+?)", "comes from", place=True),
    _rule("native", "是(?:一个|地道的?|土生土长的?|正宗的?)?(?P<o>(?!个|好|坏|老|年轻|大|男|女|本|机器|夜"
        "|早起|病|什么|自己|这|那|有|没|爱|怕|很)[\u4e00-\u9fff]{2,6}?)人", "comes from", place=True),
    # work and study
    _rule("named is", f"(?:是|就是)(?P<o>[小阿老][\u4e00-\u9fff]|[{SURNAMES}][\u4e00-\u9fff]{{2}}"
        f"|[A-Z][a-z]+)",
        "goes by", accept=is_person),
    _rule("titled", f"(?:是|就是)(?P<o>[{SURNAMES}](?:教授|老师|医生|大夫|经理|主任|师傅|院士|总|工"
        f"|导))", "goes by"),
    _rule("works as at", "在(?P<also>.{1,20}?)(?:当|做|担任)(?:一[名个位])?(?P<o>.+)", "works as", also=
        "works at", accept=is_job),
    _rule("works as", "(?:当上?|做|担任|是|成为了?|改行[做当]"
        "|转行[做当])了?(?:一)?[名个位]?(?P<o>.+)", "works as",
        split=True, accept=is_job),
    _rule("trade", "是(?P<o>(?:修|卖|开|跑|教|种|养|送|拍|搞|做)(?!好|过|完|得|心|始|会|学"
        "|玩)[\u4e00-\u9fff]{1,6})的", "works as",
        accept=is_thing, say="{s}是{o}的"),
    _rule("works in", "(?:在(?P<place>.{2,8}?))?(?:做|干|搞"
        "|从事)(?:的是)?(?P<o>.{2,8}?)", "works in", accept=is_field),
    _rule("is of", "是(?:(?:我们|咱们?|他们)[^的]{1,6}"
        "|(?P<also>.{2,20}?))的(?:一[名个位])?(?P<o>.+)", "works as",
        also="works at", accept=is_job),
    _rule("job is", f"(?:的)?(?:职业|工作){_IS}(?:一[名个位])?(?P<o>.+)", "works as", accept=is_job),
    _rule("works at", "在(?P<o>.{1,20}?)(?:工作|上班|任职|实习|打工"
        "|干活)", "works at", accept=is_place_or_work),
    _rule("works there", "在(?P<o>.{2,14}?)(?:开|做|干|搞|跑|教|卖|修|管|负责)(?!会|玩|完|梦|客|检查|手术"
        "|饭)[^了过]{1,8}", "works at",
        accept=is_company),
    _rule("joined", "(?:从.{1,10})?(?:入职|加入|跳槽到|跳槽去|换到|跳到|调到|调去)了?(?P<o>.{1,20}?)(?:工作"
        "|上班)?", "works at", accept=is_place_or_work),
    _rule("studied at",
        "(?:本科|大学|研究生|硕士|博士|高中|初中|大专)?(?:是)?在(?P<o>.{2,14}?)(?:读|念|上)(?:的|完)(?:书"
        "|本科|研究生|大学|博士|硕士)?",
        "studied at", accept=is_school),
    _rule("at school",
        "(?:在|转学到|转到|考上|考进|考入)了?(?P<o>[^上读念]{1,10}?(?:小学|中学|大学|学院|学校|高中"
        "|初中|幼儿园))"
        "(?:了|读.{0,6}|上.{0,6}|念.{0,6})?", "studies at", accept=is_school),
    _rule("studies at", "在(?P<o>.{1,20}?)(?:上学|读书|念书|读研|读博|就读|上大学|[读念上](?:高[一二三中]"
        "|初[一二三中]|大[一二三四学]|[一二三四五六]年级"
        "|研究生|博士|本科|幼儿园))", "studies at"),
    _rule("attends", "就读于(?P<o>.{1,20})", "studies at"),
    _rule("reads", "(?:读|改学|转到|转去|学)(?:的是?)?了?(?P<o>.{2,8}?)(?:专业"
        "|系)?", "studies", accept=is_major),
    _rule("major", f"(?:的)?专业{_IS}(?P<o>.+)", "studies"),
    _rule("learns",
        "(?:在|开始|报名|报班)?学(?:着|做|弹|打|拉|画|说|跳){0,2}(?P<o>(?!习|校|生|术|历|期|分|费|长|姐|弟"
        "|妹|问|不|得|到|会|了|什么|的"
        "|过|成|完|医|法律).{1,8}?)", "learns", split=True, accept=is_thing),
    _rule("studies", "(?:主修|攻读|读的(?:是)?|读(?=.{1,10}专业)|学习|学的(?:是)?)(?P<o>.{1,12}?)(?:专业)?",
        "studies", split=True, accept=is_thing),
    # tastes
    _rule("favourite",
        "(?:的)?最?(?:喜欢|爱|喜爱)(?:吃|喝|看|听|玩|读|穿)?的(?P<what>(?!就|还|一|莫)[^是为]{1,4}?)(?:就|还"
        "|一直|莫过于)?(?:是|为)(?P<o>.+)",
        "favourite {what}", accept=is_thing),
    _rule("favourite act", "(?:的)?最(?:喜欢|爱)(?P<act>吃|喝)的(?:东西)?(?:就|还|一直)?(?:是"
        "|为)(?P<o>.+)", "favourite {act}",
        accept=is_thing),
    _rule("most", "最(?:喜欢|爱|喜爱)(?P<o>(?!的).{1,12})", "likes", split=True, accept=is_thing),
    _rule("hobby", "(?:的)?(?:爱好|兴趣爱好|兴趣)(?:是|有|包括)(?P<o>.+)", "likes", split=True),
    _rule("prefers", "(?:更喜欢|更爱|比较喜欢|偏爱|更中意)(?P<o>.+)", "prefers", split=True, accept=is_thing),
    _rule("hates", "(?:讨厌|厌恶|受不了|反感|最烦|接受不了)(?P<o>.+)", "likes", split=True, negated=True, say=
        "{s}讨厌{o}", accept=is_thing),
    _rule("hated most", "最?(?:讨厌|烦|不喜欢)的.{0,4}?(?:就)?是(?P<o>.+)", "likes", negated=True,
        say="{s}讨厌{o}", accept=is_thing),
    _rule("idol", "(?:的)?偶像(?:是|为)(?P<o>.+)", "likes", split=True, accept=is_thing),
    _rule("took to", "喜欢上了?(?P<o>.+)", "likes", split=True, accept=is_thing),
    _rule("likes", "(?:喜欢|热爱|喜爱|痴迷|迷上了?|爱上了?"
        "|沉迷)(?P<o>.+)", "likes", split=True, accept=is_thing),
    _rule("not interested",
        "对(?P<o>.+?)(?:也|都|已经|再也)?(?:没有?|不)(?:什么|啥|太|怎么)?(?:兴趣|感觉|感冒|感兴趣)", "likes",
        negated=True, split=True, accept=is_thing),
    _rule("interested", "对(?P<o>.+?)(?:也|都)?(?:很|非常|越来越|特别|比较|挺|十分|最)?感兴趣", "likes",
        split=True, accept=is_thing),
    _rule("loves to", "爱(?P<o>(?:吃|喝|看|听|玩|打|跑|唱|读|画|做|踢|弹|运动|旅|下|钓|逛|种|养|拍|写|滑|骑"
        "|爬|游|睡|泡|收集|跳|织).*)", "likes", split=True),
    # body and health
    _rule("not allergic", "对(?P<o>.+?)不过敏", "is allergic to", split=True, negated=True),
    _rule("allergic", "对(?P<o>.+?)(?:严重|有点|也|都)?过敏", "is allergic to", split=True, accept=is_thing),
    _rule("weighs",
        f"(?:的)?(?:体重)?{_IS}(?:大概|大约|现在|已经|有|只有|才)?(?P<o>{_AMOUNT}\\s*(?:公斤|千克|kg|KG|斤"
        f"|磅)半?)",
        "weighs"),
    _rule("weight changed",
        f"(?:的)?(?:体重)?(?:从.{{1,10}})?(?:[降涨增减瘦胖]|减肥|增重)了?[到至]了?(?P<o>{_AMOUNT}\\s*(?:公斤"
        f"|千克|kg|斤|磅)半?)",
        "weighs"),
    _rule("height",
        f"(?:的)?(?:身高|个子|个头){_IS}(?:大概|大约|有|才)?(?P<o>(?:[一两]米[\u4e00-\u9fff]{{1,2}}"
        f"|\\d[\\d.]*\\s*(?:米|厘米"
        "|公分|cm|CM|m)\\d*|1[5-9]\\d|20\\d))", "height"),
    _rule("phone",
        "(?:的)?(?:新)?(?:电话|手机|手机号|(?<=新)号码?|电话号码|手机号码"
        f"|联系方式)(?:号码?)?{_IS}(?P<o>\\+?\\d[\\d\\s-]{{5,18}}\\d)", "phone number"),
    _rule("email",
        f"(?:的)?新?(?:电子)?(?:邮箱|邮件地址)(?:地址)?{_IS}(?P<o>\\S+@\\S+\\.[a-zA-Z]+)", "email"),
    _rule("number",
        "(?:的)?(?:每个?月的?)?(?P<what>血压|血型|鞋码|月薪|工资|薪水|年薪|房租|租金|预算|学费|存款|房贷"
        "|心率|血糖|绩点|GPA"
        "|房间号|座位号|航班号)"
        f"(?:现在|大概|大约|目前|已经|才|又)*(?:(?:[涨降加减提]|下降|上升)[到至了成]了?"
        f"|{_IS})(?P<o>[\\dABO一二两三四五六七八九十百千万][^，]*)", "{what}"),
    _rule("earns", "(?:一个月|每个?月|月入)(?:能|才|只)?(?:挣|赚"
        "|拿)?(?:到手)?(?P<o>[\\d一二两三四五六七八九十百千万][\\d.一二两三四五六七八九十百千万kK]*(?:块"
        "|元)?(?:钱)?)", "salary",
        accept=lambda words: len(words) > 1),
    _rule("shoe", "穿(?P<o>\\d\\d)码(?:的鞋)?", "shoe size"),
    _rule("address", f"(?:家)?(?:的)?(?:家庭)?(?:地址"
        f"|住址){_IS}(?:在)?(?P<o>.*[路街道号区巷弄村楼].*)", "address"),
    _rule("diagnosed", "(?:患有|得了|被诊断(?:为|出|患有)?|确诊了?)(?P<o>.+)", "has condition",
        accept=is_thing),
    _rule("condition", "(?:一直|从小)?(?:有|是|查出来?|得了|患上了?|诊断出)?(?:有|了)?(?:轻微的?|严重的?"
        "|先天性"
        "|慢性)?(?P<o>.+)", "has condition", split=True, accept=is_condition),
    _rule("dose",
        "(?:(?:大夫|医生)?(?:让|叫|给)我)?(?:把)?(?P<o>(?P<drug>.{2,10}?)(?:的?剂量)?(?:加|减|改|调|换|增加"
        "|减少)[到至成为]了?"
        "(?:每天|一天|每次|每日)?(?P<amount>\\d[\\d.]*(?:毫克|微克|片|粒|mg)))", "takes", accept=is_drug),
    _rule("takes", f"(?:服用|吃)(?P<o>(?:{NUMBER_ZH}|半)[片粒颗].{{2,10}})", "takes"),
    _rule("stopped drug", "(?:(?:医生|大夫)?(?:让我|叫我))?(?:停|不用吃|停用|停掉)了?(?P<o>.{2,10})", "takes",
        negated=True, ended=True, split=True, accept=is_drug),
    _rule("prescribed", "(?:医生|大夫)(?:又|刚)?(?:给我|让我|叫我)(?:每天|一天)?(?:开了?|吃"
        "|换成?了?)(?P<o>.{2,14})", "takes",
        accept=is_drug),
    _rule("on drug", "(?:在|得|要|需要|长期|坚持)?(?:吃|服用?|打|用|喝|开了|给我开了)(?:着"
        "|了)?(?P<o>.{2,14})", "takes", split=True,
        accept=is_drug),
    _rule("takes drug", "(?:在)?服用(?P<o>.{2,12})", "takes", accept=is_thing),
    # traits
    _rule("afraid", "(?:害怕|最怕|怕)(?P<o>.+)", "is afraid of", split=True, accept=is_feared),
    _rule("instrument", "会(?:弹|拉|吹)(?P<o>.{1,6})", "plays", split=True, say="{s}会演奏{o}",
        accept=is_thing),
    _rule("speaks", "(?:会|能|(?:(?:跟|和).{1,6}?)?(?=[讲说]))(?:说|讲|一点儿?|一口|些|点|流利的?|的是?"
        "|地道的?)+(?P<o>.+)", "speaks", split=True, accept=is_language),
    _rule("speaks it", "(?P<o>[^会能]{2,5}?)(?:也|都|还)?(?:会|能)(?:说|讲"
        "|一点儿?)", "speaks", accept=is_language),
    _rule("milestone", "(?:(?:和|跟|与).{1,8}?)?(?P<o>(?:研究生|本科|大学|硕士|博士|高中|初中|大专)?毕业"
        "|退休|搬家|入职|辞职|离职"
        "|分手|怀孕|买房|买车|出院|住院|做(?:了)?手术|创业|领证|当爸爸"
        "|当妈妈)", "did", dated=True, kind="event", say="{s}{o}了"),
    _rule("marital", "(?:(?:和|跟|与).{1,8}?)?(?:已经|有)?(?P<o>结婚|离婚|订婚|单身|已婚"
        "|未婚)(?:.{1,4}年)?", "marital status"),
    _rule("trait",
        "是 ?(?:一[个名位])?(?P<o>vegan|vegetarian|introvert|extrovert|社恐|社牛|吃货|夜猫子|素食主义者"
        "|素食者|左撇子|独生子女|独生子|独生女|佛教徒|党员|双胞胎|[汉满回藏蒙壮苗彝侗瑶傣]族|基督徒|穆斯林"
        "|糖尿病患者|退休人员)", "is"),
    _rule("sign", "是(?P<o>(?:白羊|金牛|双子|巨蟹|狮子|处女|天秤|天蝎|射手|摩羯|水瓶|双鱼)座)", "is"),
    _rule("zodiac", "(?P<o>属[鼠牛虎兔龙蛇马羊猴鸡狗猪])", "is", say="{s}{o}"),
    _rule("blood", "是(?P<o>(?:A|B|O|AB)型)血", "blood type"),
    _rule("drives", "开的(?:车)?是(?P<o>.{2,10})", "drives", accept=is_thing),
    _rule("retired", "(?P<o>退休)", "is", say="{s}已退休"),
    _rule("quit smoking", "戒(?:了"
        "|掉了?)?(?P<o>烟).{0,8}", "smokes", negated=True, ended=True, say="{s}已戒烟"),
    _rule("quit drinking", "戒(?:了|掉了?)?(?P<o>酒|咖啡|奶茶|可乐"
        "|饮料).{0,8}", "drinks", negated=True, ended=True,
        say="{s}已戒{o}"),
    _rule("gave up", "(?P<o>咖啡|奶茶|可乐|酒|饮料|糖水|白酒|啤酒)(?:也|都|已经"
        "|早就)*戒", "drinks", negated=True, ended=True,
        say="{s}已戒{o}"),
    _rule("gave up smoking", "(?P<o>烟)(?:也|都|已经"
        "|早就)*戒", "smokes", negated=True, ended=True, say="{s}已戒烟"),
    _rule("gone off", "(?:敢|想|爱)?(?P<o>(?:看|听|玩|打|踢|逛"
        "|追)[^过了得针]{1,8})", "likes", accept=is_thing),
    _rule("changed to", "改(?P<o>(?:看|听|玩|打|踢).{1,8})", "likes", accept=is_thing),
    _rule("smokes", "(?:得|要|能)?抽.{0,3}[包根支条]?(?P<o>烟)", "smokes"),
    _rule("cannot take", "(?P<verb>吃|喝)不(?:了|惯|得)(?P<o>.{1,8})", "{verb}", split=True, negated=True,
        accept=is_thing),
    _rule("quit eating", "戒(?:了|掉了?)?(?P<o>糖|甜食|肉|碳水|夜宵|零食|辣"
        "|主食).{0,8}", "eats", negated=True,
        ended=True, say="{s}已戒{o}"),
    _rule("takes none", "(?P<o>[^我你他她，一]{1,6}?)(?:一[口根点杯支瓶滴丁]点?儿?|[也都])+(?:不|没)(?:再"
        "|敢)?(?P<verb>吃|喝)", "{verb}",
        split=True, negated=True, accept=is_thing),
    _rule("eats", "(?:改|只|戒糖后)?(?P<verb>吃|喝)(?P<o>(?!饭|完|过|了|饱|撑|惯|腻|亏|惊|力|苦|醋|得|到|上"
        "|着|醉|多|点|什么"
        "|不).{1,8})", "{verb}", split=True, accept=is_thing),
    # changes
    _rule("left", "(?:从)(?P<o>.{1,20}?)(?:辞职|离职|跳槽)", "works at", negated=True, ended=True),
    _rule("left from", "(?:离开|辞去)了?(?P<o>.{1,15}(?:公司|集团|银行|医院|学校|大学))(?:的工作)?",
        "works at", negated=True, ended=True),
    _rule("quit", "(?P<o>辞职|离职|辞了工作)", "did", kind="event", say="{s}{o}了"),
    # what happened and what is planned
    _rule("graduated", "(?:本科|硕士|博士|研究生|大学|是)*(?:毕业于"
        "|从)(?P<o>.{2,20}?)(?:毕业)?", "graduated from",
        accept=lambda words: words.endswith(("大学", "学院", "学校", "中学", "高中"))),
    _rule("went with", "(?:带着?|陪|和|跟|与).{1,8}?(?:一起)?(?:去了"
        "|去过)(?:一?趟)?(?P<o>(?![吃看玩买听见]).{1,30})",
        "went to", kind="event"),
    _rule("went", "(?:去了|去过|到了|去)(?P<o>(?![和跟]).{1,30})", "went to", dated=True, kind="event"),
    _rule("went anyway", "(?:去了|去过)(?P<o>.{1,30})", "went to", kind="event"),
    _rule("bought", "买了(?:一)?(?:[个只条台辆套部张本双件把])?(?P<o>.{1,20})", "bought",
        accept=lambda words: is_thing(words) and not words.endswith("的")),
    _rule("attended", "参加了?(?P<o>.{1,20})", "attended", dated=True),
    _rule("plans", "(?:打算|计划|准备(?=去|在|买|换|搬|考|开始|和|跟|参加))(?P<o>.{2,30})", "plans to"),
    _rule("will",
        "(?:要|会|将|将要)(?P<o>(?:去|到|和|跟|参加|搬|做|看|飞|回).{1,30}|(?:考|结婚|出差|手术"
        "|面试).{0,30})",
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
