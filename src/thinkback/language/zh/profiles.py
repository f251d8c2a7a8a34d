"""Chinese profiles: 王芳的国籍是中国, 王芳的长相：圆脸, and labels below a name (职业：教师).

As in English, one shape for every attribute over a vocabulary of nouns. A value may go on over commas where
an attribute takes more than a word.
"""

from __future__ import annotations

import re

from thinkback.language.attributes import ATTRIBUTE_ALIASES, ATTRIBUTE_RELATIONS, Attribute
from thinkback.language.en.lexicon import word_set
from thinkback.language.names import USER
from thinkback.language.rules import ExtractedFact, ProfileLine, build_profile_fact
from thinkback.language.zh.lexicon import FULL_NAME, is_full_name, split_list

_ATTRIBUTES_BY_NOUN: dict[str, Attribute] = {
    noun: each for each in (*ATTRIBUTE_ALIASES, *ATTRIBUTE_RELATIONS) for noun in each.chinese_nouns
}
_NOUN = "|".join(sorted(_ATTRIBUTES_BY_NOUN, key=lambda noun: (-len(noun), noun)))
_PERSON = f"(?:{FULL_NAME}|[A-Z][A-Za-z'-]+(?: [A-Z][A-Za-z'-]+)?)"
_OPEN_NOUN = "[^的是，,：:]{1,6}(?:号|号码|名|颜色|型号|码|日期|背景|程度|状况|特征|特点|风格|等级|品牌|类型)"
_IS = "(?:主要|目前|现在)?(?:是|为|包括|有(?!点|些)|：|:) ?"
_OWNER_ATTRIBUTE = re.compile(
    f"(?P<owner>我|{_PERSON}) ?的(?:主要|个人|基本)?"
    f"(?:(?P<noun>{_NOUN})(?:{_IS}|(?=比较|很|非常|特别|挺|偏|有点|有些))"
    f"|(?P<open>{_OPEN_NOUN})(?:是|为|：|:))(?P<o>.+)",
    re.S,
)
_LABEL = re.compile(f"[-*•·\\s]*(?P<noun>{_NOUN})\\**\\s*[:：]\\**\\s*(?P<o>.+)", re.S)
_NAME_LABEL = re.compile(f"[-*•·\\s]*(?:姓名|名字|全名)\\**\\s*[:：]\\**\\s*(?P<o>{_PERSON})")
_HEADING = re.compile(f"[#*\\s]*(?P<o>{_PERSON})\\**\\s*[:：]?\\**")
_NOT_A_VALUE = re.compile(
    "\\A(?:不|没|非常?重要|很重要|重要|什么|怎|如何|为了|因为|这|那|最|更|越来越|我|你|您|他|她|它|谁|哪|一样|相同)"
    "|[我你您：:]|吗|呢\\Z|\\A(?:很|非常|挺|特别|比较)?(?:好|棒|差|高|低|重要|一般|普通|不错|强|弱|广泛)的?\\Z"
)
_AMBIGUOUS_NOUNS = word_set("样子 身材 模样 个子 单位 出身 为人 岗位 愿望 理想 梦想 名声 榜样")
"""Of the speaker these say too much else."""
_MAX_VALUE_CHARS, _MAX_FREE_TEXT_CHARS = 20, 60  # characters of a value
_EDGE_CHARS = " \t。！!；;…~～"
_COMMA = re.compile("[，,；;]")


def read_profile_line(text: str, owner: str = "") -> ProfileLine:
    """`owner` is whom labels speak of that stand alone."""
    plain = text.strip(_EDGE_CHARS)
    if found := _OWNER_ATTRIBUTE.fullmatch(plain):
        noun = found["noun"] or found["open"]
        mine = found["owner"] == "我"
        if mine and (noun in _AMBIGUOUS_NOUNS or found["open"]):
            return ProfileLine((), "")
        whose = USER if mine else found["owner"]
        if not mine and not (whose.isascii() or is_full_name(whose)):
            return ProfileLine((), "")
        return ProfileLine(_read_attribute(whose, noun, found["o"]), whose)
    if named := _NAME_LABEL.fullmatch(plain):
        return ProfileLine((), named["o"])
    if owner and (label := _LABEL.fullmatch(plain)):
        return ProfileLine(_read_attribute(owner, label["noun"], label["o"]), owner)
    heading = _HEADING.fullmatch(plain)
    return ProfileLine((), heading["o"] if heading and is_full_name(heading["o"]) else "")


def _read_attribute(owner: str, noun: str, words: str) -> tuple[ExtractedFact, ...]:
    known = _ATTRIBUTES_BY_NOUN.get(noun)
    value = words.strip(_EDGE_CHARS)
    free = known is not None and (known.is_free_text or known.is_list)
    if not free:
        value = _COMMA.split(value)[0]
    values = split_list(value) if known is not None and known.is_list else (value,)
    if not all(0 < len(each) <= (_MAX_FREE_TEXT_CHARS if free else _MAX_VALUE_CHARS) for each in values):
        return ()
    if any(_NOT_A_VALUE.search(each) for each in values):
        return ()
    reading = build_profile_fact(owner, noun, values, f"{{s}}的{noun}是{{o}}")
    return () if reading is None else (reading,)
