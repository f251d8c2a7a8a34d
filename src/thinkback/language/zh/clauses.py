"""Splits Chinese sentences into clauses, strips fillers and negation, and restores the plain word order."""

from __future__ import annotations

import re

from thinkback.language.kinship import KIN_EN, KIN_ZH, PETS_EN, PETS_ZH, alternation_pattern
from thinkback.language.rules import Clause
from thinkback.language.sentences import Sentence
from thinkback.language.zh.lexicon import BARE_NAME, is_bare_name, is_drug, is_treatment

ALLERGY_FINDING_ZH = (
    "(?:医院|医生|大夫|门诊|急诊|化验|检查|体检|皮试|过敏原?(?:测试|检测))(?:的?(?:报告|结果))?(?:都|也)?"
    "(?:说|告诉我|发现|查出来?|显示|确认)(?=我对[^，,]{1,20}过敏)"
)
"""Reported speech that counts as a fact: a doctor or a test found an allergy of the user."""
_LEARNED_THAT = re.compile(
    f"{ALLERGY_FINDING_ZH}|(?:这|今天|昨天|最近|后来|现在|刚刚?)?(?:才|刚|又|终于)(?:知道|发现|得知"
    f"|想起来?|明白)(?=[我俺])"
)
KIN_BY_WORD = KIN_ZH | PETS_ZH | KIN_EN | PETS_EN
_FILLERS = re.compile(
    "(?:你好|您好|嗨|哈喽|嗯|对(?=[，,！!])|是的|好的|哦|噢|啊|哎呀?|唉|嘿|哈+|嘻嘻|呜呜|唔|诶|对了"
    "|顺便说一下|顺便说|顺便提一下|顺带一提|顺嘴一提|请?记住|其实|说实话|讲真|说真的|老实说|坦白说|悄悄说"
    "|偷偷告诉你"
    "|不对|不好意思|更正(?:一下)?|跟你(?:说|讲|唠|聊|汇报|分享)(?:唠|聊|说)?(?:个事儿?|一声|一下|件事儿?"
    "|个秘密)?"
    "|告诉你(?:个事儿?|一声|个好消息|个秘密)?|说个事儿?|(?:一直)?忘了?说|忘(?:了)?告诉你|话说(?:回来)?|那啥"
    "|反正|没想到|终于"
    "|说来奇怪|打错字了|打错了|写错了|说错了|搞错了|记错了|记岔了|看错了|口误|手滑了?|早上好|晚上好|早"
    "|大家好|抱歉"
    "|补充一下|补充|更新一下|纠正一下|我的意思是|我是说|另外|还有|而且|但是|但|不过|然后|所以|因为|虽然|可是"
    "|那(?![边里儿个些])"
    "|好消息|坏消息|比起[^我，,]{1,8}|跟[^我，,]{1,8}比起?来?|只有|就(?=我|俺)|[！!：:，,、 ])+"
)
_AFTER_EVENT = re.compile(
    "一到[^我，,]{1,4}(?=[我俺])|[^我俺，,年月日天周\\d]{2,10}?(?:以后|之后|过后|后)(?=[我俺])"
)
"""Openings like 吃药以后 before 我; they say nothing about the user."""
_LEADING_ADVERBS = re.compile(
    "(?:[前这近][两几些]天|前阵子|前段时间|上回|上次|那天|现在|如今|眼下|目前|这阵子|这段时间|最近|近来"
    "|(?:[早午晚三]?[饭餐]|睡觉?)[前后]"
    "|每个月|每月|每天|天天|每周|每晚|早上|晚上|周末|已经"
    "|早就|一直|平时|平常"
    "|也|还|都|真的|非常|很|特别|超级|超|其实|就(?![职读业诊医任])|刚刚|刚|终于|可|倒是?|个人|本来|自己|又"
    "|仍然|依然|仍|依旧"
    "|一般|通常|经常|常常|常年|长年|常|总是|老是|后来|正在|正|特|比较(?!喜欢)|从小就|从小(?!在)|至今|今年"
    "|反正|偶尔|真"
    "|打小就?|从来都?(?!不|没)|大概|好像|全程|开始(?=[吃喝练健])|端午|中秋|国庆|元旦|春节|过年|五一|清明"
    "|寒假|暑假|圣诞|情人节)+"
)
TIME_ADVERB = re.compile(
    "(?:[前这近][两几些]天|前阵子|前段时间|以前|之前|曾经|现在|如今|眼下|目前|这阵子|最近|近来|已经|早就"
    "|刚刚|刚|终于|今年"
    "|后来|又|每天|天天|一直|每周|正在)"
)
"""Adverbs that mark a clause without a subject as being about the user."""

