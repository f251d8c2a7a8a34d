"""Detection of rejected options and their reasons."""

from __future__ import annotations

import pytest
from tests.timing import MAX_LINEAR_GROWTH, time_growth

from thinkback.session.rejected_options import find_rejections
from thinkback.types import ExcludedOption

REASONS = ("slow", "too slow", "its price", "太慢", "太慢了", "太贵", "太贵了")
PHRASES = """
I've ruled out Kafka because it is slow.
We won't be using Kafka, since it is slow.
Kafka doesn't work for us because it is slow.
Kafka isn't an option because it is slow.
Kafka is not an option because it is slow.
Skip Kafka: too slow.
No to Kafka because it is slow.
I'm against Kafka because it is slow.
Kafka is too slow, so let's drop it.
Let's not do Kafka because it is slow.
Let's not go with Kafka, it is slow.
Don't consider Kafka, because it is slow.
I'd rather avoid Kafka because it is slow.
We decided against Kafka because it is slow.
We rejected Kafka because it is slow.
Kafka has been ruled out because it is slow.
Kafka is a no because it is slow.
We are not going with Kafka because it is slow.
I'm not considering Kafka because it is slow.
We're not using Kafka because it is slow.
I do not want Kafka, because it is slow.
Kafka is no longer an option because it is slow.
We should exclude Kafka, because it is slow.
Kafka was excluded because it is slow.
Drop Kafka because it is slow.
Please rule Kafka out, it is slow.
We eliminated Kafka due to its price.
Not Kafka - it is slow.
Not Kafka, it's slow.
no Kafka because it's slow
Kafka is out since it is slow.
Kafka: out, because it is slow.
Kafka won't do because it is slow.
We can not use Kafka because it is slow.
Kafka is excluded (too slow).
我不想用Kafka，因为太慢。
Kafka太贵了，不考虑。
Kafka太贵，排除。
Kafka不要，因为太慢。
不要选Kafka，因为太慢。
不用考虑Kafka了，因为太慢。
Kafka就不考虑了，因为太慢。
我拒绝Kafka，因为太慢。
Kafka被我排除了，因为太慢。
别选Kafka，因为太慢。
Kafka这个方案不行，因为太慢。
Kafka不合适，因为太慢。
先排除Kafka，因为太慢。
Kafka不在考虑范围内，因为太慢。
坚决不要Kafka，太慢。
我们排除了Kafka，原因是太慢。
不打算买Kafka，太慢。
我不要Kafka，因为太慢
请不要推荐Kafka，因为太慢
Kafka排除，因为太慢。
不选Kafka，因为太慢。
由于太慢，Kafka被排除了。
Kafka因为太慢被排除了。
我不考虑Kafka因为太慢
不能用Kafka，因为太慢。
Kafka不行，因为太慢了。
放弃Kafka吧，太慢了。
"""


@pytest.mark.parametrize("said", PHRASES.strip().split("\n"))
def test_rejection_phrases_are_recognised(said: str) -> None:
    (out,) = find_rejections(said)
    assert out.option == "Kafka"
    assert out.reason.removeprefix("it is ").removeprefix("it's ") in REASONS


@pytest.mark.parametrize(
    ("said", "option", "reason"),
    [
        ("Not Redis because it is too expensive.", "Redis", "it is too expensive"),
        ("Redis is out, it costs too much.", "Redis", "it costs too much"),
        ("Oracle is ruled out: too expensive.", "Oracle", "too expensive"),
        (
            "Let's rule out the night train since grandma cannot sleep on it",
            "night train",
            "grandma cannot sleep on it",
        ),
        ("Let's rule out Oracle, the licence is a trap.", "Oracle", "the licence is a trap"),
        ("I don't want a dog because I travel a lot.", "dog", "I travel a lot"),
        ("We can't use MySQL because of the licence.", "MySQL", "the licence"),
        ("No glass bottles, they break.", "glass bottles", "they break"),
        (
            "Because the venue is too small, we exclude the Grand Hotel.",
            "Grand Hotel",
            "the venue is too small",
        ),
        ("Please don't suggest sushi, we had it twice", "sushi", "we had it twice"),
        ("Postgres won't work for us.", "Postgres", ""),
        ("不要红色的，太显眼。", "红色", "太显眼"),
        ("不考虑上海，因为房价太高。", "上海", "房价太高"),
        ("因为太贵，所以排除MySQL。", "MySQL", "太贵"),
        ("排除方案B因为工期太长", "方案B", "工期太长"),
        ("上海不行，太远了。", "上海", "太远了"),
        ("把Redis排除，团队没人会", "Redis", "团队没人会"),
        ("别用塑料盒，不耐热", "塑料盒", "不耐热"),
        ("飞机就算了，我恐高", "飞机", "我恐高"),
        ("我们不去海边，因为孩子怕水", "海边", "孩子怕水"),
    ],
)
def test_option_and_reason_are_extracted(said: str, option: str, reason: str) -> None:
    assert find_rejections(said) == [ExcludedOption(option, reason)]


@pytest.mark.parametrize(
    "said",
    [
        "She is out.",
        "My sister is out with friends.",
        "The cat is out.",
        "No problem, it is fine.",
        "Not sure because it rains.",
        "I don't want to be late because my boss hates it.",
        "Why don't we use MySQL?",
        "I can't take it anymore because I am tired.",
        "I ruled a line across the page.",
        "No sir, I don't drink.",
        "No fever, no vomiting, nothing else.",
        "Not abuse, I just used to do drugs.",
        "I had partners, but no sex since moving here.",
        "I don't want you to do that.",
        "如果不行，我也不害怕。",
        "鼻子痒得不行。",
        "看起来自然一些，不要那么突出。",
        "不要紧，没关系。",
        "不用谢，应该的。",
        "不要担心，没事的。",
        "为什么不要红色的？",
        "不去了，太晚了。",
        "我不知道，因为没问。",
    ],
)
def test_other_sentences_are_not_rejections(said: str) -> None:
    assert find_rejections(said) == []


def test_several_options_can_be_rejected_together() -> None:
    assert [
        each.option for each in find_rejections("Redis and Kafka are out because nobody knows them.")
    ] == [
        "Redis",
        "Kafka",
    ]
    assert [each.option for each in find_rejections("不要红茶和绿茶，因为睡不着")] == ["红茶", "绿茶"]


def test_next_sentence_may_give_the_reason() -> None:
    assert find_rejections("Lisbon is off the table.", "It is too hot in July.") == [
        ExcludedOption("Lisbon", "It is too hot in July")
    ]
    assert find_rejections("Lisbon is off the table.", "We leave on Monday.") == [
        ExcludedOption("Lisbon", "")
    ]


@pytest.mark.parametrize(
    "piece", ["not ", "no, ", "不要", "because ", "is out, ", "，因为", "a" * 10, "we we we "]
)
def test_hostile_input_takes_linear_time(piece: str) -> None:
    assert time_growth(lambda size: find_rejections(piece * size), 20_000) < MAX_LINEAR_GROWTH
