"""Progress of long work on standard error: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from thinkback.apps.cli.printing import err, note

Report = Callable[[int, int | None], None]  # done, total
QUIET_S = 1.0
EVERY_S = 5.0


@contextmanager
def progress(label: str, *, size: bool = False) -> Iterator[Report]:
    """`with progress("thinking") as report: report(done, total)`; `size` counts bytes."""
    if sys.stderr.isatty():
        with _bar(label, size) as report:
            yield report
    else:
        yield _Lines(label)


@contextmanager
def _bar(label: str, size: bool) -> Iterator[Report]:
    from rich import progress as rich_progress

    count = rich_progress.DownloadColumn() if size else rich_progress.MofNCompleteColumn()
    columns = (
        rich_progress.TextColumn("{task.description}", markup=False),
        rich_progress.BarColumn(),
        count,
        rich_progress.TimeRemainingColumn(),
    )
    with rich_progress.Progress(*columns, console=err(), transient=True) as bar:
        task = bar.add_task(label, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


class _Lines:
    """Nothing for work that is over within a second; then a line every few seconds."""

    def __init__(self, label: str) -> None:
        self._label = label
        self._next = time.monotonic() + QUIET_S

    def __call__(self, done: int, total: int | None) -> None:
        if (now := time.monotonic()) >= self._next:
            self._next = now + EVERY_S
            note(f"{self._label}: {done:,}" + (f" of {total:,}" if total else ""), style="")
