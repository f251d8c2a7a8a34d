"""The template language of the grammar: choose alternatives, fill slots, and record where each slot was
filled.

A pattern is a sentence such as `[On|Late on] {date} {A} sold {a object}.` Brackets contain alternatives
(nested, possibly empty), braces a slot: `{a x}` adds the English article, `{@table}` draws from a table,
`{+pool}` continues with a pattern of a pool. In values, `<40-90/5>` is a number of that range and step. A
sentence before its slots are filled is a *shape*; shapes are counted to measure the variety of a world.
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
)  # spelled with a vowel, pronounced with a consonant
_SILENT_H_PREFIXES = ("hour", "honest", "heir", "honour")


@dataclass(frozen=True, slots=True)
class GeneratedText:
    """A finished text, and the span of the first use of each slot."""

    text: str
    spans: Mapping[str, Span]

    def anchor(self, slot: str) -> Anchor:
        start, end = self.spans[slot]
        return Anchor(self.text[start:end], start, end)


def indefinite_article(value: str) -> str:
    """The indefinite article of an English phrase, guessed from its spelling."""
    low = value.lower()
    if low.startswith(_SILENT_H_PREFIXES):
        return "an"
    return "an" if low[0] in "aeiou" and not low.startswith(_CONSONANT_SOUND_PREFIXES) else "a"


class TemplateEngine:
    """Draws and fills patterns for one world with one random generator."""

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
        """Pick an option; all options are used once before any is repeated."""
        deck = self._decks.setdefault(key, [])
        if not deck:
            deck.extend(options)
            self.rng.shuffle(deck)
        return deck.pop()

    def shape(self, pattern: str) -> str:
        """Choose the alternatives of a pattern and follow its pools; slots stay."""
        chosen = self._choose(pattern)
        while (match := re.search(r"\{\+([^{}]+)\}", chosen)) is not None:
            pool = match[1]
            if pool not in self._pools:
                raise LabError(f"the grammar has no pool {pool!r}; the pattern is {pattern!r}")
            more = self._choose(self.pick(f"+{pool}", self._pools[pool]))
            chosen = chosen[: match.start()] + more + chosen[match.end() :]
        return chosen

    def _choose(self, pattern: str) -> str:
        """Resolve the innermost brackets until none are left."""
        while (close := pattern.find("]")) >= 0:
            opening = pattern.rfind("[", 0, close)
            if opening < 0:
                raise LabError(f"unmatched closing bracket: {pattern!r}")
            chosen = self.rng.choice(pattern[opening + 1 : close].split("|"))
            pattern = pattern[:opening] + chosen + pattern[close + 1 :]
        if "[" in pattern:
            raise LabError(f"unmatched opening bracket: {pattern!r}")
        return pattern

    def draw(self, key: str, options: Sequence[str], slots: Mapping[str, str]) -> str:
        """Draw a value for a slot, including its numbers and tables."""
        return self.value(self.pick(key, options), slots)

    def value(self, pattern: str, slots: Mapping[str, str]) -> str:
        def number(match: re.Match[str]) -> str:
            low, high, step = int(match[1]), int(match[2]), int(match[3] or 1)
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
    """Builds one text; the first mention of a person is more explicit than later ones."""

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
        """Add a sentence to a memory text and count its shape."""
        shape = self._engine.shape(pattern)
        self._engine.count_sentences(shape, self._engine.shapes)
        self._append(shape)

    def ask(self, pattern: str) -> str:
        """Add a question, count its shape, and return the text."""
        shape = self._engine.shape(pattern)
        self._engine.count_sentences(shape, self._engine.questions)
        self._append(shape)
        return self._text

    def expand(self, shape: str) -> GeneratedText:
        """Fill a shape without capitalising or counting it."""
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
        for match in _SLOT.finditer(shape):
            self._text += shape[at : match.start()]
            self._put(match[1], shape)
            at = match.end()
        self._text += shape[at:]

    def _put(self, slot: str, shape: str) -> None:
        if slot.startswith("@"):
            self._text += self._engine.table(slot[1:])
            return
        if slot.startswith("a "):
            slot = slot[2:]
            self._text += indefinite_article(self._slots[slot]) + " "
        if (
            slot == "whose"
        ):  # introduce the second person by the relationship to the first, by name at the first mention
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
    """Capitalise the start of each sentence, because slots may be in lower case."""
    return re.sub(r"(?:^|(?<=[.!?] )|(?<=[.!?]” ))[a-zà-ÿ]", lambda match: match[0].upper(), text)
