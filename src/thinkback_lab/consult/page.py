"""The report of a run: table 3, figures 3 and 4 of TiM, what was repeated, and cases like table 5's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from thinkback_lab.consult.ledger import Entry
from thinkback_lab.errors import LabError
from thinkback_lab.report.charts import Bar, Series, bar_chart, line_chart
from thinkback_lab.report.html import (
    Html,
    contents,
    data,
    figure,
    joined,
    page,
    paragraph,
    section,
    settings,
    table,
    text,
)

CASES = 3  # of each scheme
_COUNTED = ("repeated", "forgotten", "contradicted")


def write_page(results: Mapping[str, Any], entries: Sequence[Entry], out: Path) -> None:
    """One self-contained HTML file, appearing whole or not at all."""
    part = out.with_name(out.name + ".part")
    try:
        part.write_text(_page(results, entries), encoding="utf-8")
        part.replace(out)
    except OSError as error:
        raise LabError(f"{out}: {error.strerror or error}") from error


def _page(results: Mapping[str, Any], entries: Sequence[Entry]) -> str:
    schemes = results["schemes"]
    parts = [
        ("accuracy", "Accuracy (table 3)", _accuracy(results)),
        ("memory", "Repeated, forgotten, contradicted", _counts(schemes)),
        ("consistency", "Consistency (figures 3 and 4)", _consistency(schemes)),
        ("cost", "Rounds and tokens by visit", _cost(schemes)),
        ("cases", "Cases (table 5)", _cases(entries)),
        ("again", "Run it again", paragraph(data(results["command"], 1000))),
    ]
    title = f"Consultations: {results['patients']} fictional patients, {len(schemes)} memory systems"
    head = joined(
        (
            Html(f"<h1>{text(title)}</h1>"),
            paragraph(text("A simulation with fictional patients. Not medical advice."), "lead"),
            settings(results["settings"].items()),
            contents([(name, told) for name, told, _ in parts]),
        )
    )
    return page(title, head, joined(section(name, told, inside) for name, told, inside in parts))


def _accuracy(results: Mapping[str, Any]) -> Html:
    doctor = str(results["settings"]["doctor"])
    rows = []
    for metric in ("diagnosis", "treatment", "coverage", "order"):
        for name, told in results["schemes"].items():
            if metric in told["metrics"]:
                low, high = told["intervals"][metric]
                share = told["metrics"][metric]
                interval = text(f"{100 * low:.1f} – {100 * high:.1f}")
                rows.append((text(metric), text(name), text(f"{100 * share:.2f}"), interval))
    head = ("accuracy", "memory", doctor, "95%, over patients")
    return table(head, rows, "In percent, by memory system.", words=(0, 1))


def _counts(schemes: Mapping[str, Any]) -> Html:
    rows = [
        (
            text(name),
            *(
                text(told["totals"][key])
                for key in ("questions", "repeated", "told", "forgotten", "contradicted")
            ),
            *(text(f"{told['metrics'][f'{key}_share']:.3f}") for key in _COUNTED),
        )
        for name, told in schemes.items()
    ]
    head = (
        "memory",
        "questions",
        "repeated",
        "told",
        "forgotten",
        "contradicted",
        *(f"{key}, share" for key in _COUNTED),
    )
    groups = [
        (
            key,
            [
                Bar(name, float(told["totals"][key]), look)
                for look, (name, told) in enumerate(schemes.items())
            ],
        )
        for key in _COUNTED
    ]
    top = max((bar.value for _, bars in groups for bar in bars), default=1.0)
    told = "; ".join(
        f"{key}: {', '.join(f'{bar.name} {bar.value:.0f}' for bar in bars)}" for key, bars in groups
    )
    chart = bar_chart(groups, x_label="over all visits", told=told, top=max(top, 1.0))
    return joined((table(head, rows, "Counted over all visits."), figure(chart, "The same as bars.")))


def _consistency(schemes: Mapping[str, Any]) -> Html:
    groups = [
        (
            f"{length} dialogue",
            [
                Bar(name, told["by_length"][length]["consistency"], look)
                for look, (name, told) in enumerate(schemes.items())
                if length in told["by_length"]
            ],
        )
        for length in ("short", "long")
    ]
    groups = [(name, bars) for name, bars in groups if bars]
    lines = [
        Series(
            name, tuple((float(turn), each["consistency"]) for turn, each in told["by_turn"].items()), look
        )
        for look, (name, told) in enumerate(schemes.items())
        if told["by_turn"]
    ]
    if not lines:
        return paragraph(text("Nothing of any record was told that could be looked for again."))
    told = "; ".join(f"{line.name} ends at {line.points[-1][1]:.3f}" for line in lines)
    bars = bar_chart(groups, x_label="consistency score", told="Consistency by length of dialogue.", top=1.0)
    curve = line_chart(lines, x_label="turns so far", y_label="consistency", told=told)
    return joined(
        (
            figure(bars, "Figure 3: the consistency score in short dialogues (to 12 turns) and long ones."),
            figure(
                curve, "Figure 4: the consistency score by turn, at the end of the visits that ended there."
            ),
        )
    )


def _cost(schemes: Mapping[str, Any]) -> Html:
    rows = [
        (
            text(f"{name}, visit {visit}"),
            *(text(each["totals"][key]) for key in _COUNTED),
            text(f"{each['metrics']['rounds']:.1f}"),
            text(f"{each['metrics']['context_tokens']:.1f}"),
        )
        for name, told in schemes.items()
        for visit, each in told["by_visit"].items()
    ]
    head = ("memory", *_COUNTED, "rounds", "tokens of a context")
    return table(head, rows, "Mean rounds of a visit, mean tokens of a composed context.")


def _cases(entries: Sequence[Entry]) -> Html:
    schemes = dict.fromkeys(entry.scheme for entry in entries)
    rows = [row for scheme in schemes for row in _of_scheme(entries, scheme)]
    if not rows:
        return paragraph(text("No question was repeated."))
    head = ("memory", "visit", "the patient had just said", "the doctor asks again")
    return table(head, rows, "The first repeated questions of each memory system.", words=(0, 1, 2, 3))


def _of_scheme(entries: Sequence[Entry], scheme: str) -> Iterator[tuple[Html, Html, Html, Html]]:
    repeats = (
        (entry, turn)
        for entry in entries
        if entry.scheme == scheme
        for turn in entry.played.turns
        if turn.repeated
    )
    for (entry, turn), _ in zip(repeats, range(CASES), strict=False):
        where = text(f"{entry.patient}, {entry.played.number + 1}")
        yield text(scheme), where, data(turn.patient), data(turn.doctor)
