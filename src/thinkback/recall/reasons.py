"""The reason of one candidate in a line: its score against the threshold, its group, and who said it."""

from __future__ import annotations

from thinkback.recall.rows import Row
from thinkback.recall.search import Search
from thinkback.types import Ref, Thought, Turn


def reason(search: Search, row: Row, memory: Thought | Turn) -> str:
    """`memory` is the row's own, redacted where it is shown."""
    score, hits = row.score, row.hits
    comparison = ">=" if search.matters(score.total) else "<"
    how = f"{hits.probes} groups probed" if hits.probes else "the whole space searched"
    asked = "" if hits.group is None else f", query in {hits.group}"
    return (
        f"{score.total:.2f} {comparison} {search.preset.threshold:.2f} "
        f"(meaning {score.cosine:.2f}, words {score.lexical:.2f}); group {row.group}{asked}, {how}; "
        f"{_origin(memory)}"
    )


def _origin(memory: Thought | Turn) -> str:
    if isinstance(memory, Turn):
        return f"raw turn of {memory.at:%Y-%m-%d}"
    said = [f"said by {source.speaker} in {Ref('turn', source.turn)}" for source in memory.sources[:1]]
    return said[0] if said else "without a source"
