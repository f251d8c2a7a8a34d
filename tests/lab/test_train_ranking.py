"""`train ranking`: the weights are learned from right and wrong candidates."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from thinkback_lab.datasets.lives import Life
from thinkback_lab.evaluations.lives_gold import create_gold_thinker
from thinkback_lab.harness import Harness, ManualClock, Setup
from thinkback_lab.training.ranking import (
    FEATURES,
    NOT_LEARNED,
    RankedKind,
    RankingExample,
    collect_examples,
    fit_weights,
    ranking_figures,
    shipped_weights,
    train_ranking,
)


def examples(useful: str, kind: RankedKind = "thoughts", count: int = 24) -> list[RankingExample]:
    """Questions whose right candidate stands out by one feature only."""
    random = np.random.default_rng(7)
    found = []
    for number in range(count):
        rows = random.normal(size=(10, len(FEATURES)))
        right = np.zeros(10, dtype=np.bool_)
        right[number % 10] = True
        rows[right, FEATURES.index(useful)] += 4.0
        found.append(RankingExample(f"life-{number % 6}", kind, rows, right))
    return found


def test_the_feature_that_tells_right_from_wrong_gains_weight() -> None:
    learned = fit_weights(examples("length"), "thoughts", 0.3)
    column = FEATURES.index("length")
    assert learned[column] > shipped_weights("thoughts")[column]
    before = ranking_figures(examples("length"), shipped_weights("thoughts"))
    assert ranking_figures(examples("length"), learned)["mrr"] > before["mrr"]
    for name in NOT_LEARNED:
        assert learned[FEATURES.index(name)] == shipped_weights("thoughts")[FEATURES.index(name)]


def test_training_is_deterministic_and_shows_what_a_feature_contributes() -> None:
    one, other = (train_ranking(examples("words", "turns")) for _ in range(2))
    assert one == other
    figures = one.figures["turns"]
    assert figures["without"]["words"]["mrr"] < figures["cross-validated"]["mrr"]


def test_examples_come_from_explained_recalls_of_gold_thoughts() -> None:
    life = Life.model_validate(LIFE)
    found = collect_examples([life], Harness(Setup(embedder="hashing")))
    assert {example.kind for example in found} == {"thoughts", "turns"}
    for example in found:
        assert example.rows.shape[1] == len(FEATURES)
        assert example.right.sum() == 1
        assert example.rows[:, FEATURES.index("words")].any()


def test_a_request_to_forget_that_remember_carries_out_does_not_stop_the_gold_thinker() -> None:
    forgetting = _turn(10, "Please forget that my sister Anna plays the oboe.")
    forgetting |= {"facts": [], "forget": ["f9"]}
    correction = _turn(11, "My sister Anna plays the cello now.", replaces=["f9"])
    life = Life.model_validate(LIFE | {"turns": [*TURNS, forgetting, correction]})
    clock = ManualClock()
    with Harness(Setup(embedder="hashing")).open(clock) as memory:
        thinker = create_gold_thinker(memory)
        for turn in life.turns:
            clock.now = turn.at
            memory.remember(turn.user, turn.assistant, at=turn.at, session=turn.session)
            thinker.think(turn)
        sentences = [thought.sentence for thought in memory.thoughts()]
        assert "My sister Anna plays the cello now." in sentences
        assert "My sister Anna plays the oboe." not in sentences
        assert memory.stats().pending == 0
    assert collect_examples([life], Harness(Setup(embedder="hashing")))


FILLER = [
    "The bus was late again today.", "It rained on the way home.", "Lunch was noodles with egg.",
    "The printer is out of paper.", "A parcel came for the neighbour.", "The lift is being repaired.",
    "The window in the kitchen squeaks.", "Traffic was slow on the bridge.",
]  # fmt: skip


def _turn(n: int, text: str, replaces: Sequence[str] = ()) -> dict[str, object]:
    fact: dict[str, object] = {
        "id": f"f{n}", "about": "user", "relation": "said", "value": text, "text": text,
        "kind": "event", "quote": text, "from": None, "to": None, "replaces": list(replaces),
    }  # fmt: skip
    return {
        "n": n, "session": f"s{n}", "at": f"2025-01-{n:02}T10:00:00", "user": text, "assistant": "I see.",
        "facts": [fact], "ends": [], "forget": [],
    }  # fmt: skip


TURNS = [_turn(n, text) for n, text in enumerate([*FILLER, "My sister Anna plays the oboe."], start=1)]
LIFE: dict[str, object] = {
    "id": "small", "lang": "en",
    "turns": TURNS,
    "questions": [
        {
            "q": "Who plays the oboe?", "at": "2025-02-01T10:00:00", "answer": "Anna", "accept": [["anna"]],
            "reject": [], "evidence": [9], "facts": ["f9"], "kind": "single",
        }
    ],
}  # fmt: skip
