"""Parts of a model request: valid Unicode text, chat messages as dicts, and token biases for forbidden words."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from thinkback.errors import InvalidInput
from thinkback.types import Message

if TYPE_CHECKING:
    pass


def to_valid_unicode(text: str) -> str:
    """The text as valid Unicode: a surrogate pair becomes its character, a lone surrogate U+FFFD."""
    if not any("\ud800" <= char <= "\udfff" for char in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def to_message_dicts(messages: Sequence[Message]) -> list[dict[str, str]]:
    if not messages:
        raise InvalidInput("A language model was asked without a message. Give it at least one.")
    return [{"role": message.role, "content": to_valid_unicode(message.content)} for message in messages]


BANNED_TOKEN_BIAS = -100
"""The bias that OpenAI's API defines as a ban."""


def spelling_variants(words: Sequence[str]) -> list[str]:
    """Each word as it may stand in a text: after a blank or not, small or capitalised."""
    spelt = [form for word in words for form in (word, word.lower(), word.capitalize())]
    return list(dict.fromkeys(form for word in spelt for form in (f" {word}", word)))


def build_logit_bias(words: Sequence[str], tokenize: Callable[[str], Sequence[int]]) -> dict[str, int]:
    """OpenAI's `logit_bias` for these words; `tokens` is the server's tokenizer."""
    blank = set(tokenize(" "))  # some tokenizers write the blank before a word as a token of its own
    firsts = [
        [token for token in tokenize(form) if token not in blank][:1] for form in spelling_variants(words)
    ]
    return {str(token): BANNED_TOKEN_BIAS for first in firsts for token in first}
