"""Names across scripts."""

from __future__ import annotations

import pytest

from thinkback.text.people.sounds import is_han, likeness, may_be_pinyin, sound


@pytest.mark.parametrize(
    ("name", "heard"), [("安娜", "anna"), ("Zhang Wei", "zhangwei"), ("张伟", "zhangwei")]
)
def test_a_name_sounds_alike_in_both_scripts(name: str, heard: str) -> None:
    assert sound(name) == heard


def test_likeness_is_of_sound_not_of_letters() -> None:
    assert likeness("安娜", "Anna") == 1.0
    assert likeness("大卫", "David") >= 0.5
    assert likeness("小红", "Grace") < 0.5
    assert likeness("", "Anna") == 0.0


def test_only_what_could_be_spelt_out_chinese_is_compared() -> None:
    spelt = ("Zhang Wei", "Anna", "Tom", "R2-D2")
    assert [may_be_pinyin(name) for name in spelt] == [True, True, False, False]
    assert [is_han(name) for name in ("Anna 安娜", "Anna")] == [True, False]
