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

from thinkback.language.query_rewrite import non_relation_terms
from thinkback.language.sentences import ELLIPSIS, split_chunks
from thinkback.language.tokens import count_tokens, extract_terms, fold_text
from thinkback.types import Candidate, Recollection, Turn

MAX_SIDE_CHARS = 20_000  # characters of one side of a fragment
MAX_SENTENCES_PER_SIDE = 64  # sentences of one side that compete, those nearest to the question
MAX_SENTENCE_TOKENS = 48  # tokens of a sentence; a longer one is cut at its clauses
REDUNDANCY_PENALTY = 0.5  # of its gain a sentence loses when what is packed says all its words
MAX_BUDGET_SHARE = 0.5  # of the budget that one of several memories may take,
MIN_ITEM_TOKENS = 160  # tokens, which it may take at any rate
_TRIMMED_SUFFIX = "; trimmed to the budget"
_AFTER_THOUGHTS = 1 << 62  # a turn stands behind the thoughts that were drawn from it
MIN_MATCH_FACTOR = (
    0.5  # the gain of a sentence that shares no word with the question, beside 1 for one that shares all
)


@dataclass(frozen=True, slots=True)
class TextPart:
    """One side of a fragment: who said it, which is always kept, and what, which may be trimmed."""

    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class PackItem:
    """A memory that may be packed: its words, its value, and where it stands in a steady order.

    `turns` are those it tells of; one that is `drawn` from them (a thought) stands for each of their
    sentences that has no word more.
    """

    parts: tuple[TextPart, ...]
    value: float
    position: tuple[int, int] = (0, 0)
    turns: frozenset[int] = frozenset()
    is_thought: bool = False
    label: str = ""
    separator: str = " / "


@dataclass(frozen=True, slots=True)
class PackedItem:
    """A piece that fits, by its number among those given, and the words it is packed with."""

    number: int
    item: PackItem
    text: str
    tokens: int
    trimmed: bool


def pack(
    question: str, items: Sequence[PackItem], budget: int, *, overhead: int = 0
) -> tuple[PackedItem, ...]:
    """The pieces that fit into `budget` tokens, in the order given; `each` more is paid for every piece."""
    asked = frozenset(non_relation_terms(question))
    boxes = [_ItemPacker(number, piece, asked) for number, piece in enumerate(items)]
    waiting = [unit for box in boxes for unit in box.sentences]
    left = budget
    most = budget if len(items) == 1 else max(int(budget * MAX_BUDGET_SHARE), MIN_ITEM_TOKENS)
    while waiting:
        best = _covering_thought(max(waiting, key=_PackSentence.priority), waiting)
        waiting.remove(best)
        price = best.packer.cost_of(best) + (0 if best.packer.packed else overhead)
        if price <= left and best.packer.tokens + price <= most:
            left -= price
            best.packer.add(best)
            waiting = [unit for unit in waiting if unit.is_new_after(best)]
    return tuple(box.result() for box in boxes if box.packed)


def stable_order(packed: Iterable[PackedItem]) -> list[PackedItem]:
    """In the order of their places, oldest first: what stays recalled from one turn to the next stands where
    it stood, and what is new comes behind it. Only the order changes, so it costs nothing.
    """
    return sorted(packed, key=lambda each: (each.item.position, each.number))


def fit_to_budget(found: Recollection, budget: int, *, explain: bool = False) -> Recollection:
    """A recollection in at most so many tokens, best first as it was; `explain` keeps what did not fit."""
    fits = {each.number: each for each in pack(found.query, [to_pack_item(item) for item in found], budget)}
    items = [
        replace(item, text=fits[number].text, reason=f"{item.reason}{_TRIMMED_SUFFIX * fits[number].trimmed}")
        for number, item in enumerate(found)
        if number in fits
    ]
    left = [item for number, item in enumerate(found) if number not in fits]
    reason = f"beyond the budget of {budget} tokens, or said already"
    over = [replace(item, reason=f"{reason}: {item.reason.partition(': ')[2]}") for item in left]
    return replace(found, items=tuple(items), dropped=(*over, *found.dropped) if explain else found.dropped)


def to_pack_item(item: Candidate, *, attributed: bool = False) -> PackItem:
    """A recalled memory; `told` says of a raw turn who said it and when.

    What recall notes behind a turn's own words ("past, ...") belongs to it, and is never trimmed away.
    """
    turn = item.turn
    if turn is None:
        sources = item.thought.sources if item.thought else ()
        turns = frozenset(source.turn for source in sources)
        place = (min(turns, default=0), item.ref.id)
        return PackItem((TextPart(item.text),), item.score.total, place, turns, is_thought=True)
    noted = item.text.removeprefix(turn.text).strip() if item.text.startswith(turn.text) else ""
    date = f"on {turn.at:%Y-%m-%d}" if attributed else ""
    label, joint = " ".join(filter(None, (date, noted))), " / " if attributed else "\n"
    parts = tuple(
        TextPart(words, f"{speaker}:" if attributed else "") for speaker, words in _sides(turn) if words
    )
    place = (turn.id, _AFTER_THOUGHTS)
    return PackItem(parts, item.score.total, place, frozenset((turn.id,)), label=label, separator=joint)


