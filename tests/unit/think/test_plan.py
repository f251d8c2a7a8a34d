"""Algorithm 1 with its guard: what is inserted, merged, superseded, forgotten, and the laws that hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkback.language.phrasing import compose_sentence
from thinkback.language.relations import ALL_VALUES, get_relation
from thinkback.think.plan import plan_operations
from thinkback.think.slots import object_key, thought_key
from thinkback.think.state import Amendment, to_draft
from thinkback.types import Operation, Side, Source, Thought, ThoughtDraft

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)


def said(
    subject: str,
    relation: str,
    *objects: str,
    turn: int = 1,
    negated: bool = False,
    side: Side = "query",
    lang: str = "en",
    when: tuple[datetime | None, datetime | None] = (None, None),
) -> ThoughtDraft:
    return ThoughtDraft(
        subject=subject,
        relation=relation,
        objects=objects,
        sentence=compose_sentence(subject, relation, objects, negated=negated, lang=lang),
        kind=get_relation(relation).kind,
        sources=(Source(turn, "user" if side == "query" else "assistant", side, 0, 9),),
        negated=negated,
        valid_from=when[0],
        valid_to=when[1],
    )


class Space:
    """The least store: applies changes, keeps what is retired."""

    def __init__(self) -> None:
        self.thoughts: list[Thought] = []

    def existing(self, subject: str, relation: str) -> Sequence[Thought]:
        wanted = thought_key(subject, relation)
        return [t for t in self.thoughts if t.current and thought_key(t.subject, t.relation) == wanted]

    def think(self, *drafts: ThoughtDraft, at: datetime | None = None) -> tuple[Operation, ...]:
        changes = plan_operations(drafts, self.existing, at=at)
        for change in changes:
            self.thoughts = [replace(t, retired_at=AT) if t.id in change.retire else t for t in self.thoughts]
            for draft in change.add:
                fields = {name: getattr(draft, name) for name in ThoughtDraft.__dataclass_fields__}
                self.thoughts.append(Thought(**fields, id=len(self.thoughts) + 1, recorded_at=AT))
        return changes

    @property
    def current(self) -> list[str]:
        return [t.sentence for t in self.thoughts if t.current]


def test_a_single_valued_relation_is_superseded_and_says_why() -> None:
    space = Space()
    space.think(said("user", "lives in", "Paris", turn=3))
    (change,) = space.think(said("user", "lives in", "Berlin", turn=7), at=AT)
    assert (change.action, change.retire) == ("supersede", (1,))
    assert change.reason == "lives in holds one value; newer: turn 7"
    assert change.add[0].valid_from == AT
    assert space.current == ["The user lives in Berlin."]
    assert [t.current for t in space.thoughts] == [False, True]  # retired, never deleted


def test_a_start_that_was_said_is_kept() -> None:
    space = Space()
    space.think(said("user", "lives in", "Paris", turn=3))
    start = datetime(2023, 1, 1, tzinfo=UTC)
    (change,) = space.think(said("user", "lives in", "Berlin", turn=7, when=(start, None)), at=AT)
    assert change.add[0].valid_from == start


def test_a_turn_thought_over_late_does_not_undo_what_was_said_since() -> None:
    space = Space()
    space.think(said("user", "lives in", "Berlin", turn=7))
    assert space.think(said("user", "lives in", "Paris", turn=3)) == ()


def test_times_that_do_not_overlap_stand_side_by_side() -> None:
    space = Space()
    y2015, y2019 = datetime(2015, 1, 1, tzinfo=UTC), datetime(2019, 1, 1, tzinfo=UTC)
    space.think(said("user", "lives in", "Berlin", turn=1, when=(y2019, None)))
    (change,) = space.think(said("user", "lives in", "Paris", turn=2, when=(y2015, y2019)))
    assert (change.action, change.retire) == ("insert", ())


def test_three_occupations_become_one_thought() -> None:
    space = Space()
    for turn, job in enumerate(("actor", "director", "writer"), start=1):
        changes = space.think(said("John", "works as", job, turn=turn))
    space.think(said("Mike", "works as", "teacher", turn=4))
    assert changes[0].action == "merge"
    assert space.current == ["John works as an actor, a director and a writer.", "Mike works as a teacher."]
    assert [s.turn for t in space.thoughts if t.current and t.subject == "John" for s in t.sources] == [
        1,
        2,
        3,
    ]


def test_a_merge_speaks_the_language_of_the_sentence() -> None:
    space = Space()
    space.think(said("user", "likes", "茶", lang="zh"))
    space.think(said("user", "likes", "咖啡", "爵士乐", turn=2, lang="zh"))
    assert space.current == ["用户喜欢茶、咖啡和爵士乐。"]


def test_liking_and_not_liking_football() -> None:
    space = Space()
    space.think(
        said("Michael", "likes", "to play football", turn=1), said("James", "likes", "to swim", turn=1)
    )
    (change,) = space.think(said("Michael", "likes", "playing football", turn=2, negated=True))
    assert change.action == "forget"
    assert "Michael likes to play football" in change.reason
    assert space.current == ["James likes to swim.", "Michael does not like playing football."]
    (back,) = space.think(said("Michael", "likes", "to play football", turn=3))
    assert back.action == "forget"
    assert space.current == ["James likes to swim.", "Michael likes to play football."]


def test_the_capitals() -> None:
    space = Space()
    space.think(said("China", "capital", "Shanghai", turn=1, side="response"))
    space.think(said("United States", "capital", "Washington", turn=2, side="response"))
    (change,) = space.think(said("China", "has capital", "Beijing", turn=3, side="response"))
    assert change.action == "supersede"
    assert space.current == [
        "The capital of United States is Washington.",
        "The capital of China is Beijing.",
    ]


def test_a_denial_takes_only_what_it_denies() -> None:
    space = Space()
    space.think(said("user", "likes", "tea", "coffee", "jazz", turn=1))
    (change,) = space.think(said("user", "likes", "coffee", turn=2, negated=True))
    assert (change.action, change.retire) == ("forget", (1,))
    assert space.current == ["The user likes tea and jazz.", "The user does not like coffee."]


def test_a_denial_of_nothing_known_is_a_thought() -> None:
    space = Space()
    (change,) = space.think(said("user", "lives in", "Rome", negated=True))
    assert change.action == "insert"
    (more,) = space.think(said("user", "lives in", "Oslo", turn=2, negated=True))
    assert more.action == "merge"
    assert space.current == ["The user does not live in Rome or Oslo."]
    space.think(said("user", "lives in", "Paris", turn=3))
    assert space.current == ["The user does not live in Rome or Oslo.", "The user lives in Paris."]


def test_the_same_fact_again_changes_nothing() -> None:
    space = Space()
    space.think(said("user", "lives in", "Paris"), said("user", "likes", "tea", "coffee"))
    assert space.think(said("the user", "resides in", "paris", turn=2)) == ()
    assert space.think(said("user", "loves", "Coffee", turn=2)) == ()


def test_two_drafts_of_one_turn_do_not_contradict() -> None:
    space = Space()
    (change,) = space.think(said("user", "lives in", "Paris"), said("user", "lives in", "Berlin"))
    assert (change.action, [d.object for d in change.add]) == ("insert", ["Berlin"])
    space.think(
        said("user", "likes", "tea"), said("user", "likes", "tea"), said("user", "likes", "tea", negated=True)
    )
    assert space.current == ["The user lives in Berlin.", "The user does not like tea."]


def test_used_to_and_now_in_one_turn() -> None:
    space = Space()
    space.think(said("user", "lives in", "Rome", turn=1))
    (change,) = space.think(
        said("user", "lives in", "Rome", turn=2, negated=True), said("user", "lives in", "Oslo", turn=2)
    )
    assert (change.action, change.retire) == ("forget", (1,))
    assert space.current == ["The user does not live in Rome.", "The user lives in Oslo."]


def test_events_are_never_merged() -> None:
    space = Space()
    monday = datetime(2024, 5, 13, tzinfo=UTC), datetime(2024, 5, 14, tzinfo=UTC)
    tuesday = monday[1], AT
    space.think(said("user", "went to", "Rome", when=monday))
    assert space.think(said("user", "went to", "Rome", turn=2, when=monday)) == ()
    (change,) = space.think(said("user", "went to", "Rome", turn=3, when=tuesday))
    assert change.action == "insert"
    assert len(space.current) == 2


def test_many_valued_facts_of_another_time_stay_apart() -> None:
    space = Space()
    space.think(said("user", "studies", "law"))
    (change,) = space.think(said("user", "studies", "law", "art", turn=2, when=(AT, None)))
    assert change.action == "insert"
    assert space.current == ["The user studies law.", "The user studies art."]


@pytest.mark.parametrize("negated", [False, True])
def test_the_assistant_never_retires_the_users_word(negated: bool) -> None:
    space = Space()
    space.think(said("Anna", "lives in", "Rome"), said("Anna", "likes", "tea"))
    assert (
        space.think(
            said("Anna", "lives in", "Rome" if negated else "Oslo", turn=2, side="response", negated=negated)
        )
        == ()
    )
    space.think(said("Anna", "likes", "tea", "milk", turn=3, side="response"))
    assert space.current == ["Anna lives in Rome.", "Anna likes tea.", "Anna likes milk."]
    space.think(said("Anna", "likes", "milk", turn=4, negated=True))
    assert space.current == ["Anna lives in Rome.", "Anna likes tea.", "Anna does not like milk."]


def test_unknown_relations_hold_many_values_and_empty_drafts_none() -> None:
    space = Space()
    space.think(said("user", "collects", "stamps"))
    (change,) = space.think(said("user", "collects", "coins", turn=2))
    assert change.action == "merge"
    assert space.think(said("user", "collects")) == ()


def test_thoughts_of_another_relation_are_left_alone() -> None:
    space = Space()
    space.think(said("user", "comes from", "Rome"))
    (change,) = plan_operations([said("user", "lives in", "Oslo", turn=2)], lambda s, r: space.thoughts)
    assert change.retire == ()


def test_a_stored_thought_said_again_is_its_draft() -> None:
    space = Space()
    draft = said("user", "likes", "tea")
    space.think(draft)
    assert to_draft(space.thoughts[0]) == draft


DRAFTS = st.builds(
    said,
    st.sampled_from(["user", "Anna", "my sister"]),
    st.sampled_from(["lives in", "likes", "speaks", "is named", "collects"]),
    st.sampled_from(["tea", "Rome", "jazz", "Oslo", "cats"]),
    negated=st.booleans(),
)


@given(st.lists(st.lists(DRAFTS, min_size=1, max_size=4), max_size=6))
@settings(max_examples=200, deadline=None)
def test_laws(turns: list[list[ThoughtDraft]]) -> None:
    space = Space()
    for number, drafts in enumerate(turns, start=1):
        stamped = [replace(d, sources=(Source(number, "user", "query", 0, 9),)) for d in drafts]
        before = {t.id: t for t in space.thoughts if t.current}
        keys = {thought_key(d.subject, d.relation) for d in stamped}
        changes = space.think(*stamped)
        for change in changes:
            for retired in change.retire:
                assert thought_key(before[retired].subject, before[retired].relation) in keys
            assert change.reason
        _no_object_is_lost(space, before, stamped)
        assert space.think(*stamped[-1:]) == ()  # said again, nothing changes
    for key in {thought_key(t.subject, t.relation) for t in space.thoughts}:
        held = space.existing(*key)
        positive = [object_key(o) for t in held if not t.negated for o in t.objects]
        negative = [object_key(o) for t in held if t.negated for o in t.objects]
        assert not set(positive) & set(negative)
        assert len(positive) == len(set(positive))
        assert not get_relation(key[1]).single_valued or len(positive) <= 1


def _no_object_is_lost(space: Space, before: dict[int, Thought], drafts: list[ThoughtDraft]) -> None:
    """Of a many-valued relation every object stays, unless this turn denied it."""
    for thought in before.values():
        if get_relation(thought.relation).single_valued and not thought.negated:
            continue
        key = thought_key(thought.subject, thought.relation)
        opposed = {
            object_key(o)
            for d in drafts
            if thought_key(d.subject, d.relation) == key and d.negated != thought.negated
            for o in d.objects
        }
        now = {object_key(o) for t in space.existing(*key) if t.negated == thought.negated for o in t.objects}
        assert {object_key(o) for o in thought.objects} - opposed <= now


def amended(subject: str, relation: str, value: str, *, turn: int = 2, **options: Any) -> Amendment:
    return Amendment(
        subject=subject,
        relation=relation,
        objects=(value,),
        sentence="what the user said",
        kind=get_relation(relation).kind,
        sources=(Source(turn, "user", "query", 0, 9),),
        **options,
    )


def current(space: Space) -> list[str]:
    return [thought.sentence for thought in space.thoughts if thought.current]


@pytest.mark.parametrize(
    ("relation", "old", "new", "left"),
    [
        ("has", ("3 chickens", "a goat"), "5 chickens", "The user has a goat and 5 chickens."),
        ("has", ("two cats",), "three cats", "The user has three cats."),
        (
            "takes",
            ("metformin 500 mg twice a day",),
            "metformin 1000 mg",
            "The user takes metformin 1000 mg.",
        ),
        ("takes", ("20 mg of lisinopril",), "10 mg of lisinopril", "The user takes 10 mg of lisinopril."),
        ("prefers", ("window seats",), "aisle seats", "The user prefers aisle seats."),
    ],
)
def test_another_count_dose_or_choice_takes_the_place_of_the_old(
    relation: str, old: tuple[str, ...], new: str, left: str
) -> None:
    space = Space()
    space.think(said("user", relation, *old))
    (change,) = space.think(said("user", relation, new, turn=2))
    assert change.action == "supersede"
    assert current(space) == [left]


@pytest.mark.parametrize(
    ("relation", "old", "new"),
    [
        ("has", "3 chickens", "5 ducks"),
        ("has", "a red car", "a blue car"),
        ("takes", "metformin 500 mg", "aspirin 100 mg"),
        ("prefers", "window seats", "green tea"),
        ("likes", "window seats", "aisle seats"),
    ],
)
def test_other_things_are_added(relation: str, old: str, new: str) -> None:
    space = Space()
    space.think(said("user", relation, old))
    (change,) = space.think(said("user", relation, new, turn=2))
    assert change.action == "merge"
    assert space.thoughts[-1].objects == (old, new)


def test_a_boss_is_one_at_a_time_and_wives_are_spelt_right() -> None:
    space = Space()
    space.think(said("user", "has boss", "Raymond"))
    space.think(said("user", "has boss", "Desmond", turn=2))
    assert current(space) == ["The user's boss is Desmond."]
    assert compose_sentence("Ann", "has boss", ("Ed", "Jo")) == "Ann's bosses are Ed and Jo."
    assert compose_sentence("Ali", "has wife", ("May", "Ann")) == "Ali's wives are May and Ann."


def test_what_is_to_be_forgotten_goes_and_nothing_is_said_instead() -> None:
    space = Space()
    space.think(said("user", "address", "14 Elm Street"), said("user", "likes", "tea", "jazz"))
    (change,) = space.think(amended("user", "address", ALL_VALUES, forget=True))
    assert (change.action, change.add) == ("forget", ())
    (change,) = space.think(amended("user", "likes", "jazz", forget=True))
    assert change.action == "forget"
    assert current(space) == ["The user likes tea."]
    assert space.think(amended("user", "likes", "football", forget=True)) == ()
    assert space.think(amended("user", "salary", ALL_VALUES, forget=True)) == ()


@pytest.mark.parametrize(
    ("relation", "old", "new", "options", "mended"),
    [
        ("has girlfriend", "陈静", "陈婧", {}, True),
        ("weighs", "68公斤", "86公斤", {}, True),
        ("lives in", "Boston", "Austin", {"instead_of": "Boston"}, True),
        ("birthday", "June 12", "June 21", {"any_value": True}, True),
        ("lives in", "Paris", "Mila", {}, False),  # nothing like it
        ("is aged", "34", "86 kg", {}, False),
        ("lives in", "Paris", "Austin", {"instead_of": "Boston"}, False),
        ("lives in", "Boston", "Austin", {"instead_of": "Boston", "turn": 9}, False),  # too long ago
    ],
)
def test_a_bare_correction_mends_what_it_resembles(
    relation: str, old: str, new: str, options: dict[str, Any], mended: bool
) -> None:
    space = Space()
    space.think(said("user", relation, old))
    changes = space.think(amended("user", relation, new, **options))
    assert [change.action for change in changes] == (["supersede"] if mended else [])
    (held,) = [thought for thought in space.thoughts if thought.current]
    assert held.object == (new if mended else old)
    assert (new in held.sentence) == mended
    assert all(type(draft) is ThoughtDraft for change in changes for draft in change.add)


def test_a_correction_of_nothing_changes_nothing() -> None:
    assert Space().think(amended("user", "lives in", "Austin", any_value=True)) == ()
