"""The report of one run: figures, curves, latency and the hardest questions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest
from typing import TYPE_CHECKING

from thinkback_lab.metrics import display
from thinkback_lab.metrics.statistics import bootstrap_interval
from thinkback_lab.report.charts import Bar, bar_chart, histogram, line_chart, scatter
from thinkback_lab.report.html import (
    Html,
    details,
    escape,
    figure,
    html_page,
    html_table,
    join_html,
    paragraph,
    quoted,
    section,
    settings_list,
    table_of_contents,
)
from thinkback_lab.report.plots import (
    MIN_TEXTS,
    recalled_texts,
    top_k_curves,
    tsne_layout,
    turn_band_names,
)
from thinkback_lab.runs.finished_runs import FinishedRun
from thinkback_lab.runs.records import Record
from thinkback_lab.systems.interface import RetrievedMemory

if TYPE_CHECKING:
    from thinkback_lab.report.plots import Embed


MAX_SHOWN_FAILURES = 12
_MAX_SHOWN_MEMORIES = 3


def hardest_failures(records: Sequence[Record], limit: int = MAX_SHOWN_FAILURES) -> list[Record]:
    """Failed questions, the worst of each category in turn, so that no category hides another."""
    by_category: dict[str, list[Record]] = {}
    for record in records:
        if is_failed(record):
            by_category.setdefault(record.category, []).append(record)
    for each in by_category.values():
        each.sort(key=lambda record: (_total_score(record), record.key))
    turns = zip_longest(*(by_category[name] for name in sorted(by_category)))
    return [record for record in chain.from_iterable(turns) if record is not None][:limit]


def is_failed(record: Record) -> bool:
    """Whether no gold was recalled, something was recalled for an unanswerable question, or the answer
    contains no anchor.
    """
    scores = record.scores
    answered_badly = record.answer is not None and scores.get("correctness") == 0
    return scores.get("mrr") == 0 or scores.get("abstained") == 0 or answered_badly


def failure_article(record: Record) -> Html:
    """One failed question as an HTML article."""
    facts = [f"case {record.case}", f"question {record.id}"]
    facts += [record.category] if record.category else []
    lines = [paragraph(escape(" · ".join(facts)), "note")]
    if not record.answerable:
        lines.append(
            paragraph(escape("The history does not contain the answer: nothing should be recalled."))
        )
    elif record.expected:
        lines.append(paragraph(join_html((escape("Expected:"), quoted(record.expected)))))
    if record.gold:
        lines.append(paragraph(_gold_html(record)))
    if record.answer is not None:
        lines.append(paragraph(join_html((escape("Answer of the model:"), quoted(record.answer)))))
    lines.append(_found_html(record))
    return Html(f'<article class="missed"><h3>{quoted(record.question)}</h3>\n{join_html(lines)}\n</article>')


def _gold_html(record: Record) -> Html:
    """The gold items, with the text of the first one."""
    ids = Html(f"Gold items: {quoted(', '.join(record.gold), 200)}")
    if not record.gold_texts:
        return ids
    more = f" (and {len(record.gold_texts) - 1} more)" if len(record.gold_texts) > 1 else ""
    return Html(f"{ids}: {quoted(record.gold_texts[0], 280)}{escape(more)}")


def _found_html(record: Record) -> Html:
    if not record.found:
        return paragraph(escape("Nothing was recalled."))
    items = "".join(
        f'<li>{quoted(each.text, 280)} <span class="note">from {quoted(_source_list(each), 80)}</span></li>'
        for each in record.found[:_MAX_SHOWN_MEMORIES]
    )
    rest = len(record.found) - _MAX_SHOWN_MEMORIES
    more = paragraph(escape(f"and {rest} more"), "note") if rest > 0 else Html("")
    return Html(
        f"{paragraph(escape('Recalled:' if record.scores.get('mrr') else 'Recalled instead:'))}"
        f"<ol>{items}</ol>{more}"
    )


def _source_list(memory: RetrievedMemory) -> str:
    return ", ".join(memory.sources) or "nowhere"


def _total_score(record: Record) -> float:
    return sum(record.scores.get(name, 0.0) for name in ("mrr", "correctness", "anchor_recall", "f1"))


_MAX_DRAWN_CATEGORIES = 24  # further categories appear only in the table


def single_run_page(run: FinishedRun, embed: Embed | None) -> str:
    """Render the report of one run."""
    results = run.results
    sections = [
        ("figures", "Figures", metrics_table(run)),
        ("categories", "By category", categories_section(run)),
        ("curve", "Top-k retrieval", curve_section(run)),
        ("thoughts", "Recalled thoughts by turn", thoughts_section(run.records, embed)),
        ("latency", "Time of a recall", latency_section(run)),
        ("hardest", "The hardest questions", hardest_section(run.records)),
        ("again", "Run it again", commands_section([run])),
    ]
    cases = len({record.case for record in run.records})
    lead = f"{results['n']:,} questions on {cases:,} histories, evaluated with {run.scheme}."
    head = join_html(
        (
            Html(f"<h1>{escape(run.dataset_label)} · {escape(run.scheme)}</h1>"),
            paragraph(escape(lead), "lead"),
            settings_list(
                (key, _format_setting(value)) for key, value in run.settings.items() if value is not None
            ),
            table_of_contents([(name, title) for name, title, _ in sections]),
        )
    )
    body = join_html(section(name, title, inside) for name, title, inside in sections)
    return html_page(f"{run.dataset_label} · {run.scheme}", head, body)


def _format_setting(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def unanswered_note(runs: Iterable[FinishedRun]) -> list[Html]:
    """A note on how answer metrics are computed without a model."""
    if all(record.answer is not None for run in runs for record in run.records):
        return []
    note = "Without a model, the first recalled memory counts as the answer (anchor_map, correctness, f1)."
    return [paragraph(escape(note), "note")]


def metrics_table(run: FinishedRun) -> Html:
    counts = run.results.get("counts", {})
    rows = [
        (
            escape(name),
            escape(display.format_metric(name, value)),
            escape(display.format_interval(run.results, name)),
            escape(f"{counts[name]:,}" if name in counts else "-"),
            Html(f'<span class="meaning">{escape(display.describe_metric(name))}</span>'),
        )
        for name, value in run.metrics.items()
    ]
    caption = "Means over the questions that have the metric, with 95% bootstrap intervals."
    head = ("figure", "mean", "95% interval", "questions", "what it says")
    return join_html((html_table(head, rows, caption, text_columns=(0, 4)), *unanswered_note([run])))


def categories_section(run: FinishedRun) -> Html:
    by_category = run.results.get("by_category", {})
    if not by_category:
        return paragraph(escape("The questions of this data set have no categories."))
    names = [name for name in run.metrics if any(name in each for each in by_category.values())]
    rows = [
        (
            escape(category),
            escape(f"{each['n']:,}"),
            *(escape(display.format_metric(name, each.get(name))) for name in names),
        )
        for category, each in by_category.items()
    ]
    grid = html_table(("category", "n", *names), rows, "Means by category.")
    return join_html((_category_bars(run, list(by_category)), grid))


def _category_bars(run: FinishedRun, names: Sequence[str]) -> Html:
    metrics = display.rate_metrics(run.metrics)
    groups = []
    for name in names[:_MAX_DRAWN_CATEGORIES]:
        records = [record for record in run.records if record.category == name]
        bars = [_metric_bar(each, records, look) for look, each in enumerate(metrics)]
        groups.append((f"{name} (n={len(records)})", [bar for bar in bars if bar is not None]))
    groups = [(name, bars) for name, bars in groups if bars]
    if not groups:
        return Html("")
    alt = "; ".join(
        f"{name}: {', '.join(f'{bar.name} {bar.value:.3f}' for bar in bars)}" for name, bars in groups
    )
    caption = f"{', '.join(metrics)} by category; the thin lines are 95% intervals."
    if len(names) > _MAX_DRAWN_CATEGORIES:
        caption += f" Only the first {_MAX_DRAWN_CATEGORIES} of {len(names)} categories are drawn."
    chart = bar_chart(groups, x_label="mean", alt_text=f"Bars by category. {alt}", top=1.0)
    return figure(chart, caption)


def _metric_bar(name: str, records: Sequence[Record], look: int) -> Bar | None:
    values = [record.scores[name] for record in records if name in record.scores]
    return Bar(name, sum(values) / len(values), look, *bootstrap_interval(values)) if values else None


def curve_section(run: FinishedRun) -> Html:
    lines = top_k_curves(run)
    if lines is None:
        return paragraph(escape("No question of this run has gold items, or nothing was recalled."))
    hit, recall = lines
    first, last = hit.points[0][1], hit.points[-1][1]
    told_ = f"hit@k goes from {first:.3f} at k = 1 to {last:.3f} at k = {len(hit.points)}"
    chart = line_chart(
        lines, x_label="k: number of memories", y_label="share of questions", alt_text=f"{told_}."
    )
    caption = f"{told_}; recall@k ends at {recall.points[-1][1]:.3f} (compare TiM, figure 6)."
    rows = [
        (escape(str(k)), escape(f"{at:.3f}"), escape(f"{share:.3f}"))
        for (k, at), (_, share) in zip(hit.points, recall.points, strict=True)
    ]
    return figure(
        chart, caption, details("The curve as a table", html_table(("k", "hit@k", "recall@k"), rows, "Top-k"))
    )


def thoughts_section(records: Sequence[Record], embed: Embed | None) -> Html:
    if embed is None:
        return paragraph(escape("Omitted: this report was written without an embedder."))
    points = recalled_texts(records)
    different = len({point.text for point in points})
    if different < MIN_TEXTS:
        return paragraph(
            escape(f"Omitted: {different} different texts are too few for a map (at least {MIN_TEXTS}).")
        )
    names = turn_band_names(points)
    what = (
        f"{len(points)} recalled texts, {different} of them different, arranged by t-SNE of their embeddings"
    )
    caption = (
        f"{what}. Colour and marker show the turn; the first question of a history is turn 1. "
        "Similar texts are close; the axes have no unit (compare TiM (ACL), figure 2)."
    )
    return figure(scatter(tsne_layout(points, embed), names, alt_text=f"A map of {what}, by turn."), caption)


def latency_section(run: FinishedRun) -> Html:
    times = [record.ms for record in run.records]
    if not times:
        return paragraph(escape("No recall was timed."))
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
        alt_text=f"Histogram of recall times. {told_}",
    )
    caption = f"{len(times):,} recalls, without embedding of the question. {told_}."
    return figure(chart, caption)


def hardest_section(records: Sequence[Record]) -> Html:
    missed = sum(is_failed(record) for record in records)
    if not missed:
        return paragraph(escape("None: every question was answered from its gold."))
    selected = hardest_failures(records)
    shown = "" if len(selected) == missed else f" {len(selected)} of them, from each category in turn:"
    lead = (
        f"{missed:,} of {len(records):,} questions failed: no gold item was recalled, something was recalled "
        f"for an unanswerable question, or the answer contains none of its anchors.{shown}"
    )
    return join_html((paragraph(escape(lead)), *(failure_article(record) for record in selected)))


def commands_section(runs: Sequence[FinishedRun]) -> Html:
    commands = [str(run.results.get("command") or "") for run in runs]
    if not any(commands):
        return paragraph(escape("The command was not recorded."))
    return Html(f"<pre>{escape(chr(10).join(command for command in commands if command))}</pre>")
