"""What once went wrong when a capable model thought for the memory, each as a test.

The model is scripted: for each message it gives the reply that a capable model gives. It names known facts by
their numbers in the prompt, so a fact that the prompt does not show cannot be replaced, ended or forgotten.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest
from tests.conftest import FakeClock, OpenMemory

from thinkback.llms.scripted import ScriptedLLM
from thinkback.memory import Memory
from thinkback.types import Message, ThinkResult

Change = dict[str, Any]
_FACT = re.compile(r"^(\d+)\. \[[\d-]+\] (.+)$", re.MULTILINE)


def add(quote: str, about: str, relation: str, value: str, sentence: str, **fields: Any) -> Change:
    return {
        "op": "add",
        "quote": quote,
        "about": about,
        "relation": relation,
        "value": value,
        "sentence": sentence,
        "kind": "profile",
        **fields,
    }


def replace(old: str, *fact: str, **fields: Any) -> Change:
    """`old` are words of the known fact that is replaced."""
    return {**add(*fact, **fields), "op": "replace", "target": old}


def change(op: str, old: str, quote: str, **fields: Any) -> Change:
    return {"op": op, "quote": quote, "target": old, **fields}


def scripted_model(script: Mapping[str, Sequence[Change]]) -> ScriptedLLM:
    """A model that replies with the changes of the messages it is asked to read."""

    def reply(messages: Sequence[Message]) -> str:
        prompt = messages[-1].content
        known, _, rest = prompt.partition("Earlier turns\n")
        to_read = rest.partition("Read these turns\n")[2]
        facts = {sentence: int(number) for number, sentence in _FACT.findall(known)}
        changes = []
        for text, proposed in script.items():
            if f"User: {text}" not in to_read:
                continue
            for number, each in enumerate(proposed, start=len(facts) + 1):
                item = {"turn": 1, "n": number, **each}
                if isinstance(each.get("target"), str):
                    found = [n for sentence, n in facts.items() if each["target"] in sentence]
                    assert found, f"the prompt does not show the fact with {each['target']!r}"
                    item["target"] = found
                changes.append(item)
        return json.dumps({"changes": changes}, ensure_ascii=False)

    return ScriptedLLM({"": reply})


def tell(memory: Memory, *texts: str) -> ThinkResult:
    """Say the messages one by one; the result of thinking about the last one."""
    result = ThinkResult()
    for text in texts:
        memory.remember(text, "OK.")
        result = memory.post_think()
        assert result.failed == 0
    return result


def sentences(memory: Memory) -> list[str]:
    return [thought.sentence for thought in memory.thoughts()]


def kinds(result: ThinkResult) -> list[str]:
    return [action.action for action in result.actions]


def test_a_pronoun_is_resolved_from_the_turns_before(open_memory: OpenMemory) -> None:
    script = {
        "my sister ana is coming over": [
            add(
                "my sister ana",
                "Ana",
                "is",
                "user's sister",
                "Ana is the user's sister.",
                kind="relationship",
            )
        ],
        "she found a flat in porto": [
            add("she found a flat in porto", "Ana", "found a flat in", "Porto", "Ana found a flat in Porto.")
        ],
    }
    llm = scripted_model(script)
    memory = open_memory(llm=llm)
    tell(memory, *script)
    earlier = llm.calls[-1][-1].content.partition("Earlier turns")[2].partition("Read these turns")[0]
    assert "my sister ana is coming over" in earlier
    (flat,) = memory.thoughts(relation="found a flat in")
    assert (flat.subject, flat.object) == ("Ana", "Porto")


def test_a_fact_has_the_time_that_the_model_gives_it(open_memory: OpenMemory) -> None:
    script = {
        "we move to york on friday": [
            add(
                "we move to york on friday",
                "user",
                "moves to",
                "York",
                "The user moves to York on 2025-06-13.",
                **{"from": "2025-06-13"},
            )
        ],
        "i was in lyon from 2019 to 2021": [
            add(
                "i was in lyon from 2019 to 2021",
                "user",
                "was in",
                "Lyon",
                "The user was in Lyon from 2019 to 2021.",
                **{"from": "2019", "to": "2021"},
            )
        ],
    }
    memory = open_memory(llm=scripted_model(script))
    tell(memory, *script)
    york, lyon = memory.thoughts()
    assert (york.valid_from, york.valid_to) == (datetime(2025, 6, 13, tzinfo=UTC), None)
    assert lyon.valid_from == datetime(2019, 1, 1, tzinfo=UTC)
    assert lyon.valid_to == datetime(2022, 1, 1, tzinfo=UTC)


def test_the_model_can_say_that_this_replaces_that(open_memory: OpenMemory) -> None:
    script = {
        "rent is 950 a month": [
            add("rent is 950 a month", "user", "pays rent of", "950", "The user pays 950 rent a month.")
        ],
        "landlord put it up to 990": [
            replace(
                "950", "put it up to 990", "user", "pays rent of", "990", "The user pays 990 rent a month."
            )
        ],
    }
    memory = open_memory(llm=scripted_model(script))
    assert kinds(tell(memory, *script)) == ["supersede"]
    assert sentences(memory) == ["The user pays 990 rent a month."]
    assert "950" not in "".join(item.text for item in memory.recall("How much is my rent?"))


def test_one_bad_operation_does_not_cost_the_reply(open_memory: OpenMemory) -> None:
    text = "got a whippet, she is called Otti. im in leeds now"
    script: dict[str, list[Change]] = {
        text: [
            add("she is called Otti", "she", "is called", "Otti", "She is called Otti."),  # a pronoun
            {"op": "end", "quote": "im in leeds now", "target": [99]},  # no such fact
            {**add("im in leeds now", "user", "is in", "Leeds", "The user is in Leeds."), "turn": 7},
            add("a castle in Spain", "user", "has", "castle", "The user has a castle."),  # never said
            add("got a whippet", "user", "has", "whippet", "The user has a whippet."),
            add("im in leeds now", "user", "lives in", "Leeds", "The user lives in Leeds."),
        ]
    }
    memory = open_memory(llm=scripted_model(script))
    result = tell(memory, text)
    assert sentences(memory) == ["The user has a whippet.", "The user lives in Leeds."]
    assert [problem.rpartition(": ")[2] for problem in result.problems] == [
        "its subject is the pronoun 'she'",
        "it names no known fact that it concerns",
        "the quote does not stand in the turn",
    ]


def test_an_unknown_relation_is_kept_as_said(open_memory: OpenMemory) -> None:
    script = {
        "i own a 1968 mercedes": [
            add(
                "own a 1968 mercedes",
                "user",
                "restores on weekends",
                "1968 Mercedes",
                "The user owns a 1968 Mercedes.",
            )
        ]
    }
    memory = open_memory(llm=scripted_model(script))
    tell(memory, *script)
    (thought,) = memory.thoughts()
    assert (thought.relation, thought.objects) == ("restores on weekends", ("1968 Mercedes",))


def test_after_a_switch_the_values_are_not_united(open_memory: OpenMemory) -> None:
    script = {
        "i take metformin 500": [
            add("take metformin 500", "user", "takes", "metformin 500", "The user takes metformin 500.")
        ],
        "doc switched me to gliclazide": [
            replace(
                "metformin",
                "switched me to gliclazide",
                "user",
                "takes",
                "gliclazide",
                "The user takes gliclazide.",
            )
        ],
        "also vitamin d every morning": [
            add(
                "vitamin d every morning",
                "user",
                "takes",
                "vitamin D",
                "The user takes vitamin D every morning.",
            )
        ],
    }
    memory = open_memory(llm=scripted_model(script))
    tell(memory, *script)
    assert [thought.objects for thought in memory.thoughts(relation="takes")] == [
        ("gliclazide",),
        ("vitamin D",),
    ]
    shown = "\n".join(item.text for item in memory.recall("Which medicine do I take?"))
    assert "gliclazide" in shown
    assert "metformin" not in shown


def test_prices_of_two_things_are_two_facts(open_memory: OpenMemory) -> None:
    script = {
        "a coffee there costs 3 euros, a cake 4": [
            add(
                "a coffee there costs 3 euros", "coffee", "costs", "3 euros", "A coffee there costs 3 euros."
            ),
            add("a cake 4", "cake", "costs", "4 euros", "A cake there costs 4 euros."),
        ]
    }
    memory = open_memory(llm=scripted_model(script))
    tell(memory, *script)
    assert [thought.objects for thought in memory.thoughts()] == [("3 euros",), ("4 euros",)]


@pytest.mark.parametrize(
    ("text", "relation", "value", "sentence"),
    [
        ("it's not that i don't like olives", "likes", "olives", "The user likes olives."),
        ("there is no day i don't run", "runs", "every day", "The user runs every day."),
        ("我不是不吃辣", "eats", "辣", "用户吃辣。"),
    ],
)
def test_a_double_negation_is_read_by_the_model(
    open_memory: OpenMemory, text: str, relation: str, value: str, sentence: str
) -> None:
    """With a model the rules do not read the message at all, and without one they leave it alone."""
    memory = open_memory(llm=scripted_model({text: [add(text, "user", relation, value, sentence)]}))
    tell(memory, text)
    (thought,) = memory.thoughts()
    assert (thought.sentence, thought.negated) == (sentence, False)
    without = open_memory(think="extractive").for_user("without a model")
    tell(without, text)
    assert not [each for each in without.thoughts() if each.negated]


def test_forgetting_and_merging_are_accepted(open_memory: OpenMemory) -> None:
    script: dict[str, list[Change]] = {
        "i'm vegan": [add("i'm vegan", "user", "is", "vegan", "The user is vegan.")],
        "tom owes me 200 euros": [
            add("tom owes me 200 euros", "Tom", "owes the user", "200 euros", "Tom owes the user 200 euros.")
        ],
        "as i said, i'm vegan": [change("same", "vegan", "i'm vegan")],
        "the money thing with tom, you can drop it from what you know": [
            change("forget", "Tom", "drop it from what you know")
        ],
    }
    memory = open_memory(llm=scripted_model(script))
    vegan, _, again, forget = script
    tell(memory, vegan, "tom owes me 200 euros")
    assert kinds(tell(memory, again)) == ["merge"]
    (thought,) = [each for each in memory.thoughts() if "vegan" in each.sentence]
    assert [source.turn for source in thought.sources] == [1, 3]
    assert kinds(tell(memory, forget)) == ["forget"]
    assert sentences(memory) == ["The user is vegan."]


Chat = Sequence[tuple[str, Sequence[Change]]]
CHATS: dict[str, Chat] = {
    "english move": [
        (
            "we signed the lease, moving to leeds 1st of june",
            [
                add(
                    "moving to leeds 1st of june",
                    "user",
                    "moves to",
                    "Leeds",
                    "The user moves to Leeds on 2026-06-01.",
                )
            ],
        ),
        (
            "rent's 950, ok i guess",
            [add("rent's 950", "user", "pays rent of", "950", "The user's rent is 950.")],
        ),
        (
            "ugh they put it up to 990 already",
            [replace("950", "put it up to 990", "user", "pays rent of", "990", "The user's rent is 990.")],
        ),
        (
            "and the move is the 15th now, boiler's broken",
            [
                replace(
                    "2026-06-01",
                    "the move is the 15th now",
                    "user",
                    "moves to",
                    "Leeds",
                    "The user moves to Leeds on 2026-06-15.",
                )
            ],
        ),
        (
            "me and tom are done btw",
            [add("me and tom are done", "Tom", "is", "user's ex", "The user and Tom parted.")],
        ),
    ],
    "english nurse": [
        (
            "on nights at st marys this month",
            [add("nights at st marys", "user", "works", "nights", "The user works nights at St Mary's.")],
        ),
        (
            "got a kitten, calling her Pixel",
            [
                add(
                    "got a kitten, calling her Pixel",
                    "Pixel",
                    "is",
                    "user's kitten",
                    "Pixel is the user's kitten.",
                )
            ],
        ),
        (
            "back on days from monday, thank god",
            [
                replace(
                    "works nights",
                    "back on days from monday",
                    "user",
                    "works",
                    "days",
                    "The user works days at St Mary's.",
                )
            ],
        ),
        ("had to give pixel back, landlord", [change("end", "kitten", "had to give pixel back")]),
        ("vet bill was 80, forget that one", []),
    ],
    "english plans": [
        (
            "booked the alps for august with nina",
            [
                add(
                    "booked the alps for august with nina",
                    "user",
                    "plans",
                    "Alps in August",
                    "The user booked a trip to the Alps in August with Nina.",
                    kind="event",
                )
            ],
        ),
        (
            "training for the 10k, 58 minutes so far",
            [
                add(
                    "10k, 58 minutes",
                    "user",
                    "runs 10 km in",
                    "58 minutes",
                    "The user runs 10 km in 58 minutes.",
                )
            ],
        ),
        ("alps are off, nina broke her foot", [change("end", "Alps", "alps are off")]),
        (
            "55 minutes today!!",
            [
                replace(
                    "58 minutes",
                    "55 minutes today",
                    "user",
                    "runs 10 km in",
                    "55 minutes",
                    "The user runs 10 km in 55 minutes.",
                )
            ],
        ),
        (
            "no wait it was 54, read the watch wrong",
            [
                replace(
                    "55 minutes",
                    "it was 54",
                    "user",
                    "runs 10 km in",
                    "54 minutes",
                    "The user runs 10 km in 54 minutes.",
                )
            ],
        ),
    ],
    "chinese family": [
        (
            "我妈住我这儿，帮我带小宝",
            [add("我妈住我这儿", "用户的妈妈", "住在", "用户家", "用户的妈妈住在用户家，帮忙带小宝。")],
        ),
        ("小宝每周三学游泳", [add("小宝每周三学游泳", "小宝", "学", "游泳", "小宝每周三学游泳。")]),
        (
            "游泳不学了，改学跆拳道，还是周三",
            [replace("学游泳", "游泳不学了，改学跆拳道", "小宝", "学", "跆拳道", "小宝每周三学跆拳道。")],
        ),
        ("我妈回老家了，腰不好", [change("end", "住在用户家", "我妈回老家了")]),
        ("血压药换成氨氯地平了", [add("血压药换成氨氯地平了", "用户", "吃", "氨氯地平", "用户吃氨氯地平。")]),
    ],
    "chinese shanghai": [
        (
            "我在静安上班，一个月两万二",
            [
                add("我在静安上班", "用户", "上班地点", "静安", "用户在静安上班。"),
                add("一个月两万二", "用户", "月薪", "两万二", "用户一个月挣两万二。"),
            ],
        ),
        (
            "跳槽了！去张江，两万六",
            [
                replace("静安", "去张江", "用户", "上班地点", "张江", "用户在张江上班。"),
                replace("两万二", "两万六", "用户", "月薪", "两万六", "用户一个月挣两万六。"),
            ],
        ),
        (
            "跟阿杰定了十月八号领证",
            [
                add(
                    "跟阿杰定了十月八号领证",
                    "用户",
                    "计划领证",
                    "10月8日",
                    "用户和阿杰计划10月8日领证。",
                    kind="event",
                )
            ],
        ),
        (
            "领证改到十二号了，他出差",
            [
                replace(
                    "10月8日",
                    "改到十二号了",
                    "用户",
                    "计划领证",
                    "10月12日",
                    "用户和阿杰计划10月12日领证。",
                    kind="event",
                )
            ],
        ),
    ],
    "mixed student": [
        (
            "选了 machine learning 那门课，prof Li 教",
            [
                add(
                    "选了 machine learning 那门课",
                    "用户",
                    "选课",
                    "machine learning",
                    "用户选了Li教授的machine learning课。",
                )
            ],
        ),
        (
            "drop 了那门课，改 databases",
            [
                replace(
                    "machine learning", "改 databases", "用户", "选课", "databases", "用户选了databases课。"
                )
            ],
        ),
        (
            "室友是 Kevin，from Toronto",
            [add("室友是 Kevin", "Kevin", "是", "用户的室友", "Kevin是用户的室友。", kind="relationship")],
        ),
        (
            "Kevin 搬走了，new roommate is Omar",
            [
                replace(
                    "Kevin",
                    "new roommate is Omar",
                    "Omar",
                    "是",
                    "用户的室友",
                    "Omar是用户的室友。",
                    kind="relationship",
                )
            ],
        ),
        (
            "deadline 推迟到 5月20",
            [add("deadline 推迟到 5月20", "用户", "截止日", "5月20", "用户的deadline是5月20日。")],
        ),
    ],
}


@pytest.mark.parametrize("name", CHATS)
def test_changes_told_in_natural_chats_are_made(open_memory: OpenMemory, clock: FakeClock, name: str) -> None:
    chat = CHATS[name]
    memory = open_memory(llm=scripted_model(dict(chat)))
    for text, proposed in chat:
        result = tell(memory, text)
        clock.advance(86_400)
        told = [each["op"] for each in proposed if each["op"] in ("replace", "end")]
        made = [action.action for action in result.actions if action.action in ("supersede", "end")]
        assert made == [{"replace": "supersede", "end": "end"}[op] for op in told], text
    current = "\n".join(sentences(memory))
    replaced = [each["target"] for _, proposed in chat for each in proposed if "target" in each]
    assert [old for old in replaced if old in current] == []


def test_the_natural_chats_tell_about_fifteen_changes() -> None:
    proposed = [each for chat in CHATS.values() for _, changes in chat for each in changes]
    assert sum("target" in each for each in proposed) >= 13
