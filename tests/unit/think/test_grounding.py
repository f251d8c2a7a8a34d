"""Facts that a model states in other words than the user are accepted, unrelated ones are not.

The writer of the facts had not seen the code.
"""

from __future__ import annotations

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pytest

from thinkback.embedders.registry import create_embedder, sentence_encoder
from thinkback.think.aliases import Aliases
from thinkback.think.contract import ProposedChange, ProposedFact, ReadRequest
from thinkback.think.guard import Guard
from thinkback.think.similarity import SentenceSimilarity
from thinkback.types import Turn

FACTS = Path(__file__).parents[3] / "scenarios" / "grounding" / "blind.jsonl"
NOW = datetime(2026, 3, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def accepted() -> Counter[str]:
    """How many facts of each kind the guard accepts, of 50, 20, 15 and 15."""
    similarity = SentenceSimilarity(sentence_encoder(create_embedder("minilm+use")))
    counts: Counter[str] = Counter()
    for line in FACTS.read_text("utf-8").splitlines():
        row = json.loads(line)
        turn = Turn(id=1, query=row["message"], response="", at=NOW, recorded_at=NOW, session="s")
        stated = ProposedFact(about="user", relation="told", value=row["value"], sentence=row["sentence"])
        change = ProposedChange(action="add", turn=1, quote=row["quote"], fact=stated)
        guard = Guard(ReadRequest(turns=(turn,)), Aliases.from_thoughts([]), lambda ids: [], similarity)
        counts[row["kind"]] += len(guard.judge([change]).accepted)
    return counts


def test_many_facts_in_other_words_are_accepted(accepted: Counter[str]) -> None:
    assert accepted["said"] >= 20  # 3 where only words count


def test_unrelated_facts_are_not_accepted(accepted: Counter[str]) -> None:
    assert accepted["unrelated"] == 0


def test_hardly_more_inventions_are_accepted_than_by_words_alone(accepted: Counter[str]) -> None:
    assert accepted["invented number"] <= 7  # where only words count: 7 of 15
    assert accepted["invented detail"] <= 8  # where only words count: 5 of 15
