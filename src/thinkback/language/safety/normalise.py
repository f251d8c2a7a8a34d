"""Normalises text for the safety detectors, and compiles phrases into patterns."""

from __future__ import annotations

import re
from typing import NamedTuple


def split_alternatives(table: str) -> list[str]:
    """Split a table into its patterns; a space in a pattern matches any white space.

    A line break inside brackets does not end a pattern.
    """
    patterns, depth = [""], 0
    for line in table.splitlines():
        if not depth:
            patterns.append("")
        for character in line.strip():
            depth += (character == "(") - (character == ")")
            if character == "|" and not depth:
                patterns.append("")
            else:
                patterns[-1] += character
    return [pattern.replace(" ", r"\s{1,3}") for pattern in patterns if pattern]


MARK_PLACEHOLDER = "\ufffc"  # replaces earlier redaction marks; neither a word nor a value
_INVISIBLE_CHARACTER = re.compile(
    "[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]"
)
_LOOKALIKES = "аеорсухіјѕАВЕНІЈКМОРЅТХ", "aeopcyxijsABEHIJKMOPSTX"
_DISGUISED_CHARACTER = re.compile(f"{_INVISIBLE_CHARACTER.pattern[:-1]}０-９Ａ-Ｚａ-ｚ{_LOOKALIKES[0]}]")
_NORMALISED_CHARACTERS = str.maketrans(
    {
        **{chr(0xFF00 + code - 0x20): chr(code) for code in range(0x30, 0x7B) if chr(code).isalnum()},
        **dict(zip(*_LOOKALIKES, strict=True)),
        "’": "'",
        "‘": "'",
        "\u00a0": " ",
        "\u3000": " ",
    }
)


class QuarantinedSpan(NamedTuple):
    """`text[start:end]` is an instruction or a secret of this kind."""

    start: int
    end: int
    kind: str


class NormalisedText(NamedTuple):
    """`positions[i]` is the original position of `text[i]`; None if positions did not change."""

    text: str
    positions: list[int] | None

    def original_span(self, start: int, end: int, kind: str) -> QuarantinedSpan:
        """The span of the original text for `text[start:end]`."""
        if self.positions is None:
            return QuarantinedSpan(start, end, kind)
        return QuarantinedSpan(self.positions[start], self.positions[end - 1] + 1, kind)


def has_disguised_characters(text: str) -> bool:
    """Whether a text contains invisible, full-width or look-alike characters."""
    return _DISGUISED_CHARACTER.search(text) is not None


def normalise_text(text: str, opaque: re.Pattern[str]) -> NormalisedText:
    """Normalise a text; redaction marks (matches of `opaque`) become placeholders that nothing matches."""
    normalised = opaque.sub(lambda mark: MARK_PLACEHOLDER * len(mark[0]), text).translate(
        _NORMALISED_CHARACTERS
    )
    if not _INVISIBLE_CHARACTER.search(normalised):
        return NormalisedText(normalised, None)
    positions = [
        position for position, character in enumerate(normalised) if not _INVISIBLE_CHARACTER.match(character)
    ]
    return NormalisedText("".join(normalised[position] for position in positions), positions)


def merge_spans(spans: list[QuarantinedSpan]) -> tuple[QuarantinedSpan, ...]:
    """Sort spans and join overlapping ones, which get the kind of the first."""
    result: list[QuarantinedSpan] = []
    for span in sorted(spans):
        if result and span.start < result[-1].end:
            result[-1] = result[-1]._replace(end=max(result[-1].end, span.end))
        else:
            result.append(span)
    return tuple(result)
