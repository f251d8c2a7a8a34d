"""Where the sentences of a text are, and the windows that the trained detector reads."""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_WINDOW_CHARS = 600
_SENTENCE_END = re.compile("[.!?…]+[\"'”’)\\]]*(?=\\s|\\Z|[\u4e00-\u9fff])|[。！？]+[”’」』）】]*|\n+")
_GIVEN_TEXT = re.compile(  # the text that is to be translated or corrected is read by itself
    r"(?:translat|proofread|correct|summari|decod|complete|rewrit|paraphras|tradui|corrig|traduc|[uü]bersetz|korrigier"
    r"|翻译|译成|改写|校对|纠正|перевед)[^:：\n]{0,60}[:：]\s{0,3}[\"'“„«「]?",
    re.I,
)
_MIN_GIVEN_CHARS = 8
_WINDOW_SENTENCES = 3


def find_sentences(text: str) -> Iterator[tuple[int, int]]:
    """The sentences and lines of a text that are not empty, with what separates them."""
    at = 0
    for stop in _SENTENCE_END.finditer(text):
        if text[at : stop.end()].strip():
            yield at, stop.end()
        at = stop.end()
    if text[at:].strip():
        yield at, len(text)


def find_windows(text: str, *, runs: bool = True) -> Iterator[tuple[int, int]]:
    """The windows of a text: each sentence, runs of sentences, and the whole text if it is short."""
    sentences = list(find_sentences(text))
    for start, end in sentences:
        for first in range(start, end, MAX_WINDOW_CHARS):
            yield first, min(first + MAX_WINDOW_CHARS, end)
        given = _GIVEN_TEXT.search(text, start, min(start + MAX_WINDOW_CHARS, end))
        if given and given.end() + _MIN_GIVEN_CHARS < end:
            yield given.end(), min(given.end() + MAX_WINDOW_CHARS, end)
    if runs and len(sentences) > 1:
        if len(text) <= MAX_WINDOW_CHARS:
            yield sentences[0][0], sentences[-1][1]
        if len(sentences) > _WINDOW_SENTENCES or len(text) > MAX_WINDOW_CHARS:
            for first in range(len(sentences) - 1):
                last = sentences[min(first + _WINDOW_SENTENCES, len(sentences)) - 1]
                if last[1] - sentences[first][0] <= MAX_WINDOW_CHARS:
                    yield sentences[first][0], last[1]
