"""`thinkback-lab eval lives`: the file format, every figure with exact numbers, the replay, the command."""

from __future__ import annotations

import gzip
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.lab.dataset_fixtures import FIXTURES
from typer.testing import CliRunner, Result

from thinkback_lab.cli import app
from thinkback_lab.datasets.lives import Life, load_lives
from thinkback_lab.errors import DatasetNotFound, LabError
from thinkback_lab.evaluations.lives import play_life, run_lives, summarise_lives
from thinkback_lab.evaluations.lives_scoring import (
    AskedQuestion,
    LifeThought,
    Passage,
    PlayedLife,
    RecalledMemory,
    contains_value,
    covers,
    memory_figures,
    question_figures,
    score_facts,
    score_questions,
)
from thinkback_lab.harness import Harness, Setup

SETUP = Setup(embedder="hashing")
ENGLISH, CHINESE = load_lives(FIXTURES)


def lab(*words: object) -> Result:
    return CliRunner().invoke(app, ["eval", "lives", *map(str, words)], prog_name="thinkback-lab")


def thought(
    life: Life, turn: int, passage: str, sentence: str, *objects: str, current: bool = True
) -> LifeThought:
    start = life.turns[turn - 1].user.index(passage)
    return LifeThought(
        ref=f"thought:{sentence}",
        sentence=sentence,
        objects=objects,
        current=current,
        passages=(Passage(turn, "query", start, start + len(passage)),),
    )


def memory(text: str, *turns: int, outdated: bool = False) -> RecalledMemory:
    return RecalledMemory(ref="turn:1", text=text, turns=turns, outdated=outdated)


def asked(*recalled: RecalledMemory, known: bool | None = None) -> AskedQuestion:
    """A question that recalls the same in all modes, but no thoughts."""
    return AskedQuestion(
        recalled={"both": recalled, "raw": recalled, "thoughts": (), "brief": ()}, known=known
    )


PLAYED_ENGLISH = PlayedLife(
    life=ENGLISH,
    thoughts=(
        thought(ENGLISH, 1, "I'm Mara", "The user's name is Mara.", "Mara"),  # f1, valid
        thought(ENGLISH, 1, "I live in Leeds", "The user's home.", "Leeds", current=False),  # f2, replaced
        thought(ENGLISH, 3, "my brother", "Theo works at the harbour."),  # f3, ended, still current
        thought(
            ENGLISH, 3, "I take 40 mg of", "The user takes tablets.", current=False
        ),  # f4, wrongly retired
        thought(ENGLISH, 2, "a good joke", "The user likes jokes."),  # a turn without facts
    ),
    asked=(
        asked(memory("It's York now.", 4), memory("The user lived in Leeds (past)", 1, outdated=True)),
        asked(*[memory("Theo", 3)] * 5, memory("The harbour", 4)),
        asked(),
        asked(memory("Mara", 1), known=False),
    ),
)
PLAYED_CHINESE = PlayedLife(
    life=CHINESE,
    thoughts=(
        thought(CHINESE, 1, "在杭州做会计", "用户是会计。", "会计"),  # f1, replaced, still current
        thought(CHINESE, 3, "当老师", "用户有新工作。"),  # f3 by more than half of the quote; f2 is missing
    ),
    asked=(
        asked(memory("现在当老师", 3), memory("在杭州做会计", 1)),
        asked(memory("今天好冷", 2), known=True),
    ),
)


# --- the file ---------------------------------------------------------------------------------


def test_loads_typed_lives_with_utc_times() -> None:
    assert [(life.id, life.lang, len(life.turns)) for life in (ENGLISH, CHINESE)] == [
        ("en-t01", "en", 5),
        ("zh-t02", "zh", 3),
    ]
    assert ENGLISH.turns[3].at.isoformat() == "2025-03-10T18:00:00+00:00"
    assert ENGLISH.people[0].description == "the user's brother"
    assert ENGLISH.turns[3].facts[0].valid_from == "2025-03"


