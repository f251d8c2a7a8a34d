"""Names that mean the same person, read from the relationship thoughts of a space."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from thinkback.language.names import USER, normalise_name
from thinkback.language.phrasing import add_aliases
from thinkback.language.relations import get_relation
from thinkback.types import SAME_AS, Entity, Thought, ThoughtDraft


def with_aliases(draft: ThoughtDraft, aliases: Aliases) -> ThoughtDraft:
    if draft.relation == SAME_AS or draft.subject == USER:
        return draft
    others = [
        name
        for name in aliases.names_of(draft.subject)
        if normalise_name(name) != normalise_name(draft.subject)
    ]
    return replace(draft, sentence=add_aliases(draft.sentence, draft.subject, others))


_ROLE_PREFIX = "has "


@dataclass(frozen=True, slots=True)
class Aliases:
    """`clusters`: of a name's key, all names of that one, the first known before the others.

    `roles`: (whose, relation) -> names, as in ("user", "has sister") -> Anna, Eve. `apart`: keys of names
    that were made up to tell two people of one name apart.
    """

    clusters: Mapping[str, tuple[str, ...]]
    roles: Mapping[tuple[str, str], tuple[str, ...]]
    distinct_names: frozenset[str] = frozenset()

    @classmethod
    def from_thoughts(cls, thoughts: Iterable[ThoughtDraft]) -> Aliases:
        """The circle that these current thoughts tell, in the order they were learned."""
        clusters: dict[str, tuple[str, ...]] = {}
        roles: dict[tuple[str, str], tuple[str, ...]] = {}
        apart: set[str] = set()
        for thought in thoughts:
            if thought.relation == SAME_AS and thought.negated:
                apart.add(normalise_name(thought.subject))
            elif thought.relation == SAME_AS:
                _join_clusters(clusters, (thought.subject, *thought.objects))
            elif is_role(thought):
                key = (normalise_name(thought.subject), thought.relation)
                roles[key] = (*roles.get(key, ()), *thought.objects)
        return cls(clusters, roles, frozenset(apart))

    def names_of(self, name: str) -> tuple[str, ...]:
        """Every name of the one so named; the name that thoughts are kept under stands first."""
        return self.clusters.get(normalise_name(name), (name,))

    def primary_name(self, name: str) -> str:
        """The name that thoughts about this one are kept under."""
        return self.names_of(name)[0]

    def are_same(self, one: str, other: str) -> bool:
        wanted = normalise_name(other)
        return any(normalise_name(name) == wanted for name in self.names_of(one))

    def is_known(self, name: str) -> bool:
        key = normalise_name(name)
        return key in self.clusters or key in self.distinct_names

    def merge_entities(self, known: Sequence[Entity], decisions: Sequence[Thought]) -> list[Entity]:
        """One entity for all names of one, each with the decisions behind it; `known` has one a name."""
        together: dict[str, list[Entity]] = {}
        for entity in known:
            together.setdefault(normalise_name(self.primary_name(entity.name)), []).append(entity)
        return [self._merge_entity(entities, decisions) for entities in together.values()]

    def _merge_entity(self, entities: Sequence[Entity], decisions: Sequence[Thought]) -> Entity:
        name = self.primary_name(entities[0].name)
        spelt = (*self.names_of(name), *(alias for entity in entities for alias in entity.aliases))
        keys = {normalise_name(each): each for each in reversed(spelt)}
        behind = (each for each in decisions if normalise_name(each.subject) in keys)
        return Entity(
            id=entities[0].id,
            name=name,
            aliases=tuple(alias for key, alias in reversed(keys.items()) if key != normalise_name(name)),
            decisions=tuple(behind),
        )

    def evidence_ids(self, names: Iterable[str], alias_thoughts: Iterable[Thought]) -> tuple[int, ...]:
        """The thoughts, of these, by which someone of these names has others too."""
        several = {each for name in names if len(self.names_of(name)) > 1 for each in self.names_of(name)}
        if not several:
            return ()
        joined = (
            thought for thought in alias_thoughts if thought.relation == SAME_AS and not thought.negated
        )
        keys = set(map(normalise_name, several))
        return tuple(
            each.id for each in joined if each.subject in several or normalise_name(each.subject) in keys
        )

    def roles_of(self, name: str) -> list[tuple[str, str]]:
        """(whose, relation) of every role in which that very name is known."""
        key = normalise_name(name)
        return [
            role for role, names in self.roles.items() if any(normalise_name(each) == key for each in names)
        ]


def is_role(draft: ThoughtDraft) -> bool:
    """Whether it tells who somebody is to somebody: (user, has sister, Anna)."""
    role = draft.relation.startswith(_ROLE_PREFIX) and get_relation(draft.relation).kind == "relationship"
    return role and not draft.negated


def _join_clusters(clusters: dict[str, tuple[str, ...]], names: Sequence[str]) -> None:
    """Make one cluster of all clusters these names belong to."""
    together: dict[str, str] = {}
    for name in names:
        for each in clusters.get(normalise_name(name), (name,)):
            together.setdefault(normalise_name(each), each)
    for key in together:
        clusters[key] = tuple(together.values())
