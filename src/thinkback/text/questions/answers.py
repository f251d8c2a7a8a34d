"""Whether a text could hold what a question asks for, by its form: a time, a number, a name, a reason.

"When did Tom leave?" is answered by a text with a time in it, "How many came?" by one with a number. It says
nothing of the matter, so it can only choose between texts that are on it.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from thinkback.text.memo import by_digest
from thinkback.text.questions.question_type import question_type

Holds = Callable[[str], bool]

_OPENING = 2000  # characters of a text that are looked at
_ASKS_NAME = re.compile(
    r"\b(?:names?|called|titles?|titled)\b|叫什么|叫啥|名字|什么名|哪[一几]?[本部首]|书名|片名|歌名",
    re.IGNORECASE,
)
_NAME = re.compile(
    '[“"「『《][^”"」』》]{2,60}[”"」』》]|\\b(?:called|named|titled|known as)\\s|名叫|叫[做作]?|名为|昵称',
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(?:(?:19|20)\d\d|\d{1,2}:\d\d|\d{1,2} ?(?:am|pm)|yesterday|today|tonight|tomorrow|ago"
    r"|(?:last|next|this|that|the other|every) (?:\w+ )?(?:day|night|week|weekend|month|year|morning|evening"
    r"|spring|summer|autumn|fall|winter|\w+day)|(?:mon|tues|wednes|thurs|fri|satur|sun)days?"
    r"|january|february|march|april|june|july|august|september|october|november|december"
    r"|(?:in|since|until|by|for) (?:a few|two|three|\d+) (?:day|week|month|year)s?)\b"
    "|[昨今明前后]天|[去今明前]年|上个?[周月]|下个?[周月]|星期|周[一二三四五六日末]|\\d{1,2}月|\\d{1,2}[日号点]|年|[早晚]上|生日",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred"
    r"|thousand|million|dozen|couple|half|once|twice|several)\b|[两二三四五六七八九十百千万半][\u4e00-\u9fff]",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|since|due to|so that|in order to|as a result|thanks to|that's why|reason)\b"
    "|因为|由于|所以|为了|于是|原因|因此",
    re.IGNORECASE,
)
_FORMS = {"when": _TIME, "how_many": _NUMBER, "why": _REASON}


def answers(question: str) -> Holds | None:
    """A test of texts, or None where the question's form says nothing about the answer's."""
    form = _FORMS.get(question_type(question))
    if form is None:
        return _holds_name if _ASKS_NAME.search(question) else None
    return _TESTS[form]


def _test(form: re.Pattern[str]) -> Holds:
    return by_digest(2048)(lambda text: form.search(text[:_OPENING]) is not None)


_holds_name = _test(_NAME)
_TESTS = {form: _test(form) for form in _FORMS.values()}
