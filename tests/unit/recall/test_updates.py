"""Labels "possibly outdated" of sentences kept as said."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from thinkback.language.update_scorer import SentenceFeatures
from thinkback.recall import updates
from thinkback.types import SAID, Candidate, Ref, Score, Source, Thought, Turn


def said(number: int, words: str, month: int) -> Turn:
    at = datetime(2025, month, 1, tzinfo=UTC)
    return Turn(id=number, query=words, at=at, recorded_at=at)


TURNS = {
    1: said(1, "About the rent. They want 500 now.", 1),
    2: said(2, "The rent again. It is 600.", 6),
}


def kept(number: int, sentence: str) -> Candidate:
    thought = Thought(
        id=number, subject="user", relation=SAID, objects=(sentence,), sentence=sentence, kind="profile",
        sources=(Source(number, "user", "query", 0, 1),), recorded_at=TURNS[number].at,
    )  # fmt: skip
    return Candidate(
        ref=Ref("thought", number), text=sentence, score=Score(0.5, 0.0, 0.0), group=0, reason="", verdict="",
        thought=thought,
    )  # fmt: skip


def source_turn(item: Candidate) -> Turn | None:
    return TURNS[item.thought.last_turn] if item.thought else None


@pytest.mark.parametrize("shared", ["rent", "600", "500", "nothing"])
def test_messages_are_compared_as_well_as_sentences(monkeypatch: pytest.MonkeyPatch, shared: str) -> None:
    def score(old: SentenceFeatures, new: SentenceFeatures, **_: object) -> float:
        return float(shared in old.terms and shared in new.terms)

    monkeypatch.setattr(updates, "score_update", score)
    found = updates.mark_possible_updates(
        [kept(1, "They want 500 now."), kept(2, "It is 600.")], "What is my rent?", source_turn
    )
    labelled = {item.ref.id for item in found if item.outdated}
    assert labelled == ({1} if shared == "rent" else set())
    assert [item.ref.id for item in found] == [1, 2], "a label must not change the order"
