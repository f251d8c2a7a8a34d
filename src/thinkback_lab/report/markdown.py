"""Finished runs as Markdown tables: a row a data set, a column a memory system."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

SHOWN = ("hit@1", "hit@5", "recall@5", "mrr", "anchor_recall")


def matrix(results: Sequence[Mapping[str, Any]]) -> str:
    """One table a figure; the best of a row is bold."""
    schemes = list(dict.fromkeys(each["scheme"] for each in results))
    rows: dict[str, dict[str, Mapping[str, Any]]] = {}
    for each in results:
        rows.setdefault(_label(each), {})[each["scheme"]] = each
    tables = [_table(name, schemes, rows) for name in SHOWN]
    return "\n".join([*filter(None, tables), _times(schemes, rows)])


def _table(name: str, schemes: Sequence[str], rows: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    lines = []
    for label, row in rows.items():
        values = {scheme: row[scheme]["metrics"].get(name) for scheme in schemes if scheme in row}
        there = [value for value in values.values() if value is not None]
        if there:
            count = max(each["counts"].get(name, 0) for each in row.values())
            cells = [_cell(values.get(scheme), max(there)) for scheme in schemes]
            lines.append(f"| {label} | {count} | {' | '.join(cells)} |")
    return _titled(name, schemes, lines) if lines else ""


def _times(schemes: Sequence[str], rows: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> str:
    lines = []
    for label, row in rows.items():
        cells = [f"{row[scheme]['ms_per_query']:.2f}" if scheme in row else "-" for scheme in schemes]
        lines.append(f"| {label} | {max(each['n'] for each in row.values())} | {' | '.join(cells)} |")
    return _titled("milliseconds a question, embedding not counted", schemes, lines)


def _titled(name: str, schemes: Sequence[str], lines: Sequence[str]) -> str:
    head = f"| data set | n | {' | '.join(schemes)} |\n|---|---{'|---' * len(schemes)}|"
    return "\n".join([f"### {name}\n", head, *lines, ""])


def _label(results: Mapping[str, Any]) -> str:
    settings = results["settings"]
    named = [settings[key] for key in ("lang", "domain", "corpus", "split", "size") if key in settings]
    words = (" ".join(each) if isinstance(each, list) else str(each) for each in named)
    return f"{results['dataset']} {' '.join(words)}".strip()


def _cell(value: float | None, best: float) -> str:
    if value is None:
        return "-"
    said = f"{value:.3f}".removeprefix("0")
    return f"**{said}**" if value == best else said
