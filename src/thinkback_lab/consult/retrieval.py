"""The retrieval-augmented module (TiM 000, 3.4): what of a patient's record the doctor's question asks for.

The intent is understood by words: an item is asked for where the question has all words of its name or of one
of its cues. Of two items the one that fits by more words stands for both: "blood pressure" is no "blood". A
question for no item may be one for a category ("What are your symptoms?"): then its first findings are told.
"""

from __future__ import annotations

from collections.abc import Iterable

from thinkback_lab.consult.guide import Guide
from thinkback_lab.consult.record import Finding, Lang
from thinkback_lab.consult.words import mentions
from thinkback_lab.schemes.words import words

MOST = 2  # findings a question may bring: the patient is lazy


def retrieve(question: str, findings: Iterable[Finding], guide: Guide, lang: Lang) -> tuple[Finding, ...]:
    """Of these findings, best first, those that a question asks for; none where the record has none."""
    every = tuple(findings)
    if exact := tuple(each for each in every if guide.asking(each.item, lang).ask == question):
        return exact
    fits = [(each, _fit(question, each.item, guide, lang)) for each in every]
    there = [(each, fit) for each, fit in fits if fit]
    widest = [(each, fit) for each, fit in there if not any(fit < other for _, other in there)]
    if not widest:
        return tuple(each for each in every if mentions(question, each.category))[:MOST]
    return tuple(each for each, _ in sorted(widest, key=lambda pair: -len(pair[1])))[:MOST]


def _fit(question: str, item: str, guide: Guide, lang: Lang) -> frozenset[str]:
    """The words by which the question asks for the item: those of the longest cue it has."""
    cues = (item, *guide.asking(item, lang).cues)
    return max(
        (frozenset(words(cue)) for cue in cues if mentions(question, cue)), key=len, default=frozenset()
    )
