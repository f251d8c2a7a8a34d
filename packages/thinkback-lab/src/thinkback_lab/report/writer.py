"""Write the report of finished runs: of one, all that is known of it; of several, a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from thinkback_lab.errors import LabError
from thinkback_lab.report.multi_run import multi_run_page
from thinkback_lab.report.single_run import single_run_page
from thinkback_lab.runs.finished_runs import read_finished_runs

if TYPE_CHECKING:
    from thinkback_lab.report.plots import Embed


def write_report(folders: Sequence[Path], out: Path, embed: Embed | None = None) -> None:
    """One self-contained HTML file at `out`, appearing whole or not at all.

    `embed` is the run's embedder; without it the map of recalled thoughts is left out, and says so.
    """
    runs = read_finished_runs(folders)
    written = single_run_page(runs[0], embed) if len(runs) == 1 else multi_run_page(runs)
    part = out.with_name(out.name + ".part")
    try:
        part.write_text(written, encoding="utf-8")
        part.replace(out)
    except OSError as error:
        raise LabError(f"{out}: {error.strerror or error}") from error
