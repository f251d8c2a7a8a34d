"""Numbers in words, English and Chinese, up to 9,999: for dates, ages and amounts."""

from __future__ import annotations

from thinkback.errors import InvalidInput

_ONES = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_EN = [*_ONES.split(), "sixteen", "seventeen", "eighteen", "nineteen"]
_EN_TENS = _TENS.split()
_EN_WORDS = {word: value for value, word in enumerate(_EN)} | {"a": 1, "an": 1, "a couple of": 2, "couple": 2}
_EN_WORDS |= {word: 10 * (value + 2) for value, word in enumerate(_EN_TENS)}

NUMBER_EN = (
    r"(?:\d{1,4}|an?(?: couple of)?|(?:" + "|".join(_EN_TENS) + r")(?:[- ](?:" + "|".join(_EN[1:10]) + r"))?"
    r"|" + "|".join(sorted(_EN, key=len, reverse=True)) + ")"
)
NUMBER_ZH = "(?:\\d{1,4}|[一二两三四五六七八九十百千零〇]{1,7})"

_ZH_DIGITS = {
    "零": 0,
    "〇": 0,
    "一": 1,
    "二": 2,
    "两": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
}
_ZH_UNITS = {"十": 10, "百": 100, "千": 1000}


def english_number(words: str) -> int:
    """The value of what NUMBER_EN matched."""
    text = words.lower()
    if text.isdigit():
        return int(text)
    if text in _EN_WORDS:
        return _EN_WORDS[text]
    tens, _, ones = text.replace("-", " ").partition(" ")
    if tens in _EN_TENS and ones in _EN_WORDS:
        return _EN_WORDS[tens] + _EN_WORDS[ones]
    raise InvalidInput(f"{words!r} is no number word")


def number(words: str) -> int:
    """The value of what NUMBER_ZH matched: digits, 三, 十二, 一百零五, or 二〇一九."""
    if words.isdecimal():
        return int(words)
    if not any(unit in words for unit in _ZH_UNITS):
        return int("".join(str(_ZH_DIGITS[c]) for c in words))
    total, digit = 0, 0
    for character in words:
        if character in _ZH_UNITS:
            total += (digit or 1) * _ZH_UNITS[character]
            digit = 0
        else:
            digit = _ZH_DIGITS[character]
    return total + digit
