"""What is forgotten or corrected leaves the summary and the context too."""

from __future__ import annotations

from thinkback import Memory

ILLNESS, CAR = "I have asthma.", "I drive a Volvo."


def shown(memory: Memory) -> str:
    """Everything that a model would be given, but the question."""
    context = memory.context("What do you know about me?")
    return "\n".join(message.content for message in context.messages[:-1])


def remember(memory: Memory, *texts: str) -> None:
    for text in texts:
        memory.remember(text, f"Noted: {text}")
    memory.post_think()


def test_a_forgotten_thought_leaves_its_sentence_and_the_reply(memory: Memory) -> None:
    remember(memory, f"{ILLNESS} {CAR}", "Nice weather today.")
    assert "asthma" in shown(memory)
    thought = next(thought for thought in memory.thoughts() if "asthma" in thought.sentence)
    action = memory.forget(thought)
    assert "asthma" not in shown(memory)
    assert "Volvo" in shown(memory)
    assert "asthma" not in " ".join(memory.summary().facts) + memory.summary().topic
    memory.undo(action)
    assert "asthma" in shown(memory)


def test_what_was_said_twice_is_forgotten_in_both_turns(memory: Memory) -> None:
    remember(memory, ILLNESS, CAR)
    remember(memory, f"As I said, {ILLNESS[0].lower()}{ILLNESS[1:]}")
    for thought in [thought for thought in memory.thoughts() if "asthma" in thought.sentence]:
        memory.forget(thought)
    assert "asthma" not in shown(memory)
    assert "Volvo" in shown(memory)


def test_a_corrected_thought_leaves_only_the_correction(memory: Memory) -> None:
    remember(memory, "My daughter Ella is three.", CAR)
    thought = next(thought for thought in memory.thoughts() if "three" in thought.sentence)
    memory.correct(thought, "Ella is four.")
    memory.post_think()
    assert "three" not in shown(memory)
    assert "four" in shown(memory)


def test_a_replaced_thought_stays_in_what_was_said(memory: Memory) -> None:
    remember(memory, "I live in Lyon.", "I moved to Turin last week.")
    assert "Lyon" in shown(memory)


def test_an_item_of_recall_can_be_forgotten_and_corrected(memory: Memory) -> None:
    remember(memory, CAR)
    item = memory.search("What do I drive?")[0]
    memory.forget(item)
    assert not memory.search("What do I drive?")


def test_why_explains_what_an_answer_cites(memory: Memory) -> None:
    remember(memory, CAR)
    assert any("Volvo" in line for line in memory.why(memory.ask("What do I drive?")).lines)
