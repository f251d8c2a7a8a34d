"""Packs memories into a token budget, sentence by sentence.

Greedy maximal marginal relevance, deterministic. Sentences compete, so that a long turn is trimmed around the
words that match the question instead of being dropped. The gain of a sentence is the score of its memory,
higher if it shares words with the question, lower if the packed text already says it. The gain is not divided
by the cost: measured, that prefers short sentences to informative ones (`benchmarks/packing.py`). If all
items fit and no two say the same, every sentence would be chosen, so none is rated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from thinkback.language.query_rewrite import non_relation_terms
from thinkback.language.sentences import ELLIPSIS, Sentence, split_chunks
from thinkback.language.spoken_dates import add_dates
from thinkback.language.tokens import count_tokens, extract_terms, fold_text
from thinkback.prompts import escape_structure, own_answer
from thinkback.recall.outdated import mark_outdated
from thinkback.types import Candidate, Recollection, Turn

MAX_SIDE_CHARS = 20_000  # of one side of a turn
MAX_SENTENCES_PER_SIDE = 64  # that compete, the best matches
MAX_SENTENCE_TOKENS = 48  # longer sentences are cut at their clauses
REDUNDANCY_PENALTY = 0.5  # share of the gain that a sentence loses if the packed text contains all its words
MAX_BUDGET_SHARE = 0.5  # that one of several memories may use
MIN_ITEM_TOKENS = 160  # that a memory may use in any case
MIN_MATCH_FACTOR = 0.5  # gain of a sentence without a word of the question; 1 with all of them
_TRIMMED_SUFFIX = "; trimmed to the budget"
_AFTER_THOUGHTS = 1 << 62  # sort position of a turn: after the thoughts drawn from it


@dataclass(frozen=True, slots=True)
class TextPart:
    """One side of a turn: the text, which may be trimmed, and a label, which is always kept."""

    text: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class PackItem:
    """A memory to pack: its text, its value, and its position in a stable order.

    `turns` are its source turns. A thought replaces each sentence of its turns that has no further words.
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
    """An item that fits: its index among the given items, and the text it is packed with."""

    number: int
    item: PackItem
    text: str
    tokens: int
    trimmed: bool


def pack(
    question: str, items: Sequence[PackItem], budget: int, *, overhead: int = 0
) -> tuple[PackedItem, ...]:
    """The items that fit into `budget` tokens, in the given order. Each costs `overhead` tokens extra."""
    max_item_tokens = budget if len(items) == 1 else max(int(budget * MAX_BUDGET_SHARE), MIN_ITEM_TOKENS)
    split = [_SplitItem(item, [_split_part(part) for part in item.parts]) for item in items]
    whole = _pack_whole(split, budget, max_item_tokens, overhead)
    if whole is not None:
        return whole
    question_terms = frozenset(non_relation_terms(question))
    packers = [_ItemPacker(number, item, question_terms) for number, item in enumerate(split)]
    waiting = [sentence for packer in packers for sentence in packer.sentences]
    tokens_left = budget
    while waiting:
        best = _covering_thought(max(waiting, key=_PackSentence.priority), waiting)
        waiting.remove(best)
        cost = best.packer.cost_of(best) + (0 if best.packer.packed else overhead)
        if cost <= tokens_left and best.packer.tokens + cost <= max_item_tokens:
            tokens_left -= cost
            best.packer.add(best)
            waiting = [sentence for sentence in waiting if sentence.is_new_after(best)]
    return tuple(packer.result() for packer in packers if packer.packed)


class _SplitItem(NamedTuple):
    """An item with the sentences of each of its parts; long ones are cut at their clauses."""

    item: PackItem
    sentences: Sequence[Sequence[Sentence]]


def _split_part(part: TextPart) -> list[Sentence]:
    return split_chunks(part.text[:MAX_SIDE_CHARS], lambda text: count_tokens(text) <= MAX_SENTENCE_TOKENS)


