"""Four charts: lines, bars in groups, points, a histogram.

Each takes values and returns SVG; the same values give the same bytes. Names stand beside what they name
(at the end of a line, at the end of a bar), so no reader has to match colours with a legend.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from thinkback_lab.report import svg
from thinkback_lab.report.svg import Scale, clip_text, log_ticks, spread_labels, text_width, ticks

CHART_WIDTH = 940.0
_TOP_MARGIN, _BOTTOM_MARGIN, _LEFT_MARGIN = 36.0, 52.0, 46.0
_LABEL_GAP = 18.0  # between lines of text
_BAR_HEIGHT, _GROUP_GAP = 18.0, 12.0
_MAX_LABEL_WIDTH = 260.0  # the most that names may take of the width


@dataclass(frozen=True, slots=True)
class Series:
    """One line: a name and its points from left to right; `look` is its colour, dash and mark by number."""

    name: str
    points: tuple[tuple[float, float], ...]
    style: int = 0


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar; `look` is its colour by number, `low` and `high` are the interval drawn across its end."""

    name: str
    value: float
    style: int = 0
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class ScatterPoint:
    x: float
    y: float
    group: int
    tip: str = ""


def line_chart(
    series: Sequence[Series], *, x_label: str, y_label: str, alt_text: str, top: float = 1.0
) -> str:
    """Lines from 0 to `top`, each with its name and last value at its end."""
    names = [f"{each.name} {each.points[-1][1]:.3f}" for each in series]
    room = min(_MAX_LABEL_WIDTH, max(text_width(name, svg.FONT_SIZE) for name in names)) + 40
    height = max(390.0, _TOP_MARGIN + _BOTTOM_MARGIN + _LABEL_GAP * len(series))
    low, high = (
        min(x for each in series for x, _ in each.points),
        max(x for each in series for x, _ in each.points),
    )
    x = Scale(low, high, _LEFT_MARGIN, CHART_WIDTH - room)
    y = Scale(0, top, height - _BOTTOM_MARGIN, _TOP_MARGIN)
    body = svg.y_axis(y, ticks(0, top), _LEFT_MARGIN, x.end, y_label)
    body += svg.x_axis(x, _integer_ticks(low, high), _TOP_MARGIN, y.start, x_label)
    ends = [(x(each.points[-1][0]), y(each.points[-1][1])) for each in series]
    places = spread_labels([end for _, end in ends], _LABEL_GAP, _TOP_MARGIN, y.start)
    for each, name, end, place in zip(series, names, ends, places, strict=True):
        which = each.style
        points = [(x(at), y(value)) for at, value in each.points]
        body += svg.polyline(points, which)
        body += "".join(svg.marker(px, py, which, svg.colour(which)) for px, py in points)
        body += svg.straight_line(end[0] + 5, end[1], x.end + 18, place, "leader")
        body += svg.marker(x.end + 24, place, which, svg.colour(which))
        body += svg.text_label(
            x.end + 34, place + 4, clip_text(name, svg.FONT_SIZE, _MAX_LABEL_WIDTH), tip=name
        )
    return svg.svg_image(CHART_WIDTH, height, alt_text, body)


def _integer_ticks(low: float, high: float) -> list[float]:
    """Every one while there are few, else round ones."""
    if high - low <= 20:
        return [float(number) for number in range(math.ceil(low), math.floor(high) + 1)]
    return [at for at in ticks(low, high, 10) if low <= at <= high and at == int(at)]


def bar_chart(groups: Sequence[tuple[str, Sequence[Bar]]], *, x_label: str, alt_text: str, top: float) -> str:
    """Lying bars in groups: names of any length stand beside them; a bar says its value and its name."""
    several = any(len(bars) > 1 for _, bars in groups)
    left = min(_MAX_LABEL_WIDTH, max(text_width(name, svg.FONT_SIZE) for name, _ in groups)) + 14
    ends = [
        f"{bar.value:.3f} {bar.name}" if several else f"{bar.value:.3f}" for _, bars in groups for bar in bars
    ]
    room = min(_MAX_LABEL_WIDTH, max(text_width(end, svg.FONT_SIZE) for end in ends)) + 16
    height = 8 + sum(_BAR_HEIGHT * len(bars) + _GROUP_GAP for _, bars in groups) + _BOTTOM_MARGIN
    marks = ticks(0, top)
    x = Scale(0, marks[-1], left, CHART_WIDTH - room)
    body = svg.x_axis(x, marks, 4, height - _BOTTOM_MARGIN, x_label)
    y, texts = 8 + _GROUP_GAP / 2, iter(ends)
    for name, bars in groups:
        middle = y + _BAR_HEIGHT * len(bars) / 2 + 4
        body += svg.text_label(
            left - 8, middle, clip_text(name, svg.FONT_SIZE, _MAX_LABEL_WIDTH), end="end", tip=name
        )
        for bar in bars:
            body += _draw_bar(x, y, bar, next(texts))
            y += _BAR_HEIGHT
        y += _GROUP_GAP
    return svg.svg_image(
        CHART_WIDTH,
        height,
        alt_text,
        body + svg.straight_line(left, 4, left, height - _BOTTOM_MARGIN, "base"),
    )


