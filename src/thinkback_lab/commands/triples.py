"""`thinkback-lab eval triples`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from thinkback_lab.commands import options
from thinkback_lab.datasets.kdconv import DOMAINS, load
from thinkback_lab.progress import progress
from thinkback_lab.triples.run import choose, run
from thinkback_lab.triples.summary import summarise, table


def triples(
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", help="Where the files lie; else $THINKBACK_DATA."),
    ] = None,
    domain: Annotated[
        list[str] | None,
        typer.Option("--domain", metavar="NAME", help="Only film, music or travel; may be repeated."),
    ] = None,
    split: Annotated[str, typer.Option("--split", metavar="NAME", help="dev, test or train.")] = "dev",
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="At most so many turns.")
    ] = None,
    llm: options.Llm = "none",
    embedder: options.Embedder = "hashing",
    think: options.ThinkBy = "auto",
    seed: options.Seed = None,
    as_json: options.AsJson = False,
) -> None:
    """The thought generator's triples against KdConv's gold knowledge.

    Each dialogue is told to an empty memory, utterance and reply by twos. What was drawn is compared with the
    triples that KdConv's annotators noted: subject equal, value equal or held, relation by a table of
    synonyms; `pair` leaves the relation out. Nothing is recalled: the embedder changes only the time.

    \b
    Examples:
      thinkback-lab eval triples --data data/ --think rules --json
      thinkback-lab eval triples --domain film --llm local:qwen-coder-1.5b --think llm --limit 30 --seed 1
    """
    with options.one_line_errors():
        setup = options.setup_of(llm, embedder, "hybrid", think)
        domains = domain or list(DOMAINS)
        chosen = choose(load(data, domains, split), limit, seed)
        with progress("turns") as report:
            played = run(chosen, setup, report)
    settings = {"domains": domains, "split": split, **setup.told, "limit": limit, "seed": seed}
    summary = summarise(played, settings)
    if as_json:
        options.show_json(summary)
        return
    told = summary["metrics"]
    options.show_table(
        table(summary),
        f"left out: {told['about_user']} facts about the speakers, {told['from_prose']} found in prose only; "
        f"ascribed to the user: {told['misattributed']} facts of the world; "
        f"not thought over: {told['unthought']} turns",
    )
