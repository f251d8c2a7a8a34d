"""What an English question is after: its words -> those by which thoughts say the answer, in both languages.

A dictionary of single words and a few phrases, looked up in one pass: a question is reworded at every recall,
so the table may grow but not the time.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Cue(NamedTuple):
    """How a thought says it, in English and in Chinese."""

    english: str
    chinese: str


# (words that ask, phrases that ask, what a thought says)
_TABLE: tuple[tuple[str, str, Cue], ...] = (
    ("home live lives living reside residence based stay stays house", "which city/what city/which"
        " town/what town"
     "/which country/what country/which area/what area/which part of town", Cue("lives in", "住在")),
    ("job occupation profession career trade work works working employer company employed employment boss's",
     "for a living/line of work/working as", Cue("works as", "职业 工作于")),
    ("hobby hobbies interest interests like likes love loves enjoy enjoys into fan enjoying watching pastime"
     " pastimes leisure",
     "free time/spare time/for fun/off duty/day off/days off/outside work/outside of work/fond of/after work",
     Cue("likes loves", "喜欢")),
    ("favourite favorite favourites favorites fave best", "", Cue("favourite", "最喜欢")),
    ("colour color", "", Cue("favourite colour color", "最喜欢的颜色")),
    ("prefer preference prefers preferred", "", Cue("prefers", "更喜欢")),
    ("allergic allergy allergies allergens reaction", "", Cue("allergic", "过敏")),
    ("avoid hate hates dislike dislikes", "can't stand", Cue("hates not like eat", "不喜欢")),
    ("age old", "how old", Cue("years old", "岁")),
    ("birthday born", "birth date", Cue("birthday", "生日")),
    ("weigh weight weighs", "", Cue("weighs", "体重")),
    ("tall height", "", Cue("height", "身高")),
    ("hometown home-town originally birthplace", "home town/come from/comes from", Cue("comes from", "来自")),
    ("nationality citizenship passport", "", Cue("nationality", "国籍")),
    ("appearance", "look like/looks like", Cue("appearance", "外貌 长相")),
    ("personality character temperament", "kind of person/sort of person/type of person",
     Cue("personality", "性格")),
    ("education educational educated qualification qualifications training trained", "",
     Cue("education", "学历")),
    ("religion religious faith", "believe in", Cue("religion", "宗教 信仰")),
    ("skill skills talent talents", "good at", Cue("skills", "特长")),
    ("ambition ambitions dream dreams goal goals", "", Cue("ambition plans to", "理想 梦想")),
    ("achievement achievements accomplishment accomplishments proud", "", Cue("achievements", "成就")),
    ("award awards prize prizes honour honours honor honors", "", Cue("awards", "荣誉 奖项")),
    ("idol idols hero heroes admire admires", "role model/look up to/looks up to",
     Cue("role model", "榜样 偶像")),
    ("nickname nicknames", "", Cue("called nickname", "昵称")),
    ("recognise recognize", "", Cue("appearance", "外貌 长相")),
    ("organisation organization firm institution", "", Cue("works at", "工作于")),
    ("ethnicity ethnic", "", Cue("ethnicity", "民族")),
    ("gender", "", Cue("gender", "性别")),
    ("condition conditions disease diseases illness illnesses diagnosis diagnosed health medical", "",
     Cue("diagnosed has", "患有")),
    ("medication medications medicine medicines drug drugs pill pills dose dosage meds prescription"
        " prescribed", "",
     Cue("takes", "服用")),
    ("instrument instruments play plays playing sport sports", "", Cue("plays", "演奏")),
    ("sport sports exercise workout class classes", "keep fit", Cue("does takes classes", "练")),
    ("language languages speak speaks", "", Cue("speaks", "会说")),
    ("program programming code coding editor software tool tools use using uses", "", Cue("uses", "使用")),
    ("major study studying studies degree course subject", "", Cue("studies", "学习")),
    ("school university college uni", "", Cue("studies at", "就读于")),
    ("eat eats diet food meat vegetarian vegan", "", Cue("eats vegetarian vegan", "吃")),
    ("drink drinks drinking", "", Cue("drinks", "喝")),
    ("smoke smoker smokes smoking", "", Cue("smokes smoke", "抽烟")),
    ("drive drives car vehicle", "", Cue("drives car", "开")),
    ("married marital single relationship", "", Cue("married", "婚姻 结婚")),
    ("partner spouse", "married to/significant other/other half", Cue("wife husband partner girlfriend"
        " boyfriend",
     "老婆 老公")),
    ("phone mobile telephone number contact reach", "", Cue("phone number", "电话号码")),
    ("email e-mail mail", "", Cue("email", "邮箱")),
    ("contact reach", "get hold of", Cue("prefers", "更喜欢")),
    ("address street", "", Cue("address", "地址")),
    ("salary income earn earns paid", "do i make/get paid", Cue("salary", "工资")),
    ("rent pay", "", Cue("rent", "房租")),
    ("bank banking", "", Cue("banks with", "银行")),
    ("order coffee café cafe", "", Cue("usual order", "常点")),
    ("shoe shoes", "", Cue("shoe size", "鞋码")),
    ("blood", "", Cue("blood type", "血型")),
    ("boss manager supervisor", "report to/reporting to", Cue("boss", "老板")),
    ("anniversary", "", Cue("anniversary", "纪念日")),
    ("children kids", "", Cue("son daughter child", "儿子 女儿 孩子")),
    ("siblings", "", Cue("brother sister", "哥哥 弟弟 姐姐 妹妹")),
    ("pet pets animal animals", "", Cue("named", "狗 猫")),
    ("named called", "name of", Cue("named", "")),
    ("afraid fear fears scared phobia", "", Cue("afraid", "害怕")),
    ("graduate graduated graduation", "", Cue("graduated", "毕业")),
    ("plan plans planning", "going to do", Cue("plans", "打算")),
    ("appointment appointments scheduled", "", Cue("has appointment", "有")),
    ("business", "", Cue("runs", "经营")),
)  # fmt: skip
_BY_WORD: dict[str, tuple[Cue, ...]] = {}
_BY_PHRASE: list[tuple[str, Cue]] = []
for _words, _phrases, _cue in _TABLE:
    for _word in _words.split():
        _BY_WORD[_word] = (*_BY_WORD.get(_word, ()), _cue)
    _BY_PHRASE += [(_phrase, _cue) for _phrase in _phrases.split("/") if _phrase]
_WORD = re.compile(r"[a-zé'-]+")
# "what did we do last autumn" asks for no trade
_DOING = re.compile(
    r"what (?:(?:do|does) [\w' ]{1,30}? do\b|did [\w' ]{1,30}? do (?:before|previously|for|as|back then)\b)"
)
_FROM = re.compile(r"\bwhere(?:'s| (?:is|are|was|were|am)) [\w' ]{1,30}? from\b")
_LIKE = re.compile(r"\bwhat(?:'s| (?:is|are|was)) [\w' ]{1,30}? like(?: as a person)?\W*\Z")
_NO_HOME = re.compile(r"\bfor a living\b")


def cues(text: str) -> tuple[list[Cue], list[str]]:
    """(what a question is after, its other words)"""
    lowered = _NO_HOME.sub("for a job", text.lower().replace("’", "'"))
    found: dict[Cue, None] = {}
    if _DOING.search(lowered):
        found[_BY_WORD["job"][0]] = None
    if _FROM.search(lowered):
        found[_BY_WORD["hometown"][0]] = found[_BY_WORD["nationality"][0]] = None
    if like := _LIKE.search(lowered):
        found[_BY_WORD["personality"][0]] = None
        lowered = f"{lowered[: like.start()]}{like.group().replace(' like', ' ')}"
    for phrase, cue in _BY_PHRASE:
        if phrase in lowered:
            found[cue] = None
            lowered = lowered.replace(phrase, " ")
    rest: list[str] = []
    for word in _WORD.findall(lowered):
        known = _BY_WORD.get(word.removesuffix("'s")) or _BY_WORD.get(word)
        if known:
            found.update(dict.fromkeys(known))
        else:
            rest.append(word)
    return list(found), rest
