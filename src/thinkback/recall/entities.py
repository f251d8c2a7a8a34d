"""People, pets and places of a space: their names, their relationships, and the facts about them.

`EntityRegistry` knows who is who, from the thoughts about names and relationships: (Anna, same as, user's
sister) joins two names, its negation keeps two people of one name apart, (user, has sister, Anna) is a
relationship. `EntityGraph` adds the facts and follows phrases such as "my sister's husband".

An entity is identified by a key: the normalised form of its first name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Self

from thinkback.language.kinship import (
    INDEFINITE_ROLES,
    ROLES_EN,
    ROLES_ZH,
    base_role,
    incompatible_roles,
    inverse_roles,
    parse_role,
    role_compositions,
    role_tiers,
    specific_role_zh,
)
from thinkback.language.mentions import find_chains, find_objects
from thinkback.language.names import USER, normalise_name
from thinkback.language.relation_chain import (
    PRONOUN,
    ChainLink,
    DescriptionLink,
    NameLink,
    RelationChain,
    RelationStep,
)
from thinkback.types import SAME_AS, Thought

_HAS_PREFIX = "has "
NAME_RELATIONS = frozenset(("is named", "goes by", "english name"))
_PLAIN_NAME = re.compile(r"(?!(?:the|an?|my|users?|i|me|mine|myself)\b)[a-z0-9]+(?: [a-z0-9]+)*")
_QUALIFIED_NAME = re.compile(r"(.+) \((.+)\)\Z")
_ROLE_ZH = re.compile("的([\u4e00-\u9fff]{1,3}?)(?:是|叫)")
_MAX_COMPOSITION_DEPTH = 2  # nested compositions: a cousin is the child of a parent's sibling
_FILLER_AROUND_NAME = re.compile(r"(?:the )?[\s.,?!。，？！的]*", re.IGNORECASE)
_ARTICLES = ("a ", "an ", "the ")
_MAX_REFERENTS = 6  # "my friends" does not refer to anyone in particular if there are more
_MAX_DESCRIBED_FACTS = 50  # a description that fits more facts is too vague


class Relationship(NamedTuple):
    """`target` is the `kin` ("sister") of `owner`; both are keys.

    `person` is more precise than `kin` ("older sister"), if known.
    """

    owner: str
    kin: str
    person: str
    target: str
    thought_id: int


class ResolvedEntity(NamedTuple):
    """An entity that a phrase leads to, and the path to it: pairs of a key or name and a thought id."""

    key: str
    path: tuple[tuple[str, int], ...] = ()


class _Role(NamedTuple):
    owner: str
    kin: str
    person: str


def entity_key(name: str) -> str:
    """`normalise_name`, with a fast path for plain names."""
    folded = name.casefold()
    return folded if _PLAIN_NAME.fullmatch(folded) else normalise_name(name)


def is_identity_thought(thought: Thought) -> bool:
    """Whether a thought is about names or relationships; only these are read by `EntityRegistry`."""
    relation = thought.relation
    if relation.startswith(_HAS_PREFIX):
        return not thought.negated and bool(parse_role(relation[len(_HAS_PREFIX) :])[0])
    return relation == SAME_AS or (
        relation in NAME_RELATIONS and not thought.negated and entity_key(thought.subject) == USER
    )


@dataclass(slots=True, eq=False)
class EntityRegistry:
    """Who is who. All keys are canonical.

    `keys_by_name` has several keys for a name that several people share.
    """

    keys_by_name: dict[str, list[str]] = field(default_factory=dict)
    subjects_by_key: dict[str, list[str]] = field(default_factory=dict)  # as thoughts spell them
    _clusters: dict[str, dict[str, str]] = field(default_factory=dict)
    # for a name that several people share: the keys of those told apart, such as "tom (user's friend)"
    _qualified_keys: dict[str, list[str]] = field(default_factory=dict)
    _roles: dict[str, _Role] = field(default_factory=dict)  # of qualified keys
    _spellings: dict[str, list[str]] = field(default_factory=dict)
    _outgoing: dict[str, list[Relationship]] = field(default_factory=dict)
    _incoming: dict[str, list[Relationship]] = field(default_factory=dict)

    @classmethod
    def build(cls, subjects: Mapping[str, int], identity_thoughts: Iterable[Thought]) -> EntityRegistry:
        """From the subjects (each with its first thought) and the identity thoughts of a space."""
        registry = cls()
        thoughts = list(identity_thoughts)
        for thought in thoughts:
            if thought.relation == SAME_AS:
                registry._apply_identity(thought)
        for name in subjects:
            key = registry.canonical_key(entity_key(name))
            registry.subjects_by_key.setdefault(key, []).append(name)
        relationships = registry._collect_relationships(subjects, thoughts)
        for relationship in relationships:
            registry._outgoing.setdefault(relationship.owner, []).append(relationship)
            registry._incoming.setdefault(relationship.target, []).append(relationship)
        registry._index_names(thoughts)
        return registry

    def canonical_key(self, key: str) -> str:
        """The key of the cluster of names that a key belongs to."""
        cluster = self._clusters.get(key)
        return next(iter(cluster)) if cluster else key

    def names(self, key: str) -> tuple[str, ...]:
        """All names of an entity: proper names first, then roles ("user's mom")."""
        cluster = self._clusters.get(key, {})
        proper = (name for other, name in cluster.items() if _parse_role(other) is None)
        names = (*proper, *self._spellings.get(key, ()), *self.subjects_by_key.get(key, ()))
        return tuple(dict.fromkeys(sorted(names, key=lambda name: "'s " in name or name.startswith("用户"))))

    def display_name(self, key: str) -> str:
        """A name to show, or the key if there is none."""
        return next(iter((*self._spellings.get(key, ())[:1], *self.subjects_by_key.get(key, ())[:1])), key)

    def related_keys(self, key: str) -> Iterator[tuple[str, int]]:
        """The entities with a relationship to this one in either direction, each with its thought id."""
        yield from (
            (relationship.target, relationship.thought_id) for relationship in self._outgoing.get(key, ())
        )
        yield from (
            (relationship.owner, relationship.thought_id) for relationship in self._incoming.get(key, ())
        )

    def relatives(
        self, owner: str, kin: str, person: str = "", depth: int = _MAX_COMPOSITION_DEPTH
    ) -> list[ResolvedEntity]:
        """Everyone with this role for the owner, as stated or else as implied, possibly the user."""
        direct = self._stated_relatives(owner, kin, person) or self._inverse_relatives(owner, kin)
        entities = {key: ResolvedEntity(key, ((key, id_),)) for key, id_ in direct.items()}
        if not depth or any(key != USER for key in direct):
            return list(entities.values())
        for first, second in role_compositions(person, kin):
            for middle in self.relatives(owner, base_role(first), _specific_person(first), depth - 1):
                for last in self.relatives(
                    middle.key, base_role(second), _specific_person(second), depth - 1
                ):
                    if last.key != owner:
                        entities.setdefault(last.key, ResolvedEntity(last.key, middle.path + last.path))
        return list(entities.values())

    def _stated_relatives(self, owner: str, kin: str, person: str) -> dict[str, int]:
        relationships = self._outgoing.get(owner, ())
        for tier in role_tiers(kin):
            fitting = [
                relationship
                for relationship in relationships
                if relationship.kin in tier and not self._is_excluded(relationship.target, kin)
            ]
            if fitting:
                exact = [relationship for relationship in fitting if person and relationship.person == person]
                # those whose role is known more precisely
                specified = {relationship.target for relationship in fitting if relationship.person}
                chosen = exact or [
                    relationship
                    for relationship in fitting
                    if not person or relationship.target not in specified
                ]
                return {relationship.target: relationship.thought_id for relationship in chosen}
        return {}

    def _inverse_relatives(self, owner: str, kin: str) -> dict[str, int]:
        roles = {role for tier in role_tiers(kin) for role in tier}
        relationships = self._incoming.get(owner, ())
        fitting = (
            relationship
            for relationship in relationships
            if roles & set(inverse_roles(relationship.kin)) and not self._is_excluded(relationship.owner, kin)
        )
        return {relationship.owner: relationship.thought_id for relationship in fitting}

    def _is_excluded(self, key: str, kin: str) -> bool:
        """Whether somebody cannot have this role: a wife is nobody's brother."""
        incompatible = incompatible_roles(kin)
        return bool(incompatible) and any(
            relationship.kin in incompatible for relationship in self._incoming.get(key, ())
        )

    def _apply_identity(self, thought: Thought) -> None:
        """Join the names of one entity, or tell two entities of one name apart."""
        if thought.negated:
            qualified = _QUALIFIED_NAME.match(thought.subject)
            role = _parse_role(normalise_name(qualified[2])) if qualified else None
            if qualified and role:
                key = entity_key(thought.subject)
                self._qualified_keys.setdefault(entity_key(qualified[1]), []).append(key)
                self._roles[key] = role
            return
        cluster: dict[str, str] = {}
        for name in (thought.subject, *thought.objects):
            key = entity_key(name)
            for other, spelling in self._clusters.get(key, {key: name}).items():
                cluster.setdefault(other, spelling)
        for key in cluster:
            self._clusters[key] = cluster

    def _collect_relationships(
        self, subjects: Mapping[str, int], thoughts: list[Thought]
    ) -> list[Relationship]:
        """One relationship for each (owner, kin, target), with the thought that states it best."""
        relationships: dict[tuple[str, str, str], Relationship] = {}
        for thought in thoughts:
            if thought.relation.startswith(_HAS_PREFIX):
                for relationship in self._stated_relationships(thought):
                    relationships.setdefault(
                        (relationship.owner, relationship.kin, relationship.target), relationship
                    )
        roles = {entity_key(name): id_ for name, id_ in subjects.items() if "'" in name or "的" in name}
        for thought in thoughts:
            if thought.relation == SAME_AS:
                for name in (thought.subject, *thought.objects):
                    roles.setdefault(entity_key(name), thought.id)
        for key, id_ in roles.items():
            role = self._roles.get(key) or _parse_role(key)
            if role is not None:
                triple = (self.canonical_key(role.owner), role.kin, self.canonical_key(key))
                relationship = relationships.get(triple) or Relationship(
                    triple[0], triple[1], "", triple[2], id_
                )
                relationships[triple] = relationship._replace(person=role.person or relationship.person)
        return [
            relationship
            for relationship in relationships.values()
            if relationship.owner != relationship.target
        ]

    def _stated_relationships(self, thought: Thought) -> Iterator[Relationship]:
        """The relationships in a thought such as (user, has friend, (Tom, Eve)).

        If there are two people called Tom, the one who is known as that friend is meant.
        """
        owner = self.canonical_key(entity_key(thought.subject))
        kin, stated_person = parse_role(thought.relation[len(_HAS_PREFIX) :])
        role_word = _ROLE_ZH.search(thought.sentence)
        person = (
            specific_role_zh(role_word[1])
            if role_word and ROLES_ZH.get(role_word[1]) == kin
            else stated_person
        )
        for name in thought.objects:
            key = entity_key(name)
            qualified = (
                other for other in self._qualified_keys.get(key, ()) if self._is_role(other, owner, kin)
            )
            target = self.canonical_key(next(qualified, key))
            if target != USER:
                self._spellings.setdefault(target, []).append(name)
                yield Relationship(owner, kin, person, target, thought.id)

    def _is_role(self, key: str, owner: str, kin: str) -> bool:
        role = self._roles[key]
        return role.kin == kin and self.canonical_key(role.owner) == owner

    def _index_names(self, thoughts: list[Thought]) -> None:
        """Fill `keys_by_name`: all names of all entities, and first names of people with a relationship."""
        for key in self.subjects_by_key:
            self._add_name(key, key)
        for key in self._clusters:
            self._add_name(key, self.canonical_key(key))
        for target, names in self._spellings.items():
            for name in names:
                self._add_name(entity_key(name), target)
        for thought in thoughts:
            if thought.relation in NAME_RELATIONS:
                for name in thought.objects:
                    self._add_name(entity_key(name), USER)
        for target, names in self._spellings.items():
            for name in names:
                first, _, rest = entity_key(name).partition(" ")
                if rest and "(" not in name and "." not in first and ROLES_EN.get(first) is None:
                    self._add_name(first, target)

    def _add_name(self, name: str, key: str) -> None:
        keys = self.keys_by_name.setdefault(name, [])
        if key not in keys:
            keys.append(key)


def _specific_person(person: str) -> str:
    return person if " " in person else ""


def _parse_role(key: str) -> _Role | None:
    """The role in a key, if it is one.

    "user's older sister" has the owner "user", the kin "sister" and the person "older sister".
    """
    owner, mark, words = key.rpartition("'s ")
    if not mark:
        owner, mark, words = key.rpartition("的")
    if not mark or not owner:
        return None
    kin, person = parse_role(words)
    return _Role(normalise_name(owner), kin, person) if kin else None


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
