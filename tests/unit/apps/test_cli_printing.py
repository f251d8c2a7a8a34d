"""Printed text cannot control a terminal, and JSON stays JSON."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.apps.cli import printing
from thinkback.apps.cli.printing import json_text, one_line, printable

ANY = st.text(st.characters())  # surrogates and controls too
BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@given(ANY)
def test_no_control_character_is_printed(text: str) -> None:
    for character in printable(text):
        assert character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")
        assert unicodedata.bidirectional(character) not in BIDI


@given(st.text(st.characters(exclude_categories=["C", "Z"])))
def test_what_controls_nothing_is_printed_as_it_is(text: str) -> None:
    assert printable(text) == text


def test_control_characters_stay_visible() -> None:
    assert printable("\x1b[31m \u202e\x9b") == "\\x1b[31m \\u202e\\x9b"
    assert printable("👩‍👩‍👧 שלום\tа") == "👩‍👩‍👧 שלום\tа"


@given(ANY, st.integers(2, 50))
def test_one_line_is_one_line_and_short(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1


@given(st.dictionaries(ANY, ANY))
def test_json_reads_back_the_same_and_controls_nothing(value: dict[str, str]) -> None:
    text = json_text(value)
    assert json.loads(text) == value
    assert printable(text) == text


def test_markup_and_emoji_codes_are_text(capsys: pytest.CaptureFixture[str]) -> None:
    printing.say("[bold]x[/bold] :smile: [/]", "bold")
    printing.table(("a", "b"), [("[red]x", "[/]")])
    printing.note("[link=http://x]y[/link]")
    seen = capsys.readouterr()
    assert seen.out == "[bold]x[/bold] :smile: [/]\na       b\n[red]x  [/]\n"
    assert seen.err == "[link=http://x]y[/link]\n"


def test_a_row_stays_a_line_when_piped(capsys: pytest.CaptureFixture[str]) -> None:
    printing.table(("a", "b"), [("x " * 140, "y\ny"), ("z" * 500, "")], wide=("a",))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[1].endswith("y y")
    assert lines[2] == "z" * 299 + "…"
