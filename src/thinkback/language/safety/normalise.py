"""Normalises text for the safety detectors, reads disguised text, and compiles phrases into patterns.

A disguise is undone before anything is detected: invisible characters, Unicode tag characters, full-width and
look-alike letters, and traditional Chinese in `normalise_text`; separators inside words, digits in place of
letters, encoded and reversed text in `disguised_readings`. Positions always lead back to the original text.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple
from urllib.parse import unquote

from thinkback.language.safety import ciphers


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
_TAG_OFFSET = 0xE0000  # tag characters are ASCII, moved by this
_REMOVED = re.compile(  # combining marks, zero-width and directional marks, variation selectors
    "[\u00ad\u0300-\u036f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0]"
)
_REMOVED_OR_TAG = re.compile(f"{_REMOVED.pattern[:-1]}\U000e0000-\U000e01ef]")
_OTHER_PLANE = re.compile("[\U00010000-\U0010ffff]")
_LOOKALIKES = (
    "аеорсухіјѕԁһӏԛԝгкмптьвАВЕНІЈКМОРЅТХСУΑΒΕΖΗΙΚΜΝΟΡΤΥΧαορνιτυκ",
    "aeopcyxijsdhlqwrkmntbbABEHIJKMOPSTXCYABEZHIKMNOPTYXaopvituk",
)
_WIDE_RANGES = (
    (0x2100, 0x214F),
    (0x2460, 0x24FF),
    (0xFF10, 0xFF5A),
    (0x1D400, 0x1D7FF),
    (0x1F130, 0x1F149),
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

    def position(self, index: int) -> int:
        return index if self.positions is None else self.positions[index]


@cache
def _character_table() -> dict[int, str]:
    """Characters that are replaced by another one: styled letters and digits, look-alikes, traditional."""
    table: dict[int, str] = {}
    for first, last in _WIDE_RANGES:
        for code in range(first, last + 1):
            plain = unicodedata.normalize("NFKC", chr(code)).strip("()")
            if len(plain) == 1 and plain.isascii() and plain.isalnum():
                table[code] = plain
    traditional, simplified = files(__package__).joinpath("traditional.txt").read_text("utf-8").split()
    table |= {ord(one): other for one, other in zip(traditional, simplified, strict=True)}
    return table | {ord("’"): "'", ord("‘"): "'", 0x00A0: " ", 0x3000: " ", 0x2003: " ", 0x2009: " "}


_LOOKALIKE_TABLE = {ord(one): other for one, other in zip(*_LOOKALIKES, strict=True)}
_GREEK_OR_CYRILLIC = re.compile("[\u0370-\u052f]")
_MIXED_WORD = re.compile("[A-Za-z\u0370-\u052f]+")


def plain_letters(text: str) -> str:
    """Replace styled letters, look-alikes and traditional characters; the length stays the same.

    A word whose Greek or Cyrillic letters all look like Latin ones, or stand beside Latin ones, is a
    disguise; any other is a word of its own language and is kept.
    """
    text = text.translate(_character_table())
    return _MIXED_WORD.sub(_replace_lookalikes, text) if _GREEK_OR_CYRILLIC.search(text) else text


def _replace_lookalikes(word: re.Match[str]) -> str:
    written = word[0]
    start = written if written.isupper() and len(written) > 1 else written.lower()  # "Не" is no Latin "He"
    is_mixed = any(character.isascii() for character in written)
    is_disguise = is_mixed or start.translate(_LOOKALIKE_TABLE).isascii()
    return written.translate(_LOOKALIKE_TABLE) if is_disguise else written


@cache
def _disguised_character() -> re.Pattern[str]:
    """Those of the basic plane; a set with other characters is much slower."""
    codes = {*_character_table(), *_LOOKALIKE_TABLE}
    replaced = "".join(re.escape(chr(code)) for code in sorted(codes) if code <= 0xFFFF)
    return re.compile(f"{_REMOVED.pattern[:-1]}{replaced}]")


def has_disguised_characters(text: str) -> bool:
    """Whether a text has characters that `normalise_text` replaces or removes."""
    if text.isascii():
        return False
    if _disguised_character().search(text):
        return True
    others = set(_OTHER_PLANE.findall(text))
    return any(ord(one) in _character_table() or _REMOVED_OR_TAG.match(one) for one in others)


def normalise_text(text: str, opaque: re.Pattern[str]) -> NormalisedText:
    """Normalise a text; redaction marks (matches of `opaque`) become placeholders that nothing matches."""
    normalised = opaque.sub(lambda mark: MARK_PLACEHOLDER * len(mark[0]), text) if "[" in text else text
    if normalised.isascii():
        return NormalisedText(normalised, None)
    normalised = plain_letters(normalised)
    if not _REMOVED_OR_TAG.search(normalised):
        return NormalisedText(normalised, None)
    characters: list[str] = []
    positions: list[int] = []
    for position, character in enumerate(normalised):
        is_kept = not _REMOVED_OR_TAG.match(character)
        code = ord(character) - (0 if is_kept else _TAG_OFFSET)
        if is_kept or 0x20 <= code < 0x7F:
            characters.append(chr(code))
            positions.append(position)
    return NormalisedText("".join(characters), positions)


_HAN = "\u3400-\u9fff"
_SEPARATED_LETTERS = re.compile(  # "i g n o r e", "i-g-n-o-r-e", 忽/略/以/上
    r"(?<![^\W_])(?:[^\W\d_](?:[ .\-_*·•|/~+,'^=]|[ ]?[.\-_*·•|/~+,'^=][ ]?)){3,80}[^\W\d_](?![^\W_])"
)
_SEPARATED_HAN = re.compile(rf"[{_HAN}](?:[\s.\-_*·•|/~+^=、，,]{{1,2}}[{_HAN}]){{2,80}}")
_SPLIT_WORD = re.compile(r"(?<![^\W_])[a-z]{1,12}(?:[.\-_*·•|~^+=/][a-z]{1,12}){1,8}(?![^\W_])", re.I)
_WORD_SEPARATOR = re.compile(r"[\W_]+")
_LEET_WORD = re.compile(r"(?<![^\W_])(?=[\w@$!]*[a-z])(?=[\w@$!]*[013457@$!])[a-z013457@$!]{3,20}", re.I)
_LEET_TABLE = str.maketrans("013457@$!", "oieastasi")
_ENCODED = re.compile(
    r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{20,4000}={0,6}(?![A-Za-z0-9+/=])"
    r"|(?<![0-9a-fA-F])(?:[0-9a-fA-F]{2}[ :]?){12,2000}(?![0-9a-fA-F])"
    r"|(?<![01])(?:[01]{8}[ ]?){8,500}(?![01])"
    r"|(?:%[0-9A-Fa-f]{2}|[A-Za-z0-9._~+-]){0,400}(?:%[0-9A-Fa-f]{2}){3}(?:%[0-9A-Fa-f]{2}|[\w.~+-]){0,4000}"
    r"|(?:(?:&#x?[0-9A-Fa-f]{2,5};|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2})\s?){4,4000}"
)
_MIN_DISGUISED_WORDS = 2


def disguised_readings(normalised: NormalisedText) -> Iterator[NormalisedText]:
    """The other ways to read a text: without separators, digits as letters, decoded, reversed and others."""
    text = normalised.text
    joined = _replace(normalised, _SEPARATED_LETTERS, _join_letters)
    joined = _replace(joined, _SEPARATED_HAN, lambda found: _WORD_SEPARATOR.sub("", found[0]))
    if len(_SPLIT_WORD.findall(joined.text)) >= _MIN_DISGUISED_WORDS:
        joined = _replace(joined, _SPLIT_WORD, lambda found: _WORD_SEPARATOR.sub("", found[0]))
    if joined.text != text:
        yield joined
    if len(_LEET_WORD.findall(text)) >= _MIN_DISGUISED_WORDS:
        yield _replace(normalised, _LEET_WORD, lambda found: found[0].translate(_LEET_TABLE))
    decoded = _replace(normalised, _ENCODED, lambda found: _decode(found[0]))
    if decoded.text != text:
        yield decoded
    yield from _cipher_readings(normalised)


def _cipher_readings(normalised: NormalisedText) -> Iterator[NormalisedText]:
    text = ciphers.without_tones(normalised.text)
    normalised = NormalisedText(text, normalised.positions)
    if ciphers.is_reversed(text):
        yield _replace(
            normalised,
            ciphers.REVERSIBLE,
            lambda found: found[0][::-1] if ciphers.is_reversed(found[0]) else found[0],
        )
    if ciphers.is_rot13(text):
        yield NormalisedText(ciphers.rot13(text), normalised.positions)
    if ciphers.is_pinyin(text):
        yield _replace(normalised, ciphers.PINYIN_RUN, lambda found: ciphers.pinyin_to_han(found[0]))


def _join_letters(found: re.Match[str]) -> str:
    return re.sub(r"(?<=[^\W\d_])[ .\-_*·•|/~+,'^=]{1,3}(?=[^\W\d_])", "", found[0])


def _decode(encoded: str) -> str:
    """The text that is encoded (base64, base32, hexadecimal, bits, per cent, references); else unchanged."""
    attempts: list[Callable[[], str]] = []
    if "%" in encoded:
        attempts.append(lambda: unquote(encoded.replace("+", " "), errors="strict"))
    elif "&#" in encoded or "\\" in encoded:
        escapes = re.sub(r"\\[ux]([0-9A-Fa-f]{2,4})", r"&#x\1;", encoded)
        attempts.append(lambda: html.unescape(escapes))
    else:
        attempts += [
            lambda: bytes(int(bits, 2) for bits in re.findall("[01]{8}", encoded)).decode("utf-8"),
            lambda: bytes.fromhex(re.sub(r"[ :]", "", encoded)).decode("utf-8"),
            lambda: base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True).decode("utf-8"),
            lambda: base64.b32decode(encoded + "=" * (-len(encoded) % 8)).decode("utf-8"),
        ]
    for attempt in attempts:
        try:
            decoded = attempt()
        except (ValueError, binascii.Error):
            continue
        letters = sum(character.isalpha() or character in " ,.!?'" for character in decoded)
        if letters >= 0.8 * len(decoded) >= 8 and (" " in decoded or not decoded.isascii()):
            return decoded
    return encoded


def _replace(
    source: NormalisedText, pattern: re.Pattern[str], replacement: Callable[[re.Match[str]], str]
) -> NormalisedText:
    """Replace all matches; the characters of a replacement are spread over the span that they replace."""
    parts: list[str] = []
    positions: list[int] = []
    end = 0
    for found in pattern.finditer(source.text):
        new = replacement(found)
        if new == found[0] or not new:
            continue
        parts += (source.text[end : found.start()], new)
        positions += map(source.position, range(end, found.start()))
        last = len(new) - 1
        width = len(found[0]) - 1
        positions += [
            source.position(found.start() + (i * width // last if last else 0)) for i in range(last)
        ]
        positions.append(source.position(found.end() - 1))
        end = found.end()
    if not end:
        return source
    positions += map(source.position, range(end, len(source.text)))
    return NormalisedText("".join((*parts, source.text[end:])), positions)


def merge_spans(spans: list[QuarantinedSpan]) -> tuple[QuarantinedSpan, ...]:
    """Sort spans and join overlapping ones, which get the kind of the first."""
    result: list[QuarantinedSpan] = []
    for span in sorted(spans):
        if result and span.start < result[-1].end:
            result[-1] = result[-1]._replace(end=max(result[-1].end, span.end))
        else:
            result.append(span)
    return tuple(result)
