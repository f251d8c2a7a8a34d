"""The report of several runs, as HTML and as Markdown: data sets in rows, memory systems in columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from thinkback_lab.metrics import display
from thinkback_lab.metrics.display import LOWER_IS_BETTER
from thinkback_lab.report.charts import Bar, Series, bar_chart, line_chart
from thinkback_lab.report.html import (
    Html,
    details,
    escape,
    figure,
    html_page,
    html_table,
    join_html,
    paragraph,
    section,
    table_of_contents,
)
from thinkback_lab.report.plots import top_k_curves
from thinkback_lab.report.single_run import commands_section, unanswered_note
from thinkback_lab.runs.finished_runs import FinishedRun, scheme_labels

TIME_METRIC = "ms_per_query"
_COMPARED_DECIMALS = 4  # figures equal to this precision are equal


@dataclass(frozen=True, slots=True)
class RunGrid:
    """Runs arranged with data sets in rows and memory systems in columns."""

    datasets: tuple[str, ...]
    schemes: tuple[str, ...]
    cells: Mapping[tuple[str, str], FinishedRun]  # of two equivalent runs the later one counts

    @property
    def runs(self) -> tuple[FinishedRun, ...]:
        return tuple(self.cells.values())

    @property
    def figures(self) -> list[str]:
        """Names of all metrics, in order of first occurrence."""
        return list(dict.fromkeys(name for run in self.runs for name in run.metrics))

    def row(self, dataset: str) -> list[FinishedRun | None]:
        return [self.cells.get((dataset, scheme)) for scheme in self.schemes]

    def values(self, dataset: str, name: str) -> list[float | None]:
        return [None if run is None else metric_value(run, name) for run in self.row(dataset)]


def arrange_runs(runs: Sequence[FinishedRun]) -> RunGrid:
    labels = scheme_labels(runs)
    return RunGrid(
        tuple(dict.fromkeys(run.dataset_label for run in runs)),
        tuple(dict.fromkeys(labels)),
        {(run.dataset_label, label): run for run, label in zip(runs, labels, strict=True)},
    )


def metric_value(run: FinishedRun, name: str) -> float | None:
    value = run.results.get(TIME_METRIC) if name == TIME_METRIC else run.metrics.get(name)
    return float(value) if isinstance(value, int | float) else None


def best_value(name: str, values: Sequence[float | None]) -> float | None:
    """The best value of a row; None if all are equal."""
    distinct = {round(each, _COMPARED_DECIMALS) for each in values if each is not None}
    if len(distinct) < 2:
        return None
    return min(distinct) if name in LOWER_IS_BETTER else max(distinct)


def is_best_value(each: float | None, of_the_row: float | None) -> bool:
    return each is not None and of_the_row is not None and round(each, _COMPARED_DECIMALS) == of_the_row


BEST_MARK = "★"


def multi_run_page(runs: Sequence[FinishedRun]) -> str:
    """Render the report of several runs."""
    grid = arrange_runs(runs)
    curves = [(name, chart) for name in grid.datasets if (chart := _curve_figure(name, grid))]
    sections = [("figures", "Figures", _metric_tables(grid))]
    if curves:
        sections.append(
            ("curves", "Top-k retrieval", join_html(_titled(name, chart) for name, chart in curves))
        )
    sections.append(("bars", "Side by side", _bar_figures(grid)))
    sections.append(("time", "Time and size", _cost_tables(grid)))
    sections.append(("again", "Run it again", commands_section(runs)))
    title = f"{_pluralise(len(grid.datasets), 'data set')}, {_pluralise(len(grid.schemes), 'memory system')}"
    questions = sum(int(run.results.get("n", 0)) for run in grid.runs)
    head = join_html(
        (
            Html(f"<h1>{escape(title)}</h1>"),
            paragraph(escape(f"{len(grid.runs)} runs, {questions:,} questions asked."), "lead"),
            table_of_contents([(name, heading) for name, heading, _ in sections]),
        )
    )
    return html_page(
        title, head, join_html(section(name, heading, inside) for name, heading, inside in sections)
    )


def _metric_tables(grid: RunGrid) -> Html:
    names = grid.figures
    leading = [name for name in display.leading_metrics(names) if name in names]
    rest = [name for name in names if name not in leading and name not in display.LOWER_IS_BETTER]
    note = (
        f"Higher is better; {BEST_MARK} and bold mark the best of a row; a dash: not run, or no such metric."
    )
    pieces = [paragraph(escape(note), "note"), *unanswered_note(grid.runs)]
    pieces += [_titled(name, _metric_table(name, grid)) for name in leading]
    if rest:
        inside = join_html(_titled(name, _metric_table(name, grid)) for name in rest)
        pieces.append(details(f"{_pluralise(len(rest), 'more figure')}: {', '.join(rest)}", inside))
    return join_html(pieces)


def _metric_table(name: str, grid: RunGrid) -> Html:
    rows = []
    for dataset in grid.datasets:
        values = grid.values(dataset, name)
        if any(value is not None for value in values):
            rows.append(
                (escape(dataset), escape(_question_range(dataset, grid)), *_metric_cells(name, values))
            )
    return html_table(("data set", "n", *grid.schemes), rows, display.describe_metric(name) or name)


def _metric_cells(name: str, values: Sequence[float | None]) -> list[Html]:
    top = best_value(name, values)
    return [
        Html(f'<span class="best">{escape(display.format_metric(name, value))} {BEST_MARK}</span>')
        if is_best_value(value, top)
        else escape(display.format_metric(name, value))
        for value in values
    ]


def _question_range(dataset: str, grid: RunGrid) -> str:
    """Number of questions, as a range if the runs of a row differ."""
    counts = sorted({int(run.results.get("n", 0)) for run in grid.row(dataset) if run is not None})
    return f"{counts[0]:,}" if len(counts) == 1 else f"{counts[0]:,}–{counts[-1]:,}"


def _curve_figure(dataset: str, grid: RunGrid) -> Html | None:
    lines = []
    for look, (scheme, run) in enumerate(zip(grid.schemes, grid.row(dataset), strict=True)):
        curves = top_k_curves(run) if run else None
        if curves:
            lines.append(Series(scheme, curves[0].points, look))
    if not lines:
        return None
    deepest = max(len(line.points) for line in lines)
    lines = [_extend_level(line, deepest) for line in lines]
    ends = ", ".join(f"{line.name} {line.points[0][1]:.3f} to {line.points[-1][1]:.3f}" for line in lines)
    chart = line_chart(
        lines,
        x_label="k: number of memories",
        y_label="hit@k",
        alt_text=f"hit@k of {dataset}, k = 1 to {deepest}: {ends}.",
    )
    return figure(chart, f"hit@k of each memory system; each line ends with its value at k = {deepest}.")


def _extend_level(line: Series, deepest: int) -> Series:
    """Extend a line horizontally: a list that ended has no more hits."""
    last = line.points[-1][1]
    rest = tuple((k, last) for k in range(len(line.points) + 1, deepest + 1))
    return replace(line, points=line.points + rest)


def _bar_figures(grid: RunGrid) -> Html:
    return join_html(
        _titled(name, chart)
        for name in display.rate_metrics(grid.figures)[:2]
        if (chart := _bar_figure(name, grid))
    )


def _bar_figure(name: str, grid: RunGrid) -> Html | None:
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
    description = "; ".join(
        f"{dataset}: {', '.join(f'{bar.name} {bar.value:.3f}' for bar in bars)}" for dataset, bars in groups
    )
    chart = bar_chart(
        groups, x_label=name, alt_text=f"{name} by data set and memory system. {description}", top=1.0
    )
    return figure(chart, f"{name}: {display.describe_metric(name)}; the thin lines are 95% intervals.")


def _cost_tables(grid: RunGrid) -> Html:
    note = f"Lower is better; {BEST_MARK} and bold mark the lowest of a row."
    names = [(TIME_METRIC, "Milliseconds a recall"), ("context_tokens", "Tokens given to the reader")]
    return join_html(
        (
            paragraph(escape(note), "note"),
            *(
                _titled(title, _metric_table(name, grid))
                for name, title in names
                if any(each is not None for dataset in grid.datasets for each in grid.values(dataset, name))
            ),
        )
    )


def _titled(title: str, inside: Html) -> Html:
    return join_html((Html(f"<h3>{escape(title)}</h3>"), inside))


def _pluralise(number: int, what: str) -> str:
    return f"{number} {what}" + ("" if number == 1 else "s")


MARKDOWN_METRICS = {
    "hit@1": "hit@1",
    "hit@5": "hit@5",
    "recall@5": "recall@5",
    "mrr": "mrr",
    "anchor_recall": "anchor_recall",
    TIME_METRIC: "milliseconds a question, embedding not counted",
}


def markdown_tables(runs: Sequence[FinishedRun]) -> str:
    """One table per metric; `n` counts the questions that have the metric."""
    grid = arrange_runs(runs)
    tables = [(title, list(_markdown_rows(name, grid))) for name, title in MARKDOWN_METRICS.items()]
    head = f"| data set | n | {' | '.join(grid.schemes)} |\n|---|---{'|---' * len(grid.schemes)}|"
    return "\n".join("\n".join([f"### {title}\n", head, *rows, ""]) for title, rows in tables if rows)


def _markdown_rows(name: str, grid: RunGrid) -> Iterator[str]:
    for dataset in grid.datasets:
        values = grid.values(dataset, name)
        if any(each is not None for each in values):
            top = best_value(name, values)
            cells = [_markdown_cell(name, each, bold=is_best_value(each, top)) for each in values]
            n = max(_question_count(run, name) for run in grid.row(dataset) if run is not None)
            yield f"| {dataset} | {n} | {' | '.join(cells)} |"


def _question_count(run: FinishedRun, name: str) -> int:
    return int(run.results["n"] if name == TIME_METRIC else run.results.get("counts", {}).get(name, 0))


def _markdown_cell(name: str, each: float | None, *, bold: bool) -> str:
    if each is None:
        return "-"
    number = f"{each:.2f}" if name == TIME_METRIC else f"{each:.3f}".removeprefix("0")
    return f"**{number}**" if bold else number
