"""Worlds in PerLTQA's files: round trips, and dates in free text."""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lab.world_strategies import moments, worlds

from thinkback_lab.datasets.perltqa import load
from thinkback_lab.errors import LabError
from thinkback_lab.worlds.dates import format_date
from thinkback_lab.worlds.dates import parse_date as read_date
from thinkback_lab.worlds.files import file_names, read_world, write_world
from thinkback_lab.worlds.world import QA, Anchor, Character, Dialogue, Event, Relationship, World


@settings(max_examples=60, deadline=None)
@given(worlds())
def test_written_world_is_read_back(world: World) -> None:
    with tempfile.TemporaryDirectory() as folder:
        assert read_world(*write_world(world, Path(folder)), world.lang) == world


def small() -> World:
    at = datetime(2021, 4, 5, 9, 30, tzinfo=UTC)
    return World(
        "en",
        (
            Character(
                number=1,
                name="Ada Finch",
                profile={"Protagonist": "Ada Finch", "Hobbies": "kites"},
                description="",
                relationships=(
                    Relationship(id="1_0", name="Bo", relationship="friend", description="A friend."),
                ),
                events=(
                    Event(id="1_0_0", content="Kites.", summary="", characters=("1_0",), at=at, theme=""),
                ),
                dialogues=(Dialogue(id="1_0_0#0", event="1_0_0", at=at, lines=(("Bo", "Up: now!"),)),),
                questions=(
                    QA(
                        section="events",
                        question="What did they fly?",
                        answer="Kites",
                        references=("1_0_0",),
                        anchors=(Anchor("Kites", 0, 5),),
                        again=("What was flown?",),
                    ),
                    QA(
                        section="events",
                        question="Who cooked?",
                        answer="Unknown",
                        references=(),
                        anchors=(),
                        topic="unanswerable",
                    ),
                ),
            ),
        ),
    )


def test_files_have_form_of_public_ones(tmp_path: Path) -> None:
    memories, questions = write_world(small(), tmp_path)
    assert (memories.name, questions.name) == file_names("en")
    told: dict[str, Any] = json.loads(memories.read_text("utf-8"))["Ada Finch"]
    assert list(told) == ["profile", "profile_description", "social_relationship", "events", "dialogues"]
    assert told["dialogues"]["1_0_0#0"] == {
        "events": "1_0_0",
        "contents": {"2021-04-05 09:30": ["Bo: Up: now!"]},
    }
    assert told["events"]["1_0_0"]["Characters"] == ["1_0"]
    (asked,) = json.loads(questions.read_text("utf-8"))
    first, second = asked["Ada Finch"]["events"]
    assert first["1_0_0"][0]["Reference Memory"] == "['1_0_0']"
    assert first["1_0_0"][0]["Memory Anchors"] == [{"Kites": [0, 5]}]
    assert second[""][0]["Reference Memory"] == "[]"


def test_loader_reads_additional_fields(tmp_path: Path) -> None:
    write_world(small(), tmp_path)
    (case,) = load(tmp_path).cases
    flown, cooked = case.questions
    assert (flown.gold, flown.again, flown.answerable) == (("1_0_0",), ("What was flown?",), True)
    assert (cooked.gold, cooked.answerable) == ((), False)
    assert cooked.id.endswith("events-unanswerable")


def test_same_world_gives_same_bytes(tmp_path: Path) -> None:
    first, second = write_world(small(), tmp_path / "a"), write_world(small(), tmp_path / "b")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]


(ADA,) = small().characters
UNWRITABLE = {
    "Ada Finch": World("en", (ADA, replace(ADA, number=2))),
    "1_0_0": World("en", (replace(ADA, events=ADA.events * 2),)),
    "Bo: junior": World(
        "en", (replace(ADA, dialogues=(replace(ADA.dialogues[0], lines=(("Bo: junior", "Up!"),)),)),)
    ),
}


@pytest.mark.parametrize("name", UNWRITABLE)
def test_unrepresentable_world_is_not_written(tmp_path: Path, name: str) -> None:
    with pytest.raises(LabError, match=name):
        write_world(UNWRITABLE[name], tmp_path)
    assert not list(tmp_path.iterdir())


# --- dates --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("told", "at"),
    [
        ("2022-05-15 10:00", datetime(2022, 5, 15, 10)),
        ("May 12, 2022", datetime(2022, 5, 12)),
        ("12th May 2022 at 8:05", datetime(2022, 5, 12, 8, 5)),
        ("October 2021", datetime(2021, 10, 1)),
        ("2012", datetime(2012, 1, 1)),
        ("Summer of 2019", datetime(2019, 6, 1)),
        ("2022/3/7", datetime(2022, 3, 7)),
        ("2021年10月", datetime(2021, 10, 1)),
        ("2021年10月3日 14:20", datetime(2021, 10, 3, 14, 20)),
        ("2020年夏天", datetime(2020, 6, 1)),
        ("June 31, 2020", datetime(2020, 6, 1)),
        ("from 2016-2018", datetime(2016, 1, 1)),
    ],
)
def test_dates_in_free_text(told: str, at: datetime) -> None:
    assert read_date(told) == at.replace(tzinfo=UTC)


@pytest.mark.parametrize("told", ["", "during an election", "a sunny weekend", "May 12", "0000", "12345"])
def test_text_without_year_is_no_date(told: str) -> None:
    assert read_date(told) is None


@given(moments)
def test_formatted_date_parses_to_same_time(at: datetime) -> None:
    assert read_date(format_date(at)) == at


def test_time_without_zone_is_independent_of_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        assert format_date(datetime(2021, 4, 5, 9, 30)) == "2021-04-05 09:30"
    finally:
        monkeypatch.undo()
        time.tzset()


@given(st.text())
def test_any_text_is_parsed_without_error(told: str) -> None:
    read_date(told)
