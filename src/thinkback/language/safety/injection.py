"""Detection of instructions to the assistant (prompt injection) in English and Chinese text, without a model.

What the user is, has, likes, plans or wants to be called is a fact or a preference, however it is phrased
("from now on I drink tea", "please always call me Ann", 以后叫我小王). How the assistant must answer, and
what it must say, recommend, hide or ignore, is an instruction ("from now on always answer in French",
你必须推荐), even if the user means it: text in the memory must not control later answers. Requests of the
moment ("summarise this", "tell me a joke") have no later effect and are ignored.

Each sentence is encoded as a string of one-letter word classes (`injection_lexicon`). A possible instruction
(`_CORE_PATTERNS`) and the signs around it have weights; from `_INSTRUCTION_THRESHOLD` on it is an
instruction. All patterns are bounded, so the time is linear in the text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from thinkback.language.safety.injection_lexicon import CLAUSE_CODE, HARMLESS_CODE, encode_words
from thinkback.language.safety.normalise import MARK_PLACEHOLDER

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
_MACHINE = r"(?:ai|llm|agent|model|assistant|chat_?bot|bot)"
_NOTE = r"(?:notes?|hints?|messages?|instructions?|memos?|guidance|directives?|commands?|tips?)"
_MACHINE_FIELD = re.compile(  # "note_for_agent": "...", assistant_instructions = ...
    rf"(?<![\w])[\"']?(?:{_NOTE}[_-](?:for|to)[_-](?:the[_-])?{_MACHINE}s?|{_MACHINE}[_-]{_NOTE})[\"']?"
    r"\s{0,4}[:=]\s{0,4}(?:\"[^\"\n]{1,2000}\"?|'[^'\n]{1,2000}'?|[^\n]{1,2000})",
    re.I,
)
_CLAUSE_START = r"(?:^|(?<=[.,:;!?()\[\]>*\"'“”‘「『（【，。：；！？、\s-]))"
_HEADING = re.compile(
    rf"{_CLAUSE_START}(?:"
    r"(?:system|developer|admin)\s{1,3}(?:prompt|override|instructions?|command)\s{0,2}[:：]"
    r"|#{2,4}\s{0,3}(?:system|(?:new )?instructions?)\b\s{0,2}[:：]?"
    r"|(?:new|updated|hidden|secret)\s{1,3}(?:system\s{1,3})?(?:instructions?|directives?)\s{0,2}[:：]"
    r"|(?:override|sudo|jailbreak)\s{0,2}[:：]"
    r"|begin\s{1,3}(?:system|admin)\s{1,3}\w{1,12}\s{0,2}[:：]?)",
    re.I | re.M,
)
_SPEAKER_LABEL = re.compile(
    rf"{_CLAUSE_START}(?:(?:system|admin)(?:\s{{1,3}}(?:message|note|notice|update))?"
    rf"|{_ROLE_ZH})\s{{0,2}}[:：]",
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
    """Find tags, each with everything up to its closing tag, else to the end of the paragraph."""
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
    for pattern in (_ROLE_OBJECT, _MACHINE_FIELD):
        yield from (found.span() for found in pattern.finditer(text))


def _find_headings(text: str) -> Iterator[tuple[int, int]]:
    """Find headings with their lines; `System: Windows 11` is none, as it does not address a model."""
    for pattern in (_HEADING, _SPEAKER_LABEL):
        at = 0
        while found := pattern.search(text, at):
            at = found.end()
            if pattern is _HEADING or _ADDRESSED_TO_MODEL.search(text, at, at + 100):
                stop = text.find("\n", at)
                at = len(text) if stop < 0 else stop
                yield found.start(), at


def _find_notes(text: str) -> Iterator[tuple[int, int]]:
    """Find notes to machines ("Note to the AI: ...") up to the end of the quotation or line."""
    at = 0
    while found := _NOTE_TO_MACHINES.search(text, at):
        stop = _PASSAGE_END.search(text, found.end())
        at = stop.start() if stop else len(text)
        yield found.start(), at


_MARKUP_DETECTORS = (  # each with a pattern that a text must contain
    (_find_tags, re.compile(r"[<\[【]")),
    (_find_role_objects, re.compile(r"[\"']role|[a-z][_-][a-z]")),
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
    """Find forged tags, role objects, headings and notes, in order and without overlaps."""
    lower = text.lower()
    last = 0
    for start, end in sorted(
        span for detect, required in _MARKUP_DETECTORS if required.search(lower) for span in detect(text)
    ):
        if start >= last:
            last = end
            yield start, end


INSTRUCTION = "instruction"

_INSTRUCTION_THRESHOLD = 4

_CLAUSE_HEAD = (  # start of a clause without another subject, so that the reader is addressed
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
    (0, re.compile(r"B[wfe]{0,6}M[SnN]?[wahA]")),  # an assistant "must" do anything
    (3, re.compile(r"(?<![^,])[feSEMmYBKPL]{0,8}?O[fePHSYwDZB]{0,6}R")),  # ignore the rules
    (4, re.compile(r"(?<![^,])[feSEMmYBKPL]{0,8}?O[fe]{0,2}G")),
    (3, re.compile(r"L[PYHfew]{0,8}R[feSMmP]{0,4}O|R[fewPMmS,]{0,8}X")),
    (4, re.compile(r"K")),  # a new rule
    (2, re.compile(r"k")),
    (2, re.compile(r"V|E,?Ye(?![TSfe])")),  # a new persona
    (0, re.compile(r"Z(?:[wfe]{0,8}M|[wfe]{0,3}[mfe])")),  # the form of all answers
    (1, re.compile(r"m[Sfe]{0,3}Z")),
)
_RULES_OF_ASSISTANT = re.compile(r"[PHYB][fewP]{0,3}R|R[few]{0,3}[PY]")
_POSSESSION_OF_PERSON = re.compile(r"H(?![PwJfe]{0,2}R)")  # "your doctor" is said to a person
_SIGN_WEIGHTS = (  # of each line, the first sign that is present counts
    (("W", 3), ("E", 2), ("S", 1), ("n", 1), ("N", 1)),
    (("B", 2), ("bM", 1), ("bm", 1)),
    (("U", 2), ("u", 1)),
    (("C", 1),),
    (("Z", 2),),
    (("J", 2),),
)
_OPENING_CODES = "EWBUuCZKkVOYSnNMA"  # an instruction starts at the clause of the first of these

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


def detect_instructions(text: str) -> Iterator[tuple[int, int, bool]]:
    """Find the instructions to the assistant in normalised text: start, end, and whether it is certain.

    Forged markup is certain; commands are found by their words.
    """
    parts: list[str] = []
    at = 0
    for start, end in find_forged_markup(text):
        yield start, end, True
        parts += (text[at:start], MARK_PLACEHOLDER * (end - start))
        at = end
    for start, end in _find_commands("".join((*parts, text[at:]))):
        yield start, end, False


def _find_commands(text: str) -> Iterator[tuple[int, int]]:
    pasted = _PASTED_TEXT.search(text)
    quoted_from = pasted.start() if pasted else len(text)
    at = 0
    while at < len(text):
        end = _find_sentence_end(text, at)
        codes, positions = encode_words(text, at, end)
        core = match_instruction(codes, text[at:end], pasted=quoted_from < end)
        if core is None:
            at = end
            continue
        start = _instruction_start(text, codes, positions, core)
        at = _instruction_end(text, start, end, passage="O" in core[0])
        yield start, at


def match_instruction(codes: str, sentence: str, *, pasted: bool) -> re.Match[str] | None:
    """Return the core match if the sentence is an instruction.

    `codes` are the word classes of the sentence; `pasted` says that it is part of quoted or pasted text.
    """
    codes = _mark_clauses(codes)
    signs = pasted + sum(
        next((weight for sign, weight in alternatives if sign in codes), 0) for alternatives in _SIGN_WEIGHTS
    )
    if signs + _max_core_weight(codes) < _INSTRUCTION_THRESHOLD:
        return None
    best: tuple[int, re.Match[str]] | None = None
    for weight, pattern in _CORE_PATTERNS:
        core = pattern.search(codes)
        if core and (best is None or weight + _obligation_weight(core[0]) > best[0]):
            best = weight + _obligation_weight(core[0]), core
    if best is None:
        return None
    points = best[0] + signs
    if "R" in codes:
        points += ("R" not in best[1][0]) + bool(_RULES_OF_ASSISTANT.search(codes))
    if not {"U", "B"} & set(codes) and _POSSESSION_OF_PERSON.search(codes):
        points -= 2
    if _QUESTION_END.search(sentence) and not _RHETORICAL_QUESTION.search(sentence):
        points -= 2
    return best[1] if points >= _INSTRUCTION_THRESHOLD else None


def _max_core_weight(codes: str) -> int:
    """Upper bound for the weight of a core, so that most sentences need no search."""
    present = set(codes)
    core = 4 if present & set("KG") else 3 if present & set("OXC") else 2
    obligation = 3 if "M" in present else 1 if present & set("mESn") else 0
    return core + obligation + 2 * ("R" in present)


def _mark_clauses(codes: str) -> str:
    """Make "and" a clause boundary, unless a person before it is the subject of both clauses."""
    parts = [
        part.replace("&E", ",E").replace("&", HARMLESS_CODE if re.match("[^&]*[IT]", part) else CLAUSE_CODE)
        for part in codes.split(CLAUSE_CODE)
    ]
    return CLAUSE_CODE.join(parts)


def _obligation_weight(core: str) -> int:
    """Weight of the obligation: "you must" is stronger than "you should", "never do" than "do"."""
    if "M" in core:
        return 2 + (core[-1] == "a" and "Y" in core)
    if "m" in core or ("E" in core and core[-1] == "a"):
        return 1
    return int("Y" not in core and bool(re.search("[Sn]", core)))


def _instruction_start(text: str, codes: str, positions: list[int], core: re.Match[str]) -> int:
    first = min(
        (index for index, code in enumerate(codes[: core.end()]) if code in _OPENING_CODES),
        default=core.start(),
    )
    while first and codes[first - 1] not in ",&":
        first -= 1
    return positions[first]


def _instruction_end(text: str, start: int, end: int, *, passage: bool) -> int:
    """Extend an instruction to its closing bracket, or over the following sentences that continue it."""
    before = text[max(0, start - 40) : start].rstrip()[-1:]
    closing = text.find(_CLOSING_BRACKETS[before], start) if before in _CLOSING_BRACKETS else -1
    if closing > 0:
        return closing
    closed = _QUOTATION_END.search(text, end) if passage else None
    limit = closed.start() if closed else len(text)
    while end < limit and text[end - 1] != "\n":
        following = _find_sentence_end(text, end + 1)
        if passage:
            continues = not _USER_SPEAKS_AGAIN.match(text, end)
        else:
            codes, _ = encode_words(text, end, min(following, end + 60))
            continues = codes.lstrip(",&")[:1] in set("SnNEWMYAaBZK")
        if not continues:
            break
        end = following
    return end


def _find_sentence_end(text: str, at: int) -> int:
    stop = _SENTENCE_END.search(text, min(at, len(text)))
    if stop is None:
        return len(text)
    return stop.start() if stop[0] == "\n" and stop.start() >= at + 1 else stop.end()
