"""Word lists and text checks for the validation of worlds, in English and Chinese."""

from __future__ import annotations

import re

from thinkback_lab.worlds.world import Lang

# Values that are empty as a whole, and prefixes of values that only say that there is none.
_EMPTY_VALUES = (
    r"unknown|none|null|nil|n/a|n\.a|undefined|unspecified|tbd|tba|to be determined|placeholder|x{2,}"
    r"|[-–—.?？…_/]+|未知|暂无|无|不详|待定|不明|空|略|没有|待补充"
)
_EMPTY_PREFIXES = (
    r"not (?:yet )?(?:provided|specified|mentioned|available|applicable|given|known|disclosed)\b"
    r"|no (?:information|data)\b"
    r"|未(?:提供|提及|说明|填写|公开)|没有(?:提供|提及|相关)|无(?:相关)?(?:信息|资料)"
)
_TEMPLATE_SLOTS = r"\[[^\]]*\]|<[^>]*>|\{[^}]*\}|【[^】]*】"
_PLACEHOLDER = re.compile(
    rf"(?:(?:{_EMPTY_VALUES}|{_TEMPLATE_SLOTS})\s*[.。]?\Z)|(?:{_EMPTY_PREFIXES})", re.IGNORECASE
)

# A person has at most one of each group at a time.
EXCLUSIVE_RELATIONSHIPS: tuple[frozenset[str], ...] = (
    frozenset(
        (
            *(
                "wife",
                "husband",
                "spouse",
                "girlfriend",
                "boyfriend",
                "fiancé",
                "fiancée",
                "fiance",
                "fiancee",
            ),
            *(
                "妻子",
                "丈夫",
                "配偶",
                "老婆",
                "老公",
                "太太",
                "女朋友",
                "男朋友",
                "女友",
                "男友",
                "未婚妻",
                "未婚夫",
            ),
        )
    ),
    frozenset(("mother", "mom", "母亲", "妈妈")),
    frozenset(("father", "dad", "父亲", "爸爸")),
)

ASSISTANT = re.compile(
    r"(?:\b(?:the|his|her|their|an) )?\bAI[ -]?assistant\b|(?:AI|人工智能|智能)\s?助[手理]", re.IGNORECASE
)
_BESIDE_ASSISTANT = re.compile(
    rf"(?:\b(?:and|with|alongside)\b\s*|[和与跟同、]\s*)(?:{ASSISTANT.pattern})"
    rf"|(?:{ASSISTANT.pattern})\s*(?:\band\b|[和与跟])",
    re.IGNORECASE,
)
_TALKING = re.compile(
    r"\b(?:talk|tell|told|say|said|speak|spoke|chat|discuss|convers|ask|mention|confid|share|describ|messag)"
    r"|聊|谈|说|讨论|对话|交流|告诉|提到|提及|问|倾诉|分享|描述",
    re.IGNORECASE,
)

# Prepositions that do not belong to an anchor, except in set phrases.
PREPOSITION = re.compile(
    r"(?!(?:on (?:foot|time|duty|purpose)|by (?:heart|hand|chance|accident)|at home|for free"
    r"|in (?:person|tears|love|secret|silence|cash|full))\b)"
    r"(?:at|in|on|to|of|from|by|with|for|into|during|via)\s+(?=\S)",
    re.IGNORECASE,
)
# Only before a plain place: in a longer clause the particle belongs to it (在湖边野餐).
_PARTICLE_ZH = re.compile(
    r"在(?![职线读校野家])(?=.{1,4}\Z|.{1,20}[上下里中内外边旁前后间处]\Z)|的(?![士确])"
)
_SURROUNDING_CHARACTERS = " \t\r\n\u3000,.;:!?，。；：！？、"
_QUOTES = tuple(zip("“‘\"'`", "”’\"'`", strict=True))
_BRACKETS = tuple(zip("(（《「[", ")）》」]", strict=True))
_ABBREVIATED = re.compile(
    r"(?:\b(?:ltd|inc|co|corp|jr|sr|st|dr|mr|mrs|ms|prof|no|vol)|\.\w+)\.\Z", re.IGNORECASE
)

