"""`thinkback-lab eval NAME` for every data set of the registry: a memory system is told, asked and scored."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import typer

from thinkback_lab.commands import options
from thinkback_lab.datasets.registry import Choice, Entry
from thinkback_lab.progress import progress
from thinkback_lab.reader import ModelReader
from thinkback_lab.report.page import write_report
from thinkback_lab.runs.folder import REPORT
from thinkback_lab.runs.run import KS, Job
from thinkback_lab.runs.start import Named, choose, finish, place
from thinkback_lab.schemes.embedder import kit
from thinkback_lab.schemes.registry import find
from thinkback_lab.schemes.scheme import Kit
from thinkback_lab.stage import Setup

if TYPE_CHECKING:
    from rich.table import Table

EXAMPLES = {
    "gvd": ("--lang cn --scheme bm25 --json", "--llm local:qwen-coder-1.5b --limit 30 --seed 1"),
    "kdconv": ("--domain travel --split dev --k 1 3 5 10", "--domain film --scheme last:5 --json"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The options that every evaluation takes, as they were given."""

    data: options.Data = None
    scheme: options.SchemeName = "thinkback"
    preset: options.Preset = "hybrid"
    llm: options.Llm = "none"
    embedder: options.Embedder = "minilm"
    think: options.ThinkBy = "auto"
    k: options.Ks = None
    limit: options.Limit = None
    seed: options.Seed = None
    out: options.Out = None
    fresh: options.Fresh = False
    as_json: options.AsJson = False

    @property
    def ks(self) -> tuple[int, ...]:
        return tuple(sorted(set(self.k or KS)))

    @property
    def setup(self) -> Setup:
        return options.setup_of(self.llm, self.embedder, self.preset, self.think)


def command_for(entry: Entry) -> Callable[..., None]:
    """The command of one data set: its own choices, then the options that all have."""

    def command(**given: Any) -> None:
        told = {each.name: given.pop(each.name) for each in entry.choices}
        choices = {
            each.name: each.default if told[each.name] in (None, []) else told[each.name]
            for each in entry.choices
        }
        evaluate(entry, choices, Asked(**given))

    hints = get_type_hints(Asked, include_extras=True)
    common = [
        Parameter(each.name, Parameter.KEYWORD_ONLY, default=each.default, annotation=hints[each.name])
        for each in fields(Asked)
    ]
    parameters = [*map(_parameter, entry.choices), *common]
    command.__name__ = entry.name
    command.__doc__ = _help(entry)
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return command


def evaluate(entry: Entry, choices: Mapping[str, Any], asked: Asked) -> None:
    """Load, run (or go on), write the report, show the figures."""
    with options.one_line_errors():
        named = prepared(entry, choices, asked, kit(asked.setup))
        folder = place(named, asked.out, fresh=asked.fresh)
        with progress(f"{entry.name}, {asked.scheme}") as report:
            results = finish(named, folder, report)
        write_report([folder], folder / REPORT, named.job.kit.embedder.embed)
    if asked.as_json:
        options.show_json(results)
        sys.stderr.write(f"{folder}\n")
    else:
        options.show_table(table(results), f"{results['n']} questions; kept in {folder}, see {REPORT} there")


def prepared(entry: Entry, choices: Mapping[str, Any], asked: Asked, parts: Kit) -> Named:
    """The run that was asked for, ready to begin or to go on."""
    scheme = find(asked.scheme)
    dataset = choose(entry.load(asked.data, **choices), asked.limit, asked.seed)
    reader = None if parts.llm is None else ModelReader(parts.llm)
    settings = {**parts.setup.told, "limit": asked.limit, "seed": asked.seed}
    return Named(
        job=Job(dataset, scheme, parts, asked.ks, reader),
        scheme=asked.scheme,
        settings=settings if reader is None else {**settings, **reader.told},
        command=_command(entry, choices, asked),
    )


def table(results: Mapping[str, Any]) -> Table:
    """Every figure with its 95% interval."""
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


def _parameter(choice: Choice) -> Parameter:
    kind: Any = list[str] | None if choice.many else Literal[choice.values] if choice.values else int
    default = None if choice.many else choice.default
    said = f"{choice.help} May be repeated; else all." if choice.many else choice.help
    shown = f"[{'|'.join(choice.values)}]" if choice.many else None
    option = typer.Option(_flag(choice.name), metavar=shown, help=said)
    return Parameter(choice.name, Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, option])


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _help(entry: Entry) -> str:
    examples = EXAMPLES.get(entry.name, ("--scheme bm25 --json", "--k 1 5 --limit 100 --seed 7"))
    lines = "\n".join(f"  thinkback-lab eval {entry.name} --data DIR {each}" for each in examples)
    return f"{entry.about}\n\n{entry.origin}.\n\n\b\nExamples:\n{lines}\n"


def _command(entry: Entry, choices: Mapping[str, Any], asked: Asked) -> str:
    """The command that makes this run anew, elsewhere."""
    words = ["thinkback-lab", "eval", entry.name]
    for choice in entry.choices:
        values = choices[choice.name]
        for value in values if choice.many else [values]:
            words += [_flag(choice.name), str(value)]
    for each in fields(Asked):
        value = getattr(asked, each.name)
        if each.name in ("out", "fresh", "as_json", "k") or value == each.default:
            continue
        words += [_flag(each.name), str(value)]
    if asked.ks != KS:
        words += ["--k", *map(str, asked.ks)]
    return shlex.join(words)
