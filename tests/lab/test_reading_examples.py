"""Examples for a small model that reads turns: from lives, with exact variants; and their scores."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from thinkback_lab.datasets.lives import Life
from thinkback_lab.errors import LabError
from thinkback_lab.evaluations.reading import parse_reply, read_turns, score_reading
from thinkback_lab.training.life_variants import make_variant
from thinkback_lab.training.reading_examples import make_examples, write_examples


def fact(id_: str, value: str, text: str, quote: str, **fields: Any) -> dict[str, Any]:
    common: dict[str, Any] = {
        "about": "user", "relation": "has", "kind": "profile", "from": None, "to": None, "replaces": [],
    }  # fmt: skip
    return {"id": id_, "value": value, "text": text, "quote": quote, **common, **fields}


def turn(n: int, user: str, facts: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    at = f"2025-03-{n:02}T10:00"
    common = {"session": f"s{n}", "assistant": "ok", "ends": [], "forget": []}
    return {"n": n, "at": at, "user": user, "facts": facts, **common, **fields}


LIFE = Life.model_validate(
    {
        "id": "t1",
        "lang": "en",
        "people": [{"name": "Heather", "is": "the user's wife", "also": []}],
        "questions": [],
        "turns": [
            turn(1, "ive got 2300 ewes near Leeds, heather counts them", [
                fact("f1", "2300 ewes", "The user has 2300 ewes.", "ive got 2300 ewes"),
                fact("f2", "Heather", "Heather counts the user's ewes.", "heather counts them"),
            ]),
            turn(2, "paid thirty-eight thousand for the tractor in 2025", [
                fact("f3", "38000", "The user paid 38000 for the tractor.", "thirty-eight thousand"),
            ]),
            turn(3, "sold some of the ewes, 2150 left", [
                fact("f4", "2150 ewes", "The user has 2150 ewes.", "2150 left", replaces=["f1"],
                     **{"from": "2025-03"}),
            ]),
            turn(4, "thanks, bye", []),
            turn(5, "the tractor is gone", [], ends=["f3"]),
        ],
    }
)  # fmt: skip


def test_replies_are_the_gold_of_the_turn_with_the_numbers_of_the_prompt() -> None:
    examples = list(make_examples([LIFE], noise=False, embedder="hashing"))
    assert [example.turn for example in examples] == [1, 2, 3, 4, 5]
    assert (
        examples[0].reply.splitlines()[0]
        == "add | user | has | 2300 ewes | profile | - | The user has 2300 ewes."
    )
    known = [line for line in examples[2].first[1].splitlines() if line.endswith("The user has 2300 ewes.")]
    number = known[0].split(".")[0]
    assert examples[2].reply.startswith(f"replace {number} | user | has | 2150 ewes | profile | month.. |")
    assert examples[3].reply == "none"
    assert examples[4].reply.startswith("end ")
    assert examples[2].first[0] != examples[2].second[0]


def test_with_noise_retired_facts_are_shown_and_the_same_seed_gives_the_same_examples() -> None:
    first, second = (list(make_examples([LIFE], variants=2, embedder="hashing", seed=3)) for _ in range(2))
    assert first == second
    assert len(first) == 15
    assert first != list(make_examples([LIFE], variants=2, embedder="hashing", seed=4))


@pytest.mark.parametrize("seed", range(8))
def test_a_variant_changes_texts_alike(seed: int) -> None:
    change = make_variant(LIFE, Random(seed))
    for each in LIFE.turns:
        for stated in each.facts:
            assert change(stated.quote) in change(each.user)
    assert change("The user paid 38000.") == "The user paid 38000."  # said in words
    number = change("2300")
    assert (len(number), number[0], number[-2:]) == (4, "2", "00")
    assert change("Heather") == change("Heather")
    assert change("heather").islower()


def test_variants_differ_from_the_life() -> None:
    texts = {
        make_variant(LIFE, Random(seed))("Heather has 2300 ewes near Leeds since 2019") for seed in range(8)
    }
    assert len(texts) > 4
    assert any("Heather" not in text and "Leeds" not in text for text in texts)


def test_scores_count_facts_retirements_and_silence(tmp_path: Path) -> None:
    examples = tmp_path / "dev.jsonl"
    write_examples(examples, make_examples([LIFE], noise=False, embedder="hashing"))
    rows = [json.loads(line) for line in examples.read_text("utf-8").splitlines()]
    replies = [row["reply"] for row in rows]
    replies[0] = "add | user | has | 2300 | profile | - | The user has 2300 ewes."
    replies[1] = "add | user | has | a boat | profile | - | The user has a boat."
    replies[3] = "add | user | says | bye | dialogue | - | The user says bye."
    path = tmp_path / "replies.jsonl"
    lines = [
        {"life": row["life"], "turn": row["turn"], "reply": reply}
        for row, reply in zip(rows, replies, strict=True)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    figures = score_reading(read_turns(examples, path))
    assert figures["coverage"] == 0.5  # 2300 ewes and 2150 ewes of four facts
    assert figures["precision"] == 0.5  # of four lines
    assert (figures["retirement_precision"], figures["retirement_recall"]) == (1.0, 1.0)
    assert figures["silence"] == 0.0
    path.write_text("", "utf-8")
    with pytest.raises(LabError, match="has not the replies"):
        read_turns(examples, path)


def test_the_confidence_of_a_line_is_the_mean_of_its_tokens() -> None:
    line = "add | user | has | a boat | profile | - | The user has a boat."
    tokens = [("add", -0.2), (" |\n", -0.4), ("end", -0.1), (" 1", -0.3)]
    first, second = parse_reply(f"{line}\nend 1", tokens)
    assert first.confidence == pytest.approx(-0.3)
    assert second.confidence == pytest.approx(-0.2)
