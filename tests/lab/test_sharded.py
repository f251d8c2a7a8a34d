"""Sharded tasks: file format, retention, runs without and with a model, command."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fake_openai import FakeOpenAI
from typer.testing import CliRunner, Result

from thinkback_lab.cli import app
from thinkback_lab.errors import LabError
from thinkback_lab.evaluations.sharded import (
    PlayedTask,
    ShardedTask,
    read_tasks,
    run_sharded,
    sharded_table,
    summarise_sharded,
)
from thinkback_lab.harness import Setup
from thinkback_lab.metrics.answers import is_retained

SETUP = Setup(embedder="hashing")
SHARDS = ["My hens lay 48 eggs a day.", "We eat 6 of them.", "An egg sells for 30 cents."]


def task(*shards: str, question: str = "How much do I earn?", answer: object = "12.6") -> ShardedTask:
    made = {
        "shards": [{"shard": shard} for shard in shards or SHARDS],
        "question": question,
        "answer": answer,
    }
    return ShardedTask.model_validate(made)


def lab(*words: object) -> Result:
    return CliRunner().invoke(app, ["eval", "sharded", *map(str, words), "--embedder", "hashing"])


# --- what counts as kept ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "line"),
    [
        ("Not the tent because it leaks.", "- tent (it leaks)"),
        ("My hens lay 48 eggs a day.", "Fact #1: my hens lay 48 eggs a day"),
        ("不考虑跟团，因为时间不自由。", "- 跟团 (时间不自由)"),
        ("预算最多每月4500元。", "预算最多每月4500元"),
    ],
)
def test_shard_is_retained_in_other_words(told: str, line: str) -> None:
    assert is_retained(told, ["nothing here", line])


@pytest.mark.parametrize(
    ("told", "lines"),
    [
        ("My hens lay 48 eggs a day.", ["My hens lay eggs a day."]),
        ("My hens lay 48 eggs a day.", ["My hens lay 480 eggs a day."]),
        ("My hens lay 48 eggs a day.", ["My hens", "lay 48 eggs", "a day"]),
        ("My hens lay 48 eggs. We eat 6.", ["My hens lay 48 eggs."]),
        ("必须能养猫。", ["必须能养狗。"]),
        ("必须能养猫。", []),
    ],
)
def test_shard_is_not_retained(told: str, lines: list[str]) -> None:
    assert not is_retained(told, lines)


# --- the file ---------------------------------------------------------------------------------


def test_shipped_tasks_are_in_both_languages() -> None:
    tasks = read_tasks(None)
    assert len(tasks) >= 12
    assert {each.lang for each in tasks} == {"en", "zh"}
    assert len({each.id for each in tasks}) == len(tasks)
    assert not any(each.is_complete_question for each in tasks)


def test_complete_question_is_not_asked_after_shards() -> None:
    whole = task(question=" ".join(SHARDS) + " How much do I earn?")
    assert whole.is_complete_question
    assert whole.messages == tuple(SHARDS)
    assert whole.single_message == whole.question
    parted = task()
    assert parted.messages == (*SHARDS, "How much do I earn?")
    assert parted.single_message == "\n".join(parted.messages)


def test_answers_have_many_forms() -> None:
    assert task(answer=9).expected == "9"
    assert task(answer="48 - 6 = 42\n#### 42").expected == "42"
    assert task(answer=["9", "nine"]).expected == "9"


@pytest.mark.parametrize(
    "text", ["{", "{}", "[]", '[{"shards": [], "question": "q"}]', '[{"shards": [{"shard": "a"}]}]']
)
def test_invalid_file_is_one_clear_error(text: str, tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    path.write_text(text, "utf-8")
    with pytest.raises(LabError, match=r"tasks\.json"):
        read_tasks(path)


# --- playing ----------------------------------------------------------------------------------


def test_shards_and_tokens_are_counted_without_model() -> None:
    (played,) = run_sharded([task()], SETUP)
    assert (played.lost, played.counted, len(played.tokens)) == ((), 3, 4)
    assert played.tokens[0] < played.tokens[-1]
    assert (played.multi_turn, played.one_shot) == (None, None)


def test_at_least_98_percent_of_shipped_shards_are_retained() -> None:
    summary = summarise_sharded(run_sharded(read_tasks(None), SETUP), {})
    assert summary["metrics"]["shards_kept"] >= 0.98
    assert summary["failures"] == []


def test_model_gets_shards_and_everything_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with FakeOpenAI() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-none")
        asked: list[str] = []

        def reply(body: Any) -> str:
            asked.append(body["messages"][-1]["content"])
            return "You earn 12.6 euros." if asked[-1] == task().single_message else "I do not know."

        server.reply = reply
        (played,) = run_sharded([task()], Setup(llm="openai:fake", embedder="hashing", think="extractive"))
    assert (played.multi_turn, played.one_shot, played.lost) == (False, True, ())
    assert asked == [*task().messages, task().single_message]


def test_lost_shard_is_counted_and_reported() -> None:
    played = [PlayedTask(task=task(), lost=(SHARDS[0],), counted=3, tokens=(10, 20, 40))]
    summary = summarise_sharded(played, {})
    assert summary["metrics"]["shards_kept"] == pytest.approx(2 / 3)
    assert summary["failures"] == [{"id": "", "lost": [SHARDS[0]]}]


def test_drop_between_one_shot_and_multi_turn() -> None:
    played = [
        PlayedTask(task=task(), lost=(), counted=3, tokens=(10, 20), multi_turn=right, one_shot=True)
        for right in (True, False)
    ]
    figures = summarise_sharded(played, {})["metrics"]
    assert (figures["multi_turn"], figures["one_shot"], figures["drop"]) == (0.5, 1.0, 0.5)
    assert sharded_table(summarise_sharded(played, {})).row_count == 2


# --- the command ------------------------------------------------------------------------------


def test_command_output(tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    shards = [{"shard": shard, "shard_id": 1} for shard in SHARDS]
    path.write_text(
        json.dumps([{"task_id": "a", "shards": shards, "question": "How much?", "answer": 9}]), "utf-8"
    )
    done = lab("--data", path, "--json")
    assert done.exit_code == 0, done.output
    told: dict[str, Any] = json.loads(done.stdout)
    assert (told["n"], told["metrics"]["shards"], told["metrics"]["shards_kept"]) == (1, 3, 1.0)
    assert len(told["tokens_by_turn"]) == 4
    assert "tokens by turn" in lab("--data", path).stdout
    assert lab("--data", tmp_path / "absent.json").exit_code == 1
