"""People, pets and places of a space: their names, their relationships, and the facts about them."""

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
_NAME_RELATIONS = frozenset(("is named", "goes by", "english name"))
_PLAIN_NAME = re.compile(r"(?!(?:the|an?|my|users?|i|me|mine|myself)\b)[a-z0-9]+(?: [a-z0-9]+)*")
_QUALIFIED_NAME = re.compile(r"(.+) \((.+)\)\Z")
_ROLE_ZH = re.compile("的([\u4e00-\u9fff]{1,3}?)(?:是|叫)")
_MAX_COMPOSITION_DEPTH = 2  # compositions within one another: a cousin is the child of a parent's sibling


class Relationship(NamedTuple):
    """`target` is `kin` to `owner`, more closely `person`, as that thought tells; both are keys."""

    owner: str
    kin: str
    person: str
    target: str
    thought_id: int


class ResolvedEntity(NamedTuple):
    """Somebody a phrase leads to, and the way there: (key or name, id of the thought that led to it)."""

    key: str
    path: tuple[tuple[str, int], ...] = ()


class _Role(NamedTuple):
    owner: str
    kin: str
    person: str


def entity_key(name: str) -> str:
    """`normalise`, without its price for the plain names that nearly all are."""
    folded = name.casefold()
    return folded if _PLAIN_NAME.fullmatch(folded) else normalise_name(name)


def is_identity_thought(thought: Thought) -> bool:
    """Whether a thought tells who is who: the only ones that `Who` reads."""
    relation = thought.relation
    if relation.startswith(_HAS_PREFIX):
        return not thought.negated and bool(parse_role(relation[len(_HAS_PREFIX) :])[0])
    return relation == SAME_AS or (
        relation in _NAME_RELATIONS and not thought.negated and entity_key(thought.subject) == USER
    )


