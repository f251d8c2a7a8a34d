"""Plain statements about the user: "I live in Lyon.", "my wife is a nurse", 我对芒果过敏.

The sentence classifier learns from natural, casual talk, in which such a sentence hardly ever stands alone,
and takes it for small talk. Plain statements among its training data help, but as soon as they weigh enough
for all to be kept, it becomes talkative elsewhere. Short sentences of these forms are therefore kept in any
case.
"""

from __future__ import annotations

import re

MAX_CHARS_EN = 90
MAX_CHARS_ZH = 32

_LEAD = r"\W*(?:(?:well|so|btw|ok|okay|and|also|oh|yes|yeah|no|actually|by the way|hi|hello|hey)\W+)*"
_PASSING_STATE = (
    r"(?:(?:not|so|just|really|very|still|now|too|only) )*"
    r"(?:\w+ing|sure|sorry|afraid|tired|here|back|fine|glad|happy|ok|okay|late|home|done|ready|sick"
    r"|lost|serious|aware|about|curious|like|gonna|to|proud|sad|angry|pulled|stuck|too|all|the one|one of"
    r"|in (?:a|the)|on (?:my|the)|at the|so+ )\b"
)
_ADVERBS = r"(?:(?:currently|now|also|really|still|no longer|usually|always|never|don't|dont|do not|can't) )*"
_STATES = (
    "live|work|study|teach|own|speak|drive|prefer|love|like|hate|dislike|collect|smoke|drink|eat|weigh"
    r"|grew up|was born|moved to|play (?:the|in|for|\w+ball|chess|tennis)|take \d+"
    r"|have (?:an? |two |three |four |one |\d)(?!theory|question|feeling|plan|idea|cough|cold)"
)
_NOT_LASTING = r"(?! (?:it|that|this|you|how|when|what|him|her|them|to (?:know|hear|see|ask|think))\b)"
_NO_POSSESSION = "god|point|question|guess|bad|fault|problem|idea|head|turn|word|goodness"
_ENGLISH = re.compile(
    rf"{_LEAD}(?:(?:i|we)(?:'m| am|m|'re| are) (?!{_PASSING_STATE})\w"
    rf"|(?:i|we) {_ADVERBS}(?:{_STATES})\b{_NOT_LASTING}"
    rf"|my (?:(?!{_NO_POSSESSION})[\w'-]+ ){{1,3}}(?:is|are|has|lives|works|was born|died|moved|plays|studies"
    r"|teaches)\b(?! (?:that|what|why|how|just|going|not|so|still|come|\w+ing)\b) \w)",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"(?:(?:对了|顺便说一?下?|另外|还有|你好|您好|嗨|嗯|其实)[，,\s]*)?"
    r"我(?:叫|姓|今年\d|今年[一二三四五六七八九]|住在?\w|是(?!说|想|不是|觉得|问|真|怕|担心|谁|在|永远|不)"
    r"|在[^，。]{2,12}(?:工作|上班|上学|读书)|有[一两二三四五六七八九\d]|养了?[一两三只条]|会(?:说|弹|开)"
    r"|(?:最|很|不|特别)?喜欢\w|讨厌\w|对[^，。]{1,8}过敏|不再|不吃|不喝|戒"
    r"|的?(?:老婆|老公|妻子|丈夫|女儿|儿子|妈妈?|爸爸?|弟弟?|妹妹?|姐姐?|哥哥?|爷爷|奶奶|外婆|外公|孩子|生日"
    r"|名字|男朋友|女朋友|狗|猫)[^，。]{0,6}(?:是|叫|住|今年|对|做|当|去世))"
)


def is_plain_statement(text: str) -> bool:
    """Whether a short sentence plainly says who the user is, has or likes."""
    if len(text) <= MAX_CHARS_ZH and _CHINESE.match(text):
        return True
    return len(text) <= MAX_CHARS_EN and bool(_ENGLISH.match(text))
