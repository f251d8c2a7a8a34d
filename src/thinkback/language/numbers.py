"""Numbers in words, English and Chinese, up to 9,999: for dates, ages and amounts."""

from __future__ import annotations

from thinkback.errors import InvalidInput

_ONES_WORDS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
_TENS_WORDS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ONES_EN = [*_ONES_WORDS.split(), "sixteen", "seventeen", "eighteen", "nineteen"]
_TENS_EN = _TENS_WORDS.split()
_VALUES_EN = {word: value for value, word in enumerate(_ONES_EN)} | {
    "a": 1,
    "an": 1,
    "a couple of": 2,
    "couple": 2,
}
_VALUES_EN |= {word: 10 * (value + 2) for value, word in enumerate(_TENS_EN)}

NUMBER_PATTERN_EN = (
    r"(?:\d{1,4}|an?(?: couple of)?|(?:"
    + "|".join(_TENS_EN)
    + r")(?:[- ](?:"
    + "|".join(_ONES_EN[1:10])
    + r"))?"
    r"|" + "|".join(sorted(_ONES_EN, key=len, reverse=True)) + ")"
)
NUMBER_PATTERN_ZH = "(?:\\d{1,4}|[一二两三四五六七八九十百千零〇]{1,7})"

_DIGITS_ZH = {
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
_UNITS_ZH = {"十": 10, "百": 100, "千": 1000}


def parse_english_number(words: str) -> int:
    """The value of what NUMBER_EN matched."""
    text = words.lower()
    if text.isdigit():
        return int(text)
    if text in _VALUES_EN:
        return _VALUES_EN[text]
    tens, _, ones = text.replace("-", " ").partition(" ")
    if tens in _TENS_EN and ones in _VALUES_EN:
        return _VALUES_EN[tens] + _VALUES_EN[ones]
    raise InvalidInput(f"{words!r} is no number word")


def parse_chinese_number(words: str) -> int:
    """The value of what NUMBER_ZH matched: digits, 三, 十二, 一百零五, or 二〇一九."""
    if words.isdecimal():
        return int(words)
    if not any(unit in words for unit in _UNITS_ZH):
        return int("".join(str(_DIGITS_ZH[c]) for c in words))
    total, digit = 0, 0
    for character in words:
        if character in _UNITS_ZH:
            total += (digit or 1) * _UNITS_ZH[character]
            digit = 0
        else:
            digit = _DIGITS_ZH[character]
    return total + digit
