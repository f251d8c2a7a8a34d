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
from thinkback.text.chain import ANYONE, THEY, Called, Chain, Link, Step, Told
from thinkback.text.chains import chains
from thinkback.text.names import USER
from thinkback.text.telling import objects_in
from thinkback.types import SAME, Thought

_NOTHING = re.compile(r"(?:the )?[\s.,?!。，？！的]*", re.IGNORECASE)  # what may stand around a name
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
        new = [thought for thought in added if thought.id not in self._by_id]
        graph = type(self)()
        graph._by_id, graph._telling = dict(self._by_id), dict(self._telling)
        graph._by_subject, graph._by_object = dict(self._by_subject), dict(self._by_object)
        graph._drop(gone)
        for thought in new:  # what grows must not be the older graph's own list
            _own(graph._by_subject, thought.subject)
            for name in thought.objects:
                _own(graph._by_object, name.casefold())
        graph._add(new)
        if (
            graph._telling.keys() == self._telling.keys()
            and graph._by_subject.keys() == self._by_subject.keys()
        ):
            graph._who = self._who
        else:
            graph._read_who()
        return graph

    def __len__(self) -> int:
        return len(self._by_id)

    def is_name(self, words: str) -> bool:
        """Whether somebody is known by these words, which are case-folded; the user's own are no name."""
        return words in self._who.bearers and words != USER

    def names(self, phrase: str) -> tuple[str, ...]:
        """All names of whom a phrase names ("Anna", "my sister's husband", 我妹妹); none if that is nobody."""
        for chain in chains(phrase, self.is_name):
            way = self.follow(chain)
            around = phrase[: chain.start] + phrase[way.end :]
            if way.reached and not way.missing and _NOTHING.fullmatch(around):
                return tuple(dict.fromkeys(name for each in way.reached for name in self.names_of(each.key)))
        return ()

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
        reached, open_ = self._head(chain, before)
        end = chain.end
        for at, link in enumerate(chain.links):
            following = self._link(link, reached, chain.head == ANYONE and at == 0)
            if isinstance(link, Told):
                told, upto = following
                end = max(end, link.start + upto) if told else end
                reached = told or ([] if chain.head == ANYONE or open_ else reached)
                open_ = False
                continue
            if not following[0]:
                missing = link.word if isinstance(link, Step) else ""
                stays = isinstance(link, Step) and reached and reached[0].key != USER and not open_
                return Followed(tuple(reached[:_MOST]) if stays else (), missing, end)
            reached, open_ = following[0], False
        return Followed(tuple(reached) if len(reached) <= _MOST and not open_ else (), "", end)

    def _head(self, chain: Chain, before: Sequence[Reached]) -> tuple[list[Reached], bool]:
        """(whom the head names, whether these are several of one name)"""
        if chain.head == USER:
            return [Reached(USER)], False
        if chain.head == THEY:
            return list(before), False
        bearers = self._who.bearers.get(chain.head, ())
        return [Reached(key) for key in bearers], len(bearers) > 1

    def _link(self, link: Link, reached: Sequence[Reached], anyone: bool) -> tuple[list[Reached], int]:
        """(whom a link leads to, characters of the clause that told so)"""
        if isinstance(link, Told):
            facts, upto = self._told(link.clause)
            by_key = {self._who.root(key_of(fact.subject)): fact.id for fact in facts}
            if anyone:
                reached = [Reached(key) for key in by_key if key != USER]
            return [
                self._onward(each, each.key, by_key[each.key]) for each in reached if each.key in by_key
            ], upto
        if isinstance(link, Called):
            bearers = self._who.bearers.get(link.name, ())
            held = [each for each in reached if each.key in bearers]
            return held or [Reached(key) for key in bearers if len(bearers) == 1], 0
        found: dict[str, Reached] = {}
        for each in reached:
            for other in self._steps(each, link):
                found.setdefault(other.key, other)
        return list(found.values()), 0

    def _steps(self, one: Reached, step: Step) -> Iterator[Reached]:
        if step.kin:
            for other in self._who.step(one.key, step.kin, step.person):
                yield Reached(other.key, one.path + other.path)
            return
        for relation in step.relations:
            facts = [fact for fact in self._of(one.key) if fact.relation == relation and not fact.negated]
            for fact in facts:
                for name in fact.objects:
                    yield Reached(self._who.root(key_of(name)), (*one.path, (name, fact.id)))
            if facts:
                return

    def _onward(self, one: Reached, key: str, id_: int) -> Reached:
        return Reached(key, (*one.path, (self._who.label(key), id_)))

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
            for fact in self._by_object.get(name.casefold(), ()):
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
                    by_object.setdefault(name.casefold(), []).append(fact)

    def _drop(self, ids: Iterable[int]) -> None:
        for id_ in ids:
            self._telling.pop(id_, None)
            fact = self._by_id.pop(id_, None)
            if fact is None:
                continue
            _remove(self._by_subject, fact.subject, fact)
            for name in () if fact.negated else dict.fromkeys(map(str.casefold, fact.objects)):
                _remove(self._by_object, name, fact)

    def _read_who(self) -> None:
        first = {subject: facts[0].id for subject, facts in self._by_subject.items()}
        self._who = Who.of(first, self._telling.values())


def _own(index: dict[str, list[Fact]], key: str) -> None:
    if key in index:
        index[key] = list(index[key])


def _remove(index: dict[str, list[Fact]], key: str, fact: Fact) -> None:
    left = [each for each in index[key] if each.id != fact.id]
    if left:
        index[key] = left
    else:
        del index[key]
