"""The tables of the papers by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from thinkback_lab.errors import LabError
from thinkback_lab.runs.finished_runs import FinishedRun
from thinkback_lab.tables.paper_table import PaperTable
from thinkback_lab.tables.perltqa import perltqa_3, perltqa_4, perltqa_5, perltqa_6, perltqa_7
from thinkback_lab.tables.tim import tim_2, tim_3, tim_4

TABLES: dict[str, Callable[[Sequence[FinishedRun]], PaperTable]] = {
    "tim-2": tim_2,
    "tim-3": tim_3,
    "tim-4": tim_4,
    "perltqa-3": perltqa_3,
    "perltqa-4": perltqa_4,
    "perltqa-5": perltqa_5,
    "perltqa-6": perltqa_6,
    "perltqa-7": perltqa_7,
}


def fill_tables(runs: Sequence[FinishedRun], names: Sequence[str] = ()) -> list[PaperTable]:
    """Fill the named tables; without names, those to which a run contributes, or all if there are none."""
    if unknown := [name for name in names if name not in TABLES]:
        raise LabError(f"unknown table {unknown[0]!r}: choose from {', '.join(TABLES)}")
    tables = [TABLES[name](runs) for name in names or TABLES]
    return tables if names else [paper_table for paper_table in tables if paper_table.filled] or tables
