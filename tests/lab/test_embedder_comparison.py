"""`eval embedders`: dense retrieval of evidence turns."""

from __future__ import annotations

from thinkback.embedders.hashing import HashingEmbedder
from thinkback_lab.evaluations.embedders import EvidenceCase, case_scores, compare_embedders, embedders_table

TURNS = tuple(f"Filler number {n} about nothing at all." for n in range(8))
CASE = EvidenceCase(
    "small",
    ("I keep bees in Porto.", *TURNS, "My sister plays the oboe."),
    (("Where do I keep bees?", frozenset({0})), ("Who plays the oboe and bees?", frozenset({0, 9}))),
)


def test_a_question_is_scored_by_its_share_of_evidence_turns() -> None:
    assert case_scores(CASE, HashingEmbedder()) == [1.0, 1.0]
    wrong = EvidenceCase("small", CASE.texts, ((CASE.questions[0][0], frozenset({0, 20})),))
    assert case_scores(wrong, HashingEmbedder()) == [0.5]


def test_the_table_has_a_row_for_each_set_and_a_column_for_each_embedder() -> None:
    result = compare_embedders([CASE], {"a": HashingEmbedder(), "b": HashingEmbedder(64)})
    assert result["questions"] == {"small": 2}
    assert result["embedders"]["b"]["dimensions"] == 64
    grid = embedders_table(result)
    assert [column.header for column in grid.columns][1:] == ["questions", "a", "b"]
