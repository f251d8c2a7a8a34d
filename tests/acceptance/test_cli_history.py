"""`history`, `entities`, `organise`, --as-of and --known-at."""

from __future__ import annotations

from tests.acceptance.cli_runner import run


def test_history_shows_every_value_and_its_actions() -> None:
    run("remember", "I live in Paris.", "--at", "2024-01-10").ok()
    run("remember", "I moved to Lyon.", "--at", "2024-06-03").ok()
    shown = run("history", "me", "lives in").ok().out
    assert shown.index("The user lives in Paris.") < shown.index("The user lives in Lyon.")
    assert 'replaces "The user lives in Paris."' in shown
    versions = run("history", "user", "lives in", "--json").ok().json
    assert [version["objects"] for version in versions] == [["Paris"], ["Lyon"]]
    assert [action["action"] for action in versions[0]["actions"]] == ["insert", "supersede"]
    assert "no thoughts about 'Bob'" in run("history", "Bob").ok().out


def test_as_of_and_known_at() -> None:
    run("remember", "I live in Paris.", "--at", "2024-01-10").ok()
    run("remember", "I moved to Lyon.", "--at", "2024-06-03").ok()
    then = run("thoughts", "--as-of", "2024-03-01", "--json").ok().json
    assert [thought["sentence"] for thought in then] == ["The user lives in Paris."]
    assert "Paris" in run("recall", "Where do I live?", "-k", "1", "--as-of", "2024-03-01").ok().out
    assert run("thoughts", "--known-at", "2020-01-01", "--json").ok().json == []
    assert "no relevant memories" in run("recall", "Where do I live?", "--known-at", "2020-01-01").ok().out


def test_entities_lists_aliases_and_forget_reverts_them() -> None:
    run("remember", "My sister Anna lives in Berlin.").ok()
    shown = run("entities").ok().out
    assert "user's sister" in shown
    assert "The user's sister is Anna." in shown
    anna = next(each for each in run("entities", "--json").ok().json if each["name"] == "Anna")
    assert anna["aliases"] == ["user's sister"]
    run("forget", anna["decisions"][0]["ref"], "another Anna").ok()
    assert all(not each["decisions"] for each in run("entities", "--json").ok().json)


def test_organise_prints_its_actions() -> None:
    run("remember", "I like tea.").ok()
    assert "actions: 0" in run("organise").ok().out
    assert run("organise", "--json").ok().json["actions"] == []
