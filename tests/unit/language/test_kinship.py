"""Roles, their inverses, compositions and specific forms."""

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


def test_inverse_of_inverse_role() -> None:
    """Every inverse of a role has the role, or one of its tiers, as its own inverse."""
    for kin in ROLE_NAMES:
        for other in inverse_roles(kin):
            assert kin in inverse_roles(other) or any(
                kin in tier for each in inverse_roles(other) for tier in role_tiers(each)
            ), kin


def test_role_compositions_use_known_roles() -> None:
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
def test_parse_role(words: str, expected: tuple[str, str]) -> None:
    assert parse_role(words) == expected


def test_specific_role_zh() -> None:
    assert specific_role_zh("姐姐") != specific_role_zh("妹妹")
    assert specific_role_zh("姑姑") == specific_role_zh("姑妈") != specific_role_zh("姨妈")
    assert specific_role_zh("老板") == specific_role_zh("上司") == ""


def test_incompatible_roles() -> None:
    assert "brother" in incompatible_roles("wife")
    assert not incompatible_roles("friend")
