"""The scenario format: defaults, round trips, and errors with file and line."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback_lab.errors import LabError
from thinkback_lab.evaluations.scenario_format import (
    ExpectedTriple,
    Probe,
    Scenario,
    ScenarioTurn,
    format_scenario,
    parse_scenario,
    read_scenarios,
)

CASE: dict[str, Any] = {
    "id": "en-update-01",
    "lang": "en",
    "category": "update",
    "turns": [{"at": "2024-05-01T10:00:00", "user": "I live in Oslo.", "assistant": "Noted."}],
    "probes": [{"question": "Where?", "now": "2024-05-02T10:00:00+02:00", "expect": [["Oslo", "奥斯陆"]]}],
}


def line(**changes: object) -> str:
    return json.dumps({**CASE, **changes}, ensure_ascii=False)


def test_omitted_fields_have_defaults() -> None:
    scenario = parse_scenario(line(), "here")
    (probe,) = scenario.probes
    assert (probe.k, probe.reject, probe.expect) == (5, (), (("Oslo", "奥斯陆"),))
    assert scenario.expect_thoughts is None
    assert parse_scenario(line(probes=[], expect_thoughts=[]), "here").expect_thoughts == ()


def test_time_without_zone_is_utc_and_others_are_converted() -> None:
    scenario = parse_scenario(line(), "here")
    assert scenario.turns[0].at == datetime(2024, 5, 1, 10, tzinfo=UTC)
    assert scenario.probes[0].now == datetime(2024, 5, 2, 8, tzinfo=UTC)
    day = parse_scenario(line(turns=[{"at": "2024-05-01", "user": "Hi"}]), "here")
    assert day.turns[0].at == datetime(2024, 5, 1, tzinfo=UTC)


words = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=12)
names = words.map(str.strip).filter(lambda word: bool(word) and word.isprintable())
times = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))
turns = st.builds(ScenarioTurn, at=times, user=words.filter(str.strip), assistant=words)
probes = st.builds(
    Probe,
    question=words,
    now=st.none() | times,
    expect=st.lists(st.lists(words, min_size=1, max_size=3).map(tuple), max_size=2).map(tuple),
    reject=st.lists(words, max_size=2).map(tuple),
    k=st.integers(1, 50),
)
scenarios = st.builds(
    Scenario,
    id=names,
    lang=names,
    category=names,
    turns=st.lists(turns, min_size=1, max_size=3).map(tuple),
    probes=st.lists(probes, max_size=2).map(tuple),
    expect_thoughts=st.none()
    | st.lists(st.builds(ExpectedTriple, s=words, r=words, o=words), max_size=2).map(tuple),
)


@given(scenarios)
def test_formatted_line_parses_to_same_scenario(scenario: Scenario) -> None:
    written = format_scenario(scenario)
    assert "\n" not in written
    assert parse_scenario(written, "here") == scenario


@pytest.mark.parametrize(
    ("broken", "told"),
    [
        ("{", "Invalid JSON"),
        ("[]", "should be an object"),
        (line(rejects=["x"]), "rejects: Extra inputs"),
        (line(turns=[]), "turns"),
        (line(turns=[{"user": "Hi"}]), "turns.0.at: Field required"),
        (line(turns=[{"at": "yesterday", "user": "Hi"}]), "turns.0.at"),
        (line(turns=[{"at": "2024-05-01", "user": " "}]), "assistant message"),
        (line(probes=[{"question": "?", "expect": ["Oslo"]}]), "probes.0.expect.0"),
        (line(probes=[{"question": "?", "expect": [[]]}]), "probes.0.expect.0"),
        (line(probes=[{"question": "?", "expect": [[""]]}]), "probes.0.expect.0.0"),
        (line(probes=[{"question": "?", "k": 0}]), "probes.0.k"),
        (line(probes=[{"question": "?", "rejct": ["x"]}]), "probes.0.rejct"),
        (line(expect_thoughts=[{"s": "user", "r": "is"}]), "expect_thoughts.0.o"),
        (line(id="a\nb"), "id"),
        (line(category=""), "category"),
    ],
)
def test_error_names_file_line_and_field(tmp_path: Path, broken: str, told: str) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(f"{line()}\n\n{broken}\n", encoding="utf-8")
    with pytest.raises(LabError) as caught:
        read_scenarios([path])
    assert str(caught.value).startswith(f"{path}, line 3: ")
    assert told in str(caught.value)


def test_ids_are_unique(tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    first.write_text(line(), encoding="utf-8")
    second.write_text(f"\n{line()}", encoding="utf-8")
    with pytest.raises(LabError, match=r"b\.jsonl, line 2.*first used in .*a\.jsonl, line 1"):
        read_scenarios([first, second])


def test_folder_means_its_files_and_gzip_is_detected_by_content(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl.gz").write_bytes(gzip.compress(line(id="packed").encode()))
    (tmp_path / "a.jsonl").write_bytes(gzip.compress(line(id="disguised").encode()))
    (tmp_path / "c.jsonl").write_text("\ufeff" + line(id="plain"), encoding="utf-8")
    (tmp_path / "notes.txt").write_text("not a scenario", encoding="utf-8")
    assert [each.id for each in read_scenarios([tmp_path])] == ["disguised", "packed", "plain"]


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (gzip.compress(b"{}" * 50, mtime=0)[:-9], "damaged gzip"),
        (b"\x1f\x8b\x08rubbish rubbish rubbish", "damaged gzip"),
        (b'{"id": "\xff"}', "not UTF-8"),
        (b"\n\n", "no scenario"),
    ],
)
def test_damaged_or_empty_file_is_rejected(tmp_path: Path, data: bytes, told: str) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_bytes(data)
    with pytest.raises(LabError, match=told):
        read_scenarios([path])


def test_missing_file_is_reported(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"nowhere\.jsonl: No such file"):
        read_scenarios([tmp_path / "nowhere.jsonl"])
