"""The dev lives with the tuned model on a GPU: what it retires, and what questions recall.

    python benchmarks/tuned_lives.py --base base.gguf --adapter adapter --preset careful

Needs the extra `lora` of thinkback-lab, `thinkback-reranker`, and the dev lives (THINKBACK_DATA). With
llama.cpp, `thinkback-lab eval lives --llm local:qwen-coder-1.5b+thinker` measures the same, but takes hours
on two cores.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from thinkback_lab.datasets.lives import load_lives
from thinkback_lab.evaluations.lives import run_lives, summarise_lives
from thinkback_lab.harness import Setup
from thinkback_lab.training.transformers_llm import TransformersLLM


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--adapter", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, default=None)
    parser.add_argument("--embedder", default="minilm+use")
    parser.add_argument("--preset", default="careful")
    options = parser.parse_args()
    llm = TransformersLLM(options.base, options.adapter, options.tokenizer)
    setup = Setup(llm=llm, embedder=options.embedder, preset=options.preset)
    summary = summarise_lives(run_lives(load_lives(None, "dev"), setup), setup.as_settings)
    print(json.dumps({name: summary[name] for name in ("settings", "metrics", "ablation")}, indent=1))


if __name__ == "__main__":
    main()
