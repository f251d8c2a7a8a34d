"""KdConv triples: loader, matching rules and command."""

from __future__ import annotations

import gzip
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from thinkback.types import Thought
from thinkback_lab.cli import app
from thinkback_lab.datasets.kdconv import DOMAINS, Exchange, Fact, load_dialogues
from thinkback_lab.errors import LabError
from thinkback_lab.evaluations.triple_matching import (
    DialogueMatch,
    MatchCounts,
    match_dialogue,
    normalise_name,
    same_relation,
    same_value,
)
from thinkback_lab.evaluations.triples import choose_dialogues, run_triples
from thinkback_lab.harness import Setup


def attr(name: str, attrname: str, attrvalue: str) -> dict[str, str]:
    return {"name": name, "attrname": attrname, "attrvalue": attrvalue}


MESSAGES: list[dict[str, Any]] = [
    {"message": "听说过《山中来信》这部片子吗？"},
    {
        "message": "听过，《山中来信》的导演是顾远。",
        "attrs": [attr("山中来信（2011年电影）", "导演", "顾远")],
    },
    {"message": "我喜欢看老电影。", "attrs": [attr("顾远", "职业", "导演、编剧")]},
]
DIALOGUES = [{"name": "山中来信", "messages": MESSAGES}, {"name": "山中来信", "messages": MESSAGES[:2]}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    told = json.dumps(DIALOGUES, ensure_ascii=False).encode()
    (tmp_path / "film_dev.json").write_bytes(told)
    (tmp_path / "kdconv").mkdir()
    (tmp_path / "kdconv" / "music_dev.json.gz").write_bytes(gzip.compress(told))
    (tmp_path / "travel").mkdir()
    (tmp_path / "travel" / "test.json").write_bytes(told)
    return tmp_path


# --- the loader -------------------------------------------------------------------------------


@pytest.mark.parametrize(("domain", "split"), [("film", "dev"), ("music", "dev"), ("travel", "test")])
def test_every_layout_is_found_plain_or_gzipped(folder: Path, domain: str, split: str) -> None:
    first, second = load_dialogues(folder, [domain], split)
    assert (first.id, second.id) == (f"{domain}-{split}-0", f"{domain}-{split}-1")
    assert [len(first.exchanges), len(second.exchanges)] == [2, 1]


def test_messages_are_paired_with_their_facts(folder: Path) -> None:
    asked, last = load_dialogues(folder, ["film"])[0].exchanges
    assert (asked.query, asked.response) == (MESSAGES[0]["message"], MESSAGES[1]["message"])
    assert [fact.attrvalue for fact in asked.facts] == ["顾远"]
    assert (last.response, [fact.attrname for fact in last.facts]) == ("", ["职业"])


def test_missing_file_names_its_origin(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LabError, match=r"travel_dev\.json.*thu-coai/KdConv"):
        load_dialogues(folder, ["travel"])
    with pytest.raises(LabError, match=r"no such folder.*thu-coai/KdConv"):
        load_dialogues(folder / "nowhere")
    monkeypatch.delenv("THINKBACK_DATA", raising=False)
    with pytest.raises(LabError, match="THINKBACK_DATA"):
        load_dialogues(None)
    monkeypatch.setenv("THINKBACK_DATA", str(folder))
    assert len(load_dialogues(None, ["film"])) == 2


def test_other_format_is_reported_with_file(folder: Path) -> None:
    (folder / "film_dev.json").write_text('[{"messages": [{"text": "嗨"}]}]', encoding="utf-8")
    with pytest.raises(LabError, match=r"film_dev\.json: not a KdConv file, 0\.messages\.0\.message"):
        load_dialogues(folder, ["film"])
    with pytest.raises(LabError, match="unknown domain 'art'"):
        load_dialogues(folder, ["art"])


def test_limit_counts_turns(folder: Path) -> None:
    both = load_dialogues(folder, ["film", "music"])
    chosen = choose_dialogues(both, 3, None)
    assert [(each.id, len(each.exchanges)) for each in chosen] == [("film-dev-0", 2), ("film-dev-1", 1)]
    assert [len(each.exchanges) for each in choose_dialogues(both, 1, None)] == [1]
    assert choose_dialogues(both, 3, 7) == choose_dialogues(both, 3, 7)
    assert choose_dialogues(both, None, None) == both


def test_progress_counts_turns_and_run_is_reproducible(folder: Path) -> None:
    dialogues = load_dialogues(folder, ["film"])
    seen: list[tuple[int, int]] = []
    first = run_triples(dialogues, Setup(embedder="hashing"), lambda done, total: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]
    again = run_triples(dialogues, Setup(embedder="hashing"))
    assert [each.matched for each in first] == [each.matched for each in again]


# --- matching ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gold", "drawn", "same"),
    [
        ("2004年06月25日", "2004年06月25日。", True),
        ("1958年7月19日", "1958年", True),  # less precise, not wrong
        ("2004年06月25日", "2003年06月24日", False),  # digits get no partial credit
        ("《雨季》《长夜》", "长夜", True),  # one of a list
        ("演员", "导演", False),  # half of two characters is nothing
        ("第七届南方电影节评委会特别奖", "南方电影节的评委会特别奖项", True),
        ("免费开放。", "免费开放", True),
        ("13", "3", False),
        ("", "长夜", False),
    ],
)
def test_values_match(gold: str, drawn: str, same: bool) -> None:
    assert same_value(gold, drawn) is same


