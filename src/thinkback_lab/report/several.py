"""The report of several runs: data sets in rows, memory systems in columns, one table a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from thinkback_lab.metrics import figures
from thinkback_lab.report.charts import Bar, Series, bar_chart, line_chart
from thinkback_lab.report.curve import top_k
from thinkback_lab.report.grid import TIME, Grid, best, grid_of, is_best
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
from thinkback_lab.runs.finished import Finished

BEST = "★"


def several(runs: Sequence[Finished]) -> str:
    """The page of many runs."""
    grid = grid_of(runs)
    curves = [(name, chart) for name in grid.datasets if (chart := _curves(name, grid))]
    parts = [("figures", "Figures", _matrices(grid))]
    if curves:
        parts.append(("curves", "Top-k retrieval", joined(_titled(name, chart) for name, chart in curves)))
    parts.append(("bars", "Side by side", _all_bars(grid)))
    parts.append(("time", "Time and size", _costs(grid)))
    parts.append(("again", "Run it again", again(runs)))
    title = f"{_counted(len(grid.datasets), 'data set')}, {_counted(len(grid.schemes), 'memory system')}"
    questions = sum(int(run.results.get("n", 0)) for run in grid.runs)
    head = joined(
        (
            Html(f"<h1>{text(title)}</h1>"),
            paragraph(text(f"{len(grid.runs)} runs, {questions:,} questions asked."), "lead"),
            contents([(name, told) for name, told, _ in parts]),
        )
    )
    return page(title, head, joined(section(name, told, inside) for name, told, inside in parts))


def _matrices(grid: Grid) -> Html:
    names = grid.figures
    lead = [name for name in figures.leading(names) if name in names]
    rest = [name for name in names if name not in lead and name not in figures.LESS_IS_BETTER]
    note = f"Higher is better; {BEST} and bold mark the best of a row; a dash: not run, or no such figure."
    pieces = [paragraph(text(note), "note"), *unanswered(grid.runs)]
    pieces += [_titled(name, _matrix(name, grid)) for name in lead]
    if rest:
        inside = joined(_titled(name, _matrix(name, grid)) for name in rest)
        pieces.append(folded(f"{_counted(len(rest), 'more figure')}: {', '.join(rest)}", inside))
    return joined(pieces)


def _matrix(name: str, grid: Grid) -> Html:
    rows = []
    for dataset in grid.datasets:
        values = grid.values(dataset, name)
        if any(value is not None for value in values):
            rows.append((text(dataset), text(_asked(dataset, grid)), *_row(name, values)))
    return table(("data set", "n", *grid.schemes), rows, figures.meaning(name) or name)


def _row(name: str, values: Sequence[float | None]) -> list[Html]:
    top = best(name, values)
    return [
        Html(f'<span class="best">{text(figures.written(name, value))} {BEST}</span>')
        if is_best(value, top)
        else text(figures.written(name, value))
        for value in values
    ]


def _asked(dataset: str, grid: Grid) -> str:
    """How many questions; from fewest to most where the runs of a row differ."""
    counts = sorted({int(run.results.get("n", 0)) for run in grid.row(dataset) if run is not None})
    return f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,}–{counts[-1]:,}"


def _curves(dataset: str, grid: Grid) -> Html | None:
    lines = []
    for look, (scheme, run) in enumerate(zip(grid.schemes, grid.row(dataset), strict=True)):
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


def _all_bars(grid: Grid) -> Html:
    return joined(
        _titled(name, chart) for name in figures.rates(grid.figures)[:2] if (chart := _bars(name, grid))
    )


def _bars(name: str, grid: Grid) -> Html | None:
    groups = []
    for dataset in grid.datasets:
        bars = []
        cells = zip(grid.schemes, grid.row(dataset), grid.values(dataset, name), strict=True)
        for look, (scheme, run, value) in enumerate(cells):
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


def _costs(grid: Grid) -> Html:
    note = f"Lower is better; {BEST} and bold mark the lowest of a row."
    names = [(TIME, "Milliseconds a recall"), ("context_tokens", "Tokens given to the reader")]
    return joined(
        (
            paragraph(text(note), "note"),
            *(
                _titled(title, _matrix(name, grid))
                for name, title in names
                if any(each is not None for dataset in grid.datasets for each in grid.values(dataset, name))
            ),
        )
    )


def _titled(title: str, inside: Html) -> Html:
    return joined((Html(f"<h3>{text(title)}</h3>"), inside))


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")
