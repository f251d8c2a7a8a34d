"""How roles belong together."""

from __future__ import annotations

import pytest

from thinkback.text.people.kinship import (
    HELD,
    back,
    composed,
    kin_of,
    never_held,
    person_of,
    tiers,
    told_role,
)


def test_what_a_role_leads_back_to_leads_to_it_again() -> None:
    """The son of a mother has a mother: every way back has its own way back."""
    for kin in HELD:
        for other in back(kin):
            assert kin in back(other) or any(kin in tier for each in back(other) for tier in tiers(each)), kin


def test_compositions_lead_to_roles_that_thoughts_may_be_kept_under() -> None:
    for kin in HELD:
        for pair in composed("", kin):
            assert {kin_of(each) for each in pair} <= HELD


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("sister", ("sister", "")),
        ("older sister", ("sister", "older sister")),
        ("mom", ("mother", "")),
        ("表哥", ("cousin", "表哥")),
        ("condition", ("", "")),
        ("", ("", "")),
    ],
)
def test_a_role_as_a_thought_says_it(words: str, expected: tuple[str, str]) -> None:
    assert told_role(words) == expected


def test_chinese_tells_whom_english_does_not() -> None:
    assert person_of("姐姐") != person_of("妹妹")
    assert person_of("姑姑") == person_of("姑妈") != person_of("姨妈")
    assert person_of("老板") == person_of("上司") == ""


def test_nobody_is_a_wife_and_a_brother() -> None:
    assert "brother" in never_held("wife")
    assert not never_held("friend")
