"""`thinkback-lab eval classification`, `consistency`, `timing` and `triples`: experiments of the papers."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from thinkback import LLM, Memory
from thinkback_lab.cases import Dataset
from thinkback_lab.commands import options
from thinkback_lab.datasets import perltqa
from thinkback_lab.datasets.kdconv import DOMAINS, load_dialogues
from thinkback_lab.datasets.registry import DATASETS, DatasetOption
from thinkback_lab.errors import LabError
from thinkback_lab.evaluations import timing as measuring
from thinkback_lab.evaluations.classification import (
    QuestionClassifier,
    classify_questions,
    split_questions,
    summarise_classification,
)
from thinkback_lab.evaluations.consistency import (
    ConsistencyPlan,
    consistency_table,
    run_consistency,
    summarise_consistency,
)
from thinkback_lab.evaluations.triples import (
    choose_dialogues,
    run_triples,
    summarise_triples,
    triples_table,
)
from thinkback_lab.harness import IN_MEMORY
from thinkback_lab.llms import open_llm
from thinkback_lab.progress import progress
from thinkback_lab.reader import LLMReader
from thinkback_lab.runs.folder import RunFolder
from thinkback_lab.systems.perltqa import (
    LLMClassifier,
    ShippedClassifier,
    TrainedClassifier,
    few_shot_examples,
    load_examples,
    memory_type,
)
from thinkback_lab.systems.registry import find_system
from thinkback_lab.systems.resources import load_resources

if TYPE_CHECKING:
    from rich.table import Table


_LLM_CLASSIFIERS: dict[str, Callable[[LLM], QuestionClassifier]] = {
    "zero": LLMClassifier,
    "few": lambda llm: LLMClassifier(llm, few_shot_examples()),
}


def classification(
    by: Annotated[
        Literal["learned", "shipped", "examples", "zero", "few"],
        typer.Option(
            "--by",
            help="The classifier: trained on the other questions, thinkback's own, "
            "trained on our examples, or the model.",
        ),
    ] = "learned",
    lang: Annotated[Literal["en", "zh"], typer.Option("--lang", help="English or Chinese.")] = "en",
    data: options.DataOption = None,
    llm: options.LlmOption = "none",
    embedder: options.EmbedderOption = "minilm",
    test: Annotated[
        float,
        typer.Option(
            "--test", metavar="SHARE", min=0.001, max=0.999, help="Share of the questions to test on."
        ),
    ] = 0.2,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the split.")] = 0,
    out: options.SaveOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Classify questions: do they ask for semantic or for episodic memory? (PerLTQA, table 4)

    All classifiers are tested on the same fifth of the questions; `learned` is trained on the rest. `shipped`
    is the classifier inside thinkback, which uses the vectors of --embedder if it was trained on them. A
    model is asked without examples (zero) or with some (few).

    \b
    Examples:
      thinkback-lab eval classification --data world/ --json
      thinkback-lab eval classification --data world/ --by few --llm local:qwen-coder-1.5b --test 0.02
    """
    with options.exit_on_error(), ExitStack() as stack:
        if (llm == "none") == (by in _LLM_CLASSIFIERS):
            raise LabError("--by zero and --by few need --llm; the other classifiers use no model")
        training_part, test_part = split_questions(perltqa.load(data, lang), test, seed)
        classifier: QuestionClassifier
        if by in _LLM_CLASSIFIERS:
            classifier = _LLM_CLASSIFIERS[by](stack.enter_context(open_llm(llm)))
        elif by == "shipped":
            memory = stack.enter_context(Memory.open(IN_MEMORY, embedder=embedder, background=False))
            classifier = ShippedClassifier(memory.embedder).kinds
        else:
            classifier = _trained_classifier(by, training_part)
        with progress("questions") as report:
            classified = classify_questions(test_part, classifier, report)
        settings = {**test_part.settings, "llm": llm, "test": test, "seed": seed}
        if by == "shipped":
            settings["embedder"] = embedder
        summary = summarise_classification(
            classified, classifier=by, settings=settings, dataset=test_part.name
        )
        options.save_result(summary, out)
    if as_json:
        options.print_json(summary)
        return
    options.print_table(
        _classification_table(summary), f"{summary['n']} questions; undecided: {summary['unsaid']}"
    )


def _trained_classifier(by: str, learn: Dataset) -> QuestionClassifier:
    if by == "examples":
        return TrainedClassifier(load_examples())
    return TrainedClassifier(
        (each.text, memory_type(each.kind)) for case in learn.cases for each in case.questions if each.kind
    )


