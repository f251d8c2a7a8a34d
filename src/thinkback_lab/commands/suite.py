"""`thinkback-lab suite`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from thinkback_lab.commands import options
from thinkback_lab.commands.evaluate import Asked, prepared
from thinkback_lab.datasets.registry import DATASETS, named
from thinkback_lab.errors import DataAbsent, LabError
from thinkback_lab.progress import progress
from thinkback_lab.report.markdown import matrix
from thinkback_lab.report.page import write_report
from thinkback_lab.runs.finished import read_finished
from thinkback_lab.runs.folder import REPORT
from thinkback_lab.runs.start import Named, finish, slug
from thinkback_lab.schemes.embedder import kit
from thinkback_lab.schemes.registry import find

SCHEMES = ("none", "raw", "bm25", "dense", "memorybank", "scm", "fuzzy-original", "tim", "thinkback")


def suite(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where runs and report are written.")],
    data: options.Data = None,
    scheme: Annotated[
        list[str] | None,
        typer.Option("--scheme", metavar="NAME", help="A memory system; may be repeated. Else nine of them."),
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option("--dataset", metavar="NAME", help="Only this one, or a part: gvd:cn; may be repeated."),
    ] = None,
    preset: options.Preset = "hybrid",
    llm: options.Llm = "none",
    embedder: options.Embedder = "minilm",
    think: options.ThinkBy = "auto",
    limit: options.Limit = None,
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Every data set that is there, over several memory systems, and one report of all.

    Each run has its folder under --out, with a report of its own: run the same command again to go on after
    an interruption. What is not there is named on standard error. The tables are written to results.md, plots
    to report.html.

    \b
    Examples:
      thinkback-lab suite --data DIR --out runs/all
      thinkback-lab suite --data DIR --out runs/words --scheme bm25 --scheme thinkback --dataset gvd
    """
    asked = Asked(data=data, preset=preset, llm=llm, embedder=embedder, think=think, limit=limit, seed=seed)
    folders: list[Path] = []
    told: list[dict[str, Any]] = []
    with options.one_line_errors():
        for label, ready in _runs(asked, scheme or list(SCHEMES), dataset or list(DATASETS)):
            folders.append(out / slug(label))
            with progress(label) as report:
                told.append(finish(ready, folders[-1], report))
            write_report(folders[-1:], folders[-1] / REPORT)
        if not told:
            raise LabError("none of the data sets is there: give --data, or set THINKBACK_DATA")
        write_report(folders, out / REPORT)
        page = matrix(read_finished(folders))
        (out / "results.md").write_text(page, encoding="utf-8")
    if as_json:
        options.show_json({"runs": told})
    else:
        sys.stdout.write(f"{page}\n{len(told)} runs under {out}; see {REPORT} there\n")


def _runs(asked: Asked, schemes: list[str], datasets: list[str]) -> Iterator[tuple[str, Named]]:
    """Each run with its label; the models are loaded once, and a text is embedded once.

    What there is none of is refused before anything is run.
    """
    chosen = [named(dataset) for dataset in datasets]
    for scheme in schemes:
        find(scheme)
    parts = kit(asked.setup)
    for entry, parts_of in chosen:
        for choices in parts_of:
            label = f"{entry.name} {entry.part(choices)}".strip()
            try:
                for scheme in schemes:
                    yield f"{label}, {scheme}", prepared(entry, choices, replace(asked, scheme=scheme), parts)
            except DataAbsent as error:
                sys.stderr.write(f"left out: {label}: {error}\n")