def test_status_of_facts_at_the_end() -> None:
    assert ENGLISH.fact_statuses == {
        "f1": "valid",
        "f2": "replaced",
        "f3": "ended",
        "f4": "valid",
        "f5": "valid",
    }
    assert CHINESE.fact_statuses == {"f1": "replaced", "f2": "forgotten", "f3": "valid"}


def test_split_can_be_a_gzipped_file_and_language_selects(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl.gz"
    path.write_bytes(gzip.compress((FIXTURES / "lives" / "dev.jsonl").read_bytes()))
    assert load_lives(None, str(path)) == [ENGLISH, CHINESE]
    assert load_lives(FIXTURES, "dev", "zh") == [CHINESE]
    assert load_lives(FIXTURES / "lives", "dev", "en") == [ENGLISH]
    with pytest.raises(LabError, match="no life in 'mix'"):
        load_lives(FIXTURES, "dev", "mix")


def test_absent_data_names_its_origin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("THINKBACK_DATA", raising=False)
    for folder, split in ((None, "dev"), (tmp_path, "train"), (None, str(tmp_path / "none.jsonl"))):
        with pytest.raises(DatasetNotFound, match="written for this project"):
            load_lives(folder, split)
    with pytest.raises(LabError, match="unknown split 'test'"):
        load_lives(FIXTURES, "test")


def first_life() -> Any:
    return json.loads((FIXTURES / "lives" / "dev.jsonl").read_text("utf-8").splitlines()[0])


def set_at(value: Any, path: str, new: object) -> None:
    *parents, last = path.split(".")
    for part in parents:
        value = value[int(part) if part.isdecimal() else part]
    value[int(last) if last.isdecimal() else last] = new


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("lang", "de", "lang: Input should be 'en', 'zh' or 'mix'"),
        ("turns", [], "turns: Tuple should have at least 1 item"),
        ("turns.1.n", 7, "turn 2 has n=7"),
        ("turns.1.at", "2025-01-06T08:00", "turn 2 is not later"),
        ("turns.0.facts.0.quote", "I am Mara", "the quote of f1 is not in the turn: 'I am Mara'"),
        ("turns.0.facts.1.id", "f1", "duplicate fact f1"),
        ("turns.0.facts.0.from", "March", "valid_from|from: String should match"),
        ("turns.3.facts.0.replaces", ["f5"], "f5 replaces f5, which no earlier turn states"),
        ("turns.3.ends", ["f9"], "unknown fact f9"),
        ("questions.0.evidence", [6], "evidence names turn 6"),
        ("questions.0.evidence", [], "needs accept and evidence"),
        ("questions.0.accept", [[]], "at least 1 item"),
        ("questions.0.facts", ["f9"], "unknown fact f9"),
        ("questions.0.kind", "other", "kind: Input should be 'single'"),
    ],
)
def test_invalid_life_is_one_error_with_its_line(
    path: str, value: object, message: str, tmp_path: Path
) -> None:
    life = first_life()
    set_at(life, path, value)
    file = tmp_path / "bad.jsonl"
    file.write_text(json.dumps(life), "utf-8")
    with pytest.raises(LabError, match=message) as raised:
        load_lives(None, str(file))
    assert f"{file}, line 1: not a life" in str(raised.value)


@pytest.mark.parametrize("field", ["accept", "reject", "evidence", "kind"])
def test_missing_question_field_is_an_error(field: str, tmp_path: Path) -> None:
    life = first_life()
    del life["questions"][0][field]
    file = tmp_path / "bad.jsonl"
    file.write_text(json.dumps(life), "utf-8")
    with pytest.raises(LabError, match=f"{field}: Field required"):
        load_lives(None, str(file))


def test_duplicate_and_empty_files_are_errors(tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text((json.dumps(first_life()) + "\n") * 2, "utf-8")
    with pytest.raises(LabError, match="line 2: duplicate id 'en-t01'"):
        load_lives(None, str(file))
    file.write_text("\n", "utf-8")
    with pytest.raises(LabError, match="contains no life"):
        load_lives(None, str(file))


# --- matching ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("It costs 42,000 dollars", "42"),
        ("Ｌｉｖｅｓ in\n YORK", "lives in york"),
        ("bandaids", "bandaid"),
        ("在 杭州 工作", "在杭州"),
        ("140 then 40", "40"),
    ],
)
def test_value_is_found(text: str, value: str) -> None:
    assert contains_value(text, value)


