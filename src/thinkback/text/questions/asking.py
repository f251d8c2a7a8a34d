"""A question -> the words to search with: without the words that only ask, and as a thought would answer it.

Question words (哪个, what kind of) are on nobody's page, so in a small space they weigh most and hide the
match. Thoughts are said in few fixed phrases ("lives in", 住在); `CUES` tells which phrase a question is
after, in both languages, so that "Where's home?" and 我住哪里 find "The user lives in Denver".
"""

from __future__ import annotations

import re
from functools import lru_cache

from thinkback.text.people.kin import KIN_EN, KIN_ZH, PETS_EN, PETS_ZH, longest_first
from thinkback.text.questions.asking_english import cues
from thinkback.text.scripts import HAN
from thinkback.text.tokens import terms

_I = re.IGNORECASE
_ASKS = re.compile(
    r"\b(?:(?:do|can|could|would) you (?:still )?(?:know|remember|recall|tell me)|tell me|remind me|remember"
    r"|for a living|these days|nowadays|at the moment|right now|currently|how (?:many|much|often|long|come)"
    r"|(?:what|which) (?:kind|sort|type) of|what time|many|much|ever|still|again|any|anything|something)\b"
    r"|\b(?:what|where|who|when|how|that|there|here|it)'s\b"
    "|什么时候|啥时候|啥地方|什么地方|什么样|什么|甚么|为什么|为啥|干什么|干嘛|做啥|啥|哪一[年天个家位所种只]"
    "|哪[里儿个些位家所年天种款座只]|哪"
    "|多少钱|多少|多大|多高|多久|多重|多远|几[岁点号月个只]|谁|怎么样|怎么|怎样|如何"
    "|是不是|有没有|能不能|会不会|是否|还记得|你记得|记得|你知道|告诉我|请问|现在|目前|如今|最近|吗|呢",
    _I,
)

_THINGS: dict[str, str] = {
    "work": r"\bfor a living\b",
    "岁": "几岁|多大(?!码)(?:年纪|岁数)?|多少岁",
    "身高": "多高(?!的)",
    "体重": "多重(?!要)",
    "职业": "是?[做干](?:什么|啥|嘛)(?:工作)?的|靠(?:什么|啥)(?:谋生|吃饭|挣钱|生活)",
    "长相": "长得?是?(?:什么|啥|怎么|怎)样(?:子|的)?",
    "来自": "哪[里儿的]?人(?!家|们|员|气)",
}
_ASKS_FOR = re.compile("|".join(f"(?P<{thing}>{asks})" for thing, asks in _THINGS.items()), _I)
"""Words that only ask, but for one thing alone, and that thing."""

