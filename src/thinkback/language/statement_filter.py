"""Selects the sentences that state facts; skips questions, conditions, wishes, jokes and tasks."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator

from thinkback.language.en.clauses import ALLERGY_FINDING
from thinkback.language.en.lexicon import word_set
from thinkback.language.sentences import Sentence, is_question, split_sentences
from thinkback.language.writing_systems import has_han
from thinkback.language.zh.clauses import ALLERGY_FINDING_ZH

MAX_SENTENCE_CHARS = 400
"""Longer sentences are not read by rules, which keeps the running time linear."""

_I = re.IGNORECASE
_HYPOTHETICAL = re.compile(
    r"\b(?:if|unless|suppos(?:e|ing)|imagin(?:e|ing)|pretend(?:ing)?|would|wouldn't|could|might|maybe|perhaps"
    r"|wish(?:es|ed)?|hop(?:e|es|ing)|as though|in case|what if|let's say|hypothetically|in theory"
    r"|thinking (?:of|about)|considering|dream(?:t|ed|ing|s)? (?:of|about|that)|i'd|not sure|i guess)\b"
    r"|(?<!not )(?<!n't )\bwants?(?:ed)? to\b|\bwanna\b",
    _I,
)
_HYPOTHETICAL_ZH = re.compile(
    "如果|要是|假如|假设|假使|倘若|万一|的话|希望|但愿|想要|真想|好想|(?<![不没])想(?:去|当|买|学|吃|做|成为"
    "|养|有|换|找|要)"
    "|可能|也许|或许|大概(?![\\d一二两三四五六七八九十])|说不定|幻想|梦见|梦到|想象|打比方|比如说?我"
    "|讲个.{0,4}笑话|冷笑话|歌词|台词|剧本|小说里"
    "|假装|扮演|下辈子"
)
_JOKE = re.compile(
    r"\b(?:just kidding|kidding|joking|jk|j/k|as a joke|sarcasm|lol jk)\b|/s\b|开玩笑|逗你的|骗你的"
    "|说着玩|闹着玩",
    _I,
)
_REPORTED_SPEECH = re.compile(
    r"(?P<who>[a-z']+)\s+(?:said|says|told|tells|claims?|claimed|is telling"
    r"|wrote|asked|thinks?|thought|believes?|suggested|mentioned|heard|assumes?)\b"
    r"|\baccording to\b|\b(?:lyrics|the song|the novel|the story|the movie|the film|the book|character)\b",
    _I,
)
_NOT_A_SPEAKER = word_set("i not never to haven't havent hasn't didn't didnt don't dont just also always")
_REPORTED_SPEECH_ZH = re.compile(
    "(?:(?<![跟和对向同])你|他|她|有人|别人|大家|医生|大夫|老师|朋友|同事|老板|新闻里?|网上|书上|妈妈?|爸爸?"
    "|老公|老婆)(?:刚才|之前|总|曾)?(?:说|告诉"
    "|认为|觉得|以为|问)"
)
_TASK = re.compile(
    r"(?:please\s+|can you\s+|could you\s+|help me\s+|now\s+)*(?:translate|proofread|paraphrase"
    "|rephrase|rewrite"
    r"|summari[sz]e|correct (?:this|the|my|these)|fix (?:this|the|my)|edit (?:this|the|my)|continue the"
    r"|write (?:me )?(?:an? |the )?(?:\w+ )?(?:story|poem|essay|dialogue|letter|email|song|script|sentence)"
    r"|act as|role-?play|you are|repeat after me"
    r"|(?:i'm|i am|im) writing (?:an? |my )?(?:\w+ )?(?:story|poem|novel|script|song|screenplay|play"
    r"|fanfic))\b",
    _I,
)
_TASK_ZH = re.compile(
    "请?(?:帮我)?(?:把.{0,20})?(?:翻译|改写|润色|续写|总结|校对|造句|写一[篇首封段个]|扮演|重复)"
)
_COMMA_ZH = re.compile("[，,；;]")
_QUOTATION = re.compile('["“「『](.{1,300}?)["”」』]')
_TAG_QUESTION_ZH = re.compile("(?:对吗|是吗|对不对|是不是|对吧|是吧|没错吧|记得吗|好吗)[？?]?\\Z")
_QUESTION_START = re.compile(
    r"(?:,|\s-|—|;)\s*(?:so |and |but |then )?(?=(?:what|where|who|how|which|why|when|do|does|did"
    "|can|could|would"
    r"|will|should|is there|are there|any)\b(?!(?: (?:you )?remember| it\b)))",
    _I,
)


_CONDITIONAL = re.compile(r"if|unless|in case|as though", _I)
_MAKE_BELIEVE = re.compile(
    r"suppos|imagin|pretend|let's say|hypothetically|in theory|what if|dream|as though", _I
)
_CLAUSE_BORDER = re.compile(
    r"\s*[,;:—–]\s*(?:(?:but|so|and|though|although|cos|cuz|because|while)\s+)?|\s+-+\s+"
    r"|\s+(?:but|so|and|though|although|cos|cuz|because|while)\s+",
    _I,
)
_AFTERTHOUGHT = re.compile(
    r"(?:i wish|i hope|i guess|maybe|perhaps|hopefully|in theory|not sure|hypothetically|would be nice"
    r"|if only"
    r"|as if|in my dreams)\W*\Z",
    _I,
)
_FUTURE_CONDITION = re.compile(
    r"(?:when|once|should|were|had|say|assuming|as soon as|whenever|one day|provided)\b", _I
)
_BUT_FIRST_PERSON = (
    r"\bbut\s+(?:(?:now|actually|still|anyway|currently|for now|right now|in reality|these days),?\s+)*"
    r"(?=(?:I|I'm|I've|im|my|we|we're)\b)"
)
_CONTRAST = re.compile(_BUT_FIRST_PERSON, _I)
_CONTRAST_OR_RESULT = re.compile(
    _BUT_FIRST_PERSON + r"|\bso\s+(?:now\s+)?(?=(?:I|I'm|I've|im|my|we|we're)\b)", _I
)


def find_statements(text: str, *, skip: Container[Sentence] = ()) -> list[Sentence]:
    """The sentences, or parts of sentences, of a message that state something as true.

    Sentences in `skip` are left out because they are read elsewhere: requests to forget and corrections.
    """
    return [part for sentence in _user_sentences(text, skip) for part in _stated_parts(sentence)]


def find_asides(text: str, *, skip: Container[Sentence] = ()) -> list[Sentence]:
    """Sentences of hearsay or doubt; they still say who somebody is: "my boss Ann says ..."."""
    return [
        sentence
        for sentence in _user_sentences(text, skip)
        if not is_question(sentence.text)
        and not _has_quotation(sentence.text)
        and _stated_parts(sentence) != [sentence]
        and not _MAKE_BELIEVE.search(sentence.text)
    ]


def _user_sentences(text: str, skip: Container[Sentence]) -> list[Sentence]:
    """The sentences in the user's own voice: no jokes, tasks, code blocks or quotations."""
    if _JOKE.search(text):
        return []
    kept: list[Sentence] = []
    in_code_block = False
    for sentence in split_sentences(text):
        if sentence.text.startswith("```"):
            in_code_block = not in_code_block
        if in_code_block or sentence in skip or sentence.text.startswith((">", "```")):
            continue
        if _TASK.match(sentence.text) or _TASK_ZH.match(sentence.text):
            break  # the rest is the material of the task
        if len(sentence.text) <= MAX_SENTENCE_CHARS:
            kept.append(sentence)
    return kept


