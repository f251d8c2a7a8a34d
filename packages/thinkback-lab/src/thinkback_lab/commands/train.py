"""`thinkback-lab train`: kinds, sentences, pairs, questions, requests, safety."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

from thinkback import Memory
from thinkback.network.cross_encoder import get_cross_encoder
from thinkback_lab.commands import options
from thinkback_lab.datasets.memories import read_memories
from thinkback_lab.datasets.safety import SafetyCase, read_safety_cases
from thinkback_lab.errors import LabError
from thinkback_lab.evaluations.pairs import Pair, read_pairs
from thinkback_lab.evaluations.safety import user_sentences
from thinkback_lab.harness import IN_MEMORY
from thinkback_lab.progress import progress
from thinkback_lab.training.kind_classifier import train_kind_model
from thinkback_lab.training.question_classifier import read_messages, train_question_model
from thinkback_lab.training.request_classifier import (
    memory_questions,
    read_wanted_messages,
    train_request_model,
)
from thinkback_lab.training.safety_detector import harmless_texts, train_safety_model
from thinkback_lab.training.sentence_classifier import (
    PAIR_STATEMENT_WEIGHT,
    PlainStatement,
    read_lives,
    read_statements,
    train_sentence_model,
)
from thinkback_lab.training.update_scorer import STATEMENT_DAYS, LabelledPair, train_update_model

if TYPE_CHECKING:
    from rich.table import Table


def kinds(
    characters: Annotated[
        int, typer.Option("--characters", metavar="N", min=1, help="Number of characters per language.")
    ] = 40,
    seed: Annotated[
        int, typer.Option("--seed", metavar="S", help="Seed of the worlds and of the split.")
    ] = 0,
    embedder: options.EmbedderOption = "minilm",
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Write the model there (.npz).")
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Train the kind classifier that thinkback ships: which kind of memory does a question ask for?

    It is trained on questions of generated worlds and on handwritten ones, in English and Chinese, and tested
    on worlds of another seed and on a held-out fifth of the handwritten questions.

    \b
    Examples:
      thinkback-lab train kinds --json
      thinkback-lab train kinds --out src/thinkback/recall/kinds.npz
    """
    with options.exit_on_error():
        check_model_path(out)
        with (
            Memory.open(IN_MEMORY, embedder=embedder, background=False) as memory,
            progress("vectors") as report,
        ):
            trained = train_kind_model(memory.embedder, characters, seed, report)
        save_model(trained.model, out)
    settings = {"characters": characters, "seed": seed, "embedder": trained.model.embedder}
    summary = {"settings": settings, "out": None if out is None else str(out), **trained.figures}
    if as_json:
        options.print_json(summary)
    else:
        options.print_table(_training_table(trained.figures), f"{summary['learned']} training questions")


LivesArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="LIVES...",
        help="Lives to train on: train, .jsonl files, .json files of one life, or folders.",
    ),
]
DevelopmentOption = Annotated[
    str, typer.Option("--dev", metavar="LIVES", help="Lives on which the thresholds are chosen and scored.")
]
PairsOption = Annotated[
    list[Path] | None,
    typer.Option("--pairs", metavar="FILE", help="Pairs of statements to train on; may be repeated."),
]
ModelOption = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write the model there (.npz).")
]


