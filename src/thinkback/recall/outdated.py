"""Outdated memories: raw turns whose facts were retired, and how they are shown.

A turn that would be recalled because of a retired thought must not appear as if it were still true. If the
fact was replaced, the turn is marked as outdated, with the new fact. If it was denied or corrected, the turn
is shown only to a query about the past. If the user took it back, the turn is not shown at all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from itertools import product
from typing import NamedTuple

from thinkback.language.writing_systems import has_han
from thinkback.prompts import escape_structure
from thinkback.recall.rows import TurnRow
from thinkback.recall.search import CANDIDATES_PER_RESULT, Search
from thinkback.recall.thought_lifecycle import LifecycleResolver
from thinkback.types import SAID, OutdatedInfo, Ref, Source, Thought, Turn

_RETIRED_SEARCH_LIMIT = 64  # thoughts searched, retired ones included


class OutdatedFacts:
    """The retired thoughts that are the only reason to recall a turn.

    So if the retired thought itself would be relevant, or if it is everything that the user said in the turn
    (the words of a thought differ, so its turn may match the query where the thought does not). Retired
    thoughts are searched when a turn that may be outdated is first asked for.
    """

    def __init__(self, search: Search, turns: Iterable[TurnRow]) -> None:
        self._search = search
        self._suspects: dict[int, TurnRow] = {}
        if search.index.has_retired("thought"):
            # the index knows what is retired now, not what was retired at the time of a snapshot
            sources = search.retired.source_turns if search.query.snapshot is None else None
            self._suspects = {turn.id: turn for turn in turns if sources is None or turn.id in sources}
        self._found: dict[int, Sequence[Thought]] = {}

    def of(self, turn: int) -> Sequence[Thought]:
        """The retired thoughts of an outdated turn, the decisive one first; empty if it is not outdated."""
        if turn not in self._suspects:
            return ()
        if turn not in self._found:
            facts = self._retired.facts.get(turn)
            self._found[turn] = (
                _outdated_facts(self._suspects[turn].memory, facts, self._retired.ids, self._retired.relevant)
                if facts
                else ()
            )
        return self._found[turn]

    @cached_property
    def _retired(self) -> _RetiredHits:
        search = self._search
        limit = max(_RETIRED_SEARCH_LIMIT, search.query.k * CANDIDATES_PER_RESULT)
        hits = search.hits("thought", limit, include_retired=True)
        ids = hits.ids.tolist()
        retired = set(ids) - search.valid_ids("thought", ids)
        if not retired:
            return _RetiredHits(retired, retired, {})
        relevant = retired.intersection(hits.ids[search.are_nearly_relevant(hits)].tolist())
        rows = search.loader.thought_rows(ids)
        turns = set[int]().union(*(row.source_turns for row in rows if row.id in retired))
        facts: dict[int, list[tuple[Thought, Source]]] = {id_: [] for id_ in turns}
        for row in rows:
            for source in row.memory.sources:
                if source.turn in turns:
                    facts[source.turn].append((row.memory, source))
        return _RetiredHits(retired, relevant, facts)


class _RetiredHits(NamedTuple):
    """The retired thoughts that a search finds, and all found thoughts of their turns with their sources."""

    ids: Collection[int]
    relevant: Collection[int]
    facts: Mapping[int, Sequence[tuple[Thought, Source]]]


def _outdated_facts(
    turn: Turn,
    facts: Sequence[tuple[Thought, Source]],
    retired: Collection[int],
    relevant: Collection[int],
) -> Sequence[Thought]:
    """See `OutdatedFacts.of`."""
    gone: list[tuple[Thought, Source]] = []
    valid: list[tuple[Thought, Source]] = []
    for fact in facts:
        (gone if fact[0].id in retired else valid).append(fact)
    valid_sources = [
        source
        for thought, source in valid
        # a thought may also name the words of what it replaced, which it does not say again
        if all(other != source or old.object in thought.sentence for old, other in gone)
    ]
    outdated = [
        (thought, source) for thought, source in gone if not thought.current and source not in valid_sources
    ]
    rest = turn.query  # without the words of retired thoughts
    for thought, source in outdated:
        if source.side == "query" and thought.id not in relevant:
            rest = rest[: source.start] + " " * (source.end - source.start) + rest[source.end :]
        if thought.id in relevant or not rest.strip():
            return [thought, *(other for other, _ in outdated if other is not thought)]
    return ()


class OutdatedResolver:
    """Finds out whether and why memories are outdated; each memory is looked up once."""

    def __init__(self, search: Search, outdated: OutdatedFacts) -> None:
        self._search = search
        self._outdated = outdated
        self._lifecycles = LifecycleResolver(search.loader.journal, search.loader.lifecycles)
        self._resolved: dict[Ref, OutdatedInfo | None] = {}
        self._visible: dict[int, Thought | None] = {}

    def __call__(self, memory: Thought | Turn) -> OutdatedInfo | None:
        """Until when the memory was true and what replaced it.

        None if nothing in it is outdated, if it is to be forgotten, or if the query is about an earlier time
        or state of knowledge, which must not reveal what came later.
        """
        if self._search.is_limited_in_time:
            return None
        ref = memory.ref
        if ref not in self._resolved:
            self._resolved[ref] = self._resolve(memory)
        return self._resolved[ref]

    def may_show(self, turn: Turn) -> bool:
        """Whether an outdated turn may be shown.

        Not if one of its facts is to be forgotten; facts that were denied later or were never true are shown
        only to a query about the past.
        """
        about_past = self._search.reaches_back
        states = [(fact, self._lifecycles(fact).status) for fact in self._facts(turn)]
        return all(
            status != "forgotten" and (about_past or (status != "denied" and _was_valid(fact)))
            for fact, status in states
        )

    def may_show_thought(self, thought: Thought) -> bool:
        """Whether a thought may be shown: a retired one not if it is to be forgotten.

        What was denied later or was never true is shown only to a query about the past.
        """
        if thought.current:
            facts = self._facts_in(thought)
            return not facts or all(self._lifecycles(fact).status != "forgotten" for fact in facts)
        status = self._lifecycles(thought).status
        if status == "forgotten":
            return False
        if not self._search.is_limited_in_time:
            if not self._search.shows_retired and thought.relation != SAID:
                return False
            if not self._search.reaches_back and (status == "denied" or not _was_valid(thought)):
                return False
        return not self._is_hidden(thought)

    def _is_hidden(self, thought: Thought) -> bool:
        """Whether the user asked to forget every turn that a thought was drawn from."""
        if self._search.query.snapshot is not None:
            return False  # what was known at an earlier time
        for source in thought.sources:
            if any(not turn.hidden for turn in self._search.loader.turns([source.turn])):
                return False
        return bool(thought.sources)

    def replaced_sentences(self, thought: Thought) -> Sequence[Thought] | None:
        """The sentences of a message kept as said that hold no more, for one of its sentences.

        None if the message is not to be shown as a whole: other facts of it are retired, too, or one is to be
        forgotten, was denied, or was never true; or the query is about an earlier time.
        """
        ids = self._search.index.retired_from_turn("thought", thought.last_turn)
        retired = [fact for fact in (self._search.loader.thoughts(ids) if ids else ()) if not fact.current]
        if retired and self._search.is_limited_in_time:
            return None
        for fact in retired:
            if fact.relation != SAID or not _was_valid(fact) or self._lifecycles(fact).status != "replaced":
                return None
        return retired

    def past_of_message(self, thought: Thought) -> OutdatedInfo | None:
        """What of the message of a sentence kept as said is past; None if nothing of it is."""
        return self._resolve_facts(self.replaced_sentences(thought) or ())

    def _resolve(self, memory: Thought | Turn) -> OutdatedInfo | None:
        if not isinstance(memory, Thought):
            return self._resolve_facts(self._facts(memory))
        if memory.current:
            return self._resolve_facts(self._facts_in(memory))
        if memory.relation == SAID and self.replaced_sentences(memory):
            return self.past_of_message(memory)
        status, successor = self._lifecycles(memory)
        if status == "forgotten":
            return None
        return OutdatedInfo(_end_time(memory), self._visible_thoughts([successor]))

    def _resolve_facts(self, retired: Sequence[Thought]) -> OutdatedInfo | None:
        """Whether words are outdated because of retired facts that were drawn from them."""
        states = [(fact, self._lifecycles(fact)) for fact in retired]
        ended = [(fact, state.successor) for fact, state in states if state.status in ("replaced", "denied")]
        if not ended:
            return None
        facts, successors = [fact for fact, _ in ended], [successor for _, successor in ended]
        until = max(map(_end_time, facts))
        return OutdatedInfo(until, self._visible_thoughts(successors), self._visible_thoughts(facts))

    def _visible_thoughts(self, thoughts: Sequence[Thought | None]) -> tuple[Thought, ...]:
        """Each thought once, redacted, without quarantined ones."""
        shown: dict[int, Thought | None] = {}
        for thought in thoughts:
            if thought is None:
                continue
            if thought.id not in self._visible:
                row = self._search.loader.row_of_thought(thought)
                self._visible[thought.id] = None if row.withheld_reason else row.redacted.memory
            shown[thought.id] = self._visible[thought.id]
        return tuple(thought for thought in shown.values() if thought is not None)

    def _facts_in(self, thought: Thought) -> Sequence[Thought]:
        """The retired facts that were drawn from the same words as a sentence kept as said."""
        if thought.relation != SAID:
            return ()
        ids = self._search.index.retired_from_turn("thought", thought.last_turn)
        return [
            fact
            for fact in (self._search.loader.thoughts(ids) if ids else ())
            if not fact.current
            and any(one.overlaps(other) for one, other in product(fact.sources, thought.sources))
        ]

    def _facts(self, turn: Turn) -> Sequence[Thought]:
        """The retired thoughts of a turn, beginning with those that made it outdated."""
        facts = {thought.id: thought for thought in self._outdated.of(turn.id)}
        ids = [id_ for id_ in self._search.index.retired_from_turn("thought", turn.id) if id_ not in facts]
        if ids:
            facts |= {
                thought.id: thought for thought in self._search.loader.thoughts(ids) if not thought.current
            }
        return list(facts.values())


def mark_outdated(text: str, outdated: OutdatedInfo | None) -> str:
    """The text with a note that it is outdated, since when, and what is true now."""
    if outdated is None:
        return text

    han, until = has_han(text), str(outdated.until.date())
    facts, now = (_join_sentences(thoughts, han) for thoughts in (outdated.facts, outdated.replaced_by))
    if han:
        return f"{text}（已成过去{facts and f'：{facts}'}，至{until}{now and f'；现在：{now}'}）"
    return f"{text} (past{facts and f': {facts}'}, until {until}{now and f'; now: {now}'})"


def _join_sentences(thoughts: Sequence[Thought], han: bool) -> str:
    return ("；" if han else "; ").join(
        escape_structure(thought.sentence.rstrip(".。 ")) for thought in thoughts
    )


def _end_time(thought: Thought) -> datetime:
    return thought.valid_to or thought.retired_at or thought.recorded_at


def _was_valid(thought: Thought) -> bool:
    """Whether the thought was ever true; a corrected one has an empty validity period."""
    start, end = thought.valid_from, thought.valid_to
    return end is None or start is None or start < end