_OWN_KIN = frozenset(
    ("mother", "father", "sister", "brother", "wife", "husband", "girlfriend", "boyfriend", "son", "daughter",
     "child", "grandmother", "grandfather", "parents", "grandparents")
)  # fmt: skip
"""Kin words that mean the user's own relative if no other owner is named: 妈妈住在北京."""
OWN_KIN_WORDS = {word: name for word, name in KIN_ZH.items() if len(word) > 1 and name in _OWN_KIN} | {
    "娃": "child"
}
_ROLE_KIN = (
    "colleague",
    "classmate",
    "roommate",
    "neighbour",
    "landlord",
    "boss",
    "friend",
    "coach",
    "teacher",
)
_ROLE_WORDS = {
    word: name for word, name in KIN_ZH.items() if name in _ROLE_KIN and word not in ("老师", "教练")
}
_NOT_NAME_CHARS = "把被给让和跟在对从向为了的不没也就今现一已很最要会去是有说总刚才小阿以曾之又那这都还"
_PREDICATE_START = (
    "叫|名|升|换|今年|现在|也|就|一直|住|在|是|有|喜欢|讨厌|不|对|已|生|出|姓|的|最|爱|去|搬|打|昨|会|刚|身"
    "|体|今"
    "|明|上|下|从|患|得"
    "|结|离|怀|嫁|娶|家在|家住|养|做|当|开|属|退|特|又|考|以前|之前|曾|从|可|下|前|说|讲|要|想|\\d"
    "|[一二两三四五六七八九十]|[\u4e00-\u9fff]{1,3}(?:病|症|炎)"
)
_LATIN_NAME = "(?:Prof\\. |Dr\\. |Mr\\. |Ms\\. )?[A-Z][A-Za-z'-]+(?: [A-Z][A-Za-z'-]+)?"
_TITLED_NAME = "[\u4e00-\u9fff](?:大爷|大妈|大姐|大哥|阿姨|叔叔?|姐|哥|总|经理|老师|教授|医生|师傅|工)"
_GIVEN_NAME = f"(?:[小阿老][\u4e00-\u9fff]|{_TITLED_NAME}|[^\\W{_NOT_NAME_CHARS}A-Za-z\\d_]{{2,3}}?)"
_KIN_MODIFIERS = (
    "(?:直属|顶头|楼下|楼上|隔壁|对门|高中|大学|初中|小学|公司|单位|部门|组里|健身|游泳|网球|钢琴|英语|老"
    "|新|好"
    "|大|小|二|亲){0,2}"
)
_FIRST_PERSON = "(?:我们|咱们|俺们|我|俺|咱|本人|阿拉(?![伯斯丁木])|[Mm]y (?=[\u4e00-\u9fff]))"
_PERSON_PREDICATE = (
    "(?:也|现在|如今|今年|最近|刚刚?|已经|就|都|还|以前|之前)*(?:[在去到].{2,14}(?:工作|上班|任职|读书|上学"
    "|长大|实习|生活)"
    "|住在|住(?=[\u4e00-\u9fff]{2})|不?喜欢|讨厌|不?爱[吃喝看玩]|对.{1,8}过敏|不?会[说讲弹拉]|不?是.{0,14}"
    r"|搬[到去]|跳槽|入职|辞职|退休|离职|走了|的?生日|\d+岁|结婚|离婚|怀孕|养了|不吃|姓|嫁给|娶了)"
)
"""Predicates of persons; a bare name before one of them is a person."""
CLAUSE_SUBJECT = re.compile(
    f"(?P<kin>{_FIRST_PERSON}(?:家)?(?:里)?(?:现在|目前"
    f"|现任)?的?{_KIN_MODIFIERS}的?(?P<word>{alternation_pattern(KIN_BY_WORD)})(?!(?<=马)[上路拉桶虎]))"
    f"(?:儿(?=[叫是在今也]))?(?: ?(?P<latin>{_LATIN_NAME}) ?"
    f"|(?P<name>{_GIVEN_NAME})??(?={_PREDICATE_START})|)"
    f"|(?P<role>{_KIN_MODIFIERS}(?P<title>{alternation_pattern(_ROLE_WORDS)}))"
    f" ?(?P<called>{_LATIN_NAME}|{_GIVEN_NAME})(?=叫"
    f"|今年|现在|也|就|住|在|是|有"
    "|喜欢|讨厌|不|对|最|爱|去|昨|会|刚|今天|又|可| )"
    f"|(?P<me>{_FIRST_PERSON}(?:自己|本人|全家|一家人?|一家[三四五]口|俩|两口子)?(?:(?:和|跟"
    f"|与)[^，,的]{{1,6}}?(?=是"
    f"|在|去|住|结婚|离婚|订婚|领证|一起|都"
    f"|要|打算"
    "|计划|养|买|有))?(?:家(?=养|有|里?的?地址))?)"
    f"|(?P<my>[Mm]y (?:(?:best|old|new|childhood|college) )*(?P<en>{alternation_pattern(KIN_EN | PETS_EN)}))"
    f"(?: (?P<enname>{_LATIN_NAME}))? ?(?=[\u4e00-\u9fff])"
    f"|(?P<own>[大小二]?(?P<bare>{alternation_pattern(OWN_KIN_WORDS)}))(?={_PREDICATE_START}|转)"
    f"|(?:现在的|的|现任的?|新来的|新任?的?|如今的)(?P<newly>{alternation_pattern(KIN_ZH)})(?=是|叫|姓)"
    "|(?P<they>他|她|它)(?!们)"
    f"|(?:另一个|另外一个|那个)? ?(?P<who>[小阿][\u4e00-\u9fff](?=今年|现在|也|住在|是|喜欢|讨厌|不喜欢"
    f"|对.{{1,8}}过敏"
    f"|在.{{1,12}}(?:工作|上班))|{_LATIN_NAME}(?= ?是我))"
    f"|(?P<somebody>{BARE_NAME})(?={_PERSON_PREDICATE})"
)
NOT_PERSON_WORDS = frozenset(
    ("小时", "小学", "小心", "小说", "小孩", "小区", "小吃", "小狗", "小猫", "小事", "阿姨", "小米")
)
IS_CALLED = re.compile("(?:的名字|也|就)*(?:叫|名叫|是我)")
NOT_GIVEN_NAME = re.compile(
    "[现今一就也都正刚以曾原之后前爬跑走吃喝看听说打开关坐站躺睡起来回进买卖做干觉知记忘学教帮拿放送给叫找等用写读玩住搬病退死太真好天每身个些]|以前|小名|大名|网名|外号|英文|昵称|沉迷|痴迷|沉|迷|同学|同事|朋友|今天|昨天|天天|每天|结婚|退休|住院|生病|上班|下班|开车|会说|特别|[\u4e00-\u9fff]{1,2}[到得完过着]"
)