def sentences(
    lives: LivesArgument,
    dev: DevelopmentOption = "dev",
    data: options.DataOption = None,
    embedder: Annotated[
        list[str] | None,
        typer.Option(
            "--embedder", metavar="SPEC", help="Embedder to train with; may be given several times."
        ),
    ] = None,
    pairs: PairsOption = None,
    out: ModelOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Train the sentence classifier that thinkback ships: which sentences of the user state lasting facts?

    Prints, for each embedder and for the text alone: coverage of the gold facts, silence on turns without
    facts, and the share of kept sentences that contain a gold quote. Handwritten plain statements, and those
    of pair files, are learned too.

    \b
    Examples:
      thinkback-lab train sentences train --json
      thinkback-lab train sentences train more/ --out src/thinkback/think/models/sentences.npz
    """
    with options.exit_on_error(), ExitStack() as stack:
        check_model_path(out)
        embedders = [
            stack.enter_context(Memory.open(IN_MEMORY, embedder=spec, background=False)).embedder
            for spec in (["use"] if embedder is None else embedder)
        ]
        statements = [*read_statements(), *_pair_statements(read_pairs(pairs) if pairs else ())]
        with progress("vectors") as report:
            trained = train_sentence_model(
                read_lives(lives, data), read_lives([dev], data), embedders, statements, report
            )
        save_model(trained.model, out)
    settings = {"lives": lives, "dev": dev, "embedders": [each.name for each in embedders]}
    summary = {"settings": settings, "out": None if out is None else str(out), **trained.figures}
    if as_json:
        options.print_json(summary)
    else:
        options.print_table(
            _sentence_table(trained.figures), f"{trained.figures['pieces']} training sentences"
        )


NO_FACT_CATEGORIES = frozenset(("question", "condition", "hearsay"))
"""Of compatible pairs: the second statement is no fact about the user."""


def _pair_statements(pairs: Iterable[Pair]) -> Iterator[PlainStatement]:
    """The distinct statements of pairs that state a fact."""
    seen: set[str] = set()
    for pair in pairs:
        texts = (pair.first,) if pair.category in NO_FACT_CATEGORIES else (pair.first, pair.then)
        for text in texts:
            if text not in seen:
                seen.add(text)
                yield PlainStatement(text, pair.lang, lasting=True, weight=PAIR_STATEMENT_WEIGHT)


def _labelled_pairs(pairs: Iterable[Pair]) -> Iterator[LabelledPair]:
    """Pairs of statements with their question; the first statement stands for that of a compatible pair."""
    for pair in pairs:
        question = pair.question or pair.first
        yield LabelledPair(pair.first, pair.then, question, STATEMENT_DAYS, pair.kind == "update")


def train_pairs(
    lives: LivesArgument,
    dev: DevelopmentOption = "dev",
    data: options.DataOption = None,
    embedder: options.EmbedderOption = "minilm",
    pairs: PairsOption = None,
    out: ModelOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Train the pair scorer that thinkback ships: is a newer sentence an update of an older one?

    Prints the area under the curve, and precision and recall of the label above several thresholds.

    \b
    Examples:
      thinkback-lab train pairs train --json
      thinkback-lab train pairs train more/ --out src/thinkback/language/models/updates.npz
    """
    with options.exit_on_error():
        check_model_path(out)
        with (
            Memory.open(IN_MEMORY, embedder=embedder, background=False) as memory,
            progress("vectors") as report,
        ):
            trained = train_update_model(
                read_lives(lives, data),
                read_lives([dev], data),
                memory.embedder,
                list(_labelled_pairs(read_pairs(pairs))) if pairs else (),
                report,
            )
        save_model(trained.model, out)
    settings = {"lives": lives, "dev": dev, "embedder": memory.embedder.name}
    summary = {"settings": settings, "out": None if out is None else str(out), **trained.figures}
    if as_json:
        options.print_json(summary)
    else:
        options.print_table(_pair_table(trained.figures), f"{trained.figures['pairs']} training pairs")


LabelledMessagesArgument = Annotated[
    list[Path], typer.Argument(metavar="FILE", help="Labelled messages: JSON lines files, or folders.")
]
MoreLivesOption = Annotated[
    list[str] | None,
    typer.Option("--lives", metavar="LIVES", help="Lives to learn from too; may be repeated."),
]
MemoriesOption = Annotated[
    list[Path] | None,
    typer.Option("--memories", metavar="FILE", help="Memories to learn from too; may be repeated."),
]


def questions(
    files: LabelledMessagesArgument,
    requests: Annotated[
        list[Path] | None,
        typer.Option(
            "--requests",
            metavar="FILE",
            help="Messages of `train requests` to learn from too, but those for a model; may be repeated.",
        ),
    ] = None,
    lives: MoreLivesOption = None,
    memories: MemoriesOption = None,
    pairs: PairsOption = None,
    data: options.DataOption = None,
    out: ModelOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Train the question classifier that thinkback ships: does a message ask for something told before?

    Prints, above several thresholds, the share of questions found and of other messages taken for one, each
    on messages left out, by words alone and with the network. Needs the package thinkback-reranker.

    \b
    Examples:
      thinkback-lab train questions scenarios/questions --json
      thinkback-lab train questions scenarios/questions --requests scenarios/requests \\
          --lives train --lives scenarios/lives/train.jsonl --lives scenarios/lives/train2.jsonl \\
          --memories scenarios/memories --pairs scenarios/pairs/compatible.jsonl \\
          --pairs scenarios/pairs/updates.jsonl --out src/thinkback/recall/questions.npz
    """
    with options.exit_on_error():
        check_model_path(out)
        statements = [*read_statements(), *_pair_statements(read_pairs(pairs) if pairs else ())]
        trained = train_question_model(
            [*read_messages(files), *memory_questions(read_wanted_messages(requests) if requests else ())],
            statements,
            read_lives(lives or ["train"], data),
            read_memories(memories) if memories else (),
            get_cross_encoder(),
        )
        save_model(trained.model, out)
    settings: dict[str, list[str]] = {"files": [str(path) for path in files], "lives": lives or ["train"]}
    settings |= {"requests": [str(path) for path in requests or ()]}
    settings |= {"memories": [str(path) for path in memories or ()]}
    summary = {"settings": settings, "out": None if out is None else str(out), **trained.figures}
    if as_json:
        options.print_json(summary)
    else:
        options.print_table(_message_table(trained.figures), f"{trained.figures['examples']} examples")


def requests(
    files: LabelledMessagesArgument,
    questions: Annotated[
        list[Path] | None,
        typer.Option(
            "--questions",
            metavar="FILE",
            help="Messages of `train questions`: those not labelled here are no requests; may be repeated.",
        ),
    ] = None,
    lives: MoreLivesOption = None,
    memories: MemoriesOption = None,
    pairs: PairsOption = None,
    data: options.DataOption = None,
    out: ModelOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Train the request classifier that thinkback ships: does a message want work of a language model?

    Prints, above several thresholds, the share of requests found and of other messages taken for one, each
    on messages left out, by words alone and with the network. Needs the package thinkback-reranker.

    \b
    Examples:
      thinkback-lab train requests scenarios/requests --json
      thinkback-lab train requests scenarios/requests --questions scenarios/questions --lives train \\
          --lives scenarios/lives/train.jsonl --lives scenarios/lives/train2.jsonl \\
          --memories scenarios/memories --pairs scenarios/pairs/compatible.jsonl \\
          --pairs scenarios/pairs/updates.jsonl --out src/thinkback/recall/requests.npz
    """
    with options.exit_on_error():
        check_model_path(out)
        statements = [*read_statements(), *_pair_statements(read_pairs(pairs) if pairs else ())]
        trained = train_request_model(
            read_wanted_messages(files),
            read_messages(questions) if questions else (),
            statements,
            read_lives(lives or ["train"], data),
            read_memories(memories) if memories else (),
            get_cross_encoder(),
        )
        save_model(trained.model, out)
    settings = {"files": [str(path) for path in files], "lives": lives or ["train"]}
    settings |= {"questions": [str(path) for path in questions or ()]}
    settings |= {"memories": [str(path) for path in memories or ()]}
    summary = {"settings": settings, "out": None if out is None else str(out), **trained.figures}
    if as_json:
        options.print_json(summary)
    else:
        options.print_table(_message_table(trained.figures), f"{trained.figures['examples']} examples")


SafetyFilesArgument = Annotated[
    list[Path], typer.Argument(metavar="FILE", help="Labelled texts (JSON lines), one style per file.")
]
TalkOption = Annotated[
    list[str] | None,
    typer.Option("--talk", metavar="LIVES", help="Lives whose messages are harmless; may be repeated."),
]


def read_safety_files(
    files: Iterable[Path], folders: Iterable[Path] | None
) -> tuple[dict[str, list[SafetyCase]], dict[str, list[SafetyCase]]]:
    """The texts of each file, and those of each file in the folders of `--values`."""
    more = sorted(path for folder in folders or () for path in folder.glob("*.jsonl"))
    cases, value_cases = (
        {path.stem: read_safety_cases([path]) for path in paths} for paths in (sorted(files), more)
    )
    return cases, value_cases


def safety(
    files: SafetyFilesArgument,
    talk: TalkOption = None,
    values: Annotated[
        list[Path] | None,
        typer.Option(
            "--values",
            metavar="FOLDER",
            help="Texts with secret and harmless values, from which only the scores of values are learned.",
        ),
    ] = None,
    dev: DevelopmentOption = "dev",
    data: options.DataOption = None,
    out: ModelOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Train the detector of orders and secrets that thinkback ships.

    Prints which share is found and which share of harmless texts is taken for one, each on files left out.

    \b
    Examples:
      thinkback-lab train safety scenarios/safety/*.jsonl --talk train --json
      thinkback-lab train safety scenarios/safety/*.jsonl --values scenarios/safety/values --talk train \\
          --talk scenarios/lives/train.jsonl --talk scenarios/lives/train2.jsonl \\
          --out src/thinkback/language/models/safety.npz
    """
    with options.exit_on_error():
        check_model_path(out)
        cases, value_cases = read_safety_files(files, values)
        messages, development = (
            list(harmless_texts(read_lives(names, data)))
            for names in (["train"] if talk is None else talk, [dev])
        )
        sentences = list(user_sentences(read_lives([dev], data)))
        with progress("texts") as report:
            trained = train_safety_model(cases, value_cases, messages, development, sentences, report)
        save_model(trained.model, out)
    settings = {"files": sorted(cases), "values": sorted(value_cases), "talk": talk or ["train"], "dev": dev}
    summary = {"settings": settings, "out": None if out is None else str(out), **trained.figures}
    if as_json:
        options.print_json(summary)
    else:
        options.print_table(_safety_table(trained.figures), f"{trained.figures['texts']} labelled texts")


def _message_table(figures: Mapping[str, Any]) -> Table:
    from rich.table import Table

    grid = Table(box=None, pad_edge=False)
    found, false = f"found of {figures['positives']}", f"false of {figures['negatives']}"
    for title in ("threshold", found, false, "with network: found", "false"):
        grid.add_column(title, justify="right")
    for threshold, shares in figures["thresholds"].items():
        both = (shares, figures["with_network"][threshold])
        grid.add_row(threshold, *(f"{each[name]:.3f}" for each in both for name in ("found", "false")))
    return grid


def _safety_table(figures: Mapping[str, Any]) -> Table:
    from rich.table import Table

    grid = Table(box=None, pad_edge=False)
    for title in ("kind", "found", "by language", "false", "false in talk"):
        grid.add_column(title, justify="left" if title in ("kind", "by language") else "right")
    for kind in ("order", "secret", "value"):
        row = figures[kind]
        by_language = "  ".join(
            f"{lang} {share:.2f}" for lang, share in row["found_by_language"].items() if share
        )
        grid.add_row(
            kind, f"{row['found']:.3f}", by_language, f"{row['false']:.4f}", f"{row['false_in_talk']:.4f}"
        )
    return grid


def _pair_table(figures: Mapping[str, Any]) -> Table:
    from rich.table import Table

    grid = Table(box=None, pad_edge=False)
    for title in ("weights", "threshold", "labelled", "precision", "recall"):
        grid.add_column(title, justify="left" if title == "weights" else "right")
    for name, row in figures.items():
        if isinstance(row, Mapping):
            grid.add_row(f"{name} (AUC {row['auc']:.3f})")
            for threshold, values in row.items():
                if isinstance(values, Mapping):
                    cells = ("-" if each is None else f"{each:.3f}" for each in list(values.values())[1:])
                    grid.add_row("", threshold, str(values["labelled"]), *cells)
    return grid


def check_model_path(out: Path | None) -> None:
    if out is not None and out.suffix != ".npz":
        raise LabError(f"{out}: the file name must end in .npz")


class SavedModel(Protocol):
    """A model that writes itself to a file."""

    def save(self, file: Path, /) -> None: ...


def save_model(model: SavedModel, out: Path | None) -> None:
    """Write a trained model, if a file was named."""
    if out is not None:
        try:
            model.save(out)
        except OSError as error:
            raise LabError(f"{out}: {error.strerror or error}") from error


def _sentence_table(figures: Mapping[str, Any]) -> Table:
    from rich.table import Table

    grid = Table(box=None, pad_edge=False)
    for title in ("weights", "language", "coverage", "silence", "gold precision", "kept"):
        grid.add_column(title, justify="left" if title in ("weights", "language") else "right")
    for name, row in figures.items():
        if isinstance(row, Mapping):
            for lang in (key for key, value in row.items() if isinstance(value, Mapping)):
                values = row[lang]
                grid.add_row(
                    f"{name} (AUC {row['auc']:.3f})" if lang == "all" else "",
                    lang,
                    *(f"{values[key]:.3f}" for key in ("coverage", "silence", "gold_precision")),
                    str(values["kept"]),
                )
    return grid


def _training_table(figures: Mapping[str, Any]) -> Table:
    from rich.table import Table

    grid = Table(box=None, pad_edge=False)
    grid.add_column("")
    for title in ("n", "F1", "kind acc.", "F1 of each kind"):
        grid.add_column(title, justify="right")
    for name, row in figures.items():
        if isinstance(row, Mapping):
            each = "  ".join(f"{kind} {f1:.2f}" for kind, f1 in row["kinds"].items())
            grid.add_row(name, str(row["n"]), f"{row['f1']:.3f}", f"{row['kind_accuracy']:.3f}", each)
    return grid
