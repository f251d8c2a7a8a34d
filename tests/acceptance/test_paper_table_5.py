"""Table 5 of TiM (ACL), end to end: the doctor must not call a high white blood cell count reasonable."""

from __future__ import annotations

import pytest
from tests.conftest import OpenMemory
from tests.scripted_reader import ScriptedReader, add, fact

from thinkback.llms.scripted import ScriptedLLM
from thinkback.think.contract import ProposedChange

TRIPLES = {
    "I've had a urine analysis done recently.": [("patient", "have", "urine analysis")],
    "The white blood cell count in the urinary sediment is 3623.20/ul.": [
        ("white blood cell count", "is", "3623.20/ul"),
        ("3623.20/ul", "is", "a relatively high value"),
    ],
    "Yes, it's been quite noticeable recently.": [("patient", "have", "frequent urination")],
}
REPLIES = (
    "What was the result?",
    "That is a relatively high value. Do you have frequent urination?",
    "I see.",
)
WRONG = "Okay, combined with reasonable white blood cell count and frequent urination, everything is fine."
RIGHT = (
    "Okay, combined with relatively higher white blood cell count and frequent urination, "
    "you may catch an acute urinary tract infection."
)


def propose(said: str) -> list[ProposedChange]:
    """The thoughts that the table shows for a turn of its dialogue."""
    return [
        add(
            said,
            fact(value, f"{subject} {relation} {value}.", about=subject, relation=relation, kind="knowledge"),
        )
        for subject, relation, value in TRIPLES[said]
    ]


@pytest.mark.parametrize("masks", [True, False])
def test_contradicting_draft_is_replaced_by_a_consistent_answer(open_memory: OpenMemory, masks: bool) -> None:
    llm = ScriptedLLM([WRONG, RIGHT, '{"contradictions": []}'], masks=masks)
    memory = open_memory(think=ScriptedReader({said: propose(said) for said in TRIPLES}), llm=llm)
    for said, reply in zip(TRIPLES, REPLIES, strict=True):
        memory.remember(said, reply, session="visit")
    assert memory.post_think().problems == ()
    answer = memory.chat("What does the white blood cell count of 3623.20/ul with frequent urination mean?")
    assert (answer.text, answer.warning) == (RIGHT, "")
    (check,) = answer.checks
    assert check.words == WRONG
    assert check.reason == "'reasonable' instead of 'high'"
    assert check.outcome == ("masked" if masks else "regenerated")
    if masks:
        assert llm.forbidden[1] == ("reasonable",)
    assert "3623.20/ul is a relatively high value." in llm.calls[1][-1].content
    assert any("contradicts" in line for line in memory.why(answer).lines)
