"""Adds to recalled memories the thoughts that an answer must also respect.

Constraints: safety facts (allergy, diet, contraindication) that concern what the message is about, whatever
their rank. One hop: thoughts about the people and things that recalled thoughts name ("the user takes
warfarin" leads to "warfarin must not be taken with aspirin", "my sister Ann" to "Ann works in Oslo").
Asked facts: what a question about one fact of the user asks for ("what is my name", see `slot_questions`).
Each added memory says in its reason how it was found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from thinkback.language.names import USER, normalise_name
from thinkback.language.restrictions import find_domains, find_substances
from thinkback.language.tokens import STOP_WORDS, fold_text
from thinkback.recall.answerable import repair_question
from thinkback.recall.asked_restrictions import asks_for_restrictions
from thinkback.recall.constraints import Constraint, find_constraints
from thinkback.recall.slot_questions import asked_relations
from thinkback.types import SAID, SAME_AS, Candidate, Recollection, Score, Thought

MAX_CONSTRAINTS = 8  # in one context
MAX_ASKED_CONSTRAINTS = 32  # if the message asks for everything that somebody must not eat, drink or take
MAX_LINKED = 3  # thoughts added by one hop
MAX_ASKED = 5  # facts added because the question asks for them, the newest
MAX_MENTIONS = 6  # a name in more thoughts than this is too common to lead anywhere
CONSTRAINT, LINKED, ASKED = "constraint", "linked", "asked"
_NAME = re.compile(r"\b[A-Z][\w-]+\b")
_USER_NAMES = frozenset(("user", "the user", "assistant", "i", "me", "用户", "我"))
_NO_SCORE = Score(0.0, 0.0, 0.0)
_ASKED_SCORE = Score(1.0, 0.0, 0.0)  # it answers, whatever the search says


@dataclass(frozen=True, slots=True)
class ThoughtLinks:
    """The current thoughts of a space by the things they name, and its safety facts."""

    thoughts: dict[int, Thought]
    constraints: tuple[Constraint, ...]
    by_name: dict[str, tuple[int, ...]]

    @classmethod
    def from_thoughts(cls, thoughts: Iterable[Thought]) -> ThoughtLinks:
        current = {thought.id: thought for thought in thoughts if thought.relation != SAME_AS}
        by_name: dict[str, list[int]] = {}
        for thought in current.values():
            for name in set(_names_in(thought)):
                by_name.setdefault(name, []).append(thought.id)
        constraints = tuple(find_constraints(current.values()))
        return cls(current, constraints, {name: tuple(ids) for name, ids in by_name.items()})

    def expand(self, recollection: Recollection, message: str) -> Recollection:
        """The recollection with constraints, asked facts and linked thoughts after the recalled items."""
        recalled = {item.thought.id: item for item in recollection if item.thought is not None}
        added: dict[int, Candidate] = {}
        asks_for_all = asks_for_restrictions(message)
        most = MAX_ASKED_CONSTRAINTS if asks_for_all else MAX_CONSTRAINTS
        for constraint in self.constraints:
            reason = constraint.concerns(message) or self._concerns_recalled(constraint, recalled.values())
            if asks_for_all and not reason and not find_domains(message):
                reason = "the question asks for restrictions"
            if reason and len(added) < most:
                candidate = _to_candidate(
                    constraint.thought, CONSTRAINT, f"{constraint.restriction.kind}: {reason}"
                )
                score = _ASKED_SCORE if asks_for_all else candidate.score
                added[constraint.thought.id] = replace(candidate, score=score)
        items = [
            replace(item, verdict=CONSTRAINT, reason=added[item.thought.id].reason)
            if item.thought is not None and item.thought.id in added
            else item
            for item in recollection
        ]
        stated = {thought.id for item in recollection for thought in item.thoughts}
        asked_facts = [thought for thought in self._asked_facts(message) if thought.id not in stated]
        for thought in asked_facts[-MAX_ASKED:]:
            reason = f"the question asks for {thought.relation!r}"
            asked = replace(_to_candidate(thought, ASKED, reason), score=_ASKED_SCORE)
            added.setdefault(thought.id, asked)
        new = [candidate for id_, candidate in added.items() if id_ not in recalled]
        known = {*recalled, *added}
        sources = [
            item.thought for item in recollection if item.thought is not None and item.outdated is None
        ]
        for thought, source, name in self._one_hop(sources, known):
            reason = f"one hop: {source.ref} names {name!r}"
            new.append(_to_candidate(thought, LINKED, reason))
        return replace(recollection, items=(*items, *new))

    def _concerns_recalled(self, constraint: Constraint, recalled: Iterable[Candidate]) -> str:
        """A contraindication matters if a recalled thought names its medicine."""
        if constraint.restriction.kind != "contraindication":
            return ""
        for item in recalled:
            if item.ref != constraint.thought.ref and any(
                word in fold_text(item.text) for word in constraint.restriction.holders
            ):
                return f"{item.ref} names {constraint.restriction.holders[0]!r}"
        return ""

    def _asked_facts(self, message: str) -> Iterator[Thought]:
        """The facts about the user that a question asks for by their relation."""
        relations = asked_relations(repair_question(message))
        for thought in self.thoughts.values() if relations else ():
            if thought.relation in relations and normalise_name(thought.subject) == USER:
                yield thought

    def _one_hop(self, sources: Iterable[Thought], known: set[int]) -> Iterator[tuple[Thought, Thought, str]]:
        found: set[int] = set()
        for source in sources:
            for name in dict.fromkeys(_names_in(source)):
                ids = self.by_name.get(name, ())
                if len(ids) > MAX_MENTIONS:
                    continue
                for id_ in ids:
                    if len(found) >= MAX_LINKED:
                        return
                    if id_ not in known and id_ not in found:
                        found.add(id_)
                        yield self.thoughts[id_], source, name


def _names_in(thought: Thought) -> Iterator[str]:
    """The people and things that a thought names: subject and objects, capitalised words, substances."""
    for name in (thought.subject, *(thought.objects if thought.relation != SAID else ())):
        key = normalise_name(name)
        if key and key not in _USER_NAMES and len(name) <= 40:
            yield key
    for match in _NAME.finditer(thought.sentence):
        word = match.group().lower()
        if match.start() and word not in STOP_WORDS and word not in _USER_NAMES:
            yield normalise_name(match.group())
    first = _NAME.match(thought.sentence)
    if first and first.group().lower() not in STOP_WORDS | {"user"}:
        yield normalise_name(first.group())
    for mention in find_substances(thought.sentence):
        yield mention.word


def _to_candidate(thought: Thought, verdict: str, reason: str) -> Candidate:
    return Candidate(
        ref=thought.ref,
        text=thought.sentence,
        score=_NO_SCORE,
        group=0,
        reason=f"{verdict}: {reason}",
        verdict=verdict,
        thought=thought,
    )
