"""`thinkback-lab eval DATASET`, `thinkback-lab suite` and `thinkback-lab schemes`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from inspect import Parameter, Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from thinkback.cli.cluster import RayOption
from thinkback_lab.commands import options
from thinkback_lab.datasets.registry import DATASETS, DatasetEntry, DatasetOption, find_dataset
from thinkback_lab.errors import DatasetNotFound, LabError
from thinkback_lab.harness import Setup
from thinkback_lab.progress import progress
from thinkback_lab.reader import LLMReader
from thinkback_lab.report.multi_run import markdown_tables
from thinkback_lab.report.writer import write_report
from thinkback_lab.runs.finished_runs import read_finished_runs
from thinkback_lab.runs.folder import REPORT_FILE
from thinkback_lab.runs.runner import (
    DEFAULT_RANKS,
    Job,
    RunSpec,
    choose_folder,
    choose_questions,
    complete_run,
    slug,
)
from thinkback_lab.systems.interface import Resources
from thinkback_lab.systems.registry import describe_systems, find_system
from thinkback_lab.systems.resources import load_resources

if TYPE_CHECKING:
    from rich.table import Table


EXAMPLES = {
    "gvd": ("--lang cn --scheme bm25 --json", "--llm local:qwen-coder-1.5b --limit 30 --seed 1"),
    "kdconv": ("--domain travel --split dev --k 1 3 5 10", "--domain film --scheme last:5 --json"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class EvaluationOptions:
    """The options that every data set evaluation shares."""

    data: options.DataOption = None
    scheme: options.SchemeOption = "thinkback"
    preset: options.PresetOption = "hybrid"
    llm: options.LlmOption = "none"
    embedder: options.EmbedderOption = "minilm"
    think: options.ThinkOption = "auto"
    k: options.RanksOption = None
    limit: options.LimitOption = None
    seed: options.SeedOption = None
    out: options.RunFolderOption = None
    fresh: options.FreshOption = False
    as_json: options.JsonOption = False

    @property
    def ks(self) -> tuple[int, ...]:
        return tuple(sorted(set(self.k or DEFAULT_RANKS)))

    @property
    def setup(self) -> Setup:
        return options.make_setup(self.llm, self.embedder, self.preset, self.think)


def command_for(entry: DatasetEntry) -> Callable[..., None]:
    """Build the command of one data set: its own options, then the shared ones."""

    def command(**values: Any) -> None:
        options = {each.name: values.pop(each.name) for each in entry.choices}
        choices = {
            each.name: each.default if options[each.name] in (None, []) else options[each.name]
            for each in entry.choices
        }
        evaluate(entry, choices, EvaluationOptions(**values))

    hints = get_type_hints(EvaluationOptions, include_extras=True)
    common = [
        Parameter(each.name, Parameter.KEYWORD_ONLY, default=each.default, annotation=hints[each.name])
        for each in fields(EvaluationOptions)
    ]
    parameters = [*map(_choice_parameter, entry.choices), *common]
    command.__name__ = entry.name
    command.__doc__ = _command_help(entry)
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return command


def evaluate(entry: DatasetEntry, choices: Mapping[str, Any], options_given: EvaluationOptions) -> None:
    """Load the data, start or resume the run, write the report and print the scores."""
    with options.exit_on_error():
        spec = prepare_run(entry, choices, options_given, load_resources(options_given.setup))
        folder = choose_folder(spec, options_given.out, fresh=options_given.fresh)
        with progress(f"{entry.name}, {options_given.scheme}") as report:
            results = complete_run(spec, folder, report)
        write_report([folder], folder / REPORT_FILE, spec.job.resources.embedder.embed)
    if options_given.as_json:
        options.print_json(results)
        sys.stderr.write(f"{folder}\n")
    else:
        options.print_table(
            results_table(results), f"{results['n']} questions; saved in {folder}, see {REPORT_FILE} there"
        )


def prepare_run(
    entry: DatasetEntry, choices: Mapping[str, Any], chosen: EvaluationOptions, resources: Resources
) -> RunSpec:
    """Load the data set and the memory system of a run."""
    scheme = find_system(chosen.scheme)
    dataset = choose_questions(entry.load(chosen.data, **choices), chosen.limit, chosen.seed)
    reader = None if resources.llm is None else LLMReader(resources.llm)
    settings = {**resources.setup.as_settings, "limit": chosen.limit, "seed": chosen.seed}
    return RunSpec(
        job=Job(dataset, scheme, resources, chosen.ks, reader),
        scheme=chosen.scheme,
        settings=settings if reader is None else {**settings, **reader.as_settings},
        command=_command_line(entry, choices, chosen),
    )


def results_table(results: Mapping[str, Any]) -> Table:
    """All metrics with their 95% intervals."""
    from rich.table import Table

    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column(f"{results['dataset']}, {results['scheme']}")
    for title in ("mean", "95%", "questions"):
        grid.add_column(title, justify="right")
    for name, mean in results["metrics"].items():
        low, high = results["intervals"][name]
        grid.add_row(name, f"{mean:.3f}", f"{low:.3f} to {high:.3f}", str(results["counts"][name]))
    grid.add_row("ms a question", f"{results['ms_per_query']:.3f}", "", str(results["n"]))
    return grid


def _choice_parameter(choice: DatasetOption) -> Parameter:
    kind: Any = list[str] | None if choice.multiple else Literal[choice.values] if choice.values else int
    default = None if choice.multiple else choice.default
    help_text = f"{choice.help} May be repeated; default: all." if choice.multiple else choice.help
    metavar = f"[{'|'.join(choice.values)}]" if choice.multiple else None
    option = typer.Option(_option_flag(choice.name), metavar=metavar, help=help_text)
    return Parameter(choice.name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option])


def _option_flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _command_help(entry: DatasetEntry) -> str:
    examples = EXAMPLES.get(entry.name, ("--scheme bm25 --json", "--k 1 5 --limit 100 --seed 7"))
    lines = "\n".join(f"  thinkback-lab eval {entry.name} --data DIR {each}" for each in examples)
    return f"{entry.description}\n\n{entry.origin}.\n\n\b\nExamples:\n{lines}\n"


def _command_line(entry: DatasetEntry, choices: Mapping[str, Any], chosen: EvaluationOptions) -> str:
    """The command line that reproduces this run."""
    words = ["thinkback-lab", "eval", entry.name]
    for choice in entry.choices:
        values = choices[choice.name]
        for value in values if choice.multiple else [values]:
            words += [_option_flag(choice.name), str(value)]
    for each in fields(EvaluationOptions):
        value = getattr(chosen, each.name)
        if each.name in ("out", "fresh", "as_json", "k") or value == each.default:
            continue
        words += [_option_flag(each.name), str(value)]
    if chosen.ks != DEFAULT_RANKS:
        words += ["--k", *map(str, chosen.ks)]
    return shlex.join(words)


SUITE_SCHEMES = ("none", "raw", "bm25", "dense", "memorybank", "scm", "fuzzy-original", "tim", "thinkback")


def suite(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder for runs and report.")],
    data: options.DataOption = None,
    scheme: Annotated[
        list[str] | None,
        typer.Option(
            "--scheme", metavar="NAME", help="A memory system; may be repeated. Default: nine of them."
        ),
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option(
            "--dataset", metavar="NAME", help="Only this data set, or a part of it (gvd:cn); may be repeated."
        ),
    ] = None,
    preset: options.PresetOption = "hybrid",
    llm: options.LlmOption = "none",
    embedder: options.EmbedderOption = "minilm",
    think: options.ThinkOption = "auto",
    limit: options.LimitOption = None,
    seed: options.SeedOption = None,
    ray: RayOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Evaluate several memory systems on every available data set and write one report.

    Each run has its own folder and report under --out; run the same command again to resume after an
    interruption. Data sets that are not found are listed on standard error. Tables are written to results.md,
    plots to report.html.

    With --ray, each run is a task on a node of a cluster. The nodes need the data at the same path (or
    THINKBACK_DATA) and the models. Compare times only between runs that had a machine for themselves.

    \b
    Examples:
      thinkback-lab suite --data DIR --out runs/all
      thinkback-lab suite --data DIR --out runs/words --scheme bm25 --scheme thinkback --dataset gvd
      thinkback-lab suite --data DIR --out runs/all --ray 10.0.0.1:6379
    """
    base_options = EvaluationOptions(
        data=data, preset=preset, llm=llm, embedder=embedder, think=think, limit=limit, seed=seed
    )
    folders: list[Path] = []
    results: list[dict[str, Any]] = []
    with options.exit_on_error():
        parts = suite_parts(scheme or list(SUITE_SCHEMES), dataset or list(DATASETS))
        if ray is None:
            runs = _complete_here(parts, base_options, out)
        else:
            from thinkback_lab.commands.suite_cluster import complete_on_cluster

            runs = complete_on_cluster(ray, parts, base_options, out)
        for folder, result in runs:
            folders.append(folder)
            results.append(result)
            write_report([folder], folder / REPORT_FILE)
        if not results:
            raise LabError("no data set was found: give --data, or set THINKBACK_DATA")
        write_report(folders, out / REPORT_FILE)
        page = markdown_tables(read_finished_runs(folders))
        (out / "results.md").write_text(page, encoding="utf-8")
    if as_json:
        options.print_json({"runs": results})
    else:
        sys.stdout.write(f"{page}\n{len(results)} runs in {out}; see {REPORT_FILE} there\n")


