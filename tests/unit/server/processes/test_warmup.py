"""Warming up makes the first recall fast and leaves nothing behind."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import time
from thinkback import Memory
from thinkback.server.processes.entrypoints import warm_up
from thinkback.embedders.registry import create_embedder

def spent(work):
    began = time.process_time()
    work()
    return time.process_time() - began

model = create_embedder("hashing")
first = spent(lambda: warm_up(model))
with Memory.open(":memory:", embedder=model, background=False) as memory:
    memory.remember("My dog is called Bruno.", "Good.")
    print(memory.stats().turns, spent(lambda: memory.recall("What is my dog called?")) < first / 4)
"""


def test_first_recall_after_warm_up_is_fast() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "True"]
