"""The command line of the laboratory: it translates, the modules behind it decide."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import Any

import typer

from thinkback_lab.commands.consult import consult
from thinkback_lab.commands.evaluate import command_for, schemes, suite
from thinkback_lab.commands.generate import generate
from thinkback_lab.commands.memory_tests import determinism, pairs, replay, scenarios, sharded
from thinkback_lab.commands.paper_experiments import classification, consistency, timing, triples
from thinkback_lab.commands.runs import compare, judge, tables
from thinkback_lab.commands.train import kinds
from thinkback_lab.datasets.registry import DATASETS

EXIT_INTERRUPTED = 130
_TYPER_SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "no_args_is_help": True,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 100},
}

app = typer.Typer(name="thinkback-lab", pretty_exceptions_enable=False, **_TYPER_SETTINGS)
evaluations = typer.Typer(help="Run one evaluation and print its figures.", **_TYPER_SETTINGS)
app.add_typer(evaluations, name="eval")
for _entry in DATASETS.values():
    evaluations.command(_entry.name, short_help=_entry.description.split(":")[0] + ".")(command_for(_entry))
evaluations.command(short_help="The unit tests of memory.")(scenarios)
evaluations.command(short_help="Compatible facts stay, updated ones go.")(pairs)
evaluations.command(short_help="Triples drawn from KdConv's dialogues.")(triples)
evaluations.command(short_help="Retrieval time against pairwise similarity.")(timing)
evaluations.command(short_help="How alike repeated recalls are, by turn.")(consistency)
evaluations.command(short_help="Semantic or episodic: PerLTQA's table 4.")(classification)
evaluations.command(short_help="What is kept of a task told in shards.")(sharded)
evaluations.command(short_help="The same turns give the same bytes.")(determinism)
app.command(short_help="Every data set over several memory systems, one report.")(suite)
app.command(short_help="The memory systems that can be compared.")(schemes)
app.command(short_help="Runs side by side, with paired tests.")(compare)
app.command(short_help="Let models judge the answers of runs, blind.")(judge)
app.command(short_help="The papers' tables, filled from runs.")(tables)
app.command(short_help="Fictional patients, a doctor, and a memory.")(consult)
app.command(short_help="A persona world in PerLTQA's format.")(generate)
app.command(short_help="Tell scenarios to a database.")(replay)
training = typer.Typer(help="Make a model that thinkback ships anew, and measure it.", **_TYPER_SETTINGS)
app.add_typer(training, name="train")
training.command(short_help="Which kind of memory a question asks for.")(kinds)


@app.callback()
def thinkback_lab() -> None:
    """Measure memory: replay data into a memory, ask, and count what comes back.

    \b
    To begin:
      thinkback-lab generate --characters 5 --out worlds/five          a test bed with exact gold
      thinkback-lab eval perltqa --data worlds/five --scheme bm25      a memory system put to it
      thinkback-lab suite --data DIR --out runs/all                    every data set, one report
      thinkback-lab eval scenarios scenarios/                          the unit tests of memory
    """


def expand_k_options(words: Sequence[str]) -> list[str]:
    """`--k 1 3 5` as `--k 1 --k 3 --k 5`: an option of several values, which click does not have."""
    told: list[str] = []
    in_ks = False
    for word in words:
        in_ks = word == "--k" or (in_ks and word.isdecimal())
        told += ["--k", word] if in_ks and word != "--k" else [] if in_ks else [word]
    return told


def main() -> None:
    """The entry point: 0 done, 1 an error (one line on standard error), 2 used wrongly, 130 Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # what a terminal cannot show must not end the command
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
    try:
        app(expand_k_options(sys.argv[1:]), prog_name="thinkback-lab")
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
