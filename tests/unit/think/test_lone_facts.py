"""A lone fact of a model is dropped if the message probably tells nothing lasting.

The writer of the messages had not seen the code.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from thinkback.embedders.registry import create_embedder, sentence_encoder
from thinkback.protocols import Embedder
from thinkback.think.aliases import Aliases
from thinkback.think.contract import ChangeKind, ProposedChange, ProposedFact, ReadRequest
from thinkback.think.guard import Guard, Verdicts
from thinkback.think.similarity import SentenceSimilarity
from thinkback.types import Thought, Turn

MESSAGES = Path(__file__).parents[3] / "scenarios" / "grounding" / "lone.jsonl"
NOW = datetime(2026, 3, 1, tzinfo=UTC)
JOKE = "haha ok three words a day, deal"


@pytest.fixture(scope="module")
def encoder() -> Embedder:
    found = sentence_encoder(create_embedder("minilm+use"))
    assert found is not None
    return found


def make_turn(message: str, id_: int = 2, response: str = "") -> Turn:
    return Turn(id=id_, query=message, response=response, at=NOW, recorded_at=NOW, session="s")


def add(message: str, *, by_model: bool = True, action: ChangeKind = "add", **fields: Any) -> ProposedChange:
    """A fact that repeats the message, so that nothing else is wrong with it."""
    fact = ProposedFact(about="user", relation="said", value=message, sentence=message)
    return ProposedChange(action=action, turn=2, quote=message, fact=fact, by_model=by_model, **fields)


def judge(
    changes: list[ProposedChange],
    message: str,
    encoder: Embedder | None,
    before: str = "",
    related: tuple[Thought, ...] = (),
) -> Verdicts:
    request = ReadRequest(
        turns=(make_turn(message),), recent=(make_turn("hm", 1, before),) if before else (), related=related
    )
    guard = Guard(request, Aliases.from_thoughts([]), lambda ids: [], SentenceSimilarity(encoder))
    return guard.judge(changes)


def is_kept(row: dict[str, Any], encoder: Embedder) -> bool:
    verdicts = judge([add(row["message"])], row["message"], encoder, row["before"])
    return not any("nothing lasting" in problem for problem in verdicts.problems)


def test_lasting_facts_are_kept_and_most_others_dropped(encoder: Embedder) -> None:
    rows = [json.loads(line) for line in MESSAGES.read_text("utf-8").splitlines()]
    kept = {
        lasting: sum(is_kept(row, encoder) for row in rows if row["lasting"] is lasting)
        for lasting in (True, False)
    }
    assert kept[True] >= 56, "of 60"
    assert kept[False] <= 20, "of 60"


def test_the_reason_is_told(encoder: Embedder) -> None:
    verdicts = judge([add(JOKE)], JOKE, encoder)
    assert not verdicts.accepted
    assert "tells nothing lasting" in verdicts.problems[0]


def test_what_is_not_doubted(encoder: Embedder) -> None:
    assert judge([add(JOKE), add(JOKE)], JOKE, encoder).accepted, "two facts"
    assert judge([add(JOKE, by_model=False)], JOKE, encoder).accepted, "found by a rule"
    assert judge([add(JOKE)], JOKE, None).accepted, "no encoder"
    wanted = f"remember: {JOKE}"
    assert judge([add(wanted)], wanted, encoder).accepted, "the user asks to keep it"


def test_a_fact_that_replaces_another_is_not_doubted(encoder: Embedder) -> None:
    old = Thought(
        id=7, subject="user", relation="said", objects=(JOKE,), sentence=JOKE, kind="profile",
        recorded_at=NOW, sources=(),
    )  # fmt: skip
    changes = [add(JOKE, action="replace", targets=(7,))]
    assert judge(changes, JOKE, encoder, related=(old,)).accepted
