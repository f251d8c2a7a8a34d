"""Names that mean the same person, read from the relationship thoughts of a space.

That two names mean one person ("my sister" is Anna) or that two people share a name ("Tom, the user's cousin"
is not Tom) is itself stored as a thought: (Anna, same as, user's sister). So each decision has a source, is
in the journal, can be undone, and ends with the thought.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from thinkback.language.names import USER, normalise_name
from thinkback.language.relations import get_relation
from thinkback.language.sentence_builder import add_aliases
from thinkback.types import SAME_AS, Entity, Thought, ThoughtDraft

_ROLE_PREFIX = "has "


@dataclass(frozen=True, slots=True)
class Aliases:
    """The names and roles of the people in a space.

    Attributes:
        clusters: Normalised name -> all names of the same person, the primary name first.
        roles: (owner, relation) -> names, for example ("user", "has sister") -> ("Anna", "Eve").
        distinct_names: Normalised names created to keep two people of the same name apart.
    """

    clusters: Mapping[str, tuple[str, ...]]
    roles: Mapping[tuple[str, str], tuple[str, ...]]
    distinct_names: frozenset[str] = frozenset()

    @classmethod
    def from_thoughts(cls, thoughts: Iterable[ThoughtDraft]) -> Aliases:
        """Build the aliases from current thoughts, given in the order in which they were learned."""
        clusters: dict[str, tuple[str, ...]] = {}
        roles: dict[tuple[str, str], tuple[str, ...]] = {}
        distinct: set[str] = set()
        for thought in thoughts:
            if thought.relation == SAME_AS and thought.negated:
                distinct.add(normalise_name(thought.subject))
            elif thought.relation == SAME_AS:
                _join_clusters(clusters, (thought.subject, *thought.objects))
            elif is_role(thought):
                key = (normalise_name(thought.subject), thought.relation)
                roles[key] = (*roles.get(key, ()), *thought.objects)
        return cls(clusters, roles, frozenset(distinct))

    def names_of(self, name: str) -> tuple[str, ...]:
        """Return all names of the person with this name, the primary name first."""
        return self.clusters.get(normalise_name(name), (name,))

    def primary_name(self, name: str) -> str:
        """Return the name under which thoughts about this person are stored."""
        return self.names_of(name)[0]

    def are_same(self, one: str, other: str) -> bool:
        """Return whether two names mean the same person."""
        key = normalise_name(other)
        return any(normalise_name(name) == key for name in self.names_of(one))

    def is_known(self, name: str) -> bool:
        """Return whether an alias decision mentions this name."""
        key = normalise_name(name)
        return key in self.clusters or key in self.distinct_names

    def merge_entities(self, entities: Sequence[Entity], decisions: Sequence[Thought]) -> list[Entity]:
        """Merge the entities of all names of a person into one, with the alias decisions about it."""
        by_name: dict[str, list[Entity]] = {}
        for entity in entities:
            by_name.setdefault(normalise_name(self.primary_name(entity.name)), []).append(entity)
        return [self._merge_entity(group, decisions) for group in by_name.values()]

    def _merge_entity(self, entities: Sequence[Entity], decisions: Sequence[Thought]) -> Entity:
        name = self.primary_name(entities[0].name)
        spellings = (*self.names_of(name), *(alias for entity in entities for alias in entity.aliases))
        keys = {normalise_name(item): item for item in reversed(spellings)}
        related = (item for item in decisions if normalise_name(item.subject) in keys)
        return Entity(
            id=entities[0].id,
            name=name,
            aliases=tuple(alias for key, alias in reversed(keys.items()) if key != normalise_name(name)),
            decisions=tuple(related),
        )

    def evidence_ids(self, names: Iterable[str], alias_thoughts: Iterable[Thought]) -> tuple[int, ...]:
        """Return the ids of the alias thoughts that give the people with these names other names."""
        aliased_names = {
            other for name in names if len(self.names_of(name)) > 1 for other in self.names_of(name)
        }
        if not aliased_names:
            return ()
        alias_decisions = (
            thought for thought in alias_thoughts if thought.relation == SAME_AS and not thought.negated
        )
        keys = set(map(normalise_name, aliased_names))
        return tuple(
            thought.id
            for thought in alias_decisions
            if thought.subject in aliased_names or normalise_name(thought.subject) in keys
        )

    def roles_of(self, name: str) -> list[tuple[str, str]]:
        """Return the (owner, relation) of every role in which exactly this name is known."""
        key = normalise_name(name)
        return [
            role
            for role, names in self.roles.items()
            if any(normalise_name(holder) == key for holder in names)
        ]


def is_role(draft: ThoughtDraft) -> bool:
    """Return whether a draft states a role such as (user, has sister, Anna)."""
    role = draft.relation.startswith(_ROLE_PREFIX) and get_relation(draft.relation).kind == "relationship"
    return role and not draft.negated


def _join_clusters(clusters: dict[str, tuple[str, ...]], names: Sequence[str]) -> None:
    """Join all clusters that these names belong to."""
    cluster: dict[str, str] = {}
    for name in names:
        for alias in clusters.get(normalise_name(name), (name,)):
            cluster.setdefault(normalise_name(alias), alias)
    for key in cluster:
        clusters[key] = tuple(cluster.values())


def with_aliases(draft: ThoughtDraft, aliases: Aliases) -> ThoughtDraft:
    """Add the other names of the subject to the sentence: "Anna (the user's sister) lives in Rome."."""
    if draft.relation == SAME_AS or draft.subject == USER:
        return draft
    others = [
        name
        for name in aliases.names_of(draft.subject)
        if normalise_name(name) != normalise_name(draft.subject)
    ]
    return replace(draft, sentence=add_aliases(draft.sentence, draft.subject, others))
