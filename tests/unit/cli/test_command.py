"""Shared parts of commands: error reporting, confirmation, time parsing."""

from __future__ import annotations

import errno
import io
import sys
from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from thinkback.cli import app as cli_app
from thinkback.cli.command import confirm, parse_time, report_errors
from thinkback.errors import InvalidInput


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (InvalidInput("two\nlines \x1b[0m"), 1, "error: two lines \\x1b[0m\n"),
        (FileNotFoundError(2, "No such file", "x.txt"), 1, "error: x.txt: No such file\n"),
        (OSError("odd"), 1, "error: odd\n"),
        (RuntimeError("oops"), 1, "error: RuntimeError: oops. This is a bug: "),
        (KeyboardInterrupt(), 130, ""),
    ],
)
def test_error_is_printed_as_one_line(
    error: BaseException, code: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as ended, report_errors():
        raise error
    assert ended.value.exit_code == code
    assert capsys.readouterr().err.startswith(line)


@pytest.mark.parametrize("error", [InvalidInput("x"), RuntimeError("x"), OSError("x")])
def test_debug_raises_errors(error: Exception) -> None:
    with pytest.raises(type(error)), report_errors(debug=True):
        raise error


@pytest.mark.parametrize(
    "error", [BrokenPipeError(errno.EPIPE, "closed"), typer.Exit(3), typer.BadParameter("x")]
)
def test_exit_abort_and_usage_errors_propagate(error: Exception) -> None:
    with pytest.raises(type(error)), report_errors():
        raise error


class Keyboard(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("answer", ["", "n\n", "nonsense\n"])
def test_confirm_treats_other_answers_as_no(
    answer: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", Keyboard(answer))
    with pytest.raises(typer.Exit) as ended:
        confirm("Erase it?", yes=False)
    assert ended.value.exit_code == 1
    assert capsys.readouterr().err == "Erase it? [y/N] Cancelled, nothing was changed.\n"


def test_confirm_accepts_yes(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", Keyboard("Yes\n"))
    confirm("Erase it?", yes=False)
    confirm("Erase it?", yes=True)
    assert capsys.readouterr().err.count("Erase it?") == 1


def test_main_escapes_characters_the_terminal_cannot_encode(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="ascii") for _ in range(2))
    for name, stream in (("stdout", out), ("stderr", err), ("stdin", io.TextIOWrapper(io.BytesIO()))):
        monkeypatch.setattr(sys, name, stream)
    monkeypatch.setattr(sys, "argv", ["thinkback", "--version"])
    with pytest.raises(SystemExit) as ended:
        cli_app.main()
    assert ended.value.code == 0
    assert out.encoding == "utf-8"
    assert out.errors == "backslashreplace"
    out.seek(0)
    assert out.read().startswith("thinkback ")


def test_ctrl_c_before_a_command_exits_quietly(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli_app, "app", interrupted)
    with pytest.raises(SystemExit) as ended:
        cli_app.main()
    assert ended.value.code == 130


ZONES = st.timezones() | st.just(UTC)


@given(st.datetimes(datetime(1900, 1, 1), datetime(2200, 1, 1), timezones=ZONES))
def test_parse_time_with_zone(time: datetime) -> None:
    read = parse_time(time.isoformat())
    assert abs(read - time) < timedelta(seconds=1)
    assert read.tzinfo is UTC


@given(st.datetimes(datetime(1980, 1, 1), datetime(2035, 1, 1)))
def test_parse_time_without_zone_is_local(time: datetime) -> None:
    assert parse_time(f" {time.isoformat()} ") == time.astimezone(UTC)


def test_parse_time_of_a_date_is_midnight() -> None:
    assert parse_time("2024-05-31") == datetime(2024, 5, 31).astimezone(UTC)


@given(st.text())
def test_parse_time_accepts_or_rejects_any_text(text: str) -> None:
    with suppress(typer.BadParameter):
        assert parse_time(text).tzinfo is UTC


@pytest.mark.parametrize("text", ["", "0001-01-01T00:00+14:00", "9999-12-31T23:59-14:00", "24:00", "\ud800"])
def test_parse_time_rejects_times_out_of_range(text: str) -> None:
    with pytest.raises(typer.BadParameter):
        parse_time(text)