@pytest.mark.parametrize(
    ("attribute", "relation", "same"),
    [
        ("导演", "directed by", True),
        ("导演", "导演", True),
        ("出生日期", "birthday", True),
        ("出生日期", "was born in", False),
        ("门票", "门票价格", True),
        ("上映时间", "地址", False),
        ("色彩", "色彩", True),  # not in the table
    ],
)
def test_relations_match(attribute: str, relation: str, same: bool) -> None:
    assert same_relation(attribute, relation) is same


def test_disambiguation_is_not_part_of_name() -> None:
    assert normalise_name("山中来信（2011年电影）") == normalise_name("《山中来信》")
    assert normalise_name("（无题）") != ""


NOW = datetime(2024, 1, 1, tzinfo=UTC)


def held(subject: str, relation: str, *objects: str, negated: bool = False) -> Thought:
    return Thought(subject=subject, relation=relation, objects=objects, sentence="-", kind="knowledge",
                   sources=(), negated=negated, id=1, recorded_at=NOW)  # fmt: skip


FACTS = (
    Fact(name="山中来信（电影）", attrname="导演", attrvalue="顾远"),
    Fact(name="山中来信（电影）", attrname="上映时间", attrvalue="2011年3月"),
    Fact(name="云台寺", attrname="电话", attrvalue="010-5550123"),
    Fact(name="顾远", attrname="Information", attrvalue="顾远是一位导演，生于青州，后移居海外。"),
)
TURNS = (
    Exchange("《山中来信》是谁拍的？", "导演是顾远。", FACTS[:2]),
    Exchange("电话呢？", "打过了。", FACTS[2:]),
)


def test_right_wrong_found_and_left_out() -> None:
    got = match_dialogue(TURNS, [
        held("山中来信", "director", "顾远"),
        held("山中来信", "liked by", "2011年3月"),  # the pair is right, the relation is not
        held("山中来信", "导演", "李四"),
        held("顾远", "lives in", "海外"),  # only prose says so
        held("user", "likes", "老电影"),
        held("user", "phone number", "010-5550123"),  # the temple's, ascribed to the user
    ])  # fmt: skip
    assert got.triple == MatchCounts(right=1, wrong=3, found=1, gold=3, said=1, said_found=1)
    assert got.pair == MatchCounts(right=2, wrong=2, found=2, gold=3, said=1, said_found=1)
    assert (got.about_user, got.misattributed, got.from_prose) == (1, 1, 1)
    assert [(each.subject, each.object) for each in got.wrong] == [
        ("user", "010-5550123"),
        ("山中来信", "李四"),
    ]


def test_perfect_extraction_scores_one_and_denial_zero() -> None:
    oracle = [held(fact.name, fact.attrname, fact.attrvalue) for fact in FACTS[:3]]
    figures = match_dialogue(TURNS, oracle).triple.figures
    assert (figures["precision"], figures["recall"], figures["f1"]) == (1.0, 1.0, 1.0)
    denied = match_dialogue(TURNS, [held("山中来信", "director", "顾远", negated=True)])
    assert denied.triple.figures["f1"] == 0.0


def test_counts_add_up_over_dialogues() -> None:
    one = match_dialogue(TURNS, [held("山中来信", "director", "顾远")])
    both = one + one + DialogueMatch()
    assert (both.triple.right, both.triple.gold) == (2, 6)
    assert both.triple.figures["recall"] == pytest.approx(1 / 3)
    assert MatchCounts().figures["precision"] is None


# --- the command ------------------------------------------------------------------------------


def lab(*words: object) -> Result:
    return CliRunner().invoke(app, ["eval", "triples", *map(str, words)], prog_name="thinkback-lab")


def test_command_json_output(folder: Path) -> None:
    done = lab("--data", folder, "--domain", "film", "--domain", "music", "--think", "extractive", "--json")
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    assert (told["dataset"], told["scheme"], told["n"]) == ("triples", "thinkback", 6)
    assert told["settings"]["domains"] == ["film", "music"]
    assert {name: each["n"] for name, each in told["by_category"].items()} == {"film": 3, "music": 3}
    assert told["metrics"]["about_user"] == 2  # each first dialogue's 我喜欢看老电影
    assert (told["metrics"]["triple"]["gold"], told["metrics"]["dialogues"]) == (6, 4)
    assert told["metrics"]["ms_per_turn"] > 0


def test_table_output(folder: Path) -> None:
    done = lab("--data", folder, "--domain", "film", "--limit", 2)
    rows = {line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line.strip()}
    assert rows["film"][0] == rows["all"][0] == "2"
    assert "not thought over: 0 turns" in done.stdout


def test_missing_folder_is_one_line_error() -> None:
    done = lab("--data", "nowhere")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "thu-coai/KdConv" in done.stderr


@pytest.mark.skipif(not os.environ.get("THINKBACK_DATA"), reason="THINKBACK_DATA does not name a data folder")
def test_real_dev_sets_load() -> None:
    for domain in DOMAINS:
        dialogues = load_dialogues(None, [domain])
        assert len(dialogues) == 150
        assert any(fact.attrvalue for each in dialogues for turn in each.exchanges for fact in turn.facts)
