"""Query preparation without a model: the people it names, and the variants it is searched with."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, TypeVar

from thinkback.index.lexical import QueryTerms, hash_terms
from thinkback.language.kinship import ROLES_EN, ROLES_ZH
from thinkback.language.mentions import find_chains
from thinkback.language.names import USER
from thinkback.language.query_rewrite import content_terms, rewrite_question
from thinkback.language.questions import QuestionType, classify_question, is_brief
from thinkback.language.scripts import has_han
from thinkback.language.thesaurus import related_terms
from thinkback.language.tokens import extract_terms
from thinkback.recall.entities import ChainResult, EntityGraph, ResolvedEntity
from thinkback.recall.lifecycle import JournalReader, LifecycleCache
from thinkback.recall.retention import RetentionScorer
from thinkback.types import ItemKind, Kind, Ref, Thought, Turn

if TYPE_CHECKING:
    from thinkback.types import TermHashes, Vector


_SYNONYM_WEIGHT = 0.7  # what a word that means alike is worth of the word itself


@dataclass(frozen=True, slots=True, eq=False)
class KnowledgeSnapshot:
    """What was known at an earlier time: thoughts held true then (at the time asked for), all, and turns."""

    valid_thoughts: Collection[int]
    all_thoughts: Collection[int]
    turns: Collection[int]


@dataclass(frozen=True, slots=True, eq=False)
class PreparedQuery:
    """A query, ready to be searched with."""

    text: str
    vector: Vector
    terms: TermHashes
    k: int
    as_of: datetime | None = None
    explain: bool = False
    snapshot: KnowledgeSnapshot | None = None
    retention: RetentionScorer | None = None
    now: datetime | None = None  # when it is asked
    about_ids: tuple[int, ...] = ()  # thoughts told of those it speaks of
    expanded_text: str = ""  # the same with the names of those it speaks of: "my sister" is Anna
    kind_probabilities: Mapping[Kind, float] = field(
        default_factory=dict
    )  # P(kind | question); empty: nothing is known
    resolved: ResolvedQuery | None = None  # how they were found, to be explained


Value = TypeVar("Value")


class Memoiser(Protocol):
    """What a function makes of a text; where texts are read again and again, it may know that already."""

    def __call__(self, function: Callable[[str], Value], text: str, /) -> Value: ...


def _call_uncached(function: Callable[[str], Value], text: str) -> Value:
    return function(text)


@dataclass(frozen=True, slots=True, eq=False)
class MemoryLoader:
    """Where the words of a hit are read."""

    thoughts: Callable[[Sequence[int]], Sequence[Thought]]
    turns: Callable[[Sequence[int]], Sequence[Turn]]
    journal: JournalReader
    lifecycles: LifecycleCache | None = (
        None  # what is known of their ends from earlier questions, to be added to
    )
    memoise: Memoiser = _call_uncached

    def load_once(self) -> MemoryLoader:
        """The same for one question, which may ask for a memory again and again: each is read once."""
        return replace(self, thoughts=_load_once(self.thoughts), turns=_load_once(self.turns))


Read = TypeVar("Read", Thought, Turn)


def _load_once(read: Callable[[Sequence[int]], Sequence[Read]]) -> Callable[[Sequence[int]], Sequence[Read]]:
    found: dict[int, Read] = {}

    def look(ids: Sequence[int]) -> Sequence[Read]:
        if missing := [id_ for id_ in ids if id_ not in found]:
            found.update((each.id, each) for each in read(missing))
        return [found[id_] for id_ in sorted(ids) if id_ in found]

    return look


def build_query_variants(question: PreparedQuery) -> dict[ItemKind, tuple[QueryTerms, ...]]:
    """By what each kind is searched: raw turns in the question's own words, thoughts in their phrases too."""
    own = tuple(_own_variants(question))
    phrased = tuple(_thought_variants(question.text))
    if question.expanded_text:
        own = (
            *own,
            QueryTerms(hash_terms(extract_terms(question.expanded_text))),
            _to_query_terms(content_terms(question.expanded_text)),
        )
        phrased = (*phrased, *_thought_variants(question.expanded_text))
    return {"turn": own, "thought": (*own, *phrased)}


