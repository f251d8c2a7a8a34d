"""The tense of a question: whether it asks for the present state, for a former one, or neither.

A former state ("where did I live before", 我以前住哪) is looked up among retired thoughts. It takes a word
for "before" and a lasting state. What somebody once did or said ("the film I mentioned before",
我曾经和你推荐过) is an event, which never becomes outdated.
"""

from __future__ import annotations

import re
from typing import Literal

from thinkback.language.writing_systems import has_han

Tense = Literal["now", "before", "any"]

_I = re.IGNORECASE
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_IRREGULAR_PAST_WORDS = """
did didn't was wasn't were weren't had hadn't went ate saw met bought took made got told said gave wrote ran
won lost broke sold flew thought felt found left came began drove grew heard kept knew spoke spent taught wore
been done gone seen eaten given chose slept paid sent brought caught became drew drank forgot held sang sat
stood swam understood woke built fell fought hid hurt led meant rode shown sung taken written
"""
_ADJECTIVE_WORDS = """
need indeed hundred speed breed named called married related employed interested based supposed retired
divorced engaged scared bored excited tired worried preferred beloved naked sacred wicked blessed gifted
talented separated registered enrolled involved
"""  # adjectives that look like a past tense
_PRESENT_WORDS = """
am is are do does don't doesn't isn't aren't have has i'm it's he's she's what's where's who's how's when's
that's there's i've
"""
_PAST_FORMS, _ADJECTIVES_IN_ED, _PRESENT_FORMS = (
    frozenset(words.split()) for words in (_IRREGULAR_PAST_WORDS, _ADJECTIVE_WORDS, _PRESENT_WORDS)
)
_ASKING_PHRASE = re.compile(
    r"\b(?:(?:can|could|would|will|do|did) you (?:please |still |also |even |happen to )*"
    r"(?:tell me|remember|recall|know|remind me)|(?:please )?(?:tell|remind) me|remember)\b"
    "|(?:你|您)?(?:现在|如今)?(?:是否|还|也)?记得|(?:你|您)?(?:现在|还)?知道|告诉我(?!过)|请问|我想(?:问|知道)|我记得",
    _I,
)
_CONVERSATION_VERB = re.compile(
    r"\b(?:mention(?:ed)?|tell|told|sa(?:y|id)|talk(?:ed|ing)?|discuss(?:ed)?|recommend(?:ed)?|suggest(?:ed)?"
    r"|shared?|ask(?:ed)?|chat(?:ted)?|bring up|brought up|g[ai]ve me|consult(?:ed)?|teach|taught me"
    r"|advi[sc]ed?|with you|to you|conversation)\b"
    "|推荐|提到|提过|提起|说过|说起|讲过|告诉|分享|聊过|聊到|聊了|问过|咨询|请教|建议|介绍|教过?我|给过?我|[和跟对]你",
    _I,
)

_CHANGEABLE_NOUN = (
    r"(?:jobs?|employers?|compan(?:y|ies)|boss(?:es)?|manager|landlord|address(?:es)?|apartments?|flats?"
    r"|houses?|homes?|place|city|town|country|school|college|university|major|(?:phone )?number|phone|email"
    r"|cars?|bike|laptop|computer|(?:sur|nick|user)?name|roles?|positions?|title|careers?|occupation"
    r"|profession|salary|team|coach|teacher|tutor|doctor|dentist|therapist|(?:room|flat|house)mates?"
    r"|partners?|boyfriends?|girlfriends?|wife|wives|husbands?|spouse|marriage|relationships?|dogs?|cats?"
    r"|pets?|diet|medications?|medicine|dose|routine|hobb(?:y|ies)|favou?rite|neighbou?rhood|neighbou?rs?"
    r"|colleagues?|co-?workers?|workplace|office|gym|band|bank|insurance|hairstyle|weight|password)\b"
)
_NOUN_AFTER_OLD = (  # not "friend": an old friend is still a friend
    "(?:jobs?|boss|company|address|apartment|flat|house|place|number|phone|email|office|employer|landlord"
    "|name)"
)
_NOUN_AFTER_LAST = (
    "(?:job|employer|boss|company|apartment|flat|address|landlord|workplace|boyfriend|girlfriend|roommate)"
)
_POSSESSIVE = r"(?:my|our|his|her|their|\w+'s)"
_FORMER_STATE = re.compile(
    r"\bformerly\b|\bformer (?=[a-z])"
    rf"|\b(?:(?:previous|prior)|{_POSSESSIVE} past) (?:\w+ )?{_CHANGEABLE_NOUN}"
    r"(?! (?:appointment|visit|meeting|interview|game|match|trip))"
    rf"|\b{_POSSESSIVE} old (?:phone )?{_NOUN_AFTER_OLD}\b|\b{_POSSESSIVE} last {_NOUN_AFTER_LAST}\b"
    rf"|\b{_POSSESSIVE} ex\b|\bex-(?!pat)[a-z]{{3}}|\bno longer\b"
    r"|\A\W*(?:what|which|who|where)\b[^.?!]{0,80}n't\b[^.?!]{0,40}\bany ?more\b"
    "|前(?:任|男友|女友|男朋友|女朋友|妻|夫|老板|上司|同事|公司|东家|雇主|单位|室友|房东|队友|领导|老公|老婆|主管)"
    "|上一(?:份|家|任|个|位)(?:工作|公司|单位|老板|东家|领导|雇主|房东|室友|地址|手机号|男友|女友|住处|房子)"
    "|旧(?:地址|址|居|号码|手机号|电话|公司|名字?|邮箱|单位)|(?<!再也)(?<!能)不再(?!见)",
    _I,
)
_USED_TO = re.compile(r"\bused to\b|\bdid(?:n't)?\b[^.?!]{0,40}?\buse to\b", _I)
# "am I used to it", and "what did I use to fix it"
_NOT_FORMERLY_USED_TO = re.compile(
    r"(?:\b(?:be|is|am|are|was|were|been|being|get|gets|got|getting|become|became|grow|grew)|'(?:m|s|re))"
    r"(?: \w+)? used to\b"
    r"|\A\W*(?:what|which|how)\b[^?]{0,80}?\bused? to (?:fix|clean|make|cut|build|repair|open|buy|pay|edit"
    r"|create|cook|write|draw|paint|treat|remove|cover|get|find|describe|measure)\b",
    _I,
)

