"""Command line of the laboratory, `thinkback-lab`."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence
from typing import Any

import typer

from thinkback.cli.cluster import ClusterCommand
from thinkback_lab.commands.consult import consult
from thinkback_lab.commands.embedders import embedders
from thinkback_lab.commands.evaluate import command_for, schemes, suite
from thinkback_lab.commands.generate import generate
from thinkback_lab.commands.memory_tests import (
    chats,
    contradictions,
    determinism,
    lives,
    pairs,
    replay,
    safety,
    scenarios,
    sharded,
)
from thinkback_lab.commands.paper_experiments import classification, consistency, timing, triples
from thinkback_lab.commands.patients import patients
from thinkback_lab.commands.record import record
from thinkback_lab.commands.reranker import eval_reranker, mean_reranker, train_reranker
from thinkback_lab.commands.runs import compare, judge, tables
from thinkback_lab.commands.train import kinds, questions, requests, sentences, train_pairs
from thinkback_lab.commands.train import safety as train_safety
from thinkback_lab.commands.train_lora import examples, export, lora, merge, score
from thinkback_lab.commands.train_lora import generate as generate_replies
from thinkback_lab.commands.train_ranking import ranking
from thinkback_lab.commands.train_safety_network import safety_network
from thinkback_lab.datasets.registry import DATASETS

EXIT_INTERRUPTED = 130
_TYPER_SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "no_args_is_help": True,
    "rich_markup_mode": None,
    "context_settings": {"help_option_names": ["-h", "--help"], "max_content_width": 100},
}

app = typer.Typer(name="thinkback-lab", pretty_exceptions_enable=False, **_TYPER_SETTINGS)
evaluations = typer.Typer(help="Run one evaluation and print its results.", **_TYPER_SETTINGS)
app.add_typer(evaluations, name="eval")
for _entry in DATASETS.values():
    evaluations.command(_entry.name, short_help=_entry.description.split(":")[0] + ".")(command_for(_entry))
evaluations.command(short_help="The unit tests of memory.")(scenarios)
evaluations.command(short_help="Orders and secrets are not recalled, harmless texts are.")(safety)
evaluations.command(short_help="Long natural conversations: thoughts, recall, ablation.")(lives)
evaluations.command(short_help="Embedders by dense retrieval alone.")(embedders)
evaluations.command(short_help="Natural chats: right, honestly not told, or invented.")(chats)
evaluations.command(short_help="Contradictions in free prose are caught.")(contradictions)
evaluations.command(short_help="Compatible facts are kept, updated ones superseded.")(pairs)
evaluations.command(
    name="reranker", short_help="The cross-encoder: ranking, absent questions, outdated texts."
)(eval_reranker)
evaluations.command(short_help="Triples extracted from KdConv's dialogues.")(triples)
evaluations.command(short_help="Retrieval time against pairwise similarity.")(timing)
evaluations.command(short_help="Similarity of repeated recalls, by turn.")(consistency)
evaluations.command(short_help="Semantic or episodic: PerLTQA's table 4.")(classification)
evaluations.command(short_help="How much of a task given in shards is retained.")(sharded)
evaluations.command(short_help="The same turns give the same bytes.")(determinism)
app.command(cls=ClusterCommand, short_help="All data sets with several memory systems, one report.")(suite)
app.command(short_help="The memory systems that can be compared.")(schemes)
app.command(short_help="Compare runs with paired tests.")(compare)
app.command(short_help="Let models judge the answers of runs, blind.")(judge)
app.command(short_help="The papers' tables, filled from runs.")(tables)
app.command(short_help="Simulated consultations with fictional patients.")(consult)
app.command(short_help="Store the fictional patients on a server.")(patients)
app.command(short_help="Generate a persona world in PerLTQA's format.")(generate)
app.command(short_help="Replay scenarios into a database.")(replay)
app.command(short_help="Serve the OpenAI API from recorded replies.")(record)
training = typer.Typer(help="Train and evaluate a model that thinkback ships.", **_TYPER_SETTINGS)
app.add_typer(training, name="train")
training.command(short_help="The kind classifier of questions.")(kinds)
training.command(short_help="Which sentences of the user state lasting facts.")(sentences)
training.command(name="pairs", short_help="Is a newer sentence an update of an older one?")(train_pairs)
training.command(short_help="Does a message ask for something told before?")(questions)
training.command(short_help="Does a message want work of a language model?")(requests)
training.command(short_help="The weights with which recall ranks memories.")(ranking)
training.command(name="reranker", short_help="The cross-encoder of the preset careful.")(train_reranker)
training.command(name="reranker-mean", short_help="The mean of trained cross-encoders.")(mean_reranker)
training.command(name="safety", short_help="The detector of orders and secrets.")(train_safety)
training.command(name="safety-network", short_help="The same with the reranker's network.")(safety_network)
training.command(short_help="Training examples for a small model that reads turns.")(examples)
training.command(short_help="Tune a language model with LoRA.")(lora)
training.command(name="generate", short_help="Let a tuned model read examples.")(generate_replies)
training.command(short_help="Score what a tuned model read.")(score)
training.command(short_help="Write a LoRA adapter as a GGUF file.")(export)
training.command(short_help="Add a LoRA adapter to its base model.")(merge)


@app.callback()
def thinkback_lab() -> None:
    """Measure memory systems: replay data into a memory, ask questions, and score what is recalled.

    \b
    To begin:
      thinkback-lab generate --characters 5 --out worlds/five          generate test data with exact gold
      thinkback-lab eval perltqa --data worlds/five --scheme bm25      evaluate a memory system on it
      thinkback-lab suite --data DIR --out runs/all                    every data set, one report
      thinkback-lab eval scenarios scenarios/                          the unit tests of memory
    """


def expand_k_options(arguments: Sequence[str]) -> list[str]:
    """Rewrite `--k 1 3 5` to `--k 1 --k 3 --k 5`; click has no options with a variable number of values."""
    expanded: list[str] = []
    in_ks = False
    for argument in arguments:
        in_ks = argument == "--k" or (in_ks and argument.isdecimal())
        expanded += ["--k", argument] if in_ks and argument != "--k" else [] if in_ks else [argument]
    return expanded


def main() -> None:
    """Entry point. Exit status: 0 success, 1 error (one line on stderr), 2 wrong usage, 130 Ctrl-C."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(
            stream, io.TextIOWrapper
        ):  # a character that the terminal cannot show must not abort the command
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")
    try:
        app(expand_k_options(sys.argv[1:]), prog_name="thinkback-lab")
    except KeyboardInterrupt:
        sys.exit(EXIT_INTERRUPTED)
