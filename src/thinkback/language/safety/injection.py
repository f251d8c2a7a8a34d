"""Detection of instructions to the assistant (prompt injection) in stored text: commands and forged markup."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from thinkback.language.safety.injection_lexicon import CLAUSE_CODE, HARMLESS_CODE, encode_words
from thinkback.language.safety.normalise import MARK_PLACEHOLDER, NormalisedText, QuarantinedSpan

_ROLE = r"(?:system|sys|inst|instructions?|assistant|developer|admin(?:istrator)?)"
_ROLE_ZH = (
    r"(?:系统(?:提示词?|消息|指令|通知|命令|管理员)?|管理员(?:指令|消息)?|开发者(?:指令|消息)?|指令|提示词)"
)
_ROLE_SUFFIX = r"(?:[\s_-]?(?:prompt|message|override|note))?"
_TAG = re.compile(
    rf"<\s?/?\s?{_ROLE}{_ROLE_SUFFIX}\s?>(?!\s?[:：])|<{{2}}/?SYS>{{2}}|<\|[a-z_]{{2,30}}\|>"
    rf"|\[\s?/?\s?{_ROLE}{_ROLE_SUFFIX}\s?\]|【\s?/?\s?{_ROLE_ZH}\s?】",
    re.I,
)
_CLOSING_TAG = re.compile(
    rf"<\s?/\s?{_ROLE}[^<>\n]{{0,12}}>|\[\s?/\s?{_ROLE}[^\[\]\n]{{0,12}}\]|【\s?/\s?{_ROLE_ZH}\s?】"
    rf"|<{{2}}/SYS>{{2}}|<\|(?:im_end|end|eot_id|endoftext)\|>",
    re.I,
)
_ROLE_OBJECT = re.compile(
    r"\{\s{0,4}[\"']role[\"']\s{0,4}:\s{0,4}[\"'](?:system|developer)[\"'][^{}]{0,4000}\}?", re.I
)
_CLAUSE_START = r"(?:^|(?<=[.,:;!?()\[\]>*\"'“”‘「『（【，。：；！？、\s-]))"
_HEADING = re.compile(
    rf"{_CLAUSE_START}(?:(?:system|developer|admin)\s{{1,3}}(?:prompt|override|instructions?|command)\s{{0,2}}[:：]"
    r"|#{2,4}\s{0,3}(?:system|(?:new )?instructions?)\b\s{0,2}[:：]?"
    r"|(?:new|updated|hidden|secret)\s{1,3}(?:system\s{1,3})?(?:instructions?|directives?)\s{0,2}[:：]"
    r"|(?:override|sudo|jailbreak)\s{0,2}[:：]"
    r"|begin\s{1,3}(?:system|admin)\s{1,3}\w{1,12}\s{0,2}[:：]?)",
    re.I | re.M,
)
_SPEAKER_LABEL = re.compile(
    rf"{_CLAUSE_START}(?:(?:system|admin)(?:\s{{1,3}}(?:message|note|notice|update))?|{_ROLE_ZH})\s{{0,2}}[:：]",
    re.I | re.M,
)
_ADDRESSED_TO_MODEL = re.compile(
    r"\b(?:you|user|assistant|must|ignore|always|never|admin|approved|instructions?|reveal|override"
    r"|granted|unrestricted|respond|answer)\b"
    r"|你(?!的)|用户|必须|忽略|无视|指令|规则|管理员|权限|回答|回复|推荐|总是|永远|助手|机器人",
    re.I,
)
_MACHINE_PATTERN = (
    r"(?:ais?|llms?|(?:ai|language|large language)\s{1,3}(?:models?|assistants?|agents?|systems?|readers?"
    r"|tools?)"
    r"|assistants?|chat\s?bots?|bots|models)"
)
_NOTE_TO_MACHINES = re.compile(
    rf"\b(?:notes?|attention|messages?|instructions?|reminder|memo|hint)\s{{1,3}}(?:to"
    rf"|for)\s{{1,3}}(?:\w{{1,9}}\s{{1,3}}){{0,2}}?"
    rf"{_MACHINE_PATTERN}\b[^.:：\n]{{0,40}}[:,：，-]"
    rf"|\battention[,:]?\s{{1,3}}(?:all\s{{1,3}})?(?:ai|llm|language\s{{1,3}}model"
    rf"|chatbot)s?\b(?:\s{{1,3}}\w{{1,12}})?[,:!]"
    rf"|\bif\s{{1,3}}you(?:\s{{1,3}}are|'re)\s{{1,3}}(?:an?\s{{1,3}})?{_MACHINE_PATTERN}\b[^.,\n]{{0,40}},"
    r"|致(?:所有|各位)?(?:AI|人工智能|语言模型|大模型|智能助手|助手)[^。\n：:，,]{0,8}[:：，,]"
    r"|[给对](?:所有|各位)?(?:AI|人工智能|语言模型|大模型|智能助手|助手)们?的(?:提示|说明|备注|指示|话"
    r"|要求|指令)[:：，,]"
    r"|(?:AI|语言模型|大模型|智能助手|助手)(?:读者|助手|模型)?(?:请注意|注意|须知|请看)[:：，,]?",
    re.I,
)
_PARAGRAPH_BREAK = re.compile(r"\n\s{0,20}\n")
_PASSAGE_END = re.compile('["”」』】\\]\n]')


def _find_tags(text: str) -> Iterator[tuple[int, int]]:
    """To the closing tag; a tag that is never closed takes its paragraph, a closing one itself."""
    closings = [found.end() for found in _CLOSING_TAG.finditer(text)]
    at = 0
    while found := _TAG.search(text, at):
        at = found.end()
        if not _CLOSING_TAG.fullmatch(found[0]):
            after = bisect_right(closings, at)
            if after < len(closings):
                at = closings[after]
            else:
                paragraph = _PARAGRAPH_BREAK.search(text, at)
                at = paragraph.start() if paragraph else len(text)
        yield found.start(), at


def _find_role_objects(text: str) -> Iterator[tuple[int, int]]:
    return (found.span() for found in _ROLE_OBJECT.finditer(text))


def _find_headings(text: str) -> Iterator[tuple[int, int]]:
    """`System: Windows 11` names a computer; what is addressed to a model speaks of you, the user, rules."""
    for pattern in (_HEADING, _SPEAKER_LABEL):
        at = 0
        while found := pattern.search(text, at):
            at = found.end()
            if pattern is _HEADING or _ADDRESSED_TO_MODEL.search(text, at, at + 100):
                stop = text.find("\n", at)
                at = len(text) if stop < 0 else stop
                yield found.start(), at


def _find_notes(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    while found := _NOTE_TO_MACHINES.search(text, at):
        stop = _PASSAGE_END.search(text, found.end())
        at = stop.start() if stop else len(text)
        yield found.start(), at


_MARKUP_DETECTORS = (  # what finds it, and what it cannot be without
    (_find_tags, re.compile(r"[<\[【]")),
    (_find_role_objects, re.compile(r"[\"']role")),
    (
        _find_headings,
        re.compile(
            "system|developer|admin|instruction|directive|override|sudo|jailbreak|##|系统|管理员|开发者"
            "|指令|提示词"
        ),
    ),
    (_find_notes, re.compile(r"(?<![a-z])(?:ais?|llms?)(?![a-z])|model|assistant|bot|人工智能|模型|助手")),
)


def find_forged_markup(text: str) -> Iterator[tuple[int, int]]:
    """Where such a thing stands with all it governs; in order and apart."""
    lower = text.lower()
    last = 0
    for start, end in sorted(
        each for reader, sign in _MARKUP_DETECTORS if sign.search(lower) for each in reader(text)
    ):
        if start >= last:
            last = end
            yield start, end


INSTRUCTION = "instruction"

_INSTRUCTION_THRESHOLD = 4

_CLAUSE_HEAD = (  # of a clause in which nobody else was named: whoever reads it is to do it
    r"(?<![^,])(?:E[UuCQYwfe]{1,8}+(?=[SM])|[feSnEMmYBbNZKPW]|L[wUuYBPRZfeDH]{1,10}+"
    r"|[Uu]?C[wfePQ]{0,5}+){0,10}+"
)
_CORE_PATTERNS = (
    (2, re.compile(rf"{_CLAUSE_HEAD}A")),
    (2, re.compile(r"(?<!Q)[YB][wfe]{0,6}[Mm][feSnEMmN]{0,5}A|(?<![QITL])M?Y[feSnEN]{0,4}A")),
    (1, re.compile(rf"{_CLAUSE_HEAD}[ah](?!Q)")),
    (1, re.compile(r"(?<!Q)[YB][wfe]{0,6}[Mm][feSnEMmN]{0,5}[ah](?!Q)|(?<![QITL])M?Y[feSnEN]{0,4}[ah](?!Q)")),
    (3, re.compile(r"[UuE][wfemP]{0,3}C[wfePHT]{0,8},[feSnEMmY]{0,3}A")),  # when asked, ...
    (2, re.compile(r"[UuE][wfemP]{0,3}C[wfePHT]{0,8},[feSnEMmY]{0,3}[ah](?!Q)")),
    (1, re.compile(r"[Uu][wfeCP,]{0,6}[Mm][fe]{0,2}p")),
    (0, re.compile(r"B[wfe]{0,6}M[SnN]?[wahA]")),  # whatever it must
    (3, re.compile(r"(?<![^,])[feSEMmYBKPL]{0,8}?O[fePHSYwDZB]{0,6}R")),  # away with the rules
    (4, re.compile(r"(?<![^,])[feSEMmYBKPL]{0,8}?O[fe]{0,2}G")),
    (3, re.compile(r"L[PYHfew]{0,8}R[feSMmP]{0,4}O|R[fewPMmS,]{0,8}X")),
    (4, re.compile(r"K")),  # a new rule
    (2, re.compile(r"k")),
    (2, re.compile(r"V|E,?Ye(?![TSfe])")),  # a new self
    (0, re.compile(r"Z(?:[wfe]{0,8}M|[wfe]{0,3}[mfe])")),  # the shape of every answer
    (1, re.compile(r"m[Sfe]{0,3}Z")),
)
_RULES_OF_ASSISTANT = re.compile(r"[PHYB][fewP]{0,3}R|R[few]{0,3}[PY]")
_POSSESSION_OF_PERSON = re.compile(r"H(?![PwJfe]{0,2}R)")  # "your doctor": said to a person
_SIGN_WEIGHTS = (  # the first that is there counts
    (("W", 3), ("E", 2), ("S", 1), ("n", 1), ("N", 1)),
    (("B", 2), ("bM", 1), ("bm", 1)),
    (("U", 2), ("u", 1)),
    (("C", 1),),
    (("Z", 2),),
    (("J", 2),),
)
_OPENING_CODES = "EWBUuCZKkVOYSnNMA"  # where the order begins: the clause of the first of these

_SENTENCE_END = re.compile("[.!?…]+[\"'”’)\\]]*(?=\\s|\\Z|[\u4e00-\u9fff])|[。！？]+[”’」』）】]*|\n")
_QUOTATION_END = re.compile('["”」』】]|\n')
_PASTED_TEXT = re.compile(
    r"\b(?:e-?mail|page|article|letter|document|cv|text|post|review|website|pdf|reads"
    r"|says)\b[^.。\n]{0,40}[:：]"
    r"|(?:邮件|网页|文章|原文|文档|帖子|简历|这段|公告|通知)[^。\n]{0,20}[:：]|---|[“「\"]|^>",
    re.I | re.M,
)
_USER_SPEAKS_AGAIN = re.compile(
    r"\s{0,4}(?:i|i'm|i've|my|we|our|what|where|when|who|how|why|which|can|could|thanks|thank|我|咱"
    r"|请问|帮我)(?:(?!\w)|(?<=[我咱问]))",
    re.I,
)
_QUESTION_END = re.compile("[?？吗][\"'”」\\s]*\\Z")
_RHETORICAL_QUESTION = re.compile(
    r"(?:understood|ok|okay|got it|clear|right|明白|懂|知道|听到)[了没吗]?\W{1,3}\Z", re.I
)
_CLOSING_BRACKETS = {"[": "]", "【": "】", "(": ")", "（": "）", "“": "”", "「": "」", "『": "』", '"': '"'}


def detect_instructions(folded: NormalisedText) -> Iterator[QuarantinedSpan]:
    """Every order to the assistant, in order."""
    parts: list[str] = []
    at = 0
    for start, end in find_forged_markup(folded.text):
        yield folded.original_span(start, end, INSTRUCTION)
        parts += (folded.text[at:start], MARK_PLACEHOLDER * (end - start))
        at = end
    for start, end in _find_commands("".join((*parts, folded.text[at:]))):
        yield folded.original_span(start, end, INSTRUCTION)


def _find_commands(text: str) -> Iterator[tuple[int, int]]:
    pasted = _PASTED_TEXT.search(text)
    quoted_from = pasted.start() if pasted else len(text)
    at = 0
    while at < len(text):
        end = _find_sentence_end(text, at)
        spelled, places = encode_words(text, at, end)
        core = match_instruction(spelled, text[at:end], pasted=quoted_from < end)
        if core is None:
            at = end
            continue
        start = _instruction_start(text, spelled, places, core)
        at = _instruction_end(text, start, end, passage="O" in core[0])
        yield start, at


def match_instruction(spelled: str, sentence: str, *, pasted: bool) -> re.Match[str] | None:
    """The core of an order, if the sentence is one."""
    spelled = _mark_clauses(spelled)
    signs = pasted + sum(
        next((weight for sign, weight in alternatives if sign in spelled), 0)
        for alternatives in _SIGN_WEIGHTS
    )
    if signs + _max_core_weight(spelled) < _INSTRUCTION_THRESHOLD:
        return None
    best: tuple[int, re.Match[str]] | None = None
    for weight, pattern in _CORE_PATTERNS:
        core = pattern.search(spelled)
        if core and (best is None or weight + _obligation_weight(core[0]) > best[0]):
            best = weight + _obligation_weight(core[0]), core
    if best is None:
        return None
    points = best[0] + signs
    if "R" in spelled:
        points += ("R" not in best[1][0]) + bool(_RULES_OF_ASSISTANT.search(spelled))
    if not {"U", "B"} & set(spelled) and _POSSESSION_OF_PERSON.search(spelled):
        points -= 2
    if _QUESTION_END.search(sentence) and not _RHETORICAL_QUESTION.search(sentence):
        points -= 2
    return best[1] if points >= _INSTRUCTION_THRESHOLD else None


def _max_core_weight(spelled: str) -> int:
    """What a core of these letters could weigh: most sentences need no search for one."""
    present = set(spelled)
    core = 4 if present & set("KG") else 3 if present & set("OXC") else 2
    binding = 3 if "M" in present else 1 if present & set("mESn") else 0
    return core + binding + 2 * ("R" in present)


def _mark_clauses(spelled: str) -> str:
    """ "And" opens a clause, unless whoever did what stands before it does what comes after it, too."""
    parts = [
        part.replace("&E", ",E").replace("&", HARMLESS_CODE if re.match("[^&]*[IT]", part) else CLAUSE_CODE)
        for part in spelled.split(CLAUSE_CODE)
    ]
    return CLAUSE_CODE.join(parts)


def _obligation_weight(core: str) -> int:
    """How the act is laid upon the reader: "you must" more than "you should", "never do" more than "do"."""
    if "M" in core:
        return 2 + (core[-1] == "a" and "Y" in core)
    if "m" in core or ("E" in core and core[-1] == "a"):
        return 1
    return int("Y" not in core and bool(re.search("[Sn]", core)))


def _instruction_start(text: str, spelled: str, places: list[int], core: re.Match[str]) -> int:
    first = min(
        (at for at, letter in enumerate(spelled[: core.end()]) if letter in _OPENING_CODES),
        default=core.start(),
    )
    while first and spelled[first - 1] not in ",&":
        first -= 1
    return places[first]


def _instruction_end(text: str, start: int, end: int, *, passage: bool) -> int:
    """Up to where it goes on: its brackets, what follows an overriding order, further orders."""
    before = text[:start].rstrip()[-1:]
    closing = text.find(_CLOSING_BRACKETS[before], start) if before in _CLOSING_BRACKETS else -1
    if closing > 0:
        return closing
    closed = _QUOTATION_END.search(text, end) if passage else None
    limit = closed.start() if closed else len(text)
    while end < limit and text[end - 1] != "\n":
        following = _find_sentence_end(text, end + 1)
        if passage:
            goes_on = not _USER_SPEAKS_AGAIN.match(text, end)
        else:
            spelled, _ = encode_words(text, end, min(following, end + 60))
            goes_on = spelled.lstrip(",&")[:1] in set("SnNEWMYAaBZK")
        if not goes_on:
            break
        end = following
    return end


def _find_sentence_end(text: str, at: int) -> int:
    stop = _SENTENCE_END.search(text, min(at, len(text)))
    if stop is None:
        return len(text)
    return stop.start() if stop[0] == "\n" and stop.start() >= at + 1 else stop.end()
