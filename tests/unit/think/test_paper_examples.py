"""The examples of the papers, given to a real memory with a scripted model.

TiM (EMNLP) figures 5-7, TiM (ACL) figures 8-10 and table 5, TiM (arXiv) figures 3-5. The figures show a whole
group of thoughts to a model; here the same facts come as turns, one after another, and each change is judged
on its own. Where the result differs from the figure, the test says why.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.conftest import OpenMemory

from thinkback.llms.scripted import ScriptedLLM
from thinkback.memory import Memory
from thinkback.types import Action, Thought

Told = str | tuple[str, str]


def tell(memory: Memory, *turns: Told) -> list[Action]:
    """Remember turns one by one, with post-thinking after each; returns the actions of the last one."""
    actions: list[Action] = []
    for turn in turns:
        query, response = (turn, "") if isinstance(turn, str) else turn
        memory.remember(query, response)
        done = memory.post_think()
        assert (done.turns, done.failed) == (1, 0)
        actions = list(done.actions)
    return actions


def triples(memory: Memory, **wanted: Any) -> list[tuple[str, str, str]]:
    return [_triple(thought) for thought in memory.thoughts(**wanted)]


def _triple(thought: Thought) -> tuple[str, str, str]:
    return thought.subject, thought.relation, thought.object


def change(about: str, relation: str, value: str, sentence: str, quote: str, **fields: Any) -> dict[str, Any]:
    """One change as a model writes it; it adds a fact unless `op` and `target` say otherwise."""
    return {
        "op": "add",
        "quote": quote,
        "about": about,
        "relation": relation,
        "value": value,
        "sentence": sentence,
        "kind": "knowledge",
        **fields,
    }


def reply(*changes: dict[str, Any]) -> str:
    return json.dumps({"changes": changes}, ensure_ascii=False)


def open_with_model(open_memory: OpenMemory, *replies: str, **options: Any) -> tuple[Memory, ScriptedLLM]:
    llm = ScriptedLLM(replies)
    return open_memory(":memory:", llm=llm, think="llm", **options), llm


# --- generating (TiM (arXiv), figure 3) -------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "answered", "value", "sentence"),
    [
        (
            "Do you have any company recommendations for me?",
            "I recommend Google.",
            "Google",
            "The assistant recommended the company Google.",
        ),
        (
            "Do you have any book recommendations for me?",
            "I recommend “The Little Prince”.",
            "The Little Prince",
            "The assistant recommended the book “The Little Prince”.",
        ),
    ],
)
def test_recommendation_is_kept_as_words_of_the_assistant(
    open_memory: OpenMemory, asked: str, answered: str, value: str, sentence: str
) -> None:
    """The figure stores (book, recommended, The Little Prince). Here the thought also says who did."""
    recommended = change("assistant", "recommended", value, sentence, answered, kind="dialogue")
    memory, llm = open_with_model(open_memory, reply(recommended))
    tell(memory, (asked, answered))
    (held,) = memory.thoughts()
    assert (_triple(held), held.sentence) == (("assistant", "recommended", value), sentence)
    assert (held.sources[0].speaker, held.sources[0].side) == ("assistant", "response")
    assert asked in llm.calls[0][-1].content


def test_knowledge_of_the_assistant_is_not_a_thought(open_memory: OpenMemory) -> None:
    """The figure stores (China, capital, Beijing) from the assistant's answer.

    We do not: what a model says is no evidence, and it can be asked again.
    """
    beijing = change("China", "capital", "Beijing", "The capital of China is Beijing.", "Beijing.")
    memory, _ = open_with_model(open_memory, reply(beijing))
    memory.remember("Which City is the capital of China?", "Beijing.")
    assert "the assistant said it, not the user" in memory.post_think().problems[0]
    assert triples(memory) == []


# --- forgetting (TiM (arXiv), figure 4) -------------------------------------------------------

BEIJING = change("China", "capital", "Beijing", "The capital of China is Beijing.", "China is Beijing")
SHANGHAI = change(
    "China", "capital", "Shanghai", "The capital of China is Shanghai.", "Shanghai", op="replace", target=[1]
)
NEW_YORK = change(
    "the United States",
    "capital",
    "New York",
    "The capital of the United States is New York.",
    "New York",
    op="replace",
    target=[2],
)
WASHINGTON = change(
    "the United States",
    "capital",
    "Washington",
    "The capital of the United States is Washington.",
    "Washington",
)


def test_model_that_knows_better_keeps_the_true_capitals(open_memory: OpenMemory) -> None:
    """As in the figure: Beijing and Washington stay."""
    memory, llm = open_with_model(open_memory, reply(BEIJING), reply(WASHINGTON), reply(), reply())
    tell(memory, "The capital of China is Beijing.", "The capital of the United States is Washington.")
    tell(memory, "The capital of China is Shanghai.", "The capital of the United States is New York.")
    assert triples(memory) == [
        ("China", "capital", "Beijing"),
        ("the United States", "capital", "Washington"),
    ]
    assert "1. [2024-05-01] The capital of China is Beijing." in llm.calls[2][-1].content


def test_model_that_believes_the_user_replaces_and_the_old_value_can_be_restored(
    open_memory: OpenMemory,
) -> None:
    """A correction of the user is believed; the journal shows the reason, and undo restores the old value."""
    memory, _ = open_with_model(open_memory, reply(BEIJING), reply(WASHINGTON), reply(SHANGHAI))
    tell(memory, "The capital of China is Beijing.", "The capital of the United States is Washington.")
    (wrong,) = tell(memory, "The capital of China is Shanghai.")
    assert triples(memory, subject="China") == [("China", "capital", "Shanghai")]
    assert triples(memory, subject="the United States") == [("the United States", "capital", "Washington")]
    assert wrong.action == "supersede"
    assert "The capital of China is Beijing." in wrong.reason
    memory.undo(wrong)
    assert triples(memory, subject="China") == [("China", "capital", "Beijing")]


def test_assistant_does_not_overrule_the_user(open_memory: OpenMemory) -> None:
    """The user's "Beijing" stays, whatever the assistant answers and the model proposes."""
    memory, _ = open_with_model(open_memory, reply(BEIJING), reply(SHANGHAI))
    tell(memory, "The capital of China is Beijing.", ("Which city is the capital of China?", "Shanghai."))
    assert triples(memory) == [("China", "capital", "Beijing")]


