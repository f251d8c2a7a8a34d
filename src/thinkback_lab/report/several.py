"""The report of several runs: data sets in rows, memory systems in columns, one table a figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from thinkback_lab import figures
from thinkback_lab.finished import Finished, scheme_labels
from thinkback_lab.report.charts import Bar, Series, bar_chart, line_chart
from thinkback_lab.report.curve import top_k
from thinkback_lab.report.html import (
    Html,
    contents,
    figure,
    folded,
    joined,
    page,
    paragraph,
    section,
    table,
    text,
)
from thinkback_lab.report.single import again, unanswered

BEST = "★"
Cells = Mapping[tuple[str, str], Finished]  # (data set, scheme) -> run; of two alike the later one counts


def several(runs: Sequence[Finished]) -> str:
    """The page of many runs."""
    labels = scheme_labels(runs)
    cells = {(run.data, label): run for run, label in zip(runs, labels, strict=True)}
    datasets = list(dict.fromkeys(run.data for run in runs))
    schemes = list(dict.fromkeys(labels))
    curves = [(name, chart) for name in datasets if (chart := _curves(name, schemes, cells))]
    parts = [("figures", "Figures", _matrices(datasets, schemes, cells))]
    if curves:
        parts.append(("curves", "Top-k retrieval", joined(_titled(name, chart) for name, chart in curves)))
    parts.append(("bars", "Side by side", _all_bars(datasets, schemes, cells)))
    parts.append(("time", "Time and size", _costs(datasets, schemes, cells)))
    parts.append(("again", "Run it again", again(runs)))
    title = f"{_counted(len(datasets), 'data set')}, {_counted(len(schemes), 'memory system')}"
    questions = sum(int(run.results.get("n", 0)) for run in cells.values())
    head = joined(
        (
            Html(f"<h1>{text(title)}</h1>"),
            paragraph(text(f"{len(cells)} runs, {questions:,} questions asked."), "lead"),
            contents([(name, told) for name, told, _ in parts]),
        )
    )
    return page(title, head, joined(section(name, told, inside) for name, told, inside in parts))


def _matrices(datasets: Sequence[str], schemes: Sequence[str], cells: Cells) -> Html:
    names = list(dict.fromkeys(name for run in cells.values() for name in run.metrics))
    lead = [name for name in figures.leading(names) if name in names]
    rest = [name for name in names if name not in lead and name not in figures.LESS_IS_BETTER]
    note = f"Higher is better; {BEST} and bold mark the best of a row; a dash: not run, or no such figure."
    pieces = [paragraph(text(note), "note"), *unanswered(cells.values())]
    pieces += [_titled(name, _matrix(name, datasets, schemes, cells)) for name in lead]
    if rest:
        inside = joined(_titled(name, _matrix(name, datasets, schemes, cells)) for name in rest)
        pieces.append(folded(f"{_counted(len(rest), 'more figure')}: {', '.join(rest)}", inside))
    return joined(pieces)


def _matrix(name: str, datasets: Sequence[str], schemes: Sequence[str], cells: Cells) -> Html:
    rows = []
    for dataset in datasets:
        values = [_value(cells.get((dataset, scheme)), name) for scheme in schemes]
        if any(value is not None for value in values):
            rows.append((text(dataset), text(_asked(dataset, schemes, cells)), *_row(name, values)))
    return table(("data set", "n", *schemes), rows, figures.meaning(name) or name)


def _row(name: str, values: Sequence[float | None]) -> list[Html]:
    there = [round(value, 4) for value in values if value is not None]
    best = min(there) if name in figures.LESS_IS_BETTER else max(there)
    alone = len(set(there)) > 1  # where all are the same, none is best
    return [
        Html(f'<span class="best">{text(figures.written(name, value))} {BEST}</span>')
        if value is not None and alone and round(value, 4) == best
        else text(figures.written(name, value))
        for value in values
    ]


def _value(run: Finished | None, name: str) -> float | None:
    if run is None:
        return None
    if name == "ms_per_query":
        told = run.results.get(name)
        return float(told) if isinstance(told, int | float) else None
    return run.metrics.get(name)


def _asked(dataset: str, schemes: Sequence[str], cells: Cells) -> str:
    """How many questions; from fewest to most where the runs of a row differ."""
    counts = sorted(
        {int(cells[dataset, scheme].results.get("n", 0)) for scheme in schemes if (dataset, scheme) in cells}
    )
    return f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,}–{counts[-1]:,}"


def _curves(dataset: str, schemes: Sequence[str], cells: Cells) -> Html | None:
    lines = []
    for look, scheme in enumerate(schemes):
        run = cells.get((dataset, scheme))
        told = top_k(run) if run else None
        if told:
            lines.append(Series(scheme, told[0].points, look))
    if not lines:
        return None
    deepest = max(len(line.points) for line in lines)
    lines = [_levelled(line, deepest) for line in lines]
    ends = ", ".join(f"{line.name} {line.points[0][1]:.3f} to {line.points[-1][1]:.3f}" for line in lines)
    chart = line_chart(
        lines,
        x_label="k: memories looked at",
        y_label="hit@k",
        told=f"hit@k of {dataset}, k = 1 to {deepest}: {ends}.",
    )
    return figure(chart, f"hit@k of each memory system; at the end of a line its value at k = {deepest}.")


def _levelled(line: Series, deepest: int) -> Series:
    """A list that ended has no more hits to come: its line goes on level."""
    last = line.points[-1][1]
    rest = tuple((k, last) for k in range(len(line.points) + 1, deepest + 1))
    return replace(line, points=line.points + rest)


def _all_bars(datasets: Sequence[str], schemes: Sequence[str], cells: Cells) -> Html:
    names = figures.rates(dict.fromkeys(name for run in cells.values() for name in run.metrics))
    return joined(
        _titled(name, chart) for name in names[:2] if (chart := _bars(name, datasets, schemes, cells))
    )


def _bars(name: str, datasets: Sequence[str], schemes: Sequence[str], cells: Cells) -> Html | None:
    groups = []
    for dataset in datasets:
        bars = []
        for look, scheme in enumerate(schemes):
            run = cells.get((dataset, scheme))
            value = _value(run, name)
            if run is not None and value is not None:
                bars.append(Bar(scheme, value, look, *run.results.get("intervals", {}).get(name, ())))
        if bars:
            groups.append((dataset, bars))
    if not groups:
        return None
    told = "; ".join(
        f"{dataset}: {', '.join(f'{bar.name} {bar.value:.3f}' for bar in bars)}" for dataset, bars in groups
    )
    chart = bar_chart(groups, x_label=name, told=f"{name} by data set and memory system. {told}", top=1.0)
    return figure(chart, f"{name}: {figures.meaning(name)}; the thin lines are 95% intervals.")


def _costs(datasets: Sequence[str], schemes: Sequence[str], cells: Cells) -> Html:
    note = f"Lower is better; {BEST} and bold mark the lowest of a row."
    names = [("ms_per_query", "Milliseconds a recall"), ("context_tokens", "Tokens given to the reader")]
    return joined(
        (
            paragraph(text(note), "note"),
            *(
                _titled(title, _matrix(name, datasets, schemes, cells))
                for name, title in names
                if any(_value(run, name) is not None for run in cells.values())
            ),
        )
    )


def _titled(title: str, inside: Html) -> Html:
    return joined((Html(f"<h3>{text(title)}</h3>"), inside))


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
