"""Entity resolution through Memory: joined names, separate people, roles, undo and erasure."""

from __future__ import annotations

import pytest
from tests.conftest import FakeClock
from tests.factories import NOW, thought_draft

from thinkback.errors import Conflict
from thinkback.memory import Memory
from thinkback.think.aliases import Aliases
from thinkback.think.entities import resolve_entities
from thinkback.types import ThoughtDraft, Turn


def tell(memory: Memory, *turns: str) -> None:
    for turn in turns:
        memory.remember(turn)
        assert memory.post_think().failed == 0


def current_objects(memory: Memory, subject: str, relation: str) -> list[str]:
    return [o for thought in memory.thoughts(subject=subject, relation=relation) for o in thought.objects]


@pytest.mark.parametrize(
    ("turns", "asked", "place"),
    [
        (["My sister Anna lives in Berlin.", "My sister moved to Rome."], "Anna", "Rome"),
        (["My sister lives in Berlin.", "My sister Anna moved to Rome."], "my sister", "Rome"),
        (["My sister Anna lives in Berlin.", "Anna moved to Rome."], "my sister", "Rome"),
        (["我姐姐叫小芳，她住在北京。", "我姐姐搬到上海了。"], "小芳", "上海"),
        (["My boss is called Karen. She lives in Texas.", "My boss moved to Utah."], "Karen", "Utah"),
        (["My sister Anna lives in Berlin.", "我妹妹安娜搬到罗马了。"], "安娜", "罗马"),
        (["My wife Grace lives in Berlin.", "我老婆李梅搬到罗马了。"], "Grace", "罗马"),
        (["Anna lives in Berlin.", "Anna Schmidt moved to Rome."], "Anna", "Rome"),
        (["My sister Katherine lives in Berlin.", "My sister Kathrine moved to Rome."], "Katherine", "Rome"),
    ],
)
def test_names_of_one_person_are_joined(memory: Memory, turns: list[str], asked: str, place: str) -> None:
    tell(memory, *turns)
    assert current_objects(memory, asked, "lives in") == [place]


@pytest.mark.parametrize(
    ("turns", "first", "second"),
    [
        (["My friend Tom lives in Oslo.", "My cousin Tom lives in Perth."], "Tom", "Tom (user's cousin)"),
        (["我同事张伟住在北京。", "我表哥张伟住在上海。"], "张伟", "张伟 (user's cousin)"),
        (["My name is Ann. I live in Oslo.", "My friend Ann lives in Perth."], "user", "Ann"),
        (["My name is Ann. I live in Oslo.", "Ann lives in Perth."], "user", "Ann"),
        (["My sister Anna lives in Oslo.", "My sister Eve lives in Perth."], "Anna", "Eve"),
        (["Anna Schmidt lives in Oslo.", "Anna Weber lives in Perth."], "Anna Schmidt", "Anna Weber"),
        (["My friend Maria lives in Oslo.", "My friend Mario lives in Perth."], "Maria", "Mario"),
        (["My friend Anna lives in Oslo.", "My friend Hanna lives in Perth."], "Anna", "Hanna"),
        (["My son Martin lives in Oslo.", "My son Marvin lives in Perth."], "Martin", "Marvin"),
    ],
)
def test_two_people_are_kept_apart(memory: Memory, turns: list[str], first: str, second: str) -> None:
    tell(memory, *turns)
    assert len(current_objects(memory, first, "lives in")) == 1
    assert len(current_objects(memory, second, "lives in")) == 1
    assert current_objects(memory, first, "lives in") != current_objects(memory, second, "lives in")


def test_person_may_have_roles_for_several_people(memory: Memory) -> None:
    tell(memory, "Erik is Anna's husband.", "Erik is Tom's brother.", "Erik lives in Oslo.")
    assert current_objects(memory, "Anna's husband", "lives in") == ["Oslo"]
    assert current_objects(memory, "Tom's brother", "lives in") == ["Oslo"]


def test_role_of_a_third_person_keeps_its_spelling(memory: Memory) -> None:
    tell(memory, "Erik is Anna's husband.", "Erik lives in Oslo.", "赵敏是王强的妈妈。", "赵敏住在成都。")
    sentences = {thought.sentence for thought in memory.thoughts(relation="lives in")}
    assert sentences == {"Erik (Anna's husband) lives in Oslo.", "赵敏（王强的妈妈）住在成都。"}


def test_second_person_of_a_name_is_recognised_by_role(memory: Memory) -> None:
    tell(memory, "My friend Tom lives in Oslo.", "My cousin Tom called.", "My cousin Tom lives in Perth.")
    tell(memory, "My friend Tom moved to Rome.", "My cousin Tom moved to Sydney.")
    assert current_objects(memory, "Tom", "lives in") == ["Rome"]
    assert current_objects(memory, "Tom (user's cousin)", "lives in") == ["Sydney"]


