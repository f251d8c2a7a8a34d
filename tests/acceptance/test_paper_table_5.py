"""Table 5 of TiM (ACL), end to end: the doctor must not call a high white blood cell count reasonable."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from tests.conftest import OpenMemory

from thinkback.llms.scripted import ScriptedLLM
from thinkback.types import Source, ThoughtDraft, Turn

TRIPLES = {
    "I've had a urine analysis done recently.": [("patient", "have", "urine analysis")],
    "The white blood cell count in the urinary sediment is 3623.20/ul.": [
        ("white blood cell count", "is", "3623.20/ul"),
        ("3623.20/ul", "is", "a relatively high value"),
    ],
    "Yes, it's been quite noticeable recently.": [("patient", "have", "frequent urination")],
}
WRONG = "Okay, combined with reasonable white blood cell count and frequent urination, everything is fine."
RIGHT = (
    "Okay, combined with relatively higher white blood cell count and frequent urination, "
    "you may catch an acute urinary tract infection."
)


class TableReader:
    """Draws the thoughts that the table shows from the turns of its dialogue."""

    name = "table 5"

    def generate(self, turn: Turn, recent: Sequence[Turn] = ()) -> list[ThoughtDraft]:
        sources = (Source(turn.id, "user", "query", 0, len(turn.query)),)
        return [
            ThoughtDraft(
                subject=subject,
                relation=relation,
                objects=(value,),
                sentence=f"{subject} {relation} {value}.",
                kind="knowledge",
                sources=sources,
            )
            for subject, relation, value in TRIPLES.get(turn.query, [])
        ]


@pytest.mark.parametrize("masks", [True, False])
def test_contradicting_draft_is_replaced_by_a_consistent_answer(open_memory: OpenMemory, masks: bool) -> None:
    llm = ScriptedLLM([WRONG, RIGHT, '{"contradictions": []}'], masks=masks)
    memory = open_memory(think=TableReader(), llm=llm)
    for said in TRIPLES:
        memory.remember(said, session="visit")
    memory.post_think()
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
