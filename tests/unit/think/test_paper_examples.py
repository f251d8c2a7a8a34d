"""The examples of the papers, given to a real memory.

TiM (EMNLP) figures 5-7, TiM (ACL) figures 8-10 and table 5, TiM (arXiv) figures 3-5. The figures show a whole
group of thoughts to a model; here the same facts come as turns, one after another, and each is planned on its
own. Where the result differs from the figure, the test says why.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from tests.conftest import OpenMemory

from thinkback.llms.scripted import ScriptedLLM
from thinkback.memory import Memory
from thinkback.types import Message, Thought

Told = str | tuple[str, str]


def tell(memory: Memory, *turns: Told) -> None:
    """Remember turns one by one, with post-thinking after each."""
    for turn in turns:
        query, response = (turn, "") if isinstance(turn, str) else turn
        memory.remember(query, response)
        done = memory.post_think()
        assert (done.turns, done.failed) == (1, 0)


def triples(memory: Memory, **wanted: Any) -> list[tuple[str, str, tuple[str, ...], bool]]:
    return [_key(thought) for thought in memory.thoughts(**wanted)]


def _key(thought: Thought) -> tuple[str, str, tuple[str, ...], bool]:
    return thought.subject, thought.relation, thought.objects, thought.negated


Reply = Callable[[Sequence[Message]], str]


def reply(*thoughts: dict[str, Any]) -> Reply:
    """Build a reply to the `generate` prompt; each thought gets the number of the line with its quote."""

    def said(messages: Sequence[Message]) -> str:
        lines = re.findall(r"^(\d+)\. (.*)$", messages[-1].content.rpartition("User:")[2], re.MULTILINE)
        told = []
        for each in thoughts:
            number = next(int(number) for number, words in lines if each["quote"] in words)
            told.append({**{key: value for key, value in each.items() if key != "quote"}, "line": number})
        return json.dumps({"thoughts": told})

    return said


def thought(subject: str, relation: str, item: str, quote: str, kind: str = "knowledge") -> dict[str, Any]:
    return {"subject": subject, "relation": relation, "objects": [item], "quote": quote, "kind": kind}


# --- generating (002, figure 3) ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "answered", "triple", "sentence"),
    [
        (
            "Do you have any company recommendations for me?",
            "I recommend Google.",
            ("company", "recommended", ("Google",), False),
            "The recommended company is Google.",
        ),
        (
            "Which City is the capital of China?",
            "Beijing.",
            ("China", "capital", ("Beijing",), False),
            "The capital of China is Beijing.",
        ),
        (
            "Do you have any book recommendations for me?",
            "I recommend “The Little Prince”.",
            ("book", "recommended", ("The Little Prince",), False),
            "The recommended book is The Little Prince.",
        ),
    ],
)
def test_rules_extract_the_triples_of_the_figures(
    memory: Memory, asked: str, answered: str, triple: object, sentence: str
) -> None:
    """The assistant is the source, and no fact about the user is stored."""
    tell(memory, (asked, answered))
    (held,) = memory.thoughts()
    assert (_key(held), held.sentence) == (triple, sentence)
    assert [(source.speaker, source.side) for source in held.sources] == [("assistant", "response")]


def test_model_extracts_the_triples_of_the_figures(open_memory: OpenMemory) -> None:
    quote = "I recommend “The Little Prince”"
    llm = ScriptedLLM([reply(thought("book", "recommended", "The Little Prince", quote, "dialogue"))])
    memory = open_memory(":memory:", llm=llm, think="llm")
    tell(memory, ("Do you have any book recommendations for me?", "I recommend “The Little Prince”."))
    (held,) = memory.thoughts()
    assert _key(held) == ("book", "recommended", ("The Little Prince",), False)
    assert held.sources[0].speaker == "assistant"
    assert "any book recommendations" in llm.calls[0][-1].content


# --- forgetting (002, figure 4) ---------------------------------------------------------------

CAPITALS = (
    ("Which city is the capital of China?", "Beijing."),
    ("Which city is the capital of the United States?", "Washington."),
    ("Which city is the capital of China?", "Shanghai."),
    ("Which city is the capital of the United States?", "New York."),
)


def test_conflicting_capital_is_superseded_and_can_be_restored(memory: Memory) -> None:
    """The figure keeps Beijing and Washington; we keep Shanghai and New York.

    The model in the figure knows geography. Rules do not: a single-valued relation keeps what a source of the
    same trust said last (TiM (ACL), Algorithm 1: temporal precedence). That is right for a home or a weight
    and wrong here; the journal shows the reason, and undo restores the true value.
    """
    tell(memory, *CAPITALS)
    assert triples(memory) == [
        ("China", "capital", ("Shanghai",), False),
        ("the United States", "capital", ("New York",), False),
    ]
    wrong = next(action for action in memory.journal() if action.turn == 3)
    assert wrong.action == "supersede"
    assert "one value" in wrong.reason
    memory.undo(wrong)
    assert triples(memory, subject="China") == [("China", "capital", ("Beijing",), False)]


def test_assistant_does_not_overrule_the_user(open_memory: OpenMemory) -> None:
    """The user's "Beijing" outranks the assistant's statement, as in the result of the figure."""
    replies = [
        reply(thought("China", "capital", "Beijing", "The capital of China is Beijing")),
        reply(thought("China", "capital", "Shanghai", "Shanghai")),
    ]
    memory = open_memory(":memory:", llm=ScriptedLLM(replies), think="llm")
    tell(memory, "The capital of China is Beijing.", ("Which city is the capital of China?", "Shanghai."))
    assert triples(memory) == [("China", "capital", ("Beijing",), False)]


def test_capital_can_be_stated(memory: Memory) -> None:
    tell(memory, "The capital of China is Beijing.", "The capital of the United States is Washington.")
    assert triples(memory) == [
        ("China", "capital", ("Beijing",), False),
        ("the United States", "capital", ("Washington",), False),
    ]


def test_denial_retires_only_the_denied_preference(memory: Memory) -> None:
    """The figure drops both thoughts about Michael, because it cannot know which is true.

    We know which came last: the preference is retired and the denial is kept, so that nobody recommends
    football to him. The thoughts about James and Mary stay, as in the figure.
    """
    tell(memory, "Michael likes to play football.", "James likes to swim.", "Mary likes to read books.")
    others = [each for each in memory.thoughts() if each.subject != "Michael"]
    tell(memory, "Michael does not like to play football.")
    assert triples(memory, subject="Michael") == [("Michael", "likes", ("to play football",), True)]
    assert [each for each in memory.thoughts() if each.subject != "Michael"] == others
    assert [action.action for action in memory.journal() if action.turn == 4] == ["forget"]


# --- merging (002, figure 5) ------------------------------------------------------------------


def test_three_occupations_become_one_thought(memory: Memory) -> None:
    tell(memory, *(f"John works as {job}." for job in ("an actor", "a director", "a writer")))
    tell(memory, "Mike works as a teacher.")
    assert triples(memory) == [
        ("John", "works as", ("actor", "director", "writer"), False),
        ("Mike", "works as", ("teacher",), False),
    ]
    john = memory.thoughts(subject="John")[0]
    assert john.sentence == "John works as an actor, a director and a writer."
    assert [source.turn for source in john.sources] == [1, 2, 3]


def test_football_and_basketball_are_merged(memory: Memory) -> None:
    tell(memory, "Michael likes to play football.", "Michael likes to play basketball.")
    tell(memory, "James likes to swim.", "Mary likes to read books.")
    assert triples(memory) == [
        ("Michael", "likes", ("to play football", "to play basketball"), False),
        ("James", "likes", ("to swim",), False),
        ("Mary", "likes", ("to read books",), False),
    ]


# --- the consultation (001, table 5) ----------------------------------------------------------

CONSULTATION = (
    ("I last came in due to a urinary tract infection.",
     "Have you felt any improvement since your last visit?"),
    ("I'm not sure. I've had a urine analysis done recently.", "The results of the urine analysis?"),
    ("The white blood cell count in the urinary sediment is 3623.20/μl.",
     "That's a relatively high value. Are you experiencing frequent urination?"),
    ("Yes, it's been quite noticeable recently.", "I see."),
)  # fmt: skip
"""The patient is the user, the doctor the assistant."""

COUNT = "3623.20/μl"
DIAGNOSIS = "Is the white blood cell count of 3623.20/μl high or reasonable?"


def says(memory: Memory, subject: str, *words: str) -> bool:
    """Return whether a current thought of the subject has an object with all these words."""
    return any(
        all(word in item for word in words)
        for each in memory.thoughts()
        if subject in each.subject and not each.negated
        for item in each.objects
    )


def test_rules_keep_that_an_analysis_was_made(memory: Memory) -> None:
    tell(memory, *CONSULTATION)
    assert says(memory, "user", "urine analysis")


def test_rules_keep_the_count(memory: Memory) -> None:
    tell(memory, *CONSULTATION)
    assert says(memory, "white blood cell count", COUNT)


def test_rules_keep_the_doctors_judgement(memory: Memory) -> None:
    tell(memory, *CONSULTATION)
    (judged,) = [each for each in memory.thoughts() if "relatively high" in each.object]
    assert judged.sources[0].speaker == "assistant"


def test_rules_keep_the_symptom_that_was_affirmed(memory: Memory) -> None:
    tell(memory, *CONSULTATION)
    assert says(memory, "user", "frequent urination")


def consulted(open_memory: OpenMemory, *, affirmed: bool = False) -> Memory:
    """A memory with the thoughts of the table, as a model would extract them from each turn."""
    had = thought("user", "has", "urine analysis", "I've had a urine analysis done recently", "event")
    high = thought(COUNT, "is", "a relatively high value", "That's a relatively high value")
    symptom = thought("user", "has condition", "frequent urination", "it's been quite noticeable", "profile")
    replies = [
        reply(),
        reply(had),
        reply(
            thought("white blood cell count", "is", COUNT, "white blood cell count in the urinary sediment"),
            high,
        ),
        reply(symptom) if affirmed else reply(),
    ]
    memory = open_memory(":memory:", llm=ScriptedLLM(replies), think="llm")
    tell(memory, *CONSULTATION)
    return memory


def test_a_model_keeps_the_tables_thoughts(open_memory: OpenMemory) -> None:
    memory = consulted(open_memory)
    assert says(memory, "user", "urine analysis")
    assert says(memory, "white blood cell count", COUNT)
    assert says(memory, COUNT, "relatively high value")


def test_a_model_keeps_the_symptom_that_was_affirmed(open_memory: OpenMemory) -> None:
    assert says(consulted(open_memory, affirmed=True), "user", "frequent urination")


def test_the_diagnosis_recalls_that_the_value_is_high(open_memory: OpenMemory) -> None:
    """With raw text as memory, the table ends with "reasonable": the value was assessed differently."""
    recalled = consulted(open_memory).recall(DIAGNOSIS)
    held = [item.text for item in recalled if item.thought is not None]
    assert any("relatively high" in text for text in held)
    assert not any("reasonable" in item.text for item in recalled)


def test_without_a_model_the_diagnosis_still_finds_the_judgement(memory: Memory) -> None:
    """What the rules cannot read is found in the memory bank."""
    tell(memory, *CONSULTATION)
    recalled = memory.recall(DIAGNOSIS)
    assert any("relatively high value" in item.text for item in recalled)
