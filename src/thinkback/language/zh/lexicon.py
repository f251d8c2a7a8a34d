"""Chinese word lists, checks of names and values, and pattern fragments that the rules share."""

from __future__ import annotations

import re

from thinkback.language.en.lexicon import is_job as is_english_job
from thinkback.language.en.lexicon import word_set
from thinkback.language.kinship import KIN_ZH, PETS_ZH, alternation_pattern
from thinkback.language.names import SURNAMES
from thinkback.language.tokens import NUMBER_PATTERN_ZH

KIN_WORD = f"(?:{alternation_pattern(KIN_ZH | PETS_ZH)})"
COUNTED_UNIT = f"(?:{NUMBER_PATTERN_ZH}|几)?[个只条位名匹头尾对台辆套部张间把]"
COUNTED_KIN = f"{COUNTED_UNIT}(?:亲|大|小)?{KIN_WORD}"
PROVINCES = (
    "北京|天津|上海|重庆|河北|山西|辽宁|吉林|黑龙江|江苏|浙江|安徽|福建|江西|山东|河南|湖北|湖南|广东|海南"
    "|四川|贵州|云南"
    "|陕西|甘肃|青海|台湾|内蒙古?|广西|西藏|宁夏|新疆|香港|澳门|东北|广州|深圳|成都|杭州|南京|武汉|西安"
    "|苏州|长沙|郑州|青岛"
    "|大连|沈阳|哈尔滨|厦门|福州|昆明|济南|合肥|宁波|无锡|温州|石家庄|太原|南昌|贵阳|南宁|兰州"
)
IS = "(?:是|为|：|:)?"
AMOUNT = "(?:\\d[\\d.]*|[一二两三四五六七八九十百零]{1,6})"

_GIVEN_NAME_CHAR = (
    "[^\\W\\da-zA-Z_我你他她它的了是在有不没也都就这那们和跟与会要去来说吧吗呢啊天年月日人个最很还"
    "把被让对给又才]"
)
BARE_NAME = (
    f"(?:[{SURNAMES}]{_GIVEN_NAME_CHAR}{{1,2}}|[小老阿]{_GIVEN_NAME_CHAR}"
    f"|(?P<twice>{_GIVEN_NAME_CHAR})(?P=twice))"
)
"""Surname and given name (王芳), 小雅, or a doubled name (佳佳); `is_bare_name` rejects words like 周末."""

