"""A query -> the phrases in it that name somebody in steps (`chain`), in English and in Chinese."""

from __future__ import annotations

from thinkback.text.people.chain import Chain, Known
from thinkback.text.people.chains_chinese import chinese_chains
from thinkback.text.people.chains_english import english_chains
from thinkback.text.scripts import has_han

_LONGEST = 300  # characters: a longer text is no question after one thing


def chains(text: str, known: Known) -> list[Chain]:
    """The phrases of a query that may name somebody; `known` tells which words, case-folded, are names."""
    query = text[:_LONGEST]
    return chinese_chains(query, known) if has_han(query) else english_chains(query, known)
