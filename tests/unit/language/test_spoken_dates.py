"""Relative times get the date they mean; what is not certain stays as it is."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from thinkback.language.spoken_dates import add_dates, is_past

WEDNESDAY = datetime(2025, 3, 12, 9, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "dated"),
    [
        ("the vet saw him yesterday", "the vet saw him yesterday (2025-03-11)"),
        ("we fly out next month", "we fly out next month (2025-04)"),
        ("I had the scan on Friday", "I had the scan on Friday (2025-03-07)"),
        ("my exam will be on Friday", "my exam will be on Friday (2025-03-14)"),
        ("the wedding is on 3 April", "the wedding is on 3 April (2025-04-03)"),
        ("she moved out on 3 February", "she moved out on 3 February (2025-02-03)"),
        ("昨天拆了石膏", "昨天 (2025-03-11)拆了石膏"),
        ("下个月要去体检", "下个月 (2025-04)要去体检"),
    ],
)
def test_certain_times_are_dated(said: str, dated: str) -> None:
    assert add_dates(said, WEDNESDAY) == dated


@pytest.mark.parametrize(
    "said",
    [
        "on Friday, the usual place",
        "born in May 1988",
        "I like it here",
        "周三休息",
        "定2月15",
        "我以前天天喝咖啡",
        "今后天天写日记",
        "之后天天下雨",
        "小明天天迟到",
    ],
)
def test_other_words_stay_as_they_are(said: str) -> None:
    assert add_dates(said, WEDNESDAY) == said


def test_tense() -> None:
    assert is_past("she went home") is True
    assert is_past("she will go home") is False
    assert is_past("he got a letter, so he will move") is None
