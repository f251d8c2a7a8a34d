"""Examples for a small model that marks outdated facts: from lives, with exact variants; and their scores."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from thinkback_lab.datasets.lives import Life
from thinkback_lab.errors import LabError
from thinkback_lab.evaluations.updates import read_marked_facts, score_updates
from thinkback_lab.training.life_variants import make_variant
from thinkback_lab.training.update_examples import make_examples, write_examples


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
            turn(1, "I have 2300 ewes near Leeds. My wife Heather counts them every single morning.", [
                fact("f1", "2300 ewes", "The user has 2300 ewes.", "I have 2300 ewes"),
                fact("f2", "Heather", "Heather counts the user's ewes.", "My wife Heather counts them"),
            ]),
            turn(2, "I paid thirty-eight thousand for the new tractor last year.", [
                fact("f3", "38000", "The user paid 38000 for the tractor.", "thirty-eight thousand"),
            ]),
            turn(3, "I sold some of the ewes, I have 2150 ewes left on the farm now.", [
                fact("f4", "2150 ewes", "The user has 2150 ewes.", "I have 2150 ewes left", replaces=["f1"]),
            ]),
            turn(4, "Heather was away today, so nobody counted the ewes.", []),
            turn(5, "The tractor for thirty-eight thousand is gone, I gave it away.", [], ends=["f3"]),
        ],
    }
)  # fmt: skip


def marks_by_fact(example: Any) -> dict[str, str]:
    known = example.prompt[1].split("Known:\n")[1].split("\nMessage:")[0].splitlines()
    return {
        line.partition(". ")[2]: mark.split()[1]
        for line, mark in zip(known, example.reply.splitlines(), strict=True)
    }


def test_replies_mark_what_the_turn_outdates() -> None:
    examples = {example.turn: example for example in make_examples([LIFE], embedder="hashing")}
    assert 1 not in examples  # nothing is known yet
    third = marks_by_fact(examples[3])
    assert [mark for fact_, mark in third.items() if "2300" in fact_] == ["replace"]
    assert all(mark == "keep" for fact_, mark in third.items() if "2300" not in fact_)
    assert all(mark == "keep" for mark in marks_by_fact(examples[4]).values())
    assert "2300" not in examples[4].prompt[1].split("Known:")[1]  # it was retired
    assert [mark for fact_, mark in marks_by_fact(examples[5]).items() if "tractor" in fact_] == ["end"]


def test_variants_are_made_of_turns_with_updates_and_the_same_seed_gives_the_same_ones() -> None:
    first, second = (list(make_examples([LIFE], variants=2, embedder="hashing", seed=3)) for _ in range(2))
    assert first == second
    plain = list(make_examples([LIFE], embedder="hashing"))
    assert len(first) == len(plain) + 2 * 2
    assert {example.turn for example in first[len(plain) :]} == {3, 5}


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


def test_scores_count_updates_above_a_probability(tmp_path: Path) -> None:
    examples, replies = tmp_path / "dev.jsonl", tmp_path / "replies.jsonl"
    write_examples(examples, make_examples([LIFE], embedder="hashing"))
    rows = [json.loads(line) for line in examples.read_text("utf-8").splitlines()]

    def write(probability: float) -> None:
        lines = []
        for row in rows:
            reply = row["reply"].replace("replace", "end") if row["turn"] == 3 else row["reply"]
            if row["turn"] == 4:  # a wrong update that it is less sure of
                reply = reply.replace("1 keep", "1 end")
            sure = probability if row["turn"] == 4 else -0.01
            tokens = [[part, sure] for line in reply.splitlines() for part in (*line.partition(" "), "\n")]
            lines.append({"life": row["life"], "turn": row["turn"], "reply": reply, "tokens": tokens})
        replies.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")

    write(-1.0)
    sure, all_ = score_updates(read_marked_facts(examples, replies), [-0.5, -9.0]).values()
    assert (sure["found"], sure["precision"], sure["recall"]) == (2, 1.0, 1.0)
    assert (all_["found"], all_["precision"], all_["recall"]) == (3, pytest.approx(0.6667), 1.0)
    replies.write_text("", "utf-8")
    with pytest.raises(LabError, match="has not the replies"):
        read_marked_facts(examples, replies)