@pytest.mark.parametrize(
    ("text", "value"), [("142", "42"), ("425", "42"), ("forty-two", "42"), ("anything", ""), ("", "x")]
)
def test_value_is_not_found(text: str, value: str) -> None:
    assert not contains_value(text, value)


@pytest.mark.parametrize(
    ("turn", "passage", "sentence", "expected"),
    [
        (1, "I live in Leeds", "x", True),  # 15 of the 28 characters of the quote
        (1, "live in Leeds,", "x", True),  # 14 of them, exactly half
        (1, "live in Leeds", "x", False),
        (1, "hi", "The user lives in LEEDS.", True),
        (2, "joke", "The user lives in Leeds.", False),  # drawn from another turn
    ],
)
def test_thought_covers_fact(turn: int, passage: str, sentence: str, expected: bool) -> None:
    home = ENGLISH.turns[0].facts[1]
    assert covers(thought(ENGLISH, turn, passage, sentence), home, ENGLISH.turns[0]) is expected


def test_passages_in_the_reply_do_not_count_as_the_users_words() -> None:
    reply = LifeThought(
        ref="thought:1",
        sentence="x",
        objects=(),
        current=True,
        passages=(Passage(1, "response", 0, 45),),
    )
    assert not covers(reply, ENGLISH.turns[0].facts[1], ENGLISH.turns[0])


# --- figures ----------------------------------------------------------------------------------


def test_memory_figures_of_one_life() -> None:
    assert [(score.fact.id, score.state) for score in score_facts(PLAYED_ENGLISH)] == [
        ("f1", "current"),
        ("f2", "past"),
        ("f3", "current"),
        ("f4", "past"),
        ("f5", "missing"),
    ]
    assert memory_figures([PLAYED_ENGLISH]) == {
        "lives": 1,
        "turns": 5,
        "turns_without_facts": 2,
        "facts": 5,
        "facts_gone": 2,
        "thoughts": 5,
        "coverage": pytest.approx(4 / 5),
        "value_coverage": pytest.approx(3 / 5),
        "silence": 1 / 2,
        "thoughts_per_turn": 1.0,
        "current": pytest.approx(1 / 3),
        "stale": 1 / 2,
        "wrongly_retired": 1 / 2,
    }


def state_of(fact: str, *thoughts: LifeThought) -> str:
    played = PlayedLife(life=ENGLISH, thoughts=thoughts, asked=())
    return next(score.state for score in score_facts(played) if score.fact.id == fact)


def test_thought_about_another_fact_does_not_decide() -> None:
    """Both thoughts name Leeds; the one about the name of the user resembles the other fact more."""
    retired = thought(ENGLISH, 1, "live in Leeds", "The user lives in Leeds.", current=False)
    about_name = thought(ENGLISH, 1, "I'm Mara and I live in Leeds", "The user's name is Mara (Leeds).")
    assert state_of("f2", retired, about_name) == "past"
    assert state_of("f2", about_name) == "current"  # nothing else covers it


def test_fact_is_kept_by_a_thought_that_replaced_its_own_and_states_its_value() -> None:
    old = thought(ENGLISH, 3, "40 mg of Simvastatin", "The user takes 40 mg of Simvastatin.", current=False)
    keeps = thought(ENGLISH, 4, "quit", "The user takes 40 mg of Simvastatin on weekdays.")
    other = thought(ENGLISH, 4, "quit", "The user takes nothing.")
    assert state_of("f4", replace(old, replaced_by=(keeps.ref,)), keeps) == "current"
    assert state_of("f4", replace(old, replaced_by=(other.ref,)), other) == "past"


