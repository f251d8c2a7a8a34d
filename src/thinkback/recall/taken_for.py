"""What a query was taken for: its type, times and names, the wordings and the rows it was searched with.

Read only to explain a recall: the search itself needs less.
"""

from __future__ import annotations

from collections.abc import Iterator

from thinkback.index.lexical import Wording, hash_terms
from thinkback.index.shelf import Hits
from thinkback.recall.search import Search
from thinkback.recall.understand import Understood
from thinkback.text.questions.asked_when import Asked, asked_when
from thinkback.text.questions.asking import asked_for, rewordings
from thinkback.text.questions.question_type import question_type
from thinkback.text.questions.thesaurus import alike
from thinkback.text.safety.trust import redact
from thinkback.text.tokens import terms
from thinkback.types import ItemKind, Ref, Searched, Span, Understanding, Wordings


def understanding(search: Search, space: Hits, bank: Hits | None) -> Understanding:
    question, meant = search.question, search.question.understood or Understood("none")
    asked = Asked((), "any") if question.now is None else asked_when(question.text, question.now)
    sides: list[tuple[ItemKind, Hits | None]] = [("thought", space), ("turn", bank)]
    return Understanding(
        question=question_type(question.text),
        tense=asked.tense,
        spans=tuple(Span(span.words, span.start, span.end) for span in asked.spans),
        reaches_back=search.reaches_back,
        manner=search.spoken.manner,
        told=redact(search.spoken.told),
        kinds=tuple(sorted(question.kinds.items(), key=lambda each: -each[1])),
        names=tuple(map(redact, meant.expansions)),
        aliases=tuple(map(redact, meant.aliases)),
        ways=tuple(map(redact, meant.reasons)),
        bridge=tuple(Ref("thought", id_) for id_ in meant.bridge),
        wordings=tuple(_wordings(search)) if search.preset.lexical else (),
        searched=tuple(_searched(search, kind, hits) for kind, hits in sides if hits is not None),
        preset=search.preset.name,
        relative=search.preset.weights is not None,
        nearly=search.preset.nearly,
        middle=search.scorer.middle if search.preset.weights else None,
    )


def _searched(search: Search, kind: ItemKind, hits: Hits) -> Searched:
    rows = search.shelf.size(kind)
    return Searched(kind, rows, hits.candidates, hits.probes, hits.exact, hits.group)


def _wordings(search: Search) -> Iterator[Wordings]:
    """The wordings as they were searched with: numbers, read back as words of the query and like them."""
    words = {int(hash_terms([term])[0]): term for term in _vocabulary(search)}

    def read(wording: Wording) -> tuple[tuple[str, ...], tuple[str, ...]]:
        known = () if wording.if_known is None else wording.if_known.tolist()
        counted, optional = (
            tuple(words[each] for each in numbers if each in words)
            for numbers in (wording.terms.tolist(), known)
        )
        return counted, optional

    kinds: dict[int, list[ItemKind]] = {}
    every = {id(each): each for wordings in search.wordings.values() for each in wordings}
    for kind, wordings in search.wordings.items():
        for each in wordings:
            kinds.setdefault(id(each), []).append(kind)
    for key, wording in every.items():
        yield Wordings(tuple(kinds[key]), *read(wording), wording.weight)


def _vocabulary(search: Search) -> Iterator[str]:
    """Every word that may have been searched with; a secret in the query is no word to tell."""
    for text in map(redact, filter(None, (search.question.text, search.question.meant))):
        yield from terms(text)
        yield from asked_for(text)
        yield from alike(text)
        for wording in rewordings(text):
            yield from wording