def _pack_whole(
    items: Sequence[_SplitItem], budget: int, max_item_tokens: int, overhead: int
) -> tuple[PackedItem, ...] | None:
    """All items whole, if they fit and no two of them say the same; None if sentences must be chosen.

    While a sentence is missing, the ellipsis in its place may cost a token more than the sentence, so there
    must be room for a token more per sentence.
    """
    covered = set[int]().union(*(item.turns for item, _ in items if item.is_thought))
    said: set[str] = set()
    packed: list[PackedItem] = []
    for number, (item, parts) in enumerate(items):
        texts = [sentence.text for part in parts for sentence in part]
        if not texts:
            continue
        if not item.is_thought and not covered.isdisjoint(item.turns):
            return None
        if any(
            len(part.text) > MAX_SIDE_CHARS or len(sentences) > MAX_SENTENCES_PER_SIDE
            for part, sentences in zip(item.parts, parts, strict=True)
        ):
            return None
        text = _lay_out(item, [part.text.strip() for part in item.parts])
        tokens = count_tokens(text)
        budget -= tokens + len(texts) + overhead
        folded = {fold_text(text) for text in texts}
        if budget < 0 or tokens + len(texts) > max_item_tokens or not said.isdisjoint(folded):
            return None
        said |= folded
        packed.append(PackedItem(number, item, text, tokens, trimmed=False))
    return tuple(packed)


def _lay_out(item: PackItem, texts: Iterable[str]) -> str:
    """The text of an item, given that of each of its parts; empty ones are left out."""
    sides = [
        f"{part.label} {text}" if part.label else text
        for part, text in zip(item.parts, texts, strict=True)
        if text
    ]
    text = item.separator.join(sides)
    return f"{item.label} {text}" if item.label else text


def stable_order(packed: Iterable[PackedItem]) -> list[PackedItem]:
    """Sorted by position, oldest first.

    Memories that stay recalled from turn to turn keep their place in the prompt, and new ones follow.
    """
    return sorted(packed, key=lambda packed_item: (packed_item.item.position, packed_item.number))


def fit_to_budget(recollection: Recollection, budget: int, *, explain: bool = False) -> Recollection:
    """The recollection trimmed to `budget` tokens.

    With `explain`, items that do not fit are kept as dropped candidates.
    """
    packed = {
        packed_item.number: packed_item
        for packed_item in pack(recollection.query, [to_pack_item(item) for item in recollection], budget)
    }
    items = [
        replace(
            item, text=packed[number].text, reason=f"{item.reason}{_TRIMMED_SUFFIX * packed[number].trimmed}"
        )
        for number, item in enumerate(recollection)
        if number in packed
    ]
    excluded = [item for number, item in enumerate(recollection) if number not in packed]
    reason = f"beyond the budget of {budget} tokens, or said already"
    dropped = [replace(item, reason=f"{reason}: {item.reason.partition(': ')[2]}") for item in excluded]
    return replace(
        recollection,
        items=tuple(items),
        dropped=(*dropped, *recollection.dropped) if explain else recollection.dropped,
    )


def to_pack_item(item: Candidate, *, attributed: bool = False) -> PackItem:
    """A recalled memory as an item. `attributed` adds speakers and date to a raw turn.

    The note that a turn is outdated becomes part of the label, which is never trimmed.
    """
    turn = item.turn
    if turn is None:
        sources = [source for thought in item.thoughts for source in thought.sources]
        turns = frozenset(source.turn for source in sources)
        position = (min(turns, default=0), item.ref.id)
        return PackItem((TextPart(item.text),), item.score.total, position, turns, is_thought=True)
    note = mark_outdated("", item.outdated).strip()
    date = f"on {turn.at:%Y-%m-%d}" if attributed else ""
    label, separator = " ".join(filter(None, (date, note))), " / " if attributed else "\n"
    parts = tuple(
        TextPart(words, f"{speaker}:" if attributed else "")
        for speaker, words in _sides(turn, item.with_response)
        if words
    )
    position = (turn.id, _AFTER_THOUGHTS)
    return PackItem(
        parts, item.score.total, position, frozenset((turn.id,)), label=label, separator=separator
    )


def _sides(turn: Turn, with_response: bool) -> Iterator[tuple[str, str]]:
    """Speaker and words of the sides that are shown; relative dates are resolved in the user's words."""
    if turn.query:
        yield turn.asker, escape_structure(add_dates(turn.query[:MAX_SIDE_CHARS], turn.at))
    if with_response or not turn.query:
        yield turn.answerer, escape_structure(own_answer(turn.response[:MAX_SIDE_CHARS]).strip())


