"""Memory synthesis (PerLTQA, Eq. 4): a short answer from the recalled memories alone, with citations.

If a model is available it writes the answer, which is then checked: citations exist, no number or name is
new, the length is within the limit. After a fault the model may try once more; then the rules answer, and the
synthesis notes why. If the model says that it does not know, that is accepted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thinkback.errors import ModelError
from thinkback.language.sentences import count_words, split_sentences
from thinkback.language.writing_systems import clean_text, detect_language, has_han
from thinkback.prompts import format_numbered, load_prompt
from thinkback.protocols import LLM
from thinkback.recall.answer import (
    AnswerSentence,
    score_sentences,
    select_answer_sentences,
    unknown_answer,
)
from thinkback.recall.asked_restrictions import find_asked_restrictions, is_judged
from thinkback.recall.grounding import find_ungrounded
from thinkback.recall.pack import pack, to_pack_item
from thinkback.recall.prompt_messages import FACT_OVERHEAD_TOKENS, FACTS_BUDGET_TOKENS
from thinkback.types import Message, Recollection, Ref, Synthesis

if TYPE_CHECKING:
    from thinkback.recall.prompts import SynthesiseReply

MAX_SYNTHESIS_TOKENS = 320
MAX_ATTEMPTS = 2
_CITATION = re.compile(r"\s*\[(\d{1,3})\]")
_CITATION_AFTER_STOP = re.compile(r"([.!?。！？]+)((?:\s*\[\d{1,3}\])+)")  # "Lyon. [1]"
_SENTENCE_END = re.compile(r"[.!?。！？…]+\Z")


class _UnusableAnswer(Exception):
    """What is wrong with the answer of a model."""


@dataclass(frozen=True, slots=True)
class _NumberedMemories:
    """The memories shown to a model, numbered from 1."""

    refs: tuple[Ref, ...]
    texts: tuple[str, ...]


def synthesise(llm: LLM | None, question: str, recollection: Recollection, max_words: int) -> Synthesis:
    """A short answer of at most `max_words` words (Chinese: characters)."""
    if not recollection.items or llm is None:
        return synthesise_by_rules(question, recollection, max_words)
    if not llm.follows:
        return synthesise_by_rules(
            question, recollection, max_words, f"{llm.name} is too small to cite what it uses"
        )
    if llm.speaks is not None and detect_language(question) not in (*llm.speaks, "und"):
        return synthesise_by_rules(
            question, recollection, max_words, f"{llm.name} does not speak the language"
        )
    try:
        return _synthesise_by_model(llm, question, recollection, max_words)
    except _UnusableAnswer as fault:
        return synthesise_by_rules(
            question, recollection, max_words, f"the answer of {llm.name} cannot be used: {fault}"
        )
    except ModelError as error:
        return synthesise_by_rules(
            question, recollection, max_words, f"{llm.name} failed: {_first_line(error)}"
        )


def synthesise_by_rules(
    question: str, recollection: Recollection, max_words: int, note: str = ""
) -> Synthesis:
    """The sentences of the memories that answer the question, unchanged.

    What somebody must not eat or take is told completely, whatever `max_words` says.
    """
    sentences = _asked_restrictions(question, recollection)
    known = {(sentence.ref, sentence.text) for sentence in sentences}
    sentences += [
        sentence
        for sentence in select_answer_sentences(question, recollection, max_words)
        if (sentence.ref, sentence.text) not in known and not (known and is_judged(sentence.text))
    ]
    refs = tuple(dict.fromkeys(sentence.ref for sentence in sentences))
    text = _join_sentences(
        [_with_citations(sentence, refs.index(sentence.ref) + 1) for sentence in sentences]
    )
    return Synthesis(
        text=text or unknown_answer(question),
        used=refs,
        known=bool(sentences),
        by="rules",
        words=_count_words(text or unknown_answer(question)),
        recollection=recollection,
        note=note,
    )


def _asked_restrictions(question: str, recollection: Recollection) -> list[AnswerSentence]:
    statements = score_sentences(question, recollection, ("query",))
    return [
        AnswerSentence(sentence.ref, sentence.text)
        for sentence in find_asked_restrictions(question, statements)
    ]


def _synthesise_by_model(llm: LLM, question: str, recollection: Recollection, max_words: int) -> Synthesis:
    from pydantic import ValidationError

    from thinkback.recall.prompts import SynthesiseReply  # imports pydantic

    shown = _number_memories(recollection)
    query = " ".join(question.split())
    memories = format_numbered(enumerate(shown.texts, start=1))
    prompt = load_prompt("thinkback.recall", "synthesise").render(
        memories=memories, question=query, most=str(max_words)
    )
    messages = [Message("user", prompt)]
    fault = _UnusableAnswer()
    for _ in range(MAX_ATTEMPTS):
        reply = llm.complete(
            messages, schema=SynthesiseReply.model_json_schema(), max_tokens=MAX_SYNTHESIS_TOKENS
        )
        try:
            parsed = SynthesiseReply.model_validate_json(clean_text(reply.text))
            return _validate_reply(parsed, question, recollection, shown, max_words)
        except ValidationError as error:
            fault = _UnusableAnswer(str(error.errors(include_url=False, include_context=False)[0]["msg"]))
        except _UnusableAnswer as error:
            fault = error
        correction = load_prompt("thinkback.recall", "synthesise_again").render(
            fault=str(fault), most=str(max_words)
        )
        messages = [*messages[:1], Message("assistant", reply.text), Message("user", correction)]
    raise fault


def _validate_reply(
    reply: SynthesiseReply,
    question: str,
    recollection: Recollection,
    shown: _NumberedMemories,
    max_words: int,
) -> Synthesis:
    """The answer of the model.

    Raises:
        _UnusableAnswer: if it cannot be used.
    """
    if not reply.known:
        text = unknown_answer(question)
        return Synthesis(
            text=text, used=(), known=False, by="llm", words=_count_words(text), recollection=recollection
        )
    text = _CITATION_AFTER_STOP.sub(r"\2\1", " ".join(clean_text(reply.answer).split()))
    if not _CITATION.sub("", text).strip():
        raise _UnusableAnswer("it says nothing")
    if not _CITATION.search(text):
        text = _with_citations(AnswerSentence(shown.refs[0], text), *reply.used)
    numbers = tuple(dict.fromkeys(map(int, _CITATION.findall(text))))
    if not numbers:
        raise _UnusableAnswer("it cites no memory")
    if wrong := [number for number in numbers if not 1 <= number <= len(shown.refs)]:
        raise _UnusableAnswer(f"it cites [{wrong[0]}], the memories are 1 to {len(shown.refs)}")
    if fault := find_ungrounded(_CITATION.sub("", text), (*shown.texts, question), strict=False):
        raise _UnusableAnswer(fault)
    text = _limit_words(text, max_words)
    numbers = tuple(dict.fromkeys(map(int, _CITATION.findall(text))))
    text = _CITATION.sub(lambda match: f" [{numbers.index(int(match[1])) + 1}]", text)
    refs = tuple(shown.refs[number - 1] for number in numbers)
    return Synthesis(
        text=text, used=refs, known=True, by="llm", words=_count_words(text), recollection=recollection
    )


def _number_memories(recollection: Recollection) -> _NumberedMemories:
    packed = pack(
        recollection.query,
        [to_pack_item(item, attributed=True) for item in recollection],
        FACTS_BUDGET_TOKENS,
        overhead=FACT_OVERHEAD_TOKENS,
    )
    refs = tuple(recollection[item.number].ref for item in packed)
    return _NumberedMemories(refs, tuple(_escape_brackets(item.text) for item in packed))


def _limit_words(text: str, max_words: int) -> str:
    """As many whole sentences as the limit allows; at least one citation must remain."""
    if _count_words(text) <= max_words:
        return text
    ends = [
        sentence.end for sentence in split_sentences(text) if _count_words(text[: sentence.end]) <= max_words
    ]
    if not ends or not _CITATION.search(text[: ends[-1]]):
        raise _UnusableAnswer(f"it has {_count_words(text)} words, the most is {max_words}")
    return text[: ends[-1]]


def _count_words(text: str) -> int:
    return count_words(_CITATION.sub("", text))


def _with_citations(sentence: AnswerSentence, *numbers: int) -> str:
    """The sentence with citations before the full stop."""
    text = _escape_brackets(sentence.text)
    stop = _SENTENCE_END.search(text)
    at = stop.start() if stop else len(text)
    return text[:at] + "".join(f" [{number}]" for number in dict.fromkeys(numbers)) + text[at:]


def _escape_brackets(text: str) -> str:
    """Replace brackets in a memory that look like a citation."""
    return re.sub(r"\[(\d{1,3})\]", r"(\1)", text)


def _join_sentences(texts: Sequence[str]) -> str:
    return ("" if texts and has_han(texts[0]) else " ").join(texts)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
