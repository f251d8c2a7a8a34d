"""Answers are read independently of chunk boundaries; truncated answers as far as possible."""

from __future__ import annotations

import gzip
import itertools
import json
import zlib
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.timing import MAX_LINEAR_GROWTH, time_growth

from thinkback.server.proxy import answer_capture as events_module
from thinkback.server.proxy import answer_capture as reading_module
from thinkback.server.proxy.answer_capture import AnswerOutcome, AnswerText, create_reader
from thinkback.server.proxy.json_spans import partial_text

EVENTS = {b"content-type": b"text/event-stream; charset=utf-8"}
JSON = {b"content-type": b"application/json"}
WORDS = st.text(st.characters(codec="utf-8"), max_size=12)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
CUTS = st.lists(st.integers(0, 4000), max_size=12)


def delta(text: str, index: int = 0, **more: Any) -> str:
    return json.dumps({"choices": [{"index": index, "delta": {"content": text, **more}}]}, ensure_ascii=False)


def finish(reason: str = "stop") -> str:
    return json.dumps({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})


def stream(*events: str, end: str = "\n") -> bytes:
    return "".join(f"data: {event}{end}{end}" for event in events).encode()


def cut(raw: bytes, places: Sequence[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(raw) + 1) for place in places), len(raw)]
    return [raw[start:end] for start, end in itertools.pairwise(edges)]


def response(
    chunks: Sequence[bytes], headers: dict[bytes, bytes] = EVENTS, *, whole: bool = True, status: int = 200
) -> AnswerText:
    read = create_reader(status, headers)
    for chunk in chunks:
        read.feed(chunk)
    return read.result(whole)


@given(st.lists(WORDS, max_size=5), ENDS, CUTS, st.booleans())
def test_stream_is_independent_of_chunks(
    words: list[str], end: str, places: list[int], comments: bool
) -> None:
    events = [part for word in words for part in (delta(word), delta("other", 1))]
    raw = stream(*events, finish(), "[DONE]", end=end)
    if comments:
        raw = f": ping{end}{end}event: x{end}id: 1{end}".encode() + raw + f": bye{end}".encode()
    text = "".join(words)
    assert response(cut(raw, places)) == AnswerText(text, "answered" if text.strip() else "empty")


@given(ENDS, CUTS, st.sampled_from(["data: [DONE]", "data:[DONE]"]))
def test_end_mark_is_detected_in_completing_chunk(end: str, places: list[int], mark: str) -> None:
    before = stream(delta("hi"), finish(), end=end)
    raw = before + f"{mark}{end}{end}".encode()
    chunks = cut(raw, places)
    read = create_reader(200, EVENTS)
    ends = [read.feed(chunk) for chunk in chunks]
    complete, size = [], 0
    for chunk in chunks:
        complete.append(size < len(before) + len(mark) <= size + len(chunk))
        size += len(chunk)
    assert ends == complete


@given(CUTS)
def test_multi_line_data_is_one_event(places: list[int]) -> None:
    lines = json.dumps({"choices": [{"delta": {"content": "a b"}}]}, indent=1).splitlines()
    raw = "".join(f"data: {line}\r\n" for line in lines).encode() + b"\r\n" + stream("[DONE]")
    assert response(cut(raw, places)) == AnswerText("a b", "answered")


@given(st.text(st.characters(codec="utf-8"), min_size=1), st.booleans(), st.integers(0, 10_000))
def test_truncated_json_is_read_as_far_as_possible(text: str, ascii_only: bool, place: int) -> None:
    answer = {
        "id": "x",
        "usage": {"n": [1, {}]},
        "choices": [{"index": 0, "message": {"role": "a", "content": text}}],
    }
    raw = json.dumps(answer, ensure_ascii=ascii_only).encode()
    said = response([raw[: place % len(raw)]], JSON, whole=False)
    assert text.startswith(said.text)
    assert said.outcome == ("cut" if said.text.strip() else "malformed")
    assert response([raw[:-4]], JSON, whole=False).text == text


