"""Current memories that name what was before: a question about the present does not recall them.

    what car do I own?      "The user bought a Corolla in June"       recalled
                            "The user sold the Hilux in June"         left out
    who helps in the shop?  "Noor works on Fridays"                   recalled
                            "Jelle has an internship in Delft"        left out: he is the former helper

Such memories are true, so they are not retired, and not marked as outdated. But they leave less room for what
holds now, and a model may quote the former value. What was before is known from retired thoughts that would
have answered the question. They are read by the cross-encoder, so this is part of `preset="careful"`. A
question that names the former value recalls what is told about it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from math import inf
from typing import NamedTuple

from thinkback.language.names import USER
from thinkback.language.owners import asks_about_user
from thinkback.language.query_tense import is_past
from thinkback.language.questions import asks_for_several
from thinkback.language.restrictions import find_domains, find_restriction
from thinkback.language.tokens import extract_terms, fold_text
from thinkback.language.writing_systems import has_han
from thinkback.recall.chat_phrases import load_patterns
from thinkback.recall.features import MemoryHit
from thinkback.recall.rows import ThoughtRow, TurnRow
from thinkback.recall.search import Search
from thinkback.recall.thought_lifecycle import LifecycleResolver
from thinkback.types import Ref, Thought, Turn

MAX_RETIRED_READ = 12  # retired thoughts that are read with the question, the best of the search
MIN_FORMER_SCORE = -2.0  # log odds of an answer from which a retired thought tells what was before
SAME_ANSWER_RANGE = 2.0  # log odds below the best answer within which a memory tells what holds now
MIN_OTHER_ANSWER_SCORE = 0.0  # of another memory, to leave out a memory about an end
OTHER_ANSWER_RANGE = 3.0  # the same, below the memory about the end
_RETIRED_SEARCH_LIMIT = 64  # as `OutdatedFacts`, so that the search is run once

_CAPITALISED = re.compile(r"\b[A-Z][\w'-]+(?: [A-Z][\w'-]+)*")
_HAN_SEPARATOR = re.compile("[《》「」“”、，,（）() 的]")
_TIME_WORD = re.compile(
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)"
)
_FAMILY = re.compile(r"\b(?:family|everyone|everybody|relatives)\b|家里?人|大家|全家", re.IGNORECASE)
_REACTION = re.compile(
    r"\b(?:rash(?:es)?|reactions?|allerg\w*|intoleran\w*|hives|bleed\w*|bled|side effects?"
    r"|swell\w*|swollen|faint\w*|dizz\w*|overdose\w*|hospital\w*|medic\w*|tablets?|pills?|doses?)\b"
    "|过敏|皮疹|起疹|呼吸|副作用|出血|头晕|晕倒|不良反应|住院|药",
    re.IGNORECASE,
)
_USER_WORDS = re.compile(r"\buser\b|用户")


class _FormerFact(NamedTuple):
    """A retired thought that would have answered the question.

    `names` are its subject and value and the names in them, unless the question has them; `rivals` are the
    names that no present answer states.
    """

    thought: Thought
    names: tuple[str, ...]
    rivals: tuple[str, ...]


def leave_out_former(search: Search, hits: list[MemoryHit], answers: Mapping[Ref, float]) -> list[MemoryHit]:
    """The hits for a question about the present; what tells only what was before has a score of 0.

    So a memory that names a former value that no present answer states, and one that tells how a former fact
    ended, if another memory about the same one answers about as well. What may matter for safety stays.
    `answers` are the log odds of the memories that were read.
    """
    question = search.query.text
    present = [hit for hit in hits if _is_stated(hit) and hit.row.ref in answers]
    if not present or is_past(question) or asks_for_several(question):
        return hits
    former = _former_facts(search, present, answers)
    if not former or _FAMILY.search(question):
        return hits
    left_out: dict[Ref, Ref] = {}  # and the retired thought that each is about
    thought_about = {hit.row.last_turn for hit in hits if isinstance(hit.row, ThoughtRow) and _is_stated(hit)}
    for hit in hits:
        if _may_matter_for_safety(hit):
            continue
        fact = _names_rival(hit, former, thought_about) or (
            _tells_end(hit, _answered_otherwise(question, hit, former, present, answers), question)
            if _is_stated(hit)
            else None
        )
        if fact is not None:
            left_out[hit.row.ref] = fact.thought.ref
    left_out |= _turns_of(left_out, hits)
    kept = [
        hit.with_total(0.0, f"tells what was before, see {left_out[hit.row.ref]}")
        if hit.row.ref in left_out
        else hit
        for hit in hits
    ]
    return sorted(kept, key=MemoryHit.sort_key)


def _turns_of(left_out: Mapping[Ref, Ref], hits: Sequence[MemoryHit]) -> dict[Ref, Ref]:
    """The turns of which all stated thoughts are left out."""
    turns: dict[int, list[Ref]] = {}
    for hit in hits:
        if isinstance(hit.row, ThoughtRow) and _is_stated(hit):
            turns.setdefault(hit.row.last_turn, []).append(hit.row.ref)
    return {
        Ref("turn", turn): left_out[refs[0]]
        for turn, refs in turns.items()
        if all(ref in left_out for ref in refs)
    }


def _is_stated(hit: MemoryHit) -> bool:
    """Whether a hit is a current thought in other words than the user's."""
    return isinstance(hit.row, ThoughtRow) and hit.row.memory.current and not hit.row.is_spoken


