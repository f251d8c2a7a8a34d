"""Facts that are dropped because they are all that a model found in a turn that probably tells nothing.

A model that is asked for facts finds one in many messages that hold none ("three words a day, deal"). If it
adds a single fact and changes nothing else, the sentence classifier has to agree that the message may state a
lasting fact. The limit is low: it refuses what only the model believes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from thinkback.language.commands import after_keep_request
from thinkback.protocols import Embedder
from thinkback.think.contract import ProposedChange, ReadRequest
from thinkback.think.sentence_classifier import SentenceModel
from thinkback.think.sentence_features import reply_before, split_pieces
from thinkback.types import Turn

MIN_LONE_FACT_PROBABILITY = 0.2
"""Least probability of the surest sentence of a message from which a model draws a single fact.

Of 60 messages with one lasting fact by a writer who had not seen the code 57 reach it (46 reach .4), of 60
that tell nothing lasting 18 do (9 reach .4).
"""


def find_doubtful_facts(
    changes: Sequence[ProposedChange], request: ReadRequest, encoder: Embedder | None
) -> frozenset[int]:
    """The positions of the lone facts of a model that the classifier does not believe.

    Nothing is doubted without an encoder: words alone say too little about other languages than those the
    classifier was trained on.
    """
    if encoder is None:
        return frozenset()
    counts = Counter(change.turn for change in changes)
    lone = {
        change.turn: position
        for position, change in enumerate(changes)
        if change.by_model and change.action == "add" and counts[change.turn] == 1
    }
    earlier = list(request.recent)
    doubtful: set[int] = set()
    for turn in request.turns:
        if turn.id in lone and not _may_tell_facts(turn, earlier, encoder):
            doubtful.add(lone[turn.id])
        earlier.append(turn)
    return frozenset(doubtful)


def _may_tell_facts(turn: Turn, earlier: Sequence[Turn], encoder: Embedder) -> bool:
    if after_keep_request(turn.query):
        return True
    pieces = split_pieces(turn.query, reply_before(turn, earlier))
    scored = SentenceModel.shipped().score(pieces, encoder)
    return max((each.probability for each in scored), default=0.0) >= MIN_LONE_FACT_PROBABILITY
