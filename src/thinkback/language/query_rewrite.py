"""Search terms of a question: without question words, and reworded as a thought would state the answer.

Question words (哪个, "what kind of") are rare in a small space, so they would get the highest weight and
hide the match. Thoughts use few fixed phrases ("lives in", 住在); the tables below map a question to these
phrases in both languages, so that "Where's home?" and 我住哪里 find "The user lives in Denver".
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from thinkback.language.kinship import KIN_EN, KIN_ZH, PETS_EN, PETS_ZH, alternation_pattern
from thinkback.language.text_cache import cache_recent, cache_words
from thinkback.language.tokens import extract_terms
from thinkback.language.writing_systems import HAN


class AnswerPhrase(NamedTuple):
    """How a thought states the answer, in English and in Chinese."""

    english: str
    chinese: str


# (question words, question phrases, how a thought states the answer)
_ANSWER_PHRASES_EN: tuple[tuple[str, str, AnswerPhrase], ...] = (
    ("home live lives living reside residence based stay stays house",
     "which city/what city/which town/what town/which country/what country/which area/what area/"
     "which part of town", AnswerPhrase("lives in", "住在")),
    ("job occupation profession career trade work works working employer company employed employment "
     "boss's",
     "for a living/line of work/working as", AnswerPhrase("works as", "职业 工作于")),
    ("hobby hobbies interest interests like likes love loves enjoy enjoys into fan enjoying watching "
     "pastime pastimes leisure",
     "free time/spare time/for fun/off duty/day off/days off/outside work/outside of work/fond of/"
     "after work", AnswerPhrase("likes loves", "喜欢")),
    ("favourite favorite favourites favorites fave best", "", AnswerPhrase("favourite", "最喜欢")),
    ("colour color", "", AnswerPhrase("favourite colour color", "最喜欢的颜色")),
    ("prefer preference prefers preferred", "", AnswerPhrase("prefers", "更喜欢")),
    ("allergic allergy allergies allergens reaction", "", AnswerPhrase("allergic", "过敏")),
    ("avoid hate hates dislike dislikes", "can't stand", AnswerPhrase("hates not like eat", "不喜欢")),
    ("age old", "how old", AnswerPhrase("years old", "岁")),
    ("birthday born", "birth date", AnswerPhrase("birthday", "生日")),
    ("weigh weight weighs", "", AnswerPhrase("weighs", "体重")),
    ("tall height", "", AnswerPhrase("height", "身高")),
    ("hometown home-town originally birthplace",
     "home town/come from/comes from", AnswerPhrase("comes from", "来自")),
    ("nationality citizenship passport", "", AnswerPhrase("nationality", "国籍")),
    ("appearance", "look like/looks like", AnswerPhrase("appearance", "外貌 长相")),
    ("personality character temperament",
     "kind of person/sort of person/type of person", AnswerPhrase("personality", "性格")),
    ("education educational educated qualification qualifications training trained",
     "", AnswerPhrase("education", "学历")),
    ("religion religious faith", "believe in", AnswerPhrase("religion", "宗教 信仰")),
    ("skill skills talent talents", "good at", AnswerPhrase("skills", "特长")),
    ("ambition ambitions dream dreams goal goals", "", AnswerPhrase("ambition plans to", "理想 梦想")),
    ("achievement achievements accomplishment accomplishments proud",
     "", AnswerPhrase("achievements", "成就")),
    ("award awards prize prizes honour honours honor honors", "", AnswerPhrase("awards", "荣誉 奖项")),
    ("idol idols hero heroes admire admires",
     "role model/look up to/looks up to", AnswerPhrase("role model", "榜样 偶像")),
    ("nickname nicknames", "", AnswerPhrase("called nickname", "昵称")),
    ("recognise recognize", "", AnswerPhrase("appearance", "外貌 长相")),
    ("organisation organization firm institution", "", AnswerPhrase("works at", "工作于")),
    ("ethnicity ethnic", "", AnswerPhrase("ethnicity", "民族")),
    ("gender", "", AnswerPhrase("gender", "性别")),
    ("condition conditions disease diseases illness illnesses diagnosis diagnosed health medical",
     "", AnswerPhrase("diagnosed has", "患有")),
    ("medication medications medicine medicines drug drugs pill pills dose dosage meds prescription "
     "prescribed",
     "", AnswerPhrase("takes", "服用")),
    ("instrument instruments play plays playing sport sports", "", AnswerPhrase("plays", "演奏")),
    ("sport sports exercise workout class classes", "keep fit", AnswerPhrase("does takes classes", "练")),
    ("language languages speak speaks", "", AnswerPhrase("speaks", "会说")),
    ("program programming code coding editor software tool tools use using uses",
     "", AnswerPhrase("uses", "使用")),
    ("major study studying studies degree course subject", "", AnswerPhrase("studies", "学习")),
    ("school university college uni", "", AnswerPhrase("studies at", "就读于")),
    ("eat eats diet food meat vegetarian vegan", "", AnswerPhrase("eats vegetarian vegan", "吃")),
    ("drink drinks drinking", "", AnswerPhrase("drinks", "喝")),
    ("smoke smoker smokes smoking", "", AnswerPhrase("smokes smoke", "抽烟")),
    ("drive drives car vehicle", "", AnswerPhrase("drives car", "开")),
    ("married marital single relationship", "", AnswerPhrase("married", "婚姻 结婚")),
    ("partner spouse",
     "married to/significant other/other half",
     AnswerPhrase("wife husband partner girlfriend boyfriend", "老婆 老公")),
    ("phone mobile telephone number contact reach", "", AnswerPhrase("phone number", "电话号码")),
    ("email e-mail mail", "", AnswerPhrase("email", "邮箱")),
    ("contact reach", "get hold of", AnswerPhrase("prefers", "更喜欢")),
    ("address street", "", AnswerPhrase("address", "地址")),
    ("salary income earn earns paid", "do i make/get paid", AnswerPhrase("salary", "工资")),
    ("rent pay", "", AnswerPhrase("rent", "房租")),
    ("bank banking", "", AnswerPhrase("banks with", "银行")),
    ("order coffee café cafe", "", AnswerPhrase("usual order", "常点")),
    ("shoe shoes", "", AnswerPhrase("shoe size", "鞋码")),
    ("blood", "", AnswerPhrase("blood type", "血型")),
    ("boss manager supervisor", "report to/reporting to", AnswerPhrase("boss", "老板")),
    ("anniversary", "", AnswerPhrase("anniversary", "纪念日")),
    ("children kids", "", AnswerPhrase("son daughter child", "儿子 女儿 孩子")),
    ("siblings", "", AnswerPhrase("brother sister", "哥哥 弟弟 姐姐 妹妹")),
    ("pet pets animal animals", "", AnswerPhrase("named", "狗 猫")),
    ("named called", "name of", AnswerPhrase("named", "")),
    ("afraid fear fears scared phobia", "", AnswerPhrase("afraid", "害怕")),
    ("graduate graduated graduation", "", AnswerPhrase("graduated", "毕业")),
    ("plan plans planning", "going to do", AnswerPhrase("plans", "打算")),
    ("appointment appointments scheduled", "", AnswerPhrase("has appointment", "有")),
    ("business", "", AnswerPhrase("runs", "经营")),
)  # fmt: skip
_PHRASES_BY_WORD: dict[str, tuple[AnswerPhrase, ...]] = {}
_PHRASES_BY_CUE_PHRASE: list[tuple[str, AnswerPhrase]] = []
for _words, _phrases, _cue in _ANSWER_PHRASES_EN:
    for _word in _words.split():
        _PHRASES_BY_WORD[_word] = (*_PHRASES_BY_WORD.get(_word, ()), _cue)
    _PHRASES_BY_CUE_PHRASE += [(_phrase, _cue) for _phrase in _phrases.split("/") if _phrase]
_WORD = re.compile(r"[a-zé'-]+")
# "what did we do last autumn" does not ask for an occupation
_ASKS_OCCUPATION = re.compile(
    r"what (?:(?:do|does) [\w' ]{1,30}? do\b|did [\w' ]{1,30}? do (?:before|previously|for|as|back then)\b)"
)
_ASKS_ORIGIN = re.compile(r"\bwhere(?:'s| (?:is|are|was|were|am)) [\w' ]{1,30}? from\b")
_ASKS_PERSONALITY = re.compile(r"\bwhat(?:'s| (?:is|are|was)) [\w' ]{1,30}? like(?: as a person)?\W*\Z")
_FOR_A_LIVING = re.compile(r"\bfor a living\b")


@cache_recent
def find_answer_phrases(text: str) -> tuple[Sequence[AnswerPhrase], Sequence[str]]:
    """Return the phrases that would state the answer to an English question, and its other words.

    One dictionary lookup per word, because every recall rewrites its question.
    """
    lowered = _FOR_A_LIVING.sub("for a job", text.lower().replace("’", "'"))
    found: dict[AnswerPhrase, None] = {}
    if _ASKS_OCCUPATION.search(lowered):
        found[_PHRASES_BY_WORD["job"][0]] = None
    if _ASKS_ORIGIN.search(lowered):
        found[_PHRASES_BY_WORD["hometown"][0]] = found[_PHRASES_BY_WORD["nationality"][0]] = None
    if personality := _ASKS_PERSONALITY.search(lowered):
        found[_PHRASES_BY_WORD["personality"][0]] = None
        lowered = f"{lowered[: personality.start()]}{personality.group().replace(' like', ' ')}"
    for phrase, answer in _PHRASES_BY_CUE_PHRASE:
        if phrase in lowered:
            found[answer] = None
            lowered = lowered.replace(phrase, " ")
    rest: list[str] = []
    for word in _WORD.findall(lowered):
        answers = _PHRASES_BY_WORD.get(word.removesuffix("'s")) or _PHRASES_BY_WORD.get(word)
        if answers:
            found.update(dict.fromkeys(answers))
        else:
            rest.append(word)
    return tuple(found), tuple(rest)


_I = re.IGNORECASE
_QUESTION_WORDS = re.compile(
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

_TOPIC_QUESTION_WORDS: dict[str, str] = {
    "work": r"\bfor a living\b",
    "岁": "几岁|多大(?!码)(?:年纪|岁数)?|多少岁",
    "身高": "多高(?!的)",
    "体重": "多重(?!要)",
    "职业": "是?[做干](?:什么|啥|嘛)(?:工作)?的|靠(?:什么|啥)(?:谋生|吃饭|挣钱|生活)",
    "长相": "长得?是?(?:什么|啥|怎么|怎)样(?:子|的)?",
    "来自": "哪[里儿的]?人(?!家|们|员|气)",
}
_TOPIC_QUESTION = re.compile(
    "|".join(f"(?P<{thing}>{asks})" for thing, asks in _TOPIC_QUESTION_WORDS.items()), _I
)
"""Question words that ask for one specific topic; the group name is the topic."""

# (pattern of the question, how a thought states the answer in English, and in Chinese)
_ANSWER_PHRASE_TABLE: tuple[tuple[str, str, str], ...] = (
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
ANSWER_PHRASES = tuple(
    (re.compile(cue, _I), english, chinese) for cue, english, chinese in _ANSWER_PHRASE_TABLE
)
_KIN_PATTERN_ZH = re.compile(alternation_pattern(KIN_ZH | PETS_ZH))
_KIN_WORD_ZH = {name: word for word, name in reversed((KIN_ZH | PETS_ZH).items())}
_LATIN_WORD = re.compile(r"[A-Za-z][\w.-]+")
_HAN_RUN = re.compile(f"[{HAN}]+")
_KIN = KIN_EN | PETS_EN
_IGNORED_QUESTION_WORDS = (
    "which who what where when how me tell know again currently anything something many much kind"
)
_IGNORED_WORDS = frozenset(_IGNORED_QUESTION_WORDS.split())
_MAX_SINGLE_PHRASES = 2  # answer phrases that get a search of their own; every search costs time
_MAX_QUESTION_CHARACTERS = 300


def content_terms(text: str) -> list[str]:
    """The terms of a question without its question words, or all terms if nothing else is left.

    Words that ask for one topic ("for a living", 几岁) are replaced by the topic; without it, everything
    about the person would match.
    """
    return list(_content_terms(text))


@cache_recent
def _content_terms(text: str) -> tuple[str, ...]:
    with_topics = _TOPIC_QUESTION.sub(lambda match: f" {match.lastgroup} ", text)
    return tuple(extract_terms(_QUESTION_WORDS.sub(" ", with_topics)) or extract_terms(text))


def non_relation_terms(text: str) -> list[str]:
    """The terms of a question that do not express a relation, so that a thought would use the same words."""
    if _HAN_RUN.search(text):
        return content_terms(text)
    _, other_words = find_answer_phrases(text)
    return extract_terms(_QUESTION_WORDS.sub(" ", " ".join(other_words)))


def rewrite_question(text: str) -> list[list[str]]:
    """The terms of thoughts that would answer the question, one list per wording; empty for most texts."""
    if len(text) > _MAX_QUESTION_CHARACTERS:
        return []
    wordings = map(extract_terms, _rewrite_chinese(text)) if _HAN_RUN.search(text) else _rewrite_english(text)
    return [list(terms) for terms in dict.fromkeys(map(tuple, wordings)) if terms]


def _rewrite_chinese(text: str) -> list[str]:
    found = [(cue, english, chinese) for cue, english, chinese in ANSWER_PHRASES if cue.search(text)]
    rest = text
    for cue, _, _ in found:
        rest = cue.sub(" ", rest)
    rest = _QUESTION_WORDS.sub(" ", rest)
    english = " ".join(english for _, english, _ in found)
    chinese = " ".join(chinese for _, _, chinese in found)
    kin_english = " ".join((KIN_ZH | PETS_ZH)[word] for word in _KIN_PATTERN_ZH.findall(rest))
    latin_words = " ".join(_LATIN_WORD.findall(text))
    # 我喝什么咖啡: a thought about 美式 does not contain 咖啡, so 喝 alone is searched for too
    return [f"{english} {kin_english} {latin_words}", f"{chinese} {rest}" if found else "", chinese]


def _rewrite_english(text: str) -> list[list[str]]:
    """Wordings: all phrases with the rest of the question, the likeliest phrases alone, and Chinese."""
    answers, words = find_answer_phrases(text)
    roles = [_KIN.get(word) or _KIN.get(word.removesuffix("'s").rstrip("s"), "") for word in words]
    kin = [term for role in roles for term in _cached_terms(role)]  # thoughts say "roommate", not "flatmate"
    kin_zh = [term for role in roles for term in _cached_terms(_KIN_WORD_ZH.get(role, ""))]
    names = extract_terms(" ".join(_proper_nouns(text)))
    if not answers:
        return [[*kin, *names], [*kin_zh, *names]]
    rest = extract_terms(" ".join(word for word in words if word not in _IGNORED_WORDS))
    english = [term for answer in answers for term in _cached_terms(answer.english)]
    chinese = [term for answer in answers for term in _cached_terms(answer.chinese)]
    single = [[*_cached_terms(answer.english), *kin, *names] for answer in answers[:_MAX_SINGLE_PHRASES]]
    return [[*english, *rest, *kin], *single, [*chinese, *kin_zh, *names]]


@cache_words(1024)
def _cached_terms(phrase: str) -> tuple[str, ...]:
    return tuple(extract_terms(phrase))


def _proper_nouns(text: str) -> list[str]:
    """Capitalised words after the first: names, which are the same in both languages."""
    return re.findall(r"(?<=\s)[A-Z][\w-]+", text)
