"""People, pets and places of a space as a graph: the facts about them, and phrases that lead to them.

`EntityGraph` adds the facts to the names and relationships of `EntityRegistry`, and follows phrases such as
"my sister's husband".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from thinkback.language.kinship import (
    INDEFINITE_ROLES,
)
from thinkback.language.mentions import find_chains, find_objects
from thinkback.language.names import USER
from thinkback.language.relation_chain import (
    PRONOUN,
    ChainLink,
    DescriptionLink,
    NameLink,
    RelationChain,
    RelationStep,
)
from thinkback.recall.entity_registry import EntityRegistry, ResolvedEntity, entity_key, is_identity_thought
from thinkback.types import SAME_AS, Thought

_FILLER_AROUND_NAME = re.compile(r"(?:the )?[\s.,?!。，？！的]*", re.IGNORECASE)
_ARTICLES = ("a ", "an ", "the ")
_MAX_REFERENTS = 6  # "my friends" does not refer to anyone in particular if there are more
_MAX_DESCRIBED_FACTS = 50  # a description that fits more facts is too vague


class Fact(NamedTuple):
    """The part of a thought that the graph needs."""

    id: int
    subject: str
    relation: str
    objects: tuple[str, ...]
    negated: bool = False


class Neighbour(NamedTuple):
    """An entity that is connected to another one, with the distance and the connecting thoughts."""

    name: str
    hops: int
    thought_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ChainResult:
    """The entities that a phrase leads to.

    `missing` is the first step without a result, `end` the end of the phrase in the text.
    """

    reached: tuple[ResolvedEntity, ...]
    missing: str
    end: int


class EntityGraph:
    """The current thoughts of a space as a graph. Immutable: `updated` returns a new version."""

    __slots__ = ("_by_id", "_by_object", "_by_subject", "_entities", "_identity_thoughts")

    def __init__(self) -> None:
        self._by_id: dict[int, Fact] = {}
        self._by_subject: dict[str, list[Fact]] = {}
        self._by_object: dict[str, list[Fact]] = {}
        self._identity_thoughts: dict[int, Thought] = {}
        self._entities = EntityRegistry()

    @classmethod
    def from_thoughts(cls, thoughts: Iterable[Thought]) -> Self:
        """The graph of these thoughts; retired ones are ignored."""
        graph = cls()
        graph._add(thoughts)
        graph._rebuild_entities()
        return graph

    def updated(self, added: Iterable[Thought], removed: Iterable[int]) -> Self:
        """The graph after adding thoughts and removing ids; this one does not change."""
        graph = type(self)()
        graph._by_id, graph._identity_thoughts = dict(self._by_id), dict(self._identity_thoughts)
        graph._by_subject, graph._by_object = dict(self._by_subject), dict(self._by_object)
        graph._drop(removed)
        new = [thought for thought in added if thought.id not in graph._by_id]
        for thought in new:  # the lists of the older graph must not change
            _copy_list(graph._by_subject, thought.subject)
            for name in thought.objects:
                _copy_list(graph._by_object, _strip_article(name))
        graph._add(new)
        if (
            graph._identity_thoughts == self._identity_thoughts
            and graph._by_subject.keys() == self._by_subject.keys()
        ):
            graph._entities = self._entities
        else:
            graph._rebuild_entities()
        return graph

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, id_: int) -> bool:
        """Whether the thought is a fact; identity decisions ("same as") are not."""
        return id_ in self._by_id

    def is_name(self, words: str) -> bool:
        """Whether these (case-folded) words are a known name; "user" is not."""
        return words in self._entities.keys_by_name and words != USER

    def resolve_phrase(self, phrase: str) -> tuple[str, ...]:
        """All names of the entity that a phrase refers to ("my sister's husband", 我妹妹), or nothing."""
        for chain in find_chains(phrase, self.is_name):
            result = self.follow_chain(chain)
            around = phrase[: chain.start] + phrase[result.end :]
            if result.reached and not result.missing and _FILLER_AROUND_NAME.fullmatch(around):
                return tuple(
                    dict.fromkeys(name for entity in result.reached for name in self.names_of(entity.key))
                )
        return ()

    def subject_names(self, key: str) -> tuple[str, ...]:
        """The subjects of the thoughts about an entity; if there are none, one of its names."""
        return tuple(self._entities.subjects_by_key.get(key, ())) or self._entities.names(key)[:1]

    def display_name(self, key: str) -> str:
        """A name to show."""
        return self._entities.display_name(key)

    def thought_ids_about(self, key: str) -> tuple[int, ...]:
        """The thoughts about an entity."""
        return tuple(fact.id for fact in self._facts_of(key))

    def names_of(self, key: str) -> tuple[str, ...]:
        """All names of an entity."""
        return self._entities.names(key)

    def facts_about(self, name: str) -> tuple[Fact, ...]:
        """The facts about the entity with this name; nothing if several entities share it."""
        keys = self._entities.keys_by_name.get(entity_key(name), ())
        return tuple(self._facts_of(keys[0])) if len(keys) == 1 else ()

    def neighbours(self, name: str, hops: int = 1) -> tuple[Neighbour, ...]:
        """The entities connected to the one with this name, nearest first.

        Paths never lead through the user, who is connected to everybody.
        """
        keys = self._entities.keys_by_name.get(entity_key(name), ())
        if len(keys) != 1:
            return ()
        found: dict[str, Neighbour] = {keys[0]: Neighbour(name, 0, ())}
        frontier = [keys[0]]
        for hop in range(1, hops + 1):
            next_frontier: list[str] = []
            for key in frontier:
                for other, id_ in self._adjacent_keys(key) if hop == 1 or key != USER else ():
                    if other not in found:
                        path = (*found[key].thought_ids, id_)
                        found[other] = Neighbour(self._entities.display_name(other), hop, path)
                        next_frontier.append(other)
            frontier = next_frontier
        return tuple(found.values())[1:]

    def follow_chain(self, chain: RelationChain, before: Sequence[ResolvedEntity] = ()) -> ChainResult:
        """Find the entities that a phrase refers to; a pronoun refers to the entities in `before`."""
        reached = self._chain_heads(chain.head, before)
        # several people share the name: undecided unless a description tells them apart
        ambiguous = len(reached) > 1 and chain.head != PRONOUN
        end = chain.end
        for position, link in enumerate(chain.links):
            if isinstance(link, DescriptionLink):
                fitting, length = self._filter_by_clause(
                    link.clause, reached if chain.head or position else None
                )
                if fitting:
                    reached, ambiguous, end = fitting, False, max(end, link.start + length)
                elif len(reached) != 1 or _is_indefinite(chain.links[position - 1 : position]):
                    return ChainResult((), "", end)
            elif ambiguous:
                return ChainResult((), "", end)
            elif isinstance(link, NameLink):
                reached = self._filter_by_name(link.name, reached)
            else:
                following = {
                    other.key: other for entity in reached for other in self._follow_step(entity, link)
                }
                followed_by_name = isinstance((*chain.links, None)[position + 1], NameLink)
                if not following and not followed_by_name:
                    return ChainResult(
                        _limit_referents(entity for entity in reached if entity.key != USER), link.word, end
                    )
                reached = list(following.values())
        return ChainResult(() if ambiguous else _limit_referents(reached), "", end)

    def _chain_heads(self, head: str, before: Sequence[ResolvedEntity]) -> Sequence[ResolvedEntity]:
        if head == PRONOUN:
            return before
        return [
            ResolvedEntity(key)
            for key in ((USER,) if head == USER else self._entities.keys_by_name.get(head, ()))
        ]

    def _filter_by_name(self, name: str, reached: Sequence[ResolvedEntity]) -> Sequence[ResolvedEntity]:
        """Those of the entities with this name; if there are none, the only entity with it."""
        keys = self._entities.keys_by_name.get(name, ())
        named = [entity for entity in reached if entity.key in keys]
        return named or [ResolvedEntity(key) for key in keys if len(keys) == 1]

    def _filter_by_clause(
        self, clause: str, reached: Sequence[ResolvedEntity] | None
    ) -> tuple[Sequence[ResolvedEntity], int]:
        """The entities that fit a description, and how much of the clause describes them.

        If `reached` is None, all entities except the user are considered.
        """
        facts, length = self._facts_matching(clause)
        by_key = {self._entities.canonical_key(entity_key(fact.subject)): fact.id for fact in facts}
        entities = [ResolvedEntity(key) for key in by_key if key != USER] if reached is None else reached
        fitting = (entity for entity in entities if entity.key in by_key)
        return [
            ResolvedEntity(entity.key, (*entity.path, (entity.key, by_key[entity.key]))) for entity in fitting
        ], length

    def _follow_step(self, entity: ResolvedEntity, step: RelationStep) -> Iterator[ResolvedEntity]:
        if step.role:
            relatives = self._entities.relatives(entity.key, step.role, step.specific_role)
            for other in relatives:
                if other.key != USER:  # a query refers to the user as "me", not as "Anna's brother"
                    yield ResolvedEntity(other.key, entity.path + other.path) if entity.path else other
            return
        for relation in step.relations:
            facts = [
                fact for fact in self._facts_of(entity.key) if fact.relation == relation and not fact.negated
            ]
            for fact in facts:
                for name in fact.objects:
                    yield ResolvedEntity(
                        self._entities.canonical_key(entity_key(name)), (*entity.path, (name, fact.id))
                    )
            if facts:
                return

    def _facts_matching(self, clause: str) -> tuple[list[Fact], int]:
        """The facts that a description may refer to, and how much of the clause describes them."""
        for words, matches_relation, length in find_objects(clause, self._by_object.__contains__):
            facts = self._by_object[words]
            relations = {
                relation for relation in {fact.relation for fact in facts} if matches_relation(relation)
            }
            found = [fact for fact in facts if fact.relation in relations]
            if found:
                return (found, length) if len(found) <= _MAX_DESCRIBED_FACTS else ([], 0)
        return [], 0

    def _facts_of(self, key: str) -> Iterator[Fact]:
        for subject in self._entities.subjects_by_key.get(key, ()):
            yield from self._by_subject[subject]

    def _adjacent_keys(self, key: str) -> Iterator[tuple[str, int]]:
        """The connected entities, each with the id of the connecting thought."""
        yield from self._entities.related_keys(key)
        for fact in self._facts_of(key):
            for name in fact.objects:
                keys = self._entities.keys_by_name.get(name.casefold(), ())
                yield from ((other, fact.id) for other in keys if len(keys) == 1)
        for name in self._entities.names(key):
            for fact in self._by_object.get(_strip_article(name), ()):
                yield self._entities.canonical_key(entity_key(fact.subject)), fact.id

    def _add(self, thoughts: Iterable[Thought]) -> None:
        by_id, by_subject, by_object = self._by_id, self._by_subject, self._by_object
        for thought in thoughts:
            if thought.retired_at is not None:
                continue
            if is_identity_thought(thought):
                self._identity_thoughts[thought.id] = thought
            if thought.relation == SAME_AS:  # not a fact
                continue
            fact = Fact(thought.id, thought.subject, thought.relation, thought.objects, thought.negated)
            by_id[fact.id] = fact
            by_subject.setdefault(fact.subject, []).append(fact)
            if not fact.negated:
                for name in fact.objects:
                    by_object.setdefault(_strip_article(name), []).append(fact)

    def _drop(self, ids: Iterable[int]) -> None:
        for id_ in ids:
            self._identity_thoughts.pop(id_, None)
            fact = self._by_id.pop(id_, None)
            if fact is None:
                continue
            _remove_fact(self._by_subject, fact.subject, fact)
            for name in () if fact.negated else dict.fromkeys(map(_strip_article, fact.objects)):
                _remove_fact(self._by_object, name, fact)

    def _rebuild_entities(self) -> None:
        first = {subject: facts[0].id for subject, facts in self._by_subject.items()}
        self._entities = EntityRegistry.build(first, self._identity_thoughts.values())


def _is_indefinite(links: Sequence[ChainLink]) -> bool:
    """Whether the entity is one of many: "the friend who lives in Oslo" may be an unknown one."""
    return any(isinstance(link, RelationStep) and link.role in INDEFINITE_ROLES for link in links)


def _strip_article(name: str) -> str:
    """The lookup form of an object: "a vegetarian" -> "vegetarian"."""
    folded = name.casefold()
    return folded.partition(" ")[2] if folded.startswith(_ARTICLES) else folded


def _limit_referents(reached: Iterable[ResolvedEntity]) -> tuple[ResolvedEntity, ...]:
    entities = tuple(reached)
    return entities if len(entities) <= _MAX_REFERENTS else ()


def _copy_list(index: dict[str, list[Fact]], key: str) -> None:
    if key in index:
        index[key] = list(index[key])


def _remove_fact(index: dict[str, list[Fact]], key: str, fact: Fact) -> None:
    remaining = [other for other in index[key] if other.id != fact.id]
    if remaining:
        index[key] = remaining
    else:
        del index[key]