def literal_query_variants(question: PreparedQuery) -> dict[ItemKind, tuple[QueryTerms, ...]]:
    """By the question's own words, and nothing else."""
    asked = (QueryTerms(question.terms),)
    return {"turn": asked, "thought": asked}


def _own_variants(question: PreparedQuery) -> Iterator[QueryTerms]:
    """As it was asked; without the words that only ask; in words like its own.

    Of Chinese every two neighbours are a term, and many pairs are no word: a pair that nobody wrote must not
    weigh as if a rare word were missing.
    """
    yield QueryTerms(hash_terms(extract_terms(question.text)))
    if not is_brief(question.text):
        return
    if (wanted := content_terms(question.text)) != extract_terms(question.text):
        yield _to_query_terms(wanted)
    if like := related_terms(question.text):
        yield QueryTerms(hash_terms(()), hash_terms(like), _SYNONYM_WEIGHT)


def _thought_variants(text: str) -> Iterator[QueryTerms]:
    """As a thought that answers would say it."""
    if is_brief(text):
        told = {frozenset(extract_terms(text)), frozenset(content_terms(text))}
        for wanted in rewrite_question(text):
            if frozenset(wanted) not in told:
                told.add(frozenset(wanted))
                yield _to_query_terms(wanted)


def _to_query_terms(wanted: Sequence[str]) -> QueryTerms:
    words = [term for term in wanted if term.isascii() or len(term) == 1]
    pairs = [term for term in wanted if not term.isascii() and len(term) > 1]
    return QueryTerms(hash_terms(words), hash_terms(pairs))


_USER_ZH = "用户"
_MAX_QUERY_CHARS = 300  # characters: a longer text is no question after one thing
_ROLE_WORDS = "|".join(sorted(ROLES_EN, key=len, reverse=True))
_RELATIVE_PHRASE = re.compile(
    rf"\w(?:['’]s|s['’]) (?:\w+ )?(?:{_ROLE_WORDS})\b|\b(?:{_ROLE_WORDS}) of \w|的(?:{'|'.join(ROLES_ZH)})",
    re.IGNORECASE,
)
"""Somebody's relative, whoever that is: "Tom's brother", 王强的妻子."""


@dataclass(frozen=True, slots=True)
class Mention:
    """A phrase of the query, all names of whom it names, and the way from one to the other in words."""

    phrase: str
    names: tuple[str, ...]
    path: str


@dataclass(frozen=True, slots=True)
class ResolvedQuery:
    """`expansions` are the names, besides those in the query, that thoughts about those it means are kept
    under: words to search with. `aliases` are their other names, which raw turns may use: most add nothing.
    `bridge` are the thoughts that lead to them.

    `about` are the thoughts told of those mentioned, by whatever name; of the user, who has too many, none.
    """

    question: QuestionType
    mentions: tuple[Mention, ...] = ()
    expansions: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    linking_ids: tuple[int, ...] = ()
    about_ids: tuple[int, ...] = ()
    reasons: tuple[str, ...] = ()

    def expand(self, query: str) -> str:
        """The query with those names in place of the phrases that mean them; "" where no name is new."""
        if not self.expansions:
            return ""
        for mention in self.mentions:
            if names := [name for name in mention.names if name in self.expansions]:
                query = query.replace(mention.phrase, " ".join(names), 1)
        return query


def may_name_entity(query: str) -> bool:
    """Whether a phrase of the query may lead to a name; only then is it worth to know who is who."""
    return bool(_RELATIVE_PHRASE.search(query[:_MAX_QUERY_CHARS]) or find_chains(query, lambda words: False))


