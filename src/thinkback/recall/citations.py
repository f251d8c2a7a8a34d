"""How a memory is said to the user: as an answer, or as a quotation with its day.

    You are allergic to peanuts. [thought:2]
    “my sister Anna is moving to Turku” (2026-11-16) [turn:4]

Both end with the reference of the memory.
"""

from __future__ import annotations

import re

from thinkback.language.relations import get_relation
from thinkback.language.second_person import to_second_person
from thinkback.language.sentence_builder import compose_sentence
from thinkback.language.sentences import count_words, shorten
from thinkback.language.spoken_dates import add_dates
from thinkback.language.writing_systems import detect_language, has_han
from thinkback.recall.acknowledgements import capitalise, own_words, understood, without_end
from thinkback.recall.answer import MAX_CHAT_ANSWER_WORDS, ScoredSentence
from thinkback.recall.chat_phrases import load_patterns, say
from thinkback.types import SAID, Candidate, Ref, Thought

SAID_TEXT = re.compile(r"user, (?P<day>\d{4}-\d\d-\d\d): (?P<words>.*)", re.DOTALL)  # `display.format_query`


def cite(question: str, sentence: ScoredSentence) -> str:
    """A sentence as said to the user, with its reference.

    A triple is written in the language of the question; the user's own words in another one are quoted.
    """
    ref, chinese = sentence.ref, detect_language(question) == "zh"
    if translated := translate_triple(question, sentence):
        return f"{capitalise(understood(question, translated))} [{ref}]"
    words = _dated_words(sentence)
    rewritten = to_second_person(words)
    if rewritten is None or chinese != has_han(rewritten):
        return cite_as_told(question, words, ref)
    return f"{capitalise(understood(question, words))} [{ref}]"


def cite_as_told(question: str, words: str, ref: Ref) -> str:
    """The user's own words, in quotation marks, with their reference."""
    end = "。" if detect_language(question) == "zh" else "."
    return f"{say('told', question, without_end(words))}{end} [{ref}]"


def quote(item: Candidate) -> str:
    """A memory with its reference: as it was said, with its day, or as a fact about the user."""
    said = SAID_TEXT.fullmatch(item.text)
    if said is None:
        sentence = item.thought.sentence if item.thought else ""
        fact = to_second_person(sentence) if sentence and not item.outdated else None
        return f"{item.text.replace(sentence, fact, 1) if fact else item.text} [{item.ref}]"
    return f"“{without_end(spoken_words(item))}” ({said['day']}) [{item.ref}]"


def spoken_words(item: Candidate) -> str:
    """The words of a memory, not too many, as the user said them; of a triple, its sentence."""
    said = SAID_TEXT.fullmatch(item.text)
    text = said["words"] if said else item.thought.sentence if item.thought else item.text
    return own_words(shorten(text, lambda words: count_words(words) <= MAX_CHAT_ANSWER_WORDS) or text)


def find_triple(sentence: ScoredSentence) -> Thought | None:
    """The thought that the sentence states, if its relation has sentences in every language."""
    if sentence.candidate.outdated:
        return None
    thought = sentence.thought
    if thought is None or thought.sentence != sentence.text or thought.relation == SAID:
        return None
    return thought if get_relation(thought.relation).is_known else None


def translate_triple(question: str, sentence: ScoredSentence) -> str:
    """A triple as a sentence in the language of the question; "" if it is in that language, or no triple."""
    chinese = detect_language(question) == "zh"
    triple = find_triple(sentence)
    if triple is None or has_han(sentence.text) == chinese:
        return ""
    return compose_sentence(
        triple.subject,
        triple.relation,
        triple.objects,
        negated=triple.negated,
        lang="zh" if chinese else "en",
    )


def _dated_words(sentence: ScoredSentence) -> str:
    """The user's words, not too long, with the dates that relative times mean."""
    if whole := _whole_denial(sentence):
        return own_words(whole)
    words = own_words(sentence.text)
    words = shorten(words, lambda text: count_words(text) <= MAX_CHAT_ANSWER_WORDS) or words
    turn = sentence.candidate.turn
    return words if turn is None else add_dates(words, turn.at)  # thoughts have their dates already


def _whole_denial(sentence: ScoredSentence) -> str:
    """The whole message, with its dates, of a sentence that denies something; "" for others and long ones.

    What is true instead often stands in the next sentence.
    """
    said = SAID_TEXT.fullmatch(sentence.candidate.text)
    if said is None or sentence.candidate.with_response or not load_patterns("denies").search(sentence.text):
        return ""
    return said["words"] if count_words(said["words"]) <= MAX_CHAT_ANSWER_WORDS else ""
