"""Chinese rules for daily life: tastes, health, traits, possessions, events and plans."""

from __future__ import annotations

from thinkback.language.rules import Rule, chinese_rule
from thinkback.language.tokens import NUMBER_PATTERN_ZH
from thinkback.language.zh.lexicon import (
    AMOUNT,
    IS,
    has_drug_dose,
    is_allergen,
    is_condition,
    is_destination,
    is_drug,
    is_favourite,
    is_fear,
    is_instrument,
    is_language,
    is_model,
    is_thing,
    is_treatment,
)

TASTE_RULES: tuple[Rule, ...] = (
    chinese_rule("favourite",
        "(?:的)?最?(?:喜欢|爱|喜爱|迷|中意)(?:吃|喝|看|听|玩|读|穿)?的(?P<what>(?!就|还|一"
        "|莫)[^是为]{1,4}?)(?:就|还|现在|如今|目前"
        "|一直|莫过于)?(?:是|为)(?P<o>.+)",
        "favourite {what}", accept=is_favourite),
    chinese_rule("favourite act", "(?:的)?最(?:喜欢|爱)(?P<act>吃|喝)的(?:东西)?(?:就|还|一直)?(?:是"
        "|为)(?P<o>.+)", "favourite {act}",
        accept=is_thing),
    chinese_rule("keen on", "(?:的)?最(?:迷|上头|沉迷|着迷)的(?:就)?是(?P<o>.{1,12})", "likes", is_list=True,
        accept=is_thing),
    chinese_rule("most", "最(?:喜欢|爱|喜爱)(?P<o>(?!的).{1,12})", "likes", is_list=True, accept=is_thing),
    chinese_rule("hobby", "(?:的)?(?:爱好|兴趣爱好|兴趣)(?:是|有|包括)(?P<o>.+)", "likes", is_list=True),
    chinese_rule("prefers", "(?:更喜欢|更爱|比较喜欢|偏爱|更中意)(?P<o>.+)", "prefers", is_list=True,
        accept=is_thing),
    chinese_rule("hates", "(?:讨厌|厌恶|受不了|反感|最烦|接受不了)(?P<o>.+)", "likes", is_list=True,
        negated=True, template="{s}讨厌{o}", accept=is_thing),
    chinese_rule("hated most", "最?(?:讨厌|烦|不喜欢)的.{0,4}?(?:就)?是(?P<o>.+)", "likes", negated=True,
        template="{s}讨厌{o}", accept=is_thing),
    chinese_rule("idol", "(?:的)?偶像(?:是|为)(?P<o>.+)", "likes", is_list=True, accept=is_thing),
    chinese_rule("took to", "喜欢上了?(?P<o>.+)", "likes", is_list=True, accept=is_thing),
    chinese_rule("likes", "(?:喜欢|热爱|喜爱|痴迷|迷上了?|爱上了?"
        "|沉迷)(?P<o>.+)", "likes", is_list=True, accept=is_thing),
    chinese_rule("not interested",
        "对(?P<o>.+?)(?:也|都|已经|再也)?(?:没有?|不)(?:什么|啥|太|怎么)?(?:兴趣|感觉|感冒|感兴趣)", "likes",
        negated=True, is_list=True, accept=is_thing),
    chinese_rule("interested", "对(?P<o>.+?)(?:也|都)?(?:很|非常|越来越|特别|比较|挺|十分|最)?感兴趣",
        "likes", is_list=True, accept=is_thing),
    chinese_rule("loves to",
        "爱(?P<o>(?:吃|喝|看|听|玩|打|跑|唱|读|画|做|踢|弹|运动|旅|下|钓|逛|种|养|拍|写|滑|骑"
        "|爬|游|睡|泡|收集|跳|织).*)", "likes", is_list=True),
)  # fmt: skip

