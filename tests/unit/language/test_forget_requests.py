"""Requests to forget: detection, topic, and the texts they cover."""

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
def test_extract_topic(request_: str, topic: str) -> None:
    rest = parse_forget_request(request_)
    assert rest is not None
    assert extract_topic(rest) == topic


@pytest.mark.parametrize(
    ("request_text", "text"),
    [
        ("Please forget my address.", "ship it to 48 Larkspur Lane, that's my address"),
        ("Can you forget what I told you about my ex?", "My ex-husband's name is Gordon, ugh."),
        ("Delete what you know about the Novartis application.", "I'm applying for a job at Novartis."),
        ("Forget that I live in Rome.", "fyi I live in Rome"),
        ("把我的工资忘掉吧", "我的工资是三万"),
    ],
)
def test_forget_request_covers_text_on_topic(request_text: str, text: str) -> None:
    assert [request.covers(text) for request in find_forget_requests(request_text)] == [True]


@pytest.mark.parametrize(
    ("request_text", "text"),
    [
        ("Please forget my address.", "I love gardening"),
        ("Forget that I live in Rome.", "I visited Rome last year"),
        ("Forget that I live in Rome.", "I live in Oslo"),
    ],
)
def test_forget_request_does_not_cover_other_text(request_text: str, text: str) -> None:
    assert [request.covers(text) for request in find_forget_requests(request_text)] == [False]


@pytest.mark.parametrize(
    "text",
    ["Delete the last line.", "Remove salt.", "I forgot my keys", "don't forget the milk", "Hello"],
)
def test_find_forget_requests_ignores_other_commands(text: str) -> None:
    assert find_forget_requests(text) == ()


def test_forget_request_for_last_turn() -> None:
    (forget_request,) = find_forget_requests("Forget what I just said.")
    assert forget_request.last_turn
