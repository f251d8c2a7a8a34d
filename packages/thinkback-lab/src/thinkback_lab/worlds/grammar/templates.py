"""The pattern language of the grammar: alternatives are chosen, slots are filled, and every fill is located.

A pattern is a sentence such as `[On|Late on] {date} {A} sold {a object}.` Brackets hold alternatives (they
nest, one may be empty), braces a slot: `{a x}` puts the English article before it, `{@table}` draws from a
table, `{+pool}` goes on with a pattern of a pool. In values, `<40-90/5>` is a number of that range and step.
What stands before slots are filled is the *shape* of a sentence; the shapes are counted, so that the variety
of a world is known exactly and not only estimated.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from thinkback_lab.errors import LabError
from thinkback_lab.worlds.world import Anchor

Span = tuple[int, int]

_SLOT = re.compile(r"\{([^{}]+)\}")
_NUMBER = re.compile(r"<(\d+)-(\d+)(?:/(\d+))?>")
_SENTENCE = re.compile(r"[^.!?。！？]+[.!?。！？]*")
_CONSONANT_SOUND_PREFIXES = (
    "uni",
    "use",
    "usu",
    "euro",
    "one",
    "once",
    "ute",
)  # written with a vowel, said without one
_SILENT_H_PREFIXES = ("hour", "honest", "heir", "honour")


@dataclass(frozen=True, slots=True)
class GeneratedText:
    """A finished text, and where each slot was first said in it."""

    text: str
    spans: Mapping[str, Span]

    def anchor(self, slot: str) -> Anchor:
        start, end = self.spans[slot]
        return Anchor(self.text[start:end], start, end)


def indefinite_article(value: str) -> str:
    """The indefinite article of an English phrase, by sound as far as its spelling tells."""
    low = value.lower()
    if low.startswith(_SILENT_H_PREFIXES):
        return "an"
    return "an" if low[0] in "aeiou" and not low.startswith(_CONSONANT_SOUND_PREFIXES) else "a"


class TemplateEngine:
    """Draws and fills patterns for one world; every choice comes from its one generator."""

    def __init__(
        self, rng: random.Random, tables: Mapping[str, Sequence[str]], pools: Mapping[str, Sequence[str]]
    ) -> None:
        self.rng = rng
        self.shapes: Counter[str] = Counter()
        self.questions: Counter[str] = Counter()
        self._tables = tables
        self._pools = pools
        self._decks: dict[str, list[str]] = {}

    def pick(self, key: str, options: Sequence[str]) -> str:
        """One of the options; all of them come up before any comes again, which keeps them rare and even."""
        deck = self._decks.setdefault(key, [])
        if not deck:
            deck.extend(options)
            self.rng.shuffle(deck)
        return deck.pop()

    def shape(self, pattern: str) -> str:
        """The pattern with its alternatives chosen and its pools followed; slots stay."""
        chosen = self._choose(pattern)
        while (found := re.search(r"\{\+([^{}]+)\}", chosen)) is not None:
            pool = found[1]
            if pool not in self._pools:
                raise LabError(f"the grammar has no pool {pool!r}; the pattern is {pattern!r}")
            more = self._choose(self.pick(f"+{pool}", self._pools[pool]))
            chosen = chosen[: found.start()] + more + chosen[found.end() :]
        return chosen

    def _choose(self, pattern: str) -> str:
        """Resolve the innermost brackets until none is left."""
        while (close := pattern.find("]")) >= 0:
            opening = pattern.rfind("[", 0, close)
            if opening < 0:
                raise LabError(f"a bracket is closed that was not opened: {pattern!r}")
            chosen = self.rng.choice(pattern[opening + 1 : close].split("|"))
            pattern = pattern[:opening] + chosen + pattern[close + 1 :]
        if "[" in pattern:
            raise LabError(f"a bracket is not closed: {pattern!r}")
        return pattern

    def draw(self, key: str, options: Sequence[str], slots: Mapping[str, str]) -> str:
        """A value for a slot: one of the options, its numbers and tables drawn too."""
        return self.value(self.pick(key, options), slots)

    def value(self, pattern: str, slots: Mapping[str, str]) -> str:
        def number(found: re.Match[str]) -> str:
            low, high, step = int(found[1]), int(found[2]), int(found[3] or 1)
            return str(self.rng.randrange(low, high + 1, step))

        shaped = _NUMBER.sub(number, self.shape(pattern))
        return TextBuilder(self, slots).expand(shaped).text

    def table(self, name: str) -> str:
        if name not in self._tables:
            raise LabError(f"the grammar has no table {name!r}")
        return self.value(self.pick(f"@{name}", self._tables[name]), {})

    def count_sentences(self, shape: str, counter: Counter[str]) -> None:
        for sentence in _SENTENCE.findall(shape):
            if stripped := sentence.strip():
                counter[stripped] += 1


class TextBuilder:
    """One text in the making: sentences are added, the first mention of a person is fuller than the next."""

    def __init__(
        self,
        engine: TemplateEngine,
        slots: Mapping[str, str],
        first: Mapping[str, str] | None = None,
        joint: str = " ",
    ) -> None:
        self._engine = engine
        self._slots = slots
        self._first = dict(first or {})
        self._joint = joint
        self._text = ""
        self._spans: dict[str, Span] = {}

    def say(self, pattern: str) -> None:
        """Add a sentence of a memory; its shape is counted."""
        shape = self._engine.shape(pattern)
        self._engine.count_sentences(shape, self._engine.shapes)
        self._append(shape)

    def ask(self, pattern: str) -> str:
        """A question of this telling, as text; its shape is counted among the questions."""
        shape = self._engine.shape(pattern)
        self._engine.count_sentences(shape, self._engine.questions)
        self._append(shape)
        return self._text

    def expand(self, shape: str) -> GeneratedText:
        """The shape filled as it stands, without a capital or a count."""
        self._fill(shape)
        return self.passage()

    def passage(self) -> GeneratedText:
        return GeneratedText(self._text, dict(self._spans))

    def _append(self, shape: str) -> None:
        if self._text:
            self._text += self._joint
        start = len(self._text)
        self._fill(shape)
        self._text = self._text[:start] + capitalise_sentences(self._text[start:])

    def _fill(self, shape: str) -> None:
        at = 0
        for found in _SLOT.finditer(shape):
            self._text += shape[at : found.start()]
            self._put(found[1], shape)
            at = found.end()
        self._text += shape[at:]

    def _put(self, slot: str, shape: str) -> None:
        if slot.startswith("@"):
            self._text += self._engine.table(slot[1:])
            return
        if slot.startswith("a "):
            slot = slot[2:]
            self._text += indefinite_article(self._slots[slot]) + " "
        if slot == "whose":  # the other person is brought in by the tie to the first, named or not yet
            slot = "his"
            if "A" in self._first:
                self._put("A", shape)
                self._text += "'s"
                return
        if slot in self._first:
            self._fill(self._engine.shape(self._first.pop(slot)))
            return
        if slot not in self._slots:
            raise LabError(f"the grammar does not know the slot {slot!r}; the pattern is {shape!r}")
        start = len(self._text)
        self._text += self._slots[slot]
        self._spans.setdefault(slot, (start, len(self._text)))


def capitalise_sentences(text: str) -> str:
    """Each sentence with a capital at its start; slots may begin one in lower case."""
    return re.sub(r"(?:^|(?<=[.!?] )|(?<=[.!?]” ))[a-zà-ÿ]", lambda found: found[0].upper(), text)
