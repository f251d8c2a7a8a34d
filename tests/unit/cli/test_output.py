"""Terminal output: escaping, tables, JSON and progress."""

from __future__ import annotations

import io
import json
import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.cli import output
from thinkback.cli.output import one_line, printable, show_progress, to_json_text

ANY = st.text(st.characters())  # surrogates and controls too
BIDI = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}


@given(ANY)
def test_printable_escapes_control_characters(text: str) -> None:
    for character in printable(text):
        assert character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")
        assert unicodedata.bidirectional(character) not in BIDI


@given(st.text(st.characters(exclude_categories=["C", "Z"])))
def test_printable_keeps_other_text(text: str) -> None:
    assert printable(text) == text


def test_control_characters_are_shown_as_escapes() -> None:
    assert printable("\x1b[31m \u202e\x9b") == "\\x1b[31m \\u202e\\x9b"
    assert printable("👩‍👩‍👧 שלום\tа") == "👩‍👩‍👧 שלום\tа"


@given(ANY, st.integers(2, 50))
def test_one_line_is_single_and_limited(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1


@given(st.dictionaries(ANY, ANY))
def test_json_round_trips_without_control_characters(value: dict[str, str]) -> None:
    text = to_json_text(value)
    assert json.loads(text) == value
    assert printable(text) == text


def test_markup_and_emoji_codes_are_not_interpreted(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_line("[bold]x[/bold] :smile: [/]", "bold")
    output.print_table(("a", "b"), [("[red]x", "[/]")])
    output.print_note("[link=http://x]y[/link]")
    seen = capsys.readouterr()
    assert seen.out == "[bold]x[/bold] :smile: [/]\na       b\n[red]x  [/]\n"
    assert seen.err == "[link=http://x]y[/link]\n"


def test_table_row_is_one_line_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    output.print_table(("a", "b"), [("x " * 140, "y\ny"), ("z" * 500, "")], fold=("a",))
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3
    assert lines[1].endswith("y y")
    assert lines[2] == "z" * 299 + "…"


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_short_work_prints_no_progress_lines(capsys: pytest.CaptureFixture[str]) -> None:
    with show_progress("importing") as report:
        report(1, 2)
        report(2, 2)
    assert capsys.readouterr() == ("", "")


def test_long_work_prints_progress_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("thinkback.cli.output.time.monotonic", lambda: now[0])
    with show_progress("importing") as report:
        for done in range(0, 2000, 100):
            now[0] += 0.4
            report(done, 2000)
        now[0] += 6
        report(5, None)
    assert capsys.readouterr().err.splitlines() == [
        "importing: 200 of 2,000",
        "importing: 1,500 of 2,000",
        "importing: 5",
    ]


@pytest.mark.parametrize("size", [False, True])
def test_progress_bar_on_a_terminal_disappears(monkeypatch: pytest.MonkeyPatch, size: bool) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with show_progress("pulling [x]", in_bytes=size) as report:
        report(1, 2)
        report(2, 2)
    assert "pulling [x]" in screen.getvalue()
