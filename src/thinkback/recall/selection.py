"""Decides which ranked candidates are recalled, and gives a reason for each of the others.

A turn whose fact was retired is rejected, because it would bring back what is no longer true; it may fill a
leftover slot, marked as outdated. A turn that the user asked to forget is hidden in the index.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType

from thinkback.language.names import normalise_name
from thinkback.language.questions import asks_for_several
from thinkback.language.tokens import count_tokens
from thinkback.prompts import escape_structure
from thinkback.recall.display import format_thought
from thinkback.recall.features import MemoryHit, adds_information, held_in, past_period
from thinkback.recall.outdated import OutdatedFacts, OutdatedResolver, mark_outdated
from thinkback.recall.rows import MemoryRow, ThoughtRow, TurnRow
from thinkback.recall.search import Search
from thinkback.recall.slots import SlotUpdate
from thinkback.recall.updates import mark_possibly_outdated
from thinkback.types import SAID, Candidate, OutdatedInfo, Ref, Thought, Turn

_MAX_JOINED_THOUGHTS = 2  # further thoughts that one item may state
_MAX_JOINED_TOKENS = 75  # of an item that states several thoughts
_MAX_SERIES_THOUGHTS = 7  # further thoughts of one slot, if the query asks for several values
_MAX_SERIES_TOKENS = 200
_MAX_CONTEXT_CHARS = 600  # of a message that is shown whole around a sentence kept from it
_MAX_BELOW_THRESHOLD = 3  # turns below the threshold that may be kept

_TOO_FAR = "too far"  # the reason for dropping a candidate below the threshold

Selection = tuple[list[Candidate], list[Candidate]]  # kept, dropped


@dataclass(slots=True, eq=False)
class _Item:
    """A candidate while it is put together: a kept one may state further thoughts."""

    hit: MemoryHit
    row: MemoryRow  # as shown: a kept one is redacted
    verdict: str
    reason: str
    text: str
    outdated: OutdatedInfo | None = None
    with_response: bool = False
    joined: list[Thought] = field(default_factory=list)

    def candidate(self) -> Candidate:
        memory = self.row.memory
        return Candidate(
            ref=self.row.ref,
            text=self.text,
            score=self.hit.score,
            group=self.hit.group,
            reason=self.reason,
            verdict=self.verdict,
            thought=memory if isinstance(memory, Thought) else None,
            turn=memory if isinstance(memory, Turn) else None,
            outdated=self.outdated,
            joined=tuple(self.joined),
            with_response=self.with_response,
        )


class Selector:
    """Selects the candidates of one query.

    `thoughts_by_turn` are the kept thoughts by their source turns. A turn that only asks may state something
    in passing ("is it safe with the lisinopril i'm on?"): it is recalled if it is one of the
    `probable_answers`.
    """

    def __init__(
        self,
        search: Search,
        outdated: OutdatedFacts,
        kept: Sequence[Candidate] = (),
        slot_updates: Mapping[int, SlotUpdate] = MappingProxyType({}),
        probable_answers: frozenset[Ref] = frozenset(),
    ) -> None:
        self._search = search
        self._outdated = outdated
        self._normalised_query = normalise_name(search.query.text)
        self._resolve_outdated = OutdatedResolver(search, outdated)
        self._slot_updates = slot_updates
        self._probable_answers = probable_answers
        self._wants_several = asks_for_several(search.query.text)
        self._period = past_period(search.query, search.scorer.period)
        self._named_by: dict[int, Ref] = {}  # by thought id: the kept outdated item that says it is true now
        self.thoughts_by_turn: dict[int, list[Thought]] = {}
        for item in kept:
            for thought in item.thoughts[-1:]:
                self._register(thought, item.ref, item.outdated)

    def select(self, hits: Iterable[MemoryHit], limit: int) -> Selection:
        """Split ranked hits into at most `limit` kept candidates and the dropped ones.

        Without an explanation, dropped thoughts are left out, and all dropped ones if no slot is left.
        """
        kept: list[_Item] = []
        dropped: list[tuple[MemoryHit, str]] = []
        kept_below_threshold = 0
        explain = self._search.query.explain
        joins = self._search.preset.weights is not None
        for hit in hits:
            full = len(kept) == limit
            below_threshold = not self._search.is_relevant(hit.total)
            if full and not explain:
                if not joins or (below_threshold and not self._wants_several):
                    break
                if not self._may_join(hit.row):
                    continue
            may_fill = below_threshold and kept_below_threshold < _MAX_BELOW_THRESHOLD
            rejection = self._rejection(hit, may_fill)
            if joins and self._join(hit, kept, rejection):
                continue
            if rejection is None and full:
                rejection = self._search.limit_reason
            if rejection is not None:
                if explain or hit.row.is_turn:
                    dropped.append((hit, rejection))
                continue
            item = self._item(hit, "near" if below_threshold else "matters", kept=True)
            kept.append(item)
            if isinstance(item.row, ThoughtRow):
                self._register(item.row.memory, item.row.ref, item.outdated)
            kept_below_threshold += below_threshold
        selected = [item.candidate() for item in kept]
        if len(kept) == limit and not explain:
            return selected, []
        return selected, [self._item(hit, why, kept=False).candidate() for hit, why in dropped]

    def rejection_reason(self, turn: TurnRow) -> str | None:
        """Why a raw turn must not be recalled; None if it may."""
        if told := self._told_by(turn):
            return told
        facts = self._outdated.of(turn.id)
        if facts and not (self._search.reaches_back and self._resolve_outdated.may_show(turn.memory)):
            return f"no longer held true, see {facts[0].ref}"
        return self._exclusion_reason(turn)

    def _told_by(self, turn: TurnRow) -> str | None:
        """Which kept thought says everything that a turn says; None if none does."""
        thoughts = self.thoughts_by_turn.get(turn.id)
        if not thoughts:
            return None
        sentences = [thought.sentence for thought in thoughts]
        if any(thought.relation == SAID for thought in thoughts) or not adds_information(
            self._search, turn, sentences
        ):
            return f"told by {thoughts[0].ref}"
        return None

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
            facts = [fact.sentence for fact in self._outdated.of(turn.id)]
            if not facts:
                continue
            row = self._search.loader.row_of_turn(turn)
            if row.withheld_reason or self._exclusion_reason(row):
                continue
            worth = not present or adds_information(self._search, row, [*facts, *present])
            if worth and self._resolve_outdated(turn) and self._resolve_outdated.may_show(turn):
                filling[item.ref] = self.accept(item, row, "past")
        return kept + list(filling.values()), [item for item in dropped if item.ref not in filling]

    def accept(self, item: Candidate, turn: TurnRow, verdict: str) -> Candidate:
        """A dropped turn as a kept candidate: redacted, and marked if it is outdated."""
        shown, outdated = turn.redacted, self._resolve_outdated(turn.memory)
        reason = verdict + item.reason.removeprefix(item.verdict)
        text = self._text(shown, outdated)
        return replace(item, turn=shown.memory, text=text, reason=reason, verdict=verdict, outdated=outdated)

    def _exclusion_reason(self, turn: TurnRow) -> str | None:
        if turn.normalised_query == self._normalised_query:
            return "repeats the query"
        if turn.is_only_commands:
            return "only tells the memory what to do"
        if turn.memory.response or turn.ref in self._probable_answers:
            return None
        return "only asks" if turn.is_only_questions else None

    def _rejection(self, hit: MemoryHit, may_fill: bool) -> str | None:
        """Why a hit must not be recalled; None if it may."""
        row = hit.row
        if not self._search.is_relevant(hit.total) and not (
            may_fill and row.is_turn and self._search.is_nearly_relevant(hit.total, hit.lexical)
        ):
            return _TOO_FAR
        if row.withheld_reason:
            return row.withheld_reason
        if isinstance(row, TurnRow):
            return self.rejection_reason(row)
        shown = self.thoughts_by_turn.get(row.last_turn, ())
        if told := next((other for other in shown if other.relation == SAID), None):
            return f"told by {told.ref}"
        if self._search.reaches_back and (past := self._named_by.get(row.id)):
            return f"told by {past}"
        return None if self._resolve_outdated.may_show_thought(row.memory) else "to be forgotten"

    def _may_join(self, row: MemoryRow) -> bool:
        """Whether a kept item may state a memory too: a thought that is no sentence kept as said."""
        return not (row.is_turn or row.is_spoken or row.id in self._slot_updates)

    def _join(self, hit: MemoryHit, kept: Sequence[_Item], rejection: str | None) -> bool:
        """Add a thought to a kept item that may state it too; False if it must stand alone.

        A query for several values takes a thought of the same slot even if it is too far by itself.
        """
        row = hit.row
        if rejection is not None and not (self._wants_several and rejection == _TOO_FAR):
            return False
        if not isinstance(row, ThoughtRow) or not self._may_join(row):
            return False
        thought = row.memory
        outdated = None if thought.current else self._resolve_outdated(thought)
        if not thought.current and outdated is None:
            return False
        if self._period is not None and held_in(thought, *self._period) < 0:
            return False
        for item in kept:
            other = item.row
            if not isinstance(other, ThoughtRow) or other.is_spoken:
                continue
            series = self._wants_several and row.series == other.series
            if len(item.joined) >= (_MAX_SERIES_THOUGHTS if series else _MAX_JOINED_THOUGHTS):
                continue
            if not series and (rejection is not None or (item.outdated is None) != (outdated is None)):
                continue
            if item.outdated is not None and (outdated is None or not item.outdated.certain):
                continue
            if (
                not series
                and row.join_keys.isdisjoint(other.join_keys)
                and not _have_one_successor(item.outdated, outdated)
            ):
                continue
            text = f"{item.text} {self._joined_text(row.redacted, outdated, item)}"
            if count_tokens(text) <= (_MAX_SERIES_TOKENS if series else _MAX_JOINED_TOKENS):
                item.text = text
                item.joined.append(row.redacted.memory)
                item.reason += f"; joined with {row.ref} ({hit.total:.2f})"
                item.outdated = _join_outdated(item.outdated, outdated)
                self._register(row.redacted.memory, other.ref, item.outdated)
                return True
        return False

    def _joined_text(self, thought: ThoughtRow, outdated: OutdatedInfo | None, item: _Item) -> str:
        """The text of a thought that an item states too; what replaced both is said only once."""
        if outdated is not None and item.outdated is not None:
            known = {new.id for new in item.outdated.replaced_by}
            new = tuple(each for each in outdated.replaced_by if each.id not in known)
            outdated = replace(outdated, replaced_by=new)
        return self._text(thought, outdated)

    def _source_turn(self, thought: Thought) -> TurnRow | None:
        """The latest turn that a thought was drawn from; None without a source."""
        turns = self._search.loader.turn_rows([thought.last_turn]) if thought.sources else ()
        return turns[0] if turns else None

    def _whole_turn(self, thought: Thought) -> TurnRow | None:
        """The turn of a sentence kept as said, if it may be shown with its context.

        Not if it is long or hidden, if one of its facts was retired, or if the sentence was corrected since.
        Sentences that were replaced are shown in it, and named as past.
        """
        turn = self._source_turn(thought) if thought.is_of_one_turn else None
        if turn is None or turn.memory.hidden or len(turn.memory.query) > _MAX_CONTEXT_CHARS:
            return None
        return None if self._resolve_outdated.replaced_sentences(thought) is None else turn

    def _said_at(self, thought: Thought) -> datetime | None:
        turn = self._source_turn(thought)
        return None if turn is None else turn.memory.at

    def _text(self, row: MemoryRow, outdated: OutdatedInfo | None) -> str:
        """What a model is given: with dates and, for a turn, speakers."""
        if isinstance(row, TurnRow):
            text = row.exchange_text if self._search.asks_for_reply else row.query_text
        elif row.is_spoken and (turn := self._whole_turn(row.memory)) is not None:
            text = turn.redacted.query_text
            outdated = outdated or self._resolve_outdated.past_of_message(row.memory)
        else:
            text = (
                escape_structure(row.text)
                if outdated
                else format_thought(row.memory, self._said_at(row.memory))
            )
        return mark_outdated(text, outdated)

    def _item(self, hit: MemoryHit, verdict: str, *, kept: bool) -> _Item:
        row = hit.row.redacted if kept or self._search.query.explain else hit.row
        outdated = self._resolve_outdated(hit.row.memory) if kept else None
        text = self._text(row, outdated) if kept else row.text
        if kept and not outdated and not row.is_turn and row.id in self._slot_updates:
            newer, since = self._slot_updates[row.id]
            text = mark_possibly_outdated(text, since)
            shown = self._search.loader.row_of_thought(newer).redacted
            outdated = OutdatedInfo(since, (shown.memory,), certain=False)
        return _Item(
            hit,
            row,
            verdict,
            f"{verdict}: {format_reason(self._search, hit, row.memory)}",
            text,
            outdated,
            row.is_turn and self._search.asks_for_reply,
        )

    def _register(self, thought: Thought, shown_in: Ref, outdated: OutdatedInfo | None) -> None:
        """Note that a kept item states a thought."""
        for new in outdated.replaced_by if outdated else ():
            self._named_by.setdefault(new.id, shown_in)
        for source in thought.sources:
            self.thoughts_by_turn.setdefault(source.turn, []).append(thought)


def _have_one_successor(one: OutdatedInfo | None, other: OutdatedInfo | None) -> bool:
    if one is None or other is None:
        return False
    return not {new.id for new in one.replaced_by}.isdisjoint(new.id for new in other.replaced_by)


def _join_outdated(one: OutdatedInfo | None, other: OutdatedInfo | None) -> OutdatedInfo | None:
    if one is None or other is None:
        return one
    replaced_by = {new.id: new for new in (*one.replaced_by, *other.replaced_by)}
    until = max(one.until, other.until)
    return OutdatedInfo(until, tuple(replaced_by.values()), one.facts, one.certain, one.newer)


def format_reason(search: Search, hit: MemoryHit, memory: Thought | Turn) -> str:
    """The recorded reason of a candidate: score, threshold, group and origin. `memory` may be redacted."""
    hits = hit.hits
    comparison = ">=" if search.is_relevant(hit.total) else "<"
    how = f"{hits.probes} groups probed" if hits.probes else "the whole space searched"
    query_group = "" if hits.group is None else f", query in {hits.group}"
    return (
        f"{hit.total:.2f} {comparison} {search.preset.threshold:.2f} "
        f"(meaning {hit.cosine:.2f}, words {hit.lexical:.2f}); group {hit.group}{query_group}, {how}; "
        f"{_format_origin(memory)}"
    )


def _format_origin(memory: Thought | Turn) -> str:
    if isinstance(memory, Turn):
        return f"raw turn of {memory.at.date()}"
    sources = [f"said by {source.speaker} in {Ref('turn', source.turn)}" for source in memory.sources[:1]]
    return sources[0] if sources else "without a source"
