"""How fast a local model with the thinker adapter thinks, and how long a chat waits for it.

    python benchmarks/local_thinking.py --turns 20 --threads 2

Needs `thinkback pull qwen-coder-1.5b`, `thinkback-thinker`, and the dev lives (THINKBACK_DATA). Prints turns
a minute, processor time a turn, the largest resident memory, and the seconds until a chat that interrupts
thinking begins.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

from thinkback import Memory
from thinkback.errors import ModelPaused
from thinkback.llms.local import LocalLLM
from thinkback.think.contract import ReadRequest
from thinkback.think.reader_updates import ModelUpdateFinder
from thinkback.types import Message, Thought, Turn
from thinkback_lab.datasets.lives import load_lives


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--model", default="qwen-coder-1.5b")
    parser.add_argument("--adapter", default="thinker")
    options = parser.parse_args()
    llm = LocalLLM(options.model, adapter=options.adapter, threads=options.threads)
    life = load_lives(None, "dev")[0]
    figures: dict[str, float] = {}
    with Memory.open(":memory:", llm=llm, background=False) as memory:
        for turn in life.turns[: options.turns]:
            memory.remember(turn.user, turn.assistant, at=turn.at, session=turn.session)
        memory.post_think(limit=3)  # loads the model
        started, processor = time.perf_counter(), time.process_time()
        result = memory.post_think()
        seconds = time.perf_counter() - started
        figures["turns_a_minute"] = 60 * result.turns / seconds
        figures["processor_seconds_a_turn"] = (time.process_time() - processor) / max(result.turns, 1)
        figures["chat_waits_seconds"] = measure_wait(llm, life.turns[0].user, memory.thoughts())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    figures["memory_mb"] = peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    print(json.dumps({name: round(value, 2) for name, value in figures.items()}, indent=1))


def measure_wait(llm: LocalLLM, text: str, known: Sequence[Thought]) -> float:
    """Seconds from a question to the first word, while a turn is being read."""
    now = load_lives(None, "dev")[0].turns[0].at
    turn = Turn(id=1, query=text * 3, response="", at=now, recorded_at=now)

    def think() -> None:
        with suppress(ModelPaused):
            ModelUpdateFinder(llm).find(ReadRequest(turns=(turn,), related=tuple(known)))

    thinking = threading.Thread(target=think)
    thinking.start()
    time.sleep(1.0)
    started = time.perf_counter()
    next(llm.stream([Message("user", "Say hello.")], max_tokens=4))
    waited = time.perf_counter() - started
    thinking.join()
    return waited


if __name__ == "__main__":
    main()
