"""Relative times get the date they mean; what is not certain stays as it is."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from thinkback.language.spoken_dates import add_dates, find_tenses

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
        # the last and the next one are both far: the tense decides
        (
            "my brother is getting married in november!",
            "my brother is getting married in november (2025-11)!",
        ),
        ("the baby is due in december", "the baby is due in december (2025-12)"),
        ("booked the flights for 20 december", "booked the flights for 20 december (2025-12-20)"),
        ("they moved it to 3 december", "they moved it to 3 december (2025-12-03)"),
        (
            "she visits in december, we met in september",
            "she visits in december (2025-12), we met in september (2024-09)",
        ),
        # the next one is near: the tense of another clause does not count
        (
            "got the letter, its the 3rd of april at 10",
            "got the letter, its the 3rd of april (2025-04-03) at 10",
        ),
        ("we passed! it opens 2 june", "we passed! it opens 2 june (2025-06-02)"),
        ("我12月1号入的职", "我12月1号 (2024-12-01)入的职"),
        ("通知书到了 5月6号报到", "通知书到了 5月6号 (2025-05-06)报到"),
        ("十二月十七号 右膝", "十二月十七号 (2024-12-17) 右膝"),
        ("we are flying to Bali on 10 January", "we are flying to Bali on 10 January (2026-01-10)"),
        ("we went hiking at the weekend", "we went hiking at the weekend (2025-03-08 to 2025-03-09)"),
        ("我十二月要去日本", "我十二月 (2025-12)要去日本"),
        ("改到十二月了", "改到十二月 (2025-12)了"),
        ("we have a girl, Ines, born in october", "we have a girl, Ines, born in october (2024-10)"),
        ("女儿十月出生", "女儿十月 (2024-10)出生"),
        ("the baby will be born in october", "the baby will be born in october (2025-10)"),
        ("宝宝预计十月出生", "宝宝预计十月 (2025-10)出生"),
        ("we moved to Berlin in november", "we moved to Berlin in november (2024-11)"),
        ("I bought tickets in january", "I bought tickets in january (2025-01)"),
        ("一月改成素食了", "一月 (2025-01)改成素食了"),
        ("so excited for the trip in june", "so excited for the trip in june (2025-06)"),
        ("I won’t be in town in june", "I won’t be in town in june (2025-06)"),
        ("the exam will be at 10:30 on Friday", "the exam will be at 10:30 on Friday (2025-03-14)"),
        ("met Tom, my boss, on Friday", "met Tom, my boss, on Friday (2025-03-07)"),
        ("昨天拆了石膏", "昨天 (2025-03-11)拆了石膏"),
        ("下个月要去体检", "下个月 (2025-04)要去体检"),
        # what is bought or booked lies ahead
        ("got seats, tickets for 9 december", "got seats, tickets for 9 december (2025-12-09)"),
        ("reserved two rooms for 4 january", "reserved two rooms for 4 january (2026-01-04)"),
        ("船票买了1月6号的", "船票买了1月6号 (2026-01-06)的"),
        ("约了张大夫1月9号", "约了张大夫1月9号 (2026-01-09)"),
        ("挂了12月8号的号", "挂了12月8号 (2025-12-08)的号"),
        ("我12月8号买了票", "我12月8号 (2024-12-08)买了票"),
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
        # a past tense, but the next one is near
        "my dad died on 20 April",
        "I had surgery on April 2 and it went well",
        "外婆4月20号去世了",
        "i quit smoking in april",
        "外公六月走的",
        "In June, I started a new job",
        "六月去了音乐会",
        "房子十二月交付",
        "wedding: 12 december!!",
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
    assert find_tenses("she went home") == {"past"}
    assert find_tenses("she will go home") == {"future"}
    assert find_tenses("he got a letter, so he will move") == {"past", "future"}
    assert find_tenses("home") == set()


def test_long_text_without_punctuation_is_dated_quickly() -> None:
    def measure(times: int) -> float:
        return min(measure_once(times) for _ in range(3))  # other work on the machine can only add to it

    def measure_once(times: int) -> float:
        started = time.process_time()
        add_dates("met in june " * times, WEDNESDAY)
        return time.process_time() - started

    assert measure(400) < 12 * measure(100)  # linear would be 4
