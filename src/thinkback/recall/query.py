"""Query preparation without a model: the people it names, and the variants it is searched with."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

from thinkback.index.lexical import QueryTerms, hash_term, hash_terms
from thinkback.language.kinship import ROLES_EN, ROLES_ZH
from thinkback.language.mentions import find_chains
from thinkback.language.names import USER
from thinkback.language.query_rewrite import content_terms, rewrite_question
from thinkback.language.questions import QuestionType, classify_question, is_brief
from thinkback.language.thesaurus import related_terms
from thinkback.language.tokens import extract_terms
from thinkback.language.transcripts import HAS_SPEAKER, possible_speakers, remove_names, speaker_term
from thinkback.language.writing_systems import has_han
from thinkback.protocols import CrossEncoder
from thinkback.recall.entities import ChainResult, EntityGraph
from thinkback.recall.entity_registry import ResolvedEntity
from thinkback.recall.retired import RetiredThoughts
from thinkback.recall.rows import ThoughtRow, TurnRow
from thinkback.recall.score import RetentionScorer
from thinkback.recall.thought_lifecycle import JournalReader, LifecycleCache
from thinkback.types import ItemKind, Kind, NearestRows, Ref, Thought, Turn

if TYPE_CHECKING:
    from thinkback.index.space_index import SpaceIndex
    from thinkback.types import Vector


_SYNONYM_WEIGHT = 0.7  # relative to the word itself


@dataclass(frozen=True, slots=True, eq=False)
class KnowledgeSnapshot:
    """The ids known at an earlier time: thoughts that were valid then, all thoughts, and turns."""

    valid_thoughts: Collection[int]
    all_thoughts: Collection[int]
    turns: Collection[int]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PreparedQuery:
    """A query with everything that was computed from it before the search."""

    text: str
    vector: Vector
    k: int
    part_vectors: Vector | None = None  # of the parts of a passage, one row each
    as_of: datetime | None = None
    explain: bool = False
    snapshot: KnowledgeSnapshot | None = None
    retention: RetentionScorer | None = None
    now: datetime | None = None
    kind_probabilities: Mapping[Kind, float] = field(
        default_factory=dict
    )  # P(kind | query), if it was computed
    resolved: ResolvedQuery | None = None
    speakers: tuple[str, ...] = ()  # speakers of a transcript whom the query names
    cross_encoder: CrossEncoder | None = None  # reads the best candidates, if the preset wants it

    @property
    def wording(self) -> str:
        """The words to look for: the query without the names of speakers."""
        return remove_names(self.text, self.speakers)

    @property
    def about_ids(self) -> tuple[int, ...]:
        """Thoughts about the people and things that the query mentions."""
        return () if self.resolved is None else self.resolved.about_ids

    @property
    def expanded_text(self) -> str:
        """The query with names in place of descriptions ("my sister" -> "Anna"); "" if there are none."""
        return "" if self.resolved is None else self.resolved.expand(self.text)


_MIN_LABELLED_TURNS = 5
_MIN_LABELLED_SHARE = 0.3  # of the turns; with fewer, a word before a colon is seldom a speaker


def find_speakers(text: str, index: SpaceIndex) -> tuple[str, ...]:
    """The speakers of a transcript whom a query names; empty if the space is no transcript."""
    labelled = len(index.ids_with_term("turn", hash_term(HAS_SPEAKER)))
    if labelled < max(_MIN_LABELLED_TURNS, _MIN_LABELLED_SHARE * index.size("turn")):
        return ()
    return tuple(
        name
        for name in possible_speakers(text)
        if len(index.ids_with_term("turn", hash_term(speaker_term(name))))
    )


Value = TypeVar("Value")


class Memoiser(Protocol):
    """Calls a function of a text, or returns the result of an earlier call."""

    def __call__(self, function: Callable[[str], Value], text: str, /) -> Value: ...


def call_uncached(function: Callable[[str], Value], text: str) -> Value:
    """The `Memoiser` that remembers nothing."""
    return function(text)


class NearestReader(Protocol):
    """Searches by meaning outside of this process (see `IndexStore.nearest`)."""

    def __call__(self, kind: ItemKind, vector: Vector, limit: int, size: int) -> NearestRows | None: ...


def search_in_memory(kind: ItemKind, vector: Vector, limit: int, size: int) -> NearestRows | None:
    """The `NearestReader` of a store that has no search index."""
    return None


def read_uncached(read: Callable[[], RetiredThoughts]) -> RetiredThoughts:
    """The reader of retired thoughts that remembers nothing."""
    return read()


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MemoryLoader:
    """Reads the memories behind search hits, ordered by id."""

    thought_rows: Callable[[Sequence[int]], Sequence[ThoughtRow]]
    turn_rows: Callable[[Sequence[int]], Sequence[TurnRow]]
    journal: JournalReader
    lifecycles: LifecycleCache | None = None  # states known from earlier queries; new ones are added
    memoise: Memoiser = call_uncached
    nearest: NearestReader = search_in_memory
    memoise_retired: Callable[[Callable[[], RetiredThoughts]], RetiredThoughts] = read_uncached

    def thoughts(self, ids: Sequence[int]) -> Sequence[Thought]:
        """The thoughts with these ids."""
        return [row.memory for row in self.thought_rows(ids)]

    def turns(self, ids: Sequence[int]) -> Sequence[Turn]:
        """The turns with these ids."""
        return [row.memory for row in self.turn_rows(ids)]

    def row_of_turn(self, turn: Turn) -> TurnRow:
        """The row of a turn, with what was derived from it already."""
        rows = self.turn_rows([turn.id])
        return rows[0] if rows and _same(rows[0].memory, turn) else TurnRow(turn)

    def row_of_thought(self, thought: Thought) -> ThoughtRow:
        """The row of a thought, with what was derived from it already."""
        rows = self.thought_rows([thought.id])
        return rows[0] if rows and _same(rows[0].memory, thought) else ThoughtRow(thought)

    def load_once(self) -> MemoryLoader:
        """A loader for a single query that reads each memory only once."""
        return replace(self, thought_rows=_load_once(self.thought_rows), turn_rows=_load_once(self.turn_rows))


def _same(one: Turn | Thought, other: Turn | Thought) -> bool:
    return one is other or one == other


Row = TypeVar("Row", ThoughtRow, TurnRow)


def _load_once(read: Callable[[Sequence[int]], Sequence[Row]]) -> Callable[[Sequence[int]], Sequence[Row]]:
    loaded: dict[int, Row] = {}

    def load(ids: Sequence[int]) -> Sequence[Row]:
        missing = [id_ for id_ in ids if id_ not in loaded]
        rows = read(missing) if missing else ()
        for row in rows:
            loaded[row.id] = row
        if len(missing) == len(ids):
            return rows
        return [loaded[id_] for id_ in sorted(ids) if id_ in loaded]

    return load


class SearchVariant(NamedTuple):
    """One phrasing of the query. `optional_words` count only if they occur in the space."""

    words: tuple[str, ...]
    optional_words: tuple[str, ...] = ()
    weight: float = 1.0

    def hashed(self) -> QueryTerms:
        optional = hash_terms(self.optional_words) if self.optional_words else None
        return QueryTerms(hash_terms(self.words), optional, self.weight)


class SearchVariants(NamedTuple):
    """The phrasings of a query: turns are searched with `shared`, thoughts with all."""

    shared: tuple[SearchVariant, ...]
    thoughts_only: tuple[SearchVariant, ...] = ()

    def hashed(self) -> dict[ItemKind, tuple[QueryTerms, ...]]:
        shared = tuple(variant.hashed() for variant in self.shared)
        return {"turn": shared, "thought": (*shared, *(variant.hashed() for variant in self.thoughts_only))}


def literal_variants(text: str) -> SearchVariants:
    """Only the words of the query itself."""
    return SearchVariants((SearchVariant(tuple(extract_terms(text))),))


def build_variants(text: str, expanded_text: str = "") -> SearchVariants:
    """The query as it is, without question words, with synonyms, and phrased like a thought that answers it.

    `expanded_text` is the query with the names of the people it describes.
    """
    terms, brief = extract_terms(text), is_brief(text)
    content = content_terms(text) if brief else terms
    shared = [SearchVariant(tuple(terms))]
    phrased: list[SearchVariant] = []
    if brief:
        if content != terms:
            shared.append(_with_optional_pairs(content))
        if synonyms := related_terms(text):
            shared.append(SearchVariant((), tuple(synonyms), _SYNONYM_WEIGHT))
        phrased += _thought_variants(text, terms, content)
    if expanded_text:
        expanded, content = extract_terms(expanded_text), content_terms(expanded_text)
        shared += [SearchVariant(tuple(expanded)), _with_optional_pairs(content)]
        if is_brief(expanded_text):
            phrased += _thought_variants(expanded_text, expanded, content)
    return SearchVariants(tuple(shared), tuple(phrased))


def _thought_variants(text: str, terms: Sequence[str], content: Sequence[str]) -> Iterator[SearchVariant]:
    """The query phrased like the thoughts that would answer it, given its terms."""
    seen = {frozenset(terms), frozenset(content)}
    for phrasing in rewrite_question(text):
        if frozenset(phrasing) not in seen:
            seen.add(frozenset(phrasing))
            yield _with_optional_pairs(phrasing)


def _with_optional_pairs(terms: Sequence[str]) -> SearchVariant:
    """A variant in which pairs of Chinese characters are optional.

    Every two adjacent characters are a term, and many pairs are not a word. A pair that never occurs must not
    count as a rare word that is missing.
    """
    words = tuple(term for term in terms if term.isascii() or len(term) == 1)
    pairs = tuple(term for term in terms if not term.isascii() and len(term) > 1)
    return SearchVariant(words, pairs)


_USER_ZH = "用户"
_MAX_QUERY_CHARS = 300  # a longer text is not a question about one person
_ROLE_WORDS = "|".join(sorted(ROLES_EN, key=len, reverse=True))
_RELATIVE_PHRASE = re.compile(
    rf"\w(?:['’]s|s['’]) (?:\w+ )?(?:{_ROLE_WORDS})\b|\b(?:{_ROLE_WORDS}) of \w|的(?:{'|'.join(ROLES_ZH)})",
    re.IGNORECASE,
)
"""A relative of somebody: "Tom's brother", 王强的妻子."""
_RELATIVE_SIGNS = ("'", "’", " of ", " OF ", " Of ", " oF ", "的")  # one of them is in every such phrase


@dataclass(frozen=True, slots=True)
class Mention:
    """A phrase of the query, the names of the entities it refers to, and how it leads to them, in words."""

    phrase: str
    names: tuple[str, ...]
    path: str


@dataclass(frozen=True, slots=True)
class ResolvedQuery:
    """The people and things that a query refers to.

    `expansions` are the names of their thoughts that do not occur in the query; they are searched for too.
    `aliases` are other names. `linking_ids` are the thoughts that link the query to them, and `about_ids` the
    thoughts about them (none for the user, who has too many).
    """

    question: QuestionType
    mentions: tuple[Mention, ...] = ()
    expansions: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    linking_ids: tuple[int, ...] = ()
    about_ids: tuple[int, ...] = ()
    reasons: tuple[str, ...] = ()

    def expand(self, query: str) -> str:
        """The query with names in place of descriptions; "" if there are no new names."""
        if not self.expansions:
            return ""
        for mention in self.mentions:
            if names := [name for name in mention.names if name in self.expansions]:
                query = query.replace(mention.phrase, " ".join(names), 1)
        return query


def may_name_entity(query: str) -> bool:
    """Whether the query may describe somebody, so that it is worth building the entity graph."""
    text = query[:_MAX_QUERY_CHARS]
    if any(sign in text for sign in _RELATIVE_SIGNS) and _RELATIVE_PHRASE.search(text):
        return True
    return bool(find_chains(query, lambda words: False))


def resolve_query(query: str, graph: EntityGraph) -> ResolvedQuery:
    """Find the people and things that a query refers to.

    In "Where does my sister's husband work?" the graph leads from the phrase to the name "Erik".
    """
    chains = _resolve_chains(query, graph)
    mentions = [_build_mention(query[start : result.end], result, graph, query) for start, result in chains]
    entities = [entity for _, result in chains for entity in result.reached]
    subject_names = {name for entity in entities for name in _subject_names(entity, graph, query)}
    names = dict.fromkeys(name for mention in mentions for name in mention.names)
    new_names = [name for name in names if not _is_mentioned(name, query)]
    about = (id_ for entity in entities if entity.key != USER for id_ in graph.thought_ids_about(entity.key))
    return ResolvedQuery(
        question=classify_question(query),
        mentions=tuple(mentions),
        expansions=tuple(name for name in new_names if name in subject_names),
        aliases=tuple(name for name in new_names if name not in subject_names),
        linking_ids=tuple(
            dict.fromkeys(id_ for entity in entities for _, id_ in entity.path if id_ in graph)
        ),
        about_ids=tuple(dict.fromkeys(about)),
        reasons=tuple(
            _expansion_reasons(
                mentions, [result for _, result in chains], subject_names.intersection(new_names)
            )
        ),
    )


def _resolve_chains(query: str, graph: EntityGraph) -> list[tuple[int, ChainResult]]:
    """Start and result of each phrase that refers to somebody; a pronoun means the last one."""
    results: list[tuple[int, ChainResult]] = []
    for chain in find_chains(query, graph.is_name):
        if any(chain.start in range(start, result.end) for start, result in results):
            continue
        result = graph.follow_chain(chain, results[-1][1].reached if results else ())
        if result.reached:
            results.append((chain.start, result))
    return results


def _build_mention(phrase: str, result: ChainResult, graph: EntityGraph, query: str) -> Mention:
    names: dict[str, None] = {}
    paths: list[str] = []
    for entity in result.reached:
        entity_names = _entity_names(entity, graph, query)
        names |= dict.fromkeys(entity_names)
        steps = _format_path(entity, graph) or [", ".join(entity_names)]
        paths.append(" -> ".join((phrase, *steps, *(("?",) if result.missing else ()))))
    return Mention(phrase, tuple(names), "; ".join(paths))


def _format_path(entity: ResolvedEntity, graph: EntityGraph) -> list[str]:
    """The steps to an entity, such as "Anna (thought:4)"; consecutive thoughts about one name are grouped."""
    grouped: list[tuple[str, list[str]]] = []
    for key, id_ in entity.path:
        name = graph.display_name(key)
        if grouped and grouped[-1][0] == name:
            grouped[-1][1].append(str(Ref("thought", id_)))
        else:
            grouped.append((name, [str(Ref("thought", id_))]))
    return [f"{name} ({', '.join(refs)})" for name, refs in grouped]


def _entity_names(entity: ResolvedEntity, graph: EntityGraph, query: str) -> tuple[str, ...]:
    if entity.key == USER:  # thoughts call the user "user", not by name
        return (_USER_ZH,) if has_han(query) else (USER,)
    return graph.names_of(entity.key) or tuple(name for name, _ in entity.path[-1:])


def _subject_names(entity: ResolvedEntity, graph: EntityGraph, query: str) -> tuple[str, ...]:
    names = graph.subject_names(entity.key) if entity.key != USER else ()
    return names or _entity_names(entity, graph, query)


def _is_mentioned(name: str, query: str) -> bool:
    """Whether the query contains the words of a name: "my mom" contains those of "user's mom"."""
    bare = name.removeprefix(f"{USER}'s ").removeprefix(f"{_USER_ZH}的")
    if has_han(bare):
        return bare in query
    text, words = f" {query.casefold()} ", bare.casefold()
    position = text.find(words)
    while position >= 0 and (text[position - 1].isalpha() or text[position + len(words)].isalpha()):
        position = text.find(words, position + 1)
    return position >= 0


def _expansion_reasons(
    mentions: Sequence[Mention], results: Sequence[ChainResult], new: Collection[str]
) -> Iterator[str]:
    for mention, result in zip(mentions, results, strict=True):
        if searched := [name for name in mention.names if name in new]:
            yield f"{mention.path}: also searched for {', '.join(searched)}"
        if result.missing:
            yield f"{mention.phrase}: nothing known of a {result.missing}"
