"""Secrets in running text, found without a model: keys, tokens, passwords, PINs, card and identity numbers.

A span covers the value alone, so "my password is ..." stays readable. Three ways to know one: by its own
form (`sk-...`, a JWT, a key block), by arithmetic (Luhn, the checksum of a Chinese identity number), or by
the label before it. A label alone is not enough: what follows must look like a value, or "my password is
too weak" were one. Every quantifier is bounded or runs over characters that cannot begin a match again,
so the time is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date
from typing import NamedTuple

from thinkback.text.folding import OPAQUE, Folded, Span

API_KEY, TOKEN, PRIVATE_KEY, PASSWORD = "api key", "token", "private key", "password"
PIN, CARD, IDENTITY, SSN = "pin", "card number", "identity number", "social security number"
KINDS = (API_KEY, TOKEN, PRIVATE_KEY, PASSWORD, PIN, CARD, IDENTITY, SSN)

_KEY = r"(?<![A-Za-z0-9_-])"
_IS = r"(?:\s{0,3}(?:[:=：＝]|->|→)\s{0,3}|\s{1,3}(?:is|was|are|will\s{1,3}be|to|equals)\s{0,2}:?\s{1,3})"
_OF = r"(?:\s{1,3}(?:for|to|of|on|at|in)(?:\s{1,3}[\w'.@/-]{1,30}){1,5}?|\s{0,2}\([^()\n]{1,40}\))?"
_VALUE = rf"[\"'`“「]?([^\s\"'`“”「」，。；、！？（）{OPAQUE}]{{3,200}})"
_BE_ZH = (
    r"\s{0,3}(?:[:：=＝]|(?:已经|刚刚?|被|我)?(?:改|设|换|设置|更新|修改)(?:成|为|成了)了?|就?是|为"
    r"|叫)?[:：]?\s{0,3}"
)


class _Rule(NamedTuple):
    """`triggers`: none in the lower-cased text, no match. Group 1, or all of it, is the value."""

    kind: str
    triggers: tuple[str, ...]
    pattern: re.Pattern[str]
    accepts: Callable[[re.Match[str]], bool] = lambda found: True


def _varied(found: re.Match[str]) -> bool:
    """A generated key has digits or both cases; `sk-xxxxxxxxxxxxxxxx` and a long name have neither."""
    value = found[0]
    return any(c.isdigit() for c in value) or (value[4:] != value[4:].lower() and value != value.upper())


_PLAIN = frozenset(  # what a password is said to be, rather than is
    """a an the not no too so very in on at to for of by my your his her our their same this that it its
    weak strong wrong right correct incorrect invalid valid safe unsafe secure insecure secret public private
    long short simple easy hard difficult complex unique different old new unknown missing empty blank gone
    required optional needed necessary mandatory important default case never always still just only also
    already somewhere stored kept lost stolen full good bad great fine ok okay okay-ish terrible awful
    something someone anything nothing what which where when why how who like about under inside behind below
    above hidden temporary personal shared sensitive impossible possible password passwords out up here there
    being been be have has had all any some one two both me you us them him enough broken dead set hell
    ridiculous annoying silly stupid dumb funny back done due then and or but if as is was are""".split()  # noqa: SIM905
)


def _credential(value: str) -> bool:
    """No ordinary word: a digit, a sign within, or capitals within; and no date, size or placeholder."""
    if len(set(value)) < 2 and not value.isdigit():
        return False
    if re.fullmatch(r"(?:19|20)\d\d[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,3}%?", value):
        return False
    return (
        any(c.isdigit() for c in value)
        or value[1:] != value[1:].lower()
        or bool(re.search(r"[^\w'-]", value))
    )


def _password(found: re.Match[str]) -> bool:
    """`hunter2` is one by its look; `swordfish` because the clause ends there and it describes nothing."""
    value = found[1].rstrip(_ENDS)
    if len(value) < 3:
        return False
    quoted = found[0][: -len(found[1])][-1:] in set("\"'`“「")
    if quoted or _credential(value):
        return value.lower() not in _PLAIN
    word = value.lower()
    if word in _PLAIN or word.endswith(("ed", "ing", "ly", "n't", "'s", "able", "ible")):
        return False
    after = found.string[found.start(1) + len(value) : found.end(1) + 5]
    return (
        len(value) > 3
        and word.isascii()
        and bool(re.match(r"[.,;!?\n，。；！？]|\s*\Z|\s(?:and|but)\b", after))
    )


def _direct(found: re.Match[str]) -> bool:
    """After a label with no "is": long enough, and with a digit."""
    value = found[1].rstrip(_ENDS)
    return len(value) >= 6 and any(c.isdigit() for c in value) and _credential(value)


def _key(found: re.Match[str]) -> bool:
    value = found[1].rstrip(_ENDS)
    return len(value) >= 10 and any(c.isdigit() for c in value) and any(c.isalpha() for c in value)


def _chinese(found: re.Match[str]) -> bool:
    value = found[1].rstrip(_ENDS)
    return len(value) >= 4 and (
        _credential(value) or bool(re.search(r"[:：=是为叫成]\s*\Z", found[0][: -len(found[1])]))
    )


def _digits(text: str) -> str:
    return re.sub(r"\D", "", text)


def _luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 * (value > 9)
    return total % 10 == 0


_ISSUED = {13: "4", 14: "30|36|38|39", 15: "34|37", 16: "4|5|6|35|2[2-7]"}


def _card(found: re.Match[str]) -> bool:
    """Luhn and a prefix that is issued for this length; an IMEI, an ISBN and a timestamp have other ones."""
    digits = _digits(found[0])
    issued = _ISSUED.get(len(digits), "4|5|6")
    return (
        len(set(digits)) > 1
        and bool(re.match(issued, digits))
        and _luhn(digits)
        and not _ORDER.search(found.string[max(0, found.start() - 40) : found.start()])
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


_ORDER = re.compile(
    r"(?:order|tracking|invoice|reference|ref|ticket|booking|parcel|imei|serial|isbn|订单|运单|快递|单号"
    r"|序列号)"
    r"[^.!?。！？\n]{0,20}\Z",
    re.I,
)
_ENDS = ".,;:!?)]}>\"'`，。；：！？）"
_PASS = (
    r"\b(?:pass[\s_-]?words?|passwd|passcode|passphrase|pwd|login\s{1,2}pw)"
    rf"{_OF}"
)
_CODE = (
    r"\b(?:(?<!postal )(?<!area )(?<!zip )pin(?:\s?(?:code|number|no\.?))?|passcode|cvv2?|cvc2?|otp"
    r"|2fa(?:\s{1,2}code)?"
    r"|(?:verification|security|one[-\s]time|door|gate|alarm|access|entry|safe|unlock|auth(?:entication)?"
    r"|login|backup)"
    r"\s{1,2}(?:code|pin|combination))"
)
_RULES = (
    _Rule(
        API_KEY,
        (
            "sk-",
            "sk_",
            "rk_",
            "pk_live",
            "ghp_",
            "gho_",
            "ghu_",
            "ghs_",
            "ghr_",
            "github_pat_",
            "glpat-",
            "akia",
            "asia",
            "aiza",
            "hf_",
            "npm_",
            "pypi-",
            "dop_v1",
        ),
        re.compile(
            rf"{_KEY}(?:sk-[A-Za-z0-9_-]{{16,}}|[srp]k_(?:live|test)_[A-Za-z0-9_-]{{10,}}"
            rf"|gh[pousr]_[A-Za-z0-9_-]{{16,}}"
            r"|github_pat_[A-Za-z0-9_-]{20,}|glpat-[A-Za-z0-9_-]{16,}|(?:AKIA"
            r"|ASIA)[0-9A-Z]{16}(?![A-Za-z0-9_-])"
            r"|AIza[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9_-]{30,}|pypi-[A-Za-z0-9_-]{40,}"
            r"|dop_v1_[A-Za-z0-9_-]{30,})"
        ),
        _varied,
    ),
    _Rule(TOKEN, ("xox",), re.compile(rf"{_KEY}xox[abeoprs]-[A-Za-z0-9_-]{{10,}}")),
    _Rule(
        TOKEN,
        ("eyj",),
        re.compile(r"(?<![\w.-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{0,})?"),
    ),
    _Rule(TOKEN, ("bearer",), re.compile(r"\bbearer\s{1,3}([A-Za-z0-9._~+/=-]{16,})", re.I), _key),
    _Rule(PASSWORD, ("://",), re.compile(r"://[^\s/:@]{1,64}:([^\s/@]{1,128})@")),
    _Rule(PASSWORD, ("pass", "pwd", "login"), re.compile(rf"{_PASS}{_IS}{_VALUE}", re.I), _password),
    _Rule(PASSWORD, ("pass", "pwd", "login"), re.compile(rf"{_PASS}\s{{1,3}}{_VALUE}", re.I), _direct),
    _Rule(
        PASSWORD,
        ("phrase", "mnemonic", "助记词"),
        re.compile(
            r"(?:\bpassphrase|\b(?:seed|recovery|backup|mnemonic)\s{1,2}(?:phrase|words)|助记词)"
            rf"(?:{_IS}|{_BE_ZH})[\"'“]?((?:[a-z]{{3,12}}[\s,]{{1,3}}){{3,23}}[a-z]{{3,12}})",
            re.I,
        ),
        lambda found: found[1].lower().split()[0] not in _PLAIN,
    ),
    _Rule(
        PASSWORD,
        ("is my", "是我"),
        re.compile(
            r"(?<![^\s\"'“「，。；：:,])([!-~]{5,64})(?:\s{1,3}is\s{1,3}my\s{1,3}(?:[\w'-]{1,20}\s{1,3}){0,2}(?:password"
            r"|passcode|pwd)\b"
            r"|\s{0,2}是我的?[\u4e00-\u9fff]{0,6}密码)",
            re.I,
        ),
        lambda found: _credential(found[1].strip(_ENDS)),
    ),
    _Rule(
        PASSWORD,
        ("密码", "口令", "密钥", "秘钥", "令牌", "私钥", "密碼"),
        re.compile(
            rf"(?:密码|密碼|口令|密钥|秘钥|令牌"
            rf"|私钥){_BE_ZH}[\"'“「]?([!-~]{{4,200}})(?![年月日位个次元岁块号])"
        ),
        _chinese,
    ),
    _Rule(
        API_KEY,
        ("key", "token", "secret", "credential"),
        re.compile(
            rf"(?:key|token|secret|credentials?)(?:_[A-Z_]{{1,20}})?{_OF}(?:{_IS}|\s{{0,3}}(?:就?是"
            rf"|为)\s{{0,3}}){_VALUE}",
            re.I,
        ),
        _key,
    ),
    _Rule(
        PIN,
        ("pin", "cvv", "cvc", "otp", "code", "combination", "passcode", "2fa"),
        re.compile(
            rf"{_CODE}{_OF}(?:{_IS}|\s{{1,3}}|\s{{0,2}}(?:就?是"
            rf"|为)\s{{0,2}})[\"'“]?(\d{{3,10}})(?![\d.%:/-]*\d)(?!\s?%)",
            re.I,
        ),
        lambda found: len(found[1]) >= 4 or bool(re.match("cv", found[0], re.I)),
    ),
    _Rule(
        PIN,
        ("验证码", "安全码", "pin码", "门禁", "动态码", "cvv"),
        re.compile(
            rf"(?:验证码|安全码|pin码|动态码|门禁码|门禁密码"
            rf"|cvv2?){_BE_ZH}[\"'“]?(\d{{3,10}})(?![\d年月日位个次元岁块])",
            re.I,
        ),
    ),
    _Rule(
        CARD,
        ("card", "卡", "账号", "帐号"),
        re.compile(
            r"(?:\b(?:card|visa|mastercard|amex)(?:\s{1,2}(?:number|no\.?|#))?|卡号?|账号"
            r"|帐号)(?:\s{0,2}[:：=]|\s{1,2}is|就?是|为)?\s{0,3}"
            r"[\"'“]?(\d(?:[ -]?\d){11,18})(?![ -]?\d)",
            re.I,
        ),
    ),
    _Rule(CARD, (), re.compile(r"(?<![\d+.])\d{4}([ -])\d{4}\1\d{4}\1\d{4}\1\d{1,3}(?!\d)"), _card),
    _Rule(CARD, (), re.compile(r"(?<![\d+.])\d{4}([ -])\d{4}\1\d{4}\1\d{4}(?!\d)"), _card),
    _Rule(CARD, (), re.compile(r"(?<![\d+.])\d{4}([ -])\d{6}\1\d{4,5}(?!\d)"), _card),
    _Rule(CARD, (), re.compile(r"(?<![\w+.-])\d{13,19}(?![A-Za-z\d])", re.A), _card),
    _Rule(IDENTITY, (), re.compile(r"(?<![A-Za-z\d])[1-9]\d{16}[\dXx](?![A-Za-z\d])"), _identity),
    _Rule(
        SSN,
        (),
        re.compile(r"(?<![\w-])(?!000|666|9\d\d)\d{3}-(?!00)\d\d-(?!0000)\d{4}(?![\w-])", re.A),
    ),
    _Rule(
        SSN,
        ("ssn", "social security"),
        re.compile(
            rf"\b(?:ssn|social\s{{1,2}}security(?:\s{{1,2}}(?:number"
            rf"|no\.?))?){_IS}(\d{{3}}[ -]?\d\d[ -]?\d{{4}})(?!\d)",
            re.I,
        ),
    ),
)
_TRIGGERS = tuple(dict.fromkeys(trigger for rule in _RULES for trigger in rule.triggers))
_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_DIGITS = re.compile(r"\d{4}|\d{3}-\d\d-")


def find(folded: Folded) -> Iterator[Span]:
    """Every secret, in no order; they may overlap."""
    text = folded.text
    lower = text.lower()
    yield from _key_blocks(folded)
    present = {trigger for trigger in _TRIGGERS if trigger in lower}
    numbers = _DIGITS.search(text) is not None
    for rule in _RULES if present or numbers else ():
        if present.isdisjoint(rule.triggers) if rule.triggers else not numbers:
            continue
        for found in rule.pattern.finditer(text):
            if rule.accepts(found):
                group = 1 if found.re.groups and rule.triggers else 0  # else a group is a separator
                start, value = found.start(group), found[group].rstrip(_ENDS)
                if value and OPAQUE not in value:
                    yield folded.span(start, start + len(value), rule.kind)


def _key_blocks(folded: Folded) -> Iterator[Span]:
    """From BEGIN to END; a block without an end is one to the end of the text."""
    at = 0
    while "-----BEGIN" in folded.text and (begin := _BEGIN.search(folded.text, at)):
        end = _END.search(folded.text, begin.end())
        at = end.end() if end else len(folded.text)
        yield folded.span(begin.start(), at, PRIVATE_KEY)