def _draw_bar(x: Scale, y: float, bar: Bar, text: str) -> str:
    middle, end = y + _BAR_HEIGHT / 2, x(bar.value)
    drawn = svg.rectangle(x.start, y + 1, end - x.start, _BAR_HEIGHT - 2, f"bar {svg.colour(bar.style)}")
    if bar.low is not None and bar.high is not None and bar.high > bar.low:
        low, high = x(bar.low), x(bar.high)
        drawn += svg.straight_line(low, middle, high, middle, "whisker")
        drawn += "".join(svg.straight_line(at, middle - 3, at, middle + 3, "whisker") for at in (low, high))
        end = max(end, high)
    return drawn + svg.text_label(
        end + 7, middle + 4, clip_text(text, svg.FONT_SIZE, _MAX_LABEL_WIDTH), class_="value", tip=text
    )


def scatter(dots: Sequence[ScatterPoint], groups: Sequence[str], *, alt_text: str) -> str:
    """Points without axes, for distances that have no unit; groups are in an order, from cold to warm."""
    room = min(_MAX_LABEL_WIDTH, max(text_width(name, svg.FONT_SIZE) for name in groups)) + 44
    height = 520.0
    x = Scale(min(dot.x for dot in dots), max(dot.x for dot in dots), 16, CHART_WIDTH - room - 16)
    y = Scale(min(dot.y for dot in dots), max(dot.y for dot in dots), height - 18, 18)
    body = svg.rectangle(1, 1, CHART_WIDTH - room, height - 2, "frame")
    body += "".join(svg.marker(x(dot.x), y(dot.y), dot.group, f"q{dot.group}", dot.tip) for dot in dots)
    for which, name in enumerate(groups):
        place = 16 + which * (_LABEL_GAP + 4)
        body += svg.marker(CHART_WIDTH - room + 18, place, which, f"q{which}")
        body += svg.text_label(
            CHART_WIDTH - room + 30, place + 4, clip_text(name, svg.FONT_SIZE, _MAX_LABEL_WIDTH)
        )
    return svg.svg_image(CHART_WIDTH, height, alt_text, body)


def histogram(
    values: Sequence[float], lines: Sequence[tuple[str, float]], *, x_label: str, y_label: str, alt_text: str
) -> str:
    """How often values fall where, on a logarithmic axis; `lines` are named places in it."""
    low, high = _log_axis_range(min(values), max(values))
    count = max(8, min(32, round(2 * math.sqrt(len(values)))))
    edges = [low * (high / low) ** (number / count) for number in range(count + 1)]
    counts = [0] * count
    for value in values:
        share = math.log(max(value, low) / low) / math.log(high / low)
        counts[min(count - 1, int(share * count))] += 1
    height, right = 320.0, CHART_WIDTH - 20
    marks = ticks(0, max(counts), 4)
    x = Scale(low, high, _LEFT_MARGIN + 6, right, log=True)
    y = Scale(0, marks[-1], height - _BOTTOM_MARGIN, _TOP_MARGIN + 18)
    body = svg.y_axis(y, [at for at in marks if at == int(at)], x.start, right, y_label)
    body += svg.x_axis(x, log_ticks(low, high), y.end, y.start, x_label)
    for number, held in enumerate(counts):
        left, end = x(edges[number]), x(edges[number + 1])
        body += svg.rectangle(left + 0.5, y(held), end - left - 1, y.start - y(held), "bar s0")
    return svg.svg_image(CHART_WIDTH, height, alt_text, body + _draw_reference_lines(x, y, lines))


def _draw_reference_lines(x: Scale, y: Scale, lines: Sequence[tuple[str, float]]) -> str:
    """Lines through the chart, their names above it."""
    widest = max((text_width(name, svg.FONT_SIZE) for name, _ in lines), default=0.0)
    at = [x(min(max(value, x.low), x.high)) for _, value in lines]
    begins = spread_labels([place - widest / 2 for place in at], widest + 12, x.start, x.end - widest)
    drawn = "".join(svg.straight_line(place, y.end - 4, place, y.start, "limit") for place in at)
    return drawn + "".join(
        svg.text_label(begin, y.end - 9, name, class_="value")
        for begin, (name, _) in zip(begins, lines, strict=True)
    )


def _log_axis_range(low: float, high: float) -> tuple[float, float]:
    """The ends of a logarithmic axis: above nothing, and apart."""
    low = max(low, 1e-3)
    high = max(high, low)
    return (low, high) if high / low >= 2 else (low / 1.5, high * 1.5)
