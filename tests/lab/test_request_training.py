"""`train requests`: what a tiny model learns, determinism, and errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.lab.test_question_training import THINGS, write_files
from typer.testing import CliRunner

from thinkback import RequestModel
from thinkback.network.cross_encoder import find_cross_encoder
from thinkback_lab.cli import app
from thinkback_lab.training.request_classifier import WantedMessage, memory_questions

FOLDER = Path(__file__).parents[2] / "scenarios" / "requests"


def write_requests(folder: Path) -> Path:
    """Messages in which "draw" is a request."""
    messages = folder / "requests.jsonl"
    lines = [{"text": f"draw the {thing}", "wants": "task"} for thing in THINGS]
    lines += [{"text": f"the {thing} is blue", "wants": "tell"} for thing in THINGS]
    messages.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    return messages


@pytest.mark.skipif(find_cross_encoder() is None, reason="thinkback-reranker is not installed")
def test_a_tiny_model_learns_and_has_the_same_bytes_twice(tmp_path: Path) -> None:
    questions, lives = write_files(tmp_path)
    messages = write_requests(tmp_path)
    made = [tmp_path / name for name in ("a.npz", "b.npz")]
    for out in made:
        command = ["train", "requests", str(messages), "--questions", str(questions), "--lives", str(lives)]
        done = CliRunner().invoke(app, [*command, "--out", str(out), "--json"])
        assert done.exit_code == 0, done.output
    assert made[0].read_bytes() == made[1].read_bytes()
    figures = json.loads(done.output)
    assert (figures["positives"], figures["negatives"]) == (len(THINGS), len(THINGS))
    assert figures["with_network"]["0.3"] == {"found": 1.0, "false": 0.0}
    model = RequestModel.load(made[0])
    assert model.probability("draw the umbrella") > 0.5 > model.probability("the umbrella is blue")
    assert model.probability("the umbrella again") < 0.5


def test_messages_for_memory_are_questions_and_those_for_a_model_are_left_out() -> None:
    wanted = [WantedMessage(text=kind, wants=kind) for kind in ("task", "memory", "tell")]
    labelled = memory_questions(wanted)
    assert [(message.text, message.is_question) for message in labelled] == [
        ("memory", True),
        ("tell", False),
    ]


def test_an_unknown_label_is_named(tmp_path: Path) -> None:
    _, lives = write_files(tmp_path)
    messages = write_requests(tmp_path)
    messages.write_text('{"text": "draw the cat", "wants": "picture"}', "utf-8")
    done = CliRunner().invoke(app, ["train", "requests", str(messages), "--lives", str(lives)])
    assert done.exit_code == 1
    assert "line 1" in done.output
    assert "wants" in done.output


def test_labelled_messages_agree_and_those_held_out_are_not_learned() -> None:
    labels: dict[str, str] = {}
    for message in _read(FOLDER):
        assert labels.setdefault(message["text"], message["wants"]) == message["wants"]
    assert len(labels) > 1900
    learned = {text.strip().lower() for text in labels}
    assert not learned & {message["text"].strip().lower() for message in _read(FOLDER / "heldout")}


def _read(folder: Path) -> list[dict[str, str]]:
    lines = [line for file in sorted(folder.glob("*.jsonl")) for line in file.read_text("utf-8").splitlines()]
    return [json.loads(line) for line in lines]
