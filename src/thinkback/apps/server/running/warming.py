"""Patterns and tables are loaded when first needed: better before the first chat than in it."""

from __future__ import annotations

from thinkback.memory import Memory
from thinkback.ports import Embedder

TOLD = ("My sister Anna moved to Berlin last week, and I like tea.", "我妹妹安娜上周搬到了柏林，我喜欢喝茶。")
ASKED = ("Where does my sister live now?", "我妹妹现在住在哪里？")


def warm(embedder: Embedder) -> None:
    """Remember and recall once, in a database that ends with it. Thinking has its own processes."""
    with Memory.open(":memory:", embedder=embedder, think="rules", background=False) as memory:
        for text in TOLD:
            memory.remember(text)
        for question in ASKED:
            memory.recall(question)