_EARLIER_WORD = re.compile(
    r"\b(?:before(?! (?:the |my |our |that |an? )?(?:\w+ )?(?:exams?|tests?|meetings?|interviews?|bed"
    r"|breakfast|lunch|dinner|work|sleep|class|party|wedding|trip|flight)\b)|prior to|previously"
    r"|originally(?! from| come)|initially|at first(?! (?:sight|glance))"
    r"|in the past(?! (?:\w+ )?(?:day|week|month|year))|once|back then)\b",
    _I,
)
_FIRST_STAGE = re.compile(
    r"\bat the (?:very )?(?:start|beginning|outset)\b|\bearly on\b|\bto begin with\b"
    r"|\bfirst (?:plan|price|offer|estimate|calculation|idea|choice|version)\b"
    r"|\bfirst (?:been )?(?:planned|meant|supposed|agreed|intended|booked|set)\b"
    r"|\b(?:plan|mean|intend|want|agree)(?:ned|t|ed|d)? (?:\w+ )?first\b",
    _I,
)
_STATE_VERB = (
    r"(?:liv(?:e|ed|ing)|resid(?:e|ed|ing)|work(?:ed|ing)?(?! (?:on|out)\b)|employed|stud(?:y|ied|ying)"
    r"|(?<!my )own(?:ed)?|rent(?:ed|ing)?|belong(?:ed)?|smoked?|dated|dating|married|major(?:ed|ing)?)"
)
_STATE_NOUN = (
    r"(?:jobs?|address(?:es)?|employers?|boss|career|occupation|profession|hobb(?:y|ies)|favou?rite)"
)
# with a subject, so that "the man in the film who lived alone" does not match
_STATE_PHRASE = re.compile(
    rf"\b(?:did|was|were|have|has|had) (?:\w+ ){{1,3}}?(?:{_STATE_VERB}|allergic|afraid|do for a living"
    r"|do before (?:i (?:became|was|started|joined)|becoming|joining|starting|this job))\b"
    rf"|\b(?:i|we|he|she|they|my \w+) (?:was |were |had |once )?{_STATE_VERB}\b"
    rf"|\b{_POSSESSIVE} (?:\w+ )?{_STATE_NOUN}\b|\b(?:what|which|many) (?:\w+ )?{_STATE_NOUN}\b"
    r"|\bdid (?:\w+ ){1,3}?(?:like|love|hate|prefer|want|think|believe|drive|speak|weigh|have (?:a|an|any) )"
    r"|\b(?:was|were) (?:\w+ ){1,4}?(?:called|named|like)\b"
    r"|\bwere (?:we|you|they) (?:a|an)\b|\bwas (?:i|he|she) (?:a|an)\b",
    _I,
)