_COMMON_WORDS = word_set(
    """
    马大 周一 周二 周三 周四 周五 周六 周末 周日 周围 周岁 周边 周期 许多 许久 于是 曾经 曾几 何时 何况 何必
    何处 韩国 韩语 韩剧 韩文 韩餐 唐朝 宋朝 唐诗 宋词 郑州 苏州 唐山 夏天 夏季 夏令 程序 程度 林业 林地 叶子
    叶酸 余下 余额 范围 顾客 孙子 孙女 胡同 胡子 胡椒 谢谢 钟头 钟表 熊猫 陆续 陆地 王者 王子 王府 李子 杜绝
    罗马 杨梅 杨树 刘海 田园 田里 孔雀 秦朝 丁香 汪汪 苏打 苏联 吴语 张口 黄色 黄金 黄瓜 黄牛 黄山 黄河 高中
    高考 高铁 高管 高层 高手 高级 高血 高兴 高数 高速 马上 马路 马虎 马拉 马桶 金融 金牛 金属 金鱼 江苏 江西
    江湖 江南 江边 钱包 严重 严格 牛奶 牛肉 牛仔 温州 温泉 温度 章鱼 鲁迅 毕业 毕竟 焦虑 向来 欧洲 齐全 尚未
    施工 季节 老师 老板 老公 老婆 老家 老人 老年 老妈 老爸 老爹 老娘 老伴 老头 老乡 老友 老外 老大 老二 老三
    老鼠 老虎 老是 老实 老早 老汉 老歌 小孩 小学 小时 小心 小说 小区 小吃 小狗 小猫 小事 小米 小众 小伙 小姨
    小舅 小姑 小叔 小名 小型 小组 小妹 小弟 小哥 小姐 小朋 小鸟 小鱼 小兔 小提 小雨 小雪 小麦 小酒 小菜 小店
    小镇 小县 小城 小公 小女 小儿 小宝 小娃 小孙 小外 小侄 小龙 小腿 小费 小票 小班 小升 阿姨 阿拉 阿胶 妈妈
    爸爸 爷爷 奶奶 哥哥 姐姐 弟弟 妹妹 叔叔 舅舅 姑姑 婶婶 伯伯 宝宝 猫猫 狗狗 太太 公公 婆婆 姥姥 常常 刚刚
    天天 人人 偷偷 渐渐 慢慢 处处 多多 好好 早早 轻轻 默默 悄悄 往往 仅仅 明明 偏偏 恰恰 哈哈 嘻嘻 呵呵 嘿嘿
    嗯嗯 呜呜 啊啊 看看 听听 试试 想想 说说 聊聊 谈谈 玩玩 走走 星星 饱饱 饺饺 娃娃 蛋蛋 家家 事事 样样 年年
    月月 日日 夜夜
    """
)
"""Common words that look like a bare name."""
_NOT_NAME_SUFFIX = re.compile(
    "[座师员工手族病型岁迷店馆院厂县市省区镇村路街州山河湖语文话病症炎鱼肉菜茶酒饭面色]\\Z"
)
_BARE_NAME_RE = re.compile(BARE_NAME)
_DOUBLE_SURNAMES = "欧阳|司马|上官|诸葛|慕容|夏侯|司徒|端木|皇甫|尉迟|令狐|东方|南宫|公孙"
FULL_NAME = (
    f"(?:(?:{_DOUBLE_SURNAMES}|[{SURNAMES}方石任龙白文武康史毛万雷段殷裴阮游童翁巫申关安包左樊骆祁])"
    "[^\\W\\da-zA-Z_的是了我你他她它们]{1,2}|[\u4e00-\u9fff]{1,5}·[\u4e00-\u9fff]{1,6})"
)
"""A name in a position where only a person fits (before 的职业 or 的妻子); it may contain more characters."""
_FULL_NAME_RE = re.compile(FULL_NAME)


def is_bare_name(words: str) -> bool:
    """Whether two or three characters are a person's name and no common word."""
    if (
        not _BARE_NAME_RE.fullmatch(words)
        or words[:2] in _COMMON_WORDS
        or words[:1] == words[1:2] == words[2:3]
    ):
        return False
    return not (len(words) == 3 and _NOT_NAME_SUFFIX.search(words))


def is_full_name(words: str) -> bool:
    """Whether the characters are a name, given that they stand where a person must."""
    return bool(_FULL_NAME_RE.fullmatch(words)) and words[:2] not in _COMMON_WORDS


