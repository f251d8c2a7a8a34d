"""Values that a sentence hands over as a means of access, without a label: "the shed wants 6614 and a pull".

A candidate is a number, a token of letters and digits, spelled digits, a quotation, or the words after "is"
in a sentence about passwords. Its features are its shape, the words beside it, and the concepts of
`access.toml` in its sentence and in those next to it: what is opened, what is done with the value, and
harmless numbers (prices, dates, room numbers). The weights are those of the trained detector; see `detector`.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import combinations, islice
from typing import NamedTuple

from thinkback.language.safety.concept_table import UNSPACED, ConceptTable, fold
from thinkback.language.safety.joined_words import contains_joined_word, is_joined_words
from thinkback.language.safety.normalise import MARK_PLACEHOLDER
from thinkback.language.safety.secret_formats import has_other_label
from thinkback.language.safety.secret_labels import ORDINARY_VALUE, ORDINARY_WORDS, UNIT_AFTER
from thinkback.language.safety.spelled_values import DIGIT_WORD, HAN_DIGIT, SPELLED, TENS_WORD
from thinkback.language.safety.windows import find_sentences

_MAX_SENTENCE_CHARS = 400
_READ_WORDS = 16  # on each side of a candidate
_NEAR_WORDS = 5
_MAX_PAIRED = 12  # concepts
_STEM_LETTERS = 6

_NUMBER = re.compile(
    r"(?<![A-Za-z0-9_.,:/$€£¥%+-])[*#]{0,2}\d(?:(?:[ .–/-]|, )?\d){2,22}"
    r"(?:[*#]{1,2}|(?![A-Za-z0-9_%]|[.,:/]\d))"
)
_MAX_PRICE_CONTEXT = 60  # characters before a number
_RANGE = re.compile(r"\d{1,2}[–-]\d{1,2}")
_NUMBERED = re.compile(  # things with a number of their own
    r"(?:\b(?:route|bus|tram|train|flight|room|page|chapter|line|platform|extension|highway|model|version|form"
    r"|letter|ticket|vorgang|dossier|unit|flat|apartment|wohnung|appartement|zimmer|linie|seite|chambre|ligne)"
    r"|航班|房间|型号|门牌|工号|工单)\s?#?\Z",
    re.I,
)
_PRICE_BEFORE = re.compile(
    r"(?:\b(?:paid|paying|(?:costs?|costing|charged?|charging|quoted?|quotes|owes?|owed|lent)"
    r"(?: (?:me|him|her|us))?|came to|comes to|spent|earns?|earning|salary|wages?|rent)(?: (?:is|was))?"
    r"|\b(?:got|bought|sold) (?:it|them|one|mine) for"
    r"|(?:[花卖赚挣欠]了?|薪|工资|房租|租金|学费)(?:[要是到就才]|一共)?)\s?\Z",
    re.I,
)
_LOCKED = frozenset(("object.entrance", "object.container", "object.alarm", "action.open", "action.turn"))
_PRICE_VALUE = re.compile(r"(?:[$€£¥]\d[\d.,]*|\d+)k?/(?:mo|month|hr|hour|wk|week|day|yr|year)", re.I)
_PRICE_AFTER = re.compile(r"\s?(?:cash\b|(?:/|an? |per )(?:mo|month|hr|hour|night|wk|week|day|yr|year)\b)")
_YEARS = re.compile(r"(?:1[89]|20)\d\d(?:[ ,–-]+(?:1[89]|20)\d\d)+")
_DIAL = re.compile(
    r"(?<![A-Za-z0-9_.,:/$€£¥])\d{1,2}(?:\s?[-–—,/;、，]\s?(?:then |and |再|然后)?\d{1,2}){2,5}"
    r"(?![A-Za-z0-9_.,:/]*\d|\s?[%€$])"
)
_LOOSE_DIAL = re.compile(
    r"(?<![A-Za-z0-9_.,:/$€£¥])\d{1,2}(?:[^\d.。!?！？\n]{1,24}\d{1,2}){1,5}(?![\d.,:/]*\d|\s?[%€$])"
)
_MIN_LOOSE_NUMBERS = 2  # without a side to which the dial is turned
_SIDE = re.compile(
    r"\b(?:left|right|(?:anti|counter)?clockwise|links|rechts|gauche|droite)\b|[左右]|[顺逆]时针", re.I
)
_TOKEN = re.compile(
    r"(?<![!-~])[!-~]{4,80}(?![!-~])|(?<=[\u3000-\uffef“「])[!-~]{4,80}|[!-~]{4,80}(?=[\u3000-\uffef”」])"
)
_QUOTED = re.compile(
    "(?<![\\w(\\[=])[\"`“「『‘«„]([^\"`”」』’»“\n]{3,60})[\"`”」』’»“]|(?<![\\w(\\[=])'([^'\n]{3,60})'(?!\\w)"
)
_TOLD_WORDS = re.compile(
    r"(?:\b(?:is|was|are|it's|that's|say|says|said|answer|reply|whisper|type|enter|use|with|called|wrote|put"
    r"|(?:set|changed|switched|reset) (?:\w+ ){0,3}to|picked|chose|answered|gave|filled in|went with|sag"
    r"|sagen|ist|lautet|mit|ich|est|c'est|dire|dis|avec|mis|r[ée]pondu|geantwortet|angegeben|genommen|es"
    r"|(?:word|mot|Wort|phrase|pet|teacher|street|name|animal|haustier|lehrerin|school)[,:]?)"
    r"\s+|[:=：→]\s*)"
    r"(?=((?:[^\W\d_][\w'’-]{1,20})(?:[ ][\w'’-]{1,20}){0,6}?)(?=[.,;!?)](?!\w)|[\n，。；]|\s*\Z"
    r"|\s(?:and|but|though|because|so|und|aber|weil|et|mais)\s))"
    r"|(?:[是叫为说答填写念报姓]|输入?|改成|设成|换成|[:：])(?:的?[就还]?是|[的了])?[\s“「]?(?![到在]?(?:多少|什么|哪|几|怎)|[一二两三四五六七八九十半])([\u4e00-\u9fff]{2,12}|[a-z]{4,20})"
    r"(?=[，。；！？,.;!?\n”」]|\s*\Z|就[能行可会给])",
    re.I,
)
_ENTERED_WORD = re.compile(  # one word of letters that is typed
    r"(?:\b(?:typ(?:e|es|ed|ing)|enter(?:s|ed)?|key(?:ed)?|punch(?:ed)?|put|us(?:e|es|ed|ing)|tr(?:y|ied)|with|was|is"
    r"|it's|that's|says?|said|wants|takes|tipp\w{1,3}|geb\w?|gib|nehm\w{1,2}|mit|ist|war|lautet|tap\w{1,2}|mets|saisi\w?"
    r"|avec|est|c'est|utilise)(?:\s(?:in|ein|just|still|simply|always|only|as|immer|einfach|nur|toujours|juste))?"
    r"\s|(?:[是叫为填写输敲打用说]|输入|改成|设成|换成)\s?)[\"'“「]?(?=([a-z]{7,30})(?![\w'’-]))",
    re.I,
)
_LONG_WORD = re.compile(  # ordinary compounds such as "stepdaughter" are shorter
    r"(?<![A-Za-z0-9_@./'’-])[A-Za-z]{13,30}(?![A-Za-z0-9_@'’-]|\.\w)"
)
_LETTER_SHAPES = ((9, "letters7"), (12, "letters10"), (30, "letters13"))
_MAX_ENTERED_WORDS = 2  # of a sentence
_TRAILING = ".,;:!?)]}>\"'`，。；：！？）"
_LEADING = "\"'`“「‘(<[{"
_NO_VALUE = re.compile(  # words, names, amounts, times, and tokens of code
    r"[A-Za-z]+['’-][A-Za-z]+|[A-Za-z]+(?:['’][A-Za-z]+)+|[A-Za-z]+(?:[/|~][A-Za-z]+)+|[A-Z]+s?|[a-z]+|[A-Z][a-z]+|\W+"
    r"|.*[(){}<>\[\]=].*|(?:[A-Za-z]+[.,;:!?]+)+[A-Za-z]*|\w+(?:,\w+)+|[A-Z]?[a-z]+\*+|(?:Mc|Mac|De|La|Le|Van)[A-Z][a-z]+"
    r"|[A-Z]{0,3}[$€£¥][\d.,]+[a-z]*|[A-Z]{1,3}\d{1,3}(?:,\d{3})+|[\d.,]+[A-Za-z]{1,3}|[\d.,]+[/-][A-Za-z-]+|(?:19|20)\d\d-\d\d-\d\dT[\d:.+Z-]*"
    r"|\d\w\d\w|\w+(?:[*/+]\w+){2,}|[A-Za-z]+-\d|(?i:repo|issue|pr|bug|ticket|room|channel)#\d+|[ei][A-Z][a-z]+|[A-Za-z]{1,2}\d{1,4}|[A-Za-z-]+(?:\.[A-Za-z-]+)+"
)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.I)
_CAMEL = re.compile(r"[a-z][A-Z]")


class Candidate(NamedTuple):
    """A value `text[start:end]` that may be a means of access."""

    start: int
    end: int
    shape: str


class _Word(NamedTuple):
    start: int
    end: int
    stem: str
    concepts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Sentence:
    start: int
    end: int
    words: tuple[_Word, ...]
    concepts: frozenset[str]


@cache
def _concepts() -> ConceptTable:
    tables = tomllib.loads(files(__package__).joinpath("access.toml").read_text("utf-8"))
    return ConceptTable(
        (f"{table}.{name}", words) for table, concepts in tables.items() for name, words in concepts.items()
    )


_WORD = re.compile(rf"[a-z\u0370-\u052f]+(?:[-'][a-z\u0370-\u052f]+)*|[{UNSPACED}]+|\d+|[^\w\s]")


def _read_sentence(text: str, start: int, end: int) -> _Sentence:
    """The words of a sentence; of Chinese, its known words and the single characters between them."""
    table = _concepts()
    words: list[_Word] = []
    folded = fold(text[start:end])
    if len(folded) != end - start:  # a few letters become two
        folded = text[start:end].lower()
    for token in _WORD.finditer(folded):
        at = start + token.start()
        if token[0][0] > "\u05ff":
            done = 0
            for first, last, names in (*table.of_unspaced(token[0]), (len(token[0]), len(token[0]), ())):
                words += (_Word(at + n, at + n + 1, token[0][n], ()) for n in range(done, first))
                if names:
                    words.append(_Word(at + first, at + last, token[0][first:last], names))
                done = last
        elif token[0].isdigit():
            words.append(_Word(at, at + len(token[0]), "0", ()))
        else:
            names = table.of_word(token[0]) or table.of_word(token[0].rpartition("'")[2])  # "l'alarme"
            words.append(_Word(at, at + len(token[0]), token[0][:_STEM_LETTERS], names))
    return _Sentence(start, end, tuple(words), frozenset(name for word in words for name in word.concepts))


_ACCESS_TABLES = ("object.", "label.", "action.", "telling.keep")


def _is_access(concept: str) -> bool:
    return concept.startswith(_ACCESS_TABLES)


def _mentions_access(sentence: _Sentence, candidate: Candidate) -> bool:
    """Whether other words of the sentence than those of the candidate are about access."""
    return any(
        _is_access(name)
        for word in sentence.words
        if word.end <= candidate.start or candidate.end <= word.start
        for name in word.concepts
    )


_MAX_LABEL_DISTANCE = 60  # characters
_CONNECTIVES = frozenset(
    (
        *("until", "from", "before", "after", "since", "with", "because", "that's", "it's", "word", "words"),
        *("by", "to", "for", "of", "in", "on", "at", "and", "or", "yes", "hello", "hi", "sorry", "please"),
        *("thank", "thanks", "gladly", "again", "try", "nothing"),
    )
)
_ROUND_LABELS = frozenset(("label.code", "label.password", "action.enter"))  # of round numbers
_WORD_LABELS = frozenset(
    ("label.word", "label.password", "label.code", "label.backup", "object.network", "object.helpdesk")
)
_ENTERED_LABELS = _WORD_LABELS | {"object.account", "object.device", "action.enter", "label.key"}
_QUESTION_THEME = "theme.question"  # of a security question: together with one of these, a word for an answer
_ASKED = frozenset(("action.accept", "object.account", "object.helpdesk", "label.word", "label.backup"))
_QUESTION_OBJECTS = frozenset(
    ("object.account", "object.helpdesk", "object.money", "label.password", "label.word")
)


def find_candidates(
    text: str, known: Sequence[tuple[int, int]] = ()
) -> Iterator[tuple[Candidate, dict[str, float]]]:
    """The candidates of a normalised text that overlap no `known` span, each with its features."""
    if not _MAY_CONTAIN.search(text):
        return
    text = _REFERENCE.sub(lambda match: MARK_PLACEHOLDER * len(match[0]), text)
    before: _Sentence | None = None
    spans = [
        (first, min(first + _MAX_SENTENCE_CHARS, end))
        for start, end in find_sentences(text)
        for first in range(start, end, _MAX_SENTENCE_CHARS)
    ]
    sentences = [_read_sentence(text, *span) for span in spans]
    for number, sentence in enumerate(sentences):
        after = sentences[number + 1] if number + 1 < len(sentences) else None
        beside = [each for each in (before, after) if each]
        is_beside_access = any(
            any(map(_is_access, each.concepts)) for each in (*sentences[max(0, number - 3) : number], *beside)
        )
        may_be_about_access = is_beside_access or any(map(_is_access, sentence.concepts))
        if not may_be_about_access and not _MAY_BE_STRONG.search(text, sentence.start, sentence.end):
            before = sentence
            continue
        around = frozenset().union(*(each.concepts for each in beside))
        distant = frozenset().union(
            *(each.concepts for each in sentences[max(0, number - 3) : max(0, number - 1)])
        )
        for candidate in _sentence_candidates(text, sentence, before):
            is_known = any(start < candidate.end and candidate.start < end for start, end in known)
            is_about_access = is_beside_access or _mentions_access(sentence, candidate)
            if not is_known and (is_about_access or candidate.shape in _SHAPES_OF_PASSWORDS):
                features = _features(text, candidate, sentence, around)
                features.update((f"V b {name}", 0.3) for name in distant if _is_access(name))
                yield candidate, features
        before = sentence


_REFERENCE = re.compile(  # of a memory, and of a version of a reader or prompt
    r"\b(?:turn|thought|action):\d+\b|\b(?:rules|read|updates|merge|forget)@\d{1,2}\b"
)
_SHAPES_OF_PASSWORDS = ("strong",)  # candidates even where nothing else is about access
_MAY_BE_STRONG = re.compile(r"[#$%^&*~@]|[!_+|?](?=\S)")  # matches wherever `_TOKEN_SYMBOL` does
_TOKEN_SYMBOL = re.compile(r"[!#$%^&*~_+@|?](?!\Z)|[#$%^&*~@]")
_MAY_CONTAIN = re.compile(
    rf"\d|[\"'“「『«„:=：]|[a-z][A-Z]|[!#$%^*~_+&][A-Za-z0-9]|{HAN_DIGIT}{{3}}|{DIGIT_WORD}\W|{TENS_WORD}\W|[是叫为说答填写输念报]"
    r"|\b(?:is|was|are|say|says|use|with|answer|enter|type|ist|lautet|est|sag|es)\s",
    re.I,
)


def _sentence_candidates(text: str, sentence: _Sentence, before: _Sentence | None) -> list[Candidate]:
    """The candidates of a sentence; none overlaps another."""
    found: list[Candidate] = []
    for each in (
        *_numbers(text, sentence),
        *_joined_words(text, sentence),
        *_words(text, sentence, before),
        *_entered_words(text, sentence, before),
    ):
        if MARK_PLACEHOLDER not in text[each.start : each.end] and not any(
            other.start < each.end and each.start < other.end for other in found
        ):
            found.append(each)
    return sorted(found)


def _numbers(text: str, sentence: _Sentence) -> Iterator[Candidate]:
    """Numbers of a dial, spelled digits, tokens with digits or symbols, and plain numbers."""
    start, end = sentence.start, sentence.end
    for each in _DIAL.finditer(text, start, end):
        if not ORDINARY_VALUE.fullmatch(each[0]):
            yield Candidate(*each.span(), "dial")
    if "action.turn" in sentence.concepts:
        for each in _LOOSE_DIAL.finditer(text, start, end):
            if len(re.findall(r"\d+", each[0])) > _MIN_LOOSE_NUMBERS or _SIDE.search(text, start, end):
                yield Candidate(*each.span(), "dial")
    for each in SPELLED.finditer(text, start, end):
        if len(set(each[0].lower().split())) > 1 or not each[0].isascii():  # not "fifty fifty"
            yield Candidate(*each.span(), "spelled")
    for each in _TOKEN.finditer(text, start, end):
        value = each[0].lstrip(_LEADING)
        first = each.end() - len(value)
        value = value.rstrip(_TRAILING)
        shape = _token_shape(value)
        if shape and not _PRICE_VALUE.fullmatch(value) and not has_other_label(each):
            yield Candidate(first, first + len(value), shape)
    for each in _NUMBER.finditer(text, start, end):
        if not _is_other_number(text, each, sentence):
            yield Candidate(*each.span(), _number_shape(each[0]))


def _is_other_number(text: str, number: re.Match[str], sentence: _Sentence) -> bool:
    """Whether a number is an amount, a date, a year, or the number of a bus, a room or an order."""
    value = number[0]
    return (
        has_other_label(number)
        or any(known.fullmatch(value) for known in (ORDINARY_VALUE, _YEARS, _RANGE))
        or UNIT_AFTER.match(text, number.end()) is not None
        or _is_price(text, number.span(), sentence)
        or _NUMBERED.search(text, sentence.start, number.start()) is not None
        or (_ROUND.fullmatch(value) is not None and _ROUND_LABELS.isdisjoint(sentence.concepts))
    )


def _is_price(text: str, span: tuple[int, int], sentence: _Sentence) -> bool:
    """Whether a number is a price: in a sentence without a word for a code, a lock or an alarm."""
    if any(name.startswith("label.") or name in _LOCKED for name in sentence.concepts):
        return False
    before = _PRICE_BEFORE.search(text, max(sentence.start, span[0] - _MAX_PRICE_CONTEXT), span[0])
    return before is not None or _PRICE_AFTER.match(text, span[1]) is not None


def _words(text: str, sentence: _Sentence, before: _Sentence | None) -> Iterator[Candidate]:
    """Quotations; beside a word for a password or code also the plain words after "is", "type" and others."""
    for each in _QUOTED.finditer(text, sentence.start, sentence.end):
        group = 1 if each[1] else 2
        if each[group].lower() not in ORDINARY_WORDS and not ORDINARY_VALUE.fullmatch(each[group]):
            yield Candidate(*each.span(group), f"quoted{min(len(each[group].split()), 4)}")
    read = [each for each in (before, sentence) if each]
    labels = [at for each in read for at in _word_labels(each)]
    may_be_name = any(_QUESTION_THEME in each.concepts for each in read)  # the answer to a security question
    if labels:
        for each in _TOLD_WORDS.finditer(text, sentence.start, sentence.end):
            group = 1 if each[1] else 2
            words = each[group].lower().split()
            near = any(abs(each.start(group) - label) <= _MAX_LABEL_DISTANCE for label in labels)
            is_ordinary = (
                (words[0] in ORDINARY_WORDS and not (may_be_name and each[group].istitle()))
                or not _CONNECTIVES.isdisjoint((words[0], words[-1]))
                or _LABEL_ONLY.search(words[-1]) is not None
            )
            if near and not is_ordinary and len(set(words)) == len(words):
                yield Candidate(*each.span(group), f"words{min(len(words), 4)}")


_LABEL_ONLY = re.compile(r"密码|验证码|口令|账号|码\Z")  # the word for a value is none


def _word_labels(sentence: _Sentence) -> list[int]:
    """Where the words are that a plain word may be the value of."""
    wanted = _WORD_LABELS
    if _QUESTION_THEME in sentence.concepts and not _QUESTION_OBJECTS.isdisjoint(sentence.concepts):
        wanted = wanted | {_QUESTION_THEME}
    return [word.start for word in sentence.words if not wanted.isdisjoint(word.concepts)]


def _joined_words(text: str, sentence: _Sentence) -> Iterator[Candidate]:
    """Words written together."""
    found = (
        Candidate(*each.span(), "joined")
        for each in _LONG_WORD.finditer(text, sentence.start, sentence.end)
        if is_joined_words(each[0].lower())
    )
    yield from islice(found, _MAX_ENTERED_WORDS)


def _entered_words(text: str, sentence: _Sentence, before: _Sentence | None) -> Iterator[Candidate]:
    """Single long words without digits after "type", "it was" and others, such as words written together."""
    concepts = sentence.concepts | (before.concepts if before else frozenset())
    if _ENTERED_LABELS.isdisjoint(concepts):
        return
    found = (
        Candidate(*each.span(1), _letters_shape(each[1].lower()))
        for each in _ENTERED_WORD.finditer(text, sentence.start, sentence.end)
        if each[1].lower() not in ORDINARY_WORDS and each[1].lower() not in _concepts().words
    )
    yield from islice(found, _MAX_ENTERED_WORDS)


def _letters_shape(word: str) -> str:
    if contains_joined_word(word):
        return "joined"
    return next((name for limit, name in _LETTER_SHAPES if len(word) <= limit), _LETTER_SHAPES[-1][1])


_SHAPES_BY_DIGITS = ((3, "d3"), (4, "d4"), (5, "d5"), (6, "d6"), (8, "d8"), (12, "d12"), (99, "d13"))


def _number_shape(value: str) -> str:
    digits = [c for c in value if c.isdigit()]
    if re.fullmatch(r"(?:19|20)\d\d", value):
        return "year"
    shape = next(name for limit, name in _SHAPES_BY_DIGITS if len(digits) <= limit)
    groups = re.split(r"\D+", value.strip("*#"))
    if len(groups) > 1:
        return f"single{shape}" if all(len(group) == 1 for group in groups) else f"groups{shape}"
    return shape


def _token_shape(value: str) -> str | None:
    """The shape of a token of letters with digits or symbols; None for a number or an ordinary word."""
    if len(value) < 4 or any(known.fullmatch(value) for known in (_NO_VALUE, _UUID, ORDINARY_VALUE)):
        return None
    has_digit = any(c.isdigit() for c in value)
    if not any(c.isalpha() for c in value):
        return None
    symbols = _TOKEN_SYMBOL.search(value) is not None
    if has_digit:
        return "long" if len(value) >= 16 else "strong" if symbols else "mixed"
    return "symbols" if symbols else "camel" if _CAMEL.search(value) else "hyphens" if "-" in value else None


def _features(
    text: str, candidate: Candidate, sentence: _Sentence, around: frozenset[str]
) -> dict[str, float]:
    """The named features of a candidate."""
    starts = [word.start for word in sentence.words]
    first, last = bisect_left(starts, candidate.start), bisect_left(starts, candidate.end)
    left = sentence.words[max(0, first - _READ_WORDS) : first]
    right = sentence.words[last : last + _READ_WORDS]
    shape = candidate.shape
    family = _family(shape)
    here = sorted({name for word in (*left, *right) for name in word.concepts})
    found: dict[str, float] = {f"V s {shape}": 1.0, f"V f {family}": 0.7}
    if _ROUND.fullmatch(text[candidate.start : candidate.end]):
        found["V round"] = 1.0
    if family in _WORD_FAMILIES:
        value = text[candidate.start : candidate.end].lower()
        found[f"V own {value[:_STEM_LETTERS]}"] = 0.5
        found[f"V end {value[-3:]}"] = 0.5
        if _QUESTION_THEME in {*here, *around} and not _ASKED.isdisjoint({*here, *around}):
            found[f"V question {family}"] = 1.0
    for name in here:
        found[f"V c {name}"] = 0.6
        found[f"V fc {family} {name}"] = 0.6
    for one, other in combinations(here[:_MAX_PAIRED], 2):
        found[f"V p {one} {other}"] = 0.3
    for side, words in (("l", left[-_NEAR_WORDS:]), ("r", right[:_NEAR_WORDS])):
        for name in {name for word in words for name in word.concepts}:
            found[f"V {side} {name}"] = 0.7
    for word in (*left, *right):
        found[f"V w {word.stem}"] = 0.3
    found.update(_neighbour_features(left, right, family))
    found.update(_clause_features(left, right, family))
    for name in around:
        found[f"V a {name}"] = 0.3
    near = {name for word in (*left[-_NEAR_WORDS:], *right[:_NEAR_WORDS]) for name in word.concepts}
    for scope, names in (("sentence", here), ("near", near), ("around", around)):
        present = "".join(str(int(any(name.startswith(each) for name in names))) for each in _SUMMARY)
        found[f"V all {scope} {family} {present}"] = 0.8
    for table in ("object.", "action.", "label.", "other."):
        if not any(name.startswith(table) for name in here):
            found[f"V no {table}"] = 0.7
            found[f"V fno {family} {table}"] = 0.5
    return found


_CLAUSE_MARKS = frozenset(",;:()，；：、")


def _clause_features(
    left: Sequence[_Word], right: Sequence[_Word], family: str
) -> Iterator[tuple[str, float]]:
    """The concepts between the commas around a candidate: other clauses of a story are about other things."""
    before = [n for n, word in enumerate(left) if word.stem in _CLAUSE_MARKS]
    after = next((n for n, word in enumerate(right) if word.stem in _CLAUSE_MARKS), len(right))
    clause = (*left[before[-1] + 1 if before else 0 :], *right[:after])
    names = sorted({name for word in clause for name in word.concepts})
    for name in names:
        yield f"V k {name}", 0.6
        yield f"V fk {family} {name}", 0.4
    for one, other in combinations(names[:_MAX_PAIRED], 2):
        yield f"V kp {one} {other}", 0.4
    present = "".join(str(int(any(name.startswith(each) for name in names))) for each in _SUMMARY)
    yield f"V all clause {family} {present}", 0.8


def _neighbour_features(
    left: Sequence[_Word], right: Sequence[_Word], family: str
) -> Iterator[tuple[str, float]]:
    """The words directly before and after a candidate."""
    edge = _Word(0, 0, "^", ())
    one, two, three = (*reversed(left[-3:]), edge, edge, edge)[:3]
    next_one, next_two = (*right[:2], edge, edge)[:2]
    for name, value in (
        ("w-1", one.stem),
        ("w-2", two.stem),
        ("w-3", three.stem),
        ("w-1-2", f"{two.stem} {one.stem}"),
        ("w+1", next_one.stem),
        ("w+2", next_two.stem),
        ("w+1+2", f"{next_one.stem} {next_two.stem}"),
    ):
        yield f"V {name} {value}", 0.6
        yield f"V f{name} {family} {value}", 0.3
    for where, beside in (("c-1", one), ("c-2", two), ("c+1", next_one)):
        for name in beside.concepts:
            yield f"V {where} {name}", 0.7


_ROUND = re.compile(r"[1-9]\d*00|[1-9]\d{0,2}(?: \d00| 000)+")
_SUMMARY = ("object.", "action.", "label.", "other.", "telling.keep")


_WORD_FAMILIES = ("letters", "joined", "words", "quoted")


def _family(shape: str) -> str:
    if shape == "year" or shape.startswith(("d", "groups", "single")):
        return shape if shape in ("dial", "year") else "number"
    return re.sub(r"\d", "", shape)
