"""Times and tenses of questions: a table in both languages, and properties that hold for any text."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.timing import MAX_LINEAR_GROWTH, time_growth
from tests.unit.language.query_time_cases import (
    HELD_OUT,
    LAST,
    MORE,
    NO_TIMES,
    TENSES,
    TIMES_EN,
    TIMES_ZH,
    TRAPS,
    Question,
)

from thinkback.errors import InvalidInput
from thinkback.language.dates import TimeExpression, format_interval
from thinkback.language.query_time import QueryTimeSpan, parse_query_time, remove_times

NOW = datetime(2024, 5, 15, 12, tzinfo=UTC)
ALL = [*TIMES_EN, *TIMES_ZH, *NO_TIMES, *TENSES, *HELD_OUT, *MORE, *TRAPS, *LAST]


def format_span(span: QueryTimeSpan) -> str:
    if span.start is not None and span.end is not None:
        return format_interval(TimeExpression(span.start, span.end, (0, 0)))
    return f"until {span.end:%Y-%m-%d}" if span.end is not None else f"from {span.start:%Y-%m-%d}"


@pytest.mark.parametrize(("query", "times", "tense"), ALL, ids=[query for query, _, _ in ALL])
def test_parse_query_time(query: str, times: str, tense: str) -> None:
    result = parse_query_time(query, NOW)
    if times.startswith("~"):
        day = datetime.fromisoformat(times[1:]).replace(tzinfo=UTC)
        (span,) = result.spans
        assert span.start is not None
        assert span.end is not None
        assert span.start <= day < span.end
    else:
        assert "; ".join(map(format_span, result.spans)) == times
    assert result.tense == tense
    assert all(span.words in query for span in result.spans)


def test_cases_are_unique() -> None:
    def chinese(question: Question) -> bool:
        return not question[0].replace("’", "'").isascii()

    assert len({query for query, _, _ in ALL}) == len(ALL) > 300
    assert min(sum(map(chinese, ALL)), sum(not chinese(one) for one in ALL)) > 120


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("What did I buy before March?", "before March"),
        ("Who came between May 1 and May 3?", "between May 1 and May 3"),
        ("What did we do on Christmas last year?", "Christmas last year"),
        ("三月之前我买了什么？", "三月之前"),
        ("从5月1日到5月3日我在哪？", "从5月1日到5月3日"),
        ("我上週去了哪裡？", "上週"),
    ],
)
def test_span_words_are_quoted_from_question(query: str, words: str) -> None:
    (span,) = parse_query_time(query, NOW).spans
    assert span.words == words


@pytest.mark.parametrize(
    ("now", "query", "times"),
    [
        (datetime(2024, 11, 20, tzinfo=UTC), "Where did I go last summer?", "2024-06-01 to 2024-08-31"),
        (datetime(2024, 7, 1, tzinfo=UTC), "Where did I go last summer?", "2023-06-01 to 2023-08-31"),
        (datetime(2024, 1, 10, tzinfo=UTC), "What did I do in winter?", "2023-12-01 to 2024-02-28"),
        (datetime(2024, 1, 2, tzinfo=UTC), "Where was I on New Year's Eve?", "2023-12-29 to 2024-01-02"),
        (datetime(2024, 1, 2, tzinfo=UTC), "去年12月我去了哪里？", "2023-12"),
        (datetime(2024, 3, 1, tzinfo=UTC), "What did I do on Feb 29?", "2024-02-29"),
        (datetime(2024, 5, 18, tzinfo=UTC), "What did I do this weekend?", "2024-05-18 to 2024-05-19"),
        (datetime(2024, 5, 31, tzinfo=UTC), "What did I order on the 31st of last month?", "2024-04"),
    ],
)
def test_parse_query_time_is_relative_to_now(now: datetime, query: str, times: str) -> None:
    assert "; ".join(map(format_span, parse_query_time(query, now).spans)) == times


def test_reference_time_is_utc_and_needs_time_zone() -> None:
    late = datetime(2024, 5, 15, 23, tzinfo=timezone(timedelta(hours=-8)))
    assert format_span(parse_query_time("What did I eat today?", late).spans[0]) == "2024-05-16"
    with pytest.raises(InvalidInput, match="no time zone"):
        parse_query_time("What did I eat?", datetime(2024, 5, 15))


WORDS = """
before after since until between and from to the last next this in on at May 6 6th 2019 1900 2099 Friday
Christmas winter summer week month year years days two few ago now still used lived did was late early
年 月 日 号 三 天 前 后 上 个 周 末 去 春节 冬天 从 到 以前 之前 现在 还 住 曾经 了 过 《 》 " ' ? ，
"""
PIECES = WORDS.split()
TEXTS = (
    st.text()
    | st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join)
    | st.lists(st.sampled_from(PIECES), max_size=30).map("".join)
)
MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(2100, 12, 31)).map(lambda at: at.replace(tzinfo=UTC))


@given(TEXTS, MOMENTS)
def test_any_text_has_plausible_spans(text: str, now: datetime) -> None:
    asked = parse_query_time(text, now)
    assert asked.tense in ("now", "before", "any")
    for span in asked.spans:
        assert span.words
        assert span.words in text
        assert span.start is not None or span.end is not None
        if span.start is not None:
            assert span.start.year < now.year + 12
        if span.end is not None:
            assert span.end.year >= 1900
        if span.start is not None and span.end is not None:
            assert span.start < span.end


@given(TEXTS)
def test_quoted_title_adds_no_times(text: str) -> None:
    """A quoted title takes its times away and adds none."""
    title = text.replace("》", "").replace("《", "").replace("\n", " ")[:80] or "x"
    alone = parse_query_time("我看过吗", NOW)
    assert parse_query_time(f"我看过《{title}》吗", NOW) == alone


def test_long_text_is_cut() -> None:
    assert parse_query_time("x " * 5000 + "last week", NOW).spans == ()
    assert parse_query_time("last week " + "x " * 5000, NOW).spans != ()


@pytest.mark.parametrize(
    "piece",
    ["a ", "May 6 ", "三天前", "from 2018 to ", "in the last ", "'", '"x', "上周", "ed", "1", "used to ",
     "was a b c ", "以前去过", "the day before ", "20", "前", "《", "one ", "twenty-", "what n't "],
)  # fmt: skip
def test_parse_query_time_cost_is_bounded(piece: str) -> None:
    assert time_growth(lambda size: parse_query_time((piece * size)[:size], NOW), 10_000) < MAX_LINEAR_GROWTH


@pytest.mark.parametrize(
    ("query", "rest"),
    [
        ("What did I paint yesterday?", "What did I paint  ?"),
        ("What did Ann say last summer?", "What did Ann say   summer?"),
        ("Where was I on May 6th?", "Where was I on May 6th?"),
        ("我昨天买了什么？", "我 买了什么？"),
        ("What do I like?", "What do I like?"),
        ("What did I do?", "What did I do?"),
    ],
)
def test_remove_times_drops_relative_words(query: str, rest: str) -> None:
    text, anything = remove_times(query, parse_query_time(query, NOW))
    assert text.split() == rest.split()
    assert not anything


@pytest.mark.parametrize(
    ("query", "rest"),
    [
        ("What did I tell you yesterday?", ""),
        ("What happened last week?", ""),
        ("上周发生了什么事？", ""),
        ("What did we do last summer?", "summer"),
    ],
)
def test_remove_times_time_only(query: str, rest: str) -> None:
    text, anything = remove_times(query, parse_query_time(query, NOW))
    assert text.split() == rest.split()
    assert anything
