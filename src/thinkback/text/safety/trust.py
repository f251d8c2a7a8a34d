"""What may be kept but never recalled (design, decision 8): orders to the assistant, and secrets.

Found without a model, in linear time, with high precision; `instructions.py` says where the line is
between an order and a preference, `credentials.py` how a secret is known.
"""

from __future__ import annotations

import re

from thinkback.text.memo import by_digest
from thinkback.text.safety import credentials
from thinkback.text.safety import instructions as orders
from thinkback.text.safety.folding import Span, fold, union
from thinkback.text.safety.glance import Glance, glance

_MARKS = (f"quarantined {orders.INSTRUCTION}", *(f"redacted {kind}" for kind in credentials.KINDS))
MARK = re.compile(rf"\[(?:{'|'.join(_MARKS)})\]")
"""What stands in the place of a quarantined span."""

_PASSES = 8  # taking one span away may bring another to light; a text that goes on so is taken whole
_SHORTEST_ECHO = 4


def instructions(text: str) -> tuple[Span, ...]:
    """Where the text gives orders to the assistant."""
    return _found(text, glance(text)._replace(secrets=False))


def secrets(text: str) -> tuple[Span, ...]:
    """Where the text holds a secret, and of which kind."""
    return _found(text, glance(text)._replace(orders=False))


@by_digest(8192)
def quarantined(text: str) -> tuple[Span, ...]:
    """Both; a secret inside an order is part of the order."""
    return _found(text, glance(text))


def _found(text: str, look_for: Glance) -> tuple[Span, ...]:
    if not (look_for.orders or look_for.secrets):
        return ()
    folded = fold(text, MARK)
    return union(
        [
            *(orders.find(folded) if look_for.orders else ()),
            *(credentials.find(folded) if look_for.secrets else ()),
        ]
    )


def redact(text: str, *, only_secrets: bool = False) -> str:
    """The text with a mark for every quarantined span; nothing is found in what is returned."""
    find = secrets if only_secrets else quarantined
    for _ in range(_PASSES):
        spans = find(text)
        if not spans:
            return text
        text = _marked(text, spans)
    return mark(orders.INSTRUCTION) if find(text) else text


def mark(kind: str) -> str:
    return f"[quarantined {kind}]" if kind == orders.INSTRUCTION else f"[redacted {kind}]"


def values(text: str) -> dict[str, str]:
    """The secrets of a text as they were written, each with its kind: to find them again elsewhere."""
    return {text[span.start : span.end]: span.kind for span in secrets(text)}


def without(text: str, known: dict[str, str]) -> str:
    """The text with a mark wherever it repeats one of these secrets, label or not."""
    for value in sorted(known, key=len, reverse=True):
        if len(value) >= _SHORTEST_ECHO and value in text:
            text = re.sub(rf"(?<![^\W_]){re.escape(value)}(?![^\W_])", mark(known[value]), text, flags=re.A)
    return text


def says_nothing_else(text: str) -> bool:
    """Whether a redacted text holds no word besides its marks."""
    return bool(MARK.search(text)) and not re.search(r"\w", MARK.sub("", text))


def _marked(text: str, spans: tuple[Span, ...]) -> str:
    parts: list[str] = []
    at = 0
    for span in spans:
        parts += (text[at : span.start], mark(span.kind))
        at = span.end
    return "".join((*parts, text[at:]))
