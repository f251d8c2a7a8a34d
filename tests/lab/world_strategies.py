"""Hypothesis strategies for arbitrary worlds."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import strategies as st

from thinkback_lab.worlds.parsing import SECTIONS
from thinkback_lab.worlds.world import (
    PROFILE_FIELDS,
    QA,
    Anchor,
    Character,
    Dialogue,
    Event,
    Relationship,
    World,
)

VOCABULARY = (
    *(
        "Tara",
        "Bo Reed",
        "and the AI assistant",
        "with",
        "at",
        "On",
        "the lake",
        "“Heron”",
        "Ltd.",
        "wife",
        "friend",
    ),
    *(
        "rowed",
        "she",
        "my",
        ",",
        "(",
        "Unknown",
        "[name]",
        "林晓帆",
        "在望月湖",
        "的",
        "白鹭号",
        "和AI助手",
        "女朋友",
        "无",
    ),
)
words = st.one_of(
    st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=30),
    st.lists(st.sampled_from(VOCABULARY), max_size=25).map(" ".join),
)
speakers = st.text(st.characters(codec="utf-8", exclude_characters=":：\x00"), max_size=8)
moments = st.datetimes(datetime(1000, 1, 2), datetime(2999, 1, 1), timezones=st.just(UTC))


@st.composite
def characters(draw: st.DrawFn, number: int) -> Character:
    people = range(draw(st.integers(1, 3)))
    relationships = [
        Relationship(id=f"{number}_{p}", name=draw(words), relationship=draw(words), description=draw(words))
        for p in people
    ]
    events = [
        Event(
            id=f"{number}_{p}_{e}",
            content=draw(words),
            summary=draw(words),
            characters=tuple(draw(st.lists(st.sampled_from([each.id for each in relationships])))),
            at=draw(moments),
            theme=draw(words),
        )
        for p in people
        for e in range(draw(st.integers(0, 2)))
    ]
    dialogues = [
        Dialogue(
            id=f"{event.id}#{count}",
            event=event.id,
            at=draw(moments),
            lines=tuple(draw(st.lists(st.tuples(speakers, words), max_size=3))),
        )
        for count, event in enumerate(events)
        if draw(st.booleans())
    ]
    profile = {field: draw(words) for field in draw(st.lists(st.sampled_from(PROFILE_FIELDS), unique=True))}
    known = [*profile, *(each.id for each in relationships), *(each.id for each in events)]
    questions = st.builds(
        QA,
        section=st.sampled_from(SECTIONS),
        question=words,
        answer=words,
        references=st.lists(st.sampled_from(known), max_size=3).map(tuple),
        anchors=st.lists(st.builds(Anchor, words, st.integers(-1, 99), st.integers(-1, 99)), max_size=3).map(
            tuple
        ),
        topic=st.sampled_from(["plain", "changed", "unanswerable"]),
        again=st.lists(words, max_size=2).map(tuple),
    )
    asked = draw(st.lists(questions, max_size=5))
    return Character(
        number=number,
        name=f"name {number}" + draw(words),
        profile=profile,
        description=draw(words),
        relationships=tuple(relationships),
        events=tuple(events),
        dialogues=tuple(dialogues),
        questions=tuple(sorted(asked, key=lambda qa: SECTIONS.index(qa.section))),
    )


@st.composite
def worlds(draw: st.DrawFn) -> World:
    numbers = draw(st.lists(st.integers(1, 99), max_size=3, unique=True))
    return World(draw(st.sampled_from(["en", "zh"])), tuple(draw(characters(each)) for each in numbers))
