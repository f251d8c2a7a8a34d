"""Invalid and unusual input gives a clear error or a correct result, and never loses a turn."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.acceptance.cli_runner import CommandResult, run, run_process

HOSTILE = "\x1b[31mred\x1b[0m \x1b]0;title\x07 \u202eevil\u2066 [bold]markup[/bold] :smile: \x9b2J"


def turns() -> list[str]:
    return [turn["query"] for turn in run("turns", "--json").ok().json]


@pytest.mark.parametrize("words", [("",), ("  \n ",), ("", "")])
def test_empty_text_is_an_error(words: tuple[str, ...]) -> None:
    assert "empty" in run("remember", *words).failed().err
    assert "empty" in run("recall", words[0]).failed().err
    assert "empty" in run("remember", "-", stdin=words[0]).failed().err
    assert turns() == []


def test_turn_with_only_a_response() -> None:
    run("remember", "", "Hello, I am the assistant.").ok()
    assert turns() == [""]


def test_megabyte_of_text_is_stored_and_recalled() -> None:
    text = "The vault code is plum. " + "lorem ipsum dolor " * 60_000
    assert len(text) > 1_000_000
    run("remember", "-", stdin=text).ok()
    assert turns() == [text]
    assert "vault" in run("recall", "What is the vault code?").ok().out
    assert len(run("turns").ok().out) < 3_000
    assert run("recall", "-", stdin=text).ok().out


def test_too_long_text_error_names_the_limit() -> None:
    assert "8,388,608" in run("remember", "-", stdin="a" * (9 << 20)).failed().err


def test_nul_and_invalid_bytes_become_replacement_characters() -> None:
    run("remember", "-", stdin=b"I live\x00 in Par\xffis.").ok()
    assert turns() == ["I live\ufffd in Par\ufffdis."]


def test_invalid_bytes_in_arguments() -> None:
    run_process("remember", b"I live in Par\xff\xfeis.").ok()
    assert turns() == ["I live in Par\ufffd\ufffdis."]
    done = run_process("recall", b"Where \xff do I live?").ok()
    assert "Par\ufffd\ufffdis" in done.out


@pytest.mark.parametrize("option", ["--user", "--session", "--tenant"])
def test_invalid_bytes_in_a_name_are_refused(option: str) -> None:
    done = run_process("remember", "I live in Paris.", option, b"M\xfcller")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"error: {option[2:]}='M\\udcfcller'")


def test_lone_surrogates_become_replacement_characters() -> None:
    run("remember", "I live in \ud800 Paris.").ok()
    assert turns() == ["I live in \ufffd Paris."]
    line = json.dumps({"query": "half a pair: \ud83d"})
    run("import", "-", stdin=line).ok()
    assert turns()[1].endswith("\ufffd")


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("אני גר בתל אביב", "איפה אני גר בתל אביב?"),
        ("أنا أعيش في القاهرة", "أين أعيش في القاهرة؟"),
        ("My dog is a 🐕‍🦺 called 🎉Rex🎉", "What is my dog called?"),
    ],
)
def test_right_to_left_and_emoji_survive(said: str, asked: str) -> None:
    run("remember", said).ok()
    assert turns() == [said]
    assert run("recall", asked, "--json").ok().json["items"]


def test_unknown_user_reads_empty_and_changes_fail() -> None:
    run("remember", "I live in Paris.").ok()
    for words in (["thoughts"], ["turns"], ["journal"], ["recall", "Where?"]):
        shown = run(*words, "--user", "nobody", "--json").ok().json
        assert (shown["items"] if isinstance(shown, dict) else shown) == []
    assert run("stats", "--user", "nobody", "--json").ok().json["turns"] == 0
    assert run("think", "--user", "nobody", "--json").ok().json["turns"] == 0
    assert len(run("export", "--user", "nobody").ok().out.splitlines()) == 2
    changes = (["forget", "1", "x"], ["undo", "1"], ["erase", "--all", "--yes"], ["why", "1"])
    for words in changes:
        run(*words, "--user", "nobody").failed()
    assert [each["user"] for each in run("users", "--json").ok().json] == ["default"]


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 300])
def test_invalid_name_is_an_error(name: str) -> None:
    run("remember", "hello", "--user", name).failed()
    run("remember", "hello", "--session", name).failed()
    run("remember", "hello", "--key", name).failed()


@pytest.mark.parametrize("k", ["-1", "0"])
def test_k_below_one_is_an_error(k: str) -> None:
    assert "positive integer" in run("recall", "Where?", "-k", k).failed().err


@pytest.mark.parametrize(
    "words",
    [
        ["recall", "x", "-k", "many"],
        ["recall"],
        ["recall", "x", "y"],
        ["recall", "x", "--nonsense"],
        ["nonsense"],
        ["remember", "x", "--at", "yesterday"],
        ["remember", "x", "--at", "0001-01-01T00:00+14:00"],
        ["remember", "x", "--at", ""],
        ["recall", "x", "--as-of", "2024-13-01"],
        ["turns", "--limit", "0"],
        ["chat", "-k", "0"],
    ],
)
def test_wrong_usage_has_exit_code_2(words: list[str]) -> None:
    run(*words).failed(2)


def test_time_without_zone_is_local_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    done = run_process("remember", "I live in Paris.", "--at", "2024-05-31T18:30", "--json").ok()
    assert done.json["turn"]["at"] == "2024-05-31T09:30:00+00:00"


def test_future_time_is_accepted() -> None:
    run("remember", "I live in Paris.", "--at", "2999-01-01T00:00Z").ok()
    assert run("turns", "--json").ok().json[0]["at"] == "2999-01-01T00:00:00+00:00"
    assert "Paris" in run("recall", "Where do I live?").ok().out
    assert "Paris" not in run("recall", "Where do I live?", "--as-of", "2998-01-01").ok().out
    assert "Paris" in run("recall", "Where do I live?", "--as-of", "2999-06-01").ok().out


@pytest.mark.parametrize(
    "ref", ["thought:999", "0", "-- -1", "nonsense", "turn:", "action:1", "thought:1e3", ""]
)
def test_missing_items_cannot_be_explained_or_changed(ref: str) -> None:
    run("remember", "I live in Paris.").ok()
    words = ref.split() if ref.startswith("--") else [ref]
    for change in (["why", *words], ["forget", *words, "reason"]):
        run(*change).failed()


def test_blank_reason_is_an_error() -> None:
    run("remember", "I live in Paris.").ok()
    assert "reason" in run("forget", "1", "  ").failed().err
    assert len(run("thoughts", "--json").ok().json) == 1


@pytest.mark.parametrize(
    "words", [["--embedder", "nonsense"], ["--preset", "nonsense"], ["--llm", "x"], ["--think", "x"]]
)
def test_unknown_setting_values_are_errors(words: list[str]) -> None:
    assert words[1] in run("chat", *words, stdin="hello\n").failed().err


def test_missing_model_names_the_pull_command() -> None:
    assert "thinkback pull smollm2" in run("chat", "--llm", "local:smollm2").failed().err


@pytest.mark.parametrize("content", [b"not a database", b"SQLite format 3\x00 and then nonsense" * 200])
def test_file_that_is_not_a_database_is_not_changed(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "notes.db"
    file.write_bytes(content)
    run("remember", "hello", "--db", str(file)).failed()
    run("doctor", "--db", str(file)).out.index("broken")
    assert file.read_bytes() == content


def test_missing_folder_is_an_error(tmp_path: Path) -> None:
    assert "folder" in run("remember", "x", "--db", str(tmp_path / "no" / "memory.db")).failed().err
    run("remember", "x", "--db", str(tmp_path)).failed()
    run("remember", "x", "--db", "mysql://nowhere").failed()
    run("remember", "x", "--db", "").failed()


def harmless(done: CommandResult) -> None:
    text = done.ok().out + done.err
    for character in "\x1b\x07\x9b\u202e\u2066":
        assert character not in text
    assert "[bold]markup[/bold] :smile:" in text


def test_stored_text_cannot_control_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "")
    run("remember", f"I live in Paris {HOSTILE}", HOSTILE, "--session", "[red]s").ok()
    for words in (["recall", "Where in Paris?"], ["turns"], ["why", "turn:1"], ["recall", "Paris", "--json"]):
        harmless(run(*words))
    harmless(run("chat", "--llm", "none", stdin=f"Where do I live in Paris? {HOSTILE}\n"))
    assert turns()[0] == f"I live in Paris {HOSTILE}"


def test_error_text_cannot_control_the_terminal() -> None:
    done = run("why", f"{HOSTILE}\nsecond line").failed()
    assert "\x1b" not in done.err
    assert len(done.err.splitlines()) == 1
