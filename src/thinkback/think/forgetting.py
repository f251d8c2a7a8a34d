"""What stays of a message when the user asks to forget something that it says.

    My salary is 5200 euros. It went up in May. I live in Lyon.      forget my salary
    ->                                          I live in Lyon.

The turn is hidden as a whole, because raw text is recalled as a whole. What it says besides is kept as
thoughts, without a model: at once, also before the turn was thought about. In doubt a passage is forgotten: a
sentence that goes on about the topic without naming it, and a clause of the same sentence without a subject
of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from thinkback.indexing import Indexer
from thinkback.language.commands import has_content
from thinkback.language.sentences import Sentence, count_words, split_sentences
from thinkback.protocols import Clock, Store
from thinkback.think.aliases import Aliases
from thinkback.think.context import ContextBuilder
from thinkback.think.grounding import locate_quote
from thinkback.think.guard import Guard
from thinkback.think.plan import SpaceState, plan_turn, thoughts_drawn_from
from thinkback.think.reader_extractive import ExtractiveReader
from thinkback.think.readers import WithoutModelReader
from thinkback.think.similarity import SentenceSimilarity
from thinkback.types import Operation, Plan, Thought, Turn

MAX_BARE_WORDS = 3
"""A sentence of so few words without a subject goes on about the one before: "5200 a month."."""

_CLAUSE_END = re.compile(
    r"[,;，；]\s*(?!\d)|\s+(?=(?:and|but|also|plus)\s)|(?=但是|不过|而且|另外|还有|同时)", re.IGNORECASE
)
_GOES_ON = re.compile(
    r"\W*(?:(?:and|but|so|also|plus|or|which|because|since)\s+)*"
    r"(?:it|it's|its|that|that's|this|these|those|he|he's|she|she's|they|they're|his|her|hers|their|him|them"
    r"|which|who|the same|both|there)\b"
    r"|\W*(?:而且|但是?|不过|所以|因为)?[它他她这那其该此]",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|im|i've|ive|i'd|i'll|my|we|we're|our|me)\b|我|咱|俺", re.IGNORECASE)
_ADDS = re.compile(
    r"\W*(?:and|but|also|plus)\s+(?!the\b|a\b|an\b|no\b|not\b)\w|\W*(?:另外|还有|同时)", re.IGNORECASE
)
_PRONOUN = re.compile(r"\b(?:it|that|this|he|she|they|him|them)\b|[它他她]|这个|那个", re.IGNORECASE)


class RemainderKeeper:
    """Keeps what turns say besides a topic as thoughts, before they are hidden."""

    def __init__(self, store: Store, indexer: Indexer, clock: Clock) -> None:
        self._store = store
        self._indexer = indexer
        self._clock = clock
        self._context = ContextBuilder(store, indexer)
        self._reader = WithoutModelReader(keep_all=True)
        self._sentence_reader = ExtractiveReader(keep_all=True)

    def keep(
        self, space: str, turn: Turn, is_about: Callable[[str], bool], forgotten: Collection[int] = ()
    ) -> None:
        """Keep the statements of a turn that are not about the topic.

        A pending turn stays pending: it is thought about if the request is undone, not while it is hidden.
        Only those are kept from which nothing was drawn, or only the `forgotten` thoughts: newer turns may
        have changed the others, and a request that is carried out again has kept them already.

        Raises:
            Conflict: the space was changed at the same time.
            NotFound: the space was erased.
            ModelError: the embedder failed.
        """
        rest = replace(turn, query=blank_topic(turn.query, is_about), response="")
        if not has_content(rest.query):
            return
        request = self._context.build(space, [rest], with_related=False)
        aliases = Aliases.from_thoughts(request.relationships)

        def get(ids: Sequence[int]) -> list[Thought]:
            return self._store.thoughts(space, ids=sorted(ids), current=False)

        is_new = turn.thought_at is None
        reader = self._reader if is_new else self._sentence_reader
        changes = [
            change
            for change in reader.read(request)
            if not self._is_known(space, rest, change.quote, forgotten)
        ]
        state = SpaceState(
            aliases=aliases,
            find=request.find,
            get=get,
            drawn_from=lambda turn: thoughts_drawn_from(self._store, space, turn),
        )
        accepted = Guard(request, aliases, get, SentenceSimilarity(None)).judge(changes).accepted
        planned = plan_turn(rest, accepted, state, {})
        plan = Plan(
            turn=None,
            lease="",
            actor=reader.name,
            operations=tuple(_said_at(operation, turn.at) for operation in planned.operations),
            cause=turn.id,
        )
        entries, epoch = self._indexer.entries_for_plan(space, plan)
        self._store.apply(space, plan, entries, self._clock(), epoch)

    def _is_known(self, space: str, turn: Turn, quote: str, forgotten: Collection[int]) -> bool:
        """Whether another thought, current or not, was drawn from this passage of the user's message."""
        place = locate_quote(quote, turn.query)
        if place is None:
            return False
        start, end = place
        return any(
            source.turn == turn.id and source.side == "query" and source.start < end and start < source.end
            for action in self._store.journal(space, turn=turn.id)
            for thought in action.after
            if thought.id not in forgotten
            for source in thought.sources
        )


def _said_at(operation: Operation, at: datetime) -> Operation:
    """The operation as of the time of its turn, not of the request."""
    drafts = tuple(replace(draft, valid_from=draft.valid_from or at) for draft in operation.add)
    return replace(operation, add=drafts, ended_at=operation.ended_at or at)


def blank_topic(text: str, is_about: Callable[[str], bool]) -> str:
    """The text with blanks in place of what is about a topic; all other characters keep their positions.

    Each gap begins with a line break, so that what is before and after it is not read as one sentence. If
    the topic is found in the text as a whole but in none of its sentences, all of it is blanked.
    """
    characters = list(text)
    spans = list(_topic_spans(text, is_about))
    if not spans and is_about(text):
        spans = [(0, len(text))]
    for start, end in spans:
        characters[start:end] = "\n".ljust(end - start)
    return "".join(characters)


def _topic_spans(text: str, is_about: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    follows = False  # the sentence before is about the topic
    for sentence in split_sentences(text):
        if is_about(sentence.text):
            yield from _topic_clauses(sentence, is_about)
            follows = True
        elif follows and _continues(sentence.text):
            yield sentence.start, sentence.end
        else:
            follows = False


def _topic_clauses(sentence: Sentence, is_about: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    """The clauses of a sentence about the topic, and those that cannot stand without them."""
    clauses = list(_split(sentence.text))
    if not any(is_about(sentence.text[start:end]) for start, end in clauses):
        yield sentence.start, sentence.end
        return
    for start, end in clauses:
        clause = sentence.text[start:end]
        if is_about(clause) or not _stands_alone(clause):
            yield sentence.start + start, sentence.start + end


def _split(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _CLAUSE_END.finditer(text):
        if text[start : match.start()].strip():
            yield start, match.end()
            start = match.end()
    if text[start:].strip():
        yield start, len(text)


def _continues(sentence: str) -> bool:
    """Whether a sentence goes on about the one before it."""
    if _GOES_ON.match(sentence):
        return True
    return not _FIRST_PERSON.search(sentence) and count_words(sentence) <= MAX_BARE_WORDS


def _stands_alone(clause: str) -> bool:
    """Whether a clause says something of its own beside a clause about the topic."""
    if _GOES_ON.match(clause) or _PRONOUN.search(clause):
        return False
    return bool(_FIRST_PERSON.search(clause) or _ADDS.match(clause))