def test_role_with_two_holders_is_ambiguous(memory: Memory) -> None:
    tell(
        memory, "My sister Anna lives in Berlin.", "My sister Eve lives in Oslo.", "My sister moved to Rome."
    )
    assert current_objects(memory, "Anna", "lives in") == ["Berlin"]
    assert current_objects(memory, "Eve", "lives in") == ["Oslo"]
    assert current_objects(memory, "my sister", "lives in") == ["Rome"]


def test_unique_role_passes_to_the_next_holder(memory: Memory) -> None:
    tell(memory, "My boss Karen lives in Berlin.", "My boss is called Bob.", "My boss lives in Rome.")
    assert current_objects(memory, "Bob", "lives in") == ["Rome"]
    assert current_objects(memory, "Karen", "lives in") == ["Berlin"]


def test_thoughts_are_found_by_either_name(memory: Memory) -> None:
    tell(memory, "My sister Anna lives in Berlin.")
    assert (
        memory.recall("Where does my sister live?", k=1)[0].text
        == "Anna (the user's sister) lives in Berlin."
    )
    assert memory.recall("Where does Anna live?", k=1)[0].text == "Anna (the user's sister) lives in Berlin."


def test_decisions_are_listed_not_recalled_and_undoable(memory: Memory, clock: FakeClock) -> None:
    tell(memory, "My sister Anna lives in Berlin.")
    (anna,) = [entity for entity in memory.entities() if entity.name == "Anna"]
    assert anna.aliases == ("user's sister",)
    (decision,) = anna.decisions
    assert decision.sentence == "Anna is also the user's sister."
    assert not any(item.ref == decision.ref for item in memory.recall("Is Anna also the user's sister?", k=9))
    assert 'said: "My sister Anna"' in "\n".join(memory.why(decision).lines)
    clock.advance(60)
    memory.undo(memory.journal(thought=decision.id)[-1])
    tell(memory, "My sister moved to Rome.")
    assert current_objects(memory, "Anna", "lives in") == ["Berlin"]
    assert current_objects(memory, "my sister", "lives in") == ["Rome"]
    assert all(not entity.decisions for entity in memory.entities())
    with pytest.raises(Conflict):
        memory.forget(decision, "twice")


def test_erasing_a_turn_erases_its_decisions(memory: Memory) -> None:
    tell(memory, "My sister Anna is a nurse.", "I like tea.")
    memory.erase(turn="turn:1")
    assert [entity.name for entity in memory.entities()] == ["user"]


def test_export_contains_decisions(memory: Memory) -> None:
    tell(
        memory, "My sister Anna lives in Berlin.", "My friend Tom is a cook.", "My cousin Tom lives in Perth."
    )
    other = memory.for_user("copy")
    other.import_(list(memory.export()))
    assert other.entities() == memory.entities()
    tell(other, "My sister moved to Rome.")
    assert current_objects(other, "Anna", "lives in") == ["Rome"]


def resolved(name: str, known: list[str]) -> list[ThoughtDraft]:
    said = f"{name} lives in Rome."
    turn = Turn(id=1, query=said, at=NOW, recorded_at=NOW)
    found, _ = resolve_entities(
        turn, [thought_draft(said, 1, subject=name)], Aliases.from_thoughts([]), lambda: known
    )
    return found


@pytest.mark.parametrize(
    ("known", "name", "one"),
    [
        ("Zhang Wei", "张伟", True),
        ("张伟", "Zhang Wei", True),
        ("小红", "王小红", True),
        ("王小红", "小红", True),
        ("王小红", "李小红", False),
        ("Anna", "Anna Schmidt", True),
        ("Anna Schmidt", "Anna", True),
        ("Anna", "Annabel", False),
        ("Tom", "汤姆", False),
        ("New York", "York", False),
    ],
)
def test_new_name_may_be_a_form_of_a_known_one(known: str, name: str, one: bool) -> None:
    *decided, said = resolved(name, ["user", known])
    assert [(each.subject, each.objects) for each in decided] == ([(known, (name,))] if one else [])
    assert said.subject == (known if one else name)


def test_name_shared_by_two_people_is_ambiguous() -> None:
    (said,) = resolved("Anna", ["Anna Weber", "Anna Schmidt"])
    assert said.subject == "Anna"


@pytest.mark.parametrize("name", ["User", "Me"])
def test_friend_with_the_users_name_is_separate(memory: Memory, name: str) -> None:
    tell(memory, "I live in Paris.", f"My friend {name} is great, and I moved to Rome.")
    assert {thought.subject for thought in memory.thoughts()} == {"user"}
    assert current_objects(memory, "user", "lives in") == ["Rome"]