_JOB = re.compile(
    "(?:医生|大夫|老师|教师|律师|程序员|工程师|设计师|会计师?|厨师|司机|护士|学生|大学生|研究生"
    "|博士生|高中生|作家"
    "|演员|导演|歌手|记者|编辑|警察|军人|农民|工人|经理|老板|教授|科学家|画家|音乐家|翻译|导游"
    "|销售|销售员|服务员"
    "|公务员|药剂师|摄影师|理发师|飞行员|消防员|研究员|分析师|架构师|建筑师|心理咨询师|牙医|兽医"
    "|产品经理|实习生"
    "|运动员|教练|创业者|自由职业者|主播|博主|店员|保安|快递员|外卖员|家庭主妇|全职妈妈|CEO|HR"
    "|诗人|舞蹈家|厨子|测试|运营|会计|裁缝|木匠|电工|技师|调酒师|咖啡师|瑜伽老师|健身教练|法官|检察官|船长"
    "|空姐|空乘|幼师|运维|保姆|月嫂|骑手|村医|校长|店长|院长|主任|总监|总经理|技术员|质检员|仓管|库管|叉车工"
    "|焊工|瓦工|司仪|牙科医生"
    "|收银员|保洁|女工|军人|宿管|护工|学徒|售货员|话务员|列车员|巡警|交警|民警|法医|药师|技工|钳工|车工"
    "|油漆工"
    "|乘务员|护理员|营养师|化妆师|造型师|插画师|策划|顾问|助理|秘书|前台|出纳|审计|精算师|程序猿|码农)\\Z"
)
_LANGUAGE = re.compile(
    "(?:英|法|德|日|韩|俄|泰|粤|国|藏|汉|华|外|手|西班牙|葡萄牙|意大利|阿拉伯|越南|印尼|马来|希腊|土耳其"
    "|荷兰|瑞典|波兰|拉丁|蒙古"
    "|维吾尔|希伯来|印地|波斯|捷克|芬兰|丹麦|挪威|匈牙利|乌克兰|缅甸|柬埔寨|世界)(?:语|文)|中文|普通话|方言"
    "|(?:闽南|客家|四川|上海|东北|广东|广州|潮汕|潮州|温州|湖南|长沙|湖北|武汉|南京|北京|天津|河南|陕西|西安"
    "|山东|山西|重庆|福州"
    "|杭州|苏州|宁波|无锡|云南|贵州|安徽|江西|广西|白|家乡|台湾|本地|老家)话|[A-Z][a-z]{3,}"
)
_NOT_CONDITION = re.compile("^[有得患们都没还就是]|过(?!敏)|[的我你他她了]|毛病|[有生看治犯]病\\Z")
_DRUG = re.compile(
    "(?:[\u4e00-\u9fff]{1,6}(?:地平|他汀|沙坦|洛尔|普利|霉素|西林|洛芬|匹林|双胍|嘌醇|拉唑|咪唑|他啶|格列."
    "|曲林|司特钠?|鲁肽|替丁|唑仑|西泮|西汀|沙星|洛韦|列净"
    "|米松|他定|酚|沙班|格雷|溴铵|蝶呤|氯喹|环素|奈德|状腺素)|胰岛素|头孢[\u4e00-\u9fff]{0,4}|铁剂"
    "|胰岛素|维生素 ?[A-EK]?\\d*"
    "|[A-Za-z]{2,12}(?:formin|pril|sartan|statin|olol|dipine|prazole|cillin|mycin|oxetine|traline|azepam"
    "|profen"
    "|thyroxine|farin|rizine|tadine|lukast|buterol|pentin|glutide|tonin|parin|ziatide)"
    "|(?i:aspirin|insulin|tylenol|advil|zyrtec|claritin|ozempic|lexapro|zoloft|prozac|xanax|ritalin"
    "|adderall|accutane"
    "|vitamin ?[a-ek]?\\d*|omega-?3|probiotics)"
    "|维[A-EK]|钙片|鱼油|叶酸|益生菌|[\u4e00-\u9fff]{1,6}(?:药|胶囊|颗粒|冲剂|口服液|丸))"
)
_TREATMENT = re.compile(
    "(?:手术|化疗|放疗|透析|打针|胰岛素|输血|输液|激素|抗生素|住院|疫苗|支架|起搏器|胃镜|肠镜|穿刺"
    "|治疗|[吃服用]药)\\Z"
)
_WEIGHT_DOSE_UNITS = ("毫克", "微克", "mg", "MG")
_NOT_DRUG = re.compile("剂量|结果|大约|一共|每|血|糖|酸|蛋白|含量|[我你他她是有了]")
_TRAILING_DOSE = re.compile(
    "(?:现在|目前)?(?:每天|一天|每次|每日|每晚)*(?:吃|服用?|用)?[\\d.半一二两三四五六七八九十]+[^\\d]{1,2}\\Z"
)
_INDUSTRY = re.compile(
    "(?:外贸|内贸|金融|教育|互联网|电商|房地产|地产|保险|餐饮|物流|建筑|装修|设计|广告|传媒|自媒体|直播|游戏"
    "|芯片|半导体|医疗"
    "|医药|法律|咨询|审计|财务|人事|行政|采购|供应链|销售|市场|运营|研发|测试|前端|后端|算法|数据分析|新能源"
    "|农业|养殖|旅游|IT|HR)"
    "(?:行业|方面|生意|这块|工作)?|[\u4e00-\u9fff]{2,6}(?:行业|生意)"
)
_COMPANY = re.compile(
    "(?:公司|集团|银行|医院|学校|大学|中学|小学|幼儿园|物流|仓储|厂|局|院|所|店|馆|中心|科技|银行|超市|酒店"
    "|事务所)\\Z"
)
_TRIP_PURPOSE = re.compile(
    "(?<=..)(?:看|玩|吃|逛|旅游|旅行|出差|参加|爬|拍|见|买|办|做|领|跳|听|度假|泡|开会|过年|住|散步|跑步"
    "|滑雪|钓鱼).*\\Z"
)
COMMON_SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎"
    "余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文"
)
_MAJOR = re.compile(
    "计算机|软件|金融|法律|法学|会计|医学|临床|护理|土木|机械|电子|自动化|数学|物理|化学|生物|新闻|历史|哲学"
    "|心理学?|经济|管理|建筑|艺术|设计|师范|中文|[\u4e00-\u9fff]{2,4}(?:学|工程|科学)"
)
_NOT_PERSON = re.compile(
    "[座人师员生工手长家商兵族属病的了型岁迷子哈痴]\\Z"
    "|^[高白万马金文方石常易毛江龙任武雷钱段].[\u4e00-\u9fff]"
    "|^(?:小学|小区|老师|老板|老人|老年|阿姨|小米|高中|高级|金融|文科|方便|万一|白天|马上)"
)
_NOT_DESTINATION = re.compile(
    "\\A(?:了|过|[十几好多]+个|一?[次遍回趟](?!.)|[好几很]几?|[两三四五六七八九十]+[次遍回])|[次遍回]了?\\Z"
)
SCHOOL = "(?:小学|中学|大学|学院|学校|高中|初中|幼儿园|附中|附小|(?<=.)[一二三四五六七八九十实外][中小])"
_SCHOOL = re.compile(f"{SCHOOL}\\Z")
_TRIP_COUNT = re.compile("\\A(?:了)?(?:一)?趟")
_SKILL = re.compile(
    "(?:古筝|钢琴|吉他|电吉他|贝斯|尤克里里|小提琴|大提琴|琵琶|二胡|笛子|长笛|葫芦丝|萨克斯|架子鼓|手风琴"
    "|口琴|古琴"
    "|声乐|唱歌|画画|国画|油画|素描|书法|舞蹈|跳舞|街舞|芭蕾|拉丁舞|民族舞|游泳|编程|围棋|象棋|跆拳道|武术"
    "|太极拳?"
    "|篮球|足球|网球|羽毛球|乒乓球|滑冰|轮滑|滑雪|机器人|奥数|口才|主持|瑜伽|普拉提|烘焙|摄影|法语|英语"
    "|日语|韩语|德语"
    "|西班牙语|粤语)"
)
_NOT_ALLERGEN = re.compile(
    "皮肤|鼻子|鼻腔|眼睛|嗓子|脸|严重|有点|季节|换季|容易|经常|有些|又|还|会|很|不|没|什么|老|都|总|一"
    "|药物?\\Z|重度|轻微"
    "|突然|开始|对|发现|显示|吃|东西"
)
_CONDITION = re.compile(
    "(?:病|症|炎|癌|痛风|荨麻疹|湿疹|甲亢|甲减|结节|骨质疏松|脂肪肝|结石|白内障|青光眼|色盲|色弱"
    "|偏头痛|痔疮"
    "|间盘突出|不耐受?|多囊|早搏|散光"
    "|高血压|低血压|高血脂|哮喘|糖尿病|抑郁|焦虑症?|失眠|近视|贫血)\\Z"
)
_NOT_NAME = re.compile(
    "什么|啥|不|没|我|你|他|她|它|这|那|以前|之前|[的了吗呢吧，,。]|医生|老师|学生|外卖|车|人\\Z|醒|喊"
    "|起来|停"
)
_NOT_PLACE = re.compile(
    "没|^[\\d一二三四五六七八九十]+楼|^(?:一|两|这|那|哪|我|你|他|她|一个|什么|不|装修|打扫|开会|等)"
    "|(?:里面|楼|宿舍|附近|一起|出租屋|房子"
    "|新家|公寓)\\Z|^老家|^家里|的话"
    "|的人|很多"
)
_NOT_THING = re.compile(
    "(?:问题|想法|主意|疑问|请求|建议|事|事情|消息|感觉|办法|烦恼|困扰|疑惑|梦想|目标|机会|计划|时"
    "|时候)\\Z|我|^(?:你|您|他|她|它|这|那|什么|谁|哪|的|了|我)|(?:什么|吗|呢)\\Z"
    "|^.\\Z(?<![\u4e00-\u9fff])|^是|问题"
)
_NOT_WORKPLACE = re.compile(
    "[找忙换]|考虑|准备|努力|^(?:家|这|那|哪|一起|外面|外地|努力|认真|哪里|外)\\Z|^(?:什么|这|那|我们|咱们"
    "|他们)|[一这那]位|[很最有]|著名|优秀"
)
_TRAILING_WORDS = re.compile(
    "(?:了|啦|呢|哦|呀|啊|哈|哈哈|已经|的时候|的人|很久|多年|大?半年多?|好?几个?[月年]"
    "|[\\d两三四五六七八九]个多?月|\\d+年|[一二两三四五六七八九十]+(?:多)?年)+\\Z"
)
_TRAILING_CLAUSE = re.compile(
    "[，,](?:而)?不是.*\\Z|[（(].*\\Z|(?:因为|但是|但|所以|不过|虽然|而且|然后).*\\Z"
)
_LIST_SEPARATOR = re.compile("、|和|跟|与|以及|还有|，|,|\\s+and\\s+")
_EDGE_CHARS = " \t。！!，,；;：:.…~～"
_WHOLE_QUOTE = re.compile("[“\"「《']([^“”《》]+)[”\"」》']")