_NEGATED_ATTRIBUTE = re.compile(
    "(?P<what>的?(?:职业|工作|生日|专业|名字|血型|老家|家乡|地址|电话|手机号|邮箱|英文名))不(?=是|在)"
)
_NO_LONGER = re.compile("(?:不再|再也不|再也没|已经不|现在不|早就不|早不)")
_FORMERLY = re.compile(
    "(?:退休前|退休以前|以前|之前|曾经|过去|原来|从前|原先|年轻时|小时候)(?:一直|曾|都|也)*"
)
_NEGATION = re.compile(
    "(?:不是(?=对|在|住|叫|喜欢)|并不|并没有|没有|从不|从来不|从来没|从没|一直不|一点都?不|一点儿也不|根本不"
    "|完全不|压根不"
    "|不太|不怎么|不大|不(?!过|管|仅|但|同|少|得不|错))"
)
_HAS_NOT = re.compile("(?:没有|没)(?=[\u4e00-\u9fff\\d])")
_EMPHATIC_IS = re.compile(
    "(?:而)?是(?=对.+过敏|在.+(?:工作|上班|长大|读书|上学|[读念上]的)|住在|叫|从.+(?:毕业|来))"
)
_CHANGED_TO = re.compile("(?:改成|改为|换成|变成|更新为|调成)了?")

