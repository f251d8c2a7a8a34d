"""A sentence -> its negation, and words -> their opposites, in English and Chinese, without a model.

Thoughts are said in few plain forms ("The user lives in Lyon.", 用户住在里昂。), so a table of auxiliaries
and verbs does; what it cannot turn is denied as a whole ("It is not true that ...").
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from thinkback.language.scripts import has_han

_I = re.IGNORECASE

# --- denying -----------------------------------------------------------------------------------

_NEGATION_EN = re.compile(
    r"\b(?P<do>do|does|did) not (?P<base>[a-z]+)\b|\b(?P<be>is|are|was|were|am|can|will|has|have) not\b"
    r"|\b(?P<adverb>no longer|never) ",
    _I,
)
_AUXILIARY = re.compile(r"\b(is|are|was|were|am|can|will)\b", _I)
_MAIN_VERB_HAVE = re.compile(r"\b(?P<verb>has|have)\b(?! (?:\w+ed|been|got)\b)", _I)
_PERFECT_HAVE = re.compile(r"\b(has|have)\b", _I)
_SUBJECT_AND_VERB = re.compile(r"\A(?P<who>(?:the )?user(?:'s [\w ]+?)?|[A-Z][\w-]*) (?P<verb>[a-z]+s)\b", _I)
_NEGATION_ZH = re.compile("不再|并不|并没有|没有|从不|不(?=[是喜住会能爱吃喝过抽想去说])")
_VERB_ZH = re.compile(
    "是|有|住|喜欢|喜爱|讨厌|会|能|爱|吃|喝|抽|工作于|就读于|来自|患|服用|过敏|更|打算|害怕"
)
_HAVE_ZH = re.compile("有(?!名|趣)")


def negate(sentence: str) -> str:
    """The sentence that cannot be true together with this one: a denial, or of a denial what it denies."""
    return _negate_zh(sentence) if has_han(sentence) else _negate_en(sentence)


_HEDGED = re.compile(
    r"\b(?:should|would|could|might|may|if|until|unless|suppos(?:e|ing)|imagine|aim|goal|target|keep|back to"
    r"|return(?:s|ed)?|brings?|used to|was|were|get|become|range|want|next year)\b|\?"
    "|应该|目标|如果|假如|恢复|范围|以前|曾经|明年|将来|可以|吗|？",
    _I,
)


def is_hedged(sentence: str) -> bool:
    """Whether a sentence may name a thing without claiming it: advice, conditions, wishes, another time."""
    return bool(_HEDGED.search(sentence))


def _negate_en(sentence: str) -> str:
    if denied := _NEGATION_EN.search(sentence):
        if denied["do"]:
            verb = denied["base"] if denied["do"].lower() == "do" else third_person(denied["base"])
            return sentence[: denied.start()] + verb + sentence[denied.end() :]
        kept = f"{denied['be']}" if denied["be"] else ""
        return sentence[: denied.start()] + kept + sentence[denied.end() :]
    main = _SUBJECT_AND_VERB.match(sentence)
    if main and main["verb"] not in ("is", "was", "has"):
        return f"{sentence[: main.start('verb')]}does not {base_form(main['verb'])}{sentence[main.end() :]}"
    if having := _MAIN_VERB_HAVE.search(sentence):
        do = "does" if having["verb"].lower() == "has" else "do"
        return f"{sentence[: having.start()]}{do} not have{sentence[having.end() :]}"
    if found := _AUXILIARY.search(sentence) or _PERFECT_HAVE.search(sentence):
        return f"{sentence[: found.end()]} not{sentence[found.end() :]}"
    return f"It is not true that {sentence[:1].lower()}{sentence[1:]}"


def _negate_zh(sentence: str) -> str:
    if denied := _NEGATION_ZH.search(sentence):
        kept = "有" if denied.group() == "没有" else ""
        return sentence[: denied.start()] + kept + sentence[denied.end() :]
    allergic = sentence.find("过敏")
    at = re.compile("过敏") if allergic >= 0 else _VERB_ZH
    found = at.search(sentence)
    if found is None:
        return f"并非{sentence}"
    word = "没" if _HAVE_ZH.match(sentence, found.start()) else "不"
    return f"{sentence[: found.start()]}{word}{sentence[found.start() :]}"


def third_person(base: str) -> str:
    """live -> lives, study -> studies, go -> goes, have -> has."""
    if base == "have":
        return "has"
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return f"{base[:-1]}ies"
    return f"{base}es" if base.endswith(("s", "sh", "ch", "x", "z", "o")) else f"{base}s"


def base_form(verb: str) -> str:
    """lives -> live, studies -> study, watches -> watch, has -> have."""
    if verb == "has":
        return "have"
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    return verb[:-2] if verb.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")) else verb[:-1]


# --- opposites ---------------------------------------------------------------------------------

_SCALES: tuple[tuple[str, ...], ...] = (
    (
        "high|higher|elevated|raised|increased|excessive|偏高|升高|过高|较高|很高|高于正常",
        "normal|reasonable|unremarkable|within range|in range|正常|合理",
        "low|lower|reduced|decreased|deficient|偏低|过低|较低|很低|低于正常",
    ),
    ("positive|阳性", "negative|阴性"),
    ("malignant|恶性", "benign|良性"),
    ("worse|worsening|恶化|加重", "better|improving|好转|减轻"),
    ("safe|harmless|安全", "dangerous|unsafe|harmful|危险|有害"),
    ("expensive|昂贵", "cheap|便宜"),
    ("healthy|健康", "ill|sick|unhealthy|生病|不健康"),
    ("early|早", "late|晚"),
    ("left|左", "right|右"),
)
_NEGATED_BEFORE = re.compile(
    r"(?:\b(?:not|no|never|hardly|isn't|aren't|wasn't)(?:\s+\w+){0,1}\s+|[不没非未])\Z", _I
)


@dataclass(frozen=True, slots=True)
class ScaleWord:
    """A word at one end of a scale, where it stands in its text."""

    scale: int
    level: int
    word: str
    start: int


def _words_pattern(words: str) -> re.Pattern[str]:
    parts = [word if has_han(word) else rf"\b{word}\b" for word in words.split("|")]
    return re.compile("|".join(parts), _I)


_SCALE_PATTERNS = tuple(tuple(_words_pattern(words) for words in scale) for scale in _SCALES)


def find_scale_words(text: str) -> list[ScaleWord]:
    """The scale words of a text that are said plainly; "not normal" says neither high nor low."""
    return [
        ScaleWord(scale, end, found.group(), found.start())
        for scale, ends in enumerate(_SCALE_PATTERNS)
        for end, pattern in enumerate(ends)
        for found in pattern.finditer(text)
        if not _NEGATED_BEFORE.search(text[max(0, found.start() - 40) : found.start()])
    ]


def replace_with_opposite(text: str) -> str:
    """The text with its first scale word turned to the other end; the same text if it has none."""
    for pole in find_scale_words(text):
        ends = _SCALES[pole.scale]
        words = ends[(pole.level + 1) % len(ends)].split("|")
        chinese = has_han(pole.word)
        other = next(word for word in words if has_han(word) == chinese)
        return text[: pole.start] + other + text[pole.start + len(pole.word) :]
    return text


_CONTRARY_RELATIONS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, _I), other)
    for pattern, other in (
        (r"\b(?:likes|loves|enjoys)\b", "hates"),
        (r"\b(?:hates|dislikes)\b", "likes"),
        (r"\bprefers\b", "avoids"),
        (r"\blives in\b", "moved away from"),
        (r"\bworks at\b", "quit"),
        (r"\bworks as\b", "has never been"),
        (r"\bis allergic to\b", "tolerates"),
        (r"\bis afraid of\b", "has no fear of"),
        (r"\bis married\b", "is single"),
        (r"\bis single\b", "is married"),
        (r"\bsmokes\b", "is a non-smoker"),
        (r"\btakes\b", "stopped taking"),
        (r"\beats\b", "avoids"),
        (r"\bdrinks\b", "avoids"),
        (r"\bspeaks\b", "cannot speak"),
        (r"\bhas\b", "lacks"),
        ("喜欢|喜爱", "讨厌"),
        ("讨厌", "喜欢"),
        ("住在", "离开了"),
        ("工作于", "辞去了"),
        ("患有", "已治愈"),
        ("服用", "停用了"),
        ("会说", "听不懂"),
        ("害怕", "不怕"),
        ("没有", "拥有"),
        ("有", "缺少"),
        ("[吃喝抽]", "戒了"),
    )
)


def invert_relation(sentence: str) -> str:
    """The sentence with its relation turned to the contrary (likes, hates); denied whole if we know none."""
    for pattern, other in _CONTRARY_RELATIONS:
        if pattern.search(sentence):
            return pattern.sub(other, sentence, count=1)
    return f"并非{sentence}" if has_han(sentence) else f"It is not true that {sentence}"
