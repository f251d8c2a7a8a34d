"""Memory synthesis (PerLTQA, Eq. 4): a short answer from the recalled memories alone, each fact cited.

A model writes it where one can; what it writes is checked: citations exist, no number or name is said that no
memory says, the limit holds. One fault is told to the model, which may try again; after another the rules
answer, and the synthesis says so. A model that says it does not know is believed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thinkback.errors import ModelError
from thinkback.ports import LLM
from thinkback.prompts import load
from thinkback.prompts.facts import numbered
from thinkback.recall.answer import Told, answering, unknown
from thinkback.recall.compose import FACT, FACTS_BUDGET
from thinkback.recall.faithful import added
from thinkback.recall.pack import pack, piece_of
from thinkback.text.clean import clean
from thinkback.text.language import language
from thinkback.text.scripts import has_han
from thinkback.text.sentences import sentences
from thinkback.text.trim import count_words
from thinkback.types import Message, Recollection, Ref, Synthesis

if TYPE_CHECKING:
    from thinkback.prompts.synthesise import SynthesiseReply

MAX_TOKENS = 320
TRIES = 2
_CITES = re.compile(r"\s*\[(\d{1,3})\]")
_LATE = re.compile(r"([.!?。！？]+)((?:\s*\[\d{1,3}\])+)")  # "Lyon. [1]": the sentence ends behind it
_STOP = re.compile(r"[.!?。！？…]+\Z")


class _Fault(Exception):
    """What is wrong with a model's answer."""


@dataclass(frozen=True, slots=True)
class _Shown:
    """The memories a model was shown, by number from 1."""

    refs: tuple[Ref, ...]
    texts: tuple[str, ...]


def synthesise(llm: LLM | None, question: str, recollection: Recollection, most: int) -> Synthesis:
    """At most `most` words, of Chinese characters."""
    if not recollection.items or llm is None:
        return by_rules(question, recollection, most)
    if not llm.follows:
        return by_rules(question, recollection, most, f"{llm.name} is too small to cite what it uses")
    if llm.speaks is not None and language(question) not in (*llm.speaks, "und"):
        return by_rules(question, recollection, most, f"{llm.name} does not speak the language")
    try:
        return _by_model(llm, question, recollection, most)
    except _Fault as fault:
        return by_rules(question, recollection, most, f"the answer of {llm.name} cannot be used: {fault}")
    except ModelError as error:
        return by_rules(question, recollection, most, f"{llm.name} failed: {_first_line(error)}")


def by_rules(question: str, recollection: Recollection, most: int, note: str = "") -> Synthesis:
    """The sentences of the memories that answer, as they stand there."""
    told = answering(question, recollection, most)
    refs = tuple(dict.fromkeys(each.ref for each in told))
    text = _joined([_cited(each, refs.index(each.ref) + 1) for each in told])
    return Synthesis(
        text=text or unknown(question),
        used=refs,
        known=bool(told),
        by="rules",
        words=_count(text or unknown(question)),
        recollection=recollection,
        note=note,
    )


def _by_model(llm: LLM, question: str, recollection: Recollection, most: int) -> Synthesis:
    from pydantic import ValidationError

    from thinkback.prompts.synthesise import SynthesiseReply  # pydantic: not before it is needed

    shown = _show(recollection)
    asked = " ".join(question.split())
    listed = numbered(enumerate(shown.texts, start=1))
    prompt = load("synthesise").render(memories=listed, question=asked, most=str(most))
    messages = [Message("user", prompt)]
    fault = _Fault()
    for _ in range(TRIES):
        reply = llm.complete(messages, schema=SynthesiseReply.model_json_schema(), max_tokens=MAX_TOKENS)
        try:
            read = SynthesiseReply.model_validate_json(clean(reply.text))
            return _checked(read, question, recollection, shown, most)
        except ValidationError as error:
            fault = _Fault(str(error.errors(include_url=False, include_context=False)[0]["msg"]))
        except _Fault as error:
            fault = error
        again = load("synthesise_again").render(fault=str(fault), most=str(most))
        messages = [*messages[:1], Message("assistant", reply.text), Message("user", again)]
    raise fault


def _checked(
    read: SynthesiseReply, question: str, recollection: Recollection, shown: _Shown, most: int
) -> Synthesis:
    """What the model answered, if it can be used; else the fault."""
    if not read.known:
        text = unknown(question)
        return Synthesis(
            text=text, used=(), known=False, by="llm", words=_count(text), recollection=recollection
        )
    text = _LATE.sub(r"\2\1", " ".join(clean(read.answer).split()))
    if not _CITES.sub("", text).strip():
        raise _Fault("it says nothing")
    if not _CITES.search(text):
        text = _cited(Told(shown.refs[0], text), *read.used)
    numbers = tuple(dict.fromkeys(map(int, _CITES.findall(text))))
    if not numbers:
        raise _Fault("it cites no memory")
    if wrong := [each for each in numbers if not 1 <= each <= len(shown.refs)]:
        raise _Fault(f"it cites [{wrong[0]}], the memories are 1 to {len(shown.refs)}")
    if fault := added(_CITES.sub("", text), (*shown.texts, question), plainly=False):
        raise _Fault(fault)
    text = _within(text, most)
    numbers = tuple(dict.fromkeys(map(int, _CITES.findall(text))))
    text = _CITES.sub(lambda found: f" [{numbers.index(int(found[1])) + 1}]", text)
    refs = tuple(shown.refs[each - 1] for each in numbers)
    return Synthesis(
        text=text, used=refs, known=True, by="llm", words=_count(text), recollection=recollection
    )


def _show(recollection: Recollection) -> _Shown:
    packed = pack(
        recollection.query,
        [piece_of(item, told=True) for item in recollection],
        FACTS_BUDGET,
        each=FACT,
    )
    refs = tuple(recollection[each.number].ref for each in packed)
    return _Shown(refs, tuple(_uncited(each.text) for each in packed))


def _within(text: str, most: int) -> str:
    """As many whole sentences as the limit holds; they must cite something still."""
    if _count(text) <= most:
        return text
    ends = [each.end for each in sentences(text) if _count(text[: each.end]) <= most]
    if not ends or not _CITES.search(text[: ends[-1]]):
        raise _Fault(f"it has {_count(text)} words, the most is {most}")
    return text[: ends[-1]]


def _count(text: str) -> int:
    return count_words(_CITES.sub("", text))


def _cited(told: Told, *numbers: int) -> str:
    """The sentence with its citations before the full stop."""
    text = _uncited(told.text)
    stop = _STOP.search(text)
    at = stop.start() if stop else len(text)
    return text[:at] + "".join(f" [{each}]" for each in dict.fromkeys(numbers)) + text[at:]


def _uncited(text: str) -> str:
    """Brackets that a memory itself says are no citation."""
    return re.sub(r"\[(\d{1,3})\]", r"(\1)", text)


def _joined(texts: Sequence[str]) -> str:
    return ("" if texts and has_han(texts[0]) else " ").join(texts)


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
