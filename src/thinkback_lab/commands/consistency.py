"""`thinkback-lab eval consistency`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from thinkback_lab.commands import options
from thinkback_lab.consistency.run import Plan, play
from thinkback_lab.consistency.summary import summarise, table
from thinkback_lab.datasets.registry import DATASETS, Choice
from thinkback_lab.errors import LabError
from thinkback_lab.progress import progress
from thinkback_lab.reader import ModelReader
from thinkback_lab.schemes.embedder import kit
from thinkback_lab.schemes.registry import find

_PLAN = Plan()


def consistency(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help=f"One of {', '.join(DATASETS)}.")],
    chosen: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="NAME=VALUE", help="A choice of the data set, as --with lang=cn."),
    ] = None,
    data: options.Data = None,
    scheme: options.SchemeName = "thinkback",
    preset: options.Preset = "hybrid",
    llm: options.Llm = "none",
    embedder: options.Embedder = "minilm",
    think: options.ThinkBy = "auto",
    turns: Annotated[
        list[int] | None,
        typer.Option(
            "--turn", metavar="N", min=1, help=f"Ask after N items; may be repeated; else {_PLAN.turns}."
        ),
    ] = None,
    wordings: Annotated[
        int, typer.Option("--wordings", metavar="N", help="How often each question is asked.")
    ] = _PLAN.wordings,
    questions: Annotated[
        int, typer.Option("--questions", metavar="N", help="At most so many questions of a case at a turn.")
    ] = _PLAN.questions,
    short: Annotated[
        int, typer.Option("--short", metavar="N", help="A dialogue of more items than this is a long one.")
    ] = _PLAN.short,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Chooses the questions.")] = _PLAN.seed,
    out: options.Keep = None,
    as_json: options.AsJson = False,
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
    with options.one_line_errors():
        if dataset not in DATASETS:
            raise LabError(f"no data set is called {dataset!r}; there are {', '.join(DATASETS)}")
        plan = Plan(
            turns=tuple(turns or _PLAN.turns), wordings=wordings, questions=questions, short=short, seed=seed
        )
        system = find(scheme)
        entry = DATASETS[dataset]
        loaded = entry.load(data, **_choices(entry.choices, chosen or ()))
        parts = kit(options.setup_of(llm, embedder, preset, think))
        reader = None if parts.llm is None else ModelReader(parts.llm)
        with progress(f"{dataset}, {scheme}") as report:
            asked = play(loaded, system, parts, plan, reader, report)
        settings = {**loaded.settings, **parts.setup.told, **({} if reader is None else reader.told)}
        summary = summarise(asked, plan, dataset=loaded.name, scheme=scheme, settings=settings)
        options.keep(summary, out)
    if as_json:
        options.show_json(summary)
    else:
        options.show_table(table(summary), f"compared: {summary['settings']['measured']}")


def _choices(known: Sequence[Choice], given: Sequence[str]) -> dict[str, Any]:
    """Every choice of the data set, as given or as it is by itself."""
    told = {each.name: each.default for each in known}
    several: dict[str, list[str]] = {}
    for word in given:
        name, _, value = word.partition("=")
        choice = next((each for each in known if each.name == name), None)
        if choice is None or (choice.values and value not in choice.values):
            offered = [f"{each.name}={'|'.join(each.values) or 'NUMBER'}" for each in known]
            raise LabError(f"--with {word}: this data set takes {', '.join(offered) or 'no choices'}")
        if choice.many:
            several.setdefault(name, []).append(value)
        else:
            told[name] = value if choice.values else _number(value, word)
    return told | {name: tuple(values) for name, values in several.items()}


def _number(value: str, word: str) -> int:
    if not value.isdecimal():
        raise LabError(f"--with {word}: a whole number is wanted")
    return int(value)
