"""What was drawn from a dialogue against what it rests on, in counts that add up (decision 0010)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from thinkback import Thought
from thinkback_lab.datasets.kdconv import Exchange, Fact
from thinkback_lab.triples.fold import fold, fold_name, same_value
from thinkback_lab.triples.relations import same_relation

PROSE = "Information"  # the attribute that holds paragraphs, not a value


@dataclass(frozen=True, slots=True)
class Drawn:
    """One object of one thought."""

    subject: str
    relation: str
    object: str


@dataclass(frozen=True, slots=True)
class Tally:
    """Counts by one criterion: drawn that are right or wrong, gold that is found."""

    right: int = 0
    wrong: int = 0
    found: int = 0
    gold: int = 0
    said: int = 0  # gold whose own turn says both name and value
    said_found: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.right + other.right,
            self.wrong + other.wrong,
            self.found + other.found,
            self.gold + other.gold,
            self.said + other.said,
            self.said_found + other.said_found,
        )

    @property
    def figures(self) -> dict[str, Any]:
        precision, recall = _ratio(self.right, self.right + self.wrong), _ratio(self.found, self.gold)
        both = (precision or 0.0) + (recall or 0.0)
        return {
            "precision": precision,
            "recall": recall,
            "f1": 2 * (precision or 0.0) * (recall or 0.0) / both if both else 0.0,
            "recall_said": _ratio(self.said_found, self.said),
            "right": self.right,
            "wrong": self.wrong,
            "found": self.found,
            "gold": self.gold,
            "said": self.said,
        }


@dataclass(frozen=True, slots=True)
class Matched:
    """One dialogue: whole triples, pairs of subject and object, and what the gold says nothing about."""

    triple: Tally = Tally()
    pair: Tally = Tally()
    about_user: int = 0  # of the speakers: KdConv notes what they know, not who they are
    misattributed: int = 0  # facts of the world said of the user: wrong, in both tallies
    from_prose: int = 0  # found in a paragraph only: neither right nor wrong
    wrong: tuple[Drawn, ...] = ()

    def __add__(self, other: Matched) -> Matched:
        return Matched(
            self.triple + other.triple,
            self.pair + other.pair,
            self.about_user + other.about_user,
            self.misattributed + other.misattributed,
            self.from_prose + other.from_prose,
            self.wrong + other.wrong,
        )


def match(exchanges: Sequence[Exchange], thoughts: Iterable[Thought]) -> Matched:
    """Every thought the dialogue ever led to against the facts of its turns."""
    gold, prose, said = _gold(exchanges)
    world, user = _drawn(thoughts)
    stolen = {each for each in user if any(_same_but_subject(fact, each) for fact in gold)}
    loose = {each for each in world if any(same_pair(fact, each) for fact in prose)}
    pairs = {(fact, each) for fact in gold for each in world if same_pair(fact, each)}
    triples = {(fact, each) for fact, each in pairs if same_relation(fact.attrname, each.relation)}
    right = {each for _, each in pairs}
    counted = (world - (loose - right)) | stolen
    return Matched(
        triple=_tally(triples, gold, said, counted),
        pair=_tally(pairs, gold, said, counted),
        about_user=len(user - stolen),
        misattributed=len(stolen),
        from_prose=len(loose - right),
        wrong=tuple(sorted(counted - right, key=lambda each: (each.subject, each.relation, each.object))),
    )


def same_pair(fact: Fact, drawn: Drawn) -> bool:
    return fold_name(fact.name) == fold_name(drawn.subject) and same_value(fact.attrvalue, drawn.object)


def _same_but_subject(fact: Fact, drawn: Drawn) -> bool:
    return same_value(fact.attrvalue, drawn.object) and same_relation(fact.attrname, drawn.relation)


def _tally(matches: set[tuple[Fact, Drawn]], gold: set[Fact], said: set[Fact], drawn: set[Drawn]) -> Tally:
    found, right = {fact for fact, _ in matches}, {each for _, each in matches}
    return Tally(len(right), len(drawn - right), len(found), len(gold), len(said), len(found & said))


def _gold(exchanges: Sequence[Exchange]) -> tuple[set[Fact], set[Fact], set[Fact]]:
    """(facts with a value, facts in prose, those of the first whose own turn says name and value)"""
    gold: set[Fact] = set()
    prose: set[Fact] = set()
    said: set[Fact] = set()
    for exchange in exchanges:
        text = fold(exchange.text)
        for fact in exchange.facts:
            (prose if fact.attrname == PROSE else gold).add(fact)
            if fact.attrname != PROSE and fold_name(fact.name) in text and fold(fact.attrvalue) in text:
                said.add(fact)
    return gold, prose, said


def _drawn(thoughts: Iterable[Thought]) -> tuple[set[Drawn], set[Drawn]]:
    """(what is said of the world, what is said of the user); a denial is a relation of its own."""
    world: set[Drawn] = set()
    user: set[Drawn] = set()
    for thought in thoughts:
        relation = f"not {thought.relation}" if thought.negated else thought.relation
        mine = thought.subject.casefold().split("'")[0] == "user"
        for item in thought.objects:
            (user if mine else world).add(Drawn(thought.subject, relation, item))
    return world, user


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None
