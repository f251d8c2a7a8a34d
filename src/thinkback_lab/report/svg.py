"""The pieces of a drawing: elements, text, marks and the frame of a chart, as SVG that stands in the page.

Colours are classes (`s0`, `s1`, ...), so the page's style sheet can change them in the dark; a series also
has a mark of its own and a dash of its own, for those who see no colour and for paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from thinkback_lab.report.scale import Scale, shown
from thinkback_lab.text import plain

FONT = 13.0
COLOURS = 8
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 4")
_R = 4.0
_THIRD = _R / 2.6
# each around (0, 0)
_SHAPES: tuple[tuple[tuple[float, float], ...], ...] = (
    (),  # a circle
    ((-3.6, -3.6), (3.6, -3.6), (3.6, 3.6), (-3.6, 3.6)),
    ((0, -5), (5, 0), (0, 5), (-5, 0)),
    ((0, -4.8), (4.6, 3.6), (-4.6, 3.6)),
    ((0, 4.8), (4.6, -3.6), (-4.6, -3.6)),
    (
        (-_THIRD, -5), (_THIRD, -5), (_THIRD, -_THIRD), (5, -_THIRD), (5, _THIRD), (_THIRD, _THIRD),
        (_THIRD, 5), (-_THIRD, 5), (-_THIRD, _THIRD), (-5, _THIRD), (-5, -_THIRD), (-_THIRD, -_THIRD),
    ),
    (
        (-2.2, -4.4), (0, -2.2), (2.2, -4.4), (4.4, -2.2), (2.2, 0), (4.4, 2.2),
        (2.2, 4.4), (0, 2.2), (-2.2, 4.4), (-4.4, 2.2), (-2.2, 0), (-4.4, -2.2),
    ),
)  # fmt: skip


def number(value: float) -> str:
    """A coordinate: a tenth of a pixel, written in one way only."""
    told = f"{value:.1f}".removesuffix(".0")
    return "0" if told == "-0" else told


def element(name: str, inside: str = "", **attributes: str | float) -> str:
    """`class_` is class, `stroke_width` is stroke-width; text inside must be escaped already."""
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{value if isinstance(value, str) else number(value)}"'
        for key, value in attributes.items()
    )
    return f"<{name}{told}>{inside}</{name}>" if inside else f"<{name}{told}/>"


def words(x: float, y: float, text: str, *, end: str = "start", class_: str = "", tip: str = "") -> str:
    """A line of text; `end` says which end of it stands at x; `tip` is told in full where it was cut."""
    inside = (element("title", printable(tip)) if tip else "") + printable(text)
    look: dict[str, str | float] = {"class_": class_} if class_ else {}
    return element("text", inside, x=x, y=y, text_anchor=end, **look)


def printable(text: str) -> str:
    """Anybody's text as text, without markup."""
    return escape(plain(text), quote=True)


def mark(x: float, y: float, which: int, colour: str, tip: str = "") -> str:
    """The sign of a series."""
    shape = _SHAPES[which % len(_SHAPES)]
    inside = element("title", printable(tip)) if tip else ""
    if not shape:
        return element("circle", inside, class_=f"mark {colour}", cx=x, cy=y, r=_R)
    points = " ".join(f"{number(x + dx)},{number(y + dy)}" for dx, dy in shape)
    return element("polygon", inside, class_=f"mark {colour}", points=points)


def colour(which: int) -> str:
    return f"s{which % COLOURS}"


def line(points: Sequence[tuple[float, float]], which: int) -> str:
    dash = _DASHES[which % len(_DASHES)]
    look: dict[str, str | float] = {"stroke_dasharray": dash} if dash else {}
    told = " ".join(f"{number(x)},{number(y)}" for x, y in points)
    return element("polyline", "", class_=f"line {colour(which)}", points=told, **look)


def rule(x1: float, y1: float, x2: float, y2: float, class_: str) -> str:
    return element("line", class_=class_, x1=x1, y1=y1, x2=x2, y2=y2)


def box(x: float, y: float, width: float, height: float, class_: str) -> str:
    return element("rect", class_=class_, x=x, y=y, width=max(0.0, width), height=max(0.0, height))


def x_axis(scale: Scale, at: Sequence[float], top: float, bottom: float, label: str) -> str:
    """Numbers under the chart, thin lines through it, and what the numbers are."""
    drawn = [rule(scale(value), top, scale(value), bottom, "grid") for value in at]
    drawn += [words(scale(value), bottom + 18, shown(value), end="middle", class_="tick") for value in at]
    drawn.append(words((scale.start + scale.end) / 2, bottom + 40, label, end="middle", class_="axis"))
    return "".join(drawn)


def y_axis(scale: Scale, at: Sequence[float], left: float, right: float, label: str) -> str:
    """Numbers beside the chart, thin lines through it; what they are stands above, where it needs no turn."""
    drawn = [rule(left, scale(value), right, scale(value), "grid") for value in at]
    drawn += [words(left - 8, scale(value) + 4, shown(value), end="end", class_="tick") for value in at]
    drawn.append(words(2, 14, label, class_="axis"))
    return "".join(drawn)


def drawing(width: float, height: float, told: str, body: str) -> str:
    """The whole; `told` says in words what it shows, to those who do not see it."""
    size = f"0 0 {number(width)} {number(height)}"
    return element(
        "svg", body, viewBox=size, width=width, height=height, role="img", aria_label=printable(told)
    )
