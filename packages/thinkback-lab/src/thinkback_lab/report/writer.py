"""Write the HTML report of one or several finished runs."""

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
    """Write one self-contained HTML file, atomically.

    Without `embed` (the run's embedder) the map of recalled texts is omitted.
    """
    runs = read_finished_runs(folders)
    content = single_run_page(runs[0], embed) if len(runs) == 1 else multi_run_page(runs)
    temporary = out.with_name(out.name + ".part")
    try:
        temporary.write_text(content, encoding="utf-8")
        temporary.replace(out)
    except OSError as error:
        raise LabError(f"{out}: {error.strerror or error}") from error