# what somebody or something was before an event or another one: "what did I earn before the promotion"
_BEFORE_CHANGE = re.compile(
    r"\A\W*(?:(?:what|which|who|whom|whose|where)\b|how (?:much|many|often)\b)"
    r"[^.?!]{0,60}?\b(?:was|were|did|had)\b[^.?!]*\bbefore \w",
    _I,
)
_EARLIER_WORD_ZH = re.compile(
    "(?<![天日周月年期时钟])(?:以前|之前)|从前|原先|早先|起初|最初|一开始|曾经|曾(?=[在是任住养当有做于就工用开])|(?<=[^，。？！,?!\\s])原(?:来|本)"
    "|(?<![走跑飞开搬寄送拿赶坐骑发回转么要能想会得])过去(?!的?[\\d一二两三四五六七八九十几半])"
)
_FIRST_STAGE_ZH = re.compile("最早|最开始|一开始|最初|起初|起先|当初|原先|本来")
_BY_THEN_ZH = re.compile(
    "那会儿?|那阵子?|那时|上(?:学期|半年|个月|周)|去年|前年|前后|当时|(?:刚|还没)[^，。？！,?!]{1,8}的时候"
)
_BEFORE_ROUTINE_ZH = re.compile(
    "(?:睡觉?|吃饭|出门|上班|下班|起床|考试|开会|比赛|上课|出发|手术|面试)(?:以前|之前)"
)
_EVENT_VERB_ZH = "(?:看|听|去|吃|买|玩|读|学|画|拍|写|见|遇|参加|参观|尝试|收|送|丢|换|做|煮|订|点|找|约|借)"
_STATE_PHRASE_ZH = (
    "(?:住|居住|定居|工作|上班|任职|就职|打工|上学|读书|念书|就读|读的?(?:大学|高中|专业)|职业|"
    "(?:做|干)(?:什么|啥)(?:工作|职业|的|？|\\?|\\Z)|(?:做|干)哪[一]?行|是(?:做|干|谁|哪里人|单身|什么|哪)|叫(?:什么|啥)|"
    "(?:最|不|很|更)?(?:喜欢|讨厌|害怕|爱[吃喝看听玩])|养|抽烟|吸烟|喝酒|开(?:的|什么|哪)|用(?:的|什么|哪)|当过?|信|"
    "的?(?:公司|单位|老板|领导|上司|同事|室友|房东|地址|住址|电话|手机号|邮箱|名字|昵称|男朋友|女朋友|工资|职位|专业|学校|爱好|习惯)|"
    "经常|常常|总是?|每天|每周|有(?:几|什么|多少|没有))"
)
_FORMER_STATE_ZH = re.compile(
    f"(?:{_EARLIER_WORD_ZH.pattern})(?P<gap>[^，。？！,?!；;]{{0,10}}?){_STATE_PHRASE_ZH}"
)
# 换药之前吃的是哪个, 当店长之前底薪多少: a state before an event, not the time of an event
_BEFORE_CHANGE_ZH = re.compile(
    "(?<![天日周月年期时钟])(?:之前|以前)(?!什么时候|几时|何时)[^。？！?!]*(?:什么|啥|哪|谁|多少|几|咋)"
)
_ASKS_WHEN_ZH = re.compile("什么时候|啥时候|何时|几[号点月]|哪[天年]|多久")
_PAST_EVENT_ZH = re.compile(f"{_EVENT_VERB_ZH}(?:过|了|到|完|的)|那[家个部本首次位款]")
_LASTING_STATE = re.compile(
    r"\b(?:liv(?:e|ed|ing)|resid(?:e|ed|ing)|employed|stud(?:y|ying)|(?<!my )own"
    r"|job(?! (?:interview|offer|fair|application))|occupation|profession|address"
    r"|work(?:ed|ing)? (?:for|at|as)|(?:where|who) (?:did|was|were) (?:\w+ ){1,3}work(?:ing)?)\b"
    "|住|工作|上班|任职|读书|上学|就读|职业|地址",
    _I,
)