def test_truncated_completion_text() -> None:
    assert partial_text('{"choices": [{"index": 0, "text": "half \\u00e9 \\ud83d') == "half \u00e9 "


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"choices": {}}', '{"choices": [3', '{"choices": [{"message": 3']
)
def test_non_answer_has_no_text(text: str) -> None:
    assert partial_text(text) == ""


def answer(message: object) -> bytes:
    return json.dumps({"choices": [{"index": 0, "message": message}]}).encode()


@pytest.mark.parametrize(
    ("raw", "text", "outcome"),
    [
        (answer({"content": "hi"}), "hi", "answered"),
        (
            answer({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}),
            "a\nb",
            "answered",
        ),
        (answer({"content": ""}), "", "empty"),
        (answer({"content": " \n"}), " \n", "empty"),
        (answer({"content": None, "refusal": "no"}), "", "refused"),
        (answer({"content": None, "tool_calls": [{"id": "1"}]}), "", "tools"),
        (answer({"content": "I look.", "tool_calls": [{"id": "1"}]}), "I look.", "tools"),
        (answer({"content": 3}), "", "empty"),
        (answer("hi"), "", "empty"),
        (b'{"unexpected": 1}', "", "malformed"),
        (b'{"choices": []}', "", "malformed"),
        (b'{"choices": 1}', "", "malformed"),
        (b"[]", "", "malformed"),
        (b"<html>", "", "malformed"),
        (b"", "", "malformed"),
        (b"[" * 100_000, "", "malformed"),
        (b'{"error": {"message": "x"}}', "", "error"),
        (b'{"choices": [{"index": 0, "text": "once", "finish_reason": "stop"}]}', "once", "answered"),
        (
            b'{"choices":[{"message":{"content":"a"}}],"choices":[{"message":{"content":"b"}}]}',
            "b",
            "answered",
        ),
        (b'{"choices":[{"index":1,"message":{"content":"b"}},{"message":{"content":"a"}}]}', "a", "answered"),
    ],
)
def test_outcomes_of_json_answers(raw: bytes, text: str, outcome: AnswerOutcome) -> None:
    assert response([raw], JSON) == AnswerText(text, outcome)
    assert response([raw[:3], raw[3:]], {}) == AnswerText(text, outcome)
    assert response([raw], JSON, status=500) == AnswerText("", "error")


@pytest.mark.parametrize(
    ("raw", "whole", "text", "outcome"),
    [
        (stream(delta("a"), finish()), True, "a", "answered"),  # some never send an end mark
        (stream(delta("a")), True, "a", "cut"),
        (stream(delta("a"), finish(), "[DONE]"), False, "a", "cut"),
        (stream(delta("a"))[:-2], True, "a", "cut"),
        (stream(delta("a"), "{nonsense", finish(), "[DONE]"), True, "a", "cut"),
        (stream(delta("a"), '{"error": {"message": "x"}}'), True, "a", "cut"),
        (stream('{"error": {"message": "x"}}', "[DONE]"), True, "", "error"),
        (stream("[DONE]"), True, "", "malformed"),
        (stream(delta(""), finish(), "[DONE]"), True, "", "empty"),
        (stream(delta("", refusal="no"), "[DONE]"), True, "", "refused"),
        (stream(delta("", tool_calls=[{}]), finish("tool_calls"), "[DONE]"), True, "", "tools"),
        (b"", True, "", "malformed"),
        (stream('{"choices": [{"index": 0, "text": "once"}]}', "[DONE]"), True, "once", "answered"),
    ],
)
def test_outcomes_of_streams(raw: bytes, whole: bool, text: str, outcome: AnswerOutcome) -> None:
    assert response([raw], whole=whole) == AnswerText(text, outcome)


@given(CUTS, st.sampled_from([b"gzip", b"deflate"]))
def test_compressed_answer_is_decompressed(places: list[int], kind: bytes) -> None:
    def compress(raw: bytes) -> bytes:
        return gzip.compress(raw) if kind == b"gzip" else zlib.compress(raw)

    packed = compress(answer({"content": "hi"}))
    assert response(cut(packed, places), {**JSON, b"content-encoding": kind}) == AnswerText("hi", "answered")
    packed = compress(stream(delta("hi"), "[DONE]"))
    assert response(cut(packed, places), {**EVENTS, b"content-encoding": kind}) == AnswerText(
        "hi", "answered"
    )


def test_wrong_content_encoding_is_not_read() -> None:
    plain = answer({"content": "hi"})
    assert response([plain], {**JSON, b"content-encoding": b"gzip"}) == AnswerText("", "malformed")
    assert response([b"\x0b\x02\x80"], {**JSON, b"content-encoding": b"br"}) == AnswerText("", "malformed")


def test_reading_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_module, "MAX_ANSWER_BYTES", 100)
    monkeypatch.setattr(reading_module, "MAX_ANSWER_CHARS", 90)
    monkeypatch.setattr(events_module, "MAX_EVENT_BYTES", 100)
    long = "x" * 150
    assert response([answer({"content": long})], JSON).outcome == "cut"
    assert 0 < len(response([answer({"content": long})], JSON).text) < 90
    pieces = stream(delta("y" * 30), delta("y" * 30), delta("y" * 60), finish(), "[DONE]")
    assert response([pieces]) == AnswerText("y" * 90, "cut")
    assert response([stream(delta("y"), delta(long), finish(), "[DONE]")[:80], b"z" * 200]).text == "y"
    bomb = zlib.compress(answer({"content": long * 1000}))
    assert len(response([bomb], {**JSON, b"content-encoding": b"deflate"}).text) < 100


def test_reading_takes_linear_time() -> None:
    def one_line_in_pieces(size: int) -> None:
        response([b"data: ", *[b"x" * 10] * (size // 10)])

    def one_event_of_many_lines(size: int) -> None:
        response([b"data: x\n"] * (size // 8))

    def an_open_string(size: int) -> None:
        partial_text('{"choices": [{"message": {"content": "' + '\\"' * (size // 2))

    for work in (one_line_in_pieces, one_event_of_many_lines, an_open_string):
        assert time_growth(work, 400_000) < MAX_LINEAR_GROWTH
