"""The report of one run: its figures, its curves, and where it failed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from thinkback_lab.metrics import figures
from thinkback_lab.metrics.bootstrap import interval
from thinkback_lab.report.charts import Bar, bar_chart, histogram, line_chart, scatter
from thinkback_lab.report.curve import top_k
from thinkback_lab.report.hardest import failed, hardest, told
from thinkback_lab.report.html import (
    Html,
    contents,
    figure,
    folded,
    joined,
    page,
    paragraph,
    section,
    settings,
    table,
    text,
)
from thinkback_lab.report.thoughts import FEWEST, band_names, laid_out, recalled
from thinkback_lab.runs.finished import Finished
from thinkback_lab.runs.record import Record

if TYPE_CHECKING:
    from thinkback_lab.report.thoughts import Embed

_CATEGORIES = 24  # more of them stand in the table only


def single(run: Finished, embed: Embed | None) -> str:
    """The page of one run."""
    results = run.results
    parts = [
        ("figures", "Figures", metrics_table(run)),
        ("categories", "By category", categories(run)),
        ("curve", "Top-k retrieval", curve(run)),
        ("thoughts", "Recalled thoughts by turn", thoughts(run.records, embed)),
        ("latency", "Time of a recall", latency(run)),
        ("hardest", "The hardest questions", hardest_questions(run.records)),
        ("again", "Run it again", again([run])),
    ]
    cases = len({record.case for record in run.records})
    lead = f"{results['n']:,} questions on {cases:,} histories, put to {run.scheme}."
    head = joined(
        (
            Html(f"<h1>{text(run.data)} · {text(run.scheme)}</h1>"),
            paragraph(text(lead), "lead"),
            settings((key, _value(value)) for key, value in run.settings.items() if value is not None),
            contents([(name, title) for name, title, _ in parts]),
        )
    )
    body = joined(section(name, title, inside) for name, title, inside in parts)
    return page(f"{run.data} · {run.scheme}", head, body)


def _value(told: object) -> str:
    return ", ".join(map(str, told)) if isinstance(told, list | tuple) else str(told)


def unanswered(runs: Iterable[Finished]) -> list[Html]:
    """What the figures of an answer are where no model gave one."""
    if all(record.answer is not None for run in runs for record in run.records):
        return []
    said = (
        "Where no model answered, the first memory found stands for the answer (anchor_map, correctness, f1)."
    )
    return [paragraph(text(said), "note")]


def metrics_table(run: Finished) -> Html:
    counts = run.results.get("counts", {})
    rows = [
        (
            text(name),
            text(figures.written(name, value)),
            text(figures.interval_of(run.results, name)),
            text(f"{counts[name]:,}" if name in counts else "-"),
            Html(f'<span class="meaning">{text(figures.meaning(name))}</span>'),
        )
        for name, value in run.metrics.items()
    ]
    caption = "Means over the questions that have the figure, with 95% bootstrap intervals."
    head = ("figure", "mean", "95% interval", "questions", "what it says")
    return joined((table(head, rows, caption, words=(0, 4)), *unanswered([run])))


def categories(run: Finished) -> Html:
    by_category = run.results.get("by_category", {})
    if not by_category:
        return paragraph(text("The questions of this data set have no categories."))
    names = [name for name in run.metrics if any(name in each for each in by_category.values())]
    rows = [
        (
            text(category),
            text(f"{each['n']:,}"),
            *(text(figures.written(name, each.get(name))) for name in names),
        )
        for category, each in by_category.items()
    ]
    grid = table(("category", "n", *names), rows, "Means by category.")
    return joined((_category_bars(run, list(by_category)), grid))


def _category_bars(run: Finished, names: Sequence[str]) -> Html:
    shown = figures.rates(run.metrics)
    groups = []
    for name in names[:_CATEGORIES]:
        chosen = [record for record in run.records if record.category == name]
        bars = [_bar(each, chosen, look) for look, each in enumerate(shown)]
        groups.append((f"{name} (n={len(chosen)})", [bar for bar in bars if bar is not None]))
    groups = [(name, bars) for name, bars in groups if bars]
    if not groups:
        return Html("")
    alt = "; ".join(
        f"{name}: {', '.join(f'{bar.name} {bar.value:.3f}' for bar in bars)}" for name, bars in groups
    )
    caption = f"{', '.join(shown)} by category; the thin lines are 95% intervals."
    if len(names) > _CATEGORIES:
        caption += f" The first {_CATEGORIES} of {len(names)} categories are drawn, all stand in the table."
    chart = bar_chart(groups, x_label="mean", told=f"Bars by category. {alt}", top=1.0)
    return figure(chart, caption)


def _bar(name: str, records: Sequence[Record], look: int) -> Bar | None:
    values = [record.scores[name] for record in records if name in record.scores]
    return Bar(name, sum(values) / len(values), look, *interval(values)) if values else None


def curve(run: Finished) -> Html:
    lines = top_k(run)
    if lines is None:
        return paragraph(
            text("No question of this run names the items that hold its answer, or nothing was found.")
        )
    hit, recall = lines
    first, last = hit.points[0][1], hit.points[-1][1]
    told_ = f"hit@k goes from {first:.3f} at k = 1 to {last:.3f} at k = {len(hit.points)}"
    chart = line_chart(lines, x_label="k: memories looked at", y_label="share of questions", told=f"{told_}.")
    caption = f"{told_}; recall@k ends at {recall.points[-1][1]:.3f} (compare TiM, figure 6)."
    rows = [
        (text(str(k)), text(f"{at:.3f}"), text(f"{share:.3f}"))
        for (k, at), (_, share) in zip(hit.points, recall.points, strict=True)
    ]
    return figure(
        chart, caption, folded("The curve as a table", table(("k", "hit@k", "recall@k"), rows, "Top-k"))
    )


def thoughts(records: Sequence[Record], embed: Embed | None) -> Html:
    if embed is None:
        return paragraph(text("Left out: this report was written without an embedder."))
    points = recalled(records)
    different = len({point.text for point in points})
    if different < FEWEST:
        return paragraph(
            text(f"Left out: {different} different texts are too few for a map (at least {FEWEST}).")
        )
    names = band_names(points)
    what = (
        f"{len(points)} recalled texts, {different} of them different, laid out by t-SNE of their embeddings"
    )
    caption = (
        f"{what}. Colour and sign tell the turn it came back at, a history's first question being turn 1. "
        "Near each other means alike; the axes have no unit (compare TiM 001, figure 2)."
    )
    return figure(scatter(laid_out(points, embed), names, told=f"A map of {what}, by turn."), caption)


def latency(run: Finished) -> Html:
    times = [record.ms for record in run.records]
    if not times:
        return paragraph(text("No recall was timed."))
    cuts = run.results.get("ms", {})
    lines = [
        (f"{name} {value:.3g} ms", float(value)) for name, value in cuts.items() if name in ("p50", "p95")
    ]
    told_ = ", ".join(f"{name} {value:.3g} ms" for name, value in cuts.items())
    chart = histogram(
        times,
        lines,
        x_label="milliseconds (logarithmic)",
        y_label="recalls",
        told=f"Histogram of recall times. {told_}",
    )
    caption = f"{len(times):,} recalls, the embedding of the question not counted. {told_}."
    return figure(chart, caption)


def hardest_questions(records: Sequence[Record]) -> Html:
    missed = sum(failed(record) for record in records)
    if not missed:
        return paragraph(text("None: every question was answered from the right place."))
    chosen = hardest(records)
    shown = "" if len(chosen) == missed else f" {len(chosen)} of them, from each category in turn:"
    lead = (
        f"{missed:,} of {len(records):,} questions failed: no gold item came back, something did where "
        f"nothing should, or the answer says none of its anchors.{shown}"
    )
    return joined((paragraph(text(lead)), *(told(record) for record in chosen)))


def again(runs: Sequence[Finished]) -> Html:
    commands = [str(run.results.get("command") or "") for run in runs]
    if not any(commands):
        return paragraph(text("The command was not recorded."))
    return Html(f"<pre>{text(chr(10).join(command for command in commands if command))}</pre>")