_NUMERIC_ATTRIBUTE = (
    "(?:血压|血型|鞋码|月薪|工资|薪水|年薪|房租|租金|预算|学费|存款|房贷|心率|血糖|尿酸|绩点|GPA|房间号"
    "|座位号"
    "|航班号)"
)
_DOSE = f"(?:{NUMBER_PATTERN_ZH}|半|\\d[\\d.]*) ?(?:毫克|微克|毫升|单位|片|粒|颗|mg|MG)"

HEALTH_RULES: tuple[Rule, ...] = (
    chinese_rule("not allergic", "对(?P<o>.+?)不过敏", "is allergic to", is_list=True, negated=True),
    chinese_rule("allergic", "(?:发现|显示|查出来?|测出来?|检查出来?)?对(?P<o>.+?)(?:严重|有点|也"
        "|都)?过敏", "is allergic to", is_list=True, accept=is_thing),
    chinese_rule("allergic so", "(?:有|会|是)?(?P<o>(?!对)[\u4e00-\u9fff]{2,5}?)过敏", "is allergic to",
        accept=is_allergen),
    chinese_rule("condition for years", "(?:患有|有|得|患)?了?(?P<o>[\u4e00-\u9fff]{2,7}?)(?:有|都"
        "|已经)?(?:快)?(?:好几"
        "|十几|几|二十几"
        f"|{NUMBER_PATTERN_ZH})(?:多|来)?年", "has condition", accept=is_condition),
    chinese_rule("sight", "(?:有|是)?(?P<o>近视|散光|远视|老花)(?:有|是|已经|快)*\\d+度(?:多)?",
        "has condition"),
    chinese_rule("dizzy", "(?:有点|会|很|特别|严重|从小)*(?P<o>晕车|晕船|晕机|恐高|晕血)", "has condition"),
    chinese_rule("weighs",
        f"(?:的)?(?:体重)?{IS}(?:大概|大约|现在|已经|有|只有|才)?(?P<o>{AMOUNT}\\s*(?:公斤|千克|kg|KG|斤"
        f"|磅)半?)",
        "weighs"),
    chinese_rule("weight changed",
        f"(?:的)?(?:体重)?(?:从.{{1,10}})?(?:[降涨增减瘦胖掉长]|减肥|增重|反弹|稳定|维持|保持)(?:了?[到至]"
        f"|在)了?(?P<o>{AMOUNT}\\s*(?:公斤"
        f"|千克|kg|斤|磅)半?)",
        "weighs"),
    chinese_rule("height",
        f"(?:(?:的)?(?:身高|个子|个头)|(?=长))(?:已经)?(?:[长涨窜]高?[到了至]了?|{IS})(?:大概|大约|有|才|已经"
        f"|快)?(?P<o>(?:[一两]米[\u4e00-\u9fff]{{1,2}}"
        f"|\\d[\\d.]*\\s*(?:米|厘米"
        "|公分|cm|CM|m)\\d*|1[5-9]\\d|20\\d))", "height"),
    chinese_rule("phone",
        "(?:的)?(?:新)?(?:电话|手机|手机号|(?<=新)号码?|电话号码|手机号码"
        f"|联系方式)(?:号码?)?{IS}(?P<o>\\+?\\d[\\d\\s-]{{5,18}}\\d)", "phone number"),
    chinese_rule("email",
        f"(?:的)?新?(?:电子)?(?:邮箱|邮件地址)(?:地址)?{IS}(?P<o>\\S+@\\S+\\.[a-zA-Z]+)", "email"),
    chinese_rule("number changed",
        f"(?:的)?(?:每个?月的?)?(?P<what>{_NUMERIC_ATTRIBUTE})(?:从.{{1,10}}?)?(?:现在|大概|大约"
        f"|目前|已经|才|又|也|都)*"
        "(?:[涨降加减提升调]|下降|上升|下调|上调"
        "|控制|稳定|维持|保持)[到至了成在]了?(?P<o>[\\d一二两三四五六七八九十百千万][^，]*?)", "{what}"),
    chinese_rule("number",
        f"(?:的)?(?:新的?)?(?:每个?月的?)?(?:空腹|餐后)?(?P<what>{_NUMERIC_ATTRIBUTE})(?:(?:测|量"
        f"|查)了?(?:一?下"
        f"|出来)?|现在|大概"
        f"|大约|目前|已经|才|又)*"
        f"{IS}(?P<o>[\\dA-Z一二两三四五六七八九十百千万][^，]*?)", "{what}"),
    chinese_rule("earns", "(?:一个月|每个?月|月入)(?:能|才|只)?(?:挣|赚"
        "|拿)?(?:到手)?(?P<o>[\\d一二两三四五六七八九十百千万][\\d.一二两三四五六七八九十百千万kK]*(?:块"
        "|元)?(?:钱)?)", "salary",
        accept=lambda words: len(words) > 1),
    chinese_rule("shoe", "穿(?P<o>\\d\\d)码(?:的鞋)?", "shoe size"),
    chinese_rule("address", f"(?:家)?(?:的)?新?(?:家的?)?(?:家庭|收货|通讯)?(?:地址"
        f"|住址){IS}(?:在)?(?P<o>.*[路街道号区巷弄村楼].*)", "address"),
    chinese_rule("diagnosed", "(?:患有|得了|被诊断(?:为|出)?(?:患有|得了|患了)?|确诊了?)(?P<o>.+)",
        "has condition", accept=is_thing),
    chinese_rule("condition",
        "(?:一直|从小)?(?:有|是|查出来?|得了|患上了?|诊断出)?(?:有|了)?(?:轻微的?|严重的?"
        "|先天性"
        "|慢性)?(?P<o>.+)", "has condition", is_list=True, accept=is_condition),
    chinese_rule("dose",
        "(?:(?:大夫|医生)?(?:让我|叫我|给我|今天|刚"
        "|又)*)?(?:把)?(?:我的?)?的?(?P<o>(?P<drug>[^我把的]{2,10}?)(?:的?剂量|的?用?量)?"
        "(?:现在|已经|又)*(?:(?:加|减|改|调|换|增加|减少|增|降)[到至成为]了?|是)"
        f"(?:每天|一天|每次|每日|每晚|每顿)*(?P<amount>{_DOSE}))", "takes"),
    chinese_rule("dosed", f"的?(?P<o>(?P<drug>[^我把的]{{2,10}}?)的?(?:剂量|用量){IS}(?:每天|一天|每次|每日"
        f"|每晚)*(?P<amount>{_DOSE}))",
        "takes"),
    chinese_rule("dosed so", "的?(?P<o>(?P<drug>.{2,10}?)(?:现在|目前)?(?:每天|一天|每次|每日|每晚)+"
        f"(?:吃|服用?|用)?(?P<amount>{_DOSE}))", "takes", accept=has_drug_dose),
    chinese_rule("takes", f"(?:在|得|要|需要|坚持)?(?:服用?|吃"
        f"|打)(?P<o>(?P<amount>{_DOSE})的?(?P<drug>[^的]{{2,10}}?))", "takes"),
    chinese_rule("takes so much",
        f"(?:在|得|要|需要|坚持)?(?:服用?|吃|打)(?P<o>(?P<drug>.{{2,10}}?)，?(?:每天|一天"
        f"|每次|每日|每晚"
        f"|一次)+(?:吃|服用?)?(?P<amount>{_DOSE}))", "takes", accept=is_drug),
    chinese_rule("takes weighed", f"(?:只|在|得|要|需要|坚持|改)*(?:吃|服用?|打|用)(?:着|了|的是)?"
        f"(?P<o>(?P<drug>[^，每一只]{{2,10}}?)(?P<amount>{_DOSE}))", "takes"),
    chinese_rule("refuses", "拒绝(?P<o>.+)", "refuses", accept=is_treatment),
    chinese_rule("stopped drug", "(?:(?:医生|大夫)?(?:让我|叫我))?(?:停|不用吃|停用|停掉)了?(?P<o>.{2,10})",
        "takes", negated=True, ended=True, is_list=True, accept=is_drug),
    chinese_rule("prescribed", "(?:医生|大夫)(?:又|刚)?(?:给我|让我|叫我)(?:每天|一天)?(?:开了?|吃"
        "|换成?了?)(?P<o>.{2,14})", "takes",
        accept=is_drug),
    chinese_rule("on drug", "(?:只|在|得|要|需要|长期|坚持)*(?:改?吃|服用?|打|改?用|喝|开了|给我开了)(?:着"
        "|了)?(?P<o>.{2,14}?)(?:减肥|降压|降糖|止痛|助眠)?", "takes", is_list=True,
        accept=is_drug),
    chinese_rule("takes drug", "(?:在)?服用(?P<o>(?!即可).{2,12})", "takes", accept=is_thing),
)  # fmt: skip

