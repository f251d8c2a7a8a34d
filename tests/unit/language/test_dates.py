"""Time expressions relative to a turn on Wednesday, 15 May 2024, at noon UTC."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.errors import InvalidInput
from thinkback.language.dates import find_time_expressions, format_interval
from thinkback.language.tokens import parse_chinese_number, parse_english_number

NOW = datetime(2024, 5, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("three weeks back", "2024-04-24"),
        ("yesterday", "2024-05-14"), ("last night", "2024-05-14"), ("today", "2024-05-15"), ("tonight",
            "2024-05-15"),
        ("tomorrow morning", "2024-05-16"), ("the day before yesterday", "2024-05-13"),
        ("the day after tomorrow", "2024-05-17"), ("last Friday", "2024-05-10"), ("next Tuesday",
            "2024-05-21"),
        ("on Friday", "2024-05-17"), ("last Wednesday", "2024-05-08"), ("next Wednesday", "2024-05-22"),
        ("two weeks ago", "2024-05-01"), ("3 days ago", "2024-05-12"), ("a year ago", "2023"),
        ("a couple of months ago", "2024-03-15"), ("twenty-one days ago", "2024-04-24"), ("an hour ago",
            "2024-05-15"),
        ("in three days", "2024-05-18"), ("two months from now", "2024-07-15"), ("in 2019", "2019"),
        ("since 2019", "2019"), ("on May 6th", "2025-05-06"), ("May 6, 2019", "2019-05-06"),
        ("6 May 2019", "2019-05-06"), ("the 6th of June", "2024-06-06"), ("in March", "2025-03"), (
            "last March", "2024-03"),
        ("next month", "2024-06"), ("last month", "2024-04"), ("this year", "2024"), ("last week",
            "2024-05-06 to 2024-05-12"),
        ("over the weekend", "2024-05-18 to 2024-05-19"), ("下周三下午", "2024-05-22"),
        ("5月20日晚上", "2024-05-20"),
        ("last weekend", "2024-05-11 to 2024-05-12"), ("2023-01-02", "2023-01-02"), ("since May 2020",
            "2020-05"),
        ("in December 2023", "2023-12"),
        ("昨天", "2024-05-14"), ("前天晚上", "2024-05-13"), ("大后天", "2024-05-18"), ("上周五",
            "2024-05-10"),
        ("下周三", "2024-05-22"), ("这周五", "2024-05-17"), ("周五", "2024-05-17"), ("上上周日",
            "2024-05-05"),
        ("下周末", "2024-05-25 to 2024-05-26"), ("上个星期", "2024-05-06 to 2024-05-12"), ("上个月",
            "2024-04"),
        ("去年", "2023"), ("前年", "2022"), ("三天前", "2024-05-12"), ("两周后", "2024-05-29"), (
            "两个月以后", "2024-07-15"),
        ("十二年前", "2012"), ("5月6日", "2025-05-06"), ("2019年", "2019"), ("2019年5月6日", "2019-05-06"),
        ("去年5月", "2023-05"), ("十二月", "2024-12"), ("十月三十一号", "2024-10-31"),
    ],
)  # fmt: skip
def test_find_time_expressions_one(text: str, expected: str) -> None:
    for framed in (text, f"x, {text}, y"):
        (when,) = find_time_expressions(framed, NOW)
        assert format_interval(when) == expected
        assert framed[slice(*when.span)] == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [("on Friday", "2024-05-10"), ("on Wednesday", "2024-05-08"), ("on May 6th", "2024-05-06"), ("in June",
        "2023-06"),
     ("周五", "2024-05-10"), ("6月1日", "2023-06-01"), ("last May", "2023-05"), ("last June", "2023-06")],
)  # fmt: skip
def test_find_time_expressions_past(text: str, expected: str) -> None:
    (when,) = find_time_expressions(text, NOW, past=True)
    assert format_interval(when) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "May I?",
        "the day",
        "May 32nd, 2020",
        "99999年",
        "13月",
        "一月三十二日前天气",
        "in vain",
        "2020年后",
        "三月前",
    ],
)
def test_find_time_expressions_ignores_invalid(text: str) -> None:
    assert [w for w in find_time_expressions(text, NOW) if text[slice(*w.span)] == text] == []


def test_find_time_expressions_several_without_overlap() -> None:
    text = "I was in Rome in May 2019 and 昨天 in Oslo, tomorrow home."
    assert [format_interval(when) for when in find_time_expressions(text, NOW)] == [
        "2019-05",
        "2024-05-14",
        "2024-05-16",
    ]


def test_numeric_date_between_han_characters() -> None:
    (when,) = find_time_expressions("我在2023.12.24那天出生", NOW)
    assert format_interval(when) == "2023-12-24"
    assert find_time_expressions("v2023.12.24b", NOW) == []


def test_reference_time_is_utc_and_needs_time_zone() -> None:
    late = datetime(2024, 5, 15, 23, tzinfo=timezone(timedelta(hours=-8)))
    assert format_interval(find_time_expressions("today", late)[0]) == "2024-05-16"
    with pytest.raises(InvalidInput, match="no time zone"):
        find_time_expressions("today", datetime(2024, 5, 15))


def test_months_ago_from_end_of_long_month() -> None:
    assert (
        format_interval(find_time_expressions("a month ago", datetime(2024, 3, 31, tzinfo=UTC))[0])
        == "2024-02-29"
    )


PIECES = [
    "May",
    "6",
    "2019",
    "last",
    "Friday",
    "in",
    "年",
    "月",
    "日",
    "三",
    "天",
    "前",
    "上",
    "周",
    "next",
    "ago",
    "weeks",
    " ",
]


@given(
    st.text()
    | st.lists(st.sampled_from(PIECES)).map(" ".join)
    | st.lists(st.sampled_from(PIECES)).map("".join)
)
def test_spans_are_ordered_and_intervals_not_empty(text: str) -> None:
    end = 0
    for when in find_time_expressions(text, NOW):
        assert when.start < when.end
        assert end <= when.span[0] < when.span[1] <= len(text)
        end = when.span[1]


@pytest.mark.parametrize(
    ("words", "value"),
    [("12", 12), ("a", 1), ("an", 1), ("twelve", 12), ("Forty", 40), ("ninety-nine", 99), ("twenty one", 21)],
)
def test_parse_english_number(words: str, value: int) -> None:
    assert parse_english_number(words) == value


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("12", 12),
        ("三", 3),
        ("十", 10),
        ("十二", 12),
        ("二十", 20),
        ("一百零五", 105),
        ("二〇一九", 2019),
        ("两千", 2000),
    ],
)
def test_parse_chinese_number(words: str, value: int) -> None:
    assert parse_chinese_number(words) == value


def test_parse_english_number_rejects_other_words() -> None:
    with pytest.raises(InvalidInput, match="is not a number"):
        parse_english_number("dozen")