def is_pure_question(text: str) -> bool:
    """Whether a sentence only asks and states nothing before its question."""
    sentence = Sentence(text, 0, len(text))
    return is_question(text) and _before_question(sentence) is None


_HARMLESS_PHRASE = re.compile(
    r"\b(?:never thought|who would have thought|can't believe) (?:that )?I(?:'d| would) (?:ever )?(?:say"
    r"|admit|do) "
    r"(?:this|that|it)\b,?"
    r"|\bif (?:you (?:need|must|want|wanna|ever need|can|are (?:wondering|curious)|were wondering)|it"
    r" helps|that helps|anyone asks"
    r"|it matters|you're (?:wondering|curious|interested))\b[\w ]{0,20}?(?=[,.!)]|\Z|\s(?:my|I|I'm)\b)"
    r"|\bin case (?:you|it)[\w ]{0,25}?(?=[,.!)]|\Z)"
    r"|\bI(?:'d| would) (?:call [\w' -]{2,40}? my\b|say (?=(?:I|I'm|my)\b))"
    r"|\b(?:the|my) (?:bathroom )?scales? (?:says?|said)(?= \d)"
    rf"|\b{ALLERGY_FINDING}"
    f"|{ALLERGY_FINDING_ZH}",
    _I,
)


def _stated_parts(sentence: Sentence) -> list[Sentence]:
    """The parts of a sentence that are stated as true."""
    part = _before_question(sentence) if is_question(sentence.text) else sentence
    part = None if part is None else _before_supposition(part)
    return [] if part is None or _has_quotation(part.text) else list(_certain_parts(part))