@dataclass(slots=True, eq=False)
class EntityRegistry:
    """All keys are keys of the first name of a cluster; `bearers` of a name are all who go by it."""

    keys_by_name: dict[str, list[str]] = field(default_factory=dict)
    subjects_by_key: dict[str, list[str]] = field(
        default_factory=dict
    )  # key -> subjects as thoughts spell them
    _clusters: dict[str, dict[str, str]] = field(default_factory=dict)
    _qualified_keys: dict[str, list[str]] = field(
        default_factory=dict
    )  # a name of several -> keys of those set apart
    _roles: dict[str, _Role] = field(default_factory=dict)  # what those set apart are
    _spellings: dict[str, list[str]] = field(default_factory=dict)
    _outgoing: dict[str, list[Relationship]] = field(default_factory=dict)
    _incoming: dict[str, list[Relationship]] = field(default_factory=dict)

    @classmethod
    def build(cls, subjects: Mapping[str, int], identity_thoughts: Iterable[Thought]) -> EntityRegistry:
        """`subjects`: each with the first thought about it; `telling`: the thoughts that tell who is who."""
        who = cls()
        told = list(identity_thoughts)
        for thought in told:
            if thought.relation == SAME_AS:
                who._apply_identity(thought)
        for name in subjects:
            key = who.canonical_key(entity_key(name))
            who.subjects_by_key.setdefault(key, []).append(name)
        ties = who._collect_relationships(subjects, told)
        for tie in ties:
            who._outgoing.setdefault(tie.owner, []).append(tie)
            who._incoming.setdefault(tie.target, []).append(tie)
        who._index_names(told)
        return who

    def canonical_key(self, key: str) -> str:
        cluster = self._clusters.get(key)
        return next(iter(cluster)) if cluster else key

    def names(self, key: str) -> tuple[str, ...]:
        """Names first, then the roles that thoughts are kept under ("user's mom")."""
        cluster = self._clusters.get(key, {})
        proper = (name for each, name in cluster.items() if _parse_role(each) is None)
        every = (*proper, *self._spellings.get(key, ()), *self.subjects_by_key.get(key, ()))
        return tuple(dict.fromkeys(sorted(every, key=lambda name: "'s " in name or name.startswith("用户"))))

    def display_name(self, key: str) -> str:
        """One of the names, to show; `key` itself of what has none."""
        return next(iter((*self._spellings.get(key, ())[:1], *self.subjects_by_key.get(key, ())[:1])), key)

    def related_keys(self, key: str) -> Iterator[tuple[str, int]]:
        """(whom one is tied to, by which thought), both ways."""
        yield from ((tie.target, tie.thought_id) for tie in self._outgoing.get(key, ()))
        yield from ((tie.owner, tie.thought_id) for tie in self._incoming.get(key, ()))

    def relatives(
        self, owner: str, kin: str, person: str = "", depth: int = _MAX_COMPOSITION_DEPTH
    ) -> list[ResolvedEntity]:
        """Everyone who is that to the owner, the user too: as told, else as follows from what was told."""
        found = self._stated_relatives(owner, kin, person) or self._inverse_relatives(owner, kin)
        reached = {key: ResolvedEntity(key, ((key, id_),)) for key, id_ in found.items()}
        if not depth or any(key != USER for key in found):
            return list(reached.values())
        for first, second in role_compositions(person, kin):
            for middle in self.relatives(owner, base_role(first), _specific_person(first), depth - 1):
                for last in self.relatives(
                    middle.key, base_role(second), _specific_person(second), depth - 1
                ):
                    if last.key != owner:
                        reached.setdefault(last.key, ResolvedEntity(last.key, middle.path + last.path))
        return list(reached.values())

    def _stated_relatives(self, owner: str, kin: str, person: str) -> dict[str, int]:
        ties = self._outgoing.get(owner, ())
        for tier in role_tiers(kin):
            held = [tie for tie in ties if tie.kin in tier and not self._is_excluded(tie.target, kin)]
            if held:
                exact = [tie for tie in held if person and tie.person == person]
                known = {tie.target for tie in held if tie.person}  # by a word that tells who is meant
                chosen = exact or [tie for tie in held if not person or tie.target not in known]
                return {tie.target: tie.thought_id for tie in chosen}
        return {}

    def _inverse_relatives(self, owner: str, kin: str) -> dict[str, int]:
        wanted = {each for tier in role_tiers(kin) for each in tier}
        ties = self._incoming.get(owner, ())
        fits = (
            tie
            for tie in ties
            if wanted & set(inverse_roles(tie.kin)) and not self._is_excluded(tie.owner, kin)
        )
        return {tie.owner: tie.thought_id for tie in fits}

    def _is_excluded(self, key: str, kin: str) -> bool:
        """Whether somebody cannot be that: who is known as a wife is nobody's brother."""
        never = incompatible_roles(kin)
        return bool(never) and any(tie.kin in never for tie in self._incoming.get(key, ()))

    # --- how it is made ---

    def _apply_identity(self, thought: Thought) -> None:
        if thought.negated:
            found = _QUALIFIED_NAME.match(thought.subject)
            role = _parse_role(normalise_name(found[2])) if found else None
            if found and role:
                key = entity_key(thought.subject)
                self._qualified_keys.setdefault(entity_key(found[1]), []).append(key)
                self._roles[key] = role
            return
        together: dict[str, str] = {}
        for name in (thought.subject, *thought.objects):
            key = entity_key(name)
            for each, spelt in self._clusters.get(key, {key: name}).items():
                together.setdefault(each, spelt)
        for key in together:
            self._clusters[key] = together

    def _collect_relationships(self, subjects: Mapping[str, int], told: list[Thought]) -> list[Relationship]:
        """One tie for each (owner, kin, target), with the thought that says it best."""
        ties: dict[tuple[str, str, str], Relationship] = {}
        for thought in told:
            if thought.relation.startswith(_HAS_PREFIX):
                for tie in self._stated_relationships(thought):
                    ties.setdefault((tie.owner, tie.kin, tie.target), tie)
        roles = {entity_key(name): id_ for name, id_ in subjects.items() if "'" in name or "的" in name}
        for thought in told:
            if thought.relation == SAME_AS:
                for name in (thought.subject, *thought.objects):
                    roles.setdefault(entity_key(name), thought.id)
        for key, id_ in roles.items():
            role = self._roles.get(key) or _parse_role(key)
            if role is not None:
                place = (self.canonical_key(role.owner), role.kin, self.canonical_key(key))
                tie = ties.get(place) or Relationship(place[0], place[1], "", place[2], id_)
                ties[place] = tie._replace(person=role.person or tie.person)
        return [tie for tie in ties.values() if tie.owner != tie.target]

    def _stated_relationships(self, thought: Thought) -> Iterator[Relationship]:
        """The ties of (user, has friend, (Tom, Eve)): of two Toms, to the one who is that friend."""
        owner = self.canonical_key(entity_key(thought.subject))
        kin, which = parse_role(thought.relation[len(_HAS_PREFIX) :])
        said = _ROLE_ZH.search(thought.sentence)
        person = specific_role_zh(said[1]) if said and ROLES_ZH.get(said[1]) == kin else which
        for name in thought.objects:
            key = entity_key(name)
            apart = (each for each in self._qualified_keys.get(key, ()) if self._is_role(each, owner, kin))
            target = self.canonical_key(next(apart, key))
            if target != USER:
                self._spellings.setdefault(target, []).append(name)
                yield Relationship(owner, kin, person, target, thought.id)

    def _is_role(self, key: str, owner: str, kin: str) -> bool:
        role = self._roles[key]
        return role.kin == kin and self.canonical_key(role.owner) == owner

    def _index_names(self, told: list[Thought]) -> None:
        """Fill `bearers`: every name of everybody, and the first name of those who are somebody's."""
        for key in self.subjects_by_key:
            self._add_name(key, key)
        for key in self._clusters:
            self._add_name(key, self.canonical_key(key))
        for target, names in self._spellings.items():
            for name in names:
                self._add_name(entity_key(name), target)
        for thought in told:
            if thought.relation in _NAME_RELATIONS:
                for name in thought.objects:
                    self._add_name(entity_key(name), USER)
        for target, names in self._spellings.items():
            for name in names:
                first, _, rest = entity_key(name).partition(" ")
                if rest and "(" not in name and "." not in first and ROLES_EN.get(first) is None:
                    self._add_name(first, target)

    def _add_name(self, name: str, key: str) -> None:
        held = self.keys_by_name.setdefault(name, [])
        if key not in held:
            held.append(key)


