"""Newer thoughts that contradict older ones in other words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from thinkback.think.comparison_keys import thought_key
from thinkback.think.contradictions import contradicted_keys
from thinkback.think.plan import plan_operations
from thinkback.think.rule_generator import RuleGenerator
from thinkback.think.state import to_draft
from thinkback.types import Thought, ThoughtDraft, Turn

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)


class Space:
    """A minimal store: turns are read by rules and planned; retired thoughts are dropped."""

    def __init__(self, *texts: str) -> None:
        self.thoughts: list[Thought] = []
        for number, text in enumerate(texts, 1):
            self.told(text, number, AT + timedelta(days=30 * number))

    def existing(self, subject: str, relation: str) -> list[Thought]:
        wanted = thought_key(subject, relation)
        return [each for each in self.thoughts if thought_key(each.subject, each.relation) == wanted]

    def told(self, text: str, number: int, at: datetime) -> None:
        drafts = RuleGenerator().generate(Turn(query=text, at=at, id=number, recorded_at=at))
        for change in plan_operations(drafts, self.existing, at=at):
            self.thoughts = [each for each in self.thoughts if each.id not in change.retire]
            self.thoughts += [stored(draft, 100 * number + len(self.thoughts)) for draft in change.add]


def stored(draft: ThoughtDraft, id_: int) -> Thought:
    values = {name: getattr(draft, name) for name in ThoughtDraft.__dataclass_fields__}
    return Thought(**values, id=id_, recorded_at=AT)


def current_after(*texts: str) -> list[str]:
    """Return the current sentences after these turns."""
    return [each.sentence for each in Space(*texts).thoughts]


GONE = (
    (("I have no drug allergies.", "I'm allergic to codeine."), ["The user is allergic to codeine."]),
    (("I'm not allergic to anything.", "It turns out I'm allergic to bees."),
     ["The user is allergic to bees."]),
    (("没有药物过敏。", "这才知道我对头孢过敏。"), ["用户对头孢过敏。"]),
    (("I take bisoprolol 5 mg.", "I stopped bisoprolol."), ["The user no longer takes bisoprolol."]),
    (("I no longer take metformin.", "I take metformin 500 mg."), ["The user takes metformin 500 mg."]),
    (("I take ramipril.", "I take no medicine."), ["The user does not take any medicine."]),
    (("I take no medicine.", "I take ramipril."), ["The user takes ramipril."]),
    (("I take thyroxine 25 micrograms before lunch.", "I take thyroxine 50 micrograms these days."),
     ["The user takes thyroxine 50 micrograms."]),
    (("我吃左甲状腺素25微克。", "我现在吃左甲状腺素50微克。"), ["用户服用左甲状腺素50微克。"]),
    (("I have no heart disease.", "I was diagnosed with coronary heart disease."),
     ["The user has coronary heart disease."]),
    (("I never had a stroke.", "My son reminded me that I had a small stroke."),
     ["The user had small stroke."]),
    (("I never had a stroke.", "I had a stroke in 2012."), ["The user had stroke (2012)."]),
    (("I have never had any heart disease.", "I was diagnosed with coronary heart disease."),
     ["The user has coronary heart disease."]),
    (("I have a fever, 38.9.", "I have a fever, 37.8."), ["The user has fever, 37.8."]),
)  # fmt: skip

KEPT = (
    ("I have no drug allergies.", "I'm allergic to peanuts."),
    ("I have no food allergies.", "I'm allergic to codeine."),
    ("I have no heart disease.", "I have an itchy rash."),
    ("I don't take metformin 500 mg.", "I take metformin 1000 mg."),
    ("I'm not allergic to brazil nuts.", "I'm allergic to nuts."),
)


@pytest.mark.parametrize(("texts", "left"), GONE, ids=[texts[1] for texts, _ in GONE])
def test_newer_statement_retires_contradicted_objects(texts: tuple[str, str], left: list[str]) -> None:
    assert current_after(*texts) == left


@pytest.mark.parametrize("texts", KEPT)
def test_compatible_statements_stay(texts: tuple[str, str]) -> None:
    assert len(current_after(*texts)) == 2


def test_denial_is_not_merged_with_positive_fact() -> None:
    assert current_after("I have no thyroid disease.", "I have a dry cough.") == [
        "The user does not have thyroid disease.", "The user has dry cough.",
    ]  # fmt: skip
    assert current_after("I have no pets.", "I have a car.") == [
        "The user has no pets.",
        "The user has a car.",
    ]


def test_only_opposite_polarity_contradicts() -> None:
    (draft,) = RuleGenerator().generate(Turn(query="I take ramipril.", at=AT, id=1, recorded_at=AT))
    assert contradicted_keys(draft, to_draft(stored(draft, 1))) == {"ramipril"}