def test_replacement_needs_the_same_subject(open_memory: OpenMemory) -> None:
    """A model that confuses two countries does not retire the capital of the other one."""
    confused = {**NEW_YORK, "target": [1]}
    memory, _ = open_with_model(open_memory, reply(BEIJING), reply(confused))
    tell(memory, "The capital of China is Beijing.", "The capital of the United States is New York.")
    assert triples(memory) == [("China", "capital", "Beijing"), ("the United States", "capital", "New York")]


def likes(name: str, what: str, **fields: Any) -> dict[str, Any]:
    said = f"{name} likes {what}"
    return change(name, "likes", what, f"{said}.", said, kind="profile", **fields)


def test_denial_retires_only_the_denied_preference(open_memory: OpenMemory) -> None:
    """The figure drops both thoughts about Michael, because it cannot know which is true.

    We know which came last: the preference is replaced by the denial, so that nobody recommends football to
    him. The thoughts about James and Mary stay, as in the figure.
    """
    denial = change(
        "Michael",
        "does not like",
        "to play football",
        "Michael does not like to play football.",
        "does not like to play football",
        kind="profile",
        op="replace",
        target=[1],
    )
    likings = (
        likes("Michael", "to play football"),
        likes("James", "to swim"),
        likes("Mary", "to read books"),
    )
    memory, _ = open_with_model(open_memory, *map(reply, likings), reply(denial))
    tell(memory, *(liking["sentence"] for liking in likings))
    others = [thought for thought in memory.thoughts() if thought.subject != "Michael"]
    assert len(others) == 2
    (action,) = tell(memory, "Michael does not like to play football.")
    assert action.action == "supersede"
    assert [thought.sentence for thought in memory.thoughts(subject="Michael")] == [denial["sentence"]]
    assert [thought for thought in memory.thoughts() if thought.subject != "Michael"] == others


# --- merging (TiM (arXiv), figure 5) ----------------------------------------------------------


def works_as(name: str, job: str) -> dict[str, Any]:
    said = f"{name} works as {job}"
    return change(name, "works as", job, f"{said}.", said, kind="profile")


JOBS = (works_as("John", "an actor"), works_as("John", "a director"), works_as("John", "a writer"))


