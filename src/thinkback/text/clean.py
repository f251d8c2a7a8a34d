"""What may enter the bank: text that every store, model and file can carry without loss or surprise."""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")
_NEWLINE = re.compile("\r\n|[\r\u0085\u2028\u2029]")


def clean(text: str) -> str:
    """NUL and lone surrogates -> U+FFFD, surrogate pairs joined, every kind of newline -> LF."""
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return _NEWLINE.sub("\n", text.replace("\x00", "\ufffd"))
