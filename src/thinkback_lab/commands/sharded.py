"""`thinkback-lab eval sharded`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from thinkback_lab.commands import options
from thinkback_lab.progress import progress
from thinkback_lab.sample import sample
from thinkback_lab.sharded.format import read_tasks
from thinkback_lab.sharded.run import run
from thinkback_lab.sharded.summary import summarise, table


def sharded(
    data: Annotated[
        Path | None, typer.Option("--data", metavar="FILE", help="A JSON list of tasks; else those we ship.")
    ] = None,
    limit: options.Limit = None,
    llm: options.Llm = "none",
    embedder: options.Embedder = "minilm",
    preset: options.Preset = "hybrid",
    think: options.ThinkBy = "auto",
    seed: options.Seed = None,
    out: options.Keep = None,
    as_json: options.AsJson = False,
) -> None:
    """A task told in shards, one a turn: what is left of it in the context of the last turn.

    Without a model it is counted how many shards still stand in the summary, the recalled memories or the
    last words, and what the context costs by turn. With one, how much worse it answers than when it is told
    everything at once. A task is {"shards": [{"shard": "..."}], "question": "...", "answer": "..."}.

    \b
    Examples:
      thinkback-lab eval sharded
      thinkback-lab eval sharded --data tasks.json --json | jq '.metrics.shards_kept, .failures'
      thinkback-lab eval sharded --llm openai:gpt-4o-mini --limit 50 --seed 1
    """
    with options.one_line_errors():
        setup = options.setup_of(llm, embedder, preset, think)
        tasks = sample(read_tasks(data), limit, seed)
        with progress("sharded") as report:
            played = run(tasks, setup, report)
        summary = summarise(played, {**setup.told, "data": data and data.name, "limit": limit, "seed": seed})
        options.keep(summary, out)
    if as_json:
        options.show_json(summary)
        return
    turns = ", ".join(map(str, summary["tokens_by_turn"]))
    options.show_table(
        table(summary), f"tokens by turn: {turns}; {len(summary['failures'])} tasks lost a shard"
    )
