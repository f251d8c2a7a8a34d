"""Memories that are given whole: the full context, and the last n turns of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from thinkback_lab.cases import Item
from thinkback_lab.errors import LabError
from thinkback_lab.schemes.scheme import Found, Kit, Scheme

LAST = 10


class Newest:
    """Everything, or the last `n`, newest first; whatever is asked."""

    whole = True

    def __init__(self, kit: Kit, n: int | None = None) -> None:
        self._items: list[Item] = []
        self._n = n

    def tell(self, items: Sequence[Item]) -> None:
        self._items += items

    def recall(self, question: str, k: int, at: datetime) -> list[Found]:
        return [Found(item.text, (item.id,)) for item in self._items[::-1][: self._n]]


def last(argument: str = str(LAST)) -> Scheme:
    """`last:20`: the last twenty turns."""
    if not argument.isascii() or not argument.isdigit() or int(argument) < 1:
        raise LabError(f"last:{argument}: say how many turns by a whole number, as in last:{LAST}")
    return lambda kit: Newest(kit, int(argument))