# what a question is after: (how it is asked, how a thought says it in English, and in Chinese)
_TABLE: tuple[tuple[str, str, str], ...] = (
    (
        r"\b(?:home(?! ?town)|live|lives|living|reside|residence|based)\b|\b(?:which|what) (?:city|town"
        r"|country)\b"
        "|(?<!记)住(?!院)|家在|哪个城市|哪座城市|定居",
        "lives in",
        "住在",
    ),
    (
        r"\b(?:job|occupation|profession|career|works? as)\b|\bwhat (?:do|does) [\w' ]{1,30}? do\b"
        "|做什么的|做什么工作|什么工作|职业|干什么的|[干做]哪(?:一)?行|哪(?:一)?行的|什么行业|岗位|谋生|靠啥"
        "|干啥的|做啥的|啥工作|干嘛的|何种职业|生意|营生",
        "works as",
        "职业",
    ),
    (
        r"\b(?:employer|company|employed)\b|\b(?:where|who) (?:do|does|am|is) [\w' ]{1,30}? work(?:ing)?\b"
        "|公司|单位|东家|雇主|在哪.{0,6}(?:工作|上班)",
        "works at",
        "工作于",
    ),
    (
        r"\b(?:hobb(?:y|ies)|interests?|free time|likes?|loves?|enjoys?|into)\b|爱好|兴趣|喜好|嗜好|消遣|空闲"
        r"|闲暇|业余|有空的?时候|闲下来|(?<!最)喜欢"
        r"|(?<!最)爱[吃喝看听玩]",
        "likes loves",
        "喜欢",
    ),
    (r"\bfavou?rites?\b|最喜欢|最爱", "favourite", "最喜欢"),
    (r"\bprefer(?:ence|s|red)?\b|更喜欢|偏好|偏爱", "prefers", "更喜欢"),
    (r"\b(?:allerg\w+)\b|过敏|忌口", "allergic", "过敏"),
    (r"\b(?:how old|age)\b|多大(?!码)|几岁|多少岁|年龄|岁数|年纪", "years old", "岁"),
    (r"\b(?:birthday|birth date|born on)\b|生日|出生日期", "birthday", "生日"),
    (r"\b(?:weigh|weight)\b|体重|多重", "weighs", "体重"),
    (r"\b(?:tall|height)\b|身高|多高", "height", "身高"),
    (r"\b(?:home ?town|come from|comes from|from)\b|老家|家乡|故乡|籍贯|哪里人|哪儿人"
        "|哪的人|祖籍", "comes from", "来自"),
    (r"\bnationality\b|国籍|哪国人|哪个国家的?人|护照", "nationality", "国籍"),
    (r"\bappearance\b|外貌|外表|长相|相貌|样貌|体貌|长什么样|长得|模样|样子|认出", "appearance", "外貌 长相"),
    (r"\bpersonality\b|性格|脾气|个性|性情|(?:什么样|怎样|怎么样)的(?:一个)?人|为人", "personality", "性格"),
    (r"\beducation\b|学历|教育背景|教育程度|文化程度|受教育", "education", "学历"),
    (r"\breligion\b|宗教|信仰|信教|信什么", "religion", "宗教 信仰"),
    (r"\bskills?\b|特长|专长|擅长|强项|才艺|拿手", "skills", "特长"),
    (r"\bambitions?\b|理想|梦想|志向|抱负|人生目标", "ambition", "理想 梦想"),
    (r"\bachievements?\b|成就|自豪|骄傲|了不起", "achievements", "成就"),
    (r"\bawards?\b|荣誉|奖项|获奖|得奖|得过什么奖", "awards", "荣誉 奖项"),
    (r"\brole models?\b|偶像|榜样|崇拜|敬佩|敬仰", "role model", "榜样 偶像"),
    (r"\bnicknames?\b|昵称|小名|外号|绰号|大名", "called", "也叫 昵称"),
    (r"\bethnicity\b|民族|哪个族", "ethnicity", "民族"),
    (r"\bgender\b|性别", "gender", "性别"),
    (r"\b(?:conditions?|diseases?|illness(?:es)?|diagnos\w+)\b|什么病|慢性病|疾病|病史", "diagnosed", "患有"),
    (r"\b(?:medication|medicine|medicines|drug|drugs|pills?)\b|什么药|吃.{0,3}药|用药", "takes", "服用"),
    (r"\b(?:instruments?|play)\b|乐器|演奏", "plays", "演奏"),
    (r"\b(?:languages?|speak)\b|语言|会说|会讲", "speaks", "会说"),
    (r"\b(?:major|study|studying|studies)\b|专业|学什么", "studies", "学习"),
    (r"\b(?:school|university|college)\b|学校|大学|小学|中学", "studies at", "就读于"),
    (r"\b(?:eat|eats|diet)\b|(?<!爱)吃(?!.{0,3}药)", "eats", "吃"),
    (r"\b(?:drink|drinks)\b|(?<!爱)喝", "drinks", "喝"),
    (r"\b(?:married|marital|single)\b|结婚|婚姻|单身", "married", "婚姻 结婚"),
    (r"\b(?:phone|mobile|telephone)\b|电话|手机号", "phone number", "电话号码"),
    (r"\be-?mail\b|邮箱", "email", "邮箱"),
    (r"\baddress\b|地址", "address", "地址"),
    (r"\b(?:salary|income|earn)\b|工资|薪水|月薪|收入", "salary", "工资"),
    (r"\b(?:afraid|scared|fears?)\b|害怕|怕(?!是)|恐惧", "afraid of", "害怕"),
    (r"\b(?:travel\w*|trips?|visit\w*|been to|vacation)\b|去过|旅游|旅行|游玩|度假", "went to", "去了"),
    (r"\b(?:learn\w*)\b|在学|学什么|学啥", "learns", "在学"),
    (r"\b(?:smokes?|smoking)\b|抽.{0,2}烟|吸烟", "smoke", "烟 戒烟"),
    (r"\b(?:plans?|going to|upcoming)\b|打算|计划|安排", "plans to", "打算"),
    (r"\b(?:children|kids)\b|孩子|小孩", "son daughter child", "儿子 女儿 孩子"),
    (r"\bsiblings\b|兄弟姐妹", "brother sister", "哥哥 弟弟 姐姐 妹妹"),
    (r"\bpets?\b|宠物", "dog cat named", "狗 猫"),
    (r"\bgraduat\w+\b|毕业", "graduated", "毕业"),
    (r"\bplans?\b|\bgoing to do\b|打算|计划", "plans", "打算"),
)  # fmt: skip
CUES = tuple((re.compile(cue, _I), english, chinese) for cue, english, chinese in _TABLE)
_KIN_ZH = re.compile(longest_first(KIN_ZH | PETS_ZH))
_TO_ZH = {name: word for word, name in reversed((KIN_ZH | PETS_ZH).items())}
_LATIN = re.compile(r"[A-Za-z][\w.-]+")
_HAN_RUN = re.compile(f"[{HAN}]+")
_KIN = KIN_EN | PETS_EN
_ASKING = "which who what where when how me tell know again currently anything something many much kind"
_IDLE = frozenset(_ASKING.split())
_ALONE = 2  # hints that are searched for by themselves: each wording costs a pass over the words of the space
_LONGEST = 300  # a longer text is no question after one thing


