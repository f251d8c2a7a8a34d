"""The thought retriever (TiM 002, 3.3): groups first, similarity inside them; and the bank beside the space.

Stage 1 picks the candidates, stage 2 scores them; both happen in `index.shelf`. By default thoughts and raw
turns are ranked together (decision 0013), so that what was not turned into a thought is still found; in TiM,
and in a small space of thoughts, turns only fill the places that thoughts leave. A preset may have candidates
scored anew (`recall.rerank`). A turn whose thought was retired is no such find: what is no longer held true
must not come back by the other door. Nor is one that tells what the user asked to forget (`text.forgetting`),
read as a thought or not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import NamedTuple

from thinkback.index.shelf import Hits, Shelf
from thinkback.presets import Preset
from thinkback.recall.kinds import kind_of_memory
from thinkback.recall.rerank import Reranker, reranker, seen
from thinkback.recall.retention import Fading
from thinkback.recall.search import Lookup, Question, Search, searching
from thinkback.text.forgetting import Wish, wishes
from thinkback.text.memo import by_digest
from thinkback.text.people.names import normalise
from thinkback.text.questions.asking import open_terms
from thinkback.text.questions.thesaurus import alike
from thinkback.text.safety.quarantine import redacted, withheld
from thinkback.text.scripts import has_han
from thinkback.text.sentences import is_question, sentences
from thinkback.text.tokens import terms
from thinkback.types import Candidate, Hashing, Recollection, Ref, Score, Source, Thought, Turn

_CONSIDERED = 4  # candidates looked at for each one wanted
_SCORED_ANEW = 128  # candidates of each kind that a reranker is given
_BY_KIND = 48  # at least so many, where one of the kind asked for may stand behind many of another
_RETIRED = 64  # thoughts, retired ones included, by which turns are judged to be outdated
_OPENING = 2000  # characters by which a turn is judged to only ask
_NEARLY = 3  # places that turns below the threshold may take
_TALK = timedelta(hours=2)  # what was said within it, in one session, belongs together
_REFERS = re.compile(
    r"\b(?:he|she|they|it|him|her|them|his|hers|their|its|there)\b|[他她它牠]|[那这這][边邊里裡儿兒]",
    re.IGNORECASE,
)
_SAYS_MORE = 2  # words of a turn that no recalled thought tells, for which it is worth a place


Against = Callable[[Turn], str | None]
Outcome = tuple[Hits, list[Candidate], list[Candidate]]  # how it was found, what is kept, what is dropped


def retrieve(
    question: Question, shelf: Shelf, hashing: Hashing | None, preset: Preset, lookup: Lookup
) -> Recollection:
    """The k memories that matter most, best first; with `explain`, what was dropped as well."""
    search = searching(question, shelf, hashing, preset, lookup)
    if preset.rerank:
        found, items, dropped = _scored_anew(search, reranker(preset.rerank))
    else:
        found, items, dropped = _together(search) if search.preset.together else _thoughts_first(search)
    return Recollection(
        query=question.text,
        items=tuple(items),
        dropped=tuple(dropped) if question.explain else (),
        threshold=search.preset.threshold,
        group=found.group,
        probes=found.probes,
        exact=found.exact,
    )


def _together(search: Search) -> Outcome:
    """Thoughts and raw turns on one scale: what was not turned into a thought is found all the same."""
    question = search.question
    limit = max(_BY_KIND if question.kinds else 0, question.k * _CONSIDERED)
    while True:
        found, bank = search.hits("thought", limit), search.hits("turn", limit)
        if question.fading is not None:
            found = _faded(question.fading, search, found)
        thoughts = {each.id: each for each in search.lookup.thoughts(found.ids.tolist())}
        turns = {each.id: each for each in search.lookup.turns(bank.ids.tolist())}
        judge = _Judge(search, turns)
        told, raw = _by_kind(search, _rows(found, thoughts)), _by_kind(search, _rows(bank, turns))
        rows = sorted(_standing(search, told, raw), key=_Row.order)
        items, dropped = judge(rows, question.k)
        # What was not looked at may be better than what is kept, where all before it was no find.
        unseen = max((hits.score[-1] for hits in (found, bank) if len(hits) == limit), default=0.0)
        if not search.matters(unseen) or (len(items) == question.k and items[-1].score.total >= unseen):
            named = [turns[id_] for id_ in judge.told if id_ in turns]
            items, dropped = _joined(search, items, dropped, question.k, judge.against, named)
            return found if len(found) else bank, items, dropped
        limit *= _CONSIDERED


def _scored_anew(search: Search, rerank: Reranker) -> Outcome:
    """As a paper scores them: more candidates of both kinds than can be kept, each given a new total.

    What is no find in any case keeps the score of the search: it must not take the place of one.
    """
    limit = max(_SCORED_ANEW, search.question.k * _CONSIDERED)
    while True:
        found, bank = search.hits("thought", limit), search.hits("turn", limit)
        thoughts = {each.id: each for each in search.lookup.thoughts(found.ids.tolist())}
        turns = {each.id: each for each in search.lookup.turns(bank.ids.tolist())}
        judge = _Judge(search, turns)
        finds = {turn.ref for turn in turns.values() if not (withheld(turn) or judge.against(turn))}
        if len(finds) >= search.question.k or len(bank) < limit:
            break
        limit *= _CONSIDERED
    finds |= {thought.ref for thought in thoughts.values() if not withheld(thought)}
    every = [*_rows(found, thoughts), *_rows(bank, turns)]
    rows = [row for row in every if row.memory.ref in finds]
    totals = rerank(search.question, seen([(row.memory, row.score) for row in rows], search.lookup))
    rows = [row.scored(total) for row, total in zip(rows, totals, strict=True)]
    standing = _standing(
        search,
        [row for row in rows if isinstance(row.memory, Thought)],
        [row for row in rows if isinstance(row.memory, Turn)],
    )
    left = (row for row in every if row.memory.ref not in finds)
    items, dropped = judge(sorted((*standing, *left), key=_Row.order), search.question.k)
    return found if len(found) else bank, items, dropped


def _by_kind(search: Search, rows: Iterable[_Row]) -> list[_Row]:
    """The rows, where one of the kind that is asked for scores more."""
    kinds, lifted = search.question.kinds, search.scorer.lifted
    return [row.scored(lifted(row.score.total, kinds, kind_of_memory(row.memory))) for row in rows]


def _standing(search: Search, thoughts: Sequence[_Row], turns: Sequence[_Row]) -> Iterator[_Row]:
    """All rows, where a thought that tells all of its turn stands for it: it scores as high."""
    turn_of = {row.memory.id: row for row in turns}
    for row in thoughts:
        sources = {source.turn for source in row.memory.sources} if isinstance(row.memory, Thought) else set()
        said = turn_of.get(sources.pop()) if len(sources) == 1 else None
        total = row.score.total
        if said is not None and said.score.total > total > 0 and isinstance(said.memory, Turn):
            more = _says_more(said.memory, [row.text], search.question.text)
            total = total if more else said.score.total
        yield row.scored(total)
    yield from turns


def _thoughts_first(search: Search) -> Outcome:
    """As the papers do it: the space, and the bank only for the places that it leaves."""
    question = search.question
    wider = question.explain or question.fading is not None
    found = search.hits("thought", question.k * _CONSIDERED if wider else question.k)
    if question.fading is not None:
        found = _faded(question.fading, search, found)
    thoughts = {each.id: each for each in search.lookup.thoughts(found.ids.tolist())}
    items, dropped = _Judge(search, {})(_rows(found, thoughts), question.k)
    wanted = question.k - len(items)
    limit = question.k * _CONSIDERED
    bank = None
    while wanted:
        bank = search.hits("turn", limit)
        turns = {each.id: each for each in search.lookup.turns(bank.ids.tolist())}
        judge = _Judge(search, turns, items)
        filling, left = judge(_rows(bank, turns), wanted)
        if len(filling) == wanted or not search.may_be_more(bank, limit):
            named = [turns[id_] for id_ in judge.told if id_ in turns]
            filling, left = _joined(search, filling, left, wanted, judge.against, named)
            items, dropped = items + filling, dropped + left
            break
        limit *= _CONSIDERED
    return found if len(found) or bank is None else bank, items, dropped


def _faded(fading: Fading, search: Search, hits: Hits) -> Hits:
    """The hits as time has left them: a policy may rank lower or leave out, never retire."""
    retention = fading.of(search.lookup.thoughts(hits.ids.tolist()))
    return fading.ranked(hits, retention, len(hits))


def _forbidden(turn: Turn, unwanted: Sequence[tuple[int, Wish]]) -> Ref | None:
    """The request to forget that a turn is, or that takes it back; what was told later may come back."""
    for request, wish in unwanted:
        gone = turn.id == request - 1 if wish.recent else turn.id < request and wish.covers(turn.query)
        if gone or turn.id == request:
            return Ref("turn", request)
    return None


def _joined(
    search: Search,
    kept: list[Candidate],
    left: list[Candidate],
    most: int,
    against: Against,
    named: Sequence[Turn],
) -> tuple[list[Candidate], list[Candidate]]:
    """(kept, left), with turns of `left` in the places not taken yet.

    First what was said right before or after one of `named`: "she" is named in the other one. Then, of few
    turns, the nearest.
    """
    if search.strict:
        return kept, left
    talk = [*named, *(item.turn for item in kept if item.turn)]
    beside = {id_ for turn in talk for id_ in search.shelf.beside("turn", turn.id)}
    found: dict[Ref, Candidate] = {}

    def join(item: Candidate, why: str) -> None:
        if item.turn and len(kept) + len(found) < most and not (withheld(item.turn) or against(item.turn)):
            shown = redacted(item.turn)
            reason = f"{why}: {item.reason.partition(': ')[2]}"
            found.setdefault(item.ref, replace(item, turn=shown, text=shown.text, reason=reason))

    for item in left:
        if item.ref.id in beside and item.turn and any(_same_talk(item.turn, other) for other in talk):
            join(item, "said beside it")
    for item in left[:_NEARLY] if search.few else ():
        if item.score.total >= search.preset.nearly / 2:
            join(item, "near")
    return kept + list(found.values()), [item for item in left if item.ref not in found]


def _same_talk(one: Turn, other: Turn) -> bool:
    """Whether the later of two turns speaks of somebody or something whom only the earlier may name."""
    later = max(one, other, key=lambda turn: turn.id)
    near = one.session == other.session and abs(one.at - other.at) <= _TALK
    return near and bool(_REFERS.search(later.query[:_OPENING]))


def _says_more(turn: Turn, tellers: Sequence[str], asked: str) -> bool:
    """Whether the user said more in a turn than the recalled thoughts tell of it.

    One more word is enough if the question has it too; otherwise it takes a few.
    """
    told = {term for text in tellers for term in (*terms(text), *alike(text))}
    # of Chinese, characters: pairs of them change with every wording
    more = {term for term in terms(turn.query) if term.isascii() or len(term) == 1} - told
    wanted = set(open_terms(asked)) - told
    return len(more) >= _SAYS_MORE or bool(more & wanted)


def _no_longer_true(search: Search) -> Callable[[Turn], Ref | None]:
    """Which retired thought, if any, is all that a turn would be recalled for.

    That is so if the thought itself would matter, or if it is all that the user said in the turn: a thought
    is worded differently, so its turn may match where it does not.
    """
    if not search.shelf.any_retired("thought"):
        return lambda turn: None
    limit = max(_RETIRED, search.question.k * _CONSIDERED)
    known, held = search.hits("thought", limit, whenever=True), search.hits("thought", limit)
    gone = set(known.ids.tolist()) - set(held.ids.tolist())
    if not gone:
        return lambda turn: None
    thoughts = search.lookup.thoughts(known.ids.tolist())
    kept = {source for thought in thoughts if thought.id not in gone for source in thought.sources}
    columns = zip(known.ids.tolist(), known.score, known.lexical, strict=True)
    mattering = {id_ for id_, score, lexical in columns if search.nearly(score, lexical)}
    retired: dict[int, list[tuple[Thought, Source]]] = {}
    for thought in thoughts:
        for source in thought.sources:
            if thought.id in gone and not thought.current and source not in kept:
                retired.setdefault(source.turn, []).append((thought, source))

    def judge(turn: Turn) -> Ref | None:
        words = turn.query
        for thought, source in retired.get(turn.id, ()):
            if thought.id in mattering:
                return thought.ref
            if source.side == "query":
                words = words[: source.start] + " " * (source.end - source.start) + words[source.end :]
            if not words.strip():
                return thought.ref
        return None

    return judge


@by_digest(4096)
def _only_asks(text: str) -> bool:
    return all(is_question(sentence.text) for sentence in sentences(text[:_OPENING]))


class _Row(NamedTuple):
    """One hit with its memory."""

    memory: Thought | Turn
    score: Score
    group: int
    hits: Hits

    @property
    def text(self) -> str:
        return self.memory.text if isinstance(self.memory, Turn) else self.memory.sentence

    def scored(self, total: float) -> _Row:
        return self._replace(score=replace(self.score, total=total))

    def order(self) -> tuple[float, bool, int]:
        """Best first; of equals the thought, then the older."""
        return -self.score.total, isinstance(self.memory, Turn), self.memory.id


def _rows(hits: Hits, memories: Mapping[int, Thought] | Mapping[int, Turn]) -> list[_Row]:
    """Hits as rows; what was erased by another process since the shelf was read is passed over."""
    columns = (hits.ids, hits.score, hits.cosine, hits.lexical, hits.groups)
    return [
        _Row(memories[id_], Score(total, cosine, lexical), group, hits)
        for id_, total, cosine, lexical, group in zip(*(each.tolist() for each in columns), strict=True)
        if id_ in memories
    ]


class _Judge:
    """Of rows, best first: those that matter, and the others with the reason why not."""

    def __init__(self, search: Search, turns: Mapping[int, Turn], items: Sequence[Candidate] = ()) -> None:
        self._search = search
        self._retired = cache(lambda: _no_longer_true(search))  # only if a turn matters at all
        self._asked = normalise(search.question.text)
        # what the turns found so far ask to forget
        self._unwanted = [(turn.id, wish) for turn in turns.values() for wish in wishes(turn.query)]
        self.told: dict[int, list[Candidate]] = {}  # by turn: the thoughts that tell of it
        for item in items:
            self._tells(item)

    def __call__(self, rows: Iterable[_Row], most: int) -> tuple[list[Candidate], list[Candidate]]:
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
        tellers = [item.text for item in self.told.get(turn.id, ())]
        if tellers and not _says_more(turn, tellers, self._search.question.text):
            return f"told by {self.told[turn.id][0].ref}"
        if not self._search.reaches_back and (thought := self._retired()(turn)):
            return f"no longer held true, see {thought}"
        if request := _forbidden(turn, self._unwanted):
            return f"to be forgotten, see {request}"
        if normalise(turn.query) == self._asked:
            return "repeats the query"
        return "only asks" if not turn.response and _only_asks(turn.query) else None

    def _verdict(self, row: _Row, nearly: bool) -> str | None:
        """Why a row does not matter, if it does not."""
        memory, score = row.memory, row.score
        if not self._search.matters(score.total) and not (
            nearly and isinstance(memory, Turn) and self._search.nearly(score.total, score.lexical)
        ):
            return "too far"
        return withheld(memory) or (self.against(memory) if isinstance(memory, Turn) else None)

    def _candidate(self, row: _Row, verdict: str, kept: bool) -> Candidate:
        memory = redacted(row.memory) if kept or self._search.question.explain else row.memory
        how = _reason(self._search, row.hits, row.score, row.group)
        return Candidate(
            ref=memory.ref,
            text=memory.text if isinstance(memory, Turn) else self._worded(memory),
            score=row.score,
            group=row.group,
            reason=f"{verdict}: {how}; {_origin(memory)}",
            thought=memory if isinstance(memory, Thought) else None,
            turn=memory if isinstance(memory, Turn) else None,
        )

    def _worded(self, thought: Thought) -> str:
        return _dated(thought) if self._search.reaches_back else thought.sentence

    def _tells(self, item: Candidate) -> None:
        for source in item.thought.sources if item.thought else ():
            self.told.setdefault(source.turn, []).append(item)


def _dated(thought: Thought) -> str:
    """A thought in words; one held true no more says so, or a reader would take it for the present."""
    if thought.current:
        return thought.sentence
    ended = thought.valid_to or thought.retired_at
    until = f"{ended:%Y-%m-%d}" if ended else ""
    if has_han(thought.sentence):
        return f"{thought.sentence}（已成过去，至{until}）"
    return f"{thought.sentence} (past, until {until})"


def _reason(search: Search, hits: Hits, score: Score, group: int) -> str:
    comparison = ">=" if search.matters(score.total) else "<"
    how = f"{hits.probes} groups probed" if hits.probes else "the whole space searched"
    asked = "" if hits.group is None else f", query in {hits.group}"
    return (
        f"{score.total:.2f} {comparison} {search.preset.threshold:.2f} "
        f"(meaning {score.cosine:.2f}, words {score.lexical:.2f}); group {group}{asked}, {how}"
    )


def _origin(memory: Thought | Turn) -> str:
    if isinstance(memory, Turn):
        return f"raw turn of {memory.at:%Y-%m-%d}"
    said = [f"said by {source.speaker} in {Ref('turn', source.turn)}" for source in memory.sources[:1]]
    return said[0] if said else "without a source"
