"""`train sentences` and `train pairs`: labels, determinism, and what a tiny model learns."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from thinkback import SentenceModel, UpdateModel
from thinkback.embedders.hashing import HashingEmbedder
from thinkback_lab.cli import app
from thinkback_lab.datasets.lives import Life
from thinkback_lab.training.logistic import SparseRows, fit_logistic
from thinkback_lab.training.sentence_classifier import (
    area_under_curve,
    label_messages,
    label_statements,
    measure,
    read_statements,
)
from thinkback_lab.training.update_scorer import label_pairs

ANIMALS = ("cat", "dog", "parrot", "rabbit", "pony", "tortoise")


def fact(id_: str, value: str, quote: str, replaces: tuple[str, ...] = ()) -> dict[str, Any]:
    return {
        "id": id_, "about": "user", "relation": "has", "value": value, "text": f"The user has a {value}.",
        "kind": "profile", "quote": quote, "from": None, "to": None, "replaces": list(replaces),
    }  # fmt: skip


def life(number: int) -> dict[str, Any]:
    """A life with one fact, small talk, and an update of the fact."""
    animal = ANIMALS[number % len(ANIMALS)]
    said: tuple[tuple[str, list[dict[str, Any]]], ...] = (
        (
            f"I keep a {animal} in my flat in house {number}. What's for lunch?",
            [fact("f1", animal, f"I keep a {animal}")],
        ),
        ("haha thanks, that was fun to read", []),
        (
            f"now I keep two {animal}s in my flat",
            [fact("f2", f"two {animal}s", f"I keep two {animal}s", ("f1",))],
        ),
        ("ok good night then", []),
    )  # fmt: skip
    question = {
        "q": f"How many {animal}s do I keep?", "at": "2025-02-01T10:00", "answer": "two",
        "accept": [["two"]], "reject": [], "evidence": [3], "facts": ["f2"], "kind": "update",
    }  # fmt: skip
    turns = [
        {
            "n": n, "session": "s1", "at": f"2025-01-0{n}T10:00", "user": user, "assistant": "I see.",
            "facts": facts, "ends": [], "forget": [],
        }
        for n, (user, facts) in enumerate(said, start=1)
    ]  # fmt: skip
    return {"id": f"en-{number:02}", "lang": "en", "turns": turns, "questions": [question]}


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """A folder of training lives, one file each, and a JSON lines file of development lives."""
    folder, dev = tmp_path / "lives", tmp_path / "dev.jsonl"
    folder.mkdir()
    for number in range(8):
        (folder / f"{number}.json").write_text(json.dumps(life(number)))
    dev.write_text("\n".join(json.dumps(life(number)) for number in range(8, 11)))
    return folder, dev


def train(kind: str, files: tuple[Path, Path], out: Path) -> dict[str, Any]:
    words = ["train", kind, str(files[0]), "--dev", str(files[1]), "--embedder", "hashing", "--json"]
    result = CliRunner().invoke(app, [*words, "--out", str(out)])
    assert result.exit_code == 0, result.output
    told: dict[str, Any] = json.loads(result.stdout)
    return told


def test_sentences_are_learned_and_the_file_is_reproducible(files: tuple[Path, Path], tmp_path: Path) -> None:
    first, second = tmp_path / "a.npz", tmp_path / "b.npz"
    told = train("sentences", files, first)
    assert told == {**train("sentences", files, second), "out": str(first)}
    assert first.read_bytes() == second.read_bytes()
    for name in (SentenceModel.TEXT_ALONE, "hashing-256"):
        assert told[name]["all"]["coverage"] == told[name]["all"]["silence"] == 1
    model = SentenceModel.load(first)
    (fact_score,) = model.score(model.split("I keep a fox in my flat."))
    (talk_score,) = model.score(model.split("thanks haha"))
    assert fact_score.kept
    assert not talk_score.kept
    assert fact_score.kind == "profile"


def test_pairs_are_learned_and_the_file_is_reproducible(files: tuple[Path, Path], tmp_path: Path) -> None:
    first, second = tmp_path / "a.npz", tmp_path / "b.npz"
    told = train("pairs", files, first)
    assert train("pairs", files, second)["pairs"] == told["pairs"] > 0
    assert first.read_bytes() == second.read_bytes()
    assert {UpdateModel.TEXT_ALONE, "hashing-256"} == set(UpdateModel.load(first).by_embedder)


def test_labels_are_quotes_and_replacements() -> None:
    one = Life.model_validate(life(1))
    messages = label_messages([one])
    assert [[message.label(piece) for piece in message.pieces] for message in messages] == [
        ["profile", None], [None], ["profile"], [None],
    ]  # fmt: skip
    sentences = [piece.text for message in messages for piece in message.pieces]
    texts = [*sentences, *(turn.user for turn in one.turns), one.questions[0].q]
    vectors = dict(zip(texts, HashingEmbedder(32).embed(texts), strict=True))
    of_sentences, of_messages = label_pairs(one, vectors)
    assert of_sentences.is_update
    assert of_sentences.days == of_messages.days == 2
    assert of_messages.old == one.turns[0].user
    assert (
        list(label_pairs(one.model_copy(update={"questions": ()}), vectors)) == []
    )  # without a question nothing is compared
    everything = [[1.0] * len(message.pieces) for message in messages]
    figures = measure(messages, everything, 0.5)
    assert (figures["coverage"], figures["silence"], figures["gold_precision"]) == (1, 0, 0.4)


def test_statements_are_whole_messages_and_count_less() -> None:
    statements = read_statements()
    assert {each.lasting for each in statements} == {True, False}
    assert len({each.text for each in statements}) == len(statements)
    for message, statement in zip(label_statements(statements), statements, strict=True):
        assert [message.label(piece) is not None for piece in message.pieces[:1]] == [statement.lasting]
        assert message.weight < 1


def test_logistic_regression_finds_the_minimum() -> None:
    rng = np.random.default_rng(0)
    dense = np.hstack([np.ones((200, 1)), rng.normal(size=(200, 2))])
    targets = (rng.random(200) < 1 / (1 + np.exp(-(0.5 + 2 * dense[:, 1])))).astype(float)
    features = [(np.array([row % 3]), np.ones(1)) for row in range(200)]
    sparse = SparseRows.build(features)
    fitted = fit_logistic(sparse, dense, targets, bucket_count=5, inverse_regularisation=1.0)
    logits = sparse.times(fitted.words[sparse.buckets]) + dense @ fitted.dense
    errors = 1 / (1 + np.exp(-logits)) - targets
    assert np.abs(dense.T @ errors + fitted.dense).max() < 0.05
    assert np.abs(sparse.transposed_times(errors) + fitted.words[:3]).max() < 0.05
    assert fitted.dense[1] > 1
    assert not fitted.words[3:].any()


def test_area_under_curve() -> None:
    assert area_under_curve([True, False], [0.9, 0.1]) == 1
    assert area_under_curve([True, False], [0.5, 0.5]) == 0.5
    assert area_under_curve([True, False, True, False], [0.9, 0.8, 0.7, 0.1]) == 0.75


@pytest.mark.parametrize("kind", ["sentences", "pairs"])
def test_errors_are_one_line(kind: str, files: tuple[Path, Path]) -> None:
    words = ["train", kind, str(files[0]), "--dev", str(files[1]), "--embedder", "hashing", "--out", "a.bin"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 1
    assert result.stderr == "error: a.bin: the file name must end in .npz\n"