def asked_for(text: str) -> list[str]:
    """The terms of a question without the words that only ask; all of them if nothing else is left.

    Some of these ask for one thing alone: without it a name would be left, and all told of it would fit.
    """
    asked = _ASKS_FOR.sub(lambda found: f" {found.lastgroup} ", text)
    return terms(_ASKS.sub(" ", asked)) or terms(text)


def open_terms(text: str) -> list[str]:
    """The terms of a question that stand for no relation: a thought would not say them otherwise."""
    return asked_for(text) if _HAN_RUN.search(text) else terms(_ASKS.sub(" ", " ".join(cues(text)[1])))


def rewordings(text: str) -> list[list[str]]:
    """The terms by which a thought that answers would be found, a list a wording; none for most texts."""
    if len(text) > _LONGEST:
        return []
    wordings = map(terms, _chinese(text)) if _HAN_RUN.search(text) else _english(text)
    return [list(wanted) for wanted in dict.fromkeys(map(tuple, wordings)) if wanted]


def _chinese(text: str) -> list[str]:
    found = [(cue, english, chinese) for cue, english, chinese in CUES if cue.search(text)]
    rest = text
    for cue, _, _ in found:
        rest = cue.sub(" ", rest)
    rest = _ASKS.sub(" ", rest)
    hints = (" ".join(english for _, english, _ in found), " ".join(chinese for _, _, chinese in found))
    there = " ".join((KIN_ZH | PETS_ZH)[word] for word in _KIN_ZH.findall(rest))
    carried = " ".join(_LATIN.findall(text))
    # 我喝什么咖啡: no thought says 咖啡 of an americano, and a small embedder cannot tell, so 喝 must do
    return [f"{hints[0]} {there} {carried}", f"{hints[1]} {rest}" if found else "", hints[1]]


def _english(text: str) -> list[list[str]]:
    """All hints with the rest of the question; the likeliest each by itself, since one must do; Chinese."""
    found, words = cues(text)
    relatives = [_KIN.get(word) or _KIN.get(word.removesuffix("'s").rstrip("s"), "") for word in words]
    kin = [term for name in relatives for term in _terms(name)]  # a flatmate is a roommate to a thought
    there = [term for name in relatives for term in _terms(_TO_ZH.get(name, ""))]
    proper = terms(" ".join(_proper(text)))
    if not found:
        return [[*kin, *proper], [*there, *proper]]
    rest = terms(" ".join(word for word in words if word not in _IDLE))
    english = [term for cue in found for term in _terms(cue.english)]
    chinese = [term for cue in found for term in _terms(cue.chinese)]
    alone = [[*_terms(cue.english), *kin, *proper] for cue in found[:_ALONE]]
    return [[*english, *rest, *kin], *alone, [*chinese, *there, *proper]]


@lru_cache(maxsize=1024)
def _terms(hint: str) -> tuple[str, ...]:
    return tuple(terms(hint))


def _proper(text: str) -> list[str]:
    """Names, which are spelt alike in both languages."""
    return re.findall(r"(?<=\s)[A-Z][\w-]+", text)