TRAIT_RULES: tuple[Rule, ...] = (
    chinese_rule("afraid", "(?:害怕|最怕|怕)(?P<o>.+)", "is afraid of", is_list=True, accept=is_fear),
    chinese_rule("instrument some", "会(?:一?点儿?|打|弹点)(?P<o>.{2,5})", "plays", is_list=True,
        template="{s}会演奏{o}", accept=is_instrument),
    chinese_rule("instrument", "会(?:弹|拉|吹)(?P<o>.{1,6})", "plays", is_list=True, template="{s}会演奏{o}",
        accept=is_thing),
    chinese_rule("speaks",
        "(?:会|能|(?:(?:跟|和).{1,6}?)?(?=[讲说]))(?:说|讲|一点儿?|一口|些|点|流利的?|的是?"
        "|地道的?)+(?P<o>.+)", "speaks", is_list=True, accept=is_language),
    chinese_rule("speaks it", "(?P<o>[^会能]{2,5}?)(?:也|都|还)?(?:会|能)(?:说|讲"
        "|一点儿?)", "speaks", accept=is_language),
    chinese_rule("milestone",
        "(?:(?:和|跟|与).{1,8}?)?(?P<o>(?:研究生|本科|大学|硕士|博士|高中|初中|大专)?毕业"
        "|退休|搬家|入职|辞职|离职"
        "|分手|怀孕|买房|买车|出院|住院|做(?:了)?手术|创业|领证|当爸爸"
        "|当妈妈)", "did", needs_time=True, kind="event", template="{s}{o}了"),
    chinese_rule("marital", "(?:(?:和|跟|与).{1,8}?)?(?:已经|有)?(?P<o>结婚|离婚|订婚|单身|离异|丧偶|已婚"
        "|未婚)(?:.{1,4}年)?", "marital status"),
    chinese_rule("trait",
        "(?:是 ?)?(?:一[个名位])?(?P<o>vegan|vegetarian|introvert|extrovert|社恐|社牛|吃货|夜猫子|素食主义者"
        "|素食者|左撇子|独生子女|独生子|独生女|佛教徒|党员|双胞胎|[汉满回藏蒙壮苗彝侗瑶傣]族|基督徒|穆斯林"
        "|糖尿病患者|退休人员)", "is"),
    chinese_rule("sign", "是(?P<o>(?:白羊|金牛|双子|巨蟹|狮子|处女|天秤|天蝎|射手|摩羯|水瓶|双鱼)座)", "is"),
    chinese_rule("zodiac", "(?P<o>属[鼠牛虎兔龙蛇马羊猴鸡狗猪])", "is", template="{s}{o}"),
    chinese_rule("blood", "是(?P<o>(?:A|B|O|AB)型)血", "blood type"),
    chinese_rule("drives", "开的(?:车)?是(?P<o>.{2,10})", "drives", accept=is_thing),
    chinese_rule("retired", "(?P<o>退休)", "is", template="{s}已退休"),
    chinese_rule("quit smoking", "戒(?:了"
        "|掉了?)?(?P<o>烟).{0,8}", "smokes", negated=True, ended=True, template="{s}已戒烟"),
    chinese_rule("quit drinking", "戒(?:了|掉了?)?(?P<o>酒|咖啡|奶茶|可乐"
        "|饮料).{0,8}", "drinks", negated=True, ended=True,
        template="{s}已戒{o}"),
    chinese_rule("gave up", "(?P<o>咖啡|奶茶|可乐|酒|饮料|糖水|白酒|啤酒)(?:也|都|已经"
        "|早就)*戒", "drinks", negated=True, ended=True,
        template="{s}已戒{o}"),
    chinese_rule("gave up smoking", "(?P<o>烟)(?:也|都|已经"
        "|早就)*戒", "smokes", negated=True, ended=True, template="{s}已戒烟"),
    chinese_rule("gone off", "(?:敢|想|爱)?(?P<o>(?:看|听|玩|打|踢|逛"
        "|追)[^过了得针]{1,8})", "likes", accept=is_thing),
    chinese_rule("changed to", "改(?P<o>(?:看|听|玩|打|踢).{1,8})", "likes", accept=is_thing),
    chinese_rule("smokes", "(?:得|要|能)?抽.{0,3}[包根支条]?(?P<o>烟)", "smokes"),
    chinese_rule("cannot take", "(?P<verb>吃|喝)不(?:了|惯|得)(?P<o>.{1,8})", "{verb}", is_list=True,
        negated=True, accept=is_thing),
    chinese_rule("quit eating", "戒(?:了|掉了?)?(?P<o>糖|甜食|肉|碳水|夜宵|零食|辣"
        "|主食).{0,8}", "eats", negated=True,
        ended=True, template="{s}已戒{o}"),
    chinese_rule("takes none",
        "(?P<o>[^我你他她，一]{1,6}?)(?:一[口根点杯支瓶滴丁]点?儿?|[也都])+(?:不|没)(?:再"
        "|敢)?(?P<verb>吃|喝)", "{verb}", is_list=True, negated=True, accept=is_thing),
    chinese_rule("takes only", "(?:咖啡|茶|奶茶|酒|饮料)(?:一般|只|都|基本|从来)*(?P<verb>喝)(?P<o>.{1,6})",
        "{verb}", accept=is_thing),
    chinese_rule("eats",
        "(?:改|只|戒糖后)?(?P<verb>吃|喝)(?P<o>(?!东西|饭|完|过|了|饱|撑|惯|腻|亏|惊|力|苦|醋|得"
        "|到|上"
        "|着|醉|多|点|什么"
        "|不).{1,8})", "{verb}", is_list=True, accept=is_thing),
)  # fmt: skip

