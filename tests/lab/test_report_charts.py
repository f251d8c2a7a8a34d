"""Charts: round axis ends, separated labels, deterministic output."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback_lab.report.charts import (
    CHART_WIDTH,
    Bar,
    ScatterPoint,
    Series,
    bar_chart,
    histogram,
    line_chart,
    scatter,
)
from thinkback_lab.report.svg import (
    Scale,
    clip_text,
    format_tick,
    log_ticks,
    spread_labels,
    text_width,
    ticks,
)

FINITE = st.floats(-1e6, 1e6)


@given(FINITE, FINITE)
def test_ticks_enclose_values_evenly(one: float, other: float) -> None:
    low, high = min(one, other), max(one, other)
    if high - low < 1e-6 * max(1.0, abs(low), abs(high)):
        return  # beyond what an axis can tell apart
    at = ticks(low, high)
    step = at[1] - at[0]
    slack = step * 1e-6
    assert at[0] <= low + slack
    assert at[-1] >= high - slack
    assert 2 <= len(at) <= 12
    assert all(abs((b - a) - step) < step * 1e-3 for a, b in pairwise(at))


def test_ticks_of_a_single_value() -> None:
    assert ticks(3, 3)[0] < 3 < ticks(3, 3)[-1]


@given(st.floats(1e-3, 1e4), st.floats(1.1, 1e6))
def test_log_ticks_are_inside_and_increasing(low: float, ratio: float) -> None:
    at = log_ticks(low, low * ratio)
    assert at == sorted(set(at))
    assert all(low * 0.999 <= each <= low * ratio * 1.001 for each in at)
    assert not at or len(at) <= 15


@given(st.lists(st.floats(-50, 450), min_size=1, max_size=40), st.floats(1, 60))
def test_labels_keep_distance_order_and_range(wanted: list[float], gap: float) -> None:
    places = spread_labels(wanted, gap, 0, 400)
    assert all(-1e-6 <= place <= 400 + 1e-6 for place in places)
    kept = min(gap, 400 / (len(wanted) - 1)) if len(wanted) > 1 else gap
    ordered = [places[at] for at in sorted(range(len(wanted)), key=lambda at: (wanted[at], at))]
    assert all(b - a >= kept - 1e-6 for a, b in pairwise(ordered))


def test_labels_with_enough_room_do_not_move() -> None:
    assert spread_labels([300.0, 10.0, 150.0], 20, 0, 400) == [300.0, 10.0, 150.0]
    assert spread_labels([100.0, 100.0], 20, 0, 400) == [90.0, 110.0]


@given(FINITE, FINITE, st.floats(0, 1))
def test_scale_maps_ends_to_ends(low: float, high: float, share: float) -> None:
    if high - low < 1e-3:
        return
    scale = Scale(low, high, 40, 700)
    assert [scale(low), scale(high)] == pytest.approx([40, 700])
    assert 40 - 1e-6 <= scale(low + share * (high - low)) <= 700 + 1e-6


@given(st.text(max_size=60), st.floats(30, 300))
def test_clipped_text_fits(text: str, width: float) -> None:
    assert text_width(clip_text(text, 12, width), 12) <= width + 12


def test_tick_numbers_have_no_trailing_zeros() -> None:
    assert [format_tick(value) for value in (0.0, 0.2, 0.30000000000000004, 10.0, 2e7)] == [
        "0", "0.2", "0.3", "10", "2e+07",
    ]  # fmt: skip


NAMES = ["thinkback", "向量检索(稠密)", 'a<b>&"c"', "x" * 200, "😀"]
LINES = [Series(name, ((1, 0.1 * at), (5, 0.1 * at + 0.5)), at) for at, name in enumerate(NAMES)]


def all_charts() -> list[str]:
    return [
        line_chart(LINES, x_label="k", y_label="hit@k", alt_text="lines"),
        line_chart([Series("one", ((1, 0.5),))], x_label="k", y_label="y", alt_text="one point"),
        bar_chart([(name, [Bar(name, 0.4, 0, 0.3, 0.5), Bar("b", 0, 1)]) for name in NAMES], x_label="x",
                  alt_text="bars", top=1),
        scatter([ScatterPoint(at, at % 3, at % 2, NAMES[at]) for at in range(5)], ["turn 1", "turn 2"],
                alt_text="dots"),
        scatter([ScatterPoint(1, 1, 0)] * 3, ["turn 1"], alt_text="all in one place"),
        histogram([0.0, 0.5, 1, 2, 900], [("p50 1 ms", 1), ("p95 1 ms", 1.01)], x_label="ms", y_label="n",
                  alt_text="times"),
        histogram([2.0], [], x_label="ms", y_label="n", alt_text="one time"),
    ]  # fmt: skip


def test_every_chart_is_well_formed_and_described() -> None:
    for chart in all_charts():
        root = ET.fromstring(chart)
        assert root.get("aria-label")
        assert root.get("role") == "img"
        assert "nan" not in chart.lower().replace("ann", "")
        inf = [value for value in re.findall(r'(?:x|y|width|height)="([^"]+)"', chart) if "inf" in value]
        assert inf == []


def test_marks_and_bars_are_inside_the_image() -> None:
    for chart in all_charts():
        root = ET.fromstring(chart)
        height = float(root.get("height") or 0)
        for node in root.iter():
            for key, most in (
                ("x", CHART_WIDTH),
                ("cx", CHART_WIDTH),
                ("x2", CHART_WIDTH),
                ("y", height),
                ("cy", height),
            ):
                if node.get(key):
                    assert -0.1 <= float(node.get(key) or 0) <= most + 0.1, ET.tostring(node)


def test_line_labels_do_not_overlap() -> None:
    ends = [Series(f"line {at}", ((1, 0.5), (2, 0.8)), at) for at in range(12)]
    root = ET.fromstring(line_chart(ends, x_label="k", y_label="y", alt_text="twelve at one place"))
    heights = sorted(float(node.get("y") or 0) for node in root.iter("text") if (node.text or "") == ""
                     and (node[0].text or "").startswith("line"))  # fmt: skip
    assert len(heights) == 12
    assert all(b - a >= 17.8 for a, b in pairwise(heights))


def test_series_differ_in_more_than_colour() -> None:
    root = ET.fromstring(line_chart(LINES[:3], x_label="k", y_label="y", alt_text="three"))
    dashes = [node.get("stroke-dasharray") for node in root.iter("polyline")]
    assert len(set(dashes)) == 3
    assert len(list(root.iter("circle"))) == 3  # two points and the name of the first series only


def test_same_values_give_same_bytes() -> None:
    assert all_charts() == all_charts()