OTHER_SUBJECT = re.compile(
    "(?:这|那(?!就)|[他她它]|你|您|大家|别人|人家|有人|《|原来是|里面|其中|(?:男"
    "|女)?主角|[男女]主|主人公|导演|作者|歌手|主演|剧情|故事|影片|电影|门票|票价|景点|开放时间)[^我俺]*\\Z"
)
"""Openings of clauses about somebody or something else; following clauses without a subject continue them."""
USER_ACTION = re.compile("(?:刚|去|做|做了|去医院|又|在)*(?:体检|复查|抽血|面试|相亲|加班|出差|看病)")
"""Actions that refer to the user if nobody is named: 今天体检，体重65公斤."""
KNOWS_ABOUT = re.compile(
    "(?:也|都|还|就|已经|当然|早就?|很|挺|只|肯定|是|自己|特意|专门)*(?:知道|了解|听说|听过"
    "|查[过到了](?!出)|打听|搜|认识"
    "|佩服|崇拜|对[他她它]|在网上|看过(?!医生|大夫|病|中医|急诊)|有一?个问题)"
)
"""Predicates after which the user talks about something else: 我知道，英文名叫..."""


def strip_fillers(text: str) -> str:
    """Remove greetings, hedges and openings such as 才知道 at the start of a clause."""
    match = _FILLERS.match(text)
    rest = text[match.end() :] if match else text
    learned = _LEARNED_THAT.match(rest)
    rest = rest[learned.end() :] if learned else rest
    after = _AFTER_EVENT.match(rest)
    return rest[after.end() :] if after else rest


def strip_adverbs(text: str) -> str:
    """Remove adverbs at the start of a clause."""
    match = _LEADING_ADVERBS.match(text)
    return text[match.end() :] if match else text


def take_negation(text: str) -> tuple[str, bool, bool]:
    """Remove adverbs and negation from a predicate.

    Returns (predicate, negated, ended), where ended means "no longer".
    """
    if match := _NO_LONGER.search(text[:8]):
        return strip_adverbs(text[: match.start()] + text[match.end() :]), True, True
    body = strip_adverbs(text)
    if match := _EMPHATIC_IS.match(body):
        body = body[match.end() :]
    if match := _FORMERLY.match(body):
        return strip_adverbs(body[match.end() :]), True, True
    if match := _NEGATED_ATTRIBUTE.match(body):
        return match["what"] + body[match.end() :], True, False
    if match := _HAS_NOT.match(body):
        return "有" + body[match.end() :], True, False
    if match := _NEGATION.match(body):
        ended = match.group() == "不" and body.endswith("了")  # 不看恐怖片了
        return strip_adverbs(body[match.end() :]), True, ended
    return _CHANGED_TO.sub("是", body, count=1), False, False


