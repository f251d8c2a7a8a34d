"""Negation of a sentence and opposites of words, in English and Chinese, without a model.

Thoughts have few simple forms ("The user lives in Lyon.", 用户住在里昂。), so a table of auxiliaries and
verbs is enough. Other sentences are negated as a whole ("It is not true that ...").
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from thinkback.language.writing_systems import has_han

_I = re.IGNORECASE

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
    """Negate a sentence: "The user smokes." <-> "The user does not smoke."."""
    return _negate_zh(sentence) if has_han(sentence) else _negate_en(sentence)


_HEDGED = re.compile(
    r"\b(?:should|would|could|might|may|if|until|unless|suppos(?:e|ing)|imagine|aim|goal|target|keep|back to"
    r"|return(?:s|ed)?|brings?|used to|was|were|get|become|range|want|next year)\b|\?"
    "|应该|目标|如果|假如|恢复|范围|以前|曾经|明年|将来|可以|吗|？",
    _I,
)


def is_hedged(sentence: str) -> bool:
    """Whether a sentence may mention something without claiming it: advice, a condition, a wish."""
    return bool(_HEDGED.search(sentence))


def _negate_en(sentence: str) -> str:
    if negation := _NEGATION_EN.search(sentence):
        if negation["do"]:
            verb = negation["base"] if negation["do"].lower() == "do" else third_person(negation["base"])
            return sentence[: negation.start()] + verb + sentence[negation.end() :]
        auxiliary_verb = negation["be"] or ""
        return sentence[: negation.start()] + auxiliary_verb + sentence[negation.end() :]
    subject_verb = _SUBJECT_AND_VERB.match(sentence)
    if subject_verb and subject_verb["verb"] not in ("is", "was", "has"):
        subject, rest = sentence[: subject_verb.start("verb")], sentence[subject_verb.end() :]
        return f"{subject}does not {base_form(subject_verb['verb'])}{rest}"
    if have := _MAIN_VERB_HAVE.search(sentence):
        do = "does" if have["verb"].lower() == "has" else "do"
        return f"{sentence[: have.start()]}{do} not have{sentence[have.end() :]}"
    if auxiliary := _AUXILIARY.search(sentence) or _PERFECT_HAVE.search(sentence):
        return f"{sentence[: auxiliary.end()]} not{sentence[auxiliary.end() :]}"
    return f"It is not true that {sentence[:1].lower()}{sentence[1:]}"


def _negate_zh(sentence: str) -> str:
    if negation := _NEGATION_ZH.search(sentence):
        replacement = "有" if negation.group() == "没有" else ""
        return sentence[: negation.start()] + replacement + sentence[negation.end() :]
    verb = re.search("过敏", sentence) or _VERB_ZH.search(sentence)
    if verb is None:
        return f"并非{sentence}"
    negator = "没" if _HAVE_ZH.match(sentence, verb.start()) else "不"
    return f"{sentence[: verb.start()]}{negator}{sentence[verb.start() :]}"


def third_person(base: str) -> str:
    """Third person singular: live -> lives, study -> studies, go -> goes, have -> has."""
    if base == "have":
        return "has"
    if base.endswith("y") and base[-2:-1] not in "aeiou":
        return f"{base[:-1]}ies"
    return f"{base}es" if base.endswith(("s", "sh", "ch", "x", "z", "o")) else f"{base}s"


def base_form(verb: str) -> str:
    """Inverse of `third_person`: lives -> live, studies -> study, watches -> watch, has -> have."""
    if verb == "has":
        return "have"
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    return verb[:-2] if verb.endswith(("sses", "shes", "ches", "xes", "zzes", "oes")) else verb[:-1]


# each scale is a tuple of levels, each level a list of words
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
    """A word of a scale (high, normal, low), found at `start` of a text.

    `scale` and `level` are indexes into the table of scales.
    """

    scale: int
    level: int
    word: str
    start: int


def _words_pattern(words: str) -> re.Pattern[str]:
    alternatives = [word if has_han(word) else rf"\b{word}\b" for word in words.split("|")]
    return re.compile("|".join(alternatives), _I)


_SCALE_PATTERNS = tuple(tuple(_words_pattern(words) for words in scale) for scale in _SCALES)


def find_scale_words(text: str) -> list[ScaleWord]:
    """Find the scale words of a text, except negated ones ("not normal" is neither high nor low)."""
    return [
        ScaleWord(scale, level, match.group(), match.start())
        for scale, levels in enumerate(_SCALE_PATTERNS)
        for level, pattern in enumerate(levels)
        for match in pattern.finditer(text)
        if not _NEGATED_BEFORE.search(text[max(0, match.start() - 40) : match.start()])
    ]


def replace_with_opposite(text: str) -> str:
    """Replace the first scale word by one of the next level; return the text unchanged if it has none."""
    for found in find_scale_words(text):
        levels = _SCALES[found.scale]
        words = levels[(found.level + 1) % len(levels)].split("|")
        other = next(word for word in words if has_han(word) == has_han(found.word))
        return text[: found.start] + other + text[found.start + len(found.word) :]
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
    """Replace the relation of a sentence by its contrary (likes -> hates), else negate the whole sentence."""
    for pattern, contrary in _CONTRARY_RELATIONS:
        if pattern.search(sentence):
            return pattern.sub(contrary, sentence, count=1)
    return f"并非{sentence}" if has_han(sentence) else f"It is not true that {sentence}"