_PLATE_PROVINCES = "京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼"
_CHANGED_TO = "(?:换成了?|改成了?|变成了?|换了)"

POSSESSION_RULES: tuple[Rule, ...] = (
    chinese_rule("plate", f"(?:的)?(?:新)?(?:车)?的?(?:车牌|牌照|牌子)(?:号码?)?(?:{_CHANGED_TO}|{IS})"
        f"(?P<o>[{_PLATE_PROVINCES}] ?[A-Z][ ·]?[A-Z0-9]{{5,6}})", "license plate"),
    chinese_rule("own number",
        f"(?:的)?(?P<what>学号|工号|会员号|准考证号|社保号|病历号)(?:{_CHANGED_TO}|{IS})"
        "(?P<o>[A-Za-z0-9-]{3,16})", "{what}"),
    chinese_rule("lifts",
        "(?:的)?(?P<what>卧推|深蹲|硬拉)(?:的?(?:PR|pr|极限|最大重量|重量|最多)|已经|现在|终于|能"
        "|都)*"
        f"(?:推|拉|蹲|做|到|是|了|破|上|冲)*(?P<o>{AMOUNT} ?(?:公斤|千克|kg|KG|斤|磅))", "{what}"),
    chinese_rule("drives one", "(?:现在)?开(?:的是|着|了)?一?[辆台](?:二手|新|旧|白色?|黑色?|红色?"
        "|的)*(?P<o>.{2,10})", "drives",
        accept=is_model),
    chinese_rule("car is", "(?:的|那辆|这辆)?车(?:子)?是一?[辆台]?(?P<o>.{2,10})", "drives", accept=is_model),
    chinese_rule("uses", "(?:的)?(?:平时|现在|一直)?(?:用的(?:手机|电脑|相机)?是|(?:手机|电脑|笔记本|平板"
        "|相机)(?:换成了?|是))"
        "(?P<o>.{2,20})", "uses", accept=is_model),
    chinese_rule("type", "(?:是)?(?:个|典型的?|一个)*(?P<o>[IE][NS][TF][JP])(?:人格|型)?(?:人)?", "is"),
)  # fmt: skip