_CLAUSE_BORDER = re.compile(
    "[，,；;]|(?<=[\u4e00-\u9fff])[ 　]+(?=[\u4e00-\u9fff])"
    "|(?<=[^口点根杯支瓶滴谁么样儿啥都再一，,])(?=也不[吃喝抽喜爱会是]|也没有)"
    "|(?<=不[抽喝吃][\u4e00-\u9fff])(?=不[抽喝吃])"
)
_CONTINUATION = re.compile(
    "\\s*(?:不是(?!.{1,12}[，,](?:而)?是)|而不是|叫|名叫|名字叫|取名|起名|我?[给管](?:它|他|她)(?:取名"
    "|起名)?叫)"
)


def split_clauses(sentence: Sentence) -> list[Clause]:
    """Split a sentence at commas; a continuation (，叫小白) stays with the clause before it."""
    clauses: list[Clause] = []
    start = 0
    for border in (*_CLAUSE_BORDER.finditer(sentence.text), None):
        if border and _CONTINUATION.match(sentence.text, border.end()):
            continue
        end = border.start() if border else len(sentence.text)
        body = sentence.text[start:end]
        if body.strip():
            first = sentence.start + start + len(body) - len(body.lstrip())
            clauses.append(Clause(body.strip().rstrip("。！!.~～… "), first, first + len(body.strip())))
        start = border.end() if border else end
    return clauses


