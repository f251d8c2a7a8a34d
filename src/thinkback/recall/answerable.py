"""Whether a sentence answers a question, judged without a model.

A question has words that must be found in the answer: who it is about ("anna's husband"), the thing that is
asked for ("which hotel"), and at least half of the others. A word is found if the sentence has it, a form or
misspelling of it, a synonym, or the phrase that states such an answer. Some questions also need a form: a
number for "how much", a time for "when", an origin for 哪里人. What does not pass was not told.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache

from thinkback.language.kinship import KIN_EN, KIN_ZH, PETS_EN, PETS_ZH
from thinkback.language.owners import is_first_name
from thinkback.language.query_rewrite import ANSWER_PHRASES, find_answer_phrases
from thinkback.language.questions import AnswerTest, answer_test, classify_question
from thinkback.language.sentences import is_question
from thinkback.language.text_cache import cache_words
from thinkback.language.thesaurus import related_terms
from thinkback.language.tokens import extract_terms
from thinkback.language.writing_systems import HAN, has_han
from thinkback.recall.chat_phrases import load_patterns, load_word_list, load_words

MIN_OTHER_WORDS_SHARE = 0.6  # of the words that are neither the person nor the thing asked for
_MIN_STEM = 4  # letters of a word that another one may begin with ("teach", "teacher")
_MIN_MISSPELT, _MISSPELT_RATIO = 6, 0.84
_WORD = re.compile(rf"[A-Za-zÀ-ɏ][\w'-]*|[{HAN}]+|\d+")
_CONTRACTED = re.compile(r"\b(what|where|who|how|when)'?s\b", re.IGNORECASE)
_POSSESSED = re.compile(r"\b(?:my|our|his|her|their|[\w-]+'s|[\w-]+s') +([a-z][\w-]+)", re.IGNORECASE)
_POSSESSOR = re.compile(r"\b([\w-]+)'s\b", re.IGNORECASE)
_ASKED_THING = re.compile(
    r"\b(?:what|which)\s+(?:(?:kind|sort|type|make|brand|colou?r) of\s+)?([a-z][\w-]+)", re.I
)
_SUBJECT = re.compile(
    r"\b(?:is|are|was|were|do|does|did|has|have|had|will|can|should)\s+(?:the )?([a-z][\w-]+)", re.IGNORECASE
)
_ACTOR = re.compile(r"\b(?:does|did|has|can|will) (?:my|our|the) ([a-z][\w-]+)", re.IGNORECASE)
_NAMED_AFTER = re.compile(r"\b(?P<thing>[a-z][\w-]*)(?:,|:| is| was|'s)? +(?=[A-Z])")  # "my cousin Tomas"
_NAMED_BEFORE = re.compile(  # "Tomas, my cousin", "Tomas is our drummer"
    r"\b[A-Z][\w'-]*(?:,| is| was|'s)(?: an?| the| my| our| his| her| their)?(?: [a-z][\w-]*)?"
    r" (?P<thing>[a-z][\w-]*)"
)
_PET_WORDS = frozenset(("pet", "pets", "宠物"))
_NAME = re.compile(r"(?<=[\w,] )[A-Z][\w'-]+")


def repair_question(text: str) -> str:
    """The text with question words written out, also without apostrophe: "whats my" -> "what is my"."""
    return _CONTRACTED.sub(r"\1 is", text.replace("’", "'"))


def asks(text: str) -> bool:
    """Whether a sentence is a question, also without apostrophes and question marks."""
    repaired = repair_question(text)
    if is_question(repaired) or load_patterns("about_relative").search(repaired):
        return True
    return load_patterns("asks").search(repaired) is not None


def asks_about_somebody(text: str) -> bool:
    """Whether a text asks for everything that is known of somebody: "what do you know about anna"."""
    return any(load_patterns(name).search(text) for name in ("about", "about_relative"))


@dataclass(frozen=True, slots=True)
class QuestionWord:
    """A word of a question; `required` ones must be found in the answer."""

    text: str
    terms: frozenset[str]
    required: bool
    is_role: bool = False  # such as "daughter"

    def is_in(self, sentence: str, terms: frozenset[str]) -> bool:
        """Whether a sentence, with these search terms, has the word in some form."""
        if self.terms & terms:
            return True
        if not self.text.isascii():
            return _shares_half(self.text, sentence)
        word = self.text.lower()
        return any(_is_form_of(word, other) for other in terms if other.isascii())


class AnswerJudge:
    """Judges sentences for one question."""

    def __init__(self, question: str) -> None:
        self.question = repair_question(question)
        self.topic = _find_topic(self.question)
        self.words = tuple(_question_words(self.question, self.topic))
        self._form = _required_form(self.question, self.topic)

    def has_form(self, text: str) -> bool:
        """Whether a text has the form of an answer: a number, a time, a name, if the question needs one."""
        return self._form is None or self._form(text)

    def match(self, sentence: str, antecedent: str = "") -> float | None:
        """How well a sentence answers the question, from 0 to 1; None if it does not.

        `antecedent` is what was said before and tells whom a pronoun means; people may be named there.
        """
        if not self.has_form(sentence):
            return None
        terms = frozenset(extract_terms(sentence))
        before = frozenset(extract_terms(antecedent))
        found = [
            word
            for word in self.words
            if word.is_in(sentence, terms) or (word.required and before and word.is_in(antecedent, before))
        ]
        if load_patterns("request").search(sentence):  # words for the assistant tell nothing
            return None
        if any(word.required and word not in found for word in self.words):
            return None
        others = [word for word in self.words if not word.required]
        share = len([word for word in others if word in found]) / len(others) if others else 1.0
        if share < MIN_OTHER_WORDS_SHARE or not (found or self.topic):
            return None
        if self.topic == "name" and not self._names_asked_thing(sentence):
            return None
        return share

    def shares_word(self, text: str, *, required: bool = False) -> bool:
        """Whether a text has a word of the question in some form; or one of the `required` words."""
        terms = frozenset(extract_terms(text))
        return any(word.is_in(text, terms) for word in self.words if word.required or not required)

    def has_required_words(self, text: str) -> bool:
        """Whether a text has all required words of the question, and there are some."""
        terms = frozenset(extract_terms(text))
        required = [word for word in self.words if word.required]
        return bool(required) and all(word.is_in(text, terms) for word in required)

    def names_asked_people(self, text: str) -> bool:
        """Whether a text names all people that the question names: by role, first name, or as an owner."""
        terms = frozenset(extract_terms(text))
        owners = {match[1].lower() for match in _POSSESSOR.finditer(self.question)}
        actors = {match[1].lower() for match in _ACTOR.finditer(self.question)}
        return all(
            word.is_in(text, terms)
            for word in self.words
            if word.is_role or is_first_name(word.text) or word.text in owners | actors
        )

    def _names_asked_thing(self, sentence: str) -> bool:
        """Whether a name belongs to what is asked for: "my cousin Tomas and a drummer" names no drummer."""
        asked = [word for word in self.words if word.required and word.text.isascii()]
        if not asked or load_patterns("says_name").search(sentence):
            return True
        return any(
            word.is_in(thing, frozenset(extract_terms(thing)))
            for pattern in (_NAMED_AFTER, _NAMED_BEFORE)
            for match in pattern.finditer(sentence)
            for thing in [match["thing"]]
            for word in asked
        )


def _find_topic(question: str) -> str:
    """The topic whose answers have a form of their own: "origin", "name", "age", "work", ...; or ""."""
    return next(
        (topic for topic, asked in load_words("topics").items() if asked["asks"].search(question)), ""
    )


def _required_form(question: str, topic: str) -> AnswerTest | None:
    if topic:
        states = load_words("topics")[topic]["states"]
        return lambda text: states.search(_without_dates(text)) is not None
    kind = classify_question(question)
    if kind == "how_many":
        return lambda text: load_patterns("how_many").search(_without_dates(text)) is not None
    if kind in ("when", "where"):
        forms = load_patterns(kind)
        test = answer_test(question)
        return lambda text: forms.search(text) is not None or bool(test and test(text))
    if kind == "who":
        return _names_somebody
    return None


def _without_dates(text: str) -> str:
    """The text without dates, whose numbers are neither prices nor amounts."""
    return load_patterns("dates").sub(" ", text)


def _names_somebody(text: str) -> bool:
    """Whether a sentence has a name or a role such as "sister"."""
    if load_patterns("who").search(text) or _role_pattern().search(text):
        return True
    return any(word in _roles() for word in re.findall(r"[a-z-]+", text.lower()))


def _question_words(question: str, topic: str) -> Iterator[QuestionWord]:
    text = question
    if topic:  # its words are not repeated by an answer, but the person between them is
        asked = load_words("topics")[topic]["asks"]
        text = asked.sub(lambda match: f" {match.groupdict().get('who') or ''} ", text)
    text = load_patterns("ignored").sub(" ", text)
    patterns = (_POSSESSED, _POSSESSOR, _ASKED_THING, _SUBJECT)
    hard = {match[1].lower() for pattern in patterns for match in pattern.finditer(question)}
    hard |= {match[0].lower().removesuffix("'s") for match in _NAME.finditer(question)}
    seen: set[str] = set()
    light = load_word_list("light")
    for run in _WORD.findall(text):
        for word in _chinese_words(run) if has_han(run) else [run.lower().removesuffix("'s").strip("'-")]:
            if word in seen or word in light or (word.isascii() and not extract_terms(word)):
                continue
            seen.add(word)
            role = _roles().get(word) or _roles().get(word.rstrip("s"))
            # A Chinese question begins with what it is about: 秀芹在哪上班
            is_topic = not word.isascii() and len(word) > 1 and question.startswith(word)
            required = role is not None or word in hard or word.isdecimal() or is_topic
            yield QuestionWord(word, _accepted_terms(word), required, role is not None)


def _chinese_words(run: str) -> Iterator[str]:
    """The words of a run of Chinese characters: roles, and what stands between function words."""
    position = 0
    for match in _role_pattern().finditer(run):
        yield from _between(run[position : match.start()])
        yield match[0]
        position = match.end()
    yield from _between(run[position:])


def _between(run: str) -> Iterator[str]:
    yield from (part for part in load_patterns("function_zh").split(run) if part)


@cache_words(4096)
def _accepted_terms(word: str) -> frozenset[str]:
    """The search terms that mean a word of a question: its own, synonyms, and how an answer states it."""
    terms = set(extract_terms(word)) if word.isascii() or len(word) <= 2 else set()
    if word in _PET_WORDS:
        return frozenset(term for pet in (*PETS_EN, *PETS_ZH) for term in _whole_terms(pet)).union(terms)
    role = _roles().get(word) or _roles().get(word.rstrip("s"))
    if role is not None:  # no further synonyms: "sister" must not find a brother
        same = [other for other, known in _roles().items() if known == role]
        return frozenset(term for other in same for term in _whole_terms(other))
    terms.update(related_terms(word))
    if word.isascii():
        for phrase in find_answer_phrases(word)[0]:
            terms.update(extract_terms(f"{phrase.english} {phrase.chinese}"))
    else:
        for cue, english, chinese in ANSWER_PHRASES:
            if cue.search(word):
                terms.update(extract_terms(f"{english} {chinese}"))
    return frozenset(terms) - _weak_terms()


def _whole_terms(word: str) -> list[str]:
    terms = extract_terms(word)
    return terms if word.isascii() or len(word) == 1 else [term for term in terms if len(term) > 1]


@cache
def _weak_terms() -> frozenset[str]:
    """Terms of answer phrases that stand in too many sentences to tell anything."""
    return frozenset(term for word in load_word_list("weak_terms") for term in extract_terms(word))


@cache
def _roles() -> dict[str, str]:
    return {**KIN_EN, **PETS_EN, **KIN_ZH, **PETS_ZH}


@cache
def _role_pattern() -> re.Pattern[str]:
    words = sorted((word for word in _roles() if has_han(word)), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, words)))


def _shares_half(word: str, sentence: str) -> bool:
    """Whether a sentence has at least half of a Chinese word, and two characters of a longer one."""
    if len(word) == 1:
        return word in sentence
    longest = SequenceMatcher(None, word, sentence, autojunk=False).find_longest_match().size
    return longest >= max(len(word) / 2, min(2, len(word)))


def _is_form_of(word: str, other: str) -> bool:
    """Whether two words begin alike ("teach", "teacher") or one is a misspelling of the other."""
    short, long = sorted((word, other), key=len)
    if len(short) >= _MIN_STEM and long.startswith(short) and len(long) - len(short) <= 3:
        return True
    if len(short) < _MIN_MISSPELT or abs(len(short) - len(long)) > 2 or word[0] != other[0]:
        return False
    return SequenceMatcher(None, word, other, autojunk=False).ratio() >= _MISSPELT_RATIO