def is_name(words: str) -> bool:
    """Whether the words can be a name, after 叫 or 名字是."""
    return (
        1 <= len(words) <= 12
        and not _NOT_NAME.search(words)
        and (len(words) <= 4 or not words[0] > "\u4e00" or "·" in words)
    )


def is_job(words: str) -> bool:
    """Whether the words name an occupation, in Chinese or English."""
    if words.isascii():
        return bool(words) and is_english_job(words)
    return len(words) <= 10 and "的" not in words and bool(_JOB.search(words))


def is_language(words: str) -> bool:
    """Whether the words name a language or dialect."""
    return bool(_LANGUAGE.fullmatch(words))


def is_drug(words: str) -> bool:
    """Whether the words start with the name of a medicine or supplement."""
    return bool(_DRUG.match(words)) and words not in ("吃药", "服药", "用药", "中药", "西药")


def is_treatment(words: str) -> bool:
    """Whether the words name a treatment that a patient may refuse, with its verb: 做手术, 打胰岛素."""
    return bool(_TREATMENT.search(words)) or is_drug(words[1:])


def is_dose(drug: str, amount: str) -> bool:
    """Whether `drug` is a medicine: known by name, or dosed in milligrams."""
    return is_drug(drug) or (amount.endswith(_WEIGHT_DOSE_UNITS) and not _NOT_DRUG.search(drug))


