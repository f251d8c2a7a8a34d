"""`train questions`: what a tiny model learns, determinism, and errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from thinkback import QuestionModel
from thinkback.network.cross_encoder import find_cross_encoder
from thinkback_lab.cli import app

THINGS = (
    "rent",
    "cat",
    "flight",
    "dentist",
    "blood type",
    "shoe size",
    "niece",
    "landlord",
    "locker",
    "passport",
)
FOLDER = Path(__file__).parents[2] / "scenarios" / "questions"


def write_files(folder: Path) -> tuple[Path, Path]:
    """Messages in which the word "again" asks and "now" tells, and a file of lives without facts."""
    messages = folder / "messages.jsonl"
    lines = [{"text": f"the {thing} again", "is_question": True} for thing in THINGS]
    lines += [{"text": f"the {thing} is sorted now", "is_question": False} for thing in THINGS]
    messages.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    lives = folder / "lives.jsonl"
    turn = {"n": 1, "session": "s1", "at": "2026-01-05T10:00", "user": "So tired.", "assistant": "Rest well."}
    turn |= {"facts": [], "ends": [], "forget": []}
    question = {"q": "Who am I?", "at": "2026-01-06T10:00", "answer": "not told", "accept": [], "reject": []}
    question |= {"evidence": [], "facts": [], "kind": "absent"}
    lives.write_text(
        json.dumps({"id": "a", "lang": "en", "people": [], "turns": [turn], "questions": [question]}), "utf-8"
    )
    return messages, lives


@pytest.mark.skipif(find_cross_encoder() is None, reason="thinkback-reranker is not installed")
def test_a_tiny_model_learns_and_has_the_same_bytes_twice(tmp_path: Path) -> None:
    messages, lives = write_files(tmp_path)
    made = [tmp_path / name for name in ("a.npz", "b.npz")]
    for out in made:
        command = ["train", "questions", str(messages), "--lives", str(lives), "--out", str(out), "--json"]
        done = CliRunner().invoke(app, command)
        assert done.exit_code == 0, done.output
    assert made[0].read_bytes() == made[1].read_bytes()
    figures = json.loads(done.output)
    assert figures["thresholds"]["0.5"] == figures["with_network"]["0.5"] == {"found": 1.0, "false": 0.0}
    model = QuestionModel.load(made[0])
    assert model.probability("the umbrella again") > 0.5 > model.probability("the umbrella is sorted now")


def test_a_line_without_a_label_is_named(tmp_path: Path) -> None:
    messages, lives = write_files(tmp_path)
    messages.write_text('{"text": "rent?"}', "utf-8")
    done = CliRunner().invoke(app, ["train", "questions", str(messages), "--lives", str(lives)])
    assert done.exit_code == 1
    assert "line 1" in done.output
    assert "is_question" in done.output


def test_labelled_messages_are_distinct() -> None:
    lines = [line for file in sorted(FOLDER.glob("*.jsonl")) for line in file.read_text("utf-8").splitlines()]
    labels: dict[str, bool] = {}
    for message in map(json.loads, lines):
        assert labels.setdefault(message["text"], message["is_question"]) == message["is_question"]
    assert len(labels) > 2500
