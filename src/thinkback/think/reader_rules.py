"""Reader of plain statements by rules: certain triples such as (user, lives in, Lyon), without a model.

The patterns of `language/relations.toml` find the statements; this reader compares them with the current
thoughts and proposes changes:

    I live in Lyon               add      unless it is known ("same")
    I moved to Paris             replace  the current home: a person lives in one place
    I no longer work at Bosch    end      the current employer, if it is Bosch
    I don't eat pork             add      a negated fact, or replace "eats pork"

What is not certain is left to the other readers.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from datetime import timedelta

from thinkback.language.commands import corrects
from thinkback.language.corrections import corrects_words
from thinkback.language.dates import TimeExpression, find_time_expressions
from thinkback.language.names import USER, normalise_name
from thinkback.language.protocol import load_language
from thinkback.language.relations import get_relation
from thinkback.language.sentence_builder import append_date, compose_sentence, validity_period
from thinkback.language.statements import ANY_ROLE, Statement, find_statements
from thinkback.think.comparison_keys import object_key, strip_dose
from thinkback.think.contract import ProposedChange, ProposedFact, ReadRequest
from thinkback.types import Thought, Turn

RULES_VERSION = 1
MAX_TURNS = 16
MAX_AGE_OF_CHANGE = timedelta(days=200)
"""A change longer ago than this may have been followed by others: "I moved to Paris in 2010"."""
_STATE_SINCE = ("since", "自", "从")
_COUNTED = re.compile(r"(\d+)\s*(.+)")
_UNDATED_RELATIONS = frozenset(("birthday", "is aged", "is named"))


class RuleReader:
    """Proposes changes for the plain statements of the user; see the module."""

    @property
    def name(self) -> str:
        return f"rules@{RULES_VERSION}"

    @property
    def max_turns(self) -> int:
        return MAX_TURNS

    def read(self, request: ReadRequest) -> list[ProposedChange]:
        """Propose the changes of all turns, in order."""
        reading = _Reading(request)
        previous = request.recent[-1] if request.recent else None
        for turn in request.turns:
            meant = _corrected_person(turn, previous, request.names)
            for statement in find_statements(turn.query, request.names, meant):
                quote, rest = turn.query[statement.start : statement.end], turn.query[statement.end :]
                if not corrects_words(quote, rest):
                    reading.add(turn, statement)
            previous = turn
        return reading.changes


class _Reading:
    """The changes proposed so far, and the thoughts they retire."""

    def __init__(self, request: ReadRequest) -> None:
        self._request = request
        self._retired: set[int] = set()
        self._ended: set[int] = set()
        self.changes: list[ProposedChange] = []

    def add(self, turn: Turn, statement: Statement) -> None:
        """Add the change of one statement, if it makes one."""
        quote = turn.query[statement.start : statement.end].strip()
        if statement.form == "denial":
            self._end(turn, statement, quote)
            return
        fact = _to_fact(turn, statement, quote)
        if fact is None:
            return
        known = self._current(fact.about, fact.relation)
        proposed = self._proposed(fact.about, fact.relation)
        if any(_is_same(fact, old.objects, old.negated) for old in known):
            same = next(old for old in known if _is_same(fact, old.objects, old.negated))
            self.changes.append(ProposedChange(action="same", turn=turn.id, quote=quote, targets=(same.id,)))
            return
        repeated = [position for position, other in proposed if _is_same(fact, (other.value,), other.negated)]
        if repeated:
            self._repeat(turn, fact, quote, repeated)
            return
        targets = tuple(old.id for old in known if _is_replaced(fact, old.objects, old.negated, statement))
        new_targets = tuple(
            position
            for position, other in proposed
            if _is_replaced(fact, (other.value,), other.negated, statement)
        )
        self._retired.update(targets)
        self._ended.update(new_targets)
        self.changes.append(
            ProposedChange(
                action="replace" if targets or new_targets else "add",
                turn=turn.id,
                quote=quote,
                fact=fact,
                targets=targets,
                new_targets=new_targets,
                ended_at=fact.valid_from if targets or new_targets else None,
            )
        )

    def _repeat(self, turn: Turn, fact: ProposedFact, quote: str, positions: Sequence[int]) -> None:
        """Propose a fact of an earlier turn again, so that it gets this turn as a further source."""
        earlier = [self.changes[position] for position in positions]
        values = {object_key(change.fact.value) for change in earlier if change.fact is not None}
        if values == {object_key(fact.value)} and all(change.turn != turn.id for change in earlier):
            self.changes.append(ProposedChange(action="add", turn=turn.id, quote=quote, fact=fact))

    def _end(self, turn: Turn, statement: Statement, quote: str) -> None:
        """End the current thoughts with the value that the statement denies."""
        relations = [statement.relation]
        if statement.relation == ANY_ROLE:
            relations = list(dict.fromkeys(thought.relation for thought in self._request.relationships))
        known = [old for relation in relations for old in self._current(statement.about, relation)]
        targets = tuple(
            old.id for old in known if not old.negated and _has_value(old.objects, statement.value)
        )
        new_targets = tuple(
            position
            for relation in relations
            for position, other in self._proposed(statement.about, relation)
            if not other.negated and _has_value((other.value,), statement.value)
        )
        if targets or new_targets:
            self._retired.update(targets)
            self._ended.update(new_targets)
            when = _find_time(turn, quote)
            self.changes.append(
                ProposedChange(
                    action="end",
                    turn=turn.id,
                    quote=quote,
                    targets=targets,
                    new_targets=new_targets,
                    ended_at=when.start if when else None,
                )
            )

    def _current(self, about: str, relation: str) -> list[Thought]:
        return [old for old in self._request.find(about, relation) if old.id not in self._retired]

    def _proposed(self, about: str, relation: str) -> list[tuple[int, ProposedFact]]:
        """The facts with this subject and relation that this reading has proposed."""
        return [
            (position, change.fact)
            for position, change in enumerate(self.changes)
            if change.fact is not None
            and position not in self._ended
            and change.fact.relation == relation
            and normalise_name(change.fact.about) == normalise_name(about)
        ]


def _corrected_person(turn: Turn, previous: Turn | None, names: Sequence[Sequence[str]]) -> str:
    """Whom a pronoun of a correction means: the only person that the turn before makes a statement about."""
    if previous is None or previous.session != turn.session or not corrects(turn.query):
        return ""
    people = {statement.about for statement in find_statements(previous.query, names)} - {USER}
    return people.pop() if len(people) == 1 else ""


def _to_fact(turn: Turn, statement: Statement, quote: str) -> ProposedFact | None:
    """The fact of a statement; None if it speaks of a time long ago."""
    relation = get_relation(statement.relation)
    negated = statement.form == "negation"
    when = None if relation.name in _UNDATED_RELATIONS else _find_time(turn, quote)
    if when is not None and not any(word in quote.lower() for word in _STATE_SINCE):
        is_old = when.end < turn.at - MAX_AGE_OF_CHANGE
        if is_old and relation.kind != "event":
            return None
    sentence = compose_sentence(
        statement.about, relation.name, (statement.value,), negated=negated, lang=statement.lang
    )
    valid_from, valid_to = validity_period(relation.kind, when, "")
    if valid_from is not None and valid_from > turn.at:
        return None
    return ProposedFact(
        about=statement.about,
        relation=relation.name,
        value=statement.value,
        sentence=append_date(sentence, relation.kind, when, valid_from, negated=negated, lang=statement.lang),
        kind=relation.kind,
        negated=negated,
        valid_from=valid_from,
        valid_to=valid_to,
    )


def _find_time(turn: Turn, quote: str) -> TimeExpression | None:
    found = find_time_expressions(quote, turn.at, past=True)
    return found[0] if len(found) == 1 else None


def _is_same(fact: ProposedFact, objects: Iterable[str], negated: bool) -> bool:
    """Whether a known value says the same: "Lyon", or "Lyon, France" for "Lyon"."""
    if fact.negated != negated:
        return False
    new = object_key(fact.value)
    return any(new == object_key(old) or _refines(object_key(old), new) for old in objects)


def _is_replaced(fact: ProposedFact, objects: Iterable[str], negated: bool, statement: Statement) -> bool:
    """Whether the new fact makes a known one untrue."""
    relation = get_relation(fact.relation)
    if fact.negated != negated:
        return any(object_key(fact.value) == object_key(old) for old in objects)
    if relation.name == "takes":
        drug = strip_dose(fact.value)
        return drug != fact.value.lower() and any(strip_dose(old) == drug for old in objects)
    if fact.negated or statement.adds:
        return False
    if not relation.single_valued:
        is_rival = {"has": _is_recount, "prefers": _same_head}.get(relation.name)
        certain = statement.is_now or relation.name == "has"
        return is_rival is not None and certain and any(is_rival(fact.value, old) for old in objects)
    return not any(
        _refines(object_key(fact.value), object_key(old)) or _is_wider(old, fact.value) for old in objects
    )


def _is_recount(new: str, old: str) -> bool:
    """Whether two values are different numbers of the same things: "5 chickens" and "3 chickens"."""
    one, other = _COUNTED.fullmatch(new), _COUNTED.fullmatch(old)
    if one is None or other is None:
        return False
    return one[1] != other[1] and object_key(one[2]) == object_key(other[2])


def _same_head(new: str, old: str) -> bool:
    """Whether two values are of one sort: "aisle seats" and "window seats", 靠窗座位 and 过道座位."""
    if new.isascii():
        one, other = new.lower().split(), old.lower().split()
        return len(one) > 1 and len(other) > 1 and one[-1] == other[-1]
    return min(len(new), len(old)) > 2 and new[-2:] == old[-2:]


def _refines(new: str, old: str) -> bool:
    """Whether one value names the other and more: "montmartre, paris" and "paris"."""
    return new != old and (
        f" {old} " in f" {new.replace(',', ' ')} " or (not old.isascii() and new.startswith(old))
    )


def _is_wider(one: str, other: str) -> bool:
    """Whether exactly one of two places is a country or region, which may hold the other."""
    regions = load_language("en").lexicon.words("regions") | load_language("zh").lexicon.words("regions")
    return (one.lower() in regions) != (other.lower() in regions)


def _has_value(objects: Iterable[str], value: str) -> bool:
    """Whether a denied value means a known one: "coffee" means "black coffee" too."""
    key = object_key(strip_dose(value))
    return any(
        key in (object_key(old), object_key(strip_dose(old))) or object_key(old).endswith(f" {key}")
        for old in objects
    )
