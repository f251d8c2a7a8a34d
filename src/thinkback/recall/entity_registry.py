"""Who is who in a space: names that mean the same one, and relationships, from the thoughts about them.

(Anna, same as, user's sister) joins two names, its negation keeps two people of one name apart, and (user,
has sister, Anna) is a relationship. An entity is identified by a key: the normalised form of its first name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from thinkback.language.kinship import (
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
from thinkback.language.names import USER, normalise_name
from thinkback.types import SAME_AS, Thought

_HAS_PREFIX = "has "
NAME_RELATIONS = frozenset(("is named", "goes by", "english name"))
_PLAIN_NAME = re.compile(r"(?!(?:the|an?|my|users?|i|me|mine|myself)\b)[a-z0-9]+(?: [a-z0-9]+)*")
_QUALIFIED_NAME = re.compile(r"(.+) \((.+)\)\Z")
_ROLE_ZH = re.compile("的([\u4e00-\u9fff]{1,3}?)(?:是|叫)")
_MAX_COMPOSITION_DEPTH = 2  # nested compositions: a cousin is the child of a parent's sibling


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
