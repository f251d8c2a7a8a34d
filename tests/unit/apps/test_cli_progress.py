"""Progress is for those who wait: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import io
import sys

import pytest

from thinkback.apps.cli.progress import progress


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_quick_work_is_silent_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    with progress("importing") as report:
        report(1, 2)
        report(2, 2)
    assert capsys.readouterr() == ("", "")


def test_slow_work_says_how_far_it_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr("thinkback.apps.cli.progress.time.monotonic", lambda: now[0])
    with progress("importing") as report:
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
def test_a_terminal_shows_a_bar_that_goes_away(monkeypatch: pytest.MonkeyPatch, size: bool) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with progress("pulling [x]", size=size) as report:
        report(1, 2)
        report(2, 2)
    assert "pulling [x]" in screen.getvalue()
