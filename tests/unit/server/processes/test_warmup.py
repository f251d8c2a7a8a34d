"""A warm process recalls at once; the warming leaves nothing behind."""

from __future__ import annotations

import subprocess
import sys

CODE = """
import time
from thinkback import Memory
from thinkback.server.processes.entrypoints import warm
from thinkback.llms.registry import embedder

def spent(work):
    began = time.process_time()
    work()
    return time.process_time() - began

model = embedder("hashing")
first = spent(lambda: warm(model))
with Memory.open(":memory:", embedder=model, background=False) as memory:
    memory.remember("My dog is called Bruno.", "Good.")
    print(memory.stats().turns, spent(lambda: memory.recall("What is my dog called?")) < first / 4)
"""


def test_the_first_recall_of_a_warm_process_is_as_quick_as_any() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["1", "True"]
