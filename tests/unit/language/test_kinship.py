"""How roles belong together."""

from __future__ import annotations

import pytest

from thinkback.language.kinship import (
    ROLE_NAMES,
    base_role,
    incompatible_roles,
    inverse_roles,
    parse_role,
    role_compositions,
    role_tiers,
    specific_role_zh,
)


def test_what_a_role_leads_back_to_leads_to_it_again() -> None:
    """The son of a mother has a mother: every way back has its own way back."""
    for kin in ROLE_NAMES:
        for other in inverse_roles(kin):
            assert kin in inverse_roles(other) or any(
                kin in tier for each in inverse_roles(other) for tier in role_tiers(each)
            ), kin


def test_compositions_lead_to_roles_that_thoughts_may_be_kept_under() -> None:
    for kin in ROLE_NAMES:
        for pair in role_compositions("", kin):
            assert {base_role(each) for each in pair} <= ROLE_NAMES


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
    assert parse_role(words) == expected


def test_chinese_tells_whom_english_does_not() -> None:
    assert specific_role_zh("姐姐") != specific_role_zh("妹妹")
    assert specific_role_zh("姑姑") == specific_role_zh("姑妈") != specific_role_zh("姨妈")
    assert specific_role_zh("老板") == specific_role_zh("上司") == ""


def test_nobody_is_a_wife_and_a_brother() -> None:
    assert "brother" in incompatible_roles("wife")
    assert not incompatible_roles("friend")
