"""Replies to statements in the chat without a language model: what was understood of them, or done.

I adopted a cat      Noted: you adopted a cat.
forget that          Done, I have forgotten that.
my pin is 4471       I never show passwords, codes and other secrets again.
haha ok              Okay.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from thinkback.language.commands import has_content
from thinkback.language.safety.quarantine import turn_findings
from thinkback.language.second_person import to_second_person
from thinkback.language.sentences import count_words
from thinkback.language.tokens import extract_terms
from thinkback.language.writing_systems import detect_language, has_han
from thinkback.recall.answerable import asks
from thinkback.recall.chat_phrases import load_patterns, say
from thinkback.recall.forget_replies import forget_replies
from thinkback.recall.question_classifier import THRESHOLD_IF_MENTIONED, asks_for_memory
from thinkback.types import INSTRUCTION, SAID, Action, Thought, Turn

MAX_ACKNOWLEDGED = 3  # sentences in an acknowledgement
MAX_FLEETING_WORDS, MAX_FLEETING_CHARACTERS_ZH = 12, 18  # of a sentence that tells only a mood or the weather
USER_TERMS = frozenset(("user", "用户"))  # in sentences of thoughts: nothing that they are about
_PREFIXED_ANSWER = re.compile(r"\A(?:Asked: .*? Answered: |问：.*? 答：)", re.DOTALL)
_TRAILING = re.compile(r"[\s.,;:!。，；：！]+\Z")


@dataclass(frozen=True, slots=True)
class ToldTurn:
    """A stored turn, what its commands did, and the current thoughts drawn from it.

    `mentioned` are the statements of a turn without thoughts, which are kept with the turn only. `is_read`
    says whether it was thought about, so that nothing of it is worth keeping if it has no thoughts.
    """

    turn: Turn
    actions: tuple[Action, ...] = ()
    thoughts: tuple[Thought, ...] = ()
    mentioned: tuple[str, ...] = ()
    is_read: bool = False


def acknowledge(message: str, told: ToldTurn | None) -> str:
    """What was done or kept because of a message; a plain "Okay." if nothing was."""
    if told is None:
        return say("okay", message)
    done = list(_command_replies(message, told.actions))
    kept = [thought for thought in told.thoughts if thought.relation != INSTRUCTION]
    corrected = {thought.id for action in told.actions for thought in action.after}
    kept = [
        thought
        for thought in kept
        if thought.id not in corrected and load_patterns("fillers").sub("", thought.sentence).strip(" .!。！")
    ]
    if kept:
        done.append(say("noted", message, _list_understood(message, kept)))
    elif not done and (mentioned := [each for each in told.mentioned if _is_lasting(each)]):
        done.append(say("noted", message, _join(message, (understood(message, each) for each in mentioned))))
    if not told.actions and turn_findings(told.turn, "query").secrets:
        done.append(say("secret", message))
    return ("" if detect_language(message) == "zh" else " ").join(done) or say("okay", message)


def _is_lasting(sentence: str) -> bool:
    """Whether a sentence of which no thought was made is worth saying back: no mood, and no question."""
    if not has_content(sentence) or tells_mood(sentence) or load_patterns("question_words").search(sentence):
        return False
    return not asks_for_memory(sentence, threshold=THRESHOLD_IF_MENTIONED)


def tells_mood(sentence: str) -> bool:
    """Whether a sentence tells only how somebody feels now, or the weather: "ugh what a day"."""
    longest = MAX_FLEETING_CHARACTERS_ZH if has_han(sentence) else MAX_FLEETING_WORDS
    if count_words(sentence) > longest or asks(sentence):
        return False
    return load_patterns("fleeting").search(sentence) is not None


def _command_replies(message: str, actions: Sequence[Action]) -> Iterator[str]:
    """What the commands of a message did."""
    yield from forget_replies(message, actions)
    for action in actions:
        new = [thought for thought in action.after if thought.current]
        if action.action in ("forget", "undo") or not new:
            continue
        thought = new[-1]
        if thought.relation == INSTRUCTION:
            yield say("wish", message, without_end(thought.sentence))
        else:
            yield say("corrected", message, understood(message, thought.sentence))


def _list_understood(message: str, thoughts: Sequence[Thought]) -> str:
    """The sentences of thoughts, each once: one that says nothing beyond another one is left out."""
    said = [thought.sentence for thought in thoughts if thought.relation == SAID]
    thoughts = [
        thought
        for thought in thoughts
        if thought.relation == SAID or not any(thought.object in sentence for sentence in said)
    ]
    terms = [frozenset(extract_terms(thought.sentence)) - USER_TERMS for thought in thoughts]
    chosen = [
        thought
        for number, thought in enumerate(thoughts)
        if not any(
            terms[number] < other or (terms[number] == other and position < number)
            for position, other in enumerate(terms)
            if position != number
        )
    ]
    return _join(message, (understood(message, thought.sentence) for thought in chosen))


def _join(message: str, sentences: Iterable[str]) -> str:
    head, *rest = islice(sentences, MAX_ACKNOWLEDGED)
    return ("" if detect_language(message) == "zh" else " ").join((head, *map(capitalise, rest)))


def understood(message: str, sentence: str) -> str:
    """A sentence of the user as said back to them, with a full stop."""
    words = own_words(sentence)
    rewritten = to_second_person(words)
    if rewritten is None:
        return f"“{without_end(words)}”" + ("。" if detect_language(message) == "zh" else ".")
    return without_end(rewritten) + ("。" if detect_language(rewritten) == "zh" else ".")


def own_words(sentence: str) -> str:
    """A sentence without the assistant's question that it answers, fillers, and "sorry, I meant"."""
    words = _PREFIXED_ANSWER.sub("", " ".join(sentence.split()))
    for name in ("fillers", "correction", "fillers"):
        words = load_patterns(name).sub("", words).strip() or words
    return words


def without_end(text: str) -> str:
    return _TRAILING.sub("", text)


def capitalise(text: str) -> str:
    return text[:1].upper() + text[1:]
