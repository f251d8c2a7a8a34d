"""Names that mean the same person, read from the relationship thoughts of a space.

Two names are joined only because somebody said so: "my sister Anna" (a role that exactly one person holds),
"Robert goes by Bob", or an explicit "same as". Similar names (Ana, Anna) stay two people. Each join follows
from a current thought, so it has a source, is in the journal, and ends when the thought is retired or undone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from thinkback.language.names import USER, normalise_name
from thinkback.language.relations import get_relation
from thinkback.think.word_lists import word_lists
from thinkback.types import Entity, Thought, ThoughtDraft

_ROLE_PREFIX = "has "
_OWNED_ROLE = re.compile(r"(?P<owner>.+?)(?:'s |的)(?P<role>[^\d,，;；]{1,40})")
_MAX_ROLE_WORDS = 4


class _Link(NamedTuple):
    """A thought that joins two names."""

    thought: int
    names: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Aliases:
    """The names of the people and things in a space.

    Attributes:
        clusters: Normalised name -> all names of the same one, the primary name first.
        links: The thoughts that joined them.
    """

    clusters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    links: tuple[_Link, ...] = ()

    @classmethod
    def from_thoughts(cls, thoughts: Iterable[Thought]) -> Aliases:
        """Build the aliases from current thoughts, given in the order in which they were learned."""
        words = word_lists()
        links: list[_Link] = []
        holders: dict[str, list[tuple[str, str, int]]] = {}  # role -> (holder, role as said, thought)
        for thought in thoughts:
            if thought.negated:
                continue
            if thought.relation in words.naming_relations and normalise_name(thought.subject) != USER:
                links += (_Link(thought.id, (thought.subject, other)) for other in thought.objects)
            for holder, role in _roles(thought):
                holders.setdefault(normalise_name(role), []).append((holder, role, thought.id))
        for found in holders.values():
            if (
                len({normalise_name(holder) for holder, _, _ in found}) == 1
            ):  # two sisters: "my sister" is neither
                links += (_Link(id_, (holder, role)) for holder, role, id_ in found)
        clusters: dict[str, tuple[str, ...]] = {}
        for link in links:
            _join_clusters(clusters, link.names)
        return cls(clusters, tuple(links))

    def names_of(self, name: str) -> tuple[str, ...]:
        """All names of the one with this name, the primary name first."""
        return self.clusters.get(normalise_name(name), (name,))

    def primary_name(self, name: str) -> str:
        """The name under which thoughts about this one are stored."""
        return self.names_of(name)[0]

    def are_same(self, one: str, other: str) -> bool:
        """Whether two names mean the same one."""
        key = normalise_name(other)
        return any(normalise_name(name) == key for name in self.names_of(one))

    def merge_entities(self, entities: Sequence[Entity], thoughts: Sequence[Thought]) -> list[Entity]:
        """Merge the entities of all names of one person, with the thoughts that joined the names."""
        by_name: dict[str, list[Entity]] = {}
        for entity in entities:
            by_name.setdefault(normalise_name(self.primary_name(entity.name)), []).append(entity)
        return [self._merge_entity(group, thoughts) for group in by_name.values()]

    def _merge_entity(self, entities: Sequence[Entity], thoughts: Sequence[Thought]) -> Entity:
        name = self.primary_name(entities[0].name)
        spellings = (*self.names_of(name), *(alias for entity in entities for alias in entity.aliases))
        keys = {normalise_name(item): item for item in reversed(spellings)}
        deciding = self.linking_ids([name])
        return Entity(
            id=entities[0].id,
            name=name,
            aliases=tuple(alias for key, alias in reversed(keys.items()) if key != normalise_name(name)),
            decisions=tuple(thought for thought in thoughts if thought.id in deciding),
        )

    def linking_ids(self, names: Iterable[str]) -> tuple[int, ...]:
        """The thoughts that give the ones with these names other names."""
        keys = {normalise_name(alias) for name in names for alias in self.names_of(name)}
        joined = (link.thought for link in self.links if normalise_name(link.names[0]) in keys)
        return tuple(sorted(set(joined)))


def _roles(draft: ThoughtDraft) -> Iterator[tuple[str, str]]:
    """The roles that a thought states, as (holder, role): (Anna, "user's sister")."""
    if draft.relation.startswith(_ROLE_PREFIX) and get_relation(draft.relation).kind == "relationship":
        role = draft.relation.removeprefix(_ROLE_PREFIX)
        for holder in draft.objects:
            yield holder, f"{draft.subject}'s {role}"
    elif draft.relation in word_lists().identity_relations and normalise_name(draft.subject) != USER:
        for value in draft.objects:
            found = _OWNED_ROLE.fullmatch(value.strip())
            if found and len(found["role"].split()) <= _MAX_ROLE_WORDS:
                yield draft.subject, value


def _join_clusters(clusters: dict[str, tuple[str, ...]], names: Sequence[str]) -> None:
    """Join all clusters that these names belong to."""
    cluster: dict[str, str] = {}
    for name in names:
        for alias in clusters.get(normalise_name(name), (name,)):
            cluster.setdefault(normalise_name(alias), alias)
    for key in cluster:
        clusters[key] = tuple(cluster.values())
