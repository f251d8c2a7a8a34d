"""The questions a memory failed, with what it found instead: where to look next."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, zip_longest

from thinkback_lab.report.html import Html, data, joined, paragraph, text
from thinkback_lab.runs.record import Record
from thinkback_lab.schemes.scheme import Found

SHOWN = 12
_MEMORIES = 3


def hardest(records: Sequence[Record], most: int = SHOWN) -> list[Record]:
    """The failed ones, the worst of each category in turn, so that no category hides another."""
    by_category: dict[str, list[Record]] = {}
    for record in records:
        if failed(record):
            by_category.setdefault(record.category, []).append(record)
    for each in by_category.values():
        each.sort(key=lambda record: (_good(record), record.key))
    turns = zip_longest(*(by_category[name] for name in sorted(by_category)))
    return [record for record in chain.from_iterable(turns) if record is not None][:most]


def failed(record: Record) -> bool:
    """No gold item came back; or something did where nothing should; or the answer says no anchor."""
    scores = record.scores
    answered_badly = record.answer is not None and scores.get("correctness") == 0
    return scores.get("mrr") == 0 or scores.get("abstained") == 0 or answered_badly


def told(record: Record) -> Html:
    """One failed question, as an article of the report."""
    facts = [f"case {record.case}", f"question {record.id}"]
    facts += [record.category] if record.category else []
    lines = [paragraph(text(" · ".join(facts)), "note")]
    if not record.answerable:
        lines.append(paragraph(text("The history does not answer it: nothing should have come back.")))
    elif record.expected:
        lines.append(paragraph(joined((text("Expected:"), data(record.expected)))))
    if record.gold:
        lines.append(paragraph(_gold(record)))
    if record.answer is not None:
        lines.append(paragraph(joined((text("The model said:"), data(record.answer)))))
    lines.append(_found(record))
    return Html(f'<article class="missed"><h3>{data(record.question)}</h3>\n{joined(lines)}\n</article>')


def _gold(record: Record) -> Html:
    """Where the answer stands, and what the first of these items says."""
    places = Html(f"It stands in {data(', '.join(record.gold), 200)}")
    if not record.gold_texts:
        return places
    more = f" (and {len(record.gold_texts) - 1} more)" if len(record.gold_texts) > 1 else ""
    return Html(f"{places}: {data(record.gold_texts[0], 280)}{text(more)}")


def _found(record: Record) -> Html:
    if not record.found:
        return paragraph(text("Nothing was found."))
    items = "".join(
        f'<li>{data(each.text, 280)} <span class="note">from {data(_sources(each), 80)}</span></li>'
        for each in record.found[:_MEMORIES]
    )
    rest = len(record.found) - _MEMORIES
    more = paragraph(text(f"and {rest} more"), "note") if rest > 0 else Html("")
    return Html(
        f"{paragraph(text('Found:' if record.scores.get('mrr') else 'Found instead:'))}<ol>{items}</ol>{more}"
    )


def _sources(found: Found) -> str:
    return ", ".join(found.sources) or "nowhere"


def _good(record: Record) -> float:
    return sum(record.scores.get(name, 0.0) for name in ("mrr", "correctness", "anchor_recall", "f1"))
