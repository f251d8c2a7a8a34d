"""Planning of operations (Algorithm 1): insert, merge, supersede, forget, and general laws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thinkback.language.relations import ALL_VALUES, get_relation
from thinkback.language.sentence_builder import compose_sentence
from thinkback.think.comparison_keys import object_key, thought_key
from thinkback.think.plan import plan_operations
from thinkback.think.state import Amendment, to_draft
from thinkback.types import Operation, Side, Source, Thought, ThoughtDraft

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)


def make_draft(
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
    """A minimal store: applies operations and keeps retired thoughts."""

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


def test_single_valued_relation_is_superseded_with_a_reason() -> None:
    space = Space()
    space.think(make_draft("user", "lives in", "Paris", turn=3))
    (change,) = space.think(make_draft("user", "lives in", "Berlin", turn=7), at=AT)
    assert (change.action, change.retire) == ("supersede", (1,))
    assert change.reason == "lives in holds one value; newer: turn 7"
    assert change.add[0].valid_from == AT
    assert space.current == ["The user lives in Berlin."]
    assert [t.current for t in space.thoughts] == [False, True]  # retired, never deleted


def test_stated_start_is_kept() -> None:
    space = Space()
    space.think(make_draft("user", "lives in", "Paris", turn=3))
    start = datetime(2023, 1, 1, tzinfo=UTC)
    (change,) = space.think(make_draft("user", "lives in", "Berlin", turn=7, when=(start, None)), at=AT)
    assert change.add[0].valid_from == start


def test_late_turn_does_not_replace_newer_statements() -> None:
    space = Space()
    space.think(make_draft("user", "lives in", "Berlin", turn=7))
    assert space.think(make_draft("user", "lives in", "Paris", turn=3)) == ()


def test_disjoint_validity_periods_coexist() -> None:
    space = Space()
    y2015, y2019 = datetime(2015, 1, 1, tzinfo=UTC), datetime(2019, 1, 1, tzinfo=UTC)
    space.think(make_draft("user", "lives in", "Berlin", turn=1, when=(y2019, None)))
    (change,) = space.think(make_draft("user", "lives in", "Paris", turn=2, when=(y2015, y2019)))
    assert (change.action, change.retire) == ("insert", ())


def test_three_occupations_become_one_thought() -> None:
    space = Space()
    for turn, job in enumerate(("actor", "director", "writer"), start=1):
        changes = space.think(make_draft("John", "works as", job, turn=turn))
    space.think(make_draft("Mike", "works as", "teacher", turn=4))
    assert changes[0].action == "merge"
    assert space.current == ["John works as an actor, a director and a writer.", "Mike works as a teacher."]
    assert [s.turn for t in space.thoughts if t.current and t.subject == "John" for s in t.sources] == [
        1,
        2,
        3,
    ]


def test_merge_keeps_the_language() -> None:
    space = Space()
    space.think(make_draft("user", "likes", "茶", lang="zh"))
    space.think(make_draft("user", "likes", "咖啡", "爵士乐", turn=2, lang="zh"))
    assert space.current == ["用户喜欢茶、咖啡和爵士乐。"]


def test_liking_then_not_liking() -> None:
    space = Space()
    space.think(
        make_draft("Michael", "likes", "to play football", turn=1),
        make_draft("James", "likes", "to swim", turn=1),
    )
    (change,) = space.think(make_draft("Michael", "likes", "playing football", turn=2, negated=True))
    assert change.action == "forget"
    assert "Michael likes to play football" in change.reason
    assert space.current == ["James likes to swim.", "Michael does not like playing football."]
    (back,) = space.think(make_draft("Michael", "likes", "to play football", turn=3))
    assert back.action == "forget"
    assert space.current == ["James likes to swim.", "Michael likes to play football."]


def test_capitals_of_two_countries() -> None:
    space = Space()
    space.think(make_draft("China", "capital", "Shanghai", turn=1, side="response"))
    space.think(make_draft("United States", "capital", "Washington", turn=2, side="response"))
    (change,) = space.think(make_draft("China", "has capital", "Beijing", turn=3, side="response"))
    assert change.action == "supersede"
    assert space.current == [
        "The capital of United States is Washington.",
        "The capital of China is Beijing.",
    ]


def test_denial_retires_only_what_it_denies() -> None:
    space = Space()
    space.think(make_draft("user", "likes", "tea", "coffee", "jazz", turn=1))
    (change,) = space.think(make_draft("user", "likes", "coffee", turn=2, negated=True))
    assert (change.action, change.retire) == ("forget", (1,))
    assert space.current == ["The user likes tea and jazz.", "The user does not like coffee."]


def test_denial_of_an_unknown_fact_is_stored() -> None:
    space = Space()
    (change,) = space.think(make_draft("user", "lives in", "Rome", negated=True))
    assert change.action == "insert"
    (more,) = space.think(make_draft("user", "lives in", "Oslo", turn=2, negated=True))
    assert more.action == "merge"
    assert space.current == ["The user does not live in Rome or Oslo."]
    space.think(make_draft("user", "lives in", "Paris", turn=3))
    assert space.current == ["The user does not live in Rome or Oslo.", "The user lives in Paris."]


def test_repeated_fact_changes_nothing() -> None:
    space = Space()
    space.think(make_draft("user", "lives in", "Paris"), make_draft("user", "likes", "tea", "coffee"))
    assert space.think(make_draft("the user", "resides in", "paris", turn=2)) == ()
    assert space.think(make_draft("user", "loves", "Coffee", turn=2)) == ()


def test_drafts_of_one_turn_are_consistent() -> None:
    space = Space()
    (change,) = space.think(make_draft("user", "lives in", "Paris"), make_draft("user", "lives in", "Berlin"))
    assert (change.action, [d.object for d in change.add]) == ("insert", ["Berlin"])
    space.think(
        make_draft("user", "likes", "tea"),
        make_draft("user", "likes", "tea"),
        make_draft("user", "likes", "tea", negated=True),
    )
    assert space.current == ["The user lives in Berlin.", "The user does not like tea."]


def test_former_and_current_state_in_one_turn() -> None:
    space = Space()
    space.think(make_draft("user", "lives in", "Rome", turn=1))
    (change,) = space.think(
        make_draft("user", "lives in", "Rome", turn=2, negated=True),
        make_draft("user", "lives in", "Oslo", turn=2),
    )
    assert (change.action, change.retire) == ("forget", (1,))
    assert space.current == ["The user does not live in Rome.", "The user lives in Oslo."]


def test_events_are_never_merged() -> None:
    space = Space()
    monday = datetime(2024, 5, 13, tzinfo=UTC), datetime(2024, 5, 14, tzinfo=UTC)
    tuesday = monday[1], AT
    space.think(make_draft("user", "went to", "Rome", when=monday))
    assert space.think(make_draft("user", "went to", "Rome", turn=2, when=monday)) == ()
    (change,) = space.think(make_draft("user", "went to", "Rome", turn=3, when=tuesday))
    assert change.action == "insert"
    assert len(space.current) == 2


def test_many_valued_facts_of_another_time_are_not_merged() -> None:
    space = Space()
    space.think(make_draft("user", "studies", "law"))
    (change,) = space.think(make_draft("user", "studies", "law", "art", turn=2, when=(AT, None)))
    assert change.action == "insert"
    assert space.current == ["The user studies law.", "The user studies art."]


@pytest.mark.parametrize("negated", [False, True])
def test_assistant_never_retires_user_statements(negated: bool) -> None:
    space = Space()
    space.think(make_draft("Anna", "lives in", "Rome"), make_draft("Anna", "likes", "tea"))
    assert (
        space.think(
            make_draft(
                "Anna", "lives in", "Rome" if negated else "Oslo", turn=2, side="response", negated=negated
            )
        )
        == ()
    )
    space.think(make_draft("Anna", "likes", "tea", "milk", turn=3, side="response"))
    assert space.current == ["Anna lives in Rome.", "Anna likes tea.", "Anna likes milk."]
    space.think(make_draft("Anna", "likes", "milk", turn=4, negated=True))
    assert space.current == ["Anna lives in Rome.", "Anna likes tea.", "Anna does not like milk."]


def test_unknown_relations_are_many_valued() -> None:
    space = Space()
    space.think(make_draft("user", "collects", "stamps"))
    (change,) = space.think(make_draft("user", "collects", "coins", turn=2))
    assert change.action == "merge"
    assert space.think(make_draft("user", "collects")) == ()


def test_thoughts_of_another_relation_are_ignored() -> None:
    space = Space()
    space.think(make_draft("user", "comes from", "Rome"))
    (change,) = plan_operations([make_draft("user", "lives in", "Oslo", turn=2)], lambda s, r: space.thoughts)
    assert change.retire == ()


def test_to_draft_of_a_stored_thought() -> None:
    space = Space()
    draft = make_draft("user", "likes", "tea")
    space.think(draft)
    assert to_draft(space.thoughts[0]) == draft


DRAFTS = st.builds(
    make_draft,
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
    """Every object of a many-valued relation stays, unless this turn denied it."""
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


def make_amendment(subject: str, relation: str, value: str, *, turn: int = 2, **options: Any) -> Amendment:
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
def test_newer_count_dose_or_choice_replaces_the_old(
    relation: str, old: tuple[str, ...], new: str, left: str
) -> None:
    space = Space()
    space.think(make_draft("user", relation, *old))
    (change,) = space.think(make_draft("user", relation, new, turn=2))
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
def test_other_objects_are_added(relation: str, old: str, new: str) -> None:
    space = Space()
    space.think(make_draft("user", relation, old))
    (change,) = space.think(make_draft("user", relation, new, turn=2))
    assert change.action == "merge"
    assert space.thoughts[-1].objects == (old, new)


def test_single_valued_boss_and_plural_of_wife() -> None:
    space = Space()
    space.think(make_draft("user", "has boss", "Raymond"))
    space.think(make_draft("user", "has boss", "Desmond", turn=2))
    assert current(space) == ["The user's boss is Desmond."]
    assert compose_sentence("Ann", "has boss", ("Ed", "Jo")) == "Ann's bosses are Ed and Jo."
    assert compose_sentence("Ali", "has wife", ("May", "Ann")) == "Ali's wives are May and Ann."


def test_forget_request_removes_without_replacement() -> None:
    space = Space()
    space.think(make_draft("user", "address", "14 Elm Street"), make_draft("user", "likes", "tea", "jazz"))
    (change,) = space.think(make_amendment("user", "address", ALL_VALUES, forget=True))
    assert (change.action, change.add) == ("forget", ())
    (change,) = space.think(make_amendment("user", "likes", "jazz", forget=True))
    assert change.action == "forget"
    assert current(space) == ["The user likes tea."]
    assert space.think(make_amendment("user", "likes", "football", forget=True)) == ()
    assert space.think(make_amendment("user", "salary", ALL_VALUES, forget=True)) == ()


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
def test_bare_correction_replaces_the_similar_value(
    relation: str, old: str, new: str, options: dict[str, Any], mended: bool
) -> None:
    space = Space()
    space.think(make_draft("user", relation, old))
    changes = space.think(make_amendment("user", relation, new, **options))
    assert [change.action for change in changes] == (["supersede"] if mended else [])
    (held,) = [thought for thought in space.thoughts if thought.current]
    assert held.object == (new if mended else old)
    assert (new in held.sentence) == mended
    assert all(type(draft) is ThoughtDraft for change in changes for draft in change.add)


def test_correction_of_an_unknown_value_changes_nothing() -> None:
    assert Space().think(make_amendment("user", "lives in", "Austin", any_value=True)) == ()
