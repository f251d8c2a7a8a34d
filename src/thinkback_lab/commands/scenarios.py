"""`thinkback-lab eval scenarios`."""

from __future__ import annotations

from typing import Annotated

import typer

from thinkback_lab.commands import options
from thinkback_lab.progress import progress
from thinkback_lab.scenarios.format import read_scenarios
from thinkback_lab.scenarios.run import choose, run
from thinkback_lab.scenarios.summary import summarise, table
from thinkback_lab.schemes.registry import find


def scenarios(
    files: options.Files,
    limit: options.Limit = None,
    category: Annotated[
        list[str] | None, typer.Option("--category", metavar="NAME", help="Only this one; may be repeated.")
    ] = None,
    lang: Annotated[
        list[str] | None,
        typer.Option("--lang", metavar="LANG", help="Only en, zh or mixed; may be repeated."),
    ] = None,
    scheme: options.SchemeName = "thinkback",
    llm: options.Llm = "none",
    embedder: options.Embedder = "minilm",
    preset: options.Preset = "hybrid",
    think: options.ThinkBy = "auto",
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """The unit tests of memory: dialogues with questions at their end.

    The turns of a scenario are replayed into an empty memory at their own times and thought over; then each
    question is recalled. A probe passes when one alternative of every `expect` list stands in what came back,
    and no `reject` string in a recalled current thought.

    \b
    Examples:
      thinkback-lab eval scenarios scenarios/
      thinkback-lab eval scenarios mine.jsonl.gz --json | jq '.failures[] | {id, probe, why}'
      thinkback-lab eval scenarios scenarios/ --category update --category negation --lang zh
      thinkback-lab eval scenarios scenarios/ --scheme bm25
      thinkback-lab eval scenarios scenarios/ --llm local:qwen-coder-1.5b --think llm --limit 30 --seed 1
    """
    with options.one_line_errors():
        setup = options.setup_of(llm, embedder, preset, think)
        chosen = choose(
            read_scenarios(files), categories=category or (), langs=lang or (), limit=limit, seed=seed
        )
        with progress("scenarios") as report:
            results = run(chosen, setup, report, None if scheme == "thinkback" else find(scheme))
    summary = summarise(results, {**setup.told, "limit": limit, "seed": seed}, scheme)
    if as_json:
        options.show_json(summary)
        return
    f1 = summary["triples"]["f1"]
    options.show_table(
        table(summary),
        f"triple F1 {'-' if f1 is None else format(f1, '.3f')}; "
        f"{summary['ms_per_turn']} ms a turn, {summary['ms_per_query']} ms a probe; "
        f"{len(summary['failures'])} failures (--json tells each)",
    )
