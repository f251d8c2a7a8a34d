"""`thinkback-lab eval pairs`."""

from __future__ import annotations

from thinkback_lab.commands import options
from thinkback_lab.pairs.format import read_pairs
from thinkback_lab.pairs.run import run
from thinkback_lab.pairs.summary import summarise, table
from thinkback_lab.progress import progress
from thinkback_lab.sample import sample


def pairs(
    files: options.Files,
    limit: options.Limit = None,
    llm: options.Llm = "none",
    embedder: options.Embedder = "minilm",
    preset: options.Preset = "hybrid",
    think: options.ThinkBy = "auto",
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """Consistency: what is compatible must stay, what is updated must go.

    Two statements are told in turns of their own. Of a compatible pair nothing may be retired; in an update
    the new value must take the old one's place, and the five best memories must not hold both.

    \b
    Examples:
      thinkback-lab eval pairs scenarios/pairs/
      thinkback-lab eval pairs scenarios/pairs/updates.jsonl --json | jq '.failures[] | {why, first, then}'
    """
    with options.one_line_errors():
        setup = options.setup_of(llm, embedder, preset, think)
        chosen = sample(read_pairs(files), limit, seed)
        with progress("pairs") as report:
            outcomes = run(chosen, setup, report)
    summary = summarise(outcomes, {**setup.told, "limit": limit, "seed": seed})
    if as_json:
        options.show_json(summary)
        return
    options.show_table(table(summary), f"{len(summary['failures'])} failures (--json tells each)")