def resolve_query(query: str, graph: EntityGraph) -> ResolvedQuery:
    """What a query is after, as far as its words and the graph tell; the same for the same two, always."""
    ways = _resolve_chains(query, graph)
    mentions = [_build_mention(query[start : way.end], way, graph, query) for start, way in ways]
    reached = [each for _, way in ways for each in way.reached]
    kept = {name for each in reached for name in _subject_names(each, graph, query)}
    names = dict.fromkeys(name for mention in mentions for name in mention.names)
    unsaid = [name for name in names if not _is_mentioned(name, query)]
    told = (id_ for each in reached if each.key != USER for id_ in graph.thought_ids_about(each.key))
    return ResolvedQuery(
        question=classify_question(query),
        mentions=tuple(mentions),
        expansions=tuple(name for name in unsaid if name in kept),
        aliases=tuple(name for name in unsaid if name not in kept),
        linking_ids=tuple(dict.fromkeys(id_ for each in reached for _, id_ in each.path if id_ in graph)),
        about_ids=tuple(dict.fromkeys(told)),
        reasons=tuple(_expansion_reasons(mentions, [way for _, way in ways], kept.intersection(unsaid))),
    )


def _resolve_chains(query: str, graph: EntityGraph) -> list[tuple[int, ChainResult]]:
    """(where it starts, whom it leads to) of every phrase that names somebody; a pronoun means the last."""
    found: list[tuple[int, ChainResult]] = []
    for chain in find_chains(query, graph.is_name):
        if any(chain.start in range(start, way.end) for start, way in found):
            continue
        way = graph.follow_chain(chain, found[-1][1].reached if found else ())
        if way.reached:
            found.append((chain.start, way))
    return found


def _build_mention(phrase: str, way: ChainResult, graph: EntityGraph, query: str) -> Mention:
    names: dict[str, None] = {}
    paths: list[str] = []
    for each in way.reached:
        own = _entity_names(each, graph, query)
        names |= dict.fromkeys(own)
        steps = _format_path(each, graph) or [", ".join(own)]
        paths.append(" -> ".join((phrase, *steps, *(("?",) if way.missing else ()))))
    return Mention(phrase, tuple(names), "; ".join(paths))


def _format_path(one: ResolvedEntity, graph: EntityGraph) -> list[str]:
    """ "Anna (thought:4)": of several thoughts in a row about one name, all at once."""
    grouped: list[tuple[str, list[str]]] = []
    for key, id_ in one.path:
        name = graph.display_name(key)
        if grouped and grouped[-1][0] == name:
            grouped[-1][1].append(str(Ref("thought", id_)))
        else:
            grouped.append((name, [str(Ref("thought", id_))]))
    return [f"{name} ({', '.join(refs)})" for name, refs in grouped]


def _entity_names(one: ResolvedEntity, graph: EntityGraph, query: str) -> tuple[str, ...]:
    if one.key == USER:  # a question about the user by his name: thoughts call him the user
        return (_USER_ZH,) if has_han(query) else (USER,)
    return graph.names_of(one.key) or tuple(name for name, _ in one.path[-1:])


def _subject_names(one: ResolvedEntity, graph: EntityGraph, query: str) -> tuple[str, ...]:
    kept = graph.subject_names(one.key) if one.key != USER else ()
    return kept or _entity_names(one, graph, query)


def _is_mentioned(name: str, query: str) -> bool:
    """Whether the query has the words of a name already: "my mom" those of "user's mom"."""
    bare = name.removeprefix(f"{USER}'s ").removeprefix(f"{_USER_ZH}的")
    if has_han(bare):
        return bare in query
    text, words = f" {query.casefold()} ", bare.casefold()
    at = text.find(words)
    while at >= 0 and (text[at - 1].isalpha() or text[at + len(words)].isalpha()):
        at = text.find(words, at + 1)
    return at >= 0


def _expansion_reasons(
    mentions: Sequence[Mention], ways: Sequence[ChainResult], new: Collection[str]
) -> Iterator[str]:
    for mention, way in zip(mentions, ways, strict=True):
        if searched := [name for name in mention.names if name in new]:
            yield f"{mention.path}: also searched for {', '.join(searched)}"
        if way.missing:
            yield f"{mention.phrase}: nothing known of a {way.missing}"