@dataclass(slots=True, eq=False)
class _PackSentence:
    """A sentence that may be packed.

    `gain` is its value in an empty pack, `novelty` the factor for redundancy.
    """

    packer: _ItemPacker
    index: int
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
        """Highest gain first, then the given order."""
        return self.gain * self.novelty, -self.packer.number, -self.index

    def is_new_after(self, other: _PackSentence) -> bool:
        """Whether this still adds something now that `other` is packed; lowers `novelty`."""
        if self.packer is other.packer:
            return True
        overlap = len(self.words & other.words) / len(self.words) if self.words else 0.0
        if self.folded == other.folded or (overlap == 1.0 and other.packer.covers(self.packer)):
            return False
        self.novelty = min(self.novelty, 1 - REDUNDANCY_PENALTY * overlap)
        return True


def _covering_thought(sentence: _PackSentence, others: Sequence[_PackSentence]) -> _PackSentence:
    """The thought that says everything in this sentence of its turn, or the sentence itself."""
    for other in others:
        if sentence.words and sentence.words <= other.words and other.packer.covers(sentence.packer):
            return other
    return sentence


class _ItemPacker:
    """One item while it is packed: all its sentences, and those that are packed."""

    def __init__(self, number: int, split: _SplitItem, question_terms: frozenset[str]) -> None:
        self.number = number
        self.piece, parts = split
        self.packed: list[_PackSentence] = []
        self.tokens = 0
        self.sentences: list[_PackSentence] = []
        for index, sentences in enumerate(parts):
            self.sentences += self._rate(index, sentences, question_terms)

    def covers(self, other: _ItemPacker) -> bool:
        """Whether this is a thought drawn from the other item, a turn."""
        thought_and_turn = self.piece.is_thought and not other.piece.is_thought
        return thought_and_turn and not self.piece.turns.isdisjoint(other.piece.turns)

    def _rate(
        self, index: int, part: Sequence[Sentence], question_terms: frozenset[str]
    ) -> list[_PackSentence]:
        """The sentences of one part that compete, with their gains."""
        sentences: list[_PackSentence] = []
        for sentence in part:
            words = frozenset(extract_terms(sentence.text))
            match = len(question_terms & words) / len(question_terms) if question_terms else 0.0
            gain = max(self.piece.value, 0.0) * (MIN_MATCH_FACTOR + (1 - MIN_MATCH_FACTOR) * match)
            position = len(self.sentences) + len(sentences)
            sentences.append(
                _PackSentence(self, position, index, sentence.start, sentence.end, sentence.text, words, gain)
            )
        if len(sentences) > MAX_SENTENCES_PER_SIDE:
            nearest = sorted(sentences, key=lambda unit: (-unit.gain, unit.index))[:MAX_SENTENCES_PER_SIDE]
            sentences = sorted(nearest, key=lambda unit: unit.index)
        return sentences

    def cost_of(self, sentence: _PackSentence) -> int:
        """The number of tokens that adding this sentence costs."""
        return count_tokens(self._text([*self.packed, sentence])) - self.tokens

    def add(self, sentence: _PackSentence) -> None:
        self.packed.append(sentence)
        self.tokens = count_tokens(self._text(self.packed))

    def result(self) -> PackedItem:
        text = self._text(self.packed)
        whole = all(self._is_complete(index) for index in range(len(self.piece.parts)))
        return PackedItem(self.number, self.piece, text, self.tokens, not whole)

    def _is_complete(self, index: int) -> bool:
        text = self._packed_text(index, self.packed)
        return text == self.piece.parts[index].text.strip()

    def _text(self, sentences: Sequence[_PackSentence]) -> str:
        texts = (self._packed_text(index, sentences) for index in range(len(self.piece.parts)))
        return _lay_out(self.piece, texts)

    def _packed_text(self, index: int, sentences: Sequence[_PackSentence]) -> str:
        """The packed sentences of one side, with an ellipsis for each gap."""
        chosen = sorted(
            (sentence for sentence in sentences if sentence.part == index),
            key=lambda sentence: sentence.index,
        )
        if not chosen:
            return ""
        text = self.piece.parts[index].text
        result, end = "", 0
        for sentence in chosen:
            gap = text[end : sentence.start]
            result += f" {ELLIPSIS} " if gap.strip() else gap if end else ""
            result += sentence.text
            end = sentence.end
        return (result + f" {ELLIPSIS}" if text[end:].strip() else result).strip()
