"""The same question in other words: the data set's own where it has them, else in a frame that adds nothing.

A frame keeps every word of the question, so that whatever changes in what comes back is the memory's doing.
"""

from __future__ import annotations

from itertools import islice

from thinkback_lab.cases import Question
from thinkback_lab.prompts import language

_FRAMES = {
    "en": (
        "Can you tell me: {}",
        "{} Do you remember?",
        "I would like to know: {}",
        "{} Please tell me.",
        "Once more, please: {}",
    ),
    "zh": ("请问：{}", "{}你还记得吗？", "我想知道：{}", "{}请告诉我。", "再问一次：{}"),
}
MOST = 1 + len(_FRAMES["en"])


def wordings(question: Question, lang: str, n: int) -> tuple[str, ...]:
    """`n` different ones, the question as it stands first; there are frames for at least MOST of them."""
    ended = _ended(question.text, language(lang))
    framed = (frame.format(ended) for frame in _FRAMES[language(lang)])
    different = dict.fromkeys((question.text, *question.again, *framed))
    return tuple(islice(different, n))


def _ended(text: str, lang: str) -> str:
    """With a mark at its end, so that what follows is a sentence of its own."""
    bare = text.strip()
    return bare + ("？" if lang == "zh" else "?") if bare[-1:].isalnum() else bare
