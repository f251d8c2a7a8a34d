"""Results of a consultation run: summary, transcripts and the HTML report.

Intervals resample patients, not visits, because the visits of one patient are not independent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from thinkback_lab.consult.records import Patient
from thinkback_lab.consult.runs import VisitRecord
from thinkback_lab.errors import LabError
from thinkback_lab.metrics.statistics import bootstrap_interval
from thinkback_lab.report.charts import Bar, Series, bar_chart, line_chart
from thinkback_lab.report.html import (
    Html,
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
from thinkback_lab.runs.runner import slug

if TYPE_CHECKING:
    from rich.table import Table


MEAN_METRICS = ("diagnosis", "treatment", "coverage", "order", "consistency", "rounds", "context_tokens")
COUNT_METRICS = ("repeated", "forgotten", "contradicted", "rejected", "questions", "told")
MAX_SHORT_TURNS = 12  # a longer dialogue counts as long
TURNS_PER_POINT = 5  # turns that share one point of the curve


def summarise_consultations(
    entries: Sequence[VisitRecord], settings: Mapping[str, object], command: str
) -> dict[str, Any]:
    """Summarise a run; `n` is the number of visits of one scheme."""
    names = list(dict.fromkeys(entry.scheme for entry in entries))
    by_scheme = {
        name: _scheme_results([entry for entry in entries if entry.scheme == name]) for name in names
    }
    patients = len({entry.patient for entry in entries})
    return {
        "dataset": "consult",
        "settings": dict(settings),
        "patients": patients,
        "n": len({(entry.patient, entry.played.number) for entry in entries}),
        "schemes": by_scheme,
        "command": command,
    }


def _scheme_results(entries: Sequence[VisitRecord]) -> dict[str, Any]:
    return {
        "n": len(entries),
        **_visit_figures(entries),
        "intervals": {
            name: _patient_interval(entries, name)
            for name in (*MEAN_METRICS, *COUNT_METRICS)
            if _score_values(entries, name)
        },
        "by_visit": _grouped_figures(entries, lambda entry: str(entry.played.number + 1)),
        "by_language": _grouped_figures(entries, lambda entry: entry.lang),
        "by_turn": _consistency_by(
            entries, lambda entry: str(-(-entry.turn // TURNS_PER_POINT) * TURNS_PER_POINT)
        ),
        "by_length": _consistency_by(
            entries, lambda entry: "short" if entry.turn <= MAX_SHORT_TURNS else "long"
        ),
    }


def _visit_figures(entries: Sequence[VisitRecord]) -> dict[str, Any]:
    metrics = {
        name: round(fmean(values), 4) for name in MEAN_METRICS if (values := _score_values(entries, name))
    }
    totals = {name: int(sum(_score_values(entries, name))) for name in COUNT_METRICS}
    shares = {
        "repeated_share": _ratio(totals["repeated"], totals["questions"]),
        "forgotten_share": _ratio(totals["forgotten"], totals["told"]),
        "contradicted_share": _ratio(totals["contradicted"], totals["told"]),
    }
    return {"metrics": {**metrics, **shares}, "totals": totals}


def _score_values(entries: Iterable[VisitRecord], name: str) -> list[float]:
    return [entry.scores[name] for entry in entries if name in entry.scores]


def _ratio(part: int, whole: int) -> float:
    return round(part / whole, 4) if whole else 0.0


def _patient_interval(entries: Sequence[VisitRecord], name: str) -> list[float]:
    """Interval of the mean per visit, resampled over patients."""
    patients = dict.fromkeys(entry.patient for entry in entries)
    means = [
        fmean(values)
        for patient in patients
        if (values := _score_values([entry for entry in entries if entry.patient == patient], name))
    ]
    return [round(bound, 4) for bound in bootstrap_interval(means)]


def _grouped_figures(entries: Sequence[VisitRecord], key: Callable[[VisitRecord], str]) -> dict[str, Any]:
    names = sorted({key(entry) for entry in entries})
    groups = {name: [entry for entry in entries if key(entry) == name] for name in names}
    return {name: {"n": len(group), **_visit_figures(group)} for name, group in groups.items()}


def _consistency_by(entries: Sequence[VisitRecord], key: Callable[[VisitRecord], str]) -> dict[str, Any]:
    """Mean consistency score of every group."""
    groups: dict[str, list[VisitRecord]] = {}
    scored = [entry for entry in entries if "consistency" in entry.scores]
    for entry in sorted(scored, key=lambda each: each.turn):
        groups.setdefault(key(entry), []).append(entry)
    return {
        name: {"n": len(group), "consistency": round(fmean(_score_values(group, "consistency")), 4)}
        for name, group in groups.items()
    }


def consult_table(results: Mapping[str, Any]) -> Table:
    """One row per memory system."""
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("scheme", no_wrap=True)
    heads = ("diagnosis", "treatment", "coverage", "order", "repeated", "forgotten", "contradicted")
    for head in (*heads, "consistency", "rounds", "tokens"):
        grid.add_column(head, justify="right", no_wrap=True)
    for name, figures in results["schemes"].items():
        means, totals = figures["metrics"], figures["totals"]
        grid.add_row(
            name,
            *(_format_mean(means, key) for key in ("diagnosis", "treatment", "coverage", "order")),
            *(str(totals[key]) for key in ("repeated", "forgotten", "contradicted")),
            _format_mean(means, "consistency"),
            f"{means['rounds']:.1f}",
            f"{means['context_tokens']:.1f}",
        )
    return grid


def _format_mean(means: Mapping[str, float], name: str) -> str:
    return f"{means[name]:.3f}" if name in means else "-"


TRANSCRIPTS_DIR = "transcripts"


def write_transcripts(entries: Sequence[VisitRecord], patients: Sequence[Patient], folder: Path) -> None:
    """Write one Markdown file per consultation: transcripts/SCHEME/PATIENT.md."""
    by_id = {patient.id: patient for patient in patients}
    consultations: dict[tuple[str, str], list[VisitRecord]] = {}
    for entry in entries:
        consultations.setdefault((entry.scheme, entry.patient), []).append(entry)
    try:
        for (scheme, id_), visits in consultations.items():
            path = folder / TRANSCRIPTS_DIR / slug(scheme) / f"{id_}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("\n".join(_transcript_lines(scheme, by_id[id_], visits)) + "\n", encoding="utf-8")
    except OSError as error:
        raise LabError(f"{folder}: {error.strerror or error}") from error


def _transcript_lines(scheme: str, patient: Patient, visits: Sequence[VisitRecord]) -> Iterator[str]:
    yield f"# {patient.id}: {patient.gender}, {patient.age}, with {scheme}"
    yield "\nA fictional patient of a simulation. Not medical advice."
    for entry in visits:
        visit = patient.visits[entry.played.number]
        yield f"\n## Visit {entry.played.number + 1}, {visit.at.date().isoformat()}\n"
        for number, turn in enumerate(entry.played.turns, start=1):
            yield f"{number}. **Patient:** {turn.patient}"
            yield from (f"   - *rejected, not in the record:* {reply}" for reply in turn.rejected)
            for context in turn.contexts:
                yield f"   - recalled for “{context.question}” ({context.tokens} tokens)"
                yield from (f"     - {line.dated_text}" for line in context.lines)
            yield f"   **Doctor:** {turn.doctor}{' *(asked before)*' if turn.repeated else ''}"
        yield f"\nThe record: {visit.diagnosis.core}; {visit.treatment.core}.\n"
        yield from (f"- {name}: {value:g}" for name, value in entry.scores.items())


MAX_CASES_PER_SCHEME = 3
_COUNTED_METRICS = ("repeated", "forgotten", "contradicted")


def write_consult_page(results: Mapping[str, Any], entries: Sequence[VisitRecord], out: Path) -> None:
    """Write one self-contained HTML file, atomically."""
    temporary = out.with_name(out.name + ".part")
    try:
        temporary.write_text(_consult_page(results, entries), encoding="utf-8")
        temporary.replace(out)
    except OSError as error:
        raise LabError(f"{out}: {error.strerror or error}") from error


def _consult_page(results: Mapping[str, Any], entries: Sequence[VisitRecord]) -> str:
    schemes = results["schemes"]
    sections = [
        ("accuracy", "Accuracy (table 3)", _accuracy_section(results)),
        ("memory", "Repeated, forgotten, contradicted", _counts_section(schemes)),
        ("consistency", "Consistency (figures 3 and 4)", _consistency_section(schemes)),
        ("cost", "Rounds and tokens by visit", _cost_section(schemes)),
        ("cases", "Cases (table 5)", _cases_section(entries)),
        ("again", "Run it again", paragraph(quoted(results["command"], 1000))),
    ]
    title = f"Consultations: {results['patients']} fictional patients, {len(schemes)} memory systems"
    head = join_html(
        (
            Html(f"<h1>{escape(title)}</h1>"),
            paragraph(escape("A simulation with fictional patients. Not medical advice."), "lead"),
            settings_list(results["settings"].items()),
            table_of_contents([(name, heading) for name, heading, _ in sections]),
        )
    )
    return html_page(
        title, head, join_html(section(name, heading, inside) for name, heading, inside in sections)
    )


def _accuracy_section(results: Mapping[str, Any]) -> Html:
    doctor = str(results["settings"]["doctor"])
    rows = []
    for metric in ("diagnosis", "treatment", "coverage", "order"):
        for name, figures in results["schemes"].items():
            if metric in figures["metrics"]:
                low, high = figures["intervals"][metric]
                share = figures["metrics"][metric]
                interval = escape(f"{100 * low:.1f} – {100 * high:.1f}")
                rows.append((escape(metric), escape(name), escape(f"{100 * share:.2f}"), interval))
    head = ("accuracy", "memory", doctor, "95%, over patients")
    return html_table(head, rows, "In percent, by memory system.", text_columns=(0, 1))


def _counts_section(schemes: Mapping[str, Any]) -> Html:
    rows = [
        (
            escape(name),
            *(
                escape(figures["totals"][key])
                for key in ("questions", "repeated", "told", "forgotten", "contradicted")
            ),
            *(escape(f"{figures['metrics'][f'{key}_share']:.3f}") for key in _COUNTED_METRICS),
        )
        for name, figures in schemes.items()
    ]
    head = (
        "memory",
        "questions",
        "repeated",
        "told",
        "forgotten",
        "contradicted",
        *(f"{key}, share" for key in _COUNTED_METRICS),
    )
    groups = [
        (
            key,
            [
                Bar(name, float(figures["totals"][key]), look)
                for look, (name, figures) in enumerate(schemes.items())
            ],
        )
        for key in _COUNTED_METRICS
    ]
    top = max((bar.value for _, bars in groups for bar in bars), default=1.0)
    figures = "; ".join(
        f"{key}: {', '.join(f'{bar.name} {bar.value:.0f}' for bar in bars)}" for key, bars in groups
    )
    chart = bar_chart(groups, x_label="over all visits", alt_text=figures, top=max(top, 1.0))
    return join_html((html_table(head, rows, "Counted over all visits."), figure(chart, "The same as bars.")))


def _consistency_section(schemes: Mapping[str, Any]) -> Html:
    groups = [
        (
            f"{length} dialogue",
            [
                Bar(name, figures["by_length"][length]["consistency"], look)
                for look, (name, figures) in enumerate(schemes.items())
                if length in figures["by_length"]
            ],
        )
        for length in ("short", "long")
    ]
    groups = [(name, bars) for name, bars in groups if bars]
    lines = [
        Series(
            name, tuple((float(turn), each["consistency"]) for turn, each in figures["by_turn"].items()), look
        )
        for look, (name, figures) in enumerate(schemes.items())
        if figures["by_turn"]
    ]
    if not lines:
        return paragraph(escape("No finding was told that could be recalled."))
    figures = "; ".join(f"{line.name} ends at {line.points[-1][1]:.3f}" for line in lines)
    bars = bar_chart(
        groups, x_label="consistency score", alt_text="Consistency by length of dialogue.", top=1.0
    )
    curve = line_chart(lines, x_label="turns so far", y_label="consistency", alt_text=figures)
    return join_html(
        (
            figure(bars, "Figure 3: consistency score in short (up to 12 turns) and long dialogues."),
            figure(curve, "Figure 4: consistency score by turn, at the end of visits."),
        )
    )


def _cost_section(schemes: Mapping[str, Any]) -> Html:
    rows = [
        (
            escape(f"{name}, visit {visit}"),
            *(escape(each["totals"][key]) for key in _COUNTED_METRICS),
            escape(f"{each['metrics']['rounds']:.1f}"),
            escape(f"{each['metrics']['context_tokens']:.1f}"),
        )
        for name, figures in schemes.items()
        for visit, each in figures["by_visit"].items()
    ]
    head = ("memory", *_COUNTED_METRICS, "rounds", "tokens per context")
    return html_table(head, rows, "Mean rounds per visit, mean tokens per recalled context.")


def _cases_section(entries: Sequence[VisitRecord]) -> Html:
    schemes = dict.fromkeys(entry.scheme for entry in entries)
    rows = [row for scheme in schemes for row in _repeated_questions(entries, scheme)]
    if not rows:
        return paragraph(escape("No question was repeated."))
    head = ("memory", "visit", "the patient's message", "the repeated question")
    return html_table(
        head, rows, "The first repeated questions of each memory system.", text_columns=(0, 1, 2, 3)
    )


def _repeated_questions(
    entries: Sequence[VisitRecord], scheme: str
) -> Iterator[tuple[Html, Html, Html, Html]]:
    repeats = (
        (entry, turn)
        for entry in entries
        if entry.scheme == scheme
        for turn in entry.played.turns
        if turn.repeated
    )
    for (entry, turn), _ in zip(repeats, range(MAX_CASES_PER_SCHEME), strict=False):
        where = escape(f"{entry.patient}, {entry.played.number + 1}")
        yield escape(scheme), where, quoted(turn.patient), quoted(turn.doctor)