def test_three_occupations_stay_three_thoughts_and_each_can_be_forgotten(open_memory: OpenMemory) -> None:
    """The figure unites them. We keep one value in one thought, so that each can end on its own."""
    teacher = works_as("Mike", "a teacher")
    memory, _ = open_with_model(open_memory, *map(reply, (*JOBS, teacher)))
    tell(memory, *(job["sentence"] for job in (*JOBS, teacher)))
    assert [thought.object for thought in memory.thoughts(subject="John")] == [
        "an actor",
        "a director",
        "a writer",
    ]
    memory.forget(memory.thoughts(subject="John")[1], "he gave it up")
    assert [thought.object for thought in memory.thoughts(subject="John")] == ["an actor", "a writer"]
    assert [thought.object for thought in memory.thoughts(subject="Mike")] == ["a teacher"]


def test_tim_preset_unites_the_occupations_as_in_the_figure(open_memory: OpenMemory) -> None:
    united = "John works as an actor, a director and a writer."
    merge = json.dumps({"merges": [{"ids": [1, 2, 3], "sentence": united}]})
    memory, llm = open_with_model(open_memory, *map(reply, JOBS), merge, '{"forget": []}', preset="tim")
    tell(memory, *(job["sentence"] for job in JOBS))
    (action,) = memory.organise().actions
    assert action.action == "merge"
    assert "1. John works as an actor.\n2. John works as a director." in llm.calls[3][-1].content
    (john,) = memory.thoughts()
    assert (john.objects, john.sentence) == (("an actor", "a director", "a writer"), united)
    assert [source.turn for source in john.sources] == [1, 2, 3]


# --- the consultation (TiM (ACL), table 5) ----------------------------------------------------

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


@pytest.fixture
def consulted(open_memory: OpenMemory) -> Memory:
    """A memory with the thoughts of the table, as a model reads them from each turn."""
    analysis = change(
        "user",
        "had",
        "urine analysis",
        "The user had a urine analysis done recently.",
        "I've had a urine analysis done recently",
        kind="event",
    )
    count = change(
        "white blood cell count",
        "is",
        COUNT,
        f"The white blood cell count in the user's urinary sediment is {COUNT}.",
        f"The white blood cell count in the urinary sediment is {COUNT}",
    )
    high = change(
        "assistant",
        "judged",
        "a relatively high value",
        f"The assistant said that a white blood cell count of {COUNT} is a relatively high value.",
        "That's a relatively high value",
    )
    symptom = change(
        "user",
        "experiences",
        "frequent urination",
        "The user is experiencing frequent urination.",
        "it's been quite noticeable recently",
        kind="profile",
    )
    memory, _ = open_with_model(open_memory, reply(), reply(analysis), reply(count, high), reply(symptom))
    tell(memory, *CONSULTATION)
    return memory


def test_thoughts_of_the_table(consulted: Memory) -> None:
    assert triples(consulted) == [
        ("user", "had", "urine analysis"),
        ("white blood cell count", "is", COUNT),
        ("assistant", "judged", "a relatively high value"),
        ("user", "experiences", "frequent urination"),
    ]


def test_judgement_of_the_doctor_has_the_doctor_as_its_source(consulted: Memory) -> None:
    (judged,) = consulted.thoughts(subject="assistant")
    assert (judged.sources[0].speaker, judged.sources[0].side) == ("assistant", "response")


def test_affirmed_symptom_has_the_question_of_the_doctor_as_a_source(consulted: Memory) -> None:
    """The answer "yes" has no word of the symptom: without the question, it could not be checked."""
    (symptom,) = [thought for thought in consulted.thoughts() if thought.object == "frequent urination"]
    assert [(source.turn, source.side) for source in symptom.sources] == [(4, "query"), (3, "response")]


def test_diagnosis_recalls_that_the_value_is_high(consulted: Memory) -> None:
    """With raw text as memory, the table ends with "reasonable": the value was assessed differently."""
    recalled = consulted.recall(DIAGNOSIS)
    held = [item.text for item in recalled if item.thought is not None]
    assert any("relatively high" in text for text in held)
    assert not any("reasonable" in item.text for item in recalled)


def test_without_a_model_the_diagnosis_still_finds_the_count(memory: Memory) -> None:
    """What is not read is found in the memory bank."""
    tell(memory, *CONSULTATION)
    assert any(COUNT in item.text for item in memory.recall(DIAGNOSIS))