def _sides(turn: Turn) -> tuple[tuple[str, str], tuple[str, str]]:
    return (turn.asker, turn.query), (turn.answerer, turn.response)


@dataclass(slots=True, eq=False)
class _PackSentence:
    """A sentence that may be packed; `worth` is its gain while nothing is packed, `novelty` what is left."""

    packer: _ItemPacker
    index: int  # its number in the box
    part: int
    start: int
    end: int
    text: str
    words: frozenset[str]
    gain: float
    novelty: float = 1.0
    folded: str = field(init=False)

    def __post_init__(self) -> None:
        self.folded = fold_text(self.text)

    def priority(self) -> tuple[float, int, int]:
        """The most gain first, then as given."""
        return self.gain * self.novelty, -self.packer.number, -self.index

    def is_new_after(self, other: _PackSentence) -> bool:
        """Whether this says more than the other one, which is packed now; from now on it counts for less."""
        if self.packer is other.packer:
            return True
        said = len(self.words & other.words) / len(self.words) if self.words else 0.0
        if self.folded == other.folded or (said == 1.0 and other.packer.covers(self.packer)):
            return False
        self.novelty = min(self.novelty, 1 - REDUNDANCY_PENALTY * said)
        return True


def _covering_thought(unit: _PackSentence, others: Sequence[_PackSentence]) -> _PackSentence:
    """The thought that says all of this sentence of its turn, or the sentence itself."""
    for each in others:
        if unit.words and unit.words <= each.words and each.packer.covers(unit.packer):
            return each
    return unit


class _ItemPacker:
    """One piece on its way into the budget: its sentences, and those that are packed."""

    def __init__(self, number: int, piece: PackItem, asked: frozenset[str]) -> None:
        self.number = number
        self.piece = piece
        self.packed: list[_PackSentence] = []
        self.tokens = 0
        self.sentences: list[_PackSentence] = []
        for index, part in enumerate(piece.parts):
            self.sentences += self._split_part(index, part, asked)

    def covers(self, other: _ItemPacker) -> bool:
        """Whether this is a thought that was drawn from the other one."""
        drawn = self.piece.is_thought and not other.piece.is_thought
        return drawn and not self.piece.turns.isdisjoint(other.piece.turns)

    def _split_part(self, index: int, part: TextPart, asked: frozenset[str]) -> list[_PackSentence]:
        found: list[_PackSentence] = []
        for sentence in split_chunks(
            part.text[:MAX_SIDE_CHARS], lambda text: count_tokens(text) <= MAX_SENTENCE_TOKENS
        ):
            words = frozenset(extract_terms(sentence.text))
            match = len(asked & words) / len(asked) if asked else 0.0
            worth = max(self.piece.value, 0.0) * (MIN_MATCH_FACTOR + (1 - MIN_MATCH_FACTOR) * match)
            at = len(self.sentences) + len(found)
            found.append(
                _PackSentence(self, at, index, sentence.start, sentence.end, sentence.text, words, worth)
            )
        if len(found) > MAX_SENTENCES_PER_SIDE:
            nearest = sorted(found, key=lambda unit: (-unit.gain, unit.index))[:MAX_SENTENCES_PER_SIDE]
            found = sorted(nearest, key=lambda unit: unit.index)
        return found

    def cost_of(self, unit: _PackSentence) -> int:
        """How many tokens more it takes to say this as well."""
        return count_tokens(self._text([*self.packed, unit])) - self.tokens

    def add(self, unit: _PackSentence) -> None:
        self.packed.append(unit)
        self.tokens = count_tokens(self._text(self.packed))

    def result(self) -> PackedItem:
        text = self._text(self.packed)
        whole = all(self._is_complete(index) for index in range(len(self.piece.parts)))
        return PackedItem(self.number, self.piece, text, self.tokens, not whole)

    def _is_complete(self, index: int) -> bool:
        said = self._packed_text(index, self.packed)
        return said == self.piece.parts[index].text.strip()

    def _text(self, units: Sequence[_PackSentence]) -> str:
        sides = [
            f"{part.label} {said}" if part.label else said
            for index, part in enumerate(self.piece.parts)
            if (said := self._packed_text(index, units))
        ]
        text = self.piece.separator.join(sides)
        return f"{self.piece.label} {text}" if self.piece.label else text

    def _packed_text(self, index: int, units: Sequence[_PackSentence]) -> str:
        """One side in the words packed of it, a sign for each gap."""
        chosen = sorted((unit for unit in units if unit.part == index), key=lambda unit: unit.index)
        if not chosen:
            return ""
        text = self.piece.parts[index].text
        out, end = "", 0
        for unit in chosen:
            between = text[end : unit.start]
            out += f" {ELLIPSIS} " if between.strip() else between if end else ""
            out += unit.text
            end = unit.end
        return (out + f" {ELLIPSIS}" if text[end:].strip() else out).strip()
