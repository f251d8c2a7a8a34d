"""Renders a summary as text within a token limit.

Items are selected by relevance to the message, then by recency, and listed under their headings in the order
in which they were said. An excluded option that is mentioned anywhere else in the context is selected early,
so that the model does not take it for open.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from thinkback.language.safety.quarantine import redact
from thinkback.language.tokens import count_tokens, extract_terms
from thinkback.prompts import escape_structure
from thinkback.session import conversation_type
from thinkback.session.conversation_type import STRATEGIES
from thinkback.session.rule_summarizer import ANSWER_SEPARATOR
from thinkback.session.summary_items import Mentions, normalise_item
from thinkback.session.summary_updates import CONFIRMED_FIELDS
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
_MAX_OPEN_QUESTIONS = 3  # newest open questions that are preferred; the model asks one at a time


class SummaryItem(NamedTuple):
    """One item of a summary: its field, its position in the field, and its text."""

    field: SummaryField
    number: int
    text: str

    @property
    def line(self) -> str:
        return self.text if self.field in ("topic", "conclusion") else f"- {self.text}"


def render_summary(summary: Summary, message: str, other_context: str, max_tokens: int) -> str:
    """Render the summary for a message.

    Args:
        summary: The summary.
        message: The user's new message; items that share words with it come first.
        other_context: The rest of the context; items that it already contains are left out.
        max_tokens: Limit of the text.
    """
    normalised_context = normalise_item(other_context)
    items = {
        item
        for item in iter_items(summary)
        if item.field == "excluded" or normalise_item(_without_answer(item)) not in normalised_context
    }
    chosen: dict[tuple[SummaryField, int], SummaryItem] = {}
    tokens_left = max_tokens
    fields_with_heading: set[SummaryField] = set()
    for item in _rank_items(items, summary, message, other_context):
        short = item._replace(text=_without_answer(item))
        cost = count_tokens(short.line) + 1
        cost += 0 if item.field in fields_with_heading else count_tokens(FIELD_HEADINGS[item.field]) + 1
        if cost <= tokens_left:
            chosen[item.field, item.number] = short
            fields_with_heading.add(item.field)
            tokens_left -= cost
    for item in sorted(items, key=lambda item: -item.number):  # add answer previews while there is room
        if (item.field, item.number) in chosen and ANSWER_SEPARATOR in item.text:
            extra = count_tokens(item.text) - count_tokens(_without_answer(item))
            if extra <= tokens_left:
                chosen[item.field, item.number] = item
                tokens_left -= extra
    return _layout(chosen.values())


def render_notes(summary: Summary, max_tokens: int) -> str:
    """Render the summary without a message, for the model that updates it."""
    return render_summary(summary, "", "", max_tokens)


def iter_items(summary: Summary) -> Iterator[SummaryItem]:
    """Yield all items of a summary, with injected instructions and secrets redacted."""
    for name in FIELD_HEADINGS:
        value = getattr(summary, name)
        for number, item in enumerate((value,) if isinstance(value, str) else value):
            text = _format_excluded(item) if isinstance(item, ExcludedOption) else item
            if text:
                yield SummaryItem(name, number, escape_structure(redact(text)))


def _format_excluded(item: ExcludedOption) -> str:
    return f"{item.option} ({item.reason})" if item.reason else f"{item.option} (no reason was given)"


def _without_answer(item: SummaryItem) -> str:
    return item.text.partition(ANSWER_SEPARATOR)[0] if item.field == "discussed" else item.text


def _rank_items(
    items: set[SummaryItem], summary: Summary, message: str, other_context: str
) -> list[SummaryItem]:
    """Sort items by priority; the order is deterministic."""
    overlaps = _term_overlaps(items, message)
    mentions = Mentions(f"{message}\n{other_context}")
    mentioned = {number for number, option in enumerate(summary.excluded) if option.option in mentions}
    if conversation_type.asks_about_excluded(message):
        mentioned = set(range(len(summary.excluded)))
    first = [*STRATEGIES[summary.talk].field_order]
    field_order = [first[0], "excluded", *first[1:], "discussed", "to_clarify"]
    latest = {
        name: max((item.number for item in items if item.field == name), default=0) for name in FIELD_HEADINGS
    }

    def rank(item: SummaryItem) -> tuple[float, ...]:
        age = latest[item.field] - item.number
        if item.field in ("topic", "conclusion"):
            return (0, 0, 0)
        if item.field == "excluded" and item.number in mentioned:
            return (1, -overlaps[item], age)
        if item.field == "to_clarify" and age < _MAX_OPEN_QUESTIONS:
            return (2, age, 0)
        if overlaps[item] > 0:
            return (3, -overlaps[item], age)
        return (
            4,
            field_order.index(item.field)
            if item.field in (*CONFIRMED_FIELDS, "excluded")
            else len(field_order),
            age,
        )

    return sorted(items, key=lambda item: (*rank(item), item.field, item.number))


def _term_overlaps(items: set[SummaryItem], message: str) -> dict[SummaryItem, float]:
    """Return the shared terms of each item and the message, weighted by rarity."""
    terms_by_item = {item: set(extract_terms(item.text)) for item in items}
    item_counts = Counter(term for terms in terms_by_item.values() for term in terms)
    message_terms = set(extract_terms(message))
    return {
        item: sum(math.log(1 + len(items) / item_counts[term]) for term in terms & message_terms)
        for item, terms in terms_by_item.items()
    }


def _layout(items: Iterable[SummaryItem]) -> str:
    by_field: dict[SummaryField, list[SummaryItem]] = {}
    for item in sorted(items, key=lambda item: item.number):
        by_field.setdefault(item.field, []).append(item)
    lines: list[str] = []
    for name, heading in FIELD_HEADINGS.items():
        field_items = by_field.get(name, [])
        if name in ("topic", "conclusion"):
            lines += [f"{heading} {item.line}" for item in field_items]
        elif field_items:
            lines += [heading, *(item.line for item in field_items)]
    return "\n".join(lines) or EMPTY_SUMMARY_TEXT
