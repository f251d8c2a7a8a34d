"""Text made shorter without harm: cut between sentences, else clauses, else words; never inside one.

A word of Latin script, a number and an emoji with all its joiners are never cut. Chinese has no visible
words: there a cut falls behind a comma where it can, else between two characters. What a reader counts as the
length is in `count_words`: words, and in Chinese characters (字数).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from thinkback.text.scripts import CJK, EMOJI, RUN
from thinkback.text.sentences import Sentence, sentences

GAP = "…"

_FLAG = "[\U0001f1e6-\U0001f1ff]"
_TAIL = "[\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"  # variation, skin tone, tags
_ONE_EMOJI = f"(?:{_FLAG}{{2}}|(?!{_FLAG})[{EMOJI}]){_TAIL}"
_ATOM = re.compile(
    rf"\s+|{_ONE_EMOJI}(?:\u200d{_ONE_EMOJI})*|[{RUN}][\u0300-\u036f\ufe00-\ufe0f]*"
    rf"|(?:(?![{RUN}{EMOJI}])\S)+|\S"
)
_COUNTED = re.compile(rf"[{CJK}]|(?:(?![{CJK}])[^\W_])+(?:['’.,:-](?:(?![{CJK}])[^\W_])+)*")
_CLAUSE = re.compile(r"[,;:，；：、]+(?=\s|[^\x00-\x7f])|\s[–—-]\s")


def count_words(text: str) -> int:
    """Words, as a reader counts them; of Chinese, Japanese and Korean, characters."""
    return len(_COUNTED.findall(text))


def shortened(text: str, fits: Callable[[str], bool]) -> str:
    """The longest beginning that fits: whole sentences, else whole clauses, else whole words and a gap sign.

    `fits` must hold for every beginning of what it holds for. Empty where not even a word fits.
    """
    whole = text.strip()
    if fits(whole):
        return whole
    for borders, mark in ((_sentence_ends, ""), (_clause_ends, GAP), (_atom_ends, GAP)):
        best = ""
        for end in borders(whole):
            begun = whole[:end].rstrip(" ,;:，；：、–—-\t\n") + mark
            if not fits(begun):
                break
            best = begun
        if best.rstrip(GAP):
            return best
    return ""


def chunks(text: str, fits: Callable[[str], bool]) -> list[Sentence]:
    """The sentences with their spans, one that does not fit cut at clauses, else between words."""
    out: list[Sentence] = []
    for sentence in sentences(text):
        if fits(sentence.text):
            out.append(sentence)
            continue
        start = 0
        while start < len(sentence.text):
            end = start + _reach(sentence.text[start:], fits)
            body = sentence.text[start:end].strip()
            if body:
                first = sentence.start + sentence.text.index(body, start)
                out.append(Sentence(body, first, first + len(body)))
            start = end
    return out


def _reach(text: str, fits: Callable[[str], bool]) -> int:
    """Where to cut first: the last clause's end that fits, else the last word's, at least one word."""
    for borders in (_clause_ends, _atom_ends):
        best = 0
        for end in borders(text):
            if not fits(text[:end]):
                break
            best = end
        if best and text[:best].strip():
            return best
    lead = len(text) - len(text.lstrip())
    first = _ATOM.match(text, lead)
    return first.end() if first else len(text)


def _sentence_ends(text: str) -> Iterator[int]:
    return (sentence.end for sentence in sentences(text))


def _clause_ends(text: str) -> Iterator[int]:
    return (clause.end() for clause in _CLAUSE.finditer(text))


def _atom_ends(text: str) -> Iterator[int]:
    return (atom.end() for atom in _ATOM.finditer(text))