_NOW_ADVERB = "(?:现在|目前|如今|眼下)"
_VALUE_FIRST = re.compile(
    f"(?P<o>[^我是，,]{{1,14}}?)(?:才|就|已经|{_NOW_ADVERB}|成功|一下子)*(?:是|成了?|变成了?"
    f"|当选)我(?:们家)?(?:{_NOW_ADVERB}|心里|心中"
    "|心目中)*的?(?P<what>最(?:喜欢|爱|喜爱|中意)(?:吃|喝|看|听|玩|读)?的[^，,的了]{1,6})(?:了|啦)?"
)
_NAME_FIRST = re.compile(
    f"(?P<o>{BARE_NAME}|[A-Z][A-Za-z'-]+(?: [A-Z][a-z]+)?) ?(?:才|就|已经|{_NOW_ADVERB})*(?:是|成了"
    f"|当了?|做了?)"
    f"(?:我|俺|咱)(?:们)?(?:部门|组|公司|{_NOW_ADVERB})?的?(?:新|新任|现任|直属|顶头|亲|好|老)?的?"
    f"(?P<kin>{alternation_pattern(KIN_ZH)})(?:了|啦)?"
)
_HEIGHT = re.compile(
    "(?P<who>我|俺|我(?![身个])[\u4e00-\u9fff]{1,2})(?:有|今年"
    "|已经)?(?P<o>[一1]米[\\d一二三四五六七八九]{1,2})(?:高|的个子|多)?(?:了)?"
)
_LEFT_HAND = re.compile("(?:从小|一直|习惯|都)*用左手(?:写字|吃饭|拿筷子|打球|画画)?(?:的)?\\Z")
_SENT_ME = re.compile("(?:公司|单位|领导|老板|学校)(?:又|刚|已经)*把我(?=[调派换])")
_MY_KIN_IS = re.compile(
    f"[Mm]y (?:new |current )?(?P<kin>{alternation_pattern(KIN_EN)})(?: is|'s)(?: now| called"
    f"| named)* ?(?P<o>[\u4e00-\u9fff]{{2,4}})"
)
_MEASURE_NOUNS = "血压|血糖|体重|心率|身高|尿酸|体温"
_MEASURED_VALUE_OF = re.compile(
    f"(?:我|俺)?(?:自己|刚刚?|又)*(?:在[^，,的]{{1,6}}?)?(?:重新)?(?:测量|检查|量|测|称"
    f"|查)(?:出来)?的(?=(?:空腹|餐后)?(?:{_MEASURE_NOUNS}))"
)
_MEASURES_NOW = re.compile(
    f"(?:我|俺)?(?:自己|刚刚?|又|去)*(?:测量|检查|量|测|称|查|上秤|过秤)(?:了|过)?(?:一下|下|一次|次"
    f"|个)?(?P<what>(?:空腹|餐后)?(?:{_MEASURE_NOUNS}))?"
    "(?:了|啦)?(?:(?:是|有|才|只有)?(?P<o>\\d.*))?"
)
_NO_ALLERGY = re.compile(
    "(?P<who>[^没无对，,]{0,8}?)(?:之前|以前|过去|目前|现在|从来|一直|并|也|都)*(?:没有?|无)(?:任何"
    "|什么|已知的?|过)*(?P<kind>药物?|食物|东西)?的?过敏(?:史|的东西)?(?:了|的)?"
)
_NO_SUCH_ALLERGY = re.compile("(?P<to>[^，,]{0,6}?对[^，,]{1,12}?)并?没有?过敏(?:史|反应)?(?:了|的)?")
_NO_MEDICINE = re.compile(
    "(?P<who>[^没不什，,]{0,8}?)(?:没有?在(?:吃|服用?|用)(?:任何|什么)?药物?|[没不](?:吃|服用?"
    "|用)(?:任何|什么)药物?"
    "|什么药都?[没不](?:吃|服用?|用))(?:了|的)?"
)
_REFUSAL = re.compile(
    "(?P<who>[^不拒，,]{0,6}?)(?:不想|不愿意?|不肯|拒绝)(?:再)?(?P<o>(?:做|打|吃|用|接受|服用|装|输"
    "|住).{1,10}?)(?:了|啦)?"
)
_DRUG_STOPPED = re.compile("(?P<o>[^，,停我]{2,10}?)(?:我|已经|早就?|刚|都|就)*停(?:掉|用)?了")
_DOSE_UNITS = "(?:毫克|微克|毫升|单位|片|粒|颗|mg)"
_BARE_NUMBER = re.compile(
    "(?:是|有|居然|竟然|才|只有|变成|到了?|显示|已经|每天|一天|每次|每晚|吃|服用?|用的)*"
    f"(?P<o>\\d.*|[半一二两三四五六七八九十]{_DOSE_UNITS}.*)"
)
_DOSE_CHANGES = re.compile(
    "(?:我的?)?(?P<drug>[^我的，,]{2,8}?)(?:的剂量|剂量|的量)?(?:又|刚|已经|最近)*(?:加量|减量|改量|加大"
    "|减少|加|减|调整?"
    "|改)(?:了|啦)"
)
_SEND_TO = re.compile(
    "(?:(?:以后|今后|往后|从今天起|下次|之后|邮件|快递|东西|有事|消息|信|请|麻烦|你|都|就|直接|统一|的)*)"
    "(?:发|寄|打|联系|写|改)(?:到|给|至|往|这个|我的?|新的?)*(?:邮箱|电话|手机号?|号码|地址)?(?:是|：|:)? ?"
    "(?P<o>(?P<email>[\\w.+-]+@[\\w.-]+\\.[A-Za-z]+)|(?P<phone>\\+?\\d[\\d -]{5,18}\\d)"
    "|(?P<address>[\u4e00-\u9fff]{2,12}[路街道巷弄]\\d.{0,16}))(?:吧|哦|就行|就好|这个(?:邮箱|号码?|地址))*"
)
CHANGED_ATTRIBUTE = re.compile(
    "(?:我的?)?(?:旧的?|原来的?|以前的?|老)(?P<old>手机号码?|电话|号码?|邮箱|地址)(?:已经|都)*(?:停用|不用"
    "|作废|注销|停)(?:了|啦)|"
    "(?:我的?|俺的?)?(?P<topic>电话|手机号码?|号码|邮箱|地址|房租|工资|月薪|名字|英文名|专业|体重|血压"
    "|座位号?|房间号?"
    "|航班号?|车牌)(?:号码?)?(?:又|刚|已经|最近)*(?:换|改|变|涨|降|调整|更新)(?:了|啦|过)"
    "|(?:我们?|俺)?(?:最近|刚刚?|又|已经)*[换改](?:了|过)?(?:个|新的?)*(?P<thing>手机号码?|电话|号码?|邮箱"
    "|地址|座位号?"
    "|房间号?|航班|车牌)(?:号码?)?(?:了|啦)?\\Z"
)
_ALLERGY_KINDS = {"药": "药物", "药物": "药物", "食物": "食物"}
_ATTRIBUTE_NAMES = {"号": "电话", "号码": "电话", "座位": "座位号", "房间": "房间号", "航班": "航班号"}