def _former_facts(
    search: Search, present: Sequence[MemoryHit], answers: Mapping[Ref, float]
) -> list[_FormerFact]:
    encoder = search.query.cross_encoder
    retired = _find_retired(search)
    if encoder is None or not retired:
        return []
    scores = encoder.answer_scores(search.query.text, [thought.sentence for thought in retired])
    best = max(answers[hit.row.ref] for hit in present)
    if best < MIN_OTHER_ANSWER_SCORE:
        return []
    said_now = [
        fold_text(hit.row.text) for hit in present if answers[hit.row.ref] >= best - SAME_ANSWER_RANGE
    ]
    asked = fold_text(search.query.text)
    facts = []
    for thought, score in zip(retired, scores, strict=True):
        if score >= MIN_FORMER_SCORE:
            names = tuple(name for name in _names_of(thought) if not _contains(asked, name))
            rivals = tuple(name for name in names if not any(_contains(text, name) for text in said_now))
            facts.append(_FormerFact(thought, names, rivals))
    return facts


def _find_retired(search: Search) -> list[Thought]:
    """The retired thoughts that the search finds, best first, without what the user took back."""
    if not search.index.has_retired("thought"):
        return []
    found = search.hits("thought", _RETIRED_SEARCH_LIMIT, include_retired=True).ids.tolist()
    valid = search.valid_ids("thought", found)
    rows = {row.id: row for row in search.loader.thought_rows([id_ for id_ in found if id_ not in valid])}
    lifecycles = LifecycleResolver(search.loader.journal, search.loader.lifecycles)
    retired = [
        rows[id_].memory
        for id_ in found
        if id_ in rows
        and not (rows[id_].is_spoken or rows[id_].withheld_reason)
        and lifecycles(rows[id_].memory).status == "replaced"
    ]
    return retired[:MAX_RETIRED_READ]


def _names_rival(
    hit: MemoryHit, former: Sequence[_FormerFact], thought_about: Collection[int]
) -> _FormerFact | None:
    """The former fact of which a raw turn or a stated thought names a rival; None if it names none.

    A later turn of which no thought is known may tell what holds now: "i am not allergic to peanuts".
    """
    row = hit.row
    if isinstance(row, TurnRow) and row.id not in thought_about:
        former = [fact for fact in former if fact.thought.last_turn >= row.id]
    if not (isinstance(row, TurnRow) or _is_stated(hit)):
        return None
    text = fold_text(row.memory.query if isinstance(row, TurnRow) else row.text)
    return next((fact for fact in former if any(_contains(text, name) for name in fact.rivals)), None)


def _tells_end(hit: MemoryHit, former: Sequence[_FormerFact], question: str) -> _FormerFact | None:
    """The former fact whose end a stated thought tells ("sold the Hilux"); None if it tells none."""
    text = hit.row.text
    if not load_patterns("ends").search(text) or load_patterns("asks_still").search(question):
        return None
    folded, terms = fold_text(text), set(extract_terms(text))
    asked = set(extract_terms(question))
    for fact in former:
        value = {term for term in extract_terms(fact.thought.object) if not term.isdecimal()} - asked
        if any(_contains(folded, name) for name in fact.names) or value & terms:
            return fact
    return None


def _answered_otherwise(
    question: str,
    hit: MemoryHit,
    former: Sequence[_FormerFact],
    present: Sequence[MemoryHit],
    answers: Mapping[Ref, float],
) -> list[_FormerFact]:
    """The former facts of whose subject another current thought, one of no end, answers about as well.

    If the question asks about the user, a thought about the user is enough.
    """
    least = max(MIN_OTHER_ANSWER_SCORE, answers.get(hit.row.ref, -inf) - OTHER_ANSWER_RANGE)
    subjects = {
        other.memory.subject
        for other in present
        if isinstance(other.memory, Thought)
        and answers[other.row.ref] >= least
        and other.row.ref != hit.row.ref
        and not load_patterns("ends").search(other.row.text)
    }
    of_user = USER in subjects and asks_about_user(question)
    return [fact for fact in former if of_user or fact.thought.subject in subjects]


def _may_matter_for_safety(hit: MemoryHit) -> bool:
    """Whether a memory is about medicine, a reaction to something or a restriction: it is never left out."""
    text = hit.memory.query if isinstance(hit.memory, Turn) else hit.memory.sentence
    return bool(_REACTION.search(text) or "medicine" in find_domains(text) or find_restriction(text))


def _names_of(thought: Thought) -> list[str]:
    """The subject and the values of a thought, and the names in them, folded.

    "The user's car" and the like are no names: what holds now has the same subject.
    """
    texts = thought.objects if thought.subject == USER else (thought.subject, *thought.objects)
    names: dict[str, None] = {}
    for text in texts:
        if has_han(text):
            parts = [text, *(part for part in _HAN_SEPARATOR.split(text) if len(part) > 1)]
        else:
            parts = [text, *_CAPITALISED.findall(text)]
        for part in parts:
            name = fold_text(part.strip(" .。，,"))
            if len(name) > 1 and not _USER_WORDS.search(name) and not _TIME_WORD.fullmatch(name):
                names[name] = None
    return list(names)


def _contains(text: str, name: str) -> bool:
    """Whether a folded text contains a name, as whole words unless it is Chinese."""
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        if has_han(name) or not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
            return True
        at = text.find(name, at + 1)
    return False