def has_drug_dose(words: str) -> bool:
    """Whether the words are a medicine with its dose: 氨氯地平两片."""
    return is_drug(_TRAILING_DOSE.sub("", words))


def is_industry(words: str) -> bool:
    """Whether the words name an industry or a line of business."""
    return bool(_INDUSTRY.fullmatch(words)) and not is_job(words)


def is_model(words: str) -> bool:
    """Whether the words name a make or model (朗逸, MacBook Air), not a number or a judgement."""
    return is_thing(words) and not re.search("[我你他她很太好坏贵了的]|\\A[\\d -]+\\Z|借|租|修|公司", words)


def is_skill(words: str) -> bool:
    """Whether the words name something one learns or practises."""
    return bool(_SKILL.fullmatch(words))


def is_instrument(words: str) -> bool:
    """Whether the words name a musical instrument."""
    return bool(re.search("琴|[筝笛箫鼓]|吉他|贝斯|尤克里里|琵琶|二胡|葫芦丝|萨克斯", words)) and is_skill(
        words
    )


def is_allergen(words: str) -> bool:
    """Whether the words name something one can be allergic to, not a body part or a degree."""
    return is_thing(words) and not _NOT_ALLERGEN.search(words)


def is_major(words: str) -> bool:
    """Whether the words name a field of study."""
    return bool(_MAJOR.fullmatch(words))


