"""Ends the answers of local models well: they stop at a loop, and never end in the middle of a sentence.

A small model may repeat a sentence or a few words until its token limit. `end_well` passes an answer on
sentence by sentence. It stops when a sentence comes for the third time or when the same words are repeated
without end, and leaves out a last sentence that the token limit cut off.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

from thinkback.language.sentences import ELLIPSIS, split_sentences

MAX_SAME_SENTENCES = 2  # the same sentence comes at most this often
MIN_SENTENCE_WORDS = 3  # a shorter sentence may be repeated
MAX_LOOP_WORDS = 24  # length of a passage that is repeated within a sentence
MIN_LOOPED_WORDS = 12  # shorter repetitions are emphasis: "no, no, no, no"
LOOP_REPETITIONS = 4
MAX_UNFINISHED_CHARS = 2000  # a longer text without a sentence end (code, a table) is passed on
_SENTENCE_ENDS = tuple(".!?。！？…\n;；:：)）\"”'’`*|")


def end_well(pieces: Iterable[str], was_cut: Callable[[], bool]) -> Iterator[str]:
    """The answer by sentences, without loops and without a cut-off end.

    Args:
        pieces: the answer as it is generated.
        was_cut: called at the end: whether the token limit ended the answer.
    """
    seen: Counter[str] = Counter()
    sent = False
    buffer = ""
    for piece in pieces:
        buffer += piece
        if find_loop(buffer) is not None:
            break
        *complete, rest = _split_at_sentences(buffer)
        for sentence in complete:
            seen[_normalise(sentence)] += 1
            if seen[_normalise(sentence)] > MAX_SAME_SENTENCES and _is_long(sentence):
                return
            yield sentence
            sent = True
        buffer = rest
        if len(buffer) > MAX_UNFINISHED_CHARS:
            yield buffer
            buffer, sent = "", True
    start = find_loop(buffer)
    if start is not None:
        kept = buffer[:start].rstrip()
        if kept and (kept.endswith(_SENTENCE_ENDS) or not sent):
            yield kept if kept.endswith(_SENTENCE_ENDS) else f"{kept}{ELLIPSIS}"
        return
    if seen[_normalise(buffer)] >= MAX_SAME_SENTENCES and _is_long(buffer):
        return
    if not was_cut() or buffer.rstrip().endswith(_SENTENCE_ENDS):
        if buffer:
            yield buffer
    elif not sent and buffer.strip():  # nothing but one long sentence
        yield f"{buffer.rstrip()}{ELLIPSIS}"


def find_loop(text: str) -> int | None:
    """Where the second copy of words begins that the end of the text repeats; None if there is no loop."""
    starts = [position for position, _ in _words(text)]
    words = [word for _, word in _words(text)]
    for length in range(1, min(MAX_LOOP_WORDS, len(words) // LOOP_REPETITIONS) + 1):
        copies = 1
        while words[len(words) - (copies + 1) * length : len(words) - copies * length] == words[-length:]:
            copies += 1
            if (copies + 1) * length > len(words):
                break
        if copies >= LOOP_REPETITIONS and copies * length >= MIN_LOOPED_WORDS:
            return starts[len(words) - (copies - 1) * length]
    return None


def _words(text: str) -> list[tuple[int, str]]:
    """The words of a text with their positions; every Chinese character is a word."""
    found: list[tuple[int, str]] = []
    inside = False
    for position, char in enumerate(text):
        if "\u3400" <= char <= "\u9fff":
            found.append((position, char))
            inside = False
        elif char.isspace():
            inside = False
        elif inside:
            found[-1] = (found[-1][0], found[-1][1] + char.lower())
        else:
            found.append((position, char.lower()))
            inside = True
    return found


def _split_at_sentences(text: str) -> list[str]:
    """Whole sentences with the white space after them, and the unfinished rest."""
    starts = [sentence.start for sentence in split_sentences(text)][1:]
    bounds = [0, *starts, len(text)]
    return [text[start:end] for start, end in pairwise(bounds)]


def _is_long(sentence: str) -> bool:
    """Whether a repetition of the sentence is a loop; "Yes." or a closing brace may be repeated."""
    return len(_words(sentence)) >= MIN_SENTENCE_WORDS


def _normalise(sentence: str) -> str:
    return " ".join(sentence.lower().split())
