"""`thinkback-lab train`: examples, lora, generate, score, export, merge."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from thinkback_lab.commands import options
from thinkback_lab.errors import LabError, import_extra
from thinkback_lab.evaluations.updates import read_json_rows, read_marked_facts, score_updates
from thinkback_lab.progress import progress

THRESHOLDS = (-0.1, -0.2, -0.3, -0.4, -0.5, -0.7)
_BaseOption = Annotated[
    Path, typer.Option("--base", metavar="MODEL", help="GGUF file, or a folder of transformers.")
]
_DtypeOption = Annotated[str, typer.Option("--dtype", help="bfloat16 for a GPU; float32 for a CPU.")]
_TokenizerOption = Annotated[
    Path | None,
    typer.Option("--tokenizer", metavar="FOLDER", help="Tokenizer, if not that of the base model."),
]
_AdapterArgument = Annotated[Path, typer.Argument(metavar="ADAPTER", help="Folder of a trained adapter.")]


def examples(
    lives: Annotated[
        list[str], typer.Argument(metavar="LIVES...", help="Lives: train, dev, or .jsonl files.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Write the examples there (.jsonl).")],
    data: options.DataOption = None,
    variants: Annotated[
        int,
        typer.Option("--variants", min=0, help="Variants of turns with an update: other names, numbers."),
    ] = 2,
    exact: Annotated[
        bool, typer.Option("--exact", help="Show what search finds and nothing else (for evaluation).")
    ] = False,
    embedder: options.EmbedderOption = "minilm",
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the variants.")] = 0,
    as_json: options.JsonOption = False,
) -> None:
    """Make training examples for the thinker: prompts with known facts, and gold marks as replies.

    \b
    Examples:
      thinkback-lab train examples train scenarios/lives/train.jsonl --out train.jsonl
      thinkback-lab train examples dev --variants 0 --exact --out dev.jsonl
    """
    from thinkback_lab.training.sentence_classifier import read_lives
    from thinkback_lab.training.update_examples import make_examples, write_examples

    with options.exit_on_error(), progress("lives") as report:
        made = make_examples(
            read_lives(lives, data),
            variants=variants,
            show_targets=not exact,
            seed=seed,
            embedder=embedder,
            on_progress=report,
        )
        count = write_examples(out, made)
    _print_summary({"examples": count, "out": str(out)}, as_json)


def lora(
    training: Annotated[
        Path, typer.Argument(metavar="EXAMPLES", help="Examples to train on (thinkback-lab train examples).")
    ],
    base: _BaseOption,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Folder for the adapter.")],
    held_out: Annotated[
        Path | None, typer.Option("--dev", metavar="EXAMPLES", help="Examples for the held-out loss.")
    ] = None,
    tokenizer: _TokenizerOption = None,
    rank: Annotated[int, typer.Option("--rank", min=1, help="Rank of the adapter.")] = 16,
    epochs: Annotated[float, typer.Option("--epochs", min=0, help="Passes over the examples.")] = 10,
    learning_rate: Annotated[float, typer.Option("--learning-rate", help="Highest learning rate.")] = 2e-4,
    batch_tokens: Annotated[int, typer.Option("--batch-tokens", min=256, help="Tokens of a batch.")] = 16384,
    max_steps: Annotated[
        int | None, typer.Option("--max-steps", min=1, help="End after so many steps.")
    ] = None,
    max_seconds: Annotated[
        float | None, typer.Option("--max-seconds", help="End after this time, with a lower learning rate.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="S", help="Seed of the weights and batches.")] = 7,
    dtype: _DtypeOption = "bfloat16",
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on from the checkpoint in the folder.")
    ] = False,
    as_json: options.JsonOption = False,
) -> None:
    """Tune a language model with LoRA: rank 16, 10 epochs, as in the paper (TiM, arXiv, 3.5).

    Needs the extra `lora` (torch, transformers, peft, gguf). The folder receives the adapter, the losses with
    a plot, a checkpoint, and a model card.

    \b
    Examples:
      thinkback-lab train lora train.jsonl --dev dev.jsonl --base base.gguf --out adapter
      thinkback-lab train lora train.jsonl --base base.gguf --out adapter --resume
    """
    with options.exit_on_error():
        _require_extra()
        from thinkback_lab.training import lora as training_code
        from thinkback_lab.training.lora_report import write_report

        torch = import_extra("torch")
        device = "cuda" if torch.cuda.is_available() else "cpu"
        settings = training_code.LoraSettings(
            rank=rank,
            alpha=2 * rank,
            epochs=epochs,
            learning_rate=learning_rate,
            batch_tokens=batch_tokens,
            max_steps=max_steps,
            max_seconds=max_seconds,
            seed=seed,
        )
        torch.manual_seed(seed)
        model = training_code.add_adapter(training_code.load_base(base, dtype).to(device), settings)
        trainer = training_code.LoraTrainer(
            model,
            training_code.load_tokenizer(tokenizer or base),
            training_code.read_text_examples(training),
            training_code.read_text_examples(held_out) if held_out else [],
            settings,
            out,
        )
        if resume and not trainer.load_checkpoint():
            raise LabError(f"{out} has no checkpoint to resume from")
        with progress("steps") as report:
            history = trainer.train(lambda step, steps, loss: report(step, steps))
        path = training_code.save_adapter(model, out)
        write_report(out, base.name, training.name, settings, history)
    summary: dict[str, Any] = {"adapter": str(path), "steps": trainer.step, "held_out": history.held_out}
    _print_summary(summary, as_json)


def generate(
    examples_file: Annotated[Path, typer.Argument(metavar="EXAMPLES", help="Examples to read.")],
    adapter: Annotated[Path, typer.Option("--adapter", metavar="FOLDER", help="Folder of the adapter.")],
    base: _BaseOption,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Write the replies there (.jsonl).")],
    tokenizer: _TokenizerOption = None,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1, help="Prompts of a batch.")] = 128,
    dtype: _DtypeOption = "bfloat16",
    as_json: options.JsonOption = False,
) -> None:
    """Let a tuned model read examples, and write its replies with the log probabilities of their tokens.

    \b
    Examples:
      thinkback-lab train generate dev.jsonl --adapter adapter --base base.gguf --out replies.jsonl
    """
    with options.exit_on_error():
        _require_extra()
        from thinkback_lab.training import lora as training_code

        torch = import_extra("torch")
        device = "cuda" if torch.cuda.is_available() else "cpu"
        model = training_code.load_adapter(training_code.load_base(base, dtype).to(device), adapter)
        words = training_code.load_tokenizer(tokenizer or base)
        prompts = [each.prompt for each in training_code.read_text_examples(examples_file)]
        with progress("replies") as report:
            replies = training_code.generate(model, words, prompts, batch_size=batch_size, on_batch=report)
        tokens = training_code.token_log_probabilities(model, words, prompts, replies, 16384)
        rows = read_json_rows(examples_file)
        lines = [
            {"life": row["life"], "turn": row["turn"], "reply": reply, "tokens": each}
            for row, reply, each in zip(rows, replies, tokens, strict=True)
        ]
        out.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    _print_summary({"replies": len(replies), "out": str(out)}, as_json)


def score(
    examples_file: Annotated[Path, typer.Argument(metavar="EXAMPLES", help="Examples with gold replies.")],
    replies: Annotated[Path, typer.Argument(metavar="REPLIES", help="Replies (train generate).")],
    as_json: options.JsonOption = False,
) -> None:
    """Score the marks of a tuned model by the gold of the examples, at several thresholds of probability.

    \b
    Examples:
      thinkback-lab train score dev.jsonl replies.jsonl
    """
    with options.exit_on_error():
        figures = score_updates(read_marked_facts(examples_file, replies), THRESHOLDS)
    _print_summary(figures, as_json)


def export(
    adapter: _AdapterArgument,
    base: Annotated[Path, typer.Option("--base", metavar="FILE", help="The GGUF file it is used with.")],
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Write the adapter there (.gguf).")],
    max_mb: Annotated[
        float | None, typer.Option("--max-mb", help="Largest size; the weakest directions are left out.")
    ] = None,
    task: Annotated[
        str, typer.Option("--task", help="find_updates: used for thinking only. Empty: for everything.")
    ] = "",
    as_json: options.JsonOption = False,
) -> None:
    """Write a trained adapter as a GGUF file that llama.cpp loads: `--llm local:BASE+ADAPTER.gguf`.

    \b
    Examples:
      thinkback-lab train export adapter --base base.gguf --task find_updates --max-mb 25 --out thinker.gguf
    """
    with options.exit_on_error():
        _require_extra()
        from thinkback_lab.training.lora_export import export_adapter

        limit = None if max_mb is None else int(max_mb * 1_000_000)
        written = export_adapter(adapter, base, out, max_bytes=limit, task=task)
    _print_summary(
        {
            "out": str(written.path),
            "bytes": written.size,
            "ranks": {"min": min(written.ranks), "max": max(written.ranks)},
            "energy_kept": round(written.energy_kept, 4),
        },
        as_json,
    )


def merge(
    adapter: _AdapterArgument,
    base: _BaseOption,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Folder for the merged model.")],
    as_json: options.JsonOption = False,
) -> None:
    """Add a trained adapter to the weights of its base model, in the format of transformers.

    \b
    Examples:
      thinkback-lab train merge adapter --base base.gguf --out merged
    """
    with options.exit_on_error():
        _require_extra()
        from thinkback_lab.training.lora_export import merge_adapter

        merge_adapter(adapter, base, out)
    files = ", ".join(sorted(path.name for path in out.iterdir()))
    _print_summary({"out": str(out), "files": files}, as_json)


def _require_extra() -> None:
    """Raise LabError with the install command if a library of the extra `lora` is missing."""
    for module in ("torch", "transformers", "peft", "safetensors", "gguf"):
        try:
            import_extra(module)
        except LabError:
            raise LabError(f"{module} is not installed: pip install 'thinkback-lab[lora]'") from None


def _print_summary(summary: Mapping[str, Any], as_json: bool) -> None:
    if as_json:
        options.print_json(summary)
    else:
        for name, value in summary.items():
            typer.echo(f"{name}: {value}")