def _classification_table(summary: Mapping[str, Any]) -> Table:
    """The columns of PerLTQA's table 4, for each type and for all questions."""
    from rich.table import Table

    grid = Table(box=None, pad_edge=False)
    grid.add_column("")
    for title in ("n", "P", "R", "F1", "Acc"):
        grid.add_column(title, justify="right")
    rows = {name: summary["by_category"].get(name) for name in ("semantic", "episodic")}
    for name, row in {**rows, summary["scheme"]: {"n": summary["n"], **summary["metrics"]}}.items():
        if row is not None:
            figures = [
                f"{row[each]:.3f}" if each in row else ""
                for each in ("precision", "recall", "f1", "accuracy")
            ]
            grid.add_row(name, str(row["n"]), *figures)
    return grid


_DEFAULT_PLAN = ConsistencyPlan()


def consistency(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help=f"One of {', '.join(DATASETS)}.")],
    chosen: Annotated[
        list[str] | None,
        typer.Option(
            "--with", metavar="NAME=VALUE", help="An option of the data set, for example --with lang=cn."
        ),
    ] = None,
    data: options.DataOption = None,
    scheme: options.SchemeOption = "thinkback",
    preset: options.PresetOption = "hybrid",
    llm: options.LlmOption = "none",
    embedder: options.EmbedderOption = "minilm",
    think: options.ThinkOption = "auto",
    turns: Annotated[
        list[int] | None,
        typer.Option(
            "--turn",
            metavar="N",
            min=1,
            help=f"Ask after N items; may be repeated. Default: {_DEFAULT_PLAN.turns}.",
        ),
    ] = None,
    wordings: Annotated[
        int, typer.Option("--wordings", metavar="N", help="Number of wordings of each question.")
    ] = _DEFAULT_PLAN.wordings,
    questions: Annotated[
        int, typer.Option("--questions", metavar="N", help="Maximum number of questions per case and turn.")
    ] = _DEFAULT_PLAN.questions,
    short: Annotated[
        int, typer.Option("--short", metavar="N", help="Maximum number of items of a short dialogue.")
    ] = _DEFAULT_PLAN.short,
    seed: Annotated[
        int, typer.Option("--seed", metavar="S", help="Seed of the choice of questions.")
    ] = _DEFAULT_PLAN.seed,
    out: options.SaveOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Ask the same questions again as a history grows: how similar are the results, by turn number?

    A history is stored in steps. At each turn number, questions about the history so far are asked in several
    wordings. With a model, its answers are compared (shared anchors, lexical F1); without one, the recalled
    memories (Jaccard overlap of the first 1 and the first 5). A score of 1 means the same result every time.

    \b
    Examples:
      thinkback-lab eval consistency gvd --data data/ --scheme raw --json
      thinkback-lab eval consistency gvd --with lang=cn --llm local:qwen-coder-1.5b --turn 5 --turn 20
    """
    with options.exit_on_error():
        if dataset not in DATASETS:
            raise LabError(f"unknown data set {dataset!r}: choose from {', '.join(DATASETS)}")
        plan = ConsistencyPlan(
            turns=tuple(turns or _DEFAULT_PLAN.turns),
            wordings=wordings,
            questions=questions,
            short=short,
            seed=seed,
        )
        system = find_system(scheme)
        entry = DATASETS[dataset]
        loaded = entry.load(data, **_parse_choices(entry.choices, chosen or ()))
        resources = load_resources(options.make_setup(llm, embedder, preset, think))
        reader = None if resources.llm is None else LLMReader(resources.llm)
        with progress(f"{dataset}, {scheme}") as report:
            outcomes = run_consistency(loaded, system, resources, plan, reader, report)
        settings = {
            **loaded.settings,
            **resources.setup.as_settings,
            **({} if reader is None else reader.as_settings),
        }
        summary = summarise_consistency(outcomes, plan, dataset=loaded.name, scheme=scheme, settings=settings)
        options.save_result(summary, out)
    if as_json:
        options.print_json(summary)
    else:
        options.print_table(consistency_table(summary), f"compared: {summary['settings']['measured']}")


def _parse_choices(options_known: Sequence[DatasetOption], assignments: Sequence[str]) -> dict[str, Any]:
    """All options of the data set: those given as NAME=VALUE, defaults for the rest."""
    chosen_values = {each.name: each.default for each in options_known}
    several: dict[str, list[str]] = {}
    for assignment in assignments:
        name, _, value = assignment.partition("=")
        choice = next((each for each in options_known if each.name == name), None)
        if choice is None or (choice.values and value not in choice.values):
            offered = [f"{each.name}={'|'.join(each.values) or 'NUMBER'}" for each in options_known]
            raise LabError(f"--with {assignment}: this data set accepts {', '.join(offered) or 'no options'}")
        if choice.multiple:
            several.setdefault(name, []).append(value)
        else:
            chosen_values[name] = value if choice.values else _parse_number(value, assignment)
    return chosen_values | {name: tuple(values) for name, values in several.items()}


def _parse_number(value: str, assignment: str) -> int:
    if not value.isdecimal():
        raise LabError(f"--with {assignment}: expected an integer")
    return int(value)


def timing(
    sizes: Annotated[
        list[int] | None,
        typer.Option(
            "--n",
            metavar="N",
            min=measuring.RECALL_K,
            help="Number of memories; may be repeated. Default: 140 and 1000.",
        ),
    ] = None,
    queries: Annotated[
        int, typer.Option("--queries", metavar="N", min=1, max=1000, help="Number of queries.")
    ] = measuring.DEFAULT_QUERIES,
    embedder: options.EmbedderOption = "minilm",
    seed: Annotated[
        int, typer.Option("--seed", metavar="S", help="Seed of the sentences and questions.")
    ] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Also save the result there, for `tables`.")
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Measure the time of one retrieval against pairwise similarity over the whole memory (TiM, table 4).

    Generated sentences are stored and questions asked with each search in turn. The table shows the median
    milliseconds of one retrieval without embedding, and in brackets the share of the five most similar
    memories that were returned. Compare figures of one run only, because machines differ.

    \b
      python    a loop in Python: the naive baseline, up to 2000 memories
      pairwise  one numpy product over the whole memory
      group     TiM's hash and its one group, in plain numpy
      tim       thinkback with the preset tim
      hybrid    thinkback with its default preset

    \b
    Examples:
      thinkback-lab eval timing
      thinkback-lab eval timing --n 140 --n 1000 --n 10000 --embedder hashing --out runs/timing
      thinkback-lab tables runs/timing --table tim-4
    """
    chosen_sizes = tuple(sizes or measuring.DEFAULT_SIZES)
    with options.exit_on_error(), progress("sizes") as report:
        with Memory.open(IN_MEMORY, embedder=embedder, background=False) as memory:
            result = measuring.measure_retrieval(
                memory.embedder, chosen_sizes, queries=queries, seed=seed, on_progress=report
            )
        result["settings"]["embedder"] = embedder
        arguments = ["--embedder", embedder, "--queries", str(queries), "--seed", str(seed)]
        result["command"] = shlex.join(
            [
                "thinkback-lab",
                "eval",
                "timing",
                *(word for size in chosen_sizes for word in ("--n", str(size))),
                *arguments,
            ]
        )
        if out is not None:
            head = {key: result[key] for key in ("dataset", "scheme", "settings")}
            with RunFolder(out, head, result["command"]) as folder:
                folder.finish(result)
    if as_json:
        options.print_json(result)
        return
    options.print_table(measuring.timing_table(result), measuring.LEGEND)