def _specific_person(person: str) -> str:
    return person if " " in person else ""


def _parse_role(key: str) -> _Role | None:
    """The role that a key is: "user's older sister" is the user's, a sister, and which one."""
    owner, mark, words = key.rpartition("'s ")
    if not mark:
        owner, mark, words = key.rpartition("的")
    if not mark or not owner:
        return None
    kin, person = parse_role(words)
    return _Role(normalise_name(owner), kin, person) if kin else None


_FILLER_AROUND_NAME = re.compile(
    r"(?:the )?[\s.,?!。，？！的]*", re.IGNORECASE
)  # what may stand around a name
_ARTICLES = ("a ", "an ", "the ")
_MAX_REFERENTS = 6  # whom a phrase may name: "my friends" of whom there are more are nobody in particular
_MAX_DESCRIBED_FACTS = 50  # thoughts that a description may fit


class Fact(NamedTuple):
    """What the graph keeps of a thought."""

    id: int
    subject: str
    relation: str
    objects: tuple[str, ...]
    negated: bool = False


class Neighbour(NamedTuple):
    """Somebody or something tied to another, over how many hops and by which thoughts."""

    name: str
    hops: int
    thought_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ChainResult:
    """Where a chain of a query leads: `missing` is the first step that led nowhere, `end` where it ends."""

    reached: tuple[ResolvedEntity, ...]
    missing: str
    end: int


