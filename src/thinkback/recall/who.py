"""Who: the people, pets and places a space knows, the names of each, and who is what to whom.

Read from current thoughts alone: (Anna, same as, user's sister) joins two names, denied it keeps two people
of one name apart, (user, has sister, Anna) is a tie. Subjects such as "user's mom" are ties by their name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from thinkback.text.people.kinship import (
    ROLES,
    ROLES_ZH,
    back,
    composed,
    kin_of,
    never_held,
    person_of,
    tiers,
    told_role,
)
from thinkback.text.people.names import USER, normalise
from thinkback.types import SAME, Thought

_HAS = "has "
_NAMING = frozenset(("is named", "goes by", "english name"))
_PLAIN = re.compile(r"(?!(?:the|an?|my|users?|i|me|mine|myself)\b)[a-z0-9]+(?: [a-z0-9]+)*")
_APART = re.compile(r"(.+) \((.+)\)\Z")
_SAID_ZH = re.compile("的([\u4e00-\u9fff]{1,3}?)(?:是|叫)")
_DEEPEST = 2  # compositions within one another: a cousin is the child of a parent's sibling


class Tie(NamedTuple):
    """`target` is `kin` to `owner`, more closely `person`, as that thought tells; both are keys."""

    owner: str
    kin: str
    person: str
    target: str
    id: int


class Reached(NamedTuple):
    """Somebody a phrase leads to, and the way there: (key or name, id of the thought that led to it)."""

    key: str
    path: tuple[tuple[str, int], ...] = ()


class _Role(NamedTuple):
    owner: str
    kin: str
    person: str


def key_of(name: str) -> str:
    """`normalise`, without its price for the plain names that nearly all are."""
    folded = name.casefold()
    return folded if _PLAIN.fullmatch(folded) else normalise(name)


def ties_people(thought: Thought) -> bool:
    """Whether a thought tells who is who: the only ones that `Who` reads."""
    relation = thought.relation
    if relation.startswith(_HAS):
        return not thought.negated and bool(told_role(relation[len(_HAS) :])[0])
    return relation == SAME or (
        relation in _NAMING and not thought.negated and key_of(thought.subject) == USER
    )


@dataclass(slots=True, eq=False)
class Who:
    """All keys are keys of the first name of a cluster; `bearers` of a name are all who go by it."""

    bearers: dict[str, list[str]] = field(default_factory=dict)
    subjects: dict[str, list[str]] = field(default_factory=dict)  # key -> subjects as thoughts spell them
    _clusters: dict[str, dict[str, str]] = field(default_factory=dict)
    _apart: dict[str, list[str]] = field(default_factory=dict)  # a name of several -> keys of those set apart
    _roles: dict[str, _Role] = field(default_factory=dict)  # what those set apart are
    _spelt: dict[str, list[str]] = field(default_factory=dict)
    _from: dict[str, list[Tie]] = field(default_factory=dict)
    _to: dict[str, list[Tie]] = field(default_factory=dict)

    @classmethod
    def of(cls, subjects: Mapping[str, int], telling: Iterable[Thought]) -> Who:
        """`subjects`: each with the first thought about it; `telling`: the thoughts that tell who is who."""
        who = cls()
        told = list(telling)
        for thought in told:
            if thought.relation == SAME:
                who._decide(thought)
        for name in subjects:
            key = who.root(key_of(name))
            who.subjects.setdefault(key, []).append(name)
        ties = who._ties(subjects, told)
        for tie in ties:
            who._from.setdefault(tie.owner, []).append(tie)
            who._to.setdefault(tie.target, []).append(tie)
        who._name(told)
        return who

    def root(self, key: str) -> str:
        cluster = self._clusters.get(key)
        return next(iter(cluster)) if cluster else key

    def names(self, key: str) -> tuple[str, ...]:
        """Names first, then the roles that thoughts are kept under ("user's mom")."""
        cluster = self._clusters.get(key, {})
        proper = (name for each, name in cluster.items() if _role(each) is None)
        every = (*proper, *self._spelt.get(key, ()), *self.subjects.get(key, ()))
        return tuple(dict.fromkeys(sorted(every, key=lambda name: "'s " in name or name.startswith("用户"))))

    def label(self, key: str) -> str:
        """One of the names, to show; `key` itself of what has none."""
        return next(iter((*self._spelt.get(key, ())[:1], *self.subjects.get(key, ())[:1])), key)

    def ties(self, key: str) -> Iterator[tuple[str, int]]:
        """(whom one is tied to, by which thought), both ways."""
        yield from ((tie.target, tie.id) for tie in self._from.get(key, ()))
        yield from ((tie.owner, tie.id) for tie in self._to.get(key, ()))

    def step(self, owner: str, kin: str, person: str = "", depth: int = _DEEPEST) -> list[Reached]:
        """Everyone who is that to the owner, the user too: as told, else as follows from what was told."""
        found = self._told(owner, kin, person) or self._back(owner, kin)
        reached = {key: Reached(key, ((key, id_),)) for key, id_ in found.items()}
        if not depth or any(key != USER for key in found):
            return list(reached.values())
        for first, second in composed(person, kin):
            for middle in self.step(owner, kin_of(first), _which(first), depth - 1):
                for last in self.step(middle.key, kin_of(second), _which(second), depth - 1):
                    if last.key != owner:
                        reached.setdefault(last.key, Reached(last.key, middle.path + last.path))
        return list(reached.values())

    def _told(self, owner: str, kin: str, person: str) -> dict[str, int]:
        ties = self._from.get(owner, ())
        for tier in tiers(kin):
            held = [tie for tie in ties if tie.kin in tier and not self._is_other(tie.target, kin)]
            if held:
                exact = [tie for tie in held if person and tie.person == person]
                known = {tie.target for tie in held if tie.person}  # by a word that tells who is meant
                chosen = exact or [tie for tie in held if not person or tie.target not in known]
                return {tie.target: tie.id for tie in chosen}
        return {}

    def _back(self, owner: str, kin: str) -> dict[str, int]:
        wanted = {each for tier in tiers(kin) for each in tier}
        ties = self._to.get(owner, ())
        fits = (tie for tie in ties if wanted & set(back(tie.kin)) and not self._is_other(tie.owner, kin))
        return {tie.owner: tie.id for tie in fits}

    def _is_other(self, key: str, kin: str) -> bool:
        """Whether somebody cannot be that: who is known as a wife is nobody's brother."""
        never = never_held(kin)
        return bool(never) and any(tie.kin in never for tie in self._to.get(key, ()))

    # --- how it is made ---

    def _decide(self, thought: Thought) -> None:
        if thought.negated:
            found = _APART.match(thought.subject)
            role = _role(normalise(found[2])) if found else None
            if found and role:
                key = key_of(thought.subject)
                self._apart.setdefault(key_of(found[1]), []).append(key)
                self._roles[key] = role
            return
        together: dict[str, str] = {}
        for name in (thought.subject, *thought.objects):
            key = key_of(name)
            for each, spelt in self._clusters.get(key, {key: name}).items():
                together.setdefault(each, spelt)
        for key in together:
            self._clusters[key] = together

    def _ties(self, subjects: Mapping[str, int], told: list[Thought]) -> list[Tie]:
        """One tie for each (owner, kin, target), with the thought that says it best."""
        ties: dict[tuple[str, str, str], Tie] = {}
        for thought in told:
            if thought.relation.startswith(_HAS):
                for tie in self._told_by(thought):
                    ties.setdefault((tie.owner, tie.kin, tie.target), tie)
        roles = {key_of(name): id_ for name, id_ in subjects.items() if "'" in name or "的" in name}
        for thought in told:
            if thought.relation == SAME:
                for name in (thought.subject, *thought.objects):
                    roles.setdefault(key_of(name), thought.id)
        for key, id_ in roles.items():
            role = self._roles.get(key) or _role(key)
            if role is not None:
                place = (self.root(role.owner), role.kin, self.root(key))
                tie = ties.get(place) or Tie(place[0], place[1], "", place[2], id_)
                ties[place] = tie._replace(person=role.person or tie.person)
        return [tie for tie in ties.values() if tie.owner != tie.target]

    def _told_by(self, thought: Thought) -> Iterator[Tie]:
        """The ties of (user, has friend, (Tom, Eve)): of two Toms, to the one who is that friend."""
        owner = self.root(key_of(thought.subject))
        kin, which = told_role(thought.relation[len(_HAS) :])
        said = _SAID_ZH.search(thought.sentence)
        person = person_of(said[1]) if said and ROLES_ZH.get(said[1]) == kin else which
        for name in thought.objects:
            key = key_of(name)
            apart = (each for each in self._apart.get(key, ()) if self._is_role(each, owner, kin))
            target = self.root(next(apart, key))
            if target != USER:
                self._spelt.setdefault(target, []).append(name)
                yield Tie(owner, kin, person, target, thought.id)

    def _is_role(self, key: str, owner: str, kin: str) -> bool:
        role = self._roles[key]
        return role.kin == kin and self.root(role.owner) == owner

    def _name(self, told: list[Thought]) -> None:
        """Fill `bearers`: every name of everybody, and the first name of those who are somebody's."""
        for key in self.subjects:
            self._bears(key, key)
        for key in self._clusters:
            self._bears(key, self.root(key))
        for target, names in self._spelt.items():
            for name in names:
                self._bears(key_of(name), target)
        for thought in told:
            if thought.relation in _NAMING:
                for name in thought.objects:
                    self._bears(key_of(name), USER)
        for target, names in self._spelt.items():
            for name in names:
                first, _, rest = key_of(name).partition(" ")
                if rest and "(" not in name and "." not in first and ROLES.get(first) is None:
                    self._bears(first, target)

    def _bears(self, name: str, key: str) -> None:
        held = self.bearers.setdefault(name, [])
        if key not in held:
            held.append(key)


def _which(person: str) -> str:
    return person if " " in person else ""


def _role(key: str) -> _Role | None:
    """The role that a key is: "user's older sister" is the user's, a sister, and which one."""
    owner, mark, words = key.rpartition("'s ")
    if not mark:
        owner, mark, words = key.rpartition("的")
    if not mark or not owner:
        return None
    kin, person = told_role(words)
    return _Role(normalise(owner), kin, person) if kin else None
