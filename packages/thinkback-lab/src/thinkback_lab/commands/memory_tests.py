"""`thinkback-lab eval` with tests of memory (scenarios, lives, chats, pairs, safety, ...); and `replay`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated, Literal

import typer

from thinkback_lab.cases import take_sample
from thinkback_lab.commands import options
from thinkback_lab.datasets.lives import LifeLanguage, load_lives
from thinkback_lab.datasets.safety import read_safety_cases
from thinkback_lab.errors import LabError
from thinkback_lab.evaluations.chats import chats_table, read_chats, run_chats, summarise_chats
from thinkback_lab.evaluations.contradictions import (
    contradictions_table,
    read_answer_sets,
    run_contradictions,
    summarise_contradictions,
)
from thinkback_lab.evaluations.determinism import (
    HASH_SEEDS,
    compare_dumps,
    dump_database,
    replay_in_subprocess,
)
from thinkback_lab.evaluations.determinism import replay_scenarios as replay_into
from thinkback_lab.evaluations.lives import lives_tables, run_lives, summarise_lives
from thinkback_lab.evaluations.pairs import pairs_table, read_pairs, run_pairs, summarise_pairs
from thinkback_lab.evaluations.safety import flagged_sentences, run_safety, safety_table, summarise_safety
from thinkback_lab.evaluations.scenario_format import read_scenarios
from thinkback_lab.evaluations.scenarios import (
    choose_scenarios,
    run_scenarios,
    scenarios_table,
    summarise_scenarios,
)
from thinkback_lab.evaluations.sharded import read_tasks, run_sharded, sharded_table, summarise_sharded
from thinkback_lab.harness import ThinkMode
from thinkback_lab.llms import open_llm
from thinkback_lab.progress import progress
from thinkback_lab.systems.registry import find_system


def scenarios(
    files: options.FilesArgument,
    limit: options.LimitOption = None,
    category: Annotated[
        list[str] | None,
        typer.Option("--category", metavar="NAME", help="Only this category; may be repeated."),
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
    think_after: options.ThinkAfterOption = "turn",
    seed: options.SeedOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Run scenarios, the unit tests of memory: dialogues followed by questions.

    The turns of a scenario are replayed into an empty memory at the times given, with post-think after each;
    then every question is recalled. A probe passes if the recalled memories contain one alternative of every
    `expect` list and no recalled current thought contains a `reject` string.

    \b
    Examples:
      thinkback-lab eval scenarios scenarios/
      thinkback-lab eval scenarios mine.jsonl.gz --json | jq '.failures[] | {id, probe, why}'
      thinkback-lab eval scenarios scenarios/ --category update --category negation --lang zh
      thinkback-lab eval scenarios scenarios/ --scheme bm25
      thinkback-lab eval scenarios scenarios/ --llm local:qwen-coder-1.5b --think llm --limit 30 --seed 1
    """
    with options.exit_on_error():
        setup = options.make_setup(llm, embedder, preset, think, think_after)
        selected = choose_scenarios(
            read_scenarios(files), categories=category or (), langs=lang or (), limit=limit, seed=seed
        )
        with progress("scenarios") as report:
            results = run_scenarios(
                selected, setup, report, None if scheme == "thinkback" else find_system(scheme)
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
        f"{len(summary['failures'])} failures (listed by --json)",
    )


