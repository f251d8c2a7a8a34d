"""Validation of worlds (PerLTQA, table 8): valid worlds pass, faults are found and repaired."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lab.world_strategies import worlds

from thinkback_lab.worlds.text_checks import is_placeholder, strip_anchor, treats_assistant_as_person
from thinkback_lab.worlds.validation import find_faults, repair_world
from thinkback_lab.worlds.world import QA, Anchor, Character, Dialogue, Event, Relationship, World

AT = datetime(2022, 5, 12, 9, tzinfo=UTC)


def qa(section: str, question: str, answer: str, reference: str, text: str, **more: object) -> QA:
    start = text.index(answer)
    return QA(
        section=section,  # type: ignore[arg-type]
        question=question,
        answer=answer,
        references=(reference,),
        anchors=(Anchor(answer, start, start + len(answer)),),
        **more,  # type: ignore[arg-type]
    )


EVENT = (
    "Tara Quill and her brother Jonas Quill rowed the restored boat Heron across Lake Varr, where a storm "
    "broke one oar. They camped at Bali Point and came home on the ferry."
)
SECOND = (
    "Mei Castell and Tara Quill found a forged seal in the Harlow charters and reported it to the director."
)
TALK = (("Tara Quill", "I would paint her in ochre."), ("AI assistant", "Ochre suits a small boat."))


def english() -> World:
    profile = {
        "Protagonist": "Tara Quill",
        "Nickname": "Quilly",
        "Age": "34",
        "Hobbies": "rowing, bookbinding",
    }
    talk = "\n".join(f"{speaker}: {said}" for speaker, said in TALK)
    character = Character(
        number=7,
        name="Tara Quill",
        profile=profile,
        description="",
        relationships=(
            Relationship(id="7_0", name="Jonas Quill", relationship="brother", description="Builds boats."),
            Relationship(
                id="7_1", name="Mei Castell", relationship="colleague", description="Takes pictures."
            ),
        ),
        events=(
            Event(id="7_0_0", content=EVENT, summary="", characters=("7_0",), at=AT, theme="trip"),
            Event(id="7_1_0", content=SECOND, summary="", characters=("7_1",), at=AT, theme="work"),
        ),
        dialogues=(Dialogue(id="7_0_0#0", event="7_0_0", at=AT, lines=TALK),),
        questions=(
            qa("profile", "How old is Tara Quill?", "34", "Age", "34", again=("What is Quilly's age?",)),
            qa("events", "Which boat did Tara Quill and Jonas Quill row?", "Heron", "7_0_0", EVENT),
            qa("events", "What did Mei Castell and Tara find?", "a forged seal", "7_1_0", SECOND),
            qa("dialogues", "What colour did Tara tell the AI assistant about?", "ochre", "7_0_0#0", talk),
            QA(
                section="events",
                question="What did Jonas Quill name his dog?",
                answer="Nobody said",
                references=(),
                anchors=(),
                topic="unanswerable",
            ),
        ),
    )
    return World("en", (character,))


def chinese() -> World:
    told = "林晓帆和哥哥林晓舟划着白鹭号横渡望月湖，途中断了一支桨，他们在湖心岛露营，第二天才回家。"
    character = Character(
        number=3,
        name="林晓帆",
        profile={"Protagonist": "林晓帆", "Hobbies": "划船、装订书籍"},
        description="",
        relationships=(Relationship(id="3_0", name="林晓舟", relationship="哥哥", description="造木船。"),),
        events=(Event(id="3_0_0", content=told, summary="", characters=("3_0",), at=AT, theme="出游"),),
        dialogues=(),
        questions=(
            qa("profile", "晓帆有什么爱好？", "划船", "Hobbies", "划船、装订书籍"),
            qa("events", "林晓帆和林晓舟坐哪条船横渡望月湖？", "白鹭号", "3_0_0", told),
        ),
    )
    return World("zh", (character,))


def changed(world: World, **fields: object) -> World:
    (character,) = world.characters
    return replace(world, characters=(replace(character, **fields),))  # type: ignore[arg-type]


def with_question(world: World, index: int, **fields: object) -> World:
    questions = list(world.characters[0].questions)
    questions[index] = replace(questions[index], **fields)  # type: ignore[arg-type]
    return changed(world, questions=tuple(questions))


@pytest.mark.parametrize("world", [english(), chinese()], ids=["en", "zh"])
def test_valid_world_has_no_faults_and_is_unchanged(world: World) -> None:
    assert find_faults(world) == []
    assert repair_world(world) == world


def profile_with(world: World, field: str, value: str) -> World:
    return changed(world, profile={**world.characters[0].profile, field: value})


def second_partner(world: World) -> World:
    (character,) = world.characters
    first, second = character.relationships
    wife = replace(first, relationship="wife")
    girlfriend = replace(second, id="7_2", name="Ann Lowe", relationship="Girlfriend")
    third = Event(id="7_2_0", content=EVENT, summary="", characters=("7_2",), at=AT, theme="trip")
    more = replace(third, id="7_0_1", characters=("7_0",))
    return changed(world, relationships=(wife, second, girlfriend), events=(*character.events, more, third))


def lonely(world: World) -> World:
    extra = Relationship(id="7_2", name="Ann Lowe", relationship="neighbour", description="Lives next door.")
    return changed(world, relationships=(*world.characters[0].relationships, extra))


def brief(world: World) -> World:
    extra = Event(
        id="7_0_1",
        content="Tara's brother used to join the activities.",
        summary="",
        characters=("7_0",),
        at=AT,
        theme="",
    )
    return changed(world, events=(*world.characters[0].events, extra))


FAULTS: list[tuple[str, Callable[[World], World]]] = [
    ("profile-anomaly", lambda world: profile_with(world, "Title", "Not Provided")),
    ("profile-anomaly", lambda world: profile_with(world, "Title", "")),
    ("profile-anomaly", lambda world: profile_with(world, "Title", "[title]")),
    ("invalid-relationship", second_partner),
    ("invalid-relationship", lonely),
    ("brief-event", brief),
    ("missing-reference", lambda world: with_question(world, 1, references=("7_0_0", "7_9_9"))),
    ("anchor-boundary", lambda world: with_question(world, 1, anchors=(Anchor("Heron", 3, 8),))),
    ("anchor-boundary", lambda world: with_question(world, 1, anchors=(Anchor("Heron"),))),
]


@pytest.mark.parametrize(("code", "spoil"), FAULTS)
def test_fault_is_found_once_and_repaired(code: str, spoil: Callable[[World], World]) -> None:
    spoilt = spoil(english())
    assert [finding.code for finding in find_faults(spoilt)] == [code]
    repaired = repair_world(spoilt)
    assert find_faults(repaired) == []
    assert len(repaired.characters[0].questions) == 5


def test_of_wife_and_girlfriend_the_one_with_more_events_is_kept() -> None:
    (character,) = repair_world(second_partner(english())).characters
    assert [known.relationship for known in character.relationships] == ["wife", "colleague"]
    assert "7_2_0" not in {event.id for event in character.events}


def test_relationship_without_events_is_removed() -> None:
    world = english()
    (character,) = world.characters
    first, second = character.events
    world = changed(world, events=(replace(first, content="They rowed."), second))
    (left,) = repair_world(world).characters
    assert [known.id for known in left.relationships] == ["7_1"]
    assert not left.dialogues
    assert [question.references for question in left.questions] == [("Age",), ("7_1_0",), ()]


def test_event_without_participants_is_kept() -> None:
    world = english()
    alone = replace(world.characters[0].events[0], id="7_0_1", characters=())
    world = changed(world, events=(*world.characters[0].events, alone))
    assert find_faults(world) == []
    assert repair_world(world) == world


@pytest.mark.parametrize(
    "spoil",
    [
        lambda who: {"events": (replace(who.events[0], characters=("7_0", "7_8")), who.events[1])},
        lambda who: {"dialogues": (*who.dialogues, replace(who.dialogues[0], id="7_0_9#1", event="7_0_9"))},
    ],
    ids=["a stranger in an event", "a dialogue about nothing"],
)
def test_unknown_reference_is_found(spoil: Callable[[Character], dict[str, object]]) -> None:
    world = english()
    spoilt = changed(world, **spoil(world.characters[0]))
    assert [finding.code for finding in find_faults(spoilt)] == ["missing-reference"]
    assert repair_world(spoilt) == world


def test_namesake_in_other_relationship_is_another_person() -> None:
    world = english()
    first, second = world.characters[0].relationships
    assert find_faults(changed(world, relationships=(replace(first, name="Mei Castell"), second))) == []
    twice = changed(world, relationships=(replace(second, id="7_0"), second))
    assert "invalid-relationship" in {finding.code for finding in find_faults(twice)}


def test_assistant_is_replaced_by_participant() -> None:
    asked = "When did Tara Quill and the AI assistant row the boat?"
    spoilt = with_question(english(), 1, question=asked)
    (finding,) = find_faults(spoilt)
    assert (finding.code, finding.operation) == ("referent-error", "replace")
    assert (
        repair_world(spoilt).characters[0].questions[1].question
        == "When did Tara Quill and Jonas Quill row the boat?"
    )


def test_assistant_in_name_of_participant_needs_rewriting() -> None:
    """Replacing the assistant by such a name used to repeat for ever, with a longer question each time."""
    (tara,) = english().characters
    brother, *others = tara.relationships
    renamed = (replace(brother, name="Jonas and the AI assistant"), *others)
    world = replace(english(), characters=(replace(tara, relationships=renamed),))
    spoilt = with_question(world, 1, question="When did Tara Quill and the AI assistant row the boat?")
    repaired = repair_world(spoilt)
    assert repaired.characters[0].questions[1].question == spoilt.characters[0].questions[1].question
    assert [finding.operation for finding in find_faults(repaired)] == ["rewrite"]


def test_question_without_name_needs_rewriting() -> None:
    spoilt = with_question(english(), 1, again=("Which boat did they row?",))
    (finding,) = find_faults(spoilt)
    assert (finding.code, finding.operation) == ("referent-error", "rewrite")
    assert repair_world(spoilt) == spoilt
    assert not find_faults(with_question(english(), 1, question="Which boat did I row?"))


def test_answer_that_repeats_question_is_reduced_to_anchor() -> None:
    question = "What is the name of the boat that Tara Quill rowed?"
    spoilt = with_question(
        english(), 1, question=question, answer="The name of the boat Tara Quill rowed is Heron."
    )
    assert [finding.code for finding in find_faults(spoilt)] == ["redundant-answer"]
    assert repair_world(spoilt).characters[0].questions[1].answer == "Heron"


def test_answer_with_more_than_question_is_kept() -> None:
    answer = "The restored boat Heron, through a storm"
    assert not find_faults(with_question(english(), 1, answer=answer))


def test_chinese_answers_are_reduced_too() -> None:
    spoilt = with_question(chinese(), 1, answer="林晓帆和林晓舟横渡望月湖坐的船是白鹭号。")
    assert [finding.code for finding in find_faults(spoilt)] == ["redundant-answer"]
    assert repair_world(spoilt).characters[0].questions[1].answer == "白鹭号"


def test_preposition_is_removed_from_anchor() -> None:
    spoilt = with_question(
        english(), 1, answer="They camped at Bali Point.", anchors=(Anchor("At Bali Point", -1, -1),)
    )
    assert [finding.code for finding in find_faults(spoilt)] == ["anchor-boundary"]
    (anchor,) = repair_world(spoilt).characters[0].questions[1].anchors
    assert anchor == Anchor("Bali Point", EVENT.index("Bali"), EVENT.index("Bali") + 10)


@pytest.mark.parametrize("told", ["on foot, twelve miles", "beside the piano"])
def test_meaningful_preposition_is_kept(told: str) -> None:
    world = english()
    first, second = world.characters[0].events
    first = replace(first, content=f"{EVENT} Then they went home, {told}.")
    at = first.content.index(told)
    world = changed(world, events=(first, second))
    assert not find_faults(with_question(world, 1, answer=told, anchors=(Anchor(told, at, at + len(told)),)))


def test_title_with_preposition_is_kept() -> None:
    world = english()
    first, second = world.characters[0].events
    told = replace(first, content=EVENT + " They read On the Road aloud.")
    at = told.content.index("On the Road")
    anchors = (Anchor("On the Road", at, at + 11),)
    world = with_question(changed(world, events=(told, second)), 1, answer="On the Road", anchors=anchors)
    assert find_faults(world) == []


@pytest.mark.parametrize(
    ("answer", "anchors"),
    [("Heron", (Anchor("Heron", EVENT.index("Heron"), EVENT.index("Heron") + 5), Anchor("Varr"))),
     ("Heron or Gull", (Anchor("Heron", EVENT.index("Heron"), EVENT.index("Heron") + 5), Anchor("Gull")))],
    ids=["not in the answer", "not in the reference"],
)  # fmt: skip
def test_anchor_must_be_in_answer_and_reference(answer: str, anchors: tuple[Anchor, ...]) -> None:
    spoilt = with_question(english(), 1, answer=answer, anchors=anchors)
    assert [finding.code for finding in find_faults(spoilt)] == ["anchor-missing"]
    assert repair_world(spoilt).characters[0].questions[1].anchors == anchors[:1]


def test_question_without_reference_is_removed() -> None:
    spoilt = with_question(english(), 1, references=())
    assert "missing-reference" in {finding.code for finding in find_faults(spoilt)}
    assert len(repair_world(spoilt).characters[0].questions) == 4


@pytest.mark.parametrize(
    "value",
    [
        "Not Provided",
        "n/a",
        "Unknown.",
        "None",
        "",
        "  ",
        "-",
        "<employer>",
        "未提供",
        "暂无",
        "无",
        "不详。",
    ],
)
def test_placeholders_are_recognised(value: str) -> None:
    assert is_placeholder(value)


@pytest.mark.parametrize(
    "value",
    [
        "Unknown Pleasures fan club",
        "Na",
        "34",
        "无锡人",
        "不详细的地图收藏",
        "Noneuclidean geometry",
        "无线电",
    ],
)
def test_values_similar_to_placeholders_are_kept(value: str) -> None:
    assert not is_placeholder(value)


@pytest.mark.parametrize(
    ("anchor", "text"),
    [
        (" Heron,", "Heron"),
        ("“Heron”", "Heron"),
        ("“Heron,”", "Heron"),
        ("a boat called “Heron”", "a boat called “Heron”"),
        ('"Heron" and "Gull"', '"Heron" and "Gull"'),
        ("Heron”", "Heron"),
        ("Tara's boat", "Tara's boat"),
        ("Varr Boats Ltd.", "Varr Boats Ltd."),
        ("8 a.m.", "8 a.m."),
        ("the end.", "the end"),
        ("(the red one", "the red one"),
        ("paint (ochre)", "paint (ochre)"),
        ("在望月湖", "望月湖"),
        ("在客厅的窗台上", "客厅的窗台上"),
        ("在水坝边野餐", "在水坝边野餐"),
        ("在职研究生", "在职研究生"),
        ("鼓槌断了", "鼓槌断了"),
        ("白鹭号。", "白鹭号"),
        ("民警以为是真的", "民警以为是真的"),
        ("《山中来信》", "《山中来信》"),
        ("街角的酒吧", "街角的酒吧"),
    ],
)
def test_anchors_are_stripped(anchor: str, text: str) -> None:
    assert strip_anchor(anchor) == text


@given(st.text(max_size=40))
def test_stripped_anchor_is_part_of_anchor(anchor: str) -> None:
    assert strip_anchor(anchor) in anchor


@pytest.mark.parametrize(
    ("question", "person"),
    [
        ("When will Tara and the AI assistant plan to visit the exhibition?", True),
        ("What did Tara discuss with the AI assistant?", False),
        ("What did Tara tell her AI assistant?", False),
        ("林晓帆和AI助手什么时候去看展览？", True),
        ("林晓帆和AI助手聊了什么？", False),
    ],
)
def test_talking_with_assistant_is_allowed(question: str, person: bool) -> None:
    assert treats_assistant_as_person(question) is person


@settings(max_examples=150, deadline=None)
@given(worlds())
def test_repaired_world_needs_no_more_repairs(world: World) -> None:
    better = repair_world(world)
    assert {finding.operation for finding in find_faults(better)} <= {"rewrite"}
    assert repair_world(better) == better
