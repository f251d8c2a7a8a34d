"""Text as a detector reads it: disguises undone, with the way back to the characters that were written.

Full-width letters, look-alike Cyrillic and invisible characters hide a word from a pattern and not from a
model. Every character but the invisible ones is replaced by one other, so spans are found again.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MARK_PLACEHOLDER = "\ufffc"  # what stands for a mark that was set before: no word, no value
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
    """`text[start:end]` is quarantined, for it is of this kind."""

    start: int
    end: int
    kind: str


class NormalisedText(NamedTuple):
    """`text` is what to search; `positions[i]` is where its character i was written, None: at i."""

    text: str
    positions: list[int] | None

    def original_span(self, start: int, end: int, kind: str) -> QuarantinedSpan:
        if self.positions is None:
            return QuarantinedSpan(start, end, kind)
        return QuarantinedSpan(self.positions[start], self.positions[end - 1] + 1, kind)


def has_disguised_characters(text: str) -> bool:
    """Whether a character stands for another, or for none."""
    return _DISGUISED_CHARACTER.search(text) is not None


def normalise_text(text: str, opaque: re.Pattern[str]) -> NormalisedText:
    """`opaque` are the marks of an earlier redaction: they are looked through by nobody."""
    shown = opaque.sub(lambda mark: MARK_PLACEHOLDER * len(mark[0]), text).translate(_NORMALISED_CHARACTERS)
    if not _INVISIBLE_CHARACTER.search(shown):
        return NormalisedText(shown, None)
    kept = [at for at, character in enumerate(shown) if not _INVISIBLE_CHARACTER.match(character)]
    return NormalisedText("".join(shown[at] for at in kept), kept)


def merge_spans(spans: list[QuarantinedSpan]) -> tuple[QuarantinedSpan, ...]:
    """In order and apart: what overlaps is one span, of the kind that begins first."""
    out: list[QuarantinedSpan] = []
    for span in sorted(spans):
        if out and span.start < out[-1].end:
            out[-1] = out[-1]._replace(end=max(out[-1].end, span.end))
        else:
            out.append(span)
    return tuple(out)
