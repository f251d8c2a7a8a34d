"""Graph: a space's current thoughts as people and things tied together, to find whom a query speaks of.

It keeps numbers and triples, not sentences, and never changes: `changed` gives the next one, and reads names
again only if the change told something about who is who. `recall.who` holds the ties, this the facts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

from thinkback.recall.who import Reached, Who, key_of, ties_people
from thinkback.text.people.chain import THEY, Called, Chain, Link, Step, Told
from thinkback.text.people.chains import chains
from thinkback.text.people.kin import INDEFINITE
from thinkback.text.people.names import USER
from thinkback.text.people.telling import objects_in
from thinkback.types import SAME, Thought

_NOTHING = re.compile(r"(?:the )?[\s.,?!。，？！的]*", re.IGNORECASE)  # what may stand around a name
_ARTICLES = ("a ", "an ", "the ")
_MOST = 6  # whom a phrase may name: "my friends" of whom there are more are nobody in particular
_DESCRIBED = 50  # thoughts that a description may fit


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
    through: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Followed:
    """Where a chain of a query leads: `missing` is the first step that led nowhere, `end` where it ends."""

    reached: tuple[Reached, ...]
    missing: str
    end: int


class Graph:
    """One version of a space; made by `of`, read by `understand`."""

    __slots__ = ("_by_id", "_by_object", "_by_subject", "_telling", "_who")

    def __init__(self) -> None:
        self._by_id: dict[int, Fact] = {}
        self._by_subject: dict[str, list[Fact]] = {}
        self._by_object: dict[str, list[Fact]] = {}
        self._telling: dict[int, Thought] = {}
        self._who = Who()

    @classmethod
    def of(cls, thoughts: Iterable[Thought]) -> Self:
        """The graph of these thoughts; retired ones are passed over."""
        graph = cls()
        graph._add(thoughts)
        graph._read_who()
        return graph

    def changed(self, added: Iterable[Thought], gone: Iterable[int]) -> Self:
        """The graph after a change of the space; this one stays as it is."""
        graph = type(self)()
        graph._by_id, graph._telling = dict(self._by_id), dict(self._telling)
        graph._by_subject, graph._by_object = dict(self._by_subject), dict(self._by_object)
        graph._drop(gone)
        new = [thought for thought in added if thought.id not in graph._by_id]
        for thought in new:  # what grows must not be the older graph's own list
            _own(graph._by_subject, thought.subject)
            for name in thought.objects:
                _own(graph._by_object, _bare(name))
        graph._add(new)
        if graph._telling == self._telling and graph._by_subject.keys() == self._by_subject.keys():
            graph._who = self._who
        else:
            graph._read_who()
        return graph

    def __len__(self) -> int:
        return len(self._by_id)

    def __contains__(self, id_: int) -> bool:
        """Whether a thought is a fact; a decision about names is none."""
        return id_ in self._by_id

    def is_name(self, words: str) -> bool:
        """Whether somebody is known by these words, which are case-folded; the user's own are no name."""
        return words in self._who.bearers and words != USER

    def names(self, phrase: str) -> tuple[str, ...]:
        """All names of whom a phrase names ("my sister's husband", 我妹妹); none if that is nobody."""
        for chain in chains(phrase, self.is_name):
            way = self.follow(chain)
            around = phrase[: chain.start] + phrase[way.end :]
            if way.reached and not way.missing and _NOTHING.fullmatch(around):
                return tuple(dict.fromkeys(name for each in way.reached for name in self.names_of(each.key)))
        return ()

    def kept_under(self, key: str) -> tuple[str, ...]:
        """The names that thoughts about one are kept under; one of the others if there are none."""
        return tuple(self._who.subjects.get(key, ())) or self._who.names(key)[:1]

    def label(self, key: str) -> str:
        """A name to show."""
        return self._who.label(key)

    def ids_about(self, key: str) -> tuple[int, ...]:
        """The thoughts about one that a chain led to."""
        return tuple(fact.id for fact in self._of(key))

    def names_of(self, key: str) -> tuple[str, ...]:
        """The names of one that a chain led to."""
        return self._who.names(key)

    def about(self, name: str) -> tuple[Fact, ...]:
        """What is told of the one of that name; nothing where two bear it."""
        bearers = self._who.bearers.get(key_of(name), ())
        return tuple(self._of(bearers[0])) if len(bearers) == 1 else ()

    def neighbours(self, name: str, hops: int = 1) -> tuple[Neighbour, ...]:
        """Who and what is tied to the one of that name, nearest first.

        The way never leads through the user: over him everybody is everybody's neighbour.
        """
        bearers = self._who.bearers.get(key_of(name), ())
        if len(bearers) != 1:
            return ()
        found: dict[str, Neighbour] = {bearers[0]: Neighbour(name, 0, ())}
        edge = [bearers[0]]
        for hop in range(1, hops + 1):
            further: list[str] = []
            for key in edge:
                for other, id_ in self._beside(key) if hop == 1 or key != USER else ():
                    if other not in found:
                        through = (*found[key].through, id_)
                        found[other] = Neighbour(self._who.label(other), hop, through)
                        further.append(other)
            edge = further
        return tuple(found.values())[1:]

    def follow(self, chain: Chain, before: Sequence[Reached] = ()) -> Followed:
        """Whom a chain names; `before` are those whom a pronoun may mean."""
        reached = self._heads(chain.head, before)
        several = len(reached) > 1 and chain.head != THEY  # of one name: unless told apart, none is meant
        end = chain.end
        for at, link in enumerate(chain.links):
            if isinstance(link, Told):
                told, upto = self._fitting(link.clause, reached if chain.head or at else None)
                if told:
                    reached, several, end = told, False, max(end, link.start + upto)
                elif len(reached) != 1 or _is_loose(chain.links[at - 1 : at]):
                    return Followed((), "", end)
            elif several:
                return Followed((), "", end)
            elif isinstance(link, Called):
                reached = self._called(link.name, reached)
            else:
                following = {other.key: other for one in reached for other in self._steps(one, link)}
                named = isinstance((*chain.links, None)[at + 1], Called)
                if not following and not named:
                    return Followed(_few(one for one in reached if one.key != USER), link.word, end)
                reached = list(following.values())
        return Followed(() if several else _few(reached), "", end)

    def _heads(self, head: str, before: Sequence[Reached]) -> Sequence[Reached]:
        if head == THEY:
            return before
        return [Reached(key) for key in ((USER,) if head == USER else self._who.bearers.get(head, ()))]

    def _called(self, name: str, reached: Sequence[Reached]) -> Sequence[Reached]:
        """Of those reached, who bears the name; else whoever alone bears it."""
        bearers = self._who.bearers.get(name, ())
        held = [one for one in reached if one.key in bearers]
        return held or [Reached(key) for key in bearers if len(bearers) == 1]

    def _fitting(self, clause: str, reached: Sequence[Reached] | None) -> tuple[Sequence[Reached], int]:
        """(of those reached, or of all but the user, whom a clause fits; how much of it tells so)"""
        facts, upto = self._told(clause)
        by_key = {self._who.root(key_of(fact.subject)): fact.id for fact in facts}
        whom = [Reached(key) for key in by_key if key != USER] if reached is None else reached
        fitting = (one for one in whom if one.key in by_key)
        return [Reached(one.key, (*one.path, (one.key, by_key[one.key]))) for one in fitting], upto

    def _steps(self, one: Reached, step: Step) -> Iterator[Reached]:
        if step.kin:
            held = self._who.step(one.key, step.kin, step.person)
            for other in held:
                if other.key != USER:  # a query calls the user "me", not "Anna's brother"
                    yield Reached(other.key, one.path + other.path) if one.path else other
            return
        for relation in step.relations:
            facts = [fact for fact in self._of(one.key) if fact.relation == relation and not fact.negated]
            for fact in facts:
                for name in fact.objects:
                    yield Reached(self._who.root(key_of(name)), (*one.path, (name, fact.id)))
            if facts:
                return

    def _told(self, clause: str) -> tuple[list[Fact], int]:
        """(the facts a description may be about, how much of the clause tells so)"""
        for words, tells, upto in objects_in(clause, self._by_object.__contains__):
            facts = self._by_object[words]
            fits = {relation for relation in {fact.relation for fact in facts} if tells(relation)}
            found = [fact for fact in facts if fact.relation in fits]
            if found:
                return (found, upto) if len(found) <= _DESCRIBED else ([], 0)
        return [], 0

    def _of(self, key: str) -> Iterator[Fact]:
        for subject in self._who.subjects.get(key, ()):
            yield from self._by_subject[subject]

    def _beside(self, key: str) -> Iterator[tuple[str, int]]:
        """(key of whom or what one is tied to, by which thought)"""
        yield from self._who.ties(key)
        for fact in self._of(key):
            for name in fact.objects:
                bearers = self._who.bearers.get(name.casefold(), ())
                yield from ((other, fact.id) for other in bearers if len(bearers) == 1)
        for name in self._who.names(key):
            for fact in self._by_object.get(_bare(name), ()):
                yield self._who.root(key_of(fact.subject)), fact.id

    # --- how it is made ---

    def _add(self, thoughts: Iterable[Thought]) -> None:
        by_id, by_subject, by_object = self._by_id, self._by_subject, self._by_object
        for thought in thoughts:
            if thought.retired_at is not None:
                continue
            if ties_people(thought):
                self._telling[thought.id] = thought
            if thought.relation == SAME:  # answers no question
                continue
            fact = Fact(thought.id, thought.subject, thought.relation, thought.objects, thought.negated)
            by_id[fact.id] = fact
            by_subject.setdefault(fact.subject, []).append(fact)
            if not fact.negated:
                for name in fact.objects:
                    by_object.setdefault(_bare(name), []).append(fact)

    def _drop(self, ids: Iterable[int]) -> None:
        for id_ in ids:
            self._telling.pop(id_, None)
            fact = self._by_id.pop(id_, None)
            if fact is None:
                continue
            _remove(self._by_subject, fact.subject, fact)
            for name in () if fact.negated else dict.fromkeys(map(_bare, fact.objects)):
                _remove(self._by_object, name, fact)

    def _read_who(self) -> None:
        first = {subject: facts[0].id for subject, facts in self._by_subject.items()}
        self._who = Who.of(first, self._telling.values())


def _is_loose(links: Sequence[Link]) -> bool:
    """Whether the one meant is one of many: "the friend who lives in Oslo" may be a new one."""
    return any(isinstance(link, Step) and link.kin in INDEFINITE for link in links)


def _bare(name: str) -> str:
    """An object as it is looked up: "a vegetarian" is found by "vegetarian"."""
    folded = name.casefold()
    return folded.partition(" ")[2] if folded.startswith(_ARTICLES) else folded


def _few(reached: Iterable[Reached]) -> tuple[Reached, ...]:
    found = tuple(reached)
    return found if len(found) <= _MOST else ()


def _own(index: dict[str, list[Fact]], key: str) -> None:
    if key in index:
        index[key] = list(index[key])


def _remove(index: dict[str, list[Fact]], key: str, fact: Fact) -> None:
    left = [each for each in index[key] if each.id != fact.id]
    if left:
        index[key] = left
    else:
        del index[key]