def is_person_name(words: str) -> bool:
    """Whether the words name a person, not a group or an occupation."""
    return words.isascii() or (is_bare_name(words) and not _NOT_PERSON.search(words))


def is_company_or_name(words: str) -> bool:
    """Whether the words name a place of work, unlike a region such as 外地 or 北京."""
    return is_company(words) or (
        is_workplace(words) and len(words) <= 6 and not re.fullmatch(PROVINCES, words)
    )


def is_company(words: str) -> bool:
    """Whether the words end like the name of a company or institution."""
    return 2 < len(words) <= 16 and bool(_COMPANY.search(words)) and is_workplace(words)


def strip_trip_purpose(words: str) -> str:
    """Remove the purpose of a trip: 洛阳看龙门石窟 -> 洛阳."""
    return _TRIP_PURPOSE.sub("", _TRIP_COUNT.sub("", words)).strip(_EDGE_CHARS) or words


def is_destination(words: str) -> bool:
    """Whether the words name a destination; 去过了 and 去过两次 do not."""
    return len(words.strip("了啦过")) > 1 and not _NOT_DESTINATION.search(words)


def is_condition(words: str) -> bool:
    """Whether the words name an illness or a lasting medical condition."""
    return 1 < len(words) <= 8 and bool(_CONDITION.search(words)) and not _NOT_CONDITION.search(words)


def is_place(words: str) -> bool:
    """Whether the words name a place of residence."""
    return 1 < len(words) <= 14 and not _NOT_PLACE.search(words)


def is_workplace(words: str) -> bool:
    """Whether the words can be a place of work."""
    return len(words) > 1 and not _NOT_WORKPLACE.search(words)


def is_thing(words: str) -> bool:
    """Whether the words name a thing, not a question, a pronoun or an abstract matter."""
    return 0 < len(words) <= 16 and not _NOT_THING.search(words)


def is_favourite(words: str) -> bool:
    """Whether the words name one thing, not a description: 我喜欢的歌手是上海人 names no singer."""
    return is_thing(words) and not re.search("\\A一?[个位名种]|人\\Z", words)


def is_fear(words: str) -> bool:
    """Whether the words name something one can be afraid of."""
    return is_thing(words) and len(words) <= 6 and not re.search("[我你他她它了不没]|麻烦", words)


def is_school(words: str) -> bool:
    """Whether the name ends like that of a school."""
    return bool(_SCHOOL.search(words))


def trim_value(words: str) -> str:
    """Remove what follows a value: 不是..., 因为..., 了."""
    text = _TRAILING_CLAUSE.sub("", words).strip(_EDGE_CHARS)
    text = _TRAILING_WORDS.sub("", text).strip(_EDGE_CHARS) or text
    return quoted[1] if (quoted := _WHOLE_QUOTE.fullmatch(text)) else text


_SHARED_VERB = re.compile("(?:吃|喝|看|听|玩|打|踢|读|学|弹|养|做|去)(?=.)")


def split_list(words: str) -> tuple[str, ...]:
    """Split a list: 茶、咖啡和爵士乐 gives three values; in 喝茶和咖啡 both get the verb."""
    parts = [part.strip(_EDGE_CHARS) for part in _LIST_SEPARATOR.split(words)]
    parts = [part for part in parts if part]
    if len(parts) > 1 and (verb := _SHARED_VERB.match(parts[0])):
        return (parts[0], *(p if _has_verb(p) else verb.group() + p for p in parts[1:]))
    return tuple(parts)


_STARTS_WITH_VERB = re.compile("[吃喝看听玩打踢读学弹养做去跑爬游唱画写跳滑骑钓旅运睡散购摄]|\\Z")


def _has_verb(part: str) -> bool:
    """Whether a list item starts with a verb of its own."""
    return bool(_STARTS_WITH_VERB.match(part))
