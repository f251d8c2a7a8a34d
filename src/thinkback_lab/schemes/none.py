"""No memory: the model answers from what it knows by itself."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from thinkback_lab.cases import Item
from thinkback_lab.schemes.scheme import Found, Kit


class NoMemory:
    def __init__(self, kit: Kit) -> None:
        """Nothing is needed."""

    def tell(self, items: Sequence[Item]) -> None:
        """Nothing is kept."""

    def recall(self, question: str, k: int, at: datetime) -> list[Found]:
        return []
