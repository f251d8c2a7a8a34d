"""How a Chinese clause opens: fillers, adverbs, whom it speaks of, and whether it denies."""

from __future__ import annotations

import re

from thinkback.text.people.kin import KIN_EN, KIN_ZH, PETS_EN, PETS_ZH, longest_first
from thinkback.think.rules.chinese_names import BARE_NAME

FOUND_ZH = (
    "(?:医院|医生|大夫|门诊|急诊|化验|检查|体检|皮试|过敏原?(?:测试|检测))(?:的?(?:报告|结果))?(?:都|也)?"
    "(?:说|告诉我|发现|查出来?|显示|确认)(?=我对[^，,]{1,20}过敏)"
)
"""Whose word on an allergy is no hearsay."""
_LEARNT = re.compile(
    f"{FOUND_ZH}|(?:这|今天|昨天|最近|后来|现在|刚刚?)?(?:才|刚|又|终于)(?:知道|发现|得知|想起来?|明白)(?=[我俺])"
)
KIN = KIN_ZH | PETS_ZH | KIN_EN | PETS_EN
_LEAD = re.compile(
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
_AFTER = re.compile(
    "一到[^我，,]{1,4}(?=[我俺])|[^我俺，,年月日天周\\d]{2,10}?(?:以后|之后|过后|后)(?=[我俺])"
)
"""吃药以后我的血压...: what came before tells nothing of it."""
_ADVERB = re.compile(
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
TIMELY = re.compile(
    "(?:[前这近][两几些]天|前阵子|前段时间|以前|之前|曾经|现在|如今|眼下|目前|这阵子|最近|近来|已经|早就"
    "|刚刚|刚|终于|今年"
    "|后来|又|每天|天天|一直|每周|正在)"
)
"""An adverb that ties a clause without any subject to the speaker's life."""

_OWN_NAMES = frozenset(
    ("mother", "father", "sister", "brother", "wife", "husband", "girlfriend", "boyfriend", "son", "daughter",
     "child", "grandmother", "grandfather", "parents", "grandparents")
)  # fmt: skip
"""Of these the speaker's own is meant where no other owner is named: 妈妈住在北京."""
OWN = {word: name for word, name in KIN_ZH.items() if len(word) > 1 and name in _OWN_NAMES} | {"娃": "child"}
_ROLES = ("colleague", "classmate", "roommate", "neighbour", "landlord", "boss", "friend", "coach", "teacher")
_ROLE_WORDS = {word: name for word, name in KIN_ZH.items() if name in _ROLES and word not in ("老师", "教练")}
_NO_NAME = "把被给让和跟在对从向为了的不没也就今现一已很最要会去是有说总刚才小阿以曾之又那这都还"
_SAID_NEXT = (
    "叫|名|升|换|今年|现在|也|就|一直|住|在|是|有|喜欢|讨厌|不|对|已|生|出|姓|的|最|爱|去|搬|打|昨|会|刚|身"
    "|体|今"
    "|明|上|下|从|患|得"
    "|结|离|怀|嫁|娶|家在|家住|养|做|当|开|属|退|特|又|考|以前|之前|曾|从|可|下|前|说|讲|要|想|\\d"
    "|[一二两三四五六七八九十]|[\u4e00-\u9fff]{1,3}(?:病|症|炎)"
)
_LATIN_NAME = "(?:Prof\\. |Dr\\. |Mr\\. |Ms\\. )?[A-Z][A-Za-z'-]+(?: [A-Z][A-Za-z'-]+)?"
_TITLED = "[\u4e00-\u9fff](?:大爷|大妈|大姐|大哥|阿姨|叔叔?|姐|哥|总|经理|老师|教授|医生|师傅|工)"
_GIVEN = f"(?:[小阿老][\u4e00-\u9fff]|{_TITLED}|[^\\W{_NO_NAME}A-Za-z\\d_]{{2,3}}?)"
_WHERE = (
    "(?:直属|顶头|楼下|楼上|隔壁|对门|高中|大学|初中|小学|公司|单位|部门|组里|健身|游泳|网球|钢琴|英语|老"
    "|新|好"
    "|大|小|二|亲){0,2}"
)
_ME = "(?:我们|咱们|俺们|我|俺|咱|本人|阿拉(?![伯斯丁木])|[Mm]y (?=[\u4e00-\u9fff]))"
_TOLD = (
    "(?:也|现在|如今|今年|最近|刚刚?|已经|就|都|还|以前|之前)*(?:[在去到].{2,14}(?:工作|上班|任职|读书|上学"
    "|长大|实习|生活)"
    "|住在|住(?=[\u4e00-\u9fff]{2})|不?喜欢|讨厌|不?爱[吃喝看玩]|对.{1,8}过敏|不?会[说讲弹拉]|不?是.{0,14}"
    r"|搬[到去]|跳槽|入职|辞职|退休|离职|走了|的?生日|\d+岁|结婚|离婚|怀孕|养了|不吃|姓|嫁给|娶了)"
)
"""What tells of a person, so that a bare name before it is one."""
SUBJECT = re.compile(
    f"(?P<kin>{_ME}(?:家)?(?:里)?(?:现在|目前"
    f"|现任)?的?{_WHERE}的?(?P<word>{longest_first(KIN)})(?!(?<=马)[上路拉桶虎]))"
    f"(?:儿(?=[叫是在今也]))?(?: ?(?P<latin>{_LATIN_NAME}) ?|(?P<name>{_GIVEN})??(?={_SAID_NEXT})|)"
    f"|(?P<role>{_WHERE}(?P<title>{longest_first(_ROLE_WORDS)})) ?(?P<called>{_LATIN_NAME}|{_GIVEN})(?=叫"
    f"|今年|现在|也|就|住|在|是|有"
    "|喜欢|讨厌|不|对|最|爱|去|昨|会|刚|今天|又|可| )"
    f"|(?P<me>{_ME}(?:自己|本人|全家|一家人?|一家[三四五]口|俩|两口子)?(?:(?:和|跟|与)[^，,的]{{1,6}}?(?=是"
    f"|在|去|住|结婚|离婚|订婚|领证|一起|都"
    f"|要|打算"
    "|计划|养|买|有))?(?:家(?=养|有|里?的?地址))?)"
    f"|(?P<my>[Mm]y (?:(?:best|old|new|childhood|college) )*(?P<en>{longest_first(KIN_EN | PETS_EN)}))"
    f"(?: (?P<enname>{_LATIN_NAME}))? ?(?=[\u4e00-\u9fff])"
    f"|(?P<own>[大小二]?(?P<bare>{longest_first(OWN)}))(?={_SAID_NEXT}|转)"
    f"|(?:现在的|的|现任的?|新来的|新任?的?|如今的)(?P<newly>{longest_first(KIN_ZH)})(?=是|叫|姓)"
    "|(?P<they>他|她|它)(?!们)"
    f"|(?:另一个|另外一个|那个)? ?(?P<who>[小阿][\u4e00-\u9fff](?=今年|现在|也|住在|是|喜欢|讨厌|不喜欢"
    f"|对.{{1,8}}过敏"
    f"|在.{{1,12}}(?:工作|上班))|{_LATIN_NAME}(?= ?是我))"
    f"|(?P<somebody>{BARE_NAME})(?={_TOLD})"
)
NOT_WHO = frozenset(
    ("小时", "小学", "小心", "小说", "小孩", "小区", "小吃", "小狗", "小猫", "小事", "阿姨", "小米")
)
NAMING = re.compile("(?:的名字|也|就)*(?:叫|名叫|是我)")
NOT_GIVEN = re.compile(
    "[现今一就也都正刚以曾原之后前爬跑走吃喝看听说打开关坐站躺睡起来回进买卖做干觉知记忘学教帮拿放送给叫找等用写读玩住搬病退死太真好天每身个些]|以前|小名|大名|网名|外号|英文|昵称|沉迷|痴迷|沉|迷|同学|同事|朋友|今天|昨天|天天|每天|结婚|退休|住院|生病|上班|下班|开车|会说|特别|[\u4e00-\u9fff]{1,2}[到得完过着]"
)

_NOT_ATTRIBUTE = re.compile(
    "(?P<what>的?(?:职业|工作|生日|专业|名字|血型|老家|家乡|地址|电话|手机号|邮箱|英文名))不(?=是|在)"
)
_ENDED = re.compile("(?:不再|再也不|再也没|已经不|现在不|早就不|早不)")
_FORMER = re.compile("(?:退休前|退休以前|以前|之前|曾经|过去|原来|从前|原先|年轻时|小时候)(?:一直|曾|都|也)*")
_NOT = re.compile(
    "(?:不是(?=对|在|住|叫|喜欢)|并不|并没有|没有|从不|从来不|从来没|从没|一直不|一点都?不|一点儿也不|根本不"
    "|完全不|压根不"
    "|不太|不怎么|不大|不(?!过|管|仅|但|同|少|得不|错))"
)
_NOT_HAVE = re.compile("(?:没有|没)(?=[\u4e00-\u9fff\\d])")
_IS_THAT = re.compile(
    "(?:而)?是(?=对.+过敏|在.+(?:工作|上班|长大|读书|上学|[读念上]的)|住在|叫|从.+(?:毕业|来))"
)
_CHANGED = re.compile("(?:改成|改为|换成|变成|更新为|调成)了?")


ELSEWHERE = re.compile(
    "(?:这|那(?!就)|[他她它]|你|您|大家|别人|人家|有人|《|原来是|里面|其中|(?:男"
    "|女)?主角|[男女]主|主人公|导演|作者|歌手|主演|剧情|故事|影片|电影|门票|票价|景点|开放时间)[^我俺]*\\Z"
)
"""A clause that speaks of the world: what follows without a subject goes on with it."""
ONESELF = re.compile("(?:刚|去|做|做了|去医院|又|在)*(?:体检|复查|抽血|面试|相亲|加班|出差|看病)")
"""What one says only of oneself where nobody is named: 今天体检，体重65公斤."""
ASKS_ABOUT = re.compile(
    "(?:也|都|还|就|已经|当然|早就?|很|挺|只|肯定|是|自己|特意|专门)*(?:知道|了解|听说|听过"
    "|查[过到了](?!出)|打听|搜|认识"
    "|佩服|崇拜|对[他她它]|在网上|看过(?!医生|大夫|病|中医|急诊)|有一?个问题)"
)
"""What the speaker only knows of: 我知道，英文名叫..."""


def without_lead(text: str) -> str:
    found = _LEAD.match(text)
    rest = text[found.end() :] if found else text
    learnt = _LEARNT.match(rest)
    rest = rest[learnt.end() :] if learnt else rest
    after = _AFTER.match(rest)
    return rest[after.end() :] if after else rest


def without_adverbs(text: str) -> str:
    found = _ADVERB.match(text)
    return text[found.end() :] if found else text


def polarity(text: str) -> tuple[str, bool, bool]:
    """(predicate without adverbs and negation, denied?, ended?)"""
    if found := _ENDED.search(text[:8]):
        return without_adverbs(text[: found.start()] + text[found.end() :]), True, True
    body = without_adverbs(text)
    if found := _IS_THAT.match(body):
        body = body[found.end() :]
    if found := _FORMER.match(body):
        return without_adverbs(body[found.end() :]), True, True
    if found := _NOT_ATTRIBUTE.match(body):
        return found["what"] + body[found.end() :], True, False
    if found := _NOT_HAVE.match(body):
        return "有" + body[found.end() :], True, False
    if found := _NOT.match(body):
        no_more = found.group() == "不" and body.endswith("了")  # 不看恐怖片了
        return without_adverbs(body[found.end() :]), True, no_more
    return _CHANGED.sub("是", body, count=1), False, False
