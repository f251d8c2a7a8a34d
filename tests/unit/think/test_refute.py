"""A newer word on the same matter takes the older out, though it is said in other words."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from thinkback.think.held import as_draft
from thinkback.think.organise import organise
from thinkback.think.refute import contradicted
from thinkback.think.resolve import key_of
from thinkback.think.rules import RuleGenerator
from thinkback.types import Thought, Turn

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)


def held(*texts: str) -> list[str]:
    """What is current after these turns, by rules."""
    thoughts: list[Thought] = []
    for number, text in enumerate(texts, 1):
        at = AT + timedelta(days=30 * number)
        drafts = RuleGenerator().generate(Turn(query=text, at=at, id=number, recorded_at=at))

        def existing(subject: str, relation: str) -> list[Thought]:
            wanted = key_of(subject, relation)
            return [each for each in thoughts if key_of(each.subject, each.relation) == wanted]

        for change in organise(drafts, existing, at=at):
            thoughts = [each for each in thoughts if each.id not in change.retire]
            thoughts += [_kept(draft, len(thoughts) + 100 * number + i) for i, draft in enumerate(change.add)]
    return [each.sentence for each in thoughts]


def _kept(draft: object, id_: int) -> Thought:
    from dataclasses import fields

    values = {each.name: getattr(draft, each.name) for each in fields(Thought) if hasattr(draft, each.name)}
    return Thought(**{**values, "id": id_, "recorded_at": AT})


GONE = (
    (("I have no drug allergies.", "I'm allergic to codeine."), ["The user is allergic to codeine."]),
    (("I'm not allergic to anything.", "It turns out I'm allergic to bees."), ["The user is allergic to bees."]),
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
def test_what_the_newer_word_takes_out(texts: tuple[str, str], left: list[str]) -> None:
    assert held(*texts) == left


@pytest.mark.parametrize("texts", KEPT)
def test_what_both_can_hold_stays(texts: tuple[str, str]) -> None:
    assert len(held(*texts)) == 2


def test_a_denial_is_not_merged_with_what_is_had() -> None:
    assert held("I have no thyroid disease.", "I have a dry cough.") == [
        "The user does not have thyroid disease.", "The user has dry cough.",
    ]  # fmt: skip
    assert held("I have no pets.", "I have a car.") == ["The user has no pets.", "The user has a car."]


def test_only_opposites_contradict() -> None:
    (draft,) = RuleGenerator().generate(Turn(query="I take ramipril.", at=AT, id=1, recorded_at=AT))
    assert contradicted(draft, as_draft(_kept(draft, 1))) == {"ramipril"}
