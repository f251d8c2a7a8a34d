"""Every command once, with text and with JSON output."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from tests.acceptance.cli_runner import refs, run


@pytest.fixture
def told() -> None:
    """Three turns with their thoughts."""
    run("remember", "My name is Ann and I live in Paris.", "Nice to meet you!").ok()
    run("remember", "I am allergic to peanuts.", "--session", "health").ok()
    run("remember", "我养了一只猫，名字叫小白。").ok()


def test_remember_prints_the_thoughts() -> None:
    done = run("remember", "I live in Paris.").ok()
    assert "remembered turn:1" in done.out
    assert "lives in Paris" in done.out


def test_remember_json_has_turn_and_thoughts() -> None:
    words = ("remember", "I live in Paris.", "Lovely", "--at", "2024-05-31T18:30+02:00", "--session", "a")
    shown = run(*words, "--json").ok().json
    assert shown["turn"]["response"] == "Lovely"
    assert shown["turn"]["at"] == "2024-05-31T16:30:00+00:00"
    assert [thought["objects"] for thought in shown["thoughts"]] == [["Paris"]]
    assert shown["pending"] == 0


def test_same_key_is_stored_once() -> None:
    for _ in range(2):
        assert run("remember", "I live in Paris.", "--key", "k", "--json").ok().json["turn"]["id"] == 1
    assert len(run("turns", "--json").ok().json) == 1


def test_remember_reads_standard_input() -> None:
    run("remember", "-", stdin="I live in Paris.\n").ok()
    assert run("turns", "--json").ok().json[0]["query"] == "I live in Paris.\n"


def test_later_leaves_turn_pending_until_think() -> None:
    done = run("remember", "I live in Paris.", "--later").ok()
    assert "turns still to be processed: 1" in done.err
    assert run("thoughts", "--json").ok().json == []
    assert "turn:1*" in run("turns").ok().out
    shown = run("think", "--json").ok().json
    assert (shown["turns"], shown["failed"], shown["pending"]) == (1, 0, 0)
    assert shown["actions"][0]["action"] == "insert"
    assert shown["receipt"]["llm_calls"] == 0
    assert set(shown["receipt"]["ms"]) == {"scan", "embed", "read", "organise", "store"}
    assert "turns processed: 0" in run("think", "--retry-failed").ok().out


def test_think_respects_limit() -> None:
    for city in ("Paris", "Lyon", "Nice"):
        run("remember", f"I like {city}.", "--later").ok()
    assert run("think", "--limit", "2", "--json").ok().json["pending"] == 1
    assert "turns processed: 1" in run("think").ok().out


@pytest.mark.usefixtures("told")
def test_recall_shows_rank_text_kind_score_and_reason() -> None:
    out = run("recall", "What am I allergic to?").ok().out
    head, first, *_ = out.splitlines()
    assert head.split() == ["#", "ref", "memory", "kind", "score", "reason"]
    assert first.startswith("1  thought:")
    assert "allergic to peanuts" in first
    assert "said by user in turn:2" in first


@pytest.mark.usefixtures("told")
def test_recall_json_and_dropped_candidates() -> None:
    plain = run("recall", "What am I allergic to?", "-k", "1", "--json").ok().json
    assert plain["items"][0]["thought"]["objects"] == ["peanuts"]
    assert plain["dropped"] == []
    explained = run("recall", "What am I allergic to?", "-k", "1", "--explain", "--json").ok().json
    assert explained["items"] == plain["items"]
    assert explained["dropped"]
    assert plain["items"][0]["score"]["sum"]["parts"]


@pytest.mark.usefixtures("told")
def test_recall_why_as_text() -> None:
    for flag in ("--why", "--explain"):
        first, *rest = run("recall", "Where do I live?", flag).ok().out.splitlines()
        assert first == 'recall of "Where do I live?"'
        assert "    taken for: asks where, as it is now" in rest
        assert any(line.startswith("    1. ") and "in Paris" in line for line in rest)
        assert any(". thought:" in line and "lives in Paris" in line for line in rest)
        assert any(line.startswith("  dropped ") for line in rest)


@pytest.mark.usefixtures("told")
def test_recall_why_as_json() -> None:
    found = run("recall", "Where do I live?", "--why", "--json").ok().json
    for item in (*found["items"], *found["dropped"]):
        assert item["reason"].startswith(item["verdict"])
        made = item["score"]["sum"]
        assert made["linear"] == pytest.approx(sum(part["contribution"] for part in made["parts"]))
        reached = [made["bent"], *(step["after"] for step in made["adjustments"])][-1]
        assert item["score"]["total"] == pytest.approx(reached, abs=1e-6)
        for part in made["parts"]:
            assert part["contribution"] == pytest.approx(part["value"] * part["weight"])
    taken = found["understanding"]
    assert (taken["question"], taken["tense"]) == ("where", "now")
    assert [side["kind"] for side in taken["searched"]] == ["thought", "turn"]


def test_recall_marks_outdated_memories() -> None:
    run("remember", "I live in Paris, above the bakery whose oven wakes me.", "--at", "2020-01-01").ok()
    run("remember", "I live in Lyon.", "--at", "2022-01-01").ok()
    *_, last = run("recall", "Which oven wakes me?", "--json").ok().json["items"]
    assert last["past"]["until"].startswith("2022-01-01")
    assert [each["sentence"] for each in last["past"]["facts"]] == ["The user lives in Paris."]
    assert [each["sentence"] for each in last["past"]["replaced_by"]] == ["The user lives in Lyon."]
    assert "(past: The user lives in Paris, until 2022-01-01" in last["text"]


def test_recall_with_token_budget() -> None:
    run("remember", "I live in Paris. " + "It rained there, as it always does. " * 20, "--later").ok()
    (item,) = run("recall", "Where do I live?", "--budget", "20", "--json").ok().json["items"]
    assert item["text"].startswith("I live in Paris.")
    assert len(item["text"]) <= 80 < len(item["turn"]["query"])
    assert "--budget" in run("recall", "Where do I live?", "--budget", "0").failed(2).err


@pytest.mark.usefixtures("told")
def test_ask_answers_briefly_and_cites() -> None:
    turns = len(run("turns", "--json").ok().json)
    answer, cited = run("ask", "Where do I live?", "--llm", "none").ok().out.splitlines()
    assert answer == "The user lives in Paris [1]."
    assert re.fullmatch(r"  \[1\] thought:\d+ The user lives in Paris\. \(said [\d-]{10}\)", cited)
    shown = run("ask", "-", "--llm", "none", "--json", stdin="我的猫叫什么名字？").ok().json
    assert "小白" in shown["text"]
    assert shown["known"]
    assert shown["words"] <= 50
    assert [each["cited"] for each in shown["used"]] == list(range(1, len(shown["used"]) + 1))
    unknown = run("ask", "How tall is Everest?", "--llm", "none", "--json").ok().json
    assert (unknown["text"], unknown["known"], unknown["used"]) == ("You have not told me that.", False, [])
    assert "max_words" in run("ask", "Where?", "--llm", "none", "--max-words", "0").failed().err
    assert len(run("turns", "--json").ok().json) == turns


@pytest.mark.usefixtures("told")
def test_recall_in_chinese() -> None:
    assert "小白" in run("recall", "我的猫叫什么名字？").ok().out


def test_recall_as_of_a_time() -> None:
    run("remember", "I live in Paris.", "--at", "2020-01-01").ok()
    run("remember", "I live in Lyon.", "--at", "2022-01-01").ok()
    now = run("recall", "Where do I live?", "-k", "1").ok().out
    then = run("recall", "Where do I live?", "-k", "1", "--as-of", "2021-01-01").ok().out
    assert "Lyon" in now
    assert "Paris" in then


def test_recall_without_match() -> None:
    done = run("recall", "Where do I live?", "--explain").ok()
    assert "  recalled 0," in done.out
    assert done.out.endswith("  dropped 0:\n")
    assert "no relevant memories" in run("recall", "Where do I live?").ok().out


@pytest.mark.usefixtures("told")
def test_recall_with_tim_preset() -> None:
    found = run("recall", "I am allergic to peanuts.", "--preset", "tim", "--json").ok().json
    assert found["exact"] is False
    assert found["probes"] == 1


@pytest.mark.usefixtures("told")
@pytest.mark.parametrize("preset", ["fading", "fuzzy", "perltqa", "bm25", "dense"])
def test_recall_with_every_other_preset(preset: str) -> None:
    found = run("recall", "I am allergic to peanuts.", "--preset", preset, "--json").ok().json
    assert "peanuts" in found["items"][0]["text"]


@pytest.mark.usefixtures("told")
def test_thoughts_by_subject_relation_and_state() -> None:
    everything = run("thoughts", "--json").ok().json
    assert refs(run("thoughts", "--relation", "lives in", "--json").ok().json) == ["thought:2"]
    assert run("thoughts", "--subject", "nobody", "--json").ok().json == []
    assert refs(run("thoughts", "--limit", "1", "--json").ok().json) == refs(everything[-1:])
    run("forget", "thought:2", "moved").ok()
    assert "thought:2" not in refs(run("thoughts", "--json").ok().json)
    assert "thought:2" in refs(run("thoughts", "--all", "--json").ok().json)
    assert refs(run("thoughts", "--retired", "--json").ok().json) == ["thought:2"]
    assert "user, turn:1" in run("thoughts", "--all").ok().out


@pytest.mark.usefixtures("told")
def test_turns_of_a_session() -> None:
    assert refs(run("turns", "--json").ok().json) == ["turn:1", "turn:2", "turn:3"]
    assert refs(run("turns", "--session", "health", "--json").ok().json) == ["turn:2"]
    out = run("turns", "--limit", "1").ok().out
    assert "小白" in out
    assert "turn:1 " not in out


@pytest.mark.usefixtures("told")
def test_why_shows_source_and_history() -> None:
    out = run("why", "thought:2").ok().out
    assert 'user said: "I live in Paris."' in out
    assert "insert by extractive-2 (text alone) + rules@1" in out
    shown = run("why", "2", "--json").ok().json
    assert refs(shown["sources"]) == ["turn:1"]
    assert run("why", "turn:1").ok().out.startswith("turn:1")


@pytest.mark.usefixtures("told")
def test_forget_then_undo() -> None:
    done = run("forget", "thought:2", "I moved", "--json").ok().json
    assert done["action"] == "forget"
    assert "lives in Paris" not in run("recall", "Where do I live?").ok().out
    journal = run("journal", "--thought", "2", "--json").ok().json
    assert [action["reason"] for action in journal][-1] == "I moved"
    out = run("undo", done["ref"]).ok().out
    assert "(current)" in out
    assert "lives in Paris" in run("recall", "Where do I live?").ok().out
    assert "(undone)" in run("journal").ok().out
    run("undo", done["ref"]).failed()
    assert "already undone" in run("undo", done["ref"], "--json").failed().err


@pytest.mark.usefixtures("told")
def test_erase_needs_confirmation_and_leaves_no_bytes() -> None:
    run("erase").failed(2)
    assert "--yes" in run("erase", "--turn", "2").failed(2).err
    assert run("erase", "--turn", "2", "--yes", "--json").ok().json["turns"] == 1
    assert "peanuts" not in run("export").ok().out
    assert "erased: turns 1" in run("erase", "--turn", "turn:3", "--yes").ok().out
    run("erase", "--session", "default", "--all", "--yes").failed()
    assert run("erase", "--session", "default", "--yes", "--json").ok().json["turns"] == 1
    run("remember", "I live in Paris.").ok()
    assert run("erase", "--all", "--yes", "--json").ok().json["turns"] == 1
    assert run("users", "--json").ok().json == []


def test_erase_lists_answers_that_used_the_turn() -> None:
    run("remember", "I live in Paris.").ok()
    run("chat", "--llm", "none", stdin="Where do I live?\n").ok()
    assert "turn:2" in run("erase", "--turn", "1", "--yes").ok().out


@pytest.mark.usefixtures("told")
def test_export_and_import_round_trip(tmp_path: Path) -> None:
    file = tmp_path / "ann.jsonl"
    assert "wrote" in run("export", str(file)).ok().out
    assert file.read_text() == run("export", "-").ok().out
    assert file.stat().st_mode & 0o077 == 0
    imported = run("import", str(file), "--user", "copy", "--json").ok().json
    assert imported == {"turns": 3, "actions": 0, "pending": 0}
    original, copy = run("thoughts", "--json").ok(), run("thoughts", "--json", "--user", "copy").ok()
    assert original.json == copy.json
    assert "Paris" in run("recall", "Where do I live?", "--user", "copy").ok().out
    assert "already has memories" in run("import", str(file), "--user", "copy").failed().err


@pytest.mark.usefixtures("told")
def test_export_replaces_a_file_only_with_yes(tmp_path: Path) -> None:
    file = tmp_path / "precious.txt"
    file.write_text("precious")
    run("export", str(file)).failed(2)
    assert file.read_text() == "precious"
    assert run("export", str(file), "--yes", "--json").ok().json["lines"] > 3
    assert file.read_text().startswith('{"type":"thinkback"')
    assert [path.name for path in tmp_path.glob("precious*")] == ["precious.txt"]


def test_export_to_missing_folder_is_an_error(tmp_path: Path) -> None:
    done = run("export", str(tmp_path / "no" / "such" / "folder.jsonl")).failed()
    assert "No such file" in done.err


def test_import_of_foreign_turns_from_stdin() -> None:
    lines = [
        {"query": "I live in Paris.", "at": "2024-01-01T00:00:00", "session": "old"},
        {"messages": [{"role": "user", "content": "I like tea."}, {"role": "assistant", "content": "Noted"}]},
    ]
    text = "\ufeff" + "\r\n".join(json.dumps(line) for line in lines)
    assert "imported 2 turns" in run("import", "-", stdin=text).ok().out
    assert [turn["session"] for turn in run("turns", "--json").ok().json] == ["old", "default"]
    done = run("import", "-", "--later", stdin='{"query": "I like coffee."}').ok()
    assert "turns still to be processed: 1" in done.err


@pytest.mark.parametrize(
    "line",
    ["{", "[]", '{"type": "turn"}', '{"other": 1}', '{"messages": 3}', '{"type": "space"}', "[" * 100_000],
)
def test_invalid_import_changes_nothing(line: str) -> None:
    done = run("import", "-", stdin='{"query": "I live in Paris."}\n' + line).failed()
    assert "line 2" in done.err
    assert run("turns", "--json").ok().json == []


def test_import_of_a_missing_file_is_an_error() -> None:
    assert "nowhere.jsonl" in run("import", "nowhere.jsonl").failed().err


@pytest.mark.usefixtures("told")
def test_other_embedder_is_rejected_until_reembed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THINKBACK_EMBEDDER", "wordllama")
    assert "reembed" in run("recall", "Where do I live?").failed().err
    done = run("reembed", "--json").ok().json
    assert done["converted"] > 3
    assert done["embedder"] == "wordllama"
    assert "Paris" in run("recall", "Where do I live?").ok().out
    assert "converted" in run("reembed", "--embedder", "hashing").ok().out


def test_pull_lists_models_and_installs_a_file(home: Path, tmp_path: Path) -> None:
    listed = run("pull", "--json").ok().json
    assert {model["name"]: model["here"] for model in listed}["smollm2"] is False
    file = tmp_path / "mine.gguf"
    file.write_bytes(b"GGUF" + bytes(100))
    assert "mine is installed" in run("pull", str(file)).ok().out
    assert run("pull", str(file), "--json").ok().json["name"] == "mine"
    assert (home / "models" / "mine.gguf").is_file()
    assert "your own file" in run("pull").ok().out
    run("pull", "no-such-model").failed()
    run("pull", str(file), "--sha256", "0" * 64).failed()


@pytest.mark.usefixtures("told")
def test_stats_and_users() -> None:
    run("remember", "I live in Rome.", "--user", "bob").ok()
    assert run("stats", "--json").ok().json["turns"] == 3
    assert "largest group" in run("stats").ok().out
    assert [each["user"] for each in run("users", "--json").ok().json] == ["bob", "default"]
    assert "bob" in run("users").ok().out


@pytest.mark.usefixtures("told")
def test_users_are_isolated() -> None:
    run("remember", "I live in Rome.", "--user", "bob").ok()
    assert "Paris" not in run("recall", "Where do I live?", "--user", "bob").ok().out
    assert "Rome" not in run("recall", "Where do I live?").ok().out


def test_databases_are_independent(tmp_path: Path) -> None:
    run("remember", "I live in Rome.", "--db", str(tmp_path / "a.db")).ok()
    assert run("turns", "--db", str(tmp_path / "b.db"), "--json").ok().json == []
    assert run("turns", "--db", f"sqlite:///{tmp_path / 'a.db'}", "--json").ok().json


def test_data_folder_is_private(home: Path) -> None:
    run("stats").ok()
    assert home.stat().st_mode & 0o077 == 0
