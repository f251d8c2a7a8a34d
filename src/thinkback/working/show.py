"""A summary in words, as much as a budget holds: first what the question needs, then what was said last.

Items are chosen, then put under their headings in the order in which they were said. An excluded option that
anything else in the context mentions is always among the first: it must not be read as open.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from thinkback.text.safety.trust import redact
from thinkback.text.tokens import count_tokens, terms
from thinkback.types import Excluded, Summary, SummaryField
from thinkback.working import cues
from thinkback.working.by_rules import ANSWERED
from thinkback.working.items import Named, plain
from thinkback.working.kind_of_talk import STRATEGIES
from thinkback.working.types import CONFIRMED

HEADINGS: dict[SummaryField, str] = {
    "topic": "Topic:",
    "conclusion": "Conclusion so far:",
    "excluded": "Excluded, not to be proposed again:",
    "constraints": "Constraints, in the user's words:",
    "needs": "Needs, in the user's words:",
    "facts": "Facts, in the user's words:",
    "to_clarify": "Still open, to be settled before a solution:",
    "discussed": "Discussed before:",
}
EMPTY = "The conversation has just begun."
_OPEN = 3  # questions shown at once; the model asks one at a time


class Item(NamedTuple):
    field: SummaryField
    number: int
    text: str

    @property
    def line(self) -> str:
        return self.text if self.field in ("topic", "conclusion") else f"- {self.text}"


def shown(summary: Summary, message: str, elsewhere: str, budget: int) -> str:
    """The summary for one message, at most `budget` tokens; `elsewhere` is the rest of the context."""
    told = plain(elsewhere)
    items = {item for item in every(summary) if item.field == "excluded" or plain(_said(item)) not in told}
    chosen: dict[tuple[SummaryField, int], Item] = {}
    left = budget
    headed: set[SummaryField] = set()
    for item in _ranked(items, summary, message, elsewhere):
        short = item._replace(text=_said(item))
        cost = count_tokens(short.line) + 1
        cost += 0 if item.field in headed else count_tokens(HEADINGS[item.field]) + 1
        if cost <= left:
            chosen[item.field, item.number] = short
            headed.add(item.field)
            left -= cost
    for item in sorted(items, key=lambda item: -item.number):  # what room is left tells how answers began
        if (item.field, item.number) in chosen and ANSWERED in item.text:
            more = count_tokens(item.text) - count_tokens(_said(item))
            if more <= left:
                chosen[item.field, item.number] = item
                left -= more
    return _laid_out(chosen.values())


def notes(summary: Summary, budget: int) -> str:
    """The summary for whoever goes on with it: nothing asked, nothing told elsewhere."""
    return shown(summary, "", "", budget)


def every(summary: Summary) -> Iterator[Item]:
    """All items of a summary as text; an order or a secret that a model or a file put in is left out."""
    for name in HEADINGS:
        held = getattr(summary, name)
        for number, item in enumerate((held,) if isinstance(held, str) else held):
            text = _out(item) if isinstance(item, Excluded) else item
            if text:
                yield Item(name, number, redact(text))


def _out(item: Excluded) -> str:
    return f"{item.option} ({item.reason})" if item.reason else f"{item.option} (no reason was given)"


def _said(item: Item) -> str:
    return item.text.partition(ANSWERED)[0] if item.field == "discussed" else item.text


def _ranked(items: set[Item], summary: Summary, message: str, elsewhere: str) -> list[Item]:
    """Most wanted first; the order is the same for the same summary and message."""
    near = _nearness(items, message)
    about = Named(f"{message}\n{elsewhere}")
    mentioned = {n for n, each in enumerate(summary.excluded) if each.option in about}
    if cues.asks_for_excluded(message):
        mentioned = set(range(len(summary.excluded)))
    first = [*STRATEGIES[summary.talk].first]
    order = [first[0], "excluded", *first[1:], "discussed", "to_clarify"]
    latest = {
        name: max((item.number for item in items if item.field == name), default=0) for name in HEADINGS
    }

    def rank(item: Item) -> tuple[float, ...]:
        newest = latest[item.field] - item.number
        if item.field in ("topic", "conclusion"):
            return (0, 0, 0)
        if item.field == "excluded" and item.number in mentioned:
            return (1, -near[item], newest)
        if item.field == "to_clarify" and newest < _OPEN:
            return (2, newest, 0)
        if near[item] > 0:
            return (3, -near[item], newest)
        return (4, order.index(item.field) if item.field in (*CONFIRMED, "excluded") else len(order), newest)

    return sorted(items, key=lambda item: (*rank(item), item.field, item.number))


def _nearness(items: set[Item], message: str) -> dict[Item, float]:
    """How much of the message's words an item holds, rare ones counting more."""
    words = {item: set(terms(item.text)) for item in items}
    spread = Counter(term for held in words.values() for term in held)
    asked = set(terms(message))
    return {
        item: sum(math.log(1 + len(items) / spread[term]) for term in held & asked)
        for item, held in words.items()
    }


def _laid_out(items: Iterable[Item]) -> str:
    by_field: dict[SummaryField, list[Item]] = {}
    for item in sorted(items, key=lambda item: item.number):
        by_field.setdefault(item.field, []).append(item)
    lines: list[str] = []
    for name, heading in HEADINGS.items():
        held = by_field.get(name, [])
        if name in ("topic", "conclusion"):
            lines += [f"{heading} {item.line}" for item in held]
        elif held:
            lines += [heading, *(item.line for item in held)]
    return "\n".join(lines) or EMPTY