def _certain_parts(part: Sentence) -> Iterator[Sentence]:
    """The text before a doubt or hearsay, and a contrast after "but"; everything if there is neither."""
    text = _HARMLESS_PHRASE.sub(lambda match: " " * len(match.group()), part.text)
    doubt, hearsay = _HYPOTHETICAL.search(text), _find_hearsay(text)
    if doubt is None and hearsay is None and not _is_doubtful_zh(text):
        yield part
        return
    first = min((each for each in (doubt, hearsay) if each), key=lambda each: each.start(), default=None)
    if first is None or has_han(text) or _MAKE_BELIEVE.search(text):
        return
    border = next(
        (each for each in reversed([*_CLAUSE_BORDER.finditer(text, 0, first.start())]) if each.start()), None
    )
    is_separate = border and (border.end() == first.start() or not _CONDITIONAL.match(first.group()))
    if (
        border
        and is_separate
        and not (_AFTERTHOUGHT.match(text, border.end()) or _FUTURE_CONDITION.match(text))
    ):
        before = _truncate(part, border.start())
        yield from [before] if before else []
    if contrast := (_CONTRAST_OR_RESULT if first is hearsay else _CONTRAST).search(text, first.end()):
        yield from _certain_parts(
            Sentence(part.text[contrast.end() :], part.start + contrast.end(), part.end)
        )


def _before_supposition(sentence: Sentence) -> Sentence | None:
    """The text before the first Chinese clause that supposes or wishes; everything after depends on it."""
    hypothetical = _HYPOTHETICAL_ZH.search(sentence.text)
    if hypothetical is None:
        return sentence
    commas = [comma.start() for comma in _COMMA_ZH.finditer(sentence.text, 0, hypothetical.start())]
    if "的话" in sentence.text:
        commas = commas[:-1]
    return _truncate(sentence, commas[-1]) if commas else None


def _before_question(sentence: Sentence) -> Sentence | None:
    """The statement before a question: "I live in Paris, what should I see?"

    None for a tag question ("I live in Paris, right?").
    """
    question = _QUESTION_START.search(sentence.text)
    if question is not None and question.start() > 0:
        return _truncate(sentence, question.start())
    comma = max(sentence.text.rfind("，"), sentence.text.rfind(", "))
    if (
        comma > 0
        and not _TAG_QUESTION_ZH.search(sentence.text)
        and re.search("[\u4e00-\u9fff]", sentence.text)
    ):
        return _truncate(sentence, comma)
    return None


def _truncate(sentence: Sentence, end: int) -> Sentence | None:
    """The sentence up to `end`; None if that is a question itself."""
    text = sentence.text[:end].rstrip()
    return None if is_question(text) else Sentence(text, sentence.start, sentence.start + len(text))


def _find_hearsay(text: str) -> re.Match[str] | None:
    """The first place where somebody else is quoted."""
    return next(
        (
            match
            for match in _REPORTED_SPEECH.finditer(text)
            if (match["who"] or "").lower() not in _NOT_A_SPEAKER
        ),
        None,
    )


def _is_doubtful_zh(text: str) -> bool:
    """Whether a Chinese text supposes something or reports hearsay."""
    return bool(_HYPOTHETICAL_ZH.search(text) or _REPORTED_SPEECH_ZH.search(text))


def _has_quotation(text: str) -> bool:
    """Whether the text quotes more than a title."""
    return any(is_quoted_clause(match[1]) or match.start() == 0 for match in _QUOTATION.finditer(text))


def is_quoted_clause(quoted: str) -> bool:
    """Whether quoted words are a sentence, not a title or a name."""
    return bool(re.search(r"\b(?:I|I'm|my|we|you|he|she|is|are|am)\b|[我你他她]", quoted))
