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
from thinkback_lab.evaluations.triples import choose_dialogues, run_triples, summarise_triples, triples_table
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
            "--by", help="Learned from the other questions; thinkback's own; of our examples; a model's word."
        ),
    ] = "learned",
    lang: Annotated[Literal["en", "zh"], typer.Option("--lang", help="English or Chinese.")] = "en",
    data: options.DataOption = None,
    llm: options.LlmOption = "none",
    embedder: options.EmbedderOption = "minilm",
    test: Annotated[
        float, typer.Option("--test", metavar="SHARE", min=0.001, max=0.999, help="How many are tested on.")
    ] = 0.2,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Chooses which are tested on.")] = 0,
    out: options.SaveOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Does a question ask for semantic or for episodic memory? PerLTQA's table 4.

    Every way is tested on the same questions, a fifth of them; `learned` learns from the rest. `shipped` is
    the classifier in thinkback, which reads the vectors of --embedder if it knows them. A model is asked
    plainly (zero) or with examples (few).

    \b
    Examples:
      thinkback-lab eval classification --data world/ --json
      thinkback-lab eval classification --data world/ --by few --llm local:qwen-coder-1.5b --test 0.02
    """
    with options.exit_on_error(), ExitStack() as stack:
        if (llm == "none") == (by in _LLM_CLASSIFIERS):
            raise LabError("--by zero and --by few ask the model that --llm names; the others ask none")
        learn, tested = split_questions(perltqa.load(data, lang), test, seed)
        classifier: QuestionClassifier
        if by in _LLM_CLASSIFIERS:
            classifier = _LLM_CLASSIFIERS[by](stack.enter_context(open_llm(llm)))
        elif by == "shipped":
            memory = stack.enter_context(Memory.open(IN_MEMORY, embedder=embedder, background=False))
            classifier = ShippedClassifier(memory.embedder).kinds
        else:
            classifier = _trained_classifier(by, learn)
        with progress("questions") as report:
            told = classify_questions(tested, classifier, report)
        settings = {**tested.settings, "llm": llm, "test": test, "seed": seed}
        if by == "shipped":
            settings["embedder"] = embedder
        summary = summarise_classification(told, classifier=by, settings=settings, dataset=tested.name)
        options.save_result(summary, out)
    if as_json:
        options.print_json(summary)
        return
    options.print_table(
        _classification_table(summary), f"{summary['n']} questions; nothing said of {summary['unsaid']}"
    )


def _trained_classifier(by: str, learn: Dataset) -> QuestionClassifier:
    if by == "examples":
        return TrainedClassifier(load_examples())
    return TrainedClassifier(
        (each.text, memory_type(each.kind)) for case in learn.cases for each in case.questions if each.kind
    )


def _classification_table(summary: Mapping[str, Any]) -> Table:
    """The columns of table 4, for all and for each of the two."""
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
        typer.Option("--with", metavar="NAME=VALUE", help="A choice of the data set, as --with lang=cn."),
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
            help=f"Ask after N items; may be repeated; else {_DEFAULT_PLAN.turns}.",
        ),
    ] = None,
    wordings: Annotated[
        int, typer.Option("--wordings", metavar="N", help="How often each question is asked.")
    ] = _DEFAULT_PLAN.wordings,
    questions: Annotated[
        int, typer.Option("--questions", metavar="N", help="At most so many questions of a case at a turn.")
    ] = _DEFAULT_PLAN.questions,
    short: Annotated[
        int, typer.Option("--short", metavar="N", help="A dialogue of more items than this is a long one.")
    ] = _DEFAULT_PLAN.short,
    seed: Annotated[
        int, typer.Option("--seed", metavar="S", help="Chooses the questions.")
    ] = _DEFAULT_PLAN.seed,
    out: options.SaveOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Recall the same history again and again: how alike is what comes back, by turn number?

    A history is told in steps. At each turn number, questions about what has been told are asked in several
    wordings: with a model its answers are compared (anchors said alike, lexical F1), without one what was
    recalled (Jaccard overlap of the first 1 and the first 5). 1 is the same every time.

    \b
    Examples:
      thinkback-lab eval consistency gvd --data data/ --scheme raw --json
      thinkback-lab eval consistency gvd --with lang=cn --llm local:qwen-coder-1.5b --turn 5 --turn 20
    """
    with options.exit_on_error():
        if dataset not in DATASETS:
            raise LabError(f"no data set is called {dataset!r}; there are {', '.join(DATASETS)}")
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
        parts = load_resources(options.make_setup(llm, embedder, preset, think))
        reader = None if parts.llm is None else LLMReader(parts.llm)
        with progress(f"{dataset}, {scheme}") as report:
            asked = run_consistency(loaded, system, parts, plan, reader, report)
        settings = {
            **loaded.settings,
            **parts.setup.as_settings,
            **({} if reader is None else reader.as_settings),
        }
        summary = summarise_consistency(asked, plan, dataset=loaded.name, scheme=scheme, settings=settings)
        options.save_result(summary, out)
    if as_json:
        options.print_json(summary)
    else:
        options.print_table(consistency_table(summary), f"compared: {summary['settings']['measured']}")


