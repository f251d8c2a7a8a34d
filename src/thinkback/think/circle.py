"""Circle: who is who in a space, read from its relationship thoughts (TiM 001, entity resolution).

That two names mean one ("my sister" is Anna, Anna is 安娜), or that two people share one ("Tom, the user's
cousin" is not Tom), is itself a thought: (Anna, same as, user's sister). So every such decision has its
source, stands in the journal, can be undone, and holds no longer than the thought does.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from thinkback.text.people.names import normalise
from thinkback.think.relations import relation_of
from thinkback.types import SAME, Draft, Entity, Thought

_HAS = "has "


@dataclass(frozen=True, slots=True)
class Circle:
    """`clusters`: of a name's key, all names of that one, the first known before the others.

    `roles`: (whose, relation) -> names, as in ("user", "has sister") -> Anna, Eve. `apart`: keys of names
    that were made up to tell two people of one name apart.
    """

    clusters: Mapping[str, tuple[str, ...]]
    roles: Mapping[tuple[str, str], tuple[str, ...]]
    apart: frozenset[str] = frozenset()

    @classmethod
    def of(cls, thoughts: Iterable[Draft]) -> Circle:
        """The circle that these current thoughts tell, in the order they were learned."""
        clusters: dict[str, tuple[str, ...]] = {}
        roles: dict[tuple[str, str], tuple[str, ...]] = {}
        apart: set[str] = set()
        for thought in thoughts:
            if thought.relation == SAME and thought.negated:
                apart.add(normalise(thought.subject))
            elif thought.relation == SAME:
                _join(clusters, (thought.subject, *thought.objects))
            elif is_role(thought):
                key = (normalise(thought.subject), thought.relation)
                roles[key] = (*roles.get(key, ()), *thought.objects)
        return cls(clusters, roles, frozenset(apart))

    def names(self, name: str) -> tuple[str, ...]:
        """Every name of the one so named; the name that thoughts are kept under stands first."""
        return self.clusters.get(normalise(name), (name,))

    def name(self, name: str) -> str:
        """The name that thoughts about this one are kept under."""
        return self.names(name)[0]

    def same(self, one: str, other: str) -> bool:
        wanted = normalise(other)
        return any(normalise(name) == wanted for name in self.names(one))

    def knows(self, name: str) -> bool:
        key = normalise(name)
        return key in self.clusters or key in self.apart

    def entities(self, known: Sequence[Entity], decisions: Sequence[Thought]) -> list[Entity]:
        """One entity for all names of one, each with the decisions behind it; `known` has one a name."""
        together: dict[str, list[Entity]] = {}
        for entity in known:
            together.setdefault(normalise(self.name(entity.name)), []).append(entity)
        return [self._entity(entities, decisions) for entities in together.values()]

    def _entity(self, entities: Sequence[Entity], decisions: Sequence[Thought]) -> Entity:
        name = self.name(entities[0].name)
        spelt = (*self.names(name), *(alias for entity in entities for alias in entity.aliases))
        keys = {normalise(each): each for each in reversed(spelt)}
        behind = (each for each in decisions if normalise(each.subject) in keys)
        return Entity(
            id=entities[0].id,
            name=name,
            aliases=tuple(alias for key, alias in reversed(keys.items()) if key != normalise(name)),
            decisions=tuple(behind),
        )

    def behind(self, names: Iterable[str], told: Iterable[Thought]) -> tuple[int, ...]:
        """The thoughts, of these, by which someone of these names has others too."""
        several = {each for name in names if len(self.names(name)) > 1 for each in self.names(name)}
        if not several:
            return ()
        joined = (thought for thought in told if thought.relation == SAME and not thought.negated)
        keys = set(map(normalise, several))
        return tuple(each.id for each in joined if each.subject in several or normalise(each.subject) in keys)

    def roles_of(self, name: str) -> list[tuple[str, str]]:
        """(whose, relation) of every role in which that very name is known."""
        key = normalise(name)
        return [role for role, names in self.roles.items() if any(normalise(each) == key for each in names)]


def is_role(draft: Draft) -> bool:
    """Whether it tells who somebody is to somebody: (user, has sister, Anna)."""
    role = draft.relation.startswith(_HAS) and relation_of(draft.relation).kind == "relationship"
    return role and not draft.negated


def _join(clusters: dict[str, tuple[str, ...]], names: Sequence[str]) -> None:
    """Make one cluster of all clusters these names belong to."""
    together: dict[str, str] = {}
    for name in names:
        for each in clusters.get(normalise(name), (name,)):
            together.setdefault(normalise(each), each)
    for key in together:
        clusters[key] = tuple(together.values())
