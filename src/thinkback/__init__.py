"""Long-term memory for any LLM.

Before the model answers, thinkback recalls the thoughts that matter; after it answers, it thinks about the
exchange and updates what it knows.

with thinkback.Memory("memory.db", user="ann") as memory:
    memory.remember("I moved to Lyon.", "How exciting!")
    memory.recall("Where do I live?")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from thinkback.errors import ModelError, ThinkbackError

if TYPE_CHECKING:
    from thinkback.aio import AsyncMemory
    from thinkback.language.safety.detector import SafetyModel
    from thinkback.language.update_scorer import UpdateModel
    from thinkback.memory import Memory
    from thinkback.memory_config import MemoryConfig
    from thinkback.presets import Preset
    from thinkback.protocols import LLM, Embedder, Store
    from thinkback.recall.kind_classifier import KindModel
    from thinkback.recall.question_classifier import QuestionModel
    from thinkback.recall.request_classifier import RequestModel
    from thinkback.think.sentence_classifier import SentenceModel
    from thinkback.types import Action, Answer, Message, Recollection, Reply, Synthesis, Thought, Turn

__version__ = "0.1.0"

# Public names are loaded on first use, so that `import thinkback` stays fast.
_MODULES = {
    "AsyncMemory": "aio",
    "Memory": "memory",
    "MemoryConfig": "memory_config",
    "Embedder": "protocols",
    "LLM": "protocols",
    "Store": "protocols",
    "Preset": "presets",
    "KindModel": "recall.kind_classifier",
    "QuestionModel": "recall.question_classifier",
    "RequestModel": "recall.request_classifier",
    "SafetyModel": "language.safety.detector",
    "SentenceModel": "think.sentence_classifier",
    "UpdateModel": "language.update_scorer",
    "Action": "types",
    "Answer": "types",
    "Message": "types",
    "Recollection": "types",
    "Reply": "types",
    "Synthesis": "types",
    "Thought": "types",
    "Turn": "types",
}

__all__ = [
    "LLM",
    "Action",
    "Answer",
    "AsyncMemory",
    "Embedder",
    "KindModel",
    "Memory",
    "MemoryConfig",
    "Message",
    "ModelError",
    "Preset",
    "QuestionModel",
    "Recollection",
    "Reply",
    "RequestModel",
    "SafetyModel",
    "SentenceModel",
    "Store",
    "Synthesis",
    "ThinkbackError",
    "Thought",
    "Turn",
    "UpdateModel",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'thinkback' has no attribute {name!r}")
    return getattr(import_module(f"thinkback.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
