"""Words that a model must not say (TiM 001, Eq. 9), as the token biases that servers understand.

A server masks tokens, not words, and its tokenizer is its own secret: llama.cpp takes the words themselves,
any other server has to tell the tokens first. A word of several tokens is masked by its first, which is the
least that keeps it from being said; what a server cannot mask the check catches in the next draft.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

NEVER = -100
"""The bias that OpenAI's API defines as a ban."""


def forms(words: Sequence[str]) -> list[str]:
    """Each word as it may stand in a text: after a blank or not, small or capitalised."""
    spelt = [form for word in words for form in (word, word.lower(), word.capitalize())]
    return list(dict.fromkeys(form for word in spelt for form in (f" {word}", word)))


def bias(words: Sequence[str], tokens: Callable[[str], Sequence[int]]) -> dict[str, int]:
    """OpenAI's `logit_bias` for these words; `tokens` is the server's tokenizer."""
    blank = set(tokens(" "))  # some tokenizers write the blank before a word as a token of its own
    firsts = [[token for token in tokens(form) if token not in blank][:1] for form in forms(words)]
    return {str(token): NEVER for first in firsts for token in first}
