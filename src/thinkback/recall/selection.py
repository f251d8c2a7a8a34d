"""Decides which ranked candidates are recalled, and gives a reason for each of the others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from thinkback.language.digest_cache import cache_by_digest
from thinkback.language.forget_requests import ForgetRequest, find_forget_requests
from thinkback.language.names import normalise_name
from thinkback.language.safety.quarantine import redact_memory, withheld_reason
from thinkback.language.sentences import is_question, split_sentences
from thinkback.recall.features import MemoryHit, adds_information
from thinkback.recall.outdated import PastResolver, mark_outdated, outdated_finder
from thinkback.recall.search import Search
from thinkback.types import Candidate, Ref, Thought, Turn

CANDIDATES_PER_RESULT = 4  # candidates looked at for each one wanted
_MAX_QUESTION_CHARS = 2000  # characters by which a turn is judged to only ask
_MAX_BELOW_THRESHOLD = 3  # places that turns below the threshold may take

Selection = tuple[list[Candidate], list[Candidate]]  # what is kept, what is dropped


class Selector:
    """One question's judge. `told` are, by turn, the thoughts kept so far that tell of it."""

    def __init__(self, search: Search, turns: Mapping[int, Turn], items: Sequence[Candidate] = ()) -> None:
        self._search = search
        self._outdated = outdated_finder(search, search.query.k * CANDIDATES_PER_RESULT)
        self._normalised_query = normalise_name(search.query.text)
        # what the turns found so far ask to forget
        reading = search.loader.memoise
        self._forget_wishes = [
            (turn.id, wish) for turn in turns.values() for wish in reading(find_forget_requests, turn.query)
        ]
        self._past_resolver = PastResolver(search, self._outdated)
        self.thoughts_by_turn: dict[int, list[Thought]] = {}
        for item in items:
            self._register_thought(item)

    def __call__(self, rows: Iterable[MemoryHit], limit: int) -> Selection:
        kept: list[Candidate] = []
        dropped: list[Candidate] = []
        faints = 0
        for row in rows:
            if len(kept) == limit and not self._search.query.explain:
                break
            faint = not self._search.is_relevant(row.score.total)
            verdict = self._verdict(row, faint and faints < _MAX_BELOW_THRESHOLD)
            if verdict is None and len(kept) == limit:
                verdict = self._search.limit_reason
            if verdict is None or self._search.query.explain or isinstance(row.memory, Turn):
                candidate = self._candidate(row, verdict or ("near" if faint else "matters"), verdict is None)
                (dropped if verdict else kept).append(candidate)
                if verdict is None:
                    self._register_thought(candidate)
            faints += faint and verdict is None
        return kept, dropped

    def rejection_reason(self, turn: Turn) -> str | None:
        """Why a raw turn is no find, if it is none."""
        tellers = self.thoughts_by_turn.get(turn.id, [])
        told = [thought.sentence for thought in tellers]
        if told and not adds_information(self._search, turn, told):
            return f"told by {tellers[0].ref}"
        facts = self._outdated(turn)
        if facts and not (self._search.reaches_back and self._past_resolver.may_show(turn)):
            return f"no longer held true, see {facts[0].ref}"
        return self._exclusion_reason(turn)

    def fill_with_outdated(self, kept: list[Candidate], dropped: list[Candidate], limit: int) -> Selection:
        """(kept, left), with turns of `left` that matter, but as past, in the places that the present leaves.

        Each must tell more than what was retired and than the present tells, if there is any to tell.
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
            facts = [fact.sentence for fact in self._outdated(turn)]
            if not facts or withheld_reason(turn) or self._exclusion_reason(turn):
                continue
            worth = not present or adds_information(self._search, turn, [*facts, *present])
            if worth and self._past_resolver(turn) and self._past_resolver.may_show(turn):
                filling[item.ref] = self.accept(item, turn, "past")
        return kept + list(filling.values()), [item for item in dropped if item.ref not in filling]

    def accept(self, item: Candidate, turn: Turn, verdict: str) -> Candidate:
        """A turn that was dropped, taken after all: without its secrets, and marked if it is past."""
        shown, past = redact_memory(turn), self._past_resolver(turn)
        reason = verdict + item.reason.removeprefix(item.verdict)
        text = mark_outdated(shown.text, past)
        return replace(item, turn=shown, text=text, reason=reason, verdict=verdict, outdated=past)

    def _exclusion_reason(self, turn: Turn) -> str | None:
        if request := _forget_request(turn, self._forget_wishes):
            return f"to be forgotten, see {request}"
        if normalise_name(turn.query) == self._normalised_query:
            return "repeats the query"
        only_asks = not turn.response and self._search.loader.memoise(_is_only_questions, turn.query)
        return "only asks" if only_asks else None

    def _verdict(self, row: MemoryHit, nearly: bool) -> str | None:
        """Why a row does not matter, if it does not."""
        memory, score = row.memory, row.score
        if not self._search.is_relevant(score.total) and not (
            nearly
            and isinstance(memory, Turn)
            and self._search.is_nearly_relevant(score.total, score.lexical)
        ):
            return "too far"
        if quarantined := withheld_reason(memory):
            return quarantined
        if isinstance(memory, Turn):
            return self.rejection_reason(memory)
        back = self._search.reaches_back and not memory.current
        return "to be forgotten" if back and not self._past_resolver(memory) else None

    def _candidate(self, row: MemoryHit, verdict: str, kept: bool) -> Candidate:
        memory = redact_memory(row.memory) if kept or self._search.query.explain else row.memory
        past = self._past_resolver(row.memory) if kept else None
        text = memory.text if isinstance(memory, Turn) else memory.sentence
        return Candidate(
            ref=memory.ref,
            text=mark_outdated(text, past),
            score=row.score,
            group=row.group,
            reason=f"{verdict}: {format_reason(self._search, row, memory)}",
            verdict=verdict,
            thought=memory if isinstance(memory, Thought) else None,
            turn=memory if isinstance(memory, Turn) else None,
            outdated=past,
        )

    def _register_thought(self, item: Candidate) -> None:
        if item.thought is not None:
            for source in item.thought.sources:
                self.thoughts_by_turn.setdefault(source.turn, []).append(item.thought)


def _forget_request(turn: Turn, unwanted: Sequence[tuple[int, ForgetRequest]]) -> Ref | None:
    """The request to forget that a turn is, or that takes it back; what was told later may come back."""
    for request, wish in unwanted:
        gone = turn.id == request - 1 if wish.last_turn else turn.id < request and wish.covers(turn.query)
        if gone or turn.id == request:
            return Ref("turn", request)
    return None


@cache_by_digest(4096)
def _is_only_questions(text: str) -> bool:
    return all(is_question(sentence.text) for sentence in split_sentences(text[:_MAX_QUESTION_CHARS]))


def format_reason(search: Search, row: MemoryHit, memory: Thought | Turn) -> str:
    """`memory` is the row's own, redacted where it is shown."""
    score, hits = row.score, row.hits
    comparison = ">=" if search.is_relevant(score.total) else "<"
    how = f"{hits.probes} groups probed" if hits.probes else "the whole space searched"
    asked = "" if hits.group is None else f", query in {hits.group}"
    return (
        f"{score.total:.2f} {comparison} {search.preset.threshold:.2f} "
        f"(meaning {score.cosine:.2f}, words {score.lexical:.2f}); group {row.group}{asked}, {how}; "
        f"{_format_origin(memory)}"
    )


def _format_origin(memory: Thought | Turn) -> str:
    if isinstance(memory, Turn):
        return f"raw turn of {memory.at:%Y-%m-%d}"
    said = [f"said by {source.speaker} in {Ref('turn', source.turn)}" for source in memory.sources[:1]]
    return said[0] if said else "without a source"