_NOW_WORD = re.compile(
    r"(?<!\buntil )(?<!\btill )(?<!\bfrom )(?<!\bby )(?<!\bjust )(?<!\bto )\bnow\b(?! and (?:then|again))"
    r"|\b(?:currently|current|at present|presently|at the moment|these days|nowadays|as of today|still"
    r"|any ?more|any longer)\b",
    _I,
)
_NOW_WORD_ZH = re.compile(
    "(?<![到至])(?:现在|现如今|如今|目前|眼下|当前|现阶段)(?!为止)|还(?:(?:住|喜欢|爱|养|用|抽|喝|吃|玩|打|练|学|当)(?![了过])|单身|"
    "是(?=单身|在|住|那|原|喜欢|一个人|老样子)|在(?=住|学|用|吃|喝|玩|打|练|养|上|做|读|找|写|当|追|看|听|戒|减|工作|那|这|原|跟|和|[^，。？]{0,8}(?:吗|么|没)))"
    "|仍然?|依然|依旧"
)
_PAST_MARKER_ZH = re.compile(
    "了(?!解|不)|(?<![不超难太])过(?![敏年节生去程分日期夜于])|曾(?![老先姐哥总医教])|当时|那[时天年次会]|上[次回]|以前|之前|第一次|小时候|儿时|童年"
)
_PRESENT_STATE_ZH = re.compile(
    "喜欢|讨厌|住|过敏|害怕|叫什么|叫啥|是什么(?!时候)|是谁|是哪|是多少|是几|多大|几岁|多高|多重|有什么|有几|有多少|有哪些|有没有"
    "|在哪|做什么|哪里人|属什么|什么工作|爱[吃喝看听玩]|会[说讲弹]|养|单身|结婚|[是有在会]吗|对吗|会不会|是不是"
)
# quick check before the patterns: most questions have none of these words
_CUE_WORDS = (
    "former formerly previous prior past old last ex ex's longer anymore more",
    "before prior previously originally initially first past once then start beginning outset early begin",
    "now currently current present presently moment days nowadays today still anymore more longer",
)
_FORMER_CUES, _EARLIER_CUES, _NOW_CUES = (frozenset(words.split()) for words in _CUE_WORDS)


def is_past(text: str) -> bool:
    """Whether a text is in a past tense."""
    words = _words(text)
    if words & _PAST_FORMS or any(
        w.endswith("ed") and len(w) > 4 and w not in _ADJECTIVES_IN_ED for w in words
    ):
        return True
    return bool(_PAST_MARKER_ZH.search(text))


def detect_query_tense(text: str, *, timed: bool, long_ago: bool) -> Tense:
    """Detect the tense of a question whose titles and times are blanked out (see `query_time`).

    `timed` says that the question names a time, `long_ago` that this time is long over. Returns "now",
    "before" (a former state) or "any".
    """
    chinese = has_han(text)
    if chinese or not _words(text).isdisjoint(("you", "me", "remember")):
        text = _ASKING_PHRASE.sub(" ", text)
    words = _words(text)
    before = _asks_former_state(text, words, chinese) or (long_ago and _asks_lasting_state(text, chinese))
    if _asks_present_state(text, words, chinese):
        return "any" if before else "now"
    if before:
        return "before"
    present = _PRESENT_STATE_ZH.search(text) if chinese else words & _PRESENT_FORMS
    past = is_past(text) or (chinese and _BY_THEN_ZH.search(text))
    return "now" if present and not timed and not past else "any"


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _asks_lasting_state(text: str, chinese: bool) -> bool:
    if not _LASTING_STATE.search(text) or _CONVERSATION_VERB.search(text):
        return False
    return not _PAST_EVENT_ZH.search(text) if chinese else is_past(text)


def _asks_former_state(text: str, words: set[str], chinese: bool) -> bool:
    if (chinese or words & _FORMER_CUES or "ex-" in text) and _FORMER_STATE.search(text):
        return True
    if words & {"used", "use"} and _USED_TO.search(text) and not _NOT_FORMERLY_USED_TO.search(text):
        return True
    if _CONVERSATION_VERB.search(text):
        return False
    if chinese:
        return _asks_former_state_zh(text)
    if not words & _EARLIER_CUES or not is_past(text):
        return False
    earlier = _EARLIER_WORD.search(text)
    return bool(
        _FIRST_STAGE.search(text) or (earlier and (_STATE_PHRASE.search(text) or _BEFORE_CHANGE.search(text)))
    )


def _asks_former_state_zh(text: str) -> bool:
    plain = _BEFORE_ROUTINE_ZH.sub(" ", text)
    former, change = _FORMER_STATE_ZH.search(plain), _BEFORE_CHANGE_ZH.search(plain)
    if _FIRST_STAGE_ZH.search(text) or (former and not _PAST_EVENT_ZH.search(former["gap"])):
        return True
    return bool(change and not _PAST_EVENT_ZH.search(change[0]) and not _ASKS_WHEN_ZH.search(change[0]))


def _asks_present_state(text: str, words: set[str], chinese: bool) -> bool:
    """Whether the question explicitly asks for the present ("now", "still", but not "was still")."""
    if chinese:
        return bool(_NOW_WORD_ZH.search(text))
    if not words & _NOW_CUES or not _NOW_WORD.search(text):
        return False
    return not words & {"did", "was", "were", "had"} or bool(words & {"do", "does", "am", "is", "are"})
