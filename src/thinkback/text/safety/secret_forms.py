"""Secrets known by their own form, whatever stands beside them: issued keys, checksums, high entropy."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date
from itertools import pairwise
from math import log2
from typing import NamedTuple

API_KEY, TOKEN, PRIVATE_KEY, PASSWORD = "api key", "token", "private key", "password"
PIN, CARD, ACCOUNT = "pin", "card number", "account number"
IDENTITY, SSN = "identity number", "social security number"
KINDS = (API_KEY, TOKEN, PRIVATE_KEY, PASSWORD, PIN, CARD, ACCOUNT, IDENTITY, SSN)

Found = tuple[int, int, str]  # start, end, kind


class _Form(NamedTuple):
    """Group 1, or all of it, is the value."""

    kind: str
    pattern: re.Pattern[str]
    accepts: Callable[[re.Match[str]], bool] = lambda found: True


def find(text: str) -> Iterator[Found]:
    """Every secret that needs no label, in no order."""
    yield from _key_blocks(text)
    for form in _FORMS:
        for found in form.pattern.finditer(text):
            if form.accepts(found):
                group = 1 if found.re.groups else 0
                yield found.start(group), found.end(group), form.kind


def varied(value: str) -> bool:
    """Drawn at random, not written: letters and digits change places often, and few come twice."""
    kinds = ["d" if c.isdigit() else "u" if c.isupper() else "l" if c.islower() else "s" for c in value]
    changes = sum(one != other for one, other in pairwise(kinds))
    bits = -sum(value.count(c) / len(value) * log2(value.count(c) / len(value)) for c in set(value))
    return "d" in kinds and {"u", "l"} & set(kinds) != set() and 4 * changes >= len(value) and bits >= 3


def _issued(found: re.Match[str]) -> bool:
    """`sk-xxxxxxxxxxxxxxxx` and a long name are no keys: one has digits or both cases."""
    value = found[0]
    return any(c.isdigit() for c in value) or (value[4:] != value[4:].lower() and value != value.upper())


def luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 * (value > 9)
    return total % 10 == 0


_NUMBER_OF = re.compile(  # a number that has a name of its own
    r"(?:order|tracking|invoice|reference|ref|ticket|booking|parcel|imei|serial|isbn|commit|sha|checksum"
    r"|md5|hash|build"
    r"|订单|运单|快递|单号|序列号|提交)[^.!?。！？\n]{0,20}\Z",
    re.I,
)
_PREFIXES = {13: "4", 14: "30|36|38|39", 15: "34|37", 16: "4|5|6|35|2[2-7]"}


def _named_otherwise(found: re.Match[str]) -> bool:
    return bool(_NUMBER_OF.search(found.string[max(0, found.start() - 40) : found.start()]))


def _card(found: re.Match[str]) -> bool:
    """Luhn and a prefix that is issued for this length; an IMEI, an ISBN and a timestamp have other ones."""
    digits = re.sub(r"\D", "", found[0])
    issued = _PREFIXES.get(len(digits), "4|5|6")
    return (
        len(set(digits)) > 1
        and re.match(issued, digits) is not None
        and luhn(digits)
        and not _named_otherwise(found)
    )


def _identity(found: re.Match[str]) -> bool:
    """GB 11643: a date of birth and a check character modulo 11."""
    number = found[0].upper()
    try:
        born = date(int(number[6:10]), int(number[10:12]), int(number[12:14]))
    except ValueError:
        return False
    weighed = sum(int(digit) * (2 ** (17 - place) % 11) for place, digit in enumerate(number[:17]))
    return 1900 <= born.year <= 2100 and "10X98765432"[weighed % 11] == number[17]


def _iban(found: re.Match[str]) -> bool:
    """ISO 13616: the country and check digits moved to the end, letters as numbers, modulo 97 is 1."""
    account = re.sub(r"\s", "", found[0]).upper()
    moved = account[4:] + account[:4]
    return 15 <= len(account) <= 34 and int("".join(str(int(c, 36)) for c in moved)) % 97 == 1


_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.I)


def _random(found: re.Match[str]) -> bool:
    value = found[0].rstrip("=")
    in_address = re.search(
        r"(?:https?://|www\.)\S{0,200}\Z", found.string[max(0, found.start() - 210) : found.start()]
    )
    return not (in_address or _UUID.match(value)) and varied(value) and not _named_otherwise(found)


_OPEN = r"(?<![A-Za-z0-9_-])"
_FORMS = (
    _Form(
        API_KEY,
        re.compile(
            rf"{_OPEN}(?:sk-[A-Za-z0-9_-]{{16,}}|[srp]k_(?:live|test)_[A-Za-z0-9_-]{{10,}}"
            rf"|gh[pousr]_[A-Za-z0-9_-]{{16,}}"
            r"|github_pat_[A-Za-z0-9_-]{20,}|glpat-[A-Za-z0-9_-]{16,}|(?:AKIA"
            r"|ASIA)[0-9A-Z]{16}(?![A-Za-z0-9_-])"
            r"|AIza[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9_-]{30,}|pypi-[A-Za-z0-9_-]{40,}"
            r"|dop_v1_[A-Za-z0-9_-]{30,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|AC[0-9a-f]{32})"
        ),
        _issued,
    ),
    _Form(TOKEN, re.compile(rf"{_OPEN}xox[abeoprs]-[A-Za-z0-9_-]{{10,}}")),
    _Form(TOKEN, re.compile(r"(?<![\w.-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{0,})?")),
    _Form(PASSWORD, re.compile(r"://[^\s/:@]{0,64}:([^\s/@]{1,128})@")),
    _Form(CARD, re.compile(r"(?<![\d+.])\d{4}(?: \d{4}){3}(?: \d{1,3})?(?! ?\d)"), _card),
    _Form(CARD, re.compile(r"(?<![\d+.])\d{4}(?:-\d{4}){3}(?:-\d{1,3})?(?!-?\d)"), _card),
    _Form(CARD, re.compile(r"(?<![\d+.])\d{4}(?: \d{6} |-\d{6}-)\d{4,5}(?!\d)"), _card),
    _Form(CARD, re.compile(r"(?<![\w+.-])\d{13,19}(?![A-Za-z\d])", re.A), _card),
    _Form(IDENTITY, re.compile(r"(?<![A-Za-z\d])[1-9]\d{16}[\dXx](?![A-Za-z\d])"), _identity),
    _Form(SSN, re.compile(r"(?<![\w-])(?!000|666|9\d\d)\d{3}-(?!00)\d\d-(?!0000)\d{4}(?![\w-])", re.A)),
    _Form(
        ACCOUNT,
        re.compile(r"(?<![A-Za-z\d])[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){3,7}(?: ?[A-Z\d]{1,3})?(?![A-Za-z\d])"),
        _iban,
    ),
    _Form(
        TOKEN,
        re.compile(r"(?<![A-Za-z0-9_+/=.@-])[A-Za-z0-9_+/-]{20,400}={0,2}(?![A-Za-z0-9_+/=@-])"),
        _random,
    ),
)
_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")


def _key_blocks(text: str) -> Iterator[Found]:
    """From BEGIN to END; a block without an end is one to the end of the text."""
    at = 0
    while "-----BEGIN" in text and (begin := _BEGIN.search(text, at)):
        end = _END.search(text, begin.end())
        at = end.end() if end else len(text)
        yield begin.start(), at, PRIVATE_KEY
