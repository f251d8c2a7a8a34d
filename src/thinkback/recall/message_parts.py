"""What a message wants: an answer from memory, work of a language model, or only to tell something."""

from __future__ import annotations

import re
from dataclasses import dataclass

from thinkback.language.commands import after_keep_request, find_commands
from thinkback.language.sentences import count_words, split_sentences
from thinkback.language.writing_systems import has_han
from thinkback.recall.acknowledgements import tells_mood
from thinkback.recall.answerable import AnswerJudge, asks, asks_about_somebody
from thinkback.recall.chat_phrases import load_patterns, small_talk
from thinkback.recall.nearest import find_nearest
from thinkback.recall.overview import asks_for_overview
from thinkback.recall.question_classifier import (
    THRESHOLD_IF_FORM,
    THRESHOLD_IF_NOTHING_KEPT,
    THRESHOLD_IF_REQUESTED,
    asks_for_memory,
)
from thinkback.recall.request_classifier import (
    CERTAIN_THRESHOLD,
    POSSIBLE_THRESHOLD,
    SURE_THRESHOLD,
    asks_for_work,
)
from thinkback.types import Recollection

MAX_JUDGED_SENTENCES = 12  # of a message: which of them ask?
MAX_FOLLOW_UP_WORDS = 4  # of a message that is about the answer of a model before it
MAX_CONTINUING_WORDS = 2  # of a question such as "and which day"
_MIN_QUESTION_WORDS, _MIN_QUESTION_CHARACTERS_ZH = 2, 4  # of a message of which nothing was kept
# a space in place of punctuation, between two Chinese clauses: 婆婆什么不能吃 我在超市
_SPACE_ZH = re.compile(r"(?<=[\u4e00-\u9fff]{4})\s+(?=[\u4e00-\u9fff][\u4e00-\u9fff\w]{3})")


@dataclass(frozen=True, slots=True)
class MessageParts:
    """A message by what it wants: its questions, and whether it is a request or tells something.

    A request that is not sure may also be a question for memory or a statement, so it has these parts, too.
    """

    question: str
    is_request: bool
    tells: bool

    @property
    def may_tell(self) -> bool:
        """Whether only a trained classifier says, without being sure, that it asks or is a request."""
        if not self.question:
            return self.is_request and self.tells
        return not asks(self.question) and not asks_for_overview(self.question)

    @property
    def is_rhetorical(self) -> bool:
        """Whether the question beside a statement wants no answer: "knee hurts again, what can you do"."""
        return self.tells and load_patterns("rhetorical").search(self.question) is not None


def split_message(message: str) -> MessageParts:
    """Split a message into its questions and the rest."""
    if find_commands(message):
        return MessageParts("", is_request=False, tells=True)
    if _is_sure_request(message):
        return MessageParts("", is_request=True, tells=False)
    if _is_to_be_kept(message):
        return MessageParts("", is_request=False, tells=True)
    sentences = [part for each in split_sentences(message) for part in _SPACE_ZH.split(each.text)]
    sentences = sentences or [message]
    if len(sentences) > MAX_JUDGED_SENTENCES:  # a pasted text: its end may ask
        sentences = [" ".join(sentences[:-MAX_JUDGED_SENTENCES]), *sentences[-MAX_JUDGED_SENTENCES:]]
    asked = [sentence for sentence in sentences if _asks(sentence, alone=len(sentences) == 1)]
    if not asked and asks_for_memory(message) and not tells_mood(message):
        asked = sentences
    question = " ".join(asked)
    is_general = _asks_generally(question) or asks_for_work(message, threshold=CERTAIN_THRESHOLD)
    is_request = (is_general and not _asks_about(message)) or (
        asks_for_work(message)
        and not _is_for_memory(message)
        and not asks_for_memory(question, threshold=THRESHOLD_IF_REQUESTED)
    )
    return MessageParts(question, is_request=is_request, tells=len(asked) < len(sentences))