def find_changed_attribute(text: str) -> str:
    """The attribute that has a new value according to the clause: 我的邮箱换了, 换号了."""
    match = CHANGED_ATTRIBUTE.match(text)
    if not match:
        dose = _DOSE_CHANGES.fullmatch(text)
        return f"{dose['drug']}剂量" if dose and is_drug(dose["drug"]) else ""
    word: str = match["topic"] or match["thing"] or match["old"]
    return _ATTRIBUTE_NAMES.get(word, word)


def restore_word_order(text: str) -> str:
    """Rewrite a clause with the subject first and the value last.

    陈奕迅才是我最喜欢的歌手 becomes 我最喜欢的歌手是陈奕迅.
    """
    text = _restore_health_order(text)
    if value_first := _VALUE_FIRST.fullmatch(text):
        return f"我{value_first['what']}是{value_first['o']}"
    if height := _HEIGHT.fullmatch(text):
        return f"{height['who']}身高{height['o']}"
    if left_hand := _LEFT_HAND.search(text):
        return f"{text[: left_hand.start()]}是左撇子"
    if lead := _MEASURED_VALUE_OF.match(text) or _SENT_ME.match(text):
        return f"我{text[lead.end() :]}"
    if (measured := _MEASURES_NOW.fullmatch(text)) and measured["what"] and measured["o"]:
        return f"我{measured['what']}是{measured['o']}"
    return text


def _restore_health_order(text: str) -> str:
    """Rewrite 没有药物过敏, 没在吃药, 不想做手术 and 布洛芬停了 with a verb that the rules know."""
    if absent := _NO_ALLERGY.fullmatch(text):
        return f"{absent['who']}对任何{_ALLERGY_KINDS.get(absent['kind'] or '', '东西')}不过敏"
    if absent := _NO_SUCH_ALLERGY.fullmatch(text):
        return f"{absent['to']}不过敏"
    if absent := _NO_MEDICINE.fullmatch(text):
        return f"{absent['who']}不服用任何药物"
    if (refusal := _REFUSAL.fullmatch(text)) and is_treatment(refusal["o"]):
        return f"{refusal['who']}拒绝{refusal['o']}"
    if (stopped := _DRUG_STOPPED.fullmatch(text)) and is_drug(stopped["o"]):
        return f"停了{stopped['o']}"
    return text


def split_name_first(text: str) -> tuple[str, str]:
    """Split 吴磊现在是我的主管 into (kin word, name); empty strings if the clause has another form."""
    if mixed := _MY_KIN_IS.fullmatch(text):
        return mixed["kin"].lower(), mixed["o"]
    match = _NAME_FIRST.fullmatch(text)
    if match and (match["o"].isascii() or is_bare_name(match["o"])):
        return match["kin"], match["o"]
    return "", ""


def find_measured_attribute(text: str) -> str:
    """The attribute that was measured if its value follows in the next clause: 称了一下，60公斤."""
    match = _MEASURES_NOW.fullmatch(text)
    if not match or match["o"]:
        return ""
    return match["what"] or ("体重" if "称" in text or "秤" in text else "")


def find_bare_number(text: str) -> str:
    """The number in a clause that does not say what it measures."""
    match = _BARE_NUMBER.fullmatch(text)
    return match["o"] if match else ""


def read_contact_request(text: str) -> str:
    """Rewrite a request such as 以后请发到a@b.example as a statement about the user's contact details."""
    match = _SEND_TO.fullmatch(text)
    if not match:
        return ""
    kind = "邮箱" if match["email"] else "电话" if match["phone"] else "地址"
    return f"我{kind}是{match['o']}"