EVENT_RULES: tuple[Rule, ...] = (
    # changes of work
    chinese_rule("left", "(?:从)(?P<o>.{1,20}?)(?:辞职|离职|跳槽)", "works at", negated=True, ended=True),
    chinese_rule("left from", "(?:离开|辞去)了?(?P<o>.{1,15}(?:公司|集团|银行|医院|学校|大学))(?:的工作)?",
        "works at", negated=True, ended=True),
    chinese_rule("quit", "(?P<o>辞职|离职|辞了工作)", "did", kind="event", template="{s}{o}了"),
    # events and plans
    chinese_rule("graduated", "(?:本科|硕士|博士|研究生|大学|是)*(?:毕业于"
        "|从)(?P<o>.{2,20}?)(?:毕业)?", "graduated from",
        accept=lambda words: words.endswith(("大学", "学院", "学校", "中学", "高中"))),
    chinese_rule("went with", "(?:带着?|陪|和|跟|与).{1,8}?(?:一起)?(?:去了"
        "|去过)(?:一?趟)?(?P<o>(?![吃看玩买听见]).{1,30})",
        "went to", kind="event", accept=is_destination),
    chinese_rule("went", "(?:去了|去过|到了|去)(?P<o>(?![和跟]).{1,30})", "went to", needs_time=True,
        kind="event", accept=is_destination),
    chinese_rule("went anyway", "(?:去了|去过)(?P<o>.{1,30})", "went to", kind="event",
        accept=is_destination),
    chinese_rule("bought", "买了(?:一)?(?:[个只条台辆套部张本双件把])?(?P<o>.{1,20})", "bought",
        accept=lambda words: is_thing(words) and not words.endswith("的")),
    chinese_rule("attended", "参加了?(?P<o>.{1,20})", "attended", needs_time=True),
    chinese_rule("plans", "(?:打算|计划|准备(?=去|在|买|换|搬|考|开始|和|跟|参加))(?P<o>.{2,30})",
        "plans to"),
    chinese_rule("will",
        "(?:要|会|将|将要)(?P<o>(?:去|到|和|跟|参加|搬|做|看|飞|回).{1,30}|(?:考|结婚|出差|手术"
        "|面试).{0,30})",
        "plans to", needs_time=True),
    chinese_rule("appointment",
        "有(?:一)?(?:[个场次节])?(?P<o>.{0,8}(?:面试|考试|会议|手术|预约|约会|体检|比赛|演出|航班"
        "|牙医.{0,4}|复查|讲座))", "has appointment", needs_time=True),
    chinese_rule("did",
        "(?P<o>(?:看了|吃了|见了|做了|开了|办了|拿到了?|跑了|学了|完成了|收到了?|丢了|认识了|开始了?"
        "|和.{1,8}(?:吃饭"
        "|见面|看电影)|跟.{1,8}(?:吃饭|见面|看电影)).{0,30})", "did", needs_time=True, kind="event"),
    # Possession is last because its patterns are the widest.
    chinese_rule("owns bare", "有(?P<o>车|房|房子|孩子|兄弟姐妹|宠物|驾照|男朋友|女朋友|对象|工作)", "has"),
    chinese_rule("owns", f"(?:有|拥有)(?P<o>(?:{NUMBER_PATTERN_ZH}|几)[个只条台辆套部张本间把].{{1,10}})",
        "has", accept=is_thing),
)  # fmt: skip
