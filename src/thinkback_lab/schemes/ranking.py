"""The best of scored items: of equal scores, the one told first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from thinkback_lab.cases import Item
from thinkback_lab.schemes.scheme import Found

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt


def best(items: Sequence[Item], scores: npt.NDArray[np.floating], k: int) -> list[Found]:
    """At most k, best first."""
    import numpy as np

    order = np.argsort(-scores, kind="stable")[:k].tolist()
    return [Found(items[place].text, (items[place].id,), float(scores[place])) for place in order]
