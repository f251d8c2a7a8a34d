"""Requests to forget and messages off the record, in chats without a model (scenarios/commands/forget.jsonl).

The messages were written before the code that recognises them was read. Half of them are requests, half only
look like one. Print what fails with `python -m tests.unit.think.test_forget_requests`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.conftest import OpenMemory

from thinkback.language.commands import find_commands, loose_topic_terms
from thinkback.memory import Memory
from thinkback.recall.chat_phrases import say
from thinkback.types import USER_ACTOR

FOLDER = Path(__file__).parents[3] / "scenarios" / "commands"
MAX_FAILED = {
    "forget.jsonl": 1,
    "forget_held.jsonl": 1,
    "forget_third.jsonl": 1,
    "forget_fourth.jsonl": 28,  # in other words than it was told, often without a word for forgetting
}
"""How many messages of a file may fail. No look-alike may."""


@dataclass(frozen=True)
class Case:
    """A message after others, and what it must do.

    `outcome` is "forget", "nothing" (a request about something that was never told), "private" (the message
    itself must not be kept) or "none". The words `gone` may be in no memory afterwards, the words `kept`
    must be, and the reply to a request names what it is `about`.
    """

    id: str
    language: str
    outcome: str
    told: list[str]
    message: str
    gone: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    about: str = ""


def read_cases(name: str) -> list[Case]:
    lines = (FOLDER / name).read_text("utf-8").splitlines()
    return [Case(**json.loads(line)) for line in lines]


def live_text(memory: Memory) -> str:
    """All that can be recalled: current thoughts and turns that are not hidden."""
    texts = [thought.sentence for thought in memory.thoughts()]
    texts += [turn.query for turn in memory.turns() if not turn.hidden]
    return "\n".join(texts)


def failures(memory: Memory, case: Case) -> Iterator[str]:
    """What is wrong with the reply to the message, and with the memory after it."""
    for text in case.told:
        memory.chat(text)
    reply = memory.chat(case.message).text
    live, zh = live_text(memory), case.language == "zh"
    yield from (f"kept {word}" for word in case.gone if word in live)
    yield from (f"lost {word}" for word in case.kept if word not in live)
    forgot = [
        action for action in memory.journal() if action.actor == USER_ACTOR and action.action == "forget"
    ]
    if case.outcome == "none":
        yield from (f"forgot: {action.reason}" for action in forgot)
        return
    if case.outcome == "private" and reply != say("off_record", reply):
        yield f"reply: {reply}"
    if case.outcome == "nothing" and ("没有找到" if zh else "nothing was forgotten") not in reply:
        yield f"reply: {reply}"
    if case.outcome == "forget" and ("忘掉了" if zh else "forgotten") not in reply:
        yield f"reply: {reply}"
    if case.about.lower() not in reply.lower():
        yield f"subject not in reply: {reply}"
    asked = case.about or "".join(case.gone[:1])
    if not asked:
        return
    asks = ("{}怎么样", "你记得{}吗") if zh else ("what about {}?", "do you remember {}")
    for question in (form.format(asked) for form in asks):
        answer = memory.chat(question).text
        quoted = [word for word in (*case.gone, case.message) if word in answer and word not in question]
        yield from (f"quoted {word}: {answer}" for word in quoted)
        if "[turn" in answer and case.message[:12].lower() in answer.lower():
            yield f"quoted the request: {answer}"


@pytest.mark.parametrize("name", sorted(MAX_FAILED))
def test_requests_are_carried_out_and_nothing_else(open_memory: OpenMemory, name: str) -> None:
    cases = read_cases(name)
    memory = open_memory()
    failed = {
        case.message: found for case in cases if (found := list(failures(memory.for_user(case.id), case)))
    }
    assert len(failed) <= MAX_FAILED[name], failed
    assert not [case.message for case in cases if case.outcome == "none" and case.message in failed]
    assert not [
        (message, each) for message, found in failed.items() for each in found if each.startswith("lost ")
    ]


@pytest.mark.parametrize(
    ("told", "message", "reply"),
    [
        (["Derek lives in Leeds."], "forget about derek", "forgotten 1 memory about “derek”"),
        (["Derek lives in Leeds.", "I met Derek."], "forget derek", "forgotten 2 memories about “derek”"),
        ([], "forget derek", "I found nothing about “derek”, so nothing was forgotten."),
        (["阿哲住在天津。"], "忘掉阿哲的事吧", "关于“阿哲”的1条记忆"),
    ],
)
def test_the_reply_counts_what_was_forgotten(
    memory: Memory, told: list[str], message: str, reply: str
) -> None:
    for text in told:
        memory.chat(text)
    assert reply in memory.chat(message).text


def test_a_request_beside_a_statement_is_not_quoted(memory: Memory) -> None:
    memory.chat("I moved to Turku in May. Forget about Priscilla.")
    answer = memory.chat("where did i move in may?").text
    assert "Turku" in answer
    assert "Priscilla" not in memory.chat("what do you know about priscilla?").text.replace("“priscilla”", "")


def test_what_a_request_says_about_its_topic_is_forgotten_too(memory: Memory) -> None:
    memory.chat("My ex Tom called again. I bought a bike. Forget everything about Tom.")
    memory.chat("Tom owes me 300 euros.")
    memory.chat("Tom is back. My bike is red. Forget everything about Tom.")
    assert "Tom" not in live_text(memory)
    assert "red" in live_text(memory)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (["the gate code is 4431"], "forget what the alarm code is"),
        (["i called mum. she lives in oslo", "my boss lives in york"], "forget where the neighbour lives"),
        (["my sister lives in oslo"], "forget where my brother lives"),
        (["my son is called leo", "i called the bank about the loan"], "forget what the dog is called"),
        (["the test is flaky", "my son has a maths test"], "delete the test"),
    ],
)
def test_nothing_similar_is_forgotten(memory: Memory, told: list[str], message: str) -> None:
    for text in told:
        memory.chat(text)
    memory.chat(message)
    assert not [action for action in memory.journal() if action.action == "forget" and action.hides]


def test_an_indirect_question_names_what_to_forget(memory: Memory) -> None:
    memory.chat("i keep the spare key under the blue pot")
    memory.chat("我银行卡尾号3387")
    assert "forgotten" in memory.chat("hmm. please forget where the key is").text
    assert "忘掉了" in memory.chat("忘了银行卡那个").text
    assert "blue pot" not in live_text(memory)
    assert "3387" not in live_text(memory)


def test_not_to_mention_something_unknown_is_a_standing_wish(memory: Memory) -> None:
    assert "standing wish" in memory.chat("don't mention calories again").text
    memory.chat("Karen is my boss.")
    assert "1 memory about “Karen”" in memory.chat("please stop bringing up Karen").text


def main() -> None:
    import sys
    import tempfile

    for name in sys.argv[1:] or sorted(MAX_FAILED):
        counts: dict[tuple[str, str], list[int]] = {}
        with (
            tempfile.TemporaryDirectory() as folder,
            Memory.open(f"{folder}/memory.db", embedder="hashing", background=False) as memory,
        ):
            for case in read_cases(name):
                found = list(failures(memory.for_user(case.id), case))
                count = counts.setdefault((case.language, case.outcome), [0, 0])
                count[0] += not found
                count[1] += 1
                if found:
                    print(case.id, case.outcome, case.message, found, sep=" | ")
        print(name, {" ".join(key): f"{right}/{all_}" for key, (right, all_) in counts.items()})
        print(sum(right for right, _ in counts.values()), "of", sum(all_ for _, all_ in counts.values()))


@pytest.mark.parametrize(
    ("told", "message", "gone"),
    [
        (["wifi pw for the cabin is gullwing77"], "pls forget the wifi password thing", [0]),
        (["健身房密码是4821"], "健身房密码那个忘掉吧 别记了", [0]),
        (["my bank pin is 8365", "i like hiking"], "forget my pin code please", [0]),
        (
            ["netflix login is tara / Moonpie!9", "bike lock code is 7714"],
            "forget the netflix password bit",
            [0],
        ),
        (["门禁码是2580#", "门口有个门禁"], "把门禁密码那个忘掉", [0]),
        (["我家保险柜密码 661902"], "保险柜那个别记了", [0]),
        (["电脑开机密码是abc7788", "我在学电脑"], "电脑密码那个不用记了", [0]),
        (
            ["gym app passcode: 4417zz", "i pay 30 a month for the gym"],
            "please forget my gym password stuff",
            [0],
        ),
        (["wifi pw is blue77!x", "email pw is green88!y"], "please forget my email password", [1]),
        # which one is not said, or none was told
        (["wifi pw is blue77!x", "email pw is green88!y"], "forget my password", []),
        (["my gym is on elm street", "the wifi here is slow"], "forget the wifi password thing", []),
        # these tell that something was forgotten
        (["手机密码是 kk8812"], "手机密码那个忘了", []),
        (["数学作业周五交"], "作业那个忘掉了", []),
    ],
)
def test_a_secret_is_forgotten_by_another_word_for_it(
    memory: Memory, told: list[str], message: str, gone: list[int]
) -> None:
    for text in told:
        memory.chat(text)
    memory.chat(message)
    turns = memory.turns(hidden=True)
    assert [turn.query for turn in turns if turn.hidden and turn.query in told] == [told[n] for n in gone]


if __name__ == "__main__":
    main()


@pytest.mark.parametrize(
    "message",
    [
        "get the orders from the database",
        "Can you get the invoices from the database?",
        "Remove sugar from the notes",
        "take the chicken out of the freezer",
    ],
)
def test_a_request_about_other_things_forgets_nothing(message: str) -> None:
    assert not [command for command in find_commands(message) if command.kind == "forget_topic"]


def test_what_belongs_to_a_relative_is_not_loosened() -> None:
    assert loose_topic_terms("cousin Otto") == {"otto"}
    assert loose_topic_terms("my boss's salary") != loose_topic_terms("salary")
