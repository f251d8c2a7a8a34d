"""Decides which ranked candidates are recalled, and gives a reason for each of the others.

A turn whose fact was retired is rejected, because it would bring back what is no longer true; it may fill a
leftover slot, marked as outdated. A turn that the user asked to forget is hidden in the index.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType

from thinkback.language.commands import is_only_commands
from thinkback.language.names import USER, normalise_name
from thinkback.language.questions import asks_for_several
from thinkback.language.sentences import is_question, split_sentences
from thinkback.language.text_cache import cache_by_digest
from thinkback.language.tokens import count_tokens, extract_terms
from thinkback.prompts import escape_structure
from thinkback.recall.display import format_exchange, format_query, format_thought
from thinkback.recall.features import MemoryHit, adds_information, held_in, past_period
from thinkback.recall.outdated import OutdatedFacts, OutdatedResolver, mark_outdated
from thinkback.recall.search import Search
from thinkback.recall.slots import SlotUpdate
from thinkback.recall.updates import mark_possibly_outdated
from thinkback.types import SAID, Candidate, OutdatedInfo, Ref, Thought, Turn

CANDIDATES_PER_RESULT = 4  # candidates considered for each memory to recall
_MAX_QUESTION_CHARS = 2000  # of a turn, to decide whether it only asks questions
_MAX_JOINED_THOUGHTS = 2  # further thoughts that one item may state
_MAX_JOINED_TOKENS = 75  # of an item that states several thoughts
_MAX_SERIES_THOUGHTS = 7  # further thoughts of one slot, if the query asks for several values
_MAX_SERIES_TOKENS = 200
_MAX_CONTEXT_CHARS = 600  # of a message that is shown whole around a sentence kept from it
_MAX_BELOW_THRESHOLD = 3  # turns below the threshold that may be kept

_TOO_FAR = "too far"  # the reason for dropping a candidate below the threshold

Selection = tuple[list[Candidate], list[Candidate]]  # kept, dropped


class Selector:
    """Selects the candidates of one query. `thoughts_by_turn` are the kept thoughts by their source turns."""

    def __init__(
        self,
        search: Search,
        outdated: OutdatedFacts,
        kept: Sequence[Candidate] = (),
        slot_updates: Mapping[int, SlotUpdate] = MappingProxyType({}),
    ) -> None:
        self._search = search
        self._outdated = outdated
        self._normalised_query = normalise_name(search.query.text)
        self._resolve_outdated = OutdatedResolver(search, outdated)
        self._slot_updates = slot_updates
        self._wants_several = asks_for_several(search.query.text)
        self._period = past_period(search.query, search.scorer.period)
        self._named_by: dict[int, Ref] = {}  # by thought id: the kept outdated item that says it is true now
        self.thoughts_by_turn: dict[int, list[Thought]] = {}
        for item in kept:
            self._register_thought(item)

    def select(self, hits: Iterable[MemoryHit], limit: int) -> Selection:
        """Split ranked hits into at most `limit` kept candidates and the dropped ones.

        Without an explanation, dropped thoughts are left out, and all dropped ones if no slot is left.
        """
        kept: list[Candidate] = []
        dropped: list[tuple[MemoryHit, str]] = []
        kept_below_threshold = 0
        explain = self._search.query.explain
        joins = self._search.preset.weights is not None
        for hit in hits:
            full = len(kept) == limit
            below_threshold = not self._search.is_relevant(hit.score.total)
            if full and not explain:
                if not joins:
                    break
                if not self._may_join(hit.memory) or (below_threshold and not self._wants_several):
                    continue
            may_fill = below_threshold and kept_below_threshold < _MAX_BELOW_THRESHOLD
            rejection = self._rejection(hit, may_fill)
            if joins and self._join(hit, kept, rejection):
                continue
            if rejection is None and full:
                rejection = self._search.limit_reason
            if rejection is not None:
                if explain or isinstance(hit.memory, Turn):
                    dropped.append((hit, rejection))
                continue
            candidate = self._candidate(hit, "near" if below_threshold else "matters", kept=True)
            kept.append(candidate)
            self._register_thought(candidate)
            kept_below_threshold += below_threshold
        if len(kept) == limit and not explain:
            return kept, []
        return kept, [self._candidate(hit, rejection, kept=False) for hit, rejection in dropped]

    def rejection_reason(self, turn: Turn) -> str | None:
        """Why a raw turn must not be recalled; None if it may."""
        thoughts = self.thoughts_by_turn.get(turn.id, [])
        if any(thought.relation == SAID for thought in thoughts):
            return f"told by {thoughts[0].ref}"
        sentences = [thought.sentence for thought in thoughts]
        if sentences and not adds_information(self._search, turn, sentences):
            return f"told by {thoughts[0].ref}"
        facts = self._outdated.get(turn.id)
        if facts and not (self._search.reaches_back and self._resolve_outdated.may_show(turn)):
            return f"no longer held true, see {facts[0].ref}"
        return self._exclusion_reason(turn)

    def fill_with_outdated(self, kept: list[Candidate], dropped: list[Candidate], limit: int) -> Selection:
        """Move relevant but outdated turns from `dropped` to `kept` while there are slots left.

        Each must say more than its retired facts and than the kept memories.
        """
        present = [thought.sentence for thoughts in self.thoughts_by_turn.values() for thought in thoughts]
        present += [item.text for item in kept]
        filling: dict[Ref, Candidate] = {}
        for item in dropped:
            turn = item.turn
            if turn is None or not self._search.is_relevant(item.score.total):
                continue
            if len(kept) + len(filling) == limit:
                break
            facts = [fact.sentence for fact in self._outdated.get(turn.id, ())]
            if not facts or self._search.loader.withheld_reason(turn) or self._exclusion_reason(turn):
                continue
            worth = not present or adds_information(self._search, turn, [*facts, *present])
            if worth and self._resolve_outdated(turn) and self._resolve_outdated.may_show(turn):
                filling[item.ref] = self.accept(item, turn, "past")
        return kept + list(filling.values()), [item for item in dropped if item.ref not in filling]

    def accept(self, item: Candidate, turn: Turn, verdict: str) -> Candidate:
        """A dropped turn as a kept candidate: redacted, and marked if it is outdated."""
        shown, outdated = self._search.loader.redact(turn), self._resolve_outdated(turn)
        reason = verdict + item.reason.removeprefix(item.verdict)
        text = self._text(shown, outdated)
        return replace(item, turn=shown, text=text, reason=reason, verdict=verdict, outdated=outdated)

    def _exclusion_reason(self, turn: Turn) -> str | None:
        if self._search.loader.memoise_row(_normalised_query, turn) == self._normalised_query:
            return "repeats the query"
        if self._search.loader.memoise(is_only_commands, turn.query):
            return "only tells the memory what to do"
        only_asks = not turn.response and self._search.loader.memoise(_is_only_questions, turn.query)
        return "only asks" if only_asks else None

    def _rejection(self, hit: MemoryHit, may_fill: bool) -> str | None:
        """Why a hit must not be recalled; None if it may."""
        memory, score = hit.memory, hit.score
        if not self._search.is_relevant(score.total) and not (
            may_fill
            and isinstance(memory, Turn)
            and self._search.is_nearly_relevant(score.total, score.lexical)
        ):
            return _TOO_FAR
        if quarantined := self._search.loader.withheld_reason(memory):
            return quarantined
        if isinstance(memory, Turn):
            return self.rejection_reason(memory)
        shown = self.thoughts_by_turn.get(memory.last_turn, ())
        if told := next((other for other in shown if other.relation == SAID), None):
            return f"told by {told.ref}"
        if self._search.reaches_back and (past := self._named_by.get(memory.id)):
            return f"told by {past}"
        return None if self._resolve_outdated.may_show_thought(memory) else "to be forgotten"

    def _may_join(self, memory: Thought | Turn) -> bool:
        """Whether a kept item may state a memory too: a thought that is no sentence kept as said."""
        return isinstance(memory, Thought) and memory.relation != SAID and memory.id not in self._slot_updates

    def _join(self, hit: MemoryHit, kept: list[Candidate], rejection: str | None) -> bool:
        """Add a thought to a kept item that may state it too; False if it must stand alone.

        A query for several values takes a thought of the same slot even if it is too far by itself.
        """
        thought = hit.memory
        if rejection is not None and not (self._wants_several and rejection == _TOO_FAR):
            return False
        if not isinstance(thought, Thought) or not self._may_join(thought):
            return False
        outdated = None if thought.current else self._resolve_outdated(thought)
        if not thought.current and outdated is None:
            return False
        if self._period is not None and held_in(thought, *self._period) < 0:
            return False
        memoise_row = self._search.loader.memoise_row
        keys = memoise_row(_join_keys, thought)
        for position, item in enumerate(kept):
            if item.thought is None or item.thought.relation == SAID:
                continue
            series = self._wants_several and memoise_row(_series, thought) == memoise_row(
                _series, item.thought
            )
            if len(item.joined) >= (_MAX_SERIES_THOUGHTS if series else _MAX_JOINED_THOUGHTS):
                continue
            if not series and (rejection is not None or (item.outdated is None) != (outdated is None)):
                continue
            if item.outdated is not None and (outdated is None or not item.outdated.certain):
                continue
            if (
                not series
                and keys.isdisjoint(memoise_row(_join_keys, item.thought))
                and not _have_one_successor(item.outdated, outdated)
            ):
                continue
            shown = self._search.loader.redact(thought)
            text = f"{item.text} {self._joined_text(shown, outdated, item)}"
            if count_tokens(text) <= (_MAX_SERIES_TOKENS if series else _MAX_JOINED_TOKENS):
                reason = f"{item.reason}; joined with {thought.ref} ({hit.score.total:.2f})"
                kept[position] = replace(
                    item,
                    text=text,
                    joined=(*item.joined, shown),
                    reason=reason,
                    outdated=_join_outdated(item.outdated, outdated),
                )
                self._register_thought(kept[position])
                return True
        return False

    def _joined_text(self, thought: Thought, outdated: OutdatedInfo | None, item: Candidate) -> str:
        """The text of a thought that an item states too; what replaced both is said only once."""
        if outdated is not None and item.outdated is not None:
            known = {new.id for new in item.outdated.replaced_by}
            new = tuple(each for each in outdated.replaced_by if each.id not in known)
            outdated = replace(outdated, replaced_by=new)
        return self._text(thought, outdated)

    def _source_turn(self, thought: Thought) -> Turn | None:
        """The latest turn that a thought was drawn from; None without a source."""
        turns = self._search.loader.turns([thought.last_turn]) if thought.sources else ()
        return turns[0] if turns else None

    def _whole_turn(self, thought: Thought) -> Turn | None:
        """The turn of a sentence kept as said, if it may be shown with its context.

        Not if it is long or hidden, if one of its facts was retired, or if the sentence was corrected since.
        Sentences that were replaced are shown in it, and named as past.
        """
        turn = self._source_turn(thought) if thought.is_of_one_turn else None
        if turn is None or turn.hidden or len(turn.query) > _MAX_CONTEXT_CHARS:
            return None
        return None if self._resolve_outdated.replaced_sentences(thought) is None else turn

    def _said_at(self, thought: Thought) -> datetime | None:
        turn = self._source_turn(thought)
        return None if turn is None else turn.at

    def _text(self, memory: Thought | Turn, outdated: OutdatedInfo | None) -> str:
        """What a model is given: with dates and, for a turn, speakers."""
        if isinstance(memory, Turn):
            text = self._format_turn(memory, with_response=self._search.asks_for_reply)
        elif memory.relation == SAID and (turn := self._whole_turn(memory)) is not None:
            text = self._format_turn(self._search.loader.redact(turn), with_response=False)
            outdated = outdated or self._resolve_outdated.past_of_message(memory)
        else:
            text = (
                escape_structure(memory.sentence)
                if outdated
                else format_thought(memory, self._said_at(memory))
            )
        return mark_outdated(text, outdated)

    def _format_turn(self, turn: Turn, *, with_response: bool) -> str:
        return self._search.loader.memoise_row(format_exchange if with_response else format_query, turn)

    def _candidate(self, hit: MemoryHit, verdict: str, *, kept: bool) -> Candidate:
        memory = self._search.loader.redact(hit.memory) if kept or self._search.query.explain else hit.memory
        outdated = self._resolve_outdated(hit.memory) if kept else None
        text = self._text(memory, outdated) if kept else _plain_text(memory)
        if kept and not outdated and isinstance(memory, Thought) and memory.id in self._slot_updates:
            newer, since = self._slot_updates[memory.id]
            text = mark_possibly_outdated(text, since)
            outdated = OutdatedInfo(since, (self._search.loader.redact(newer),), certain=False)
        return Candidate(
            ref=memory.ref,
            text=text,
            score=hit.score,
            group=hit.group,
            reason=f"{verdict}: {format_reason(self._search, hit, memory)}",
            verdict=verdict,
            thought=memory if isinstance(memory, Thought) else None,
            turn=memory if isinstance(memory, Turn) else None,
            outdated=outdated,
            with_response=isinstance(memory, Turn) and self._search.asks_for_reply,
        )

    def _register_thought(self, item: Candidate) -> None:
        for new in item.outdated.replaced_by if item.outdated and item.thought else ():
            self._named_by.setdefault(new.id, item.ref)
        for thought in item.thoughts[-1:]:
            for source in thought.sources:
                self.thoughts_by_turn.setdefault(source.turn, []).append(thought)


def _normalised_query(turn: Turn) -> str:
    return normalise_name(turn.query)


def _plain_text(memory: Thought | Turn) -> str:
    return memory.text if isinstance(memory, Turn) else memory.sentence


_DATE = re.compile(
    r"\d[\d:./年月日号-]*"
    r"|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b",
    re.IGNORECASE,
)


def _series(thought: Thought) -> tuple[str, tuple[str, ...]]:
    """Thoughts of one series: the same subject and relation, whatever its date ("weight in May 2025")."""
    words = tuple(extract_terms(_DATE.sub(" ", thought.relation)))
    return normalise_name(thought.subject), words or (thought.relation,)


def _have_one_successor(one: OutdatedInfo | None, other: OutdatedInfo | None) -> bool:
    if one is None or other is None:
        return False
    return not {new.id for new in one.replaced_by}.isdisjoint(new.id for new in other.replaced_by)


def _join_outdated(one: OutdatedInfo | None, other: OutdatedInfo | None) -> OutdatedInfo | None:
    if one is None or other is None:
        return one
    replaced_by = {new.id: new for new in (*one.replaced_by, *other.replaced_by)}
    return replace(one, until=max(one.until, other.until), replaced_by=tuple(replaced_by.values()))


def _join_keys(thought: Thought) -> frozenset[tuple[str, ...]]:
    """Thoughts with a common key may be shown in one item.

    So those of one turn, those with the same subject and relation, and those about the same other person or
    thing. A sentence that is kept as said is its own object; its relation says nothing.
    """
    keys: set[tuple[str, ...]] = {("turn", str(source.turn)) for source in thought.sources}
    if thought.objects != (thought.sentence,):
        keys.add(("slot", thought.subject, thought.relation))
        if thought.subject != USER:
            keys.add(("subject", thought.subject))
    return frozenset(keys)


@cache_by_digest(4096)
def _is_only_questions(text: str) -> bool:
    return all(is_question(sentence.text) for sentence in split_sentences(text[:_MAX_QUESTION_CHARS]))


def format_reason(search: Search, hit: MemoryHit, memory: Thought | Turn) -> str:
    """The recorded reason of a candidate: score, threshold, group and origin. `memory` may be redacted."""
    score, hits = hit.score, hit.hits
    comparison = ">=" if search.is_relevant(score.total) else "<"
    how = f"{hits.probes} groups probed" if hits.probes else "the whole space searched"
    query_group = "" if hits.group is None else f", query in {hits.group}"
    return (
        f"{score.total:.2f} {comparison} {search.preset.threshold:.2f} "
        f"(meaning {score.cosine:.2f}, words {score.lexical:.2f}); group {hit.group}{query_group}, {how}; "
        f"{_format_origin(memory)}"
    )


def _format_origin(memory: Thought | Turn) -> str:
    if isinstance(memory, Turn):
        return f"raw turn of {memory.at:%Y-%m-%d}"
    sources = [f"said by {source.speaker} in {Ref('turn', source.turn)}" for source in memory.sources[:1]]
    return sources[0] if sources else "without a source"
