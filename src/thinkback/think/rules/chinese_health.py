"""Body and health: allergies, measures, conditions and medicines; and the numbers one is reached by."""

from __future__ import annotations

from thinkback.text.numbers import NUMBER_ZH
from thinkback.think.rules.chinese_parts import AMOUNT, IS, rule
from thinkback.think.rules.chinese_words import (
    is_allergen,
    is_condition,
    is_dosed,
    is_drug,
    is_thing,
    is_treatment,
)
from thinkback.think.rules.rule import Rule

_NUMBERED = (
    "(?:血压|血型|鞋码|月薪|工资|薪水|年薪|房租|租金|预算|学费|存款|房贷|心率|血糖|尿酸|绩点|GPA|房间号"
    "|座位号"
    "|航班号)"
)
_DOSE = f"(?:{NUMBER_ZH}|半|\\d[\\d.]*) ?(?:毫克|微克|毫升|单位|片|粒|颗|mg|MG)"

RULES: tuple[Rule, ...] = (
    rule("not allergic", "对(?P<o>.+?)不过敏", "is allergic to", split=True, negated=True),
    rule("allergic", "(?:发现|显示|查出来?|测出来?|检查出来?)?对(?P<o>.+?)(?:严重|有点|也"
        "|都)?过敏", "is allergic to", split=True, accept=is_thing),
    rule("allergic so", "(?:有|会|是)?(?P<o>(?!对)[\u4e00-\u9fff]{2,5}?)过敏", "is allergic to",
        accept=is_allergen),
    rule("condition for years", "(?:患有|有|得|患)?了?(?P<o>[\u4e00-\u9fff]{2,7}?)(?:有|都"
        "|已经)?(?:快)?(?:好几"
        "|十几|几|二十几"
        f"|{NUMBER_ZH})(?:多|来)?年", "has condition", accept=is_condition),
    rule("sight", "(?:有|是)?(?P<o>近视|散光|远视|老花)(?:有|是|已经|快)*\\d+度(?:多)?", "has condition"),
    rule("dizzy", "(?:有点|会|很|特别|严重|从小)*(?P<o>晕车|晕船|晕机|恐高|晕血)", "has condition"),
    rule("weighs",
        f"(?:的)?(?:体重)?{IS}(?:大概|大约|现在|已经|有|只有|才)?(?P<o>{AMOUNT}\\s*(?:公斤|千克|kg|KG|斤"
        f"|磅)半?)",
        "weighs"),
    rule("weight changed",
        f"(?:的)?(?:体重)?(?:从.{{1,10}})?(?:[降涨增减瘦胖掉长]|减肥|增重|反弹|稳定|维持|保持)(?:了?[到至]"
        f"|在)了?(?P<o>{AMOUNT}\\s*(?:公斤"
        f"|千克|kg|斤|磅)半?)",
        "weighs"),
    rule("height",
        f"(?:(?:的)?(?:身高|个子|个头)|(?=长))(?:已经)?(?:[长涨窜]高?[到了至]了?|{IS})(?:大概|大约|有|才|已经"
        f"|快)?(?P<o>(?:[一两]米[\u4e00-\u9fff]{{1,2}}"
        f"|\\d[\\d.]*\\s*(?:米|厘米"
        "|公分|cm|CM|m)\\d*|1[5-9]\\d|20\\d))", "height"),
    rule("phone",
        "(?:的)?(?:新)?(?:电话|手机|手机号|(?<=新)号码?|电话号码|手机号码"
        f"|联系方式)(?:号码?)?{IS}(?P<o>\\+?\\d[\\d\\s-]{{5,18}}\\d)", "phone number"),
    rule("email",
        f"(?:的)?新?(?:电子)?(?:邮箱|邮件地址)(?:地址)?{IS}(?P<o>\\S+@\\S+\\.[a-zA-Z]+)", "email"),
    rule("number changed", f"(?:的)?(?:每个?月的?)?(?P<what>{_NUMBERED})(?:从.{{1,10}}?)?(?:现在|大概|大约"
        f"|目前|已经|才|又|也|都)*"
        "(?:[涨降加减提升调]|下降|上升|下调|上调"
        "|控制|稳定|维持|保持)[到至了成在]了?(?P<o>[\\d一二两三四五六七八九十百千万][^，]*?)", "{what}"),
    rule("number", f"(?:的)?(?:新的?)?(?:每个?月的?)?(?:空腹|餐后)?(?P<what>{_NUMBERED})(?:(?:测|量"
        f"|查)了?(?:一?下"
        f"|出来)?|现在|大概"
        f"|大约|目前|已经|才|又)*"
        f"{IS}(?P<o>[\\dA-Z一二两三四五六七八九十百千万][^，]*?)", "{what}"),
    rule("earns", "(?:一个月|每个?月|月入)(?:能|才|只)?(?:挣|赚"
        "|拿)?(?:到手)?(?P<o>[\\d一二两三四五六七八九十百千万][\\d.一二两三四五六七八九十百千万kK]*(?:块"
        "|元)?(?:钱)?)", "salary",
        accept=lambda words: len(words) > 1),
    rule("shoe", "穿(?P<o>\\d\\d)码(?:的鞋)?", "shoe size"),
    rule("address", f"(?:家)?(?:的)?新?(?:家的?)?(?:家庭|收货|通讯)?(?:地址"
        f"|住址){IS}(?:在)?(?P<o>.*[路街道号区巷弄村楼].*)", "address"),
    rule("diagnosed", "(?:患有|得了|被诊断(?:为|出)?(?:患有|得了|患了)?|确诊了?)(?P<o>.+)", "has condition",
        accept=is_thing),
    rule("condition", "(?:一直|从小)?(?:有|是|查出来?|得了|患上了?|诊断出)?(?:有|了)?(?:轻微的?|严重的?"
        "|先天性"
        "|慢性)?(?P<o>.+)", "has condition", split=True, accept=is_condition),
    rule("dose",
        "(?:(?:大夫|医生)?(?:让我|叫我|给我|今天|刚"
        "|又)*)?(?:把)?(?:我的?)?的?(?P<o>(?P<drug>[^我把的]{2,10}?)(?:的?剂量|的?用?量)?"
        "(?:现在|已经|又)*(?:(?:加|减|改|调|换|增加|减少|增|降)[到至成为]了?|是)"
        f"(?:每天|一天|每次|每日|每晚|每顿)*(?P<amount>{_DOSE}))", "takes"),
    rule("dosed", f"的?(?P<o>(?P<drug>[^我把的]{{2,10}}?)的?(?:剂量|用量){IS}(?:每天|一天|每次|每日"
        f"|每晚)*(?P<amount>{_DOSE}))",
        "takes"),
    rule("dosed so", "的?(?P<o>(?P<drug>.{2,10}?)(?:现在|目前)?(?:每天|一天|每次|每日|每晚)+"
        f"(?:吃|服用?|用)?(?P<amount>{_DOSE}))", "takes", accept=is_dosed),
    rule("takes", f"(?:在|得|要|需要|坚持)?(?:服用?|吃"
        f"|打)(?P<o>(?P<amount>{_DOSE})的?(?P<drug>[^的]{{2,10}}?))", "takes"),
    rule("takes so much", f"(?:在|得|要|需要|坚持)?(?:服用?|吃|打)(?P<o>(?P<drug>.{{2,10}}?)，?(?:每天|一天"
        f"|每次|每日|每晚"
        f"|一次)+(?:吃|服用?)?(?P<amount>{_DOSE}))", "takes", accept=is_drug),
    rule("takes weighed", f"(?:只|在|得|要|需要|坚持|改)*(?:吃|服用?|打|用)(?:着|了|的是)?"
        f"(?P<o>(?P<drug>[^，每一只]{{2,10}}?)(?P<amount>{_DOSE}))", "takes"),
    rule("refuses", "拒绝(?P<o>.+)", "refuses", accept=is_treatment),
    rule("stopped drug", "(?:(?:医生|大夫)?(?:让我|叫我))?(?:停|不用吃|停用|停掉)了?(?P<o>.{2,10})", "takes",
        negated=True, ended=True, split=True, accept=is_drug),
    rule("prescribed", "(?:医生|大夫)(?:又|刚)?(?:给我|让我|叫我)(?:每天|一天)?(?:开了?|吃"
        "|换成?了?)(?P<o>.{2,14})", "takes",
        accept=is_drug),
    rule("on drug", "(?:只|在|得|要|需要|长期|坚持)*(?:改?吃|服用?|打|改?用|喝|开了|给我开了)(?:着"
        "|了)?(?P<o>.{2,14}?)(?:减肥|降压|降糖|止痛|助眠)?", "takes", split=True,
        accept=is_drug),
    rule("takes drug", "(?:在)?服用(?P<o>(?!即可).{2,12})", "takes", accept=is_thing),
)  # fmt: skip
