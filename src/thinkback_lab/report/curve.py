"""The top-k curve (TiM 002, figure 6): hit@k and recall@k for every k, from what each question found."""

from __future__ import annotations

from thinkback_lab.metrics.retrieval import ranked
from thinkback_lab.report.charts import Series
from thinkback_lab.runs.finished import Finished

MOST = 20  # where a run does not say to which rank it is scored


def top_k(run: Finished) -> tuple[Series, Series] | None:
    """(hit@k, recall@k) over the questions with gold; None where there is none, or nothing was found.

    To the last rank the run is scored at: what a memory that is read whole has beyond is no ranking.
    """
    asked = [record for record in run.records if record.gold]
    last = max(run.settings.get("k") or (MOST,))
    deepest = min(last, max((len(record.found) for record in asked), default=0))
    if not deepest:
        return None
    ks = range(1, deepest + 1)
    sums: dict[str, float] = {}
    for record in asked:
        for name, value in ranked(record.gold, [each.sources for each in record.found], ks).items():
            sums[name] = sums.get(name, 0.0) + value
    hit, recall = (
        Series(f"{what}@k", tuple((k, sums[f"{what}@{k}"] / len(asked)) for k in ks), look)
        for look, what in enumerate(("hit", "recall"))
    )
    return hit, recall
