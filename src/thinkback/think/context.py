"""Collects what a reader is given: the turns before, the known names, and the thoughts a turn may touch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial

from thinkback.forgotten import without_forgotten
from thinkback.index.lexical import QueryTerms, hash_terms
from thinkback.index.space_index import IndexQuery
from thinkback.indexing import Indexer
from thinkback.language.names import USER, normalise_name
from thinkback.language.sentences import split_sentences
from thinkback.language.tokens import extract_terms
from thinkback.protocols import Store
from thinkback.think.aliases import Aliases
from thinkback.think.contract import ReadRequest
from thinkback.types import SAME_AS, Thought, Turn

MAX_RECENT_TURNS = 3
_LOOK_BACK_TURNS = 8  # turns of the space among which they are searched
_MAX_CONVERSATION_GAP = timedelta(days=1)  # after a longer pause a new conversation begins
MAX_RELATED_THOUGHTS = 20  # for one turn; every further turn of a request adds some
_MORE_RELATED_PER_TURN = 8
_MAX_RELATED_TOTAL = 48
_HITS_PER_PASSAGE = 16
_MAX_PASSAGES = 12  # sentences of a turn that are searched one by one
_MAX_JUST_SAID = 6  # thoughts of the turns before that are always shown: they are what is corrected
_MAX_TOLD_WITH = 8  # thoughts told in the same turns as the best hits: what ends one often ends the others
_BEST_HITS = 4
_MAX_NAMES = 30
_WEIGHTS = (0.6, 0.4)  # of meaning and words


class ContextBuilder:
    """Builds the request for a reader from the store and the index of a space."""

    def __init__(self, store: Store, indexer: Indexer) -> None:
        self._store = store
        self._indexer = indexer

    def build(self, space: str, turns: Sequence[Turn], *, with_related: bool = True) -> ReadRequest:
        """The request to read these turns, which follow each other in one space."""
        relationships = self._store.thoughts(space, kind="relationship")
        aliases = Aliases.from_thoughts(relationships)
        recent = self._recent_turns(space, turns[0])
        related = self._related_thoughts(space, turns, recent) if with_related else []

        def find(subject: str, relation: str) -> list[Thought]:
            find_named = partial(self._store.thoughts, space, relation=relation)
            found = [thought for name in aliases.names_of(subject) for thought in find_named(subject=name)]
            return sorted(found, key=lambda thought: thought.id)

        def find_told_with(id_: int) -> list[Thought]:
            told_in = {
                source.turn for old in self._store.thoughts(space, ids=[id_]) for source in old.sources
            }
            return self._thoughts_of_turns(space, sorted(told_in))

        return ReadRequest(
            turns=tuple(turns),
            recent=tuple(recent),
            names=self._known_names(space, aliases, [*recent, *turns], related),
            related=tuple(related),
            relationships=tuple(relationships),
            said_at=self._said_at(space, related),
            find=find,
            find_told_with=find_told_with,
        )

    def _recent_turns(self, space: str, turn: Turn) -> list[Turn]:
        """The turns before this one in the same conversation, oldest first."""
        first = max(0, turn.id - 1 - _LOOK_BACK_TURNS)
        earlier = self._store.turns(space, session=turn.session, after=first, limit=_LOOK_BACK_TURNS)
        recent = [
            other for other in earlier if other.id < turn.id and turn.at - other.at <= _MAX_CONVERSATION_GAP
        ]
        kept = without_forgotten(self._store, space, recent[-MAX_RECENT_TURNS:])
        return [other for other in kept if other.query.strip() or other.response.strip()]

    def _related_thoughts(self, space: str, turns: Sequence[Turn], recent: Sequence[Turn]) -> list[Thought]:
        """Current thoughts that the turns may repeat, change or end, the oldest first."""
        limit = min(_MAX_RELATED_TOTAL, MAX_RELATED_THOUGHTS + _MORE_RELATED_PER_TURN * (len(turns) - 1))
        view = self._indexer.view(space)
        if not view.index.size("thought"):
            return []
        scores: dict[int, float] = {}
        for turn in turns:
            for text in _passages(turn):
                vector, _ = self._indexer.embed(text)
                query = IndexQuery(
                    vector=vector,
                    variants=(QueryTerms(hash_terms(extract_terms(text))),),
                    limit=_HITS_PER_PASSAGE,
                    weights=_WEIGHTS,
                )
                with view.lock:
                    hits = view.index.search("thought", query)
                for id_, score in zip(hits.ids.tolist(), hits.score.tolist(), strict=True):
                    scores[id_] = max(scores.get(id_, 0.0), score)
        recent_ids = {turn.id for turn in recent}
        best = sorted(scores, key=lambda id_: (-scores[id_], id_))
        just_said = self._thoughts_of_turns(space, recent_ids)[-_MAX_JUST_SAID:]
        chosen = [thought.id for thought in just_said]
        chosen += [id_ for id_ in best if id_ not in chosen]
        chosen = chosen[:limit]
        told_in = {
            thought.last_turn for thought in self._store.thoughts(space, ids=sorted(best[:_BEST_HITS]))
        }
        told_with = [thought.id for thought in self._thoughts_of_turns(space, sorted(told_in))]
        chosen += [id_ for id_ in told_with if id_ not in chosen][:_MAX_TOLD_WITH]
        thoughts = self._store.thoughts(space, ids=sorted(chosen))
        return [thought for thought in thoughts if thought.current and thought.relation != SAME_AS]

    def _said_at(self, space: str, thoughts: Sequence[Thought]) -> dict[int, datetime]:
        ids = {thought.last_turn for thought in thoughts}
        times = {turn.id: turn.at for turn in self._store.turns(space, ids=sorted(ids))} if ids else {}
        return {thought.id: times[thought.last_turn] for thought in thoughts if thought.last_turn in times}

    def _thoughts_of_turns(self, space: str, turns: Iterable[int]) -> list[Thought]:
        """The current thoughts drawn from these turns."""
        ids = {
            thought.id
            for turn in turns
            for action in self._store.journal(space, turn=turn)
            for thought in action.after
        }
        found = self._store.thoughts(space, ids=sorted(ids)) if ids else []
        return [thought for thought in found if thought.current]

    def _known_names(
        self, space: str, aliases: Aliases, turns: Sequence[Turn], related: Sequence[Thought]
    ) -> tuple[tuple[str, ...], ...]:
        """Groups of names that mean the same one: those in the texts first, then those with a known role."""
        text = " ".join(turn.text for turn in turns).casefold()
        subjects = {thought.subject for thought in related}
        groups: dict[str, tuple[str, ...]] = {}
        for name in self._store.subject_names(space):
            names = aliases.names_of(name)
            if normalise_name(names[0]) != USER:
                groups.setdefault(normalise_name(names[0]), names)

        def rank(names: tuple[str, ...]) -> int:
            if any(name in subjects or name.casefold() in text for name in names):
                return 0
            return 1 if len(names) > 1 else 2

        return tuple(sorted(groups.values(), key=rank)[:_MAX_NAMES])


def _passages(turn: Turn) -> list[str]:
    """The texts to search with: the user's message, and each of its sentences if there are several."""
    text = turn.query if turn.query.strip() else turn.response
    sentences = [sentence.text for sentence in split_sentences(text)][:_MAX_PASSAGES]
    return [text, *sentences] if len(sentences) > 1 else [text]
