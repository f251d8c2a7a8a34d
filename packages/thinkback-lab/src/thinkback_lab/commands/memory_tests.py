"""`thinkback-lab eval scenarios`, `pairs`, `sharded` and `determinism`, and `thinkback-lab replay`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from thinkback_lab.cases import take_sample
from thinkback_lab.commands import options
from thinkback_lab.evaluations.determinism import (
    HASH_SEEDS,
    compare_dumps,
    dump_database,
    replay_in_subprocess,
)
from thinkback_lab.evaluations.determinism import replay_scenarios as replay_into
from thinkback_lab.evaluations.pairs import pairs_table, read_pairs, run_pairs, summarise_pairs
from thinkback_lab.evaluations.scenario_format import read_scenarios
from thinkback_lab.evaluations.scenarios import (
    choose_scenarios,
    run_scenarios,
    scenarios_table,
    summarise_scenarios,
)
from thinkback_lab.evaluations.sharded import read_tasks, run_sharded, sharded_table, summarise_sharded
from thinkback_lab.progress import progress
from thinkback_lab.systems.registry import find_system


def scenarios(
    files: options.FilesArgument,
    limit: options.LimitOption = None,
    category: Annotated[
        list[str] | None, typer.Option("--category", metavar="NAME", help="Only this one; may be repeated.")
    ] = None,
    lang: Annotated[
        list[str] | None,
        typer.Option("--lang", metavar="LANG", help="Only en, zh or mixed; may be repeated."),
    ] = None,
    scheme: options.SchemeOption = "thinkback",
    llm: options.LlmOption = "none",
    embedder: options.EmbedderOption = "minilm",
    preset: options.PresetOption = "hybrid",
    think: options.ThinkOption = "auto",
    seed: options.SeedOption = None,
    as_json: options.JsonOption = False,
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
    with options.exit_on_error():
        setup = options.make_setup(llm, embedder, preset, think)
        chosen = choose_scenarios(
            read_scenarios(files), categories=category or (), langs=lang or (), limit=limit, seed=seed
        )
        with progress("scenarios") as report:
            results = run_scenarios(
                chosen, setup, report, None if scheme == "thinkback" else find_system(scheme)
            )
    summary = summarise_scenarios(results, {**setup.as_settings, "limit": limit, "seed": seed}, scheme)
    if as_json:
        options.print_json(summary)
        return
    f1 = summary["triples"]["f1"]
    options.print_table(
        scenarios_table(summary),
        f"triple F1 {'-' if f1 is None else format(f1, '.3f')}; "
        f"{summary['ms_per_turn']} ms a turn, {summary['ms_per_query']} ms a probe; "
        f"{len(summary['failures'])} failures (--json tells each)",
    )


def pairs(
    files: options.FilesArgument,
    limit: options.LimitOption = None,
    llm: options.LlmOption = "none",
    embedder: options.EmbedderOption = "minilm",
    preset: options.PresetOption = "hybrid",
    think: options.ThinkOption = "auto",
    seed: options.SeedOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Consistency: what is compatible must stay, what is updated must go.

    Two statements are told in turns of their own. Of a compatible pair nothing may be retired; in an update
    the new value must take the old one's place, and the five best memories must not hold both.

    \b
    Examples:
      thinkback-lab eval pairs scenarios/pairs/
      thinkback-lab eval pairs scenarios/pairs/updates.jsonl --json | jq '.failures[] | {why, first, then}'
    """
    with options.exit_on_error():
        setup = options.make_setup(llm, embedder, preset, think)
        chosen = take_sample(read_pairs(files), limit, seed)
        with progress("pairs") as report:
            outcomes = run_pairs(chosen, setup, report)
    summary = summarise_pairs(outcomes, {**setup.as_settings, "limit": limit, "seed": seed})
    if as_json:
        options.print_json(summary)
        return
    options.print_table(pairs_table(summary), f"{len(summary['failures'])} failures (--json tells each)")


def sharded(
    data: Annotated[
        Path | None, typer.Option("--data", metavar="FILE", help="A JSON list of tasks; else those we ship.")
    ] = None,
    limit: options.LimitOption = None,
    llm: options.LlmOption = "none",
    embedder: options.EmbedderOption = "minilm",
    preset: options.PresetOption = "hybrid",
    think: options.ThinkOption = "auto",
    seed: options.SeedOption = None,
    out: options.SaveOption = None,
    as_json: options.JsonOption = False,
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
    with options.exit_on_error():
        setup = options.make_setup(llm, embedder, preset, think)
        tasks = take_sample(read_tasks(data), limit, seed)
        with progress("sharded") as report:
            played = run_sharded(tasks, setup, report)
        summary = summarise_sharded(
            played, {**setup.as_settings, "data": data and data.name, "limit": limit, "seed": seed}
        )
        options.save_result(summary, out)
    if as_json:
        options.print_json(summary)
        return
    turns = ", ".join(map(str, summary["tokens_by_turn"]))
    options.print_table(
        sharded_table(summary), f"tokens by turn: {turns}; {len(summary['failures'])} tasks lost a shard"
    )


def replay(
    files: options.FilesArgument,
    into: Annotated[Path, typer.Option("--into", metavar="DB", help="A database that is not there yet.")],
    llm: options.LlmOption = "none",
    embedder: options.EmbedderOption = "minilm",
    preset: options.PresetOption = "hybrid",
    think: options.ThinkOption = "auto",
) -> None:
    """Tell scenarios to a database, each to a user named by its id, at their own times.

    \b
    Examples:
      thinkback-lab replay scenarios/ --into told.db && thinkback thoughts --db told.db --user en-update-01
    """
    with options.exit_on_error(), progress("scenarios") as report:
        setup = options.make_setup(llm, embedder, preset, think)
        replay_into(read_scenarios(files), into, setup, report)


def determinism(
    files: options.FilesArgument,
    embedder: options.EmbedderOption = "minilm",
    preset: options.PresetOption = "hybrid",
    as_json: options.JsonOption = False,
) -> None:
    """The same turns give the same bytes, in two processes with different hash seeds.

    Each process replays the scenarios, without a model, into a database of its own; then the exports of all
    spaces and the rows of all tables are compared. Status 1 if they differ.

    \b
    Examples:
      thinkback-lab eval determinism scenarios/ --json
    """
    with options.exit_on_error(), tempfile.TemporaryDirectory() as folder, progress("processes") as report:
        setup = options.make_setup("none", embedder, preset, "rules")
        users = [scenario.id for scenario in read_scenarios(files)]
        places = {seed: Path(folder, f"{seed}.db") for seed in HASH_SEEDS}
        for number, (seed, place) in enumerate(places.items(), start=1):
            replay_in_subprocess(files, place, setup, seed)
            report(number, len(places))
        told = compare_dumps(*(dump_database(place, users, setup) for place in places.values()))
    same = all(each["identical"] for each in told.values())
    if as_json:
        head = {
            "dataset": "determinism",
            "scheme": "thinkback",
            "settings": setup.as_settings,
            "n": len(users),
        }
        options.print_json({**head, "metrics": {"identical": same, **told}, "by_category": {}})
    else:
        for name, each in told.items():
            typer.echo(f"{name}: {'identical' if each['identical'] else 'DIFFERENT'}, {each['lines']} lines")
    if not same:
        raise typer.Exit(1)