def _parse_choices(known: Sequence[DatasetOption], given: Sequence[str]) -> dict[str, Any]:
    """Every choice of the data set, as given or as it is by itself."""
    told = {each.name: each.default for each in known}
    several: dict[str, list[str]] = {}
    for word in given:
        name, _, value = word.partition("=")
        choice = next((each for each in known if each.name == name), None)
        if choice is None or (choice.values and value not in choice.values):
            offered = [f"{each.name}={'|'.join(each.values) or 'NUMBER'}" for each in known]
            raise LabError(f"--with {word}: this data set takes {', '.join(offered) or 'no choices'}")
        if choice.multiple:
            several.setdefault(name, []).append(value)
        else:
            told[name] = value if choice.values else _parse_number(value, word)
    return told | {name: tuple(values) for name, values in several.items()}


def _parse_number(value: str, word: str) -> int:
    if not value.isdecimal():
        raise LabError(f"--with {word}: a whole number is wanted")
    return int(value)


def timing(
    sizes: Annotated[
        list[int] | None,
        typer.Option(
            "--n", metavar="N", min=measuring.RECALL_K, help="How many memories; may be repeated [140, 1000]."
        ),
    ] = None,
    queries: Annotated[
        int, typer.Option("--queries", metavar="N", min=1, max=1000, help="How many are asked.")
    ] = measuring.DEFAULT_QUERIES,
    embedder: options.EmbedderOption = "minilm",
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Of the sentences and questions.")] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Also keep the result there, for `tables`.")
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """How long one retrieval takes, against pairwise similarity over the whole memory (TiM, table 4).

    Made-up sentences are told, questions asked, each way of retrieval in turn; the table shows the median
    milliseconds of one retrieval, embedding not counted, and in brackets what share of the five most similar
    memories came back. Compare within one run only: machines differ.

    \b
      python    a loop in Python: the naive baseline, up to 2000 memories
      pairwise  one numpy product over the whole memory
      group     TiM's hash and its one group, bare, in numpy
      tim       thinkback with the preset tim
      hybrid    thinkback as it is by default

    \b
    Examples:
      thinkback-lab eval timing
      thinkback-lab eval timing --n 140 --n 1000 --n 10000 --embedder hashing --out runs/timing
      thinkback-lab tables runs/timing --table tim-4
    """
    chosen = tuple(sizes or measuring.DEFAULT_SIZES)
    with options.exit_on_error(), progress("sizes") as report:
        with Memory.open(IN_MEMORY, embedder=embedder, background=False) as memory:
            told = measuring.measure_retrieval(
                memory.embedder, chosen, queries=queries, seed=seed, on_progress=report
            )
        told["settings"]["embedder"] = embedder
        words = ["--embedder", embedder, "--queries", str(queries), "--seed", str(seed)]
        told["command"] = shlex.join(
            [
                "thinkback-lab",
                "eval",
                "timing",
                *(word for size in chosen for word in ("--n", str(size))),
                *words,
            ]
        )
        if out is not None:
            head = {key: told[key] for key in ("dataset", "scheme", "settings")}
            with RunFolder(out, head, told["command"]) as folder:
                folder.finish(told)
    if as_json:
        options.print_json(told)
        return
    options.print_table(measuring.timing_table(told), measuring.LEGEND)


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
    llm: options.LlmOption = "none",
    embedder: options.EmbedderOption = "hashing",
    think: options.ThinkOption = "auto",
    seed: options.SeedOption = None,
    as_json: options.JsonOption = False,
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
    with options.exit_on_error():
        setup = options.make_setup(llm, embedder, "hybrid", think)
        domains = domain or list(DOMAINS)
        chosen = choose_dialogues(load_dialogues(data, domains, split), limit, seed)
        with progress("turns") as report:
            played = run_triples(chosen, setup, report)
    settings = {"domains": domains, "split": split, **setup.as_settings, "limit": limit, "seed": seed}
    summary = summarise_triples(played, settings)
    if as_json:
        options.print_json(summary)
        return
    told = summary["metrics"]
    options.print_table(
        triples_table(summary),
        f"left out: {told['about_user']} facts about the speakers, {told['from_prose']} found in prose only; "
        f"ascribed to the user: {told['misattributed']} facts of the world; "
        f"not thought over: {told['unthought']} turns",
    )