def test_replaced_fact_is_not_stale_through_a_thought_that_covers_its_successor() -> None:
    home = thought(ENGLISH, 1, "live in Leeds", "The user moved from Leeds to York.")
    again = thought(ENGLISH, 4, "it's York now", "x").passages
    assert state_of("f2", home) == "current"
    assert state_of("f2", replace(home, passages=(*home.passages, *again))) == "past"


def test_memory_figures_are_counted_over_all_lives() -> None:
    figures = memory_figures([PLAYED_ENGLISH, PLAYED_CHINESE])
    names = (
        "coverage",
        "value_coverage",
        "silence",
        "thoughts_per_turn",
        "current",
        "stale",
        "wrongly_retired",
    )
    assert {name: figures[name] for name in names} == {
        "coverage": 6 / 8,
        "value_coverage": 4 / 8,
        "silence": pytest.approx(2 / 3),
        "thoughts_per_turn": 7 / 8,
        "current": 2 / 4,
        "stale": 2 / 4,
        "wrongly_retired": pytest.approx(1 / 3),
    }


def test_question_figures_of_one_life() -> None:
    assert question_figures(score_questions(PLAYED_ENGLISH, "both")) == {
        "n": 4,
        "answerable": 3,
        "recall@5": pytest.approx((1 + 1 / 2 + 0) / 3),
        "recall@10": pytest.approx((1 + 1 + 0) / 3),
        "answer@5": pytest.approx(1 / 3),  # the harbour is only in the sixth item
        "clean@5": pytest.approx(1 / 3),  # the item with Leeds is marked as outdated
        "abstention": 1.0,
        "wrongly_silent": pytest.approx(1 / 3),
        "tokens": (12 + 6 + 0 + 1) / 4,
    }


def test_rejected_value_in_an_item_that_is_not_outdated() -> None:
    figures = question_figures(score_questions(PLAYED_CHINESE, "both"))
    assert (figures["answer@5"], figures["clean@5"], figures["abstention"]) == (1.0, 0.0, 0.0)


def test_modes_are_scored_apart() -> None:
    none = question_figures(score_questions(PLAYED_ENGLISH, "thoughts"))
    raw = question_figures(score_questions(PLAYED_ENGLISH, "raw"))
    assert (none["recall@10"], none["answer@5"], none["wrongly_silent"], none["tokens"]) == (0, 0, 1, 0)
    assert (none["abstention"], raw["abstention"]) == (None, None)  # synthesise is asked in mode `both` only
    assert raw["tokens"] == 19 / 4


def test_nothing_to_measure_is_none() -> None:
    figures = question_figures([])
    assert figures.pop("n") == figures.pop("answerable") == 0
    assert set(figures.values()) == {None}


def test_summary_groups_by_language_kind_and_mode() -> None:
    summary = summarise_lives([PLAYED_ENGLISH, PLAYED_CHINESE], {"split": "dev"})
    assert (summary["dataset"], summary["n"], summary["settings"]) == ("lives", 6, {"split": "dev"})
    assert list(summary["by_language"]) == ["en", "zh"]
    assert {kind: figures["n"] for kind, figures in summary["by_kind"].items()} == {
        "single": 1,
        "multi": 1,
        "update": 2,
        "absent": 2,
    }
    update = summary["by_kind"]["update"]
    assert (update["answer@5"], update["clean@5"]) == (1.0, 0.5)
    assert summary["by_kind"]["absent"]["abstention"] == summary["metrics"]["abstention"] == 0.5
    assert list(summary["ablation"]) == ["both", "thoughts", "brief", "raw"]
    assert summary["ablation"]["raw"]["by_language"]["zh"]["answer@5"] == 1.0
    assert summary["ablation"]["thoughts"]["by_kind"]["update"]["answer@5"] == 0.0
    assert [len(summary[name]) for name in ("questions", "facts", "thoughts")] == [6, 8, 7]
    assert [line["facts"] for line in summary["thoughts"]] == [
        ["f1"],
        ["f2"],
        ["f3"],
        ["f4"],
        [],
        ["f1"],
        ["f3"],
    ]
    assert summary["questions"][0]["both"]["recalled"][1] == {
        "ref": "turn:1",
        "turns": [1],
        "outdated": True,
        "text": "The user lived in Leeds (past)",
    }


