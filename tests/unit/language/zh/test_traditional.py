"""Conversion of traditional to simplified characters keeps the length."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.language.tokens import extract_terms
from thinkback.language.writing_systems import to_simplified


@pytest.mark.parametrize(
    ("traditional", "simple"),
    [
        ("我養了一隻貓", "我养了一只猫"),
        ("花蓮民宿的羊駝", "花莲民宿的羊驼"),
        ("電話號碼", "电话号码"),
        ("她對蝦過敏，醫生說的", "她对虾过敏，医生说的"),
        ("老闆在臺灣買了輛車", "老板在台湾买了辆车"),
    ],
)
def test_traditional_and_simplified_have_same_terms(traditional: str, simple: str) -> None:
    assert to_simplified(traditional) == simple
    assert extract_terms(traditional) == extract_terms(simple)


@given(st.text())
def test_to_simplified_keeps_length_and_is_idempotent(text: str) -> None:
    once = to_simplified(text)
    assert len(once) == len(text)
    assert to_simplified(once) == once
