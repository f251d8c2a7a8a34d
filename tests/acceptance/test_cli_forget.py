"""`thinkback forget`, `correct`, `undo` and `instructions`, also for turns and by words."""

from __future__ import annotations

from tests.acceptance.cli_runner import run


def queries(*options: str) -> list[str]:
    return [turn["query"] for turn in run("turns", "--json", *options).ok().json]


def test_turn_is_hidden_and_shown_again() -> None:
    run("remember", "My vet is Doctor Lang.", "--later").ok()
    action = run("forget", "turn:1", "private", "--json").ok().json
    assert (action["action"], action["hides"], action["reason"]) == ("forget", [1], "private")
    assert queries() == []
    assert queries("--all") == ["My vet is Doctor Lang."]
    assert "turn:1-" in run("turns", "--all").ok().out
    assert "no relevant memories" in run("recall", "Who is my vet?").ok().out
    run("undo", action["ref"]).ok()
    assert "Lang" in run("recall", "Who is my vet?").ok().out


def test_forget_by_words() -> None:
    run("remember", "My vet is Doctor Lang.", "--later").ok()
    refused = run("forget", "my vet")
    assert refused.code == 1
    assert "turn:1" in refused.out
    assert queries() == ["My vet is Doctor Lang."]
    run("forget", "my vet", "--yes").ok()
    assert queries() == []
    assert run("forget", "my vet", "--yes").code == 1


def test_several_matches_need_a_choice() -> None:
    run("remember", "My vet is Doctor Lang.", "--later").ok()
    run("remember", "My old vet was Doctor Meyer.", "--later").ok()
    refused = run("forget", "my vet", "--yes", "--json")
    assert refused.code == 1
    assert {match["ref"] for match in refused.json["matches"]} == {"turn:1", "turn:2"}
    assert len(queries()) == 2


def test_turn_is_corrected() -> None:
    run("remember", "My vet is Doctor Lang.", "--later").ok()
    turn = run("correct", "turn:1", "My vet is Doctor Lange.", "--json").ok().json
    assert turn["ref"] == "turn:2"
    assert queries() == ["My vet is Doctor Lange."]
    journal = run("journal", "--json").ok().json
    assert "corrected in turn:2" in journal[-1]["reason"]


def test_instructions() -> None:
    run("remember", "always answer in German", "--later").ok()
    (wish,) = run("instructions", "--json").ok().json
    assert wish["sentence"] == "always answer in German"
    assert "always answer in German" in run("instructions").ok().out
    assert "always answer in German" in run("context", "hello").ok().out
    run("forget", wish["ref"]).ok()
    assert run("instructions", "--json").ok().json == []
