"""The journal of a summary: replayed it gives the summary, and two summaries tell their difference."""

from __future__ import annotations

from dataclasses import replace

from tests.unit.working.making import NOW, told

from thinkback.types import Summary, SummaryUpdate
from thinkback.working.edits import applied, difference, replayed


def test_the_difference_leads_from_one_to_the_other_and_back() -> None:
    before = told("I need a desk.", "Not oak because it scratches.")
    after = told(
        "I need a desk.",
        "Not oak because it scratches.",
        "At most 200 euros.",
        "Not pine, it is soft.",
        "Let's go with beech.",
    )
    for one, other in ((before, after), (after, before)):
        assert applied(one, difference(one, other, "why")) == other


def test_a_replay_gives_version_and_turn() -> None:
    after = told("I need a desk.")
    edits = difference(Summary(session="s"), after, "")
    update = SummaryUpdate(session="s", version=3, turn=7, actor="rules", at=NOW, edits=edits)
    assert replayed("s", [update]) == replace(after, session="s", version=3, turn=7)


def test_an_edit_of_what_is_not_there_changes_nothing() -> None:
    summary = told("I need a desk.")
    edits = difference(told("Not oak because it scratches. It has 3 legs."), Summary(session="s"), "")
    assert (
        applied(summary, [edit for edit in edits if edit.field in ("facts", "excluded", "discussed")])
        == summary
    )
