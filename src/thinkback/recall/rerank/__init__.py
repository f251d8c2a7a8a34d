"""Ways to score candidates anew, one file each: a preset names the one it wants."""

from __future__ import annotations

from thinkback.errors import InvalidInput
from thinkback.recall.rerank import fuzzy, perltqa
from thinkback.recall.rerank.candidates import Reranker, Seen, seen

__all__ = ["Reranker", "Seen", "reranker", "seen"]

_RERANKERS: dict[str, Reranker] = {"fuzzy": fuzzy.totals, "perltqa": perltqa.totals}


def reranker(name: str) -> Reranker:
    if name not in _RERANKERS:
        raise InvalidInput(f"nothing reranks by {name!r}: choose from {', '.join(sorted(_RERANKERS))}")
    return _RERANKERS[name]