def _is_for_memory(message: str) -> bool:
    """Whether a message asks for all that is known of something, or for permission: "can i eat nuts?"."""
    return _asks_about(message) or load_patterns("permission").search(message) is not None


def _is_sure_request(message: str) -> bool:
    """Whether a message is a request, whatever it tells or memory knows."""
    if _is_for_memory(message):
        return False
    if asks_for_work(message, threshold=SURE_THRESHOLD):
        return True
    if _is_to_be_kept(message) or not load_patterns("request").search(message):
        return False
    return not asks_for_memory(message, threshold=THRESHOLD_IF_NOTHING_KEPT)  # "give me the date again"


def _is_to_be_kept(message: str) -> bool:
    """Whether a message only asks to keep in mind what it tells: "remember im off dairy"."""
    return bool(after_keep_request(message))


def _asks_generally(question: str) -> bool:
    """Whether a question has the form of one for advice or for general knowledge: weather, arithmetic."""
    if load_patterns("advice").search(question):
        return True
    return not load_patterns("personal").search(question) and bool(load_patterns("world").search(question))


def _asks_about(text: str) -> bool:
    """Whether a text asks for all that is known of the user, a person or a thing."""
    return asks_about_somebody(text) or asks_for_overview(text)


def _asks(sentence: str, *, alone: bool) -> bool:
    """Whether a sentence asks something.

    A question for general knowledge is one only if it is the whole message: beside statements it is
    rhetorical ("the ex wants half the car. which half?").
    """
    if _asks_about(sentence):
        return True
    if alone and load_patterns("asks_permission").search(sentence):
        return True
    if tells_mood(sentence) or not (alone or load_patterns("has_question_word").search(sentence)):
        return False
    if not (alone and asks(sentence)):
        return asks_for_memory(sentence)
    is_general = _asks_generally(sentence) or AnswerJudge(sentence).topic == "reason"  # 为什么天是蓝的
    has_mark = sentence.rstrip().endswith(("?", "？"))
    return is_general or has_mark or asks_for_memory(sentence, threshold=THRESHOLD_IF_FORM)


def needs_model(message: str, recollection: Recollection, *, after_model: bool = False) -> bool:
    """Whether a message asks for something else than what was told: a request, advice, general knowledge.

    `after_model` says that a model answered the message before: "shorter, please" is for it, too.
    """
    if small_talk(message):
        return False
    parts = split_message(message)
    question = "" if parts.is_rhetorical else parts.question
    if not question:
        return parts.is_request or (after_model and count_words(message) <= MAX_FOLLOW_UP_WORDS)
    if parts.is_request:
        return True
    is_about = _asks_about(question)
    if not is_about and not asks_for_memory(question, threshold=THRESHOLD_IF_NOTHING_KEPT):
        return True
    if is_about or load_patterns("personal").search(question) or continues_message(question):
        return False
    judge = AnswerJudge(question)
    nearest = find_nearest(judge, recollection)
    is_known = any(judge.shares_word(item.text) for item in nearest)
    may_be_general = not is_known and asks_for_work(question, threshold=POSSIBLE_THRESHOLD)
    return may_be_general or judge.topic == "reason"  # "why is the sky blue"


def may_ask(message: str) -> bool:
    """Whether a message of which nothing was kept is a question; "sure" and "thx" ask nothing."""
    shortest = _MIN_QUESTION_CHARACTERS_ZH if has_han(message) else _MIN_QUESTION_WORDS
    if find_commands(message) or _is_to_be_kept(message):
        return False
    if count_words(message) < shortest or tells_mood(message):
        return False
    return asks_for_memory(message, threshold=THRESHOLD_IF_NOTHING_KEPT) and bool(AnswerJudge(message).words)


def continues_message(question: str) -> bool:
    """Whether a question says what it is about only together with the message before it."""
    judge = AnswerJudge(question)
    if asks_for_overview(question):
        return False
    if not judge.words:
        return not judge.topic
    is_short = len(judge.words) <= MAX_CONTINUING_WORDS and not any(word.is_role for word in judge.words)
    return is_short and load_patterns("continues").search(question) is not None