@dataclass(frozen=True, slots=True)
class SuitePart:
    """One run of a suite: a data set, or a part of it, with one memory system."""

    entry: DatasetEntry
    choices: Mapping[str, Any]
    scheme: str

    @property
    def data_label(self) -> str:
        return f"{self.entry.name} {self.entry.part_name(self.choices)}".strip()

    @property
    def label(self) -> str:
        return f"{self.data_label}, {self.scheme}"


def suite_parts(schemes: Sequence[str], datasets: Sequence[str]) -> list[SuitePart]:
    """All runs of a suite. Unknown data sets and schemes are rejected."""
    selected = [find_dataset(dataset) for dataset in datasets]
    for scheme in schemes:
        find_system(scheme)
    return [
        SuitePart(entry, choices, scheme)
        for entry, parts in selected
        for choices in parts
        for scheme in schemes
    ]


def _complete_here(
    parts: Sequence[SuitePart], base_options: EvaluationOptions, out: Path
) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield folder and results of each run. Models are loaded once, and every text is embedded once."""
    resources = load_resources(base_options.setup)
    skipped: set[str] = set()
    for part in parts:
        if part.data_label in skipped:
            continue
        chosen = replace(base_options, scheme=part.scheme)
        try:
            spec = prepare_run(part.entry, part.choices, chosen, resources)
        except DatasetNotFound as error:
            skipped.add(part.data_label)
            sys.stderr.write(f"skipped: {part.data_label}: {error}\n")
            continue
        folder = out / slug(part.label)
        with progress(part.label) as report:
            results = complete_run(spec, folder, report)
        yield folder, results


def schemes(as_json: options.JsonOption = False) -> None:
    """List the memory systems that `--scheme` accepts; docs/lab.md shows how to add your own.

    \b
    Examples:
      thinkback-lab schemes
      thinkback-lab eval gvd --data DIR --scheme memorybank
      thinkback-lab eval gvd --data DIR --scheme newest.py:Newest
    """
    from rich.table import Table

    systems = describe_systems()
    if as_json:
        options.print_json(systems)
        return
    grid = Table(box=None, pad_edge=False, header_style="bold")
    grid.add_column("scheme")
    grid.add_column("what it is")
    for name, about in systems.items():
        grid.add_row(name, about)
    options.print_table(grid, "or module:Name, file.py:Name")