def safety(
    files: options.FilesArgument,
    talk: Annotated[
        str | None,
        typer.Option(
            "--talk",
            metavar="LIVES",
            help="Also count which share of what users say in these lives is flagged.",
        ),
    ] = None,
    data: options.DataOption = None,
    limit: options.LimitOption = None,
    embedder: options.EmbedderOption = "minilm",
    preset: options.PresetOption = "hybrid",
    seed: options.SeedOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Measure how many orders and secrets can be recalled, and how many harmless texts are withheld.

    Each text is remembered in a memory of its own, then asked for by fitting questions and by its own words.
    The table gives the share recalled as plain memory text, as a quotation, with a redaction, or withheld.

    \b
    Examples:
      thinkback-lab eval safety attempts.jsonl --talk dev
      thinkback-lab eval safety scenarios/safety --json | jq '.failures[] | {kind, text}'
    """
    with options.exit_on_error():
        setup = options.make_setup("none", embedder, preset, "auto", "turn")
        cases = take_sample(read_safety_cases(files), limit, seed)
        lives = [] if talk is None else load_lives(data, talk)
        with progress("texts") as report:
            outcomes = run_safety(cases, setup, report)
    summary = summarise_safety(outcomes, {**setup.as_settings, "limit": limit, "seed": seed, "talk": talk})
    if lives:
        summary["sentences"] = flagged_sentences(lives)
    if as_json:
        options.print_json(summary)
        return
    note = f"{len(summary['failures'])} failures (listed by --json)"
    if lives:
        note += f"; of {summary['sentences']['n']:,} sentences of users, "
        note += f"{summary['sentences']['suspicious']:.2%} are flagged as suspicious"
    options.print_table(safety_table(summary), note)


LivesThinkMode = Literal["auto", "extractive", "llm", "gold"]


def lives(
    data: options.DataOption = None,
    split: Annotated[
        str, typer.Option("--split", metavar="NAME", help="dev, train, or a file (.jsonl or .jsonl.gz).")
    ] = "dev",
    limit: options.LimitOption = None,
    lang: Annotated[LifeLanguage | None, typer.Option("--lang", help="Only lives in this language.")] = None,
    life: Annotated[
        list[str] | None, typer.Option("--life", metavar="ID", help="Only this life; may be repeated.")
    ] = None,
    llm: options.LlmOption = "none",
    embedder: options.EmbedderOption = "minilm",
    preset: options.PresetOption = "hybrid",
    think: Annotated[
        LivesThinkMode,
        typer.Option(
            "--think",
            help="Post-think without a model (extractive), by the model (llm), or auto; or gold: the gold "
            "facts as thoughts, an upper bound.",
        ),
    ] = "auto",
    think_after: options.ThinkAfterOption = "turn",
    seed: options.SeedOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Replay long natural conversations: which facts become thoughts, and what do questions recall?

    The turns of a life are remembered at the times given for them, with post-think after each; so are the
    questions asked. Three tables are printed: thoughts (coverage of the gold facts, silence on turns without
    facts, facts still current, stale or wrongly retired), questions (evidence, answer and abstention), and
    the ablation: recall from thoughts and raw turns, from thoughts only, from the first thoughts that fit
    into half of the tokens of raw turns, and from raw turns only.

    \b
    Examples:
      thinkback-lab eval lives --data data/
      thinkback-lab eval lives --think gold
      thinkback-lab eval lives --split train --lang zh --limit 5 --json | jq .by_kind
      thinkback-lab eval lives --split mine.jsonl --llm openai:gpt-4o-mini --think-after session
      thinkback-lab eval lives --json | jq '.facts[] | select(.state == "missing") | .text'
    """
    with options.exit_on_error():
        mode: ThinkMode = "extractive" if think == "gold" else think
        setup = options.make_setup(llm, embedder, preset, mode, think_after)
        loaded = load_lives(data, split, lang)
        if unknown := {*(life or ())} - {each.id for each in loaded}:
            raise LabError(f"There is no life {', '.join(sorted(unknown))} in {split!r}.")
        selected = take_sample([each for each in loaded if not life or each.id in life], limit, seed)
        with progress("lives") as report:
            played = run_lives(selected, setup, report, with_gold=think == "gold")
    choices = {"split": split, "lang": lang, "life": life, "limit": limit, "seed": seed}
    summary = summarise_lives(played, {**choices, **setup.as_settings, "think": think})
    if as_json:
        options.print_json(summary)
        return
    for grid in lives_tables(summary):
        options.print_grid(grid)
        typer.echo()
    calls, tokens = summary["llm_calls_per_turn"], summary["llm_tokens_per_turn"]
    typer.echo(
        f"{calls:.2f} model calls and {tokens:.1f} tokens a turn; "
        f"{summary['unthought']} turns without post-think; --json lists every question, fact and thought"
    )


def chats(
    files: options.FilesArgument,
    llm: options.LlmOption = "none",
    embedder: options.EmbedderOption = "minilm",
    preset: options.PresetOption = "hybrid",
    think: options.ThinkOption = "auto",
    as_json: options.JsonOption = False,
) -> None:
    """Have natural chats through `Memory.chat`: are questions answered rightly, and is nothing invented?

    Each file is one chat of statements, questions and requests. A question that was told is answered right,
    wrong, or missed ("not told"); one that was never told rightly gets "not told", or an invented answer.
    Also counted: statements whose acknowledgement shows what was understood, and requests that are
    declined with the command that installs a larger model.

    \b
    Examples:
      thinkback-lab eval chats scenarios/chats/
      thinkback-lab eval chats scenarios/chats/ --llm local:smollm2
      thinkback-lab eval chats scenarios/chats/ --json | jq '.replies[] | {message, answer, outcome}'
    """
    with options.exit_on_error():
        setup = options.make_setup(llm, embedder, preset, think)
        selected = read_chats(files)
        with progress("chats") as report:
            replies = run_chats(selected, setup, report)
    summary = summarise_chats(replies, setup.as_settings)
    if as_json:
        options.print_json(summary)
        return
    metrics = summary["metrics"]
    options.print_table(
        chats_table(summary),
        f"{metrics['ms_p50']} ms an answer (median), {metrics['ms_max']} ms at most; --json lists them",
    )


def contradictions(
    files: options.FilesArgument,
    limit: options.LimitOption = None,
    llm: options.LlmOption = "none",
    model_only: Annotated[
        bool, typer.Option("--model-only", help="Only the check by the model, to see what it finds alone.")
    ] = False,
    seed: options.SeedOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Check answers in free prose against thoughts: contradictions must be caught, others must pass.

    Each answer is checked as a chat checks its drafts: by words and safety facts, and with --llm also by one
    call to the model where an answer says something about the topics of the thoughts.

    \b
    Examples:
      thinkback-lab eval contradictions scenarios/consistency/held.jsonl
      thinkback-lab eval contradictions scenarios/consistency/ --json | jq '.failures[] | {why, answer}'
      thinkback-lab eval contradictions scenarios/consistency/ --llm recorded:FOLDER
    """
    with options.exit_on_error():
        selected = take_sample(read_answer_sets(files), limit, seed)
        with progress("contradictions") as report:
            if llm == "none":
                outcomes = run_contradictions(selected, None, report)
            else:
                with open_llm(llm) as model:
                    outcomes = run_contradictions(selected, model, report, model_only=model_only)
    summary = summarise_contradictions(
        outcomes, {"llm": llm, "model_only": model_only, "limit": limit, "seed": seed}
    )
    if as_json:
        options.print_json(summary)
        return
    options.print_table(
        contradictions_table(summary),
        f"{summary['calls']} calls, {summary['tokens']} tokens; "
        f"{len(summary['failures'])} failures (listed by --json)",
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
    """Check consistency: compatible facts must be kept, updated facts must be superseded.

    Two statements are stored in separate turns. For a compatible pair nothing may be retired; for an update
    the new value must replace the old one, and the five best memories must not contain both.

    \b
    Examples:
      thinkback-lab eval pairs scenarios/pairs/
      thinkback-lab eval pairs scenarios/pairs/updates.jsonl --json | jq '.failures[] | {why, first, then}'
    """
    with options.exit_on_error():
        setup = options.make_setup(llm, embedder, preset, think)
        selected = take_sample(read_pairs(files), limit, seed)
        with progress("pairs") as report:
            outcomes = run_pairs(selected, setup, report)
    summary = summarise_pairs(outcomes, {**setup.as_settings, "limit": limit, "seed": seed})
    if as_json:
        options.print_json(summary)
        return
    options.print_table(pairs_table(summary), f"{len(summary['failures'])} failures (listed by --json)")


def sharded(
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="FILE", help="A JSON list of tasks. Default: the built-in ones."),
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
    """Give a task in shards, one per turn: how much of it is left in the context of the last turn?

    Without a model, count the shards that the summary, the recalled memories or the last messages still
    contain, and the tokens of each context. With a model, also measure how much worse it answers than when it
    gets everything at once. A task is {"shards": [{"shard": "..."}], "question": "...", "answer": "..."}.

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
    into: Annotated[Path, typer.Option("--into", metavar="DB", help="Path of the new database.")],
    llm: options.LlmOption = "none",
    embedder: options.EmbedderOption = "minilm",
    preset: options.PresetOption = "hybrid",
    think: options.ThinkOption = "auto",
) -> None:
    """Replay scenarios into a database, each for a user named like the scenario's id.

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
    """Check that the same turns give the same bytes in two processes with different hash seeds.

    Each process replays the scenarios without a model into its own database; then the exports of all spaces
    and the rows of all tables are compared. The exit status is 1 if they differ.

    \b
    Examples:
      thinkback-lab eval determinism scenarios/ --json
    """
    with options.exit_on_error(), tempfile.TemporaryDirectory() as folder, progress("processes") as report:
        setup = options.make_setup("none", embedder, preset, "extractive")
        users = [scenario.id for scenario in read_scenarios(files)]
        databases = {seed: Path(folder, f"{seed}.db") for seed in HASH_SEEDS}
        for number, (seed, database) in enumerate(databases.items(), start=1):
            replay_in_subprocess(files, database, setup, seed)
            report(number, len(databases))
        comparison = compare_dumps(
            *(dump_database(database, users, setup) for database in databases.values())
        )
    same = all(each["identical"] for each in comparison.values())
    if as_json:
        head = {
            "dataset": "determinism",
            "scheme": "thinkback",
            "settings": setup.as_settings,
            "n": len(users),
        }
        options.print_json({**head, "metrics": {"identical": same, **comparison}, "by_category": {}})
    else:
        for name, each in comparison.items():
            typer.echo(f"{name}: {'identical' if each['identical'] else 'DIFFERENT'}, {each['lines']} lines")
    if not same:
        raise typer.Exit(1)
