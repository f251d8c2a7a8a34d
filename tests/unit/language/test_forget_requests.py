"""Which sentences ask to forget, what they are about, and which texts speak of it."""

from __future__ import annotations

import pytest

from thinkback.language.forget_requests import (
    extract_topic,
    find_forget_requests,
    parse_forget_request,
)


@pytest.mark.parametrize(
    ("request_", "topic"),
    [
        ("Please forget my address, I don't want it stored.", "address"),
        ("Wipe that salary figure please.", "salary"),
        ("Hmm, on second thought, don't remember how much I make.", "salary"),
        ("can you delete everything I told you about my ex?", "ex"),
        ("Forget that I live in Rome.", "live in Rome"),
        ("把我的工资忘掉吧", "工资"),
    ],
)
def test_what_a_request_is_about(request_: str, topic: str) -> None:
    rest = parse_forget_request(request_)
    assert rest is not None
    assert extract_topic(rest) == topic


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        ("Please forget my address.", "ship it to 48 Larkspur Lane, that's my address"),
        ("Can you forget what I told you about my ex?", "My ex-husband's name is Gordon, ugh."),
        ("Delete what you know about the Novartis application.", "I'm applying for a job at Novartis."),
        ("Forget that I live in Rome.", "fyi I live in Rome"),
        ("把我的工资忘掉吧", "我的工资是三万"),
    ],
)
def test_a_wish_covers_what_told_it(request_: str, told: str) -> None:
    assert [wish.covers(told) for wish in find_forget_requests(request_)] == [True]


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        ("Please forget my address.", "I love gardening"),
        ("Forget that I live in Rome.", "I visited Rome last year"),
        ("Forget that I live in Rome.", "I live in Oslo"),
    ],
)
def test_a_wish_leaves_alone_what_is_not_it(request_: str, told: str) -> None:
    assert [wish.covers(told) for wish in find_forget_requests(request_)] == [False]


@pytest.mark.parametrize(
    "text",
    ["Delete the last line.", "Remove salt.", "I forgot my keys", "don't forget the milk", "Hello"],
)
def test_an_order_about_something_else_is_no_wish(text: str) -> None:
    assert find_forget_requests(text) == ()


def test_what_was_just_said_is_the_turn_before() -> None:
    (wish,) = find_forget_requests("Forget what I just said.")
    assert wish.last_turn