# --- replay -----------------------------------------------------------------------------------


def test_replay_asks_at_the_time_of_the_question_and_separates_modes() -> None:
    steps: list[int] = []
    played = play_life(Harness(SETUP), ENGLISH, lambda: steps.append(1))
    assert len(steps) == len(ENGLISH.turns) + len(ENGLISH.questions)
    assert (played.unprocessed_turns, played.llm_calls) == (0, 0)
    between_sessions = played.asked[2].recalled  # asked in February: turns 4 and 5 were not yet said
    assert between_sessions["raw"]
    assert all(turn <= 3 for items in between_sessions.values() for item in items for turn in item.turns)
    for each in played.asked:
        assert all(item.is_thought for item in each.recalled["thoughts"])
        assert not any(item.is_thought for item in each.recalled["raw"])
        assert {i.ref for i in each.recalled["both"] if i.is_thought} <= {
            i.ref for i in each.recalled["thoughts"]
        }
    assert all(each.known is None for each in played.asked[:3])
    for drawn in played.thoughts:
        for passage in drawn.passages:
            turn = ENGLISH.turns[passage.turn - 1]
            text = turn.user if passage.side == "query" else turn.assistant
            assert 0 <= passage.start < passage.end <= len(text)


def test_replay_is_deterministic_and_reports_progress() -> None:
    steps: list[tuple[int, int]] = []
    first = run_lives([ENGLISH, CHINESE], SETUP, lambda done, total: steps.append((done, total)))
    assert steps == [(done, 14) for done in range(1, 15)]
    assert summarise_lives(first, {}) == summarise_lives(run_lives([ENGLISH, CHINESE], SETUP), {})


# --- the command ------------------------------------------------------------------------------


def test_command_prints_three_tables() -> None:
    done = lab("--data", FIXTURES, "--embedder", "hashing")
    assert done.exit_code == 0, done.output
    heads = [line.split()[0] for line in done.stdout.splitlines() if line.strip()]
    assert heads == [
        *("thoughts", "en", "zh", "all"),
        *("questions", "single", "multi", "update", "absent", "en", "zh", "all"),
        "recall",
        *(("both", "thoughts", "brief", "raw") * 3),
        "0.00",
    ]


def test_command_prints_json_with_its_settings() -> None:
    words = ("--data", FIXTURES, "--embedder", "hashing", "--lang", "zh", "--limit", 1, "--json")
    done = lab(*words)
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    assert summary["settings"] == {
        "split": "dev",
        "lang": "zh",
        "life": None,
        "limit": 1,
        "seed": None,
        "llm": "none",
        "embedder": "hashing",
        "preset": "hybrid",
        "think": "auto",
        "think_after": "turn",
    }
    assert list(summary["by_language"]) == ["zh"]
    assert lab(*words).stdout == done.stdout


def test_command_without_data_is_one_line(tmp_path: Path) -> None:
    done = lab("--data", tmp_path)
    assert (done.exit_code, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith("error: ")
    assert "lives/dev.jsonl" in line


# --- the real data ----------------------------------------------------------------------------


def test_first_three_lives_of_the_real_data() -> None:
    folder = Path(os.environ.get("THINKBACK_DATA") or Path(__file__).parents[3] / "shared" / "data")
    if not (folder / "lives").is_dir():
        pytest.skip(f"{folder} has no lives/: set THINKBACK_DATA")
    lives = load_lives(folder, "dev")
    assert len(lives) == 16
    summary = summarise_lives(run_lives(lives[:3], SETUP), {})
    metrics = summary["metrics"]
    assert (metrics["lives"], metrics["turns"], metrics["questions"]) == (3, 94, 42)
    assert summary["unthought"] == 0
    assert metrics["recall@10"] > 0.5
    assert summary["ablation"]["raw"]["answer@5"] > 0.3
