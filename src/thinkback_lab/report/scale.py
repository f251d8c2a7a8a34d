"""The arithmetic of charts: axes that end on round numbers, and labels that keep their distance."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

_STEPS = (1.0, 2.0, 5.0, 10.0)
_NARROW, _LATIN, _UPPER, _WIDE = 0.4, 0.63, 0.74, 1.04  # in parts of the font's size, for a wide font
_THIN = frozenset("iljtfr.,:;'|!()[] ")


@dataclass(frozen=True, slots=True)
class Scale:
    """Values from `low` to `high` onto pixels from `start` to `end`; if logarithmic, values above 0."""

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
    """Round numbers, evenly spaced, the first at or below `low`, the last at or above `high`."""
    if not high > low:
        low, high = low - 0.5, high + 0.5
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(size * power for size in _STEPS if size * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    digits = max(0, -math.floor(math.log10(step)))
    return [round(number * step, digits) for number in range(first, last + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 of every power of ten between the two; only the ones where those would be too many."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    leads = (1, 2, 5) if len(powers) <= 4 else (1,)
    return [
        at
        for power in powers
        for lead in leads
        if low * (1 - 1e-9) <= (at := lead * 10.0**power) <= high * (1 + 1e-9)
    ]


def shown(value: float) -> str:
    """A tick's number: no needless zeros."""
    return f"{value:.10f}".rstrip("0").rstrip(".") if abs(value) < 1e6 else f"{value:.3g}"


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Places as near as may be to those wanted, `gap` apart, in the same order, from `low` to `high`.

    Where they do not fit, they are evenly closer together.
    """
    order = sorted(range(len(wanted)), key=lambda at: (wanted[at], at))
    if len(order) > 1:
        gap = min(gap, (high - low) / (len(order) - 1))
    blocks: list[list[float]] = []  # [sum of wanted starts, how many]: neighbours that touch move as one
    for rank, at in enumerate(order):
        blocks.append([wanted[at] - rank * gap, 1])
        while len(blocks) > 1 and blocks[-2][0] / blocks[-2][1] >= blocks[-1][0] / blocks[-1][1]:
            start, count = blocks.pop()
            blocks[-1][0] += start
            blocks[-1][1] += count
    room = high - gap * (len(order) - 1)
    starts = [
        min(max(start / count, low), max(low, room)) for start, count in blocks for _ in range(int(count))
    ]
    places = [0.0] * len(order)
    for rank, at in enumerate(order):
        places[at] = starts[rank] + rank * gap
    return places


def text_width(text: str, size: float) -> float:
    """About how wide a text is drawn: a Chinese sign is square, a Latin letter half of it."""
    return size * sum(_sign_width(sign) for sign in text)


def clipped(text: str, size: float, width: float) -> str:
    """As much of a text as fits, with a sign that there is more."""
    if text_width(text, size) <= width:
        return text
    room, kept = width - size, ""
    for sign in text:
        room -= size * _sign_width(sign)
        if room < 0:
            break
        kept += sign
    return kept.rstrip() + "…"


def _sign_width(sign: str) -> float:
    if unicodedata.combining(sign) or unicodedata.category(sign) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(sign) in ("W", "F"):
        return _WIDE
    return _NARROW if sign in _THIN else _UPPER if sign.isupper() else _LATIN
