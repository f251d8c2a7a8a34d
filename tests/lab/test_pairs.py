"""Pairs: file format, scoring, command, and bounds on the shipped pairs."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from thinkback_lab.cli import app
from thinkback_lab.errors import LabError
from thinkback_lab.evaluations.pairs import Pair, PairOutcome, read_pairs, run_pairs, summarise_pairs
from thinkback_lab.harness import Setup

FOLDER = Path(__file__).parents[2] / "scenarios" / "pairs"
SETUP = Setup(embedder="hashing")


def update(first: str, then: str, old: str, new: str, question: str = "Where do I live?") -> Pair:
    return Pair(id=then, lang="en", kind="update", category="home", first=first, then=then,
                old=old, new=new, question=question)  # fmt: skip


def compatible(first: str, then: str) -> Pair:
    return Pair(id=then, lang="en", kind="compatible", category="any", first=first, then=then)


def told(pair: Pair) -> PairOutcome:
    (outcome,) = run_pairs([pair], SETUP)
    return outcome


# --- judging ----------------------------------------------------------------------------------


def test_update_supersedes_if_only_new_value_is_current() -> None:
    outcome = told(update("I live in Paris.", "I moved to Lyon.", "Paris", "Lyon"))
    assert (outcome.failure, outcome.stale_recalls, outcome.contradicting_recalls) == ("", (), ())
    assert [each.objects for each in outcome.recalled] == [("Lyon",)]


def test_update_that_is_only_kept_as_said_leaves_stale_thought() -> None:
    outcome = told(
        update("I live in Paris.", "Goodbye Paris, in May the four of us settled in Lyon!", "Paris", "Lyon")
    )
    assert outcome.failure == "both values are held"  # the update is kept as said, which retires nothing
    assert outcome.stale_recalls == ("The user lives in Paris.",)


def test_values_of_multi_valued_relation_contradict() -> None:
    outcome = told(update("I like tea.", "I like coffee.", "tea", "coffee", "What do I like?"))
    assert outcome.failure == "both values are held"
    assert outcome.contradicting_recalls == ("The user likes tea.", "The user likes coffee.")


def test_sentence_about_the_change_is_not_stale() -> None:
    then = "Karen has left, my boss is Miguel now."
    outcome = told(update("My boss is called Karen.", then, "Karen", "Miguel", "Who is my boss?"))
    assert then in {each.sentence for each in outcome.recalled}
    assert (outcome.failure, outcome.stale_recalls, outcome.contradicting_recalls) == ("", (), ())


def test_unknown_value_cannot_be_superseded() -> None:
    outcome = told(update("Hello there.", "I live in Lyon.", "Paris", "Lyon"))
    assert outcome.failure == "the first statement was not read"


def test_denial_alone_is_no_update() -> None:
    outcome = told(update("I live in Paris.", "I don't live in Paris anymore.", "Paris", "Lyon"))
    assert outcome.failure == "the old value is gone, the new one was not read"


@pytest.mark.parametrize(
    ("first", "then", "lost"),
    [
        ("I like tea.", "I like chess.", ()),  # merged: the old thought is retired, its object is kept
        ("I live in Paris.", "I live in Montmartre, Paris.", ()),  # more precise
        ("I live in Paris.", "I live in Lyon.", ("The user lives in Paris. (Paris)",)),
        ("I like tea.", "I don't like tea.", ("The user likes tea. (tea)",)),
    ],
)
def test_lost_facts_of_compatible_pair(first: str, then: str, lost: tuple[str, ...]) -> None:
    assert told(compatible(first, then)).lost == lost


def test_number_inside_other_number_is_other_value() -> None:
    assert told(update("I am 130 years old.", "Hello.", "30", "31")).failure.startswith("the first statement")


def test_counts_and_failures_add_up() -> None:
    pairs = [
        update("I live in Paris.", "I moved to Lyon.", "Paris", "Lyon"),
        update("I live in Paris.", "Adieu!", "Paris", "Lyon"),
        compatible("I live in Paris.", "I live in Lille."),
        compatible("I like tea.", "Really."),
    ]
    told = summarise_pairs(run_pairs(pairs, SETUP), {"seed": 1})
    figures = told["metrics"]
    assert (figures["updates"], figures["superseded"], figures["superseded_rate"]) == (2, 1, 0.5)
    assert (figures["compatible"], figures["first_read"], figures["both_read"]) == (2, 2, 1)
    assert (figures["wrongly_retired"], figures["stale"]) == (1, 1)
    assert [each["id"] for each in told["failures"]] == ["Adieu!", "I live in Lille."]
    assert told["by_category"]["update: home"]["updates"] == 2
    assert (told["dataset"], told["scheme"], told["n"], told["settings"]) == (
        "pairs",
        "thinkback",
        4,
        {"seed": 1},
    )


# --- the file and the command -----------------------------------------------------------------

GOOD = {"id": "a", "lang": "en", "kind": "compatible", "category": "x", "first": "I like tea.", "then": "Hi."}


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ({**GOOD, "kind": "update"}, "an update needs old, new and question"),
        ({**GOOD, "old": "tea"}, "a compatible pair has no old"),
        ({**GOOD, "frist": ""}, "frist"),
        ({**GOOD, "then": ""}, "then"),
    ],
)
def test_invalid_line_is_reported(tmp_path: Path, line: dict[str, Any], complaint: str) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f"{json.dumps(GOOD)}\n{json.dumps({**line, 'id': 'b'})}\n", encoding="utf-8")
    with pytest.raises(LabError, match=f"line 2: .*{complaint}"):
        read_pairs([path])


def test_ids_are_unique_and_empty_file_is_rejected(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(f"{json.dumps(GOOD)}\n" * 2, encoding="utf-8")
    with pytest.raises(LabError, match="duplicate id 'a'"):
        read_pairs([path])
    path.write_text("\n", encoding="utf-8")
    with pytest.raises(LabError, match="no pair"):
        read_pairs([path])


def lab(*words: object) -> Result:
    return CliRunner().invoke(app, ["eval", "pairs", *map(str, words)], prog_name="thinkback-lab")


def test_command_json_and_table() -> None:
    chosen = (FOLDER / "compatible.jsonl", "--embedder", "hashing", "--limit", 6, "--seed", 2)
    told = json.loads(lab(*chosen, "--json").stdout)
    assert (told["n"], told["settings"]["seed"], told["metrics"]["wrongly_retired"]) == (6, 2, 0)
    rows = lab(*chosen).stdout.splitlines()
    assert rows[-1] == "0 failures (listed by --json)"
    assert [line.split()[:2] for line in rows if line.startswith("all")] == [["all", "6"]]


def test_missing_file_is_one_line_error() -> None:
    done = lab("nowhere.jsonl")
    assert (done.exit_code, done.stdout) == (1, "")
    assert done.stderr.startswith("error: nowhere.jsonl: No such file")


# --- the pairs we ship ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shipped() -> list[Pair]:
    return read_pairs([FOLDER])


def test_held_out_pairs_differ_from_shipped_ones(shipped: list[Pair]) -> None:
    held_out = read_pairs([FOLDER / "heldout"])
    assert len(held_out) >= 80
    assert not {pair.then for pair in held_out} & {pair.then for pair in shipped}


def test_there_are_200_pairs_of_each_kind_in_two_languages(shipped: list[Pair]) -> None:
    counts = Counter((pair.kind, pair.lang) for pair in shipped)
    assert counts == {("update", "en"): 120, ("update", "zh"): 80, ("compatible", "en"): 120,
                      ("compatible", "zh"): 80}  # fmt: skip
    for lang in ("en", "zh"):
        updates = [pair for pair in shipped if (pair.kind, pair.lang) == ("update", lang)]
        wordings = {pair.then.replace(pair.old, "OLD").replace(pair.new, "NEW") for pair in updates}
        assert len(wordings) >= 25
    assert all(pair.old in pair.first and pair.new in pair.then for pair in shipped if pair.kind == "update")


@pytest.fixture(scope="module")
def kept(shipped: list[Pair]) -> dict[str, Any]:
    return summarise_pairs(run_pairs([pair for pair in shipped if pair.kind == "compatible"], SETUP), {})


def test_compatible_facts_are_not_retired(kept: dict[str, Any]) -> None:
    retired = {name: each["wrongly_retired"] for name, each in kept["by_category"].items()}
    retired.pop("compatible: earlier value")
    assert sum(retired.values()) == 0, retired
    assert kept["metrics"]["both_read"] >= 110, "a pair that is not read proves nothing"


def test_earlier_value_does_not_retire_later_one(kept: dict[str, Any]) -> None:
    assert kept["by_category"]["compatible: earlier value"]["wrongly_retired"] == 0


@pytest.fixture(scope="module")
def updated(shipped: list[Pair]) -> dict[str, Any]:
    return summarise_pairs(run_pairs([pair for pair in shipped if pair.kind == "update"], SETUP), {})


def test_updates_supersede(updated: dict[str, Any]) -> None:
    """Without a model: plain statements replace the old value, other sentences are kept beside it."""
    assert updated["metrics"]["superseded_rate"] >= 0.75


def test_both_values_are_not_recalled_together(updated: dict[str, Any]) -> None:
    assert updated["metrics"]["contradicting"] == 0
