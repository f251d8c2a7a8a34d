"""The judge: of rows, best first, those that matter, and of the others why not.

A turn whose fact was retired is no find: what is no longer held true must not come back by the other door. It
may be told as past, where a place is left (`fill_with_past`). A turn that tells what the user asked to forget
(`text.forgetting`) is not told at all, whether it was read as a thought or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from thinkback.recall.past import Pasts, marked, outdated
from thinkback.recall.reasons import reason
from thinkback.recall.rows import Row, says_more
from thinkback.recall.search import Search
from thinkback.text.forgetting import Wish, wishes
from thinkback.text.memo import by_digest
from thinkback.text.people.names import normalise
from thinkback.text.safety.quarantine import redacted, withheld
from thinkback.text.sentences import is_question, sentences
from thinkback.types import Candidate, Ref, Thought, Turn

CONSIDERED = 4  # candidates looked at for each one wanted
_OPENING = 2000  # characters by which a turn is judged to only ask
_NEARLY = 3  # places that turns below the threshold may take

Judged = tuple[list[Candidate], list[Candidate]]  # what is kept, what is dropped


class Judge:
    """One question's judge. `told` are, by turn, the thoughts kept so far that tell of it."""

    def __init__(self, search: Search, turns: Mapping[int, Turn], items: Sequence[Candidate] = ()) -> None:
        self._search = search
        self._outdated = outdated(search, search.question.k * CONSIDERED)
        self._asked = normalise(search.question.text)
        # what the turns found so far ask to forget
        reading = search.lookup.reading
        self._unwanted = [(turn.id, wish) for turn in turns.values() for wish in reading(wishes, turn.query)]
        self._past = Pasts(search, self._outdated)
        self.told: dict[int, list[Thought]] = {}
        for item in items:
            self._tells(item)

    def __call__(self, rows: Iterable[Row], most: int) -> Judged:
        kept: list[Candidate] = []
        dropped: list[Candidate] = []
        faints = 0
        for row in rows:
            if len(kept) == most and not self._search.question.explain:
                break
            faint = not self._search.matters(row.score.total)
            verdict = self._verdict(row, faint and faints < _NEARLY)
            if verdict is None and len(kept) == most:
                verdict = self._search.beyond
            if verdict is None or self._search.question.explain or isinstance(row.memory, Turn):
                candidate = self._candidate(row, verdict or ("near" if faint else "matters"), verdict is None)
                (dropped if verdict else kept).append(candidate)
                if verdict is None:
                    self._tells(candidate)
            faints += faint and verdict is None
        return kept, dropped

    def against(self, turn: Turn) -> str | None:
        """Why a raw turn is no find, if it is none."""
        tellers = self.told.get(turn.id, [])
        told = [thought.sentence for thought in tellers]
        if told and not says_more(self._search, turn, told):
            return f"told by {tellers[0].ref}"
        facts = self._outdated(turn)
        if facts and not (self._search.reaches_back and self._past.tellable(turn)):
            return f"no longer held true, see {facts[0].ref}"
        return self._no_find(turn)

    def fill_with_past(self, kept: list[Candidate], left: list[Candidate], most: int) -> Judged:
        """(kept, left), with turns of `left` that matter, but as past, in the places that the present leaves.

        Each must tell more than what was retired and than the present tells, if there is any to tell.
        """
        present = [thought.sentence for thoughts in self.told.values() for thought in thoughts]
        present += [item.text for item in kept]
        filling: dict[Ref, Candidate] = {}
        for item in left:
            turn = item.turn
            if turn is None or not self._search.matters(item.score.total):
                continue
            if len(kept) + len(filling) == most:
                break
            facts = [fact.sentence for fact in self._outdated(turn)]
            if not facts or withheld(turn) or self._no_find(turn):
                continue
            worth = not present or says_more(self._search, turn, [*facts, *present])
            if worth and self._past(turn) and self._past.tellable(turn):
                filling[item.ref] = self.taken(item, turn, "past")
        return kept + list(filling.values()), [item for item in left if item.ref not in filling]

    def taken(self, item: Candidate, turn: Turn, verdict: str) -> Candidate:
        """A turn that was dropped, taken after all: without its secrets, and marked if it is past."""
        shown, past = redacted(turn), self._past(turn)
        reason = verdict + item.reason.removeprefix(item.verdict)
        text = marked(shown.text, past)
        return replace(item, turn=shown, text=text, reason=reason, verdict=verdict, past=past)

    def _no_find(self, turn: Turn) -> str | None:
        if request := _forbidden(turn, self._unwanted):
            return f"to be forgotten, see {request}"
        if normalise(turn.query) == self._asked:
            return "repeats the query"
        only_asks = not turn.response and self._search.lookup.reading(_only_asks, turn.query)
        return "only asks" if only_asks else None

    def _verdict(self, row: Row, nearly: bool) -> str | None:
        """Why a row does not matter, if it does not."""
        memory, score = row.memory, row.score
        if not self._search.matters(score.total) and not (
            nearly and isinstance(memory, Turn) and self._search.nearly(score.total, score.lexical)
        ):
            return "too far"
        if quarantined := withheld(memory):
            return quarantined
        if isinstance(memory, Turn):
            return self.against(memory)
        back = self._search.reaches_back and not memory.current
        return "to be forgotten" if back and not self._past(memory) else None

    def _candidate(self, row: Row, verdict: str, kept: bool) -> Candidate:
        memory = redacted(row.memory) if kept or self._search.question.explain else row.memory
        past = self._past(row.memory) if kept else None
        text = memory.text if isinstance(memory, Turn) else memory.sentence
        return Candidate(
            ref=memory.ref,
            text=marked(text, past),
            score=row.score,
            group=row.group,
            reason=f"{verdict}: {reason(self._search, row, memory)}",
            verdict=verdict,
            thought=memory if isinstance(memory, Thought) else None,
            turn=memory if isinstance(memory, Turn) else None,
            past=past,
        )

    def _tells(self, item: Candidate) -> None:
        if item.thought is not None:
            for source in item.thought.sources:
                self.told.setdefault(source.turn, []).append(item.thought)


def _forbidden(turn: Turn, unwanted: Sequence[tuple[int, Wish]]) -> Ref | None:
    """The request to forget that a turn is, or that takes it back; what was told later may come back."""
    for request, wish in unwanted:
        gone = turn.id == request - 1 if wish.recent else turn.id < request and wish.covers(turn.query)
        if gone or turn.id == request:
            return Ref("turn", request)
    return None


@by_digest(4096)
def _only_asks(text: str) -> bool:
    return all(is_question(sentence.text) for sentence in sentences(text[:_OPENING]))
