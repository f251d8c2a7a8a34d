"""What is past: raw turns whose facts are held true no more, and how they are told so that nobody errs.

A turn that would be recalled for a retired thought must not come back as if it were so now. What was replaced
is told as past, with what took its place; what was denied or corrected, only to a question that reaches back;
what was taken back, to none.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime

from thinkback.recall.fate import Fates
from thinkback.recall.search import Search
from thinkback.text.safety.quarantine import redacted, withheld
from thinkback.text.scripts import has_han
from thinkback.types import Past, Ref, Source, Thought, Turn

Outdated = Callable[[Turn], Sequence[Thought]]

_RETIRED = 64  # thoughts, retired ones included, by which turns are judged to be outdated
_FEW = 256  # retired thoughts, each of which is worth a look before there is a search


def outdated(search: Search, limit: int) -> Outdated:
    """Which retired thoughts, if any, are all that a turn would be recalled for; the first decides.

    That is so if the thought itself would matter, or if it is all that the user said in the turn: a thought
    is worded differently, so its turn may match where it does not.
    """
    if not search.shelf.any_retired("thought"):
        return lambda turn: ()
    sources = _sources_of_retired(search)
    found: list[Outdated] = []  # searched for at the first turn that needs it

    def judge(turn: Turn) -> Sequence[Thought]:
        if sources is not None and turn.id not in sources:
            return ()
        if not found:
            found.append(_searched(search, limit))
        return found[0](turn)

    return judge


def _sources_of_retired(search: Search) -> Collection[int] | None:
    """The turns of which something is held true no more; None where that takes longer than to search."""
    if search.question.known is not None:
        return None  # what was retired then is not what is retired now
    ids = search.shelf.retired("thought")
    if len(ids) > _FEW:
        return None
    return {source.turn for thought in search.lookup.thoughts(ids) for source in thought.sources}


def _searched(search: Search, limit: int) -> Outdated:
    known = search.hits("thought", max(_RETIRED, limit), whenever=True)
    ids = known.ids.tolist()
    gone = set(ids) - search.holding("thought", ids)
    if not gone:
        return lambda turn: ()
    told: dict[int, list[tuple[Thought, Source]]] = {}
    for thought in search.lookup.thoughts(ids):
        for source in thought.sources:
            told.setdefault(source.turn, []).append((thought, source))
    scores = dict(zip(ids, zip(known.score.tolist(), known.lexical.tolist(), strict=True), strict=True))

    def judge(turn: Turn) -> Sequence[Thought]:
        words = turn.query
        here = told.get(turn.id, ())
        kept = [source for thought, source in here if thought.id not in gone]
        facts = [each for each in here if each[0].id in gone and not each[0].current and each[1] not in kept]
        for thought, source in facts:
            if source.side == "query":
                words = words[: source.start] + " " * (source.end - source.start) + words[source.end :]
            if search.nearly(*scores[thought.id]) or not words.strip():
                return [thought, *(each for each, _ in facts if each is not thought)]
        return ()

    return judge


class Pasts:
    """As what memories may be told that are past, wholly or in part; each is looked up once."""

    def __init__(self, search: Search, outdated: Outdated) -> None:
        self._search = search
        self._outdated = outdated
        self._fates = Fates(search.lookup.journal, search.lookup.ends)
        self._known: dict[Ref, Past | None] = {}

    def __call__(self, memory: Thought | Turn) -> Past | None:
        """Until when it was so and what is so now; None if nothing of it is past, or all is to be forgotten.

        Who asks what held at a time, or was known then, is not told what came later.
        """
        if self._search.question.as_of is not None or self._search.question.known is not None:
            return None
        if memory.ref not in self._known:
            self._known[memory.ref] = self._found(memory)
        return self._known[memory.ref]

    def tellable(self, turn: Turn) -> bool:
        """Whether a turn may be told for what is past in it.

        Not if a fact of it was to be forgotten; and what was denied since, or never so, only to a question
        that reaches back.
        """
        back = self._search.reaches_back
        ends = [(fact, self._fates(fact).became) for fact in self._facts(turn)]
        return all(
            became != "forgotten" and (back or (became != "denied" and _held(fact))) for fact, became in ends
        )

    def _found(self, memory: Thought | Turn) -> Past | None:
        if isinstance(memory, Thought):
            if memory.current:
                return None
            became, heir = self._fates(memory)
            return None if became == "forgotten" else Past(_ended(memory), _shown([heir]))
        ends = [(fact, self._fates(fact)) for fact in self._facts(memory)]
        gone = [(fact, became.heir) for fact, became in ends if became.became in ("replaced", "denied")]
        if not gone:
            return None
        facts, heirs = [fact for fact, _ in gone], [heir for _, heir in gone]
        return Past(max(map(_ended, facts)), _shown(heirs), _shown(facts))

    def _facts(self, turn: Turn) -> Sequence[Thought]:
        """The retired thoughts of a turn, those first for which it would be recalled."""
        facts = {each.id: each for each in self._outdated(turn)}
        ids = [id_ for id_ in self._search.shelf.retired_of("thought", turn.id) if id_ not in facts]
        if ids:
            facts |= {each.id: each for each in self._search.lookup.thoughts(ids) if not each.current}
        return list(facts.values())


def marked(text: str, past: Past | None) -> str:
    """A text that says if it is past, since when, and what is so now: a reader must not take it for now."""
    if past is None:
        return text
    han = has_han(text)
    facts, now = (_listed(thoughts, han) for thoughts in (past.facts, past.replaced_by))
    if han:
        return (
            f"{text}（已成过去{facts and f'：{facts}'}，至{past.until:%Y-%m-%d}{now and f'；现在：{now}'}）"
        )
    return f"{text} (past{facts and f': {facts}'}, until {past.until:%Y-%m-%d}{now and f'; now: {now}'})"


def _listed(thoughts: Sequence[Thought], han: bool) -> str:
    return ("；" if han else "; ").join(thought.sentence.rstrip(".。 ") for thought in thoughts)


def _shown(thoughts: Sequence[Thought | None]) -> tuple[Thought, ...]:
    """Each once, without what is quarantined."""
    found = {thought.id: thought for thought in thoughts if thought is not None and not withheld(thought)}
    return tuple(redacted(thought) for thought in found.values())


def _ended(thought: Thought) -> datetime:
    return thought.valid_to or thought.retired_at or thought.recorded_at


def _held(thought: Thought) -> bool:
    """Whether it was so for a time at all; what was corrected holds at none."""
    start, end = thought.valid_from, thought.valid_to
    return end is None or start is None or start < end
