"""Four charts as SVG: lines, grouped bars, scatter and histogram.

The same values give the same bytes. Labels are placed beside their lines and bars, so no legend is needed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from thinkback_lab.report import svg
from thinkback_lab.report.svg import Scale, clip_text, log_ticks, spread_labels, text_width, ticks

CHART_WIDTH = 940.0
_TOP_MARGIN, _BOTTOM_MARGIN, _LEFT_MARGIN = 36.0, 52.0, 46.0
_LABEL_GAP = 18.0
_BAR_HEIGHT, _GROUP_GAP = 18.0, 12.0
_MAX_LABEL_WIDTH = 260.0


@dataclass(frozen=True, slots=True)
class Series:
    """One line: name and points from left to right; `style` selects colour, dash and marker."""

    name: str
    points: tuple[tuple[float, float], ...]
    style: int = 0


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar; `style` selects its colour, `low` and `high` are the interval drawn at its end."""

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
    """Lines from 0 to `top`, labelled with name and last value at their ends."""
    names = [f"{each.name} {each.points[-1][1]:.3f}" for each in series]
    margin = min(_MAX_LABEL_WIDTH, max(text_width(name, svg.FONT_SIZE) for name in names)) + 40
    height = max(390.0, _TOP_MARGIN + _BOTTOM_MARGIN + _LABEL_GAP * len(series))
    low, high = (
        min(x for each in series for x, _ in each.points),
        max(x for each in series for x, _ in each.points),
    )
    x = Scale(low, high, _LEFT_MARGIN, CHART_WIDTH - margin)
    y = Scale(0, top, height - _BOTTOM_MARGIN, _TOP_MARGIN)
    body = svg.y_axis(y, ticks(0, top), _LEFT_MARGIN, x.end, y_label)
    body += svg.x_axis(x, _integer_ticks(low, high), _TOP_MARGIN, y.start, x_label)
    ends = [(x(each.points[-1][0]), y(each.points[-1][1])) for each in series]
    label_positions = spread_labels([end for _, end in ends], _LABEL_GAP, _TOP_MARGIN, y.start)
    for each, name, end, label_y in zip(series, names, ends, label_positions, strict=True):
        which = each.style
        points = [(x(at), y(value)) for at, value in each.points]
        body += svg.polyline(points, which)
        body += "".join(svg.marker(px, py, which, svg.colour(which)) for px, py in points)
        body += svg.straight_line(end[0] + 5, end[1], x.end + 18, label_y, "leader")
        body += svg.marker(x.end + 24, label_y, which, svg.colour(which))
        body += svg.text_label(
            x.end + 34, label_y + 4, clip_text(name, svg.FONT_SIZE, _MAX_LABEL_WIDTH), tip=name
        )
    return svg.svg_image(CHART_WIDTH, height, alt_text, body)


def _integer_ticks(low: float, high: float) -> list[float]:
    """Every integer if there are few, otherwise round numbers."""
    if high - low <= 20:
        return [float(number) for number in range(math.ceil(low), math.floor(high) + 1)]
    return [at for at in ticks(low, high, 10) if low <= at <= high and at == int(at)]


def bar_chart(groups: Sequence[tuple[str, Sequence[Bar]]], *, x_label: str, alt_text: str, top: float) -> str:
    """Horizontal bars in groups, labelled with value and name."""
    several = any(len(bars) > 1 for _, bars in groups)
    left = min(_MAX_LABEL_WIDTH, max(text_width(name, svg.FONT_SIZE) for name, _ in groups)) + 14
    ends = [
        f"{bar.value:.3f} {bar.name}" if several else f"{bar.value:.3f}" for _, bars in groups for bar in bars
    ]
    margin = min(_MAX_LABEL_WIDTH, max(text_width(end, svg.FONT_SIZE) for end in ends)) + 16
    height = 8 + sum(_BAR_HEIGHT * len(bars) + _GROUP_GAP for _, bars in groups) + _BOTTOM_MARGIN
    marks = ticks(0, top)
    x = Scale(0, marks[-1], left, CHART_WIDTH - margin)
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
    elements = svg.rectangle(x.start, y + 1, end - x.start, _BAR_HEIGHT - 2, f"bar {svg.colour(bar.style)}")
    if bar.low is not None and bar.high is not None and bar.high > bar.low:
        low, high = x(bar.low), x(bar.high)
        elements += svg.straight_line(low, middle, high, middle, "whisker")
        elements += "".join(
            svg.straight_line(at, middle - 3, at, middle + 3, "whisker") for at in (low, high)
        )
        end = max(end, high)
    return elements + svg.text_label(
        end + 7, middle + 4, clip_text(text, svg.FONT_SIZE, _MAX_LABEL_WIDTH), class_="value", tip=text
    )


def scatter(dots: Sequence[ScatterPoint], groups: Sequence[str], *, alt_text: str) -> str:
    """Points without axes, for distances without a unit; the colours of groups go from cold to warm."""
    margin = min(_MAX_LABEL_WIDTH, max(text_width(name, svg.FONT_SIZE) for name in groups)) + 44
    height = 520.0
    x = Scale(min(dot.x for dot in dots), max(dot.x for dot in dots), 16, CHART_WIDTH - margin - 16)
    y = Scale(min(dot.y for dot in dots), max(dot.y for dot in dots), height - 18, 18)
    body = svg.rectangle(1, 1, CHART_WIDTH - margin, height - 2, "frame")
    body += "".join(svg.marker(x(dot.x), y(dot.y), dot.group, f"q{dot.group}", dot.tip) for dot in dots)
    for which, name in enumerate(groups):
        legend_y = 16 + which * (_LABEL_GAP + 4)
        body += svg.marker(CHART_WIDTH - margin + 18, legend_y, which, f"q{which}")
        body += svg.text_label(
            CHART_WIDTH - margin + 30, legend_y + 4, clip_text(name, svg.FONT_SIZE, _MAX_LABEL_WIDTH)
        )
    return svg.svg_image(CHART_WIDTH, height, alt_text, body)


def histogram(
    values: Sequence[float], lines: Sequence[tuple[str, float]], *, x_label: str, y_label: str, alt_text: str
) -> str:
    """Histogram on a logarithmic axis; `lines` are named positions."""
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
    for number, bin_count in enumerate(counts):
        left, end = x(edges[number]), x(edges[number + 1])
        body += svg.rectangle(left + 0.5, y(bin_count), end - left - 1, y.start - y(bin_count), "bar s0")
    return svg.svg_image(CHART_WIDTH, height, alt_text, body + _draw_reference_lines(x, y, lines))


def _draw_reference_lines(x: Scale, y: Scale, lines: Sequence[tuple[str, float]]) -> str:
    """Vertical lines with their names above the chart."""
    widest = max((text_width(name, svg.FONT_SIZE) for name, _ in lines), default=0.0)
    positions = [x(min(max(value, x.low), x.high)) for _, value in lines]
    label_starts = spread_labels(
        [position - widest / 2 for position in positions], widest + 12, x.start, x.end - widest
    )
    elements = "".join(
        svg.straight_line(position, y.end - 4, position, y.start, "limit") for position in positions
    )
    return elements + "".join(
        svg.text_label(label_start, y.end - 9, name, class_="value")
        for label_start, (name, _) in zip(label_starts, lines, strict=True)
    )


def _log_axis_range(low: float, high: float) -> tuple[float, float]:
    """Range of a logarithmic axis: positive and not empty."""
    low = max(low, 1e-3)
    high = max(high, low)
    return (low, high) if high / low >= 2 else (low / 1.5, high * 1.5)
