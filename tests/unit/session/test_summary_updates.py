"""Summary updates: edits, replay, differences, and merging of proposals."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.session.factories import NOW, summary_of, turn

from thinkback.session.summary_updates import (
    MAX_FIELD_ITEMS,
    MAX_FIELD_TOKENS,
    SummaryProposal,
    SummaryRevision,
    apply_edits,
    diff_summaries,
    filter_proposal,
    merge_proposal,
    replay_updates,
)
from thinkback.types import ExcludedOption, Summary, SummaryUpdate


def test_diff_summaries_works_in_both_directions() -> None:
    before = summary_of("I need a desk.", "Not oak because it scratches.")
    after = summary_of(
        "I need a desk.",
        "Not oak because it scratches.",
        "At most 200 euros.",
        "Not pine, it is soft.",
        "Let's go with beech.",
    )
    for one, other in ((before, after), (after, before)):
        assert apply_edits(one, diff_summaries(one, other, "why")) == other


def test_replay_restores_version_and_turn() -> None:
    after = summary_of("I need a desk.")
    edits = diff_summaries(Summary(session="s"), after, "")
    update = SummaryUpdate(session="s", version=3, turn=7, actor="rules", at=NOW, edits=edits)
    assert replay_updates("s", [update]) == replace(after, session="s", version=3, turn=7)


def test_edit_of_a_missing_item_changes_nothing() -> None:
    summary = summary_of("I need a desk.")
    edits = diff_summaries(
        summary_of("Not oak because it scratches. It has 3 legs."), Summary(session="s"), ""
    )
    assert (
        apply_edits(summary, [edit for edit in edits if edit.field in ("facts", "excluded", "discussed")])
        == summary
    )


START = Summary(
    session="s",
    needs=("I need a desk.",),
    constraints=("At most 200 euros.",),
    excluded=(ExcludedOption("oak", "it scratches"),),
    facts=("The room has 12 square metres.",),
    to_clarify=("Which colour?",),
)


def test_empty_proposal_changes_nothing() -> None:
    assert merge_proposal(START, SummaryProposal(), 2).edits == []


def test_items_are_added_once_despite_spelling() -> None:
    more = merge_proposal(
        START, SummaryProposal(needs=("i need a desk", "I need a lamp."), facts=("I need a lamp",)), 2
    )
    assert more.summary.needs == ("I need a desk.", "I need a lamp.")
    assert more.summary.facts == START.facts


def test_revision_replaces_the_named_item() -> None:
    revision = SummaryRevision(
        field="constraints", old="at most 200 euros", new="At most 300 euros.", reason="a raise"
    )
    after = merge_proposal(START, SummaryProposal(revisions=(revision,)), 2)
    assert after.summary.constraints == ("At most 300 euros.",)
    (edit,) = after.edits
    assert (edit.old, edit.new, edit.reason) == ("At most 200 euros.", "At most 300 euros.", "a raise")


def test_invalid_revision_is_refused_and_reported() -> None:
    for old, new, reason in (
        ("No such item.", "x y", "why"),
        ("At most 200 euros.", "x y", " "),
        ("At most 200 euros.", " ", "why"),
    ):
        after = merge_proposal(
            START,
            SummaryProposal(
                revisions=(SummaryRevision(field="constraints", old=old, new=new, reason=reason),)
            ),
            2,
        )
        assert after.summary == START
        assert len(after.problems) == 1


def test_option_is_reopened_unless_rejected_again() -> None:
    assert merge_proposal(START, SummaryProposal(reopened=("Oak",)), 2).summary.excluded == ()
    both = SummaryProposal(reopened=("Oak",), excluded=(ExcludedOption("the oak", "no"),))
    assert merge_proposal(START, both, 2).summary.excluded == START.excluded


def test_reason_given_later_is_added() -> None:
    bare = Summary(session="s", excluded=(ExcludedOption("oak"),))
    after = merge_proposal(bare, SummaryProposal(excluded=(ExcludedOption("oak", "it scratches"),)), 2)
    assert after.summary.excluded == (ExcludedOption("oak", "it scratches"),)


def test_previous_conclusion_moves_to_discussed() -> None:
    first = merge_proposal(START, SummaryProposal(conclusion="We take pine."), 2).summary
    then = merge_proposal(first, SummaryProposal(conclusion="We take beech."), 3).summary
    assert (then.conclusion, then.discussed) == ("We take beech.", ("We take pine.",))


def test_full_field_moves_its_oldest_items() -> None:
    summary, gone = Summary(session="s"), []
    for number in range(MAX_FIELD_ITEMS["needs"] + 3):
        step = merge_proposal(summary, SummaryProposal(needs=(f"I need thing number {number}.",)), number)
        summary = step.summary
        gone += [edit.old for edit in step.edits if edit.field == "needs" and edit.old]
    assert len(summary.needs) == MAX_FIELD_ITEMS["needs"]
    assert gone == [f"I need thing number {n}." for n in range(3)]
    assert summary.discussed == tuple(gone)


def test_fields_stay_within_limits() -> None:
    summary = Summary(session="s")
    for number in range(300):
        words = f"item {number} " + "word " * 60
        proposal = SummaryProposal(
            needs=(words,),
            facts=(words + "f",),
            discussed=(words + "d",),
            to_clarify=(words + "?",),
            excluded=(ExcludedOption(f"option {number}", words),),
        )
        summary = merge_proposal(summary, proposal, number).summary
    for name, most in MAX_FIELD_ITEMS.items():
        held = getattr(summary, name)
        assert len(held) <= most
        assert sum(len(str(item)) for item in held) <= MAX_FIELD_TOKENS * 4 * 1.3


def test_invented_items_are_refused() -> None:
    said = [turn("I need a chair for the balcony."), turn("Fine.")]
    made_up = SummaryProposal(
        needs=("A chair for the balcony.", "A yacht with a helipad."),
        excluded=(ExcludedOption("velvet sofas", "x"),),
        reopened=("oak",),
        facts=("The moon is made of cheese.",),
    )
    kept, refused = filter_proposal(made_up, START, said)
    assert kept.needs == ("A chair for the balcony.",)
    assert (kept.excluded, kept.reopened, kept.facts) == ((), (), ())
    assert len(refused) == 4


def test_known_items_are_not_repeated() -> None:
    kept, _ = filter_proposal(SummaryProposal(needs=("a desk",)), START, [turn("I need a desk.")])
    assert kept.needs == ()


words = st.text(st.sampled_from("ab 我要不是, .\n'{}"), max_size=30)
lines = st.lists(words, max_size=4).map(tuple)
proposals = st.builds(
    SummaryProposal,
    topic=words,
    conclusion=words,
    needs=lines,
    constraints=lines,
    facts=lines,
    to_clarify=lines,
    discussed=lines,
    settled=lines,
    excluded=st.lists(st.builds(ExcludedOption, words, words), max_size=3).map(tuple),
)


@given(st.lists(proposals, max_size=6))
def test_no_proposal_loses_confirmed_items(
    made: list[SummaryProposal],
) -> None:
    summary = START
    for proposal in made:
        step = merge_proposal(summary, proposal, 9)
        assert apply_edits(summary, step.edits) == step.summary
        summary = step.summary
    for name in ("needs", "constraints", "facts"):
        assert set(getattr(START, name)) <= set(getattr(summary, name))
    assert START.excluded[0] in summary.excluded


def test_long_conversation_keeps_confirmed_items() -> None:
    first = summary_of("It must hold 4 people.", "Not blue because it fades.")
    later = summary_of(
        "It must hold 4 people.",
        "Not blue because it fades.",
        *(f"Owl number {n} flew by." for n in range(30)),
    )
    assert set(first.constraints) <= set(later.constraints)
    assert first.excluded == later.excluded