class EntityGraph:
    """One version of a space; made by `of`, read by `understand`."""

    __slots__ = ("_by_id", "_by_object", "_by_subject", "_identity_thoughts", "_entities")

    def __init__(self) -> None:
        self._by_id: dict[int, Fact] = {}
        self._by_subject: dict[str, list[Fact]] = {}
        self._by_object: dict[str, list[Fact]] = {}
        self._identity_thoughts: dict[int, Thought] = {}
        self._entities = EntityRegistry()

    @classmethod
    def from_thoughts(cls, thoughts: Iterable[Thought]) -> Self:
        """The graph of these thoughts; retired ones are passed over."""
        graph = cls()
        graph._add(thoughts)
        graph._rebuild_entities()
        return graph

    def updated(self, added: Iterable[Thought], gone: Iterable[int]) -> Self:
        """The graph after a change of the space; this one stays as it is."""
        graph = type(self)()
        graph._by_id, graph._identity_thoughts = dict(self._by_id), dict(self._identity_thoughts)
        graph._by_subject, graph._by_object = dict(self._by_subject), dict(self._by_object)
        graph._drop(gone)
        new = [thought for thought in added if thought.id not in graph._by_id]
        for thought in new:  # what grows must not be the older graph's own list
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
        """Whether a thought is a fact; a decision about names is none."""
        return id_ in self._by_id

    def is_name(self, words: str) -> bool:
        """Whether somebody is known by these words, which are case-folded; the user's own are no name."""
        return words in self._entities.keys_by_name and words != USER

    def resolve_phrase(self, phrase: str) -> tuple[str, ...]:
        """All names of whom a phrase names ("my sister's husband", 我妹妹); none if that is nobody."""
        for chain in find_chains(phrase, self.is_name):
            way = self.follow_chain(chain)
            around = phrase[: chain.start] + phrase[way.end :]
            if way.reached and not way.missing and _FILLER_AROUND_NAME.fullmatch(around):
                return tuple(dict.fromkeys(name for each in way.reached for name in self.names_of(each.key)))
        return ()

    def subject_names(self, key: str) -> tuple[str, ...]:
        """The names that thoughts about one are kept under; one of the others if there are none."""
        return tuple(self._entities.subjects_by_key.get(key, ())) or self._entities.names(key)[:1]

    def display_name(self, key: str) -> str:
        """A name to show."""
        return self._entities.display_name(key)

    def thought_ids_about(self, key: str) -> tuple[int, ...]:
        """The thoughts about one that a chain led to."""
        return tuple(fact.id for fact in self._facts_of(key))

    def names_of(self, key: str) -> tuple[str, ...]:
        """The names of one that a chain led to."""
        return self._entities.names(key)

    def facts_about(self, name: str) -> tuple[Fact, ...]:
        """What is told of the one of that name; nothing where two bear it."""
        bearers = self._entities.keys_by_name.get(entity_key(name), ())
        return tuple(self._facts_of(bearers[0])) if len(bearers) == 1 else ()

    def neighbours(self, name: str, hops: int = 1) -> tuple[Neighbour, ...]:
        """Who and what is tied to the one of that name, nearest first.

        The way never leads through the user: over him everybody is everybody's neighbour.
        """
        bearers = self._entities.keys_by_name.get(entity_key(name), ())
        if len(bearers) != 1:
            return ()
        found: dict[str, Neighbour] = {bearers[0]: Neighbour(name, 0, ())}
        edge = [bearers[0]]
        for hop in range(1, hops + 1):
            further: list[str] = []
            for key in edge:
                for other, id_ in self._adjacent_keys(key) if hop == 1 or key != USER else ():
                    if other not in found:
                        through = (*found[key].thought_ids, id_)
                        found[other] = Neighbour(self._entities.display_name(other), hop, through)
                        further.append(other)
            edge = further
        return tuple(found.values())[1:]

    def follow_chain(self, chain: RelationChain, before: Sequence[ResolvedEntity] = ()) -> ChainResult:
        """Whom a chain names; `before` are those whom a pronoun may mean."""
        reached = self._chain_heads(chain.head, before)
        several = len(reached) > 1 and chain.head != PRONOUN  # of one name: unless told apart, none is meant
        end = chain.end
        for at, link in enumerate(chain.links):
            if isinstance(link, DescriptionLink):
                told, upto = self._filter_by_clause(link.clause, reached if chain.head or at else None)
                if told:
                    reached, several, end = told, False, max(end, link.start + upto)
                elif len(reached) != 1 or _is_indefinite(chain.links[at - 1 : at]):
                    return ChainResult((), "", end)
            elif several:
                return ChainResult((), "", end)
            elif isinstance(link, NameLink):
                reached = self._filter_by_name(link.name, reached)
            else:
                following = {other.key: other for one in reached for other in self._follow_step(one, link)}
                named = isinstance((*chain.links, None)[at + 1], NameLink)
                if not following and not named:
                    return ChainResult(
                        _limit_referents(one for one in reached if one.key != USER), link.word, end
                    )
                reached = list(following.values())
        return ChainResult(() if several else _limit_referents(reached), "", end)

    def _chain_heads(self, head: str, before: Sequence[ResolvedEntity]) -> Sequence[ResolvedEntity]:
        if head == PRONOUN:
            return before
        return [
            ResolvedEntity(key)
            for key in ((USER,) if head == USER else self._entities.keys_by_name.get(head, ()))
        ]

    def _filter_by_name(self, name: str, reached: Sequence[ResolvedEntity]) -> Sequence[ResolvedEntity]:
        """Of those reached, who bears the name; else whoever alone bears it."""
        bearers = self._entities.keys_by_name.get(name, ())
        held = [one for one in reached if one.key in bearers]
        return held or [ResolvedEntity(key) for key in bearers if len(bearers) == 1]

    def _filter_by_clause(
        self, clause: str, reached: Sequence[ResolvedEntity] | None
    ) -> tuple[Sequence[ResolvedEntity], int]:
        """(of those reached, or of all but the user, whom a clause fits; how much of it tells so)"""
        facts, upto = self._facts_matching(clause)
        by_key = {self._entities.canonical_key(entity_key(fact.subject)): fact.id for fact in facts}
        whom = [ResolvedEntity(key) for key in by_key if key != USER] if reached is None else reached
        fitting = (one for one in whom if one.key in by_key)
        return [ResolvedEntity(one.key, (*one.path, (one.key, by_key[one.key]))) for one in fitting], upto

    def _follow_step(self, one: ResolvedEntity, step: RelationStep) -> Iterator[ResolvedEntity]:
        if step.role:
            held = self._entities.relatives(one.key, step.role, step.specific_role)
            for other in held:
                if other.key != USER:  # a query calls the user "me", not "Anna's brother"
                    yield ResolvedEntity(other.key, one.path + other.path) if one.path else other
            return
        for relation in step.relations:
            facts = [
                fact for fact in self._facts_of(one.key) if fact.relation == relation and not fact.negated
            ]
            for fact in facts:
                for name in fact.objects:
                    yield ResolvedEntity(
                        self._entities.canonical_key(entity_key(name)), (*one.path, (name, fact.id))
                    )
            if facts:
                return

    def _facts_matching(self, clause: str) -> tuple[list[Fact], int]:
        """(the facts a description may be about, how much of the clause tells so)"""
        for words, tells, upto in find_objects(clause, self._by_object.__contains__):
            facts = self._by_object[words]
            fits = {relation for relation in {fact.relation for fact in facts} if tells(relation)}
            found = [fact for fact in facts if fact.relation in fits]
            if found:
                return (found, upto) if len(found) <= _MAX_DESCRIBED_FACTS else ([], 0)
        return [], 0

    def _facts_of(self, key: str) -> Iterator[Fact]:
        for subject in self._entities.subjects_by_key.get(key, ()):
            yield from self._by_subject[subject]

    def _adjacent_keys(self, key: str) -> Iterator[tuple[str, int]]:
        """(key of whom or what one is tied to, by which thought)"""
        yield from self._entities.related_keys(key)
        for fact in self._facts_of(key):
            for name in fact.objects:
                bearers = self._entities.keys_by_name.get(name.casefold(), ())
                yield from ((other, fact.id) for other in bearers if len(bearers) == 1)
        for name in self._entities.names(key):
            for fact in self._by_object.get(_strip_article(name), ()):
                yield self._entities.canonical_key(entity_key(fact.subject)), fact.id

    # --- how it is made ---

    def _add(self, thoughts: Iterable[Thought]) -> None:
        by_id, by_subject, by_object = self._by_id, self._by_subject, self._by_object
        for thought in thoughts:
            if thought.retired_at is not None:
                continue
            if is_identity_thought(thought):
                self._identity_thoughts[thought.id] = thought
            if thought.relation == SAME_AS:  # answers no question
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
    """Whether the one meant is one of many: "the friend who lives in Oslo" may be a new one."""
    return any(isinstance(link, RelationStep) and link.role in INDEFINITE_ROLES for link in links)


def _strip_article(name: str) -> str:
    """An object as it is looked up: "a vegetarian" is found by "vegetarian"."""
    folded = name.casefold()
    return folded.partition(" ")[2] if folded.startswith(_ARTICLES) else folded


def _limit_referents(reached: Iterable[ResolvedEntity]) -> tuple[ResolvedEntity, ...]:
    found = tuple(reached)
    return found if len(found) <= _MAX_REFERENTS else ()


def _copy_list(index: dict[str, list[Fact]], key: str) -> None:
    if key in index:
        index[key] = list(index[key])


def _remove_fact(index: dict[str, list[Fact]], key: str, fact: Fact) -> None:
    left = [each for each in index[key] if each.id != fact.id]
    if left:
        index[key] = left
    else:
        del index[key]