# Words without content, ignored when an answer is compared with its question.
_STOP_WORDS = frozenset(
    (
        *("a", "an", "the", "this", "that", "it", "its", "and", "or", "not"),
        *("is", "are", "was", "were", "be", "been", "do", "does", "did", "has", "have", "had", "will", "s"),
        *("i", "he", "him", "his", "she", "her", "hers", "they", "them", "their"),
        *("who", "whom", "whose", "what", "which", "when", "where", "why", "how"),
        *("as", "at", "by", "for", "from", "in", "of", "on", "to", "with"),
    )
)
_CHINESE_STOP_CHARACTERS = frozenset("的了是在和与跟有为被把就也都其这那着过")
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_CJK = re.compile(r"[\u3400-\u9fff]")
_MIN_EVENT_LENGTH = {
    "en": 12,
    "zh": 20,
}  # in words and characters; the paper's example of a brief narrative has eight words


def is_placeholder(value: str) -> bool:
    """Whether a value is empty or a placeholder: `Not Provided`, `N/A`, `[hobbies]`, `未提供`."""
    stripped = value.strip()
    return not stripped or _PLACEHOLDER.match(stripped) is not None


def is_brief(narrative: str, lang: Lang) -> bool:
    """Whether a narrative is too short to describe an event."""
    return text_length(narrative, lang) < _MIN_EVENT_LENGTH[lang]


def text_length(text: str, lang: Lang) -> int:
    """Number of words; in Chinese, of characters and embedded words."""
    if lang == "zh":
        return len(_CJK.findall(text)) + len(_TOKEN.findall(_CJK.sub(" ", text)))
    return len(text.split())


def treats_assistant_as_person(question: str) -> bool:
    """Whether a question lists the assistant as a participant; talking with it is fine."""
    return _BESIDE_ASSISTANT.search(question) is not None and not _TALKING.search(question)


def strip_anchor(anchor: str) -> str:
    """Strip an anchor of spaces, punctuation, quotes, unpaired brackets and a leading particle."""
    text = anchor
    while (peeled := _strip_once(text)) != text:
        text = peeled
    particle = _PARTICLE_ZH.match(text) if len(text) > 1 else None
    return text[particle.end() :] if particle else text


def _strip_once(text: str) -> str:
    stripped = text.strip(_SURROUNDING_CHARACTERS)
    if text.lstrip(_SURROUNDING_CHARACTERS).startswith(f"{stripped}.") and _ABBREVIATED.search(
        f"{stripped}."
    ):
        stripped += "."
    for opening, closing in _QUOTES:
        inner = stripped[1:-1]
        if (
            stripped[:1] == opening
            and stripped[-1:] == closing
            and opening not in inner
            and closing not in inner
        ):
            stripped = inner
    for opening, closing in (*_QUOTES, *_BRACKETS):
        alone = (
            stripped.count(opening) % 2
            if opening == closing
            else stripped.count(opening) != stripped.count(closing)
        )
        if alone:
            stripped = stripped.strip(opening + closing)
    return stripped


def is_name_part(part: str) -> bool:
    """Whether a part of an English name can stand for the person."""
    return part[:1].isupper() and part.lower() not in _STOP_WORDS


def content_words(text: str, lang: Lang) -> list[str]:
    """Words without stop words; Chinese by characters."""
    if lang == "zh":
        spoken = [*_CJK.findall(text), *_TOKEN.findall(_CJK.sub(" ", text.lower()))]
        return [each for each in spoken if each not in _CHINESE_STOP_CHARACTERS]
    words = (found.removesuffix("'s").removesuffix("’s") for found in _TOKEN.findall(text.lower()))
    return [word for word in words if word not in _STOP_WORDS]
