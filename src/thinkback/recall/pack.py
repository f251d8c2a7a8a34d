"""Memories packed into a token budget: by value, and by what they add to each other, sentence by sentence.

Maximal marginal relevance, greedy and deterministic. What competes are sentences, so a long fragment is
trimmed around the words that match the question rather than dropped. A sentence's gain is its memory's score,
more where it shares words with the question, less where what is packed already says it. It is not divided by
what it costs: that was measured to prefer the short to the telling (`benchmarks/packing.py`).

Knows nothing of chats or prompts: give it `Piece`s, get back which of them fit, and in which words.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from thinkback.text.questions.asking import open_terms
from thinkback.text.tokens import count_tokens, fold, terms
from thinkback.text.trim import GAP, chunks
from thinkback.types import Candidate, Recollection, Turn

LOOKED_AT = 20_000  # characters of one side of a fragment
UNITS = 64  # sentences of one side that compete, those nearest to the question
LONGEST = 48  # tokens of a sentence; a longer one is cut at its clauses
REPEATED = 0.5  # of its gain a sentence loses when what is packed says all its words
SHARE = 0.5  # of the budget that one of several memories may take,
FRAGMENT = 160  # tokens, which it may take at any rate
_TRIMMED = "; trimmed to the budget"
_LAST = 1 << 62  # a turn stands behind the thoughts that were drawn from it
PLAIN = 0.5  # the gain of a sentence that shares no word with the question, beside 1 for one that shares all


@dataclass(frozen=True, slots=True)
class Part:
    """One side of a fragment: who said it, which is always kept, and what, which may be trimmed."""

    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Piece:
    """A memory that may be packed: its words, its value, and where it stands in a steady order.

    `turns` are those it tells of; one that is `drawn` from them (a thought) stands for each of their
    sentences that has no word more.
    """

    parts: tuple[Part, ...]
    value: float
    place: tuple[int, int] = (0, 0)
    turns: frozenset[int] = frozenset()
    drawn: bool = False
    label: str = ""
    joint: str = " / "


@dataclass(frozen=True, slots=True)
class Packed:
    """A piece that fits, by its number among those given, and the words it is packed with."""

    number: int
    piece: Piece
    text: str
    tokens: int
    trimmed: bool


def pack(question: str, pieces: Sequence[Piece], budget: int, *, each: int = 0) -> tuple[Packed, ...]:
    """The pieces that fit into `budget` tokens, in the order given; `each` more is paid for every piece."""
    asked = frozenset(open_terms(question))
    boxes = [_Box(number, piece, asked) for number, piece in enumerate(pieces)]
    waiting = [unit for box in boxes for unit in box.units]
    left = budget
    most = budget if len(pieces) == 1 else max(int(budget * SHARE), FRAGMENT)
    while waiting:
        best = _teller(max(waiting, key=_Unit.order), waiting)
        waiting.remove(best)
        price = best.box.price_with(best) + (0 if best.box.packed else each)
        if price <= left and best.box.tokens + price <= most:
            left -= price
            best.box.add(best)
            waiting = [unit for unit in waiting if unit.adds_to(best)]
    return tuple(box.result() for box in boxes if box.packed)


def steady(packed: Iterable[Packed]) -> list[Packed]:
    """In the order of their places, oldest first: what stays recalled from one turn to the next stands where
    it stood, and what is new comes behind it. Only the order changes, so it costs nothing.
    """
    return sorted(packed, key=lambda each: (each.piece.place, each.number))


def fitted(found: Recollection, budget: int, *, explain: bool = False) -> Recollection:
    """A recollection in at most so many tokens, best first as it was; `explain` keeps what did not fit."""
    fits = {each.number: each for each in pack(found.query, [piece_of(item) for item in found], budget)}
    items = [
        replace(item, text=fits[number].text, reason=f"{item.reason}{_TRIMMED * fits[number].trimmed}")
        for number, item in enumerate(found)
        if number in fits
    ]
    left = [item for number, item in enumerate(found) if number not in fits]
    reason = f"beyond the budget of {budget} tokens, or said already"
    over = [replace(item, reason=f"{reason}: {item.reason.partition(': ')[2]}") for item in left]
    return replace(found, items=tuple(items), dropped=(*over, *found.dropped) if explain else found.dropped)


def piece_of(item: Candidate, *, told: bool = False) -> Piece:
    """A recalled memory; `told` says of a raw turn who said it and when.

    What recall notes behind a turn's own words ("past, ...") belongs to it, and is never trimmed away.
    """
    turn = item.turn
    if turn is None:
        sources = item.thought.sources if item.thought else ()
        turns = frozenset(source.turn for source in sources)
        place = (min(turns, default=0), item.ref.id)
        return Piece((Part(item.text),), item.score.total, place, turns, drawn=True)
    noted = item.text.removeprefix(turn.text).strip() if item.text.startswith(turn.text) else ""
    date = f"on {turn.at:%Y-%m-%d}" if told else ""
    label, joint = " ".join(filter(None, (date, noted))), " / " if told else "\n"
    parts = tuple(Part(words, f"{speaker}:" if told else "") for speaker, words in _sides(turn) if words)
    place = (turn.id, _LAST)
    return Piece(parts, item.score.total, place, frozenset((turn.id,)), label=label, joint=joint)


def _sides(turn: Turn) -> tuple[tuple[str, str], tuple[str, str]]:
    return (turn.asker, turn.query), (turn.answerer, turn.response)


@dataclass(slots=True, eq=False)
class _Unit:
    """A sentence that may be packed; `worth` is its gain while nothing is packed, `novelty` what is left."""

    box: _Box
    at: int  # its number in the box
    part: int
    start: int
    end: int
    text: str
    words: frozenset[str]
    worth: float
    novelty: float = 1.0
    folded: str = field(init=False)

    def __post_init__(self) -> None:
        self.folded = fold(self.text)

    def order(self) -> tuple[float, int, int]:
        """The most gain first, then as given."""
        return self.worth * self.novelty, -self.box.number, -self.at

    def adds_to(self, other: _Unit) -> bool:
        """Whether this says more than the other one, which is packed now; from now on it counts for less."""
        if self.box is other.box:
            return True
        said = len(self.words & other.words) / len(self.words) if self.words else 0.0
        if self.folded == other.folded or (said == 1.0 and other.box.stands_for(self.box)):
            return False
        self.novelty = min(self.novelty, 1 - REPEATED * said)
        return True


def _teller(unit: _Unit, others: Sequence[_Unit]) -> _Unit:
    """The thought that says all of this sentence of its turn, or the sentence itself."""
    for each in others:
        if unit.words and unit.words <= each.words and each.box.stands_for(unit.box):
            return each
    return unit


class _Box:
    """One piece on its way into the budget: its sentences, and those that are packed."""

    def __init__(self, number: int, piece: Piece, asked: frozenset[str]) -> None:
        self.number = number
        self.piece = piece
        self.packed: list[_Unit] = []
        self.tokens = 0
        self.units: list[_Unit] = []
        for index, part in enumerate(piece.parts):
            self.units += self._units(index, part, asked)

    def stands_for(self, other: _Box) -> bool:
        """Whether this is a thought that was drawn from the other one."""
        drawn = self.piece.drawn and not other.piece.drawn
        return drawn and not self.piece.turns.isdisjoint(other.piece.turns)

    def _units(self, index: int, part: Part, asked: frozenset[str]) -> list[_Unit]:
        found: list[_Unit] = []
        for sentence in chunks(part.text[:LOOKED_AT], lambda text: count_tokens(text) <= LONGEST):
            words = frozenset(terms(sentence.text))
            match = len(asked & words) / len(asked) if asked else 0.0
            worth = max(self.piece.value, 0.0) * (PLAIN + (1 - PLAIN) * match)
            at = len(self.units) + len(found)
            found.append(_Unit(self, at, index, sentence.start, sentence.end, sentence.text, words, worth))
        if len(found) > UNITS:
            nearest = sorted(found, key=lambda unit: (-unit.worth, unit.at))[:UNITS]
            found = sorted(nearest, key=lambda unit: unit.at)
        return found

    def price_with(self, unit: _Unit) -> int:
        """How many tokens more it takes to say this as well."""
        return count_tokens(self._text([*self.packed, unit])) - self.tokens

    def add(self, unit: _Unit) -> None:
        self.packed.append(unit)
        self.tokens = count_tokens(self._text(self.packed))

    def result(self) -> Packed:
        text = self._text(self.packed)
        whole = all(self._complete(index) for index in range(len(self.piece.parts)))
        return Packed(self.number, self.piece, text, self.tokens, not whole)

    def _complete(self, index: int) -> bool:
        said = self._said(index, self.packed)
        return said == self.piece.parts[index].text.strip()

    def _text(self, units: Sequence[_Unit]) -> str:
        sides = [
            f"{part.label} {said}" if part.label else said
            for index, part in enumerate(self.piece.parts)
            if (said := self._said(index, units))
        ]
        text = self.piece.joint.join(sides)
        return f"{self.piece.label} {text}" if self.piece.label else text

    def _said(self, index: int, units: Sequence[_Unit]) -> str:
        """One side in the words packed of it, a sign for each gap."""
        chosen = sorted((unit for unit in units if unit.part == index), key=lambda unit: unit.at)
        if not chosen:
            return ""
        text = self.piece.parts[index].text
        out, end = "", 0
        for unit in chosen:
            between = text[end : unit.start]
            out += f" {GAP} " if between.strip() else between if end else ""
            out += unit.text
            end = unit.end
        return (out + f" {GAP}" if text[end:].strip() else out).strip()
