"""A summary in words, as much as a budget holds: first what the question needs, then what was said last.

Items are chosen, then put under their headings in the order in which they were said. An excluded option that
anything else in the context mentions is always among the first: it must not be read as open.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from thinkback.language.safety.quarantine import redact
from thinkback.language.tokens import count_tokens, extract_terms
from thinkback.session import classifiers
from thinkback.session.conversation_type import STRATEGIES
from thinkback.session.items import Mentions, normalise_item
from thinkback.session.rule_reader import ANSWER_SEPARATOR
from thinkback.session.updates import CONFIRMED_FIELDS
from thinkback.types import ExcludedOption, Summary, SummaryField

FIELD_HEADINGS: dict[SummaryField, str] = {
    "topic": "Topic:",
    "conclusion": "Conclusion so far:",
    "excluded": "Excluded, not to be proposed again:",
    "constraints": "Constraints, in the user's words:",
    "needs": "Needs, in the user's words:",
    "facts": "Facts, in the user's words:",
    "to_clarify": "Still open, to be settled before a solution:",
    "discussed": "Discussed before:",
}
EMPTY_SUMMARY_TEXT = "The conversation has just begun."
_MAX_OPEN_QUESTIONS = 3  # questions shown at once; the model asks one at a time


class SummaryItem(NamedTuple):
    field: SummaryField
    number: int
    text: str

    @property
    def line(self) -> str:
        return self.text if self.field in ("topic", "conclusion") else f"- {self.text}"


def render_summary(summary: Summary, message: str, other_context: str, max_tokens: int) -> str:
    """The summary for one message, at most `budget` tokens; `elsewhere` is the rest of the context."""
    told = normalise_item(other_context)
    items = {
        item
        for item in iter_items(summary)
        if item.field == "excluded" or normalise_item(_without_answer(item)) not in told
    }
    chosen: dict[tuple[SummaryField, int], SummaryItem] = {}
    left = max_tokens
    headed: set[SummaryField] = set()
    for item in _rank_items(items, summary, message, other_context):
        short = item._replace(text=_without_answer(item))
        cost = count_tokens(short.line) + 1
        cost += 0 if item.field in headed else count_tokens(FIELD_HEADINGS[item.field]) + 1
        if cost <= left:
            chosen[item.field, item.number] = short
            headed.add(item.field)
            left -= cost
    for item in sorted(items, key=lambda item: -item.number):  # what room is left tells how answers began
        if (item.field, item.number) in chosen and ANSWER_SEPARATOR in item.text:
            more = count_tokens(item.text) - count_tokens(_without_answer(item))
            if more <= left:
                chosen[item.field, item.number] = item
                left -= more
    return _layout(chosen.values())


def render_notes(summary: Summary, max_tokens: int) -> str:
    """The summary for whoever goes on with it: nothing asked, nothing told elsewhere."""
    return render_summary(summary, "", "", max_tokens)


def iter_items(summary: Summary) -> Iterator[SummaryItem]:
    """All items of a summary as text; an order or a secret that a model or a file put in is left out."""
    for name in FIELD_HEADINGS:
        held = getattr(summary, name)
        for number, item in enumerate((held,) if isinstance(held, str) else held):
            text = _format_excluded(item) if isinstance(item, ExcludedOption) else item
            if text:
                yield SummaryItem(name, number, redact(text))


def _format_excluded(item: ExcludedOption) -> str:
    return f"{item.option} ({item.reason})" if item.reason else f"{item.option} (no reason was given)"


def _without_answer(item: SummaryItem) -> str:
    return item.text.partition(ANSWER_SEPARATOR)[0] if item.field == "discussed" else item.text


def _rank_items(
    items: set[SummaryItem], summary: Summary, message: str, other_context: str
) -> list[SummaryItem]:
    """Most wanted first; the order is the same for the same summary and message."""
    near = _term_overlaps(items, message)
    about = Mentions(f"{message}\n{other_context}")
    mentioned = {n for n, each in enumerate(summary.excluded) if each.option in about}
    if classifiers.asks_about_excluded(message):
        mentioned = set(range(len(summary.excluded)))
    first = [*STRATEGIES[summary.talk].field_order]
    order = [first[0], "excluded", *first[1:], "discussed", "to_clarify"]
    latest = {
        name: max((item.number for item in items if item.field == name), default=0) for name in FIELD_HEADINGS
    }

    def rank(item: SummaryItem) -> tuple[float, ...]:
        newest = latest[item.field] - item.number
        if item.field in ("topic", "conclusion"):
            return (0, 0, 0)
        if item.field == "excluded" and item.number in mentioned:
            return (1, -near[item], newest)
        if item.field == "to_clarify" and newest < _MAX_OPEN_QUESTIONS:
            return (2, newest, 0)
        if near[item] > 0:
            return (3, -near[item], newest)
        return (
            4,
            order.index(item.field) if item.field in (*CONFIRMED_FIELDS, "excluded") else len(order),
            newest,
        )

    return sorted(items, key=lambda item: (*rank(item), item.field, item.number))


def _term_overlaps(items: set[SummaryItem], message: str) -> dict[SummaryItem, float]:
    """How much of the message's words an item holds, rare ones counting more."""
    words = {item: set(extract_terms(item.text)) for item in items}
    spread = Counter(term for held in words.values() for term in held)
    asked = set(extract_terms(message))
    return {
        item: sum(math.log(1 + len(items) / spread[term]) for term in held & asked)
        for item, held in words.items()
    }


def _layout(items: Iterable[SummaryItem]) -> str:
    by_field: dict[SummaryField, list[SummaryItem]] = {}
    for item in sorted(items, key=lambda item: item.number):
        by_field.setdefault(item.field, []).append(item)
    lines: list[str] = []
    for name, heading in FIELD_HEADINGS.items():
        held = by_field.get(name, [])
        if name in ("topic", "conclusion"):
            lines += [f"{heading} {item.line}" for item in held]
        elif held:
            lines += [heading, *(item.line for item in held)]
    return "\n".join(lines) or EMPTY_SUMMARY_TEXT
