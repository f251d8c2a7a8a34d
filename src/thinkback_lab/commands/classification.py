"""`thinkback-lab eval classification`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from thinkback import LLM, Memory
from thinkback_lab.cases import Dataset
from thinkback_lab.classification import Classifier, classify, split, summarise
from thinkback_lab.commands import options
from thinkback_lab.datasets import perltqa
from thinkback_lab.errors import LabError
from thinkback_lab.models import opened
from thinkback_lab.progress import progress
from thinkback_lab.schemes.classifier import Asked, Learned, Shipped, examples, half, shots
from thinkback_lab.stage import IN_MEMORY

if TYPE_CHECKING:
    from rich.table import Table

_BY_MODEL: dict[str, Callable[[LLM], Classifier]] = {
    "zero": Asked,
    "few": lambda llm: Asked(llm, shots()),
}


def classification(
    by: Annotated[
        Literal["learned", "shipped", "examples", "zero", "few"],
        typer.Option(
            "--by", help="Learned from the other questions; thinkback's own; of our examples; a model's word."
        ),
    ] = "learned",
    lang: Annotated[Literal["en", "zh"], typer.Option("--lang", help="English or Chinese.")] = "en",
    data: options.Data = None,
    llm: options.Llm = "none",
    embedder: options.Embedder = "minilm",
    test: Annotated[
        float, typer.Option("--test", metavar="SHARE", min=0.001, max=0.999, help="How many are tested on.")
    ] = 0.2,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Chooses which are tested on.")] = 0,
    out: options.Keep = None,
    as_json: options.AsJson = False,
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
    with options.one_line_errors(), ExitStack() as stack:
        if (llm == "none") == (by in _BY_MODEL):
            raise LabError("--by zero and --by few ask the model that --llm names; the others ask none")
        learn, tested = split(perltqa.load(data, lang), test, seed)
        classifier: Classifier
        if by in _BY_MODEL:
            classifier = _BY_MODEL[by](stack.enter_context(opened(llm)))
        elif by == "shipped":
            memory = stack.enter_context(Memory.open(IN_MEMORY, embedder=embedder, background=False))
            classifier = Shipped(memory.embedder).kinds
        else:
            classifier = _learned(by, learn)
        with progress("questions") as report:
            told = classify(tested, classifier, report)
        settings = {**tested.settings, "llm": llm, "test": test, "seed": seed}
        if by == "shipped":
            settings["embedder"] = embedder
        summary = summarise(told, classifier=by, settings=settings, dataset=tested.name)
        options.keep(summary, out)
    if as_json:
        options.show_json(summary)
        return
    options.show_table(_table(summary), f"{summary['n']} questions; nothing said of {summary['unsaid']}")


def _learned(by: str, learn: Dataset) -> Classifier:
    if by == "examples":
        return Learned(examples())
    return Learned(
        (each.text, half(each.kind)) for case in learn.cases for each in case.questions if each.kind
    )


def _table(summary: Mapping[str, Any]) -> Table:
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
