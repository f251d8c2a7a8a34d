"""SVG elements, axes and the arithmetic of scales and labels."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from thinkback_lab.text import printable_text

_TICK_STEPS = (1.0, 2.0, 5.0, 10.0)
_NARROW_WIDTH, _LATIN_WIDTH, _UPPERCASE_WIDTH, _FULL_WIDTH = (
    0.4,
    0.63,
    0.74,
    1.04,
)  # relative to the font size, for a wide font
_NARROW_CHARACTERS = frozenset("iljtfr.,:;'|!()[] ")


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps values `low`..`high` to pixels `start`..`end`, linearly or logarithmically."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = (
            (math.log(self.low), math.log(self.high), math.log(value))
            if self.log
            else (self.low, self.high, value)
        )
        share = (at - low) / (high - low) if high > low else 0.5
        return self.start + share * (self.end - self.start)


def ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Evenly spaced round numbers that cover `low` to `high`."""
    if not high > low:
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(size * power for size in _TICK_STEPS if size * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    digits = max(0, -math.floor(math.log10(step)))
    return [round(number * step, digits) for number in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten in the range; only powers if that would be too many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    leads = (1, 2, 5) if len(powers) <= 4 else (1,)
    return [
        at
        for power in powers
        for lead in leads
        if low * (1 - 1e-9) <= (at := lead * 10.0**power) <= high * (1 + 1e-9)
    ]


def format_tick(value: float) -> str:
    """Format a tick without trailing zeros."""
    return f"{value:.10f}".rstrip("0").rstrip(".") if abs(value) < 1e6 else f"{value:.3g}"


def spread_labels(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Positions close to `wanted`, at least `gap` apart, in the same order, within `low` to `high`.

    If they do not fit, the gap is reduced.
    """
    order = sorted(range(len(wanted)), key=lambda at: (wanted[at], at))
    if len(order) > 1:
        gap = min(gap, (high - low) / (len(order) - 1))
    blocks: list[list[float]] = []  # [sum of wanted starts, count]: touching neighbours move together
    for rank, at in enumerate(order):
        blocks.append([wanted[at] - rank * gap, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] >= blocks[-1][0] / blocks[-1][1]:
            start, count = blocks.pop()
            blocks[-1][0] += start
            blocks[-1][1] += count
    last_start = high - gap * (len(order) - 1)
    starts = [
        min(max(start / count, low), max(low, last_start))
        for start, count in blocks
        for _ in range(int(count))
    ]
    positions = [0.0] * len(order)
    for rank, at in enumerate(order):
        positions[at] = starts[rank] + rank * gap
    return positions


def text_width(text: str, size: float) -> float:
    """Approximate width of a text: a Chinese character is square, a Latin letter about half of that."""
    return size * sum(_character_width(character) for character in text)


def clip_text(text: str, size: float, width: float) -> str:
    """Truncate a text to a width, with an ellipsis."""
    if text_width(text, size) <= width:
        return text
    remaining, clipped = width - size, ""
    for character in text:
        remaining -= size * _character_width(character)
        if remaining < 0:
            break
        clipped += character
    return clipped.rstrip() + "…"


def _character_width(character: str) -> float:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(character) in ("W", "F"):
        return _FULL_WIDTH
    return (
        _NARROW_WIDTH
        if character in _NARROW_CHARACTERS
        else _UPPERCASE_WIDTH
        if character.isupper()
        else _LATIN_WIDTH
    )


FONT_SIZE = 13.0
COLOUR_COUNT = 8
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 4")
_MARKER_RADIUS = 4.0
_ARM = _MARKER_RADIUS / 2.6
# coordinates around (0, 0)
_SHAPES: tuple[tuple[tuple[float, float], ...], ...] = (
    (),  # circle
    ((-3.6, -3.6), (3.6, -3.6), (3.6, 3.6), (-3.6, 3.6)),
    ((0, -5), (5, 0), (0, 5), (-5, 0)),
    ((0, -4.8), (4.6, 3.6), (-4.6, 3.6)),
    ((0, 4.8), (4.6, -3.6), (-4.6, -3.6)),
    (
        (-_ARM, -5), (_ARM, -5), (_ARM, -_ARM), (5, -_ARM), (5, _ARM), (_ARM, _ARM),
        (_ARM, 5), (-_ARM, 5), (-_ARM, _ARM), (-5, _ARM), (-5, -_ARM), (-_ARM, -_ARM),
    ),
    (
        (-2.2, -4.4), (0, -2.2), (2.2, -4.4), (4.4, -2.2), (2.2, 0), (4.4, 2.2),
        (2.2, 4.4), (0, 2.2), (-2.2, 4.4), (-4.4, 2.2), (-2.2, 0), (-4.4, -2.2),
    ),
)  # fmt: skip


def format_coordinate(value: float) -> str:
    """Format a coordinate with at most one decimal."""
    number = f"{value:.1f}".removesuffix(".0")
    return "0" if number == "-0" else number


def element(name: str, inside: str = "", **attributes: str | float) -> str:
    """An SVG element; `class_` becomes class, `stroke_width` stroke-width. `inside` must be escaped."""
    attribute_text = "".join(
        f' {key.rstrip("_").replace("_", "-")}="'
        f'{value if isinstance(value, str) else format_coordinate(value)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{attribute_text}>{inside}</{name}>" if inside else f"<{name}{attribute_text}/>"


def text_label(x: float, y: float, text: str, *, end: str = "start", class_: str = "", tip: str = "") -> str:
    """A text element; `end` is its text-anchor, `tip` the full text shown as a tooltip."""
    inside = (element("title", escape_text(tip)) if tip else "") + escape_text(text)
    look: dict[str, str | float] = {"class_": class_} if class_ else {}
    return element("text", inside, x=x, y=y, text_anchor=end, **look)


def escape_text(text: str) -> str:
    """Escape a text for HTML and SVG."""
    return escape(printable_text(text), quote=True)


def marker(x: float, y: float, which: int, colour: str, tip: str = "") -> str:
    """The marker of a series."""
    shape = _SHAPES[which % len(_SHAPES)]
    inside = element("title", escape_text(tip)) if tip else ""
    if not shape:
        return element("circle", inside, class_=f"mark {colour}", cx=x, cy=y, r=_MARKER_RADIUS)
    points = " ".join(f"{format_coordinate(x + dx)},{format_coordinate(y + dy)}" for dx, dy in shape)
    return element("polygon", inside, class_=f"mark {colour}", points=points)


def colour(which: int) -> str:
    return f"s{which % COLOUR_COUNT}"


def polyline(points: Sequence[tuple[float, float]], which: int) -> str:
    dash = _DASHES[which % len(_DASHES)]
    look: dict[str, str | float] = {"stroke_dasharray": dash} if dash else {}
    coordinates = " ".join(f"{format_coordinate(x)},{format_coordinate(y)}" for x, y in points)
    return element("polyline", "", class_=f"line {colour(which)}", points=coordinates, **look)


def straight_line(x1: float, y1: float, x2: float, y2: float, class_: str) -> str:
    return element("line", class_=class_, x1=x1, y1=y1, x2=x2, y2=y2)


def rectangle(x: float, y: float, width: float, height: float, class_: str) -> str:
    return element("rect", class_=class_, x=x, y=y, width=max(0.0, width), height=max(0.0, height))


def x_axis(scale: Scale, values: Sequence[float], top: float, bottom: float, label: str) -> str:
    """Numbers below the chart, grid lines and a label."""
    elements = [straight_line(scale(value), top, scale(value), bottom, "grid") for value in values]
    elements += [
        text_label(scale(value), bottom + 18, format_tick(value), end="middle", class_="tick")
        for value in values
    ]
    elements.append(
        text_label((scale.start + scale.end) / 2, bottom + 40, label, end="middle", class_="axis")
    )
    return "".join(elements)


def y_axis(scale: Scale, values: Sequence[float], left: float, right: float, label: str) -> str:
    """Numbers beside the chart, grid lines and a label above it."""
    elements = [straight_line(left, scale(value), right, scale(value), "grid") for value in values]
    elements += [
        text_label(left - 8, scale(value) + 4, format_tick(value), end="end", class_="tick")
        for value in values
    ]
    elements.append(text_label(2, 14, label, class_="axis"))
    return "".join(elements)


def svg_image(width: float, height: float, alt_text: str, body: str) -> str:
    """The complete image; `alt_text` describes it for screen readers."""
    size = f"0 0 {format_coordinate(width)} {format_coordinate(height)}"
    return element(
        "svg", body, viewBox=size, width=width, height=height, role="img", aria_label=escape_text(alt_text)
    )
