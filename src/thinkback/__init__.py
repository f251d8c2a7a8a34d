"""Long-term memory for any LLM: before it answers it recalls thoughts, after it answers it thinks again."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from thinkback.errors import ThinkbackError

if TYPE_CHECKING:
    from thinkback.aio import AsyncMemory
    from thinkback.memory import Memory
    from thinkback.presets import Preset
    from thinkback.protocols import LLM, Embedder, Store
    from thinkback.recall.kinds import KindModel
    from thinkback.types import Action, Answer, Message, Recollection, Reply, Synthesis, Thought, Turn

__version__ = "0.1.0"

# Names are loaded when they are first used: importing thinkback reads no file, starts nothing, costs little.
_MODULES = {
    "AsyncMemory": "aio",
    "Memory": "memory",
    "Embedder": "protocols",
    "LLM": "protocols",
    "Store": "protocols",
    "Preset": "presets",
    "KindModel": "recall.kinds",
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
    "Message",
    "Preset",
    "Recollection",
    "Reply",
    "Store",
    "Synthesis",
    "ThinkbackError",
    "Thought",
    "Turn",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'thinkback' has no attribute {name!r}")
    return getattr(import_module(f"thinkback.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
