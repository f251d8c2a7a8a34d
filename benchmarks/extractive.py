"""Coverage, silence and precision of the shipped sentence classifier on lives.

    python benchmarks/extractive.py                   dev lives, with the encoder and by the text alone
    python benchmarks/extractive.py --sample 200      print kept sentences, to be judged by hand
    python benchmarks/extractive.py --judged          precision by hand, from extractive_judged.json

coverage: gold facts of which at least half of the quote is kept; silence: turns without gold facts of which
nothing is kept; gold precision: kept sentences that contain a good part of a gold quote, a lower bound,
because a sentence may state a fact that the gold does not list. `extractive_judged.json` holds the size N of
the sample, the numbers of the sentences of `--sample N` that state no lasting fact, by class, and the digest
of the model they were judged with.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from thinkback import Embedder, SentenceModel
from thinkback.embedders.registry import create_embedder
from thinkback_lab.training.sentence_classifier import LabelledMessage, evaluate, label_messages, read_lives

JUDGED_FILE = Path(__file__).with_name("extractive_judged.json")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lives", default="dev", help="a split, a file or a folder of lives")
    parser.add_argument("--data", type=Path, default=None, help="data folder; default: $THINKBACK_DATA")
    parser.add_argument("--embedder", default="use", help="spec of an embedder, or none")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="print N kept sentences")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample")
    parser.add_argument("--judged", action="store_true", help="print the precision by hand")
    options = parser.parse_args()
    if options.judged:
        print_judged()
        return
    messages = label_messages(read_lives([options.lives], options.data))
    embedder = None if options.embedder == "none" else create_embedder(options.embedder)
    if options.sample:
        print_sample(messages, embedder, options.sample, options.seed)
        return
    for each in (None, embedder) if embedder is not None else (None,):
        name = SentenceModel.TEXT_ALONE if each is None else each.name
        keep = SentenceModel.shipped().keep.get(name)
        if keep is None:
            print(f"{name}: the model has no weights for this embedder and uses the text alone")
            continue
        scores = [
            [scored.probability for scored in SentenceModel.shipped().score(message.pieces, each)]
            for message in messages
        ]
        print(name, json.dumps(evaluate(messages, scores, keep.threshold), indent=2))


def print_sample(
    messages: Sequence[LabelledMessage], embedder: Embedder | None, count: int, seed: int
) -> None:
    kept = [
        (message, scored)
        for message in messages
        for scored in SentenceModel.shipped().score(message.pieces, embedder)
        if scored.kept
    ]
    chosen = random.Random(seed).sample(kept, min(count, len(kept)))
    for number, (message, scored) in enumerate(chosen, start=1):
        gold = "gold" if message.label(scored.piece) else "    "
        print(f"{number:3} {gold} {scored.probability:.2f} {message.life} {scored.piece.text}")


def print_judged() -> None:
    """The share of judged sentences that state a lasting fact, and the classes of the others."""
    judged = json.loads(JUDGED_FILE.read_text("utf-8"))
    model = files("thinkback.think").joinpath("models", "sentences.npz").read_bytes()
    if hashlib.sha256(model).hexdigest() != judged["model_sha256"]:
        print("the model has changed since: judge a new sample")
    wrong = {name: len(numbers) for name, numbers in judged["wrong"].items()}
    print(f"precision by hand {1 - sum(wrong.values()) / judged['sample']:.3f} of {judged['sample']}")
    for name, count in wrong.items():
        print(f"{count:4} {name}")


if __name__ == "__main__":
    main()
