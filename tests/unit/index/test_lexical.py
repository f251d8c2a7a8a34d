"""The lexical index against a naive BM25, for any order of adding, replacing and removing."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thinkback.index import lexical
from thinkback.index.lexical import K1, B, LexicalIndex, QueryTerms, hash_terms

words = st.sampled_from(["the", "a", "cat", "dog", "sat", "on", "mat", "猫", "狗", "ran"])
document = st.lists(words, max_size=8)
steps = st.lists(
    st.tuples(st.sampled_from(["add", "remove", "extend"]), st.integers(0, 12), document), max_size=30
)


def naive(documents: dict[int, list[str]], query: list[str]) -> dict[int, float]:
    """BM25 as in the module's docstring, document by document."""
    n, total = len(documents), sum(map(len, documents.values()))
    idf = {}
    for term in set(query):
        df = sum(term in text for text in documents.values())
        idf[term] = math.log(1 + (n - df + 0.5) / (df + 0.5))
    found = {}
    for slot, text in documents.items():
        counts = Counter(text)
        parts = [
            idf[term] * counts[term] / (counts[term] + K1 * (1 - B + B * len(text) * n / total))
            for term in set(query)
            if term in counts
        ]
        if parts:
            found[slot] = sum(parts) / sum(idf.values())
    return found


def test_term_hashes_are_stable_for_any_text() -> None:
    assert hash_terms(["cat", "cat", "猫"]).tolist() == [2656977832, 2656977832, 2245964304]
    assert hash_terms(["\ud800"]).dtype == np.uint32
    assert len(hash_terms([])) == 0


@given(steps, document, st.integers(1, 6))
def test_scores_equal_naive_bm25(
    history: list[tuple[str, int, list[str]]], query: list[str], tail: int
) -> None:
    lexicon, documents = LexicalIndex(), dict[int, list[str]]()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lexical, "_MIN_TAIL_DOCUMENTS", tail)  # so that a few documents already cause merges
        for step, slot, text in history:
            if step == "remove":
                lexicon.remove(slot)
                documents.pop(slot, None)
            elif step == "add":
                lexicon.add(slot, hash_terms(text))
                documents[slot] = text
            else:
                more = {slot: text, slot + 1: text[:3], slot + 2: []}
                lexicon.extend(list(more), [hash_terms(some) for some in more.values()])
                documents |= more
    slots, scores = lexicon.scores(hash_terms(query))
    expected = naive(documents, query)
    assert len(lexicon) == len(documents)
    assert slots.tolist() == sorted(expected)
    assert scores == pytest.approx([expected[slot] for slot in sorted(expected)], rel=1e-5)
    assert ((scores > 0) & (scores < 1)).all()


def test_empty_index_after_removals_finds_nothing() -> None:
    lexicon = LexicalIndex()
    lexicon.extend(list(range(400)), [hash_terms(["cat"])] * 400)
    for slot in range(400):
        lexicon.remove(slot)
    assert lexicon.scores(hash_terms(["cat"]))[0].tolist() == []


def test_scores_of_given_slots_keep_their_order() -> None:
    lexicon = LexicalIndex()
    lexicon.extend([0, 1, 2], [hash_terms(text.split()) for text in ("a cat", "a dog", "a mat")])
    slots, scores = lexicon.scores(hash_terms(["dog"]), np.array([2, 1], np.int32))
    assert slots.tolist() == [2, 1]
    assert scores[0] == 0
    assert scores[1] > 0


def test_unknown_term_lowers_the_score() -> None:
    lexicon = LexicalIndex()
    lexicon.extend([0, 1], [hash_terms(["cat"]), hash_terms(["dog"])])
    _, known = lexicon.scores(hash_terms(["cat"]))
    _, half = lexicon.scores(hash_terms(["cat", "xylophone"]))
    assert half[0] < known[0] / 2


def test_extend_equals_repeated_add() -> None:
    random = np.random.default_rng(0)
    documents = [random.integers(0, 300, random.integers(0, 12)).astype(np.uint32) for _ in range(3000)]
    bulk, single = LexicalIndex(), LexicalIndex()
    bulk.extend(range(3000), documents)
    for slot, terms in enumerate(documents):
        single.add(slot, terms)
    for query in documents[:50]:
        slots, scores = bulk.scores(query)
        assert slots.tolist() == single.scores(query)[0].tolist()
        assert scores == pytest.approx(single.scores(query)[1], rel=1e-5)


def test_matching_slots_start_with_rare_terms() -> None:
    lexicon = LexicalIndex()
    lexicon.extend([0, 1, 2, 3], [hash_terms(text.split()) for text in ("a", "a", "a b", "a")])
    weighed = lexicon.score_all(hash_terms(["a", "b"]))
    assert weighed.matching_slots(enough=1).tolist() == [2]
    assert sorted(weighed.matching_slots().tolist()) == [0, 1, 2, 2, 3]


def test_unknown_optional_term_does_not_lower_the_score() -> None:
    lexicon = LexicalIndex()
    lexicon.add(0, hash_terms(["cat", "mat"]))
    lexicon.add(1, hash_terms(["dog", "mat"]))
    alone = lexicon.score_all(hash_terms(["cat"])).dense
    assert lexicon.score_all(hash_terms(["cat"]), hash_terms(["zebra"])).dense.tolist() == alone.tolist()
    both = lexicon.score_all(hash_terms(["cat"]), hash_terms(["dog", "zebra"])).dense
    assert both.tolist() == lexicon.score_all(hash_terms(["cat", "dog"])).dense.tolist()


@given(st.lists(document, max_size=10), st.lists(st.tuples(document, document), min_size=1, max_size=4))
def test_the_best_score_of_several_phrasings_is_that_of_the_best_one(
    texts: list[list[str]], phrasings: list[tuple[list[str], list[str]]]
) -> None:
    lexicon = LexicalIndex()
    for slot, text in enumerate(texts):
        lexicon.add(slot, hash_terms(text))
    variants = [
        QueryTerms(hash_terms(words), hash_terms(optional), weight=1 / number)
        for number, (words, optional) in enumerate(phrasings, start=1)
    ]
    alone = [
        lexicon.score_all(variant.terms, variant.optional_terms).dense * variant.weight
        for variant in variants
    ]
    assert lexicon.best_scores(variants) == pytest.approx(np.max(alone, axis=0), abs=1e-12)