def triples(
    data: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", help="Folder of the data. Default: $THINKBACK_DATA."),
    ] = None,
    domain: Annotated[
        list[str] | None,
        typer.Option("--domain", metavar="NAME", help="Only film, music or travel; may be repeated."),
    ] = None,
    split: Annotated[str, typer.Option("--split", metavar="NAME", help="dev, test or train.")] = "dev",
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="Maximum number of turns.")
    ] = None,
    llm: options.LlmOption = "none",
    embedder: options.EmbedderOption = "hashing",
    think: options.ThinkOption = "auto",
    seed: options.SeedOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Compare the triples that thinkback extracts with KdConv's annotated knowledge.

    Each dialogue is stored in an empty memory, utterance and reply as one turn. The extracted triples are
    compared with those of KdConv's annotators: the subject must be equal, the value equal or contained, and
    the relation equal by a table of synonyms; `pair` ignores the relation. Nothing is recalled, so the
    embedder affects only the time.

    \b
    Examples:
      thinkback-lab eval triples --data data/ --think extractive --json
      thinkback-lab eval triples --domain film --llm local:qwen-coder-1.5b --think llm --limit 30 --seed 1
    """
    with options.exit_on_error():
        setup = options.make_setup(llm, embedder, "hybrid", think)
        domains = domain or list(DOMAINS)
        dialogues = choose_dialogues(load_dialogues(data, domains, split), limit, seed)
        with progress("turns") as report:
            played = run_triples(dialogues, setup, report)
    settings = {"domains": domains, "split": split, **setup.as_settings, "limit": limit, "seed": seed}
    summary = summarise_triples(played, settings)
    if as_json:
        options.print_json(summary)
        return
    metrics = summary["metrics"]
    options.print_table(
        triples_table(summary),
        f"left out: {metrics['about_user']} facts about the speakers, "
        f"{metrics['from_prose']} found in prose only; "
        f"ascribed to the user: {metrics['misattributed']} facts of the world; "
        f"not thought over: {metrics['unthought']} turns",
    )
