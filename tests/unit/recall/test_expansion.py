"""Constraints and one-hop links that are added to recalled memories."""

from __future__ import annotations

from dataclasses import replace

from tests.factories import NOW

from thinkback.recall.expansion import ASKED, CONSTRAINT, LINKED, MAX_ASKED, MAX_LINKED, ThoughtLinks
from thinkback.types import SAID, Candidate, Recollection, Score, Thought


def thought(id_: int, sentence: str) -> Thought:
    return Thought(
        id=id_,
        subject="user",
        relation=SAID,
        objects=(sentence,),
        sentence=sentence,
        kind="profile",
        sources=(),
        recorded_at=NOW,
    )


def expand(thoughts: list[Thought], recalled: list[Thought], message: str) -> list[tuple[int, str, str]]:
    items = tuple(
        Candidate(ref=t.ref, text=t.sentence, score=Score(1, 1, 1), group=0, reason="matters", thought=t)
        for t in recalled
    )
    expanded = ThoughtLinks.from_thoughts(thoughts).expand(Recollection(query=message, items=items), message)
    return [(item.ref.id, item.verdict, item.reason) for item in expanded if item.verdict]


def test_medicine_leads_to_its_contraindication() -> None:
    takes = thought(1, "The user takes warfarin.")
    rule = thought(2, "Warfarin must not be taken with ibuprofen.")
    (added,) = expand([takes, rule], [takes], "How is my week?")
    assert added == (2, CONSTRAINT, "constraint: contraindication: thought:1 names 'warfarin'")


def test_name_leads_to_thoughts_about_it() -> None:
    sister = thought(1, "my sister Ann visits on Sunday")
    job = thought(2, "Ann works as a potter.")
    (added,) = expand([sister, job, thought(3, "The user likes tea.")], [sister], "Who visits me?")
    assert added == (2, LINKED, "linked: one hop: thought:1 names 'ann'")


def test_safety_fact_concerns_messages_about_its_domain_only() -> None:
    allergy = thought(1, "我对芒果过敏")
    assert [verdict for _, verdict, _ in expand([allergy], [], "晚饭吃什么？")] == [CONSTRAINT]
    assert expand([allergy], [], "明天天气好不好？") == []


def test_links_are_bounded() -> None:
    first = thought(1, "The user met Ann.")
    others = [thought(n, f"Ann knows fact {n}.") for n in range(2, 7)]
    assert len(expand([first, *others], [first], "Whom did I meet?")) == MAX_LINKED
    many = [thought(n, f"Ann knows fact {n}.") for n in range(2, 40)]
    assert expand([first, *many], [first], "Whom did I meet?") == []


def test_the_fact_that_a_question_asks_for_is_added() -> None:
    name = replace(thought(1, "用户叫周晓岚。"), relation="is named", objects=("周晓岚",))
    (added,) = expand([name, thought(2, "The user sails.")], [], "我名字是什么")
    assert added == (1, ASKED, "asked: the question asks for 'is named'")
    assert expand([name], [name], "我名字是什么") == []


def test_only_the_newest_asked_facts_are_added() -> None:
    likes = [
        replace(
            thought(number, f"The user likes tea {number}."), relation="likes", objects=(f"tea {number}",)
        )
        for number in range(1, 13)
    ]
    added = expand(likes, [], "what do i like")
    assert [id_ for id_, verdict, _ in added if verdict == ASKED] == [
        12 - MAX_ASKED + n + 1 for n in range(MAX_ASKED)
    ]
