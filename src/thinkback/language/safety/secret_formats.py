"""Secrets that are recognised by their format alone: keys, card and identity numbers, recovery phrases."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date
from functools import cache
from importlib.resources import files
from itertools import pairwise
from math import log2
from typing import NamedTuple

from thinkback.language.safety.secret_kinds import (
    ACCOUNT,
    API_KEY,
    CARD,
    IDENTITY,
    PASSWORD,
    PHRASE_KIND,
    PIN,
    PRIVATE_KEY,
    SSN,
    TOKEN,
    SecretMatch,
)
from thinkback.language.safety.secret_labels import ORDINARY_VALUE, OTHER_LABEL_WORDS, PLACEHOLDER


class _SecretFormat(NamedTuple):
    """A format of one kind of secret; the value is group 1, or the whole match if there is no group."""

    kind: str
    pattern: re.Pattern[str]
    accepts: Callable[[re.Match[str]], bool] = lambda found: True


def find_unlabelled_secrets(text: str) -> Iterator[SecretMatch]:
    """Find secrets that are recognised by their format alone, in no particular order."""
    yield from find_key_blocks(text)
    yield from _find_mnemonics(text)
    yield from _find_han_mnemonics(text)
    yield from _find_recovery_codes(text)
    for form in _SECRET_FORMATS:
        for found in form.pattern.finditer(text):
            if form.accepts(found):
                group = found.lastindex or 0
                yield found.start(group), found.end(group), form.kind


def looks_random(value: str) -> bool:
    """Whether a value looks randomly generated: letters and digits alternate, and few characters repeat."""
    kinds = ["d" if c.isdigit() else "u" if c.isupper() else "l" if c.islower() else "s" for c in value]
    changes = sum(one != other for one, other in pairwise(kinds))
    bits = -sum(value.count(c) / len(value) * log2(value.count(c) / len(value)) for c in set(value))
    return "d" in kinds and {"u", "l"} & set(kinds) != set() and 4 * changes >= len(value) and bits >= 3


def _looks_issued(found: re.Match[str]) -> bool:
    """Whether a key has digits or mixed case, unlike `sk-xxxxxxxxxxxxxxxx` and long identifiers."""
    value = found[0]
    return any(c.isdigit() for c in value) or (value[4:] != value[4:].lower() and value != value.upper())


def passes_luhn(digits: str) -> bool:
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 * (value > 9)
    return total % 10 == 0


_OTHER_NUMBER_LABEL = re.compile(  # order numbers, hashes and the like
    r"(?:(?<![A-Za-z])(?:(?<!in )order|tracking|invoice|reference|ref|ticket|booking"
    r"|parcel(?! (?:locker|box))|imei|serial|isbn|commit|sha(?:-?\d{1,3})?|checksum|md5|hash(?! key)"
    r"|build)s?(?![A-Za-z])"
    r"|订单|运单|快递(?!柜)|单号|序列号|提交)[^.!?。！？\n]{0,20}\Z",
    re.I,
)
_NUMBERED_THING = re.compile(  # directly before its number, or with "is" between them
    r"(?:\b(?:post(?:al )?codes?|zip(?: codes?)?|extension|ext\.?|plz|postleitzahl|code postal|durchwahl"
    r"|poste|(?:artikel|bestell|kunden|auftrags)nummer|error(?: code)?|(?:high)?score|voucher|coupon"
    rf"|(?:{OTHER_LABEL_WORDS})[ -]codes?|user ?name|nick ?name|handle|gamertag|benutzername"
    r"|pseudo)|邮编|邮政编码|分机号?|区号|电话|报错|优惠码|网名|昵称|游戏名)"
    r"(?:\s(?:on|in|at|for|vom|von|sur|de)(?:\s[\w']{1,15}){1,3}?)?"
    r"(?:\s?(?:is|was|ist|war|est|changed to|[是为转:：]))?\s{0,2}\Z",
    re.I,
)
_PHONE_LABEL = re.compile(
    r"(?:\b(?:phone|mobile|cell|contact|whatsapp|tele(?:phone|fon)|handy|fax|my|our|his|her|their|new)"
    r"(?: new)?[ -]?(?:number|no\.?|nummer)|\b(?:tel|fax|whatsapp|num[ée]ro(?: de \w+)?|call|ring|text)"
    r"|手机号?码?|电话|打)"
    r"(?:,?\s?(?:is|it's|now|ist|lautet|est|c'est|(?:me|him|her|us) (?:on|at)|on|at"
    r"|[是为换成了改:：]))*[\s,]{0,2}\Z",
    re.I,
)
_HASH_NAME = re.compile(r"(?:^|_)(?:SHA\d*|COMMIT|DIGEST|HASH|MD5|CHECKSUM|ETAG|REVISION|BUILD)(?:_|$)")
_GIT_WORD = re.compile(r"\b(?:revert(?:ed)?|merged?|rebased?|cherry-?pick(?:ed)?)\s\Z", re.I)
_SPELLING = re.compile(
    r"spell|pass(?:word|code|phrase)|\bp(?:in|w|wd)\b|\bcode|log-?in|密[码碼]|口令|拼", re.I
)
_MIN_SPELLED_LETTERS = 4  # of a password whose characters are written apart
_PHONE_DIGITS = range(7, 13)  # a card has more
_CARD_PREFIXES = {13: "4", 14: "30|36|38|39", 15: "34|37", 16: "4|5|6|35|2[2-7]"}


def has_other_label(found: re.Match[str]) -> bool:
    """Whether the number is labelled as something harmless: "tracking number 4111..."."""
    before = found.string[max(0, found.start() - 60) : found.start()]
    is_phone = sum(c.isdigit() for c in found[0]) in _PHONE_DIGITS and _PHONE_LABEL.search(before)
    return bool(is_phone or _OTHER_NUMBER_LABEL.search(before[-40:]) or _NUMBERED_THING.search(before))


def _is_card_number(found: re.Match[str]) -> bool:
    """Luhn checksum and an issuer prefix of this length, which excludes IMEIs, ISBNs and timestamps."""
    digits = re.sub(r"\D", "", found[0])
    issued = _CARD_PREFIXES.get(len(digits), "4|5|6")
    return (
        len(set(digits)) > 1
        and re.match(issued, digits) is not None
        and passes_luhn(digits)
        and not has_other_label(found)
    )


def _is_identity_number(found: re.Match[str]) -> bool:
    """Chinese identity number (GB 11643): a valid date of birth and a check character modulo 11."""
    number = found[0].upper()
    try:
        born = date(int(number[6:10]), int(number[10:12]), int(number[12:14]))
    except ValueError:
        return False
    weighed = sum(int(digit) * (2 ** (17 - place) % 11) for place, digit in enumerate(number[:17]))
    return 1900 <= born.year <= 2100 and "10X98765432"[weighed % 11] == number[17]


def _is_iban(found: re.Match[str]) -> bool:
    """Check digits of an IBAN (ISO 13616)."""
    account = re.sub(r"\s", "", found[0]).upper()
    moved = account[4:] + account[:4]
    return 15 <= len(account) <= 34 and int("".join(str(int(c, 36)) for c in moved)) % 97 == 1


def _is_key(found: re.Match[str]) -> bool:
    """Whether a number of 256 bits is a key, and no hash or checksum."""
    return not has_other_label(found) and (
        found[0].startswith("0x")
        or _KEY_WORD.search(found.string[max(0, found.start() - 60) : found.start()]) is not None
    )


_KEY_WORD = re.compile(r"private|secret|wallet|seed|key|私钥|密钥|钱包", re.I)


def _is_licence(found: re.Match[str]) -> bool:
    """Whether groups of letters and digits look like a licence key."""
    value = found[0]
    return (
        sum(c.isdigit() for c in value) >= 3
        and sum(c.isalpha() for c in value) >= 3
        and not has_other_label(found)
    )


def _is_taiwan_identity(found: re.Match[str]) -> bool:
    """National identity number of Taiwan: the letter is two digits; the weighted sum is divisible by ten."""
    number = "ABCDEFGHJKLMNPQRSTUVXYWZIO".index(found[0][0]) + 10
    digits = [number // 10, number % 10, *map(int, found[0][1:])]
    return sum(a * b for a, b in zip(digits, (1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1), strict=True)) % 10 == 0


def _is_french_identity(found: re.Match[str]) -> bool:
    """Social security number of France: the last two digits are a key modulo 97, or it is in groups."""
    number = found[0].replace(" ", "").replace("A", "0").replace("B", "0")
    return " " in found[0] or 97 - int(number[:13]) % 97 == int(number[13:])


_EXPRESSION = re.compile(
    r"(?:await|new|none|null|undefined|true|false)\b|[A-Za-z_][\w.]*[(\[]|[$%]?[{<\[(*]|\$[A-Za-z_]"
    r"|%[A-Za-z_]\w*%|\.{3}|x{4,}\Z",
    re.I,
)


def _is_literal(found: re.Match[str]) -> bool:
    """Whether what is assigned is a value, no expression or placeholder: `getpass()`, `$TOKEN`, `<key>`."""
    return _EXPRESSION.match(found[1]) is None and PLACEHOLDER.fullmatch(found[1].strip("\"'`,;")) is None


def _is_base_32(value: str) -> bool:
    """Whether groups of four are random: enough letters, and digits in two groups, unlike words."""
    with_digits = sum(any(c.isdigit() for c in group) for group in re.split("[ -]", value))
    return with_digits >= _MIN_GROUPS_WITH_DIGITS and sum(map(str.isalpha, value)) >= _MIN_BASE_32_LETTERS


def _is_no_variable(found: re.Match[str]) -> bool:
    value = found[found.lastindex or 0]
    return _EXPRESSION.match(value) is None and not ORDINARY_VALUE.fullmatch(value)


_PLACEHOLDER = re.compile(
    r"(?<=://)[^\s/:@]{0,64}:"
    r"(?:(?i:(?:your|my|db|the)?[-_]?(?:password|passwd|pass|pwd|secret|token)(?:[-_]here)?|x{3,}|\.{3}|\*+|changeme)"
    r"|[$%]?\{[^{}\s]{0,40}\}|<[^<>\n]{0,40}>|\[[^\[\]\s]{0,40}\]|\$[A-Z_]{1,40}|%[A-Z_]{1,40}%)@"
)


def blank_placeholders(text: str) -> str:
    """Blank `user:PASSWORD@` and the like in an address with the letter x: it stands for a password."""
    return _PLACEHOLDER.sub(lambda found: "x" * len(found[0]), text) if "://" in text else text


def _is_chosen_password(found: re.Match[str]) -> bool:
    """Whether letters stand on both sides of a symbol, unlike in `Repo#1234` and mail addresses."""
    before, after = re.split(r"[!#$%^*@~]", found[0], maxsplit=1)
    letters = [any(c.isalpha() for c in part) for part in (before, after)]
    return all(letters) and not has_other_label(found)


_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z", re.I)


def _is_spelled_password(found: re.Match[str]) -> bool:
    """Whether single characters are letters and digits, and the words before them speak of a password."""
    before = found.string[max(0, found.start() - 80) : found.start()]
    letters = sum(c.isalpha() for c in found[0])
    has_digit = any(c.isdigit() for c in found[0])
    return letters >= _MIN_SPELLED_LETTERS and has_digit and _SPELLING.search(before) is not None


def _is_random_token(found: re.Match[str]) -> bool:
    value = found[0].rstrip("=")
    in_address = re.search(
        r"(?:https?://|www\.)\S{0,200}\Z", found.string[max(0, found.start() - 210) : found.start()]
    )
    before = found.string[max(0, found.start() - 30) : found.start()]
    is_commit = re.fullmatch("[0-9a-f]{7,40}", value) is not None and _GIT_WORD.search(before) is not None
    is_known = in_address or is_commit or _UUID.match(value)
    return not is_known and looks_random(value) and not has_other_label(found)


def _ends_in_random_part(found: re.Match[str]) -> bool:
    """Whether the last part of a dotted token is random: `dp.pt.9f...`; host and file names end in words."""
    return looks_random(found[0].rpartition(".")[2]) and not has_other_label(found)


def _is_password_beside_mail(found: re.Match[str]) -> bool:
    """Whether what follows a mail address mixes letters with digits or symbols, and is no word or number."""
    value = found[1]
    has_mark = any(not c.isalpha() for c in value[1:-1])
    return any(c.isalpha() for c in value) and has_mark and not ORDINARY_VALUE.fullmatch(value)


_MIN_GROUPS_WITH_DIGITS = 2
_MIN_BASE_32_LETTERS = 8
_LEFT_BOUNDARY = r"(?<![A-Za-z0-9_-])"
_SECRET_FORMATS = (
    _SecretFormat(  # of Google: four groups of four letters
        PASSWORD,
        re.compile(
            r"(?:\bapp(?:lication)?[- ](?:specific )?passwords?|应用(?:专用)?密码)[^\n]{0,60}?"
            r"\b([a-z]{4}(?:[ -][a-z]{4}){3})\b",
            re.I,
        ),
        lambda found: any(not set(group.lower()) & set("aeiouy") for group in re.split("[ -]", found[1])),
    ),
    _SecretFormat(  # spelled: G r a v y 6 1
        PASSWORD,
        re.compile(r"(?<![\w.'’])[A-Za-z\d](?: [A-Za-z\d]){6,30}(?: [!-/:-@](?!\S))?(?![\w'’])"),
        _is_spelled_password,
    ),
    _SecretFormat(
        API_KEY,
        re.compile(
            rf"{_LEFT_BOUNDARY}(?:sk-[A-Za-z0-9_-]{{16,}}|[srp]k_(?:live|test)_[A-Za-z0-9_-]{{10,}}"
            rf"|gh[pousr]_[A-Za-z0-9_-]{{16,}}"
            r"|github_pat_[A-Za-z0-9_-]{20,}|glpat-[A-Za-z0-9_-]{16,}|(?:AKIA"
            r"|ASIA)[0-9A-Z]{16}(?![A-Za-z0-9_-])"
            r"|AIza[A-Za-z0-9_-]{30,}|hf_[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9_-]{30,}|pypi-[A-Za-z0-9_-]{40,}"
            r"|dop_v1_[A-Za-z0-9_-]{30,}|hvs\.[A-Za-z0-9_-]{16,}|whsec_[A-Za-z0-9_-]{16,}"
            r"|[rs]k-ant-[A-Za-z0-9_-]{16,}|ya29\.[A-Za-z0-9_-]{16,}|shp(?:at|ss)_[A-Za-z0-9]{16,}"
            r"|EAA[A-Za-z0-9]{30,}|[A-Za-z0-9_-]{3}[0-9]Q~[A-Za-z0-9_.~-]{25,}|key-[0-9a-f]{32}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}|AC[0-9a-f]{32})"
        ),
        _looks_issued,
    ),
    _SecretFormat(TOKEN, re.compile(rf"{_LEFT_BOUNDARY}xox[abeoprs]-[A-Za-z0-9_-]{{10,}}")),
    _SecretFormat(
        TOKEN, re.compile(r"(?<![\w.-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]{0,})?")
    ),
    _SecretFormat(PASSWORD, re.compile(r"://[^\s/:@]{0,64}:([^\s/@]{1,128})@")),
    _SecretFormat(PASSWORD, re.compile(r"(?:\s|^)(?:-u|--user)[ =][^\s:]{1,64}:(\S{3,128})")),
    _SecretFormat(  # mysql -pSECRET, sshpass -p SECRET
        PASSWORD,
        re.compile(
            r"\b(?:mysql\w{0,12}|mariadb\w{0,8}|7z)\s[^\n|;]{0,120}?(?<=\s)-p([^\s\d-]\S{2,64}|\d\S{4,64})"
            r"|\bsshpass\s-p\s?['\"]?([^\s'\"]{3,64})",
        ),
        _is_no_variable,
    ),
    _SecretFormat(PASSWORD, re.compile(r"\bWIFI:[^\n]{0,100}?;P:([^;\n]{1,64});")),
    _SecretFormat(PASSWORD, re.compile(r"\b(?:Basic|Digest|Bearer)\s{1,3}([A-Za-z0-9+/=._~-]{12,})")),
    _SecretFormat(
        API_KEY,
        re.compile(
            r"\b(?:AccountKey|SharedAccessKey|SharedAccessSignature|sig|X-Amz-Signature|access_token"
            r"|api_?key|auth|secret|client_secret|token)=([A-Za-z0-9+/=%._~-]{12,})",
            re.I,
        ),
    ),
    _SecretFormat(
        PASSWORD,
        re.compile(
            r"\b[A-Za-z0-9]{0,30}_?(?:PASS(?:WORD|WD|PHRASE)?|PWD|SECRET|TOKEN|API_?KEY|PRIVATE_KEY|ACCESS_KEY)"
            r"\s?=\s?[\"']?([^\s\"'#]{4,200})",
            re.I,
        ),
        _is_literal,
    ),
    _SecretFormat(
        TOKEN,
        re.compile(
            r"(?<![\w./@:-])[A-Za-z0-9_-]{1,40}(?:\.[A-Za-z0-9_-]{1,20}){0,3}\.[A-Za-z0-9_-]{20,200}(?![\w.@/-])"
        ),
        _ends_in_random_part,
    ),
    _SecretFormat(  # a login: mail address and password
        PASSWORD,
        re.compile(
            r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}(?:\s?[,;:/|]\s?|\s)(?=[!-~]{0,38}\d)([!-~]{7,40})(?![!-~])"
        ),
        _is_password_beside_mail,
    ),
    _SecretFormat(  # words and digits joined by a symbol: Maple!Road77
        PASSWORD,
        re.compile(
            r"(?<![\w./@#:&=?%+-])(?=[!-~]{0,28}[a-z])(?=[!-~]{0,28}[A-Z])(?=[!-~]{0,28}\d)"
            r"[A-Za-z0-9]{2,20}[!#$%^*@~][A-Za-z0-9!#$%^*@~]{3,24}(?![\w@:/=-]|\.\w)"
        ),
        _is_chosen_password,
    ),
    _SecretFormat(  # a random value assigned to a name of capitals: WEATHER=9f...
        API_KEY,
        re.compile(r"(?<![\w?&/.-])([A-Z][A-Z0-9_]{2,40})\s?=\s?[\"']?([A-Za-z0-9+/_-]{16,200})(?![\w.-])"),
        lambda found: looks_random(found[2]) and not (_HASH_NAME.search(found[1]) or has_other_label(found)),
    ),
    _SecretFormat(  # the secret of one-time codes (RFC 6238): base 32 in groups of four
        PIN,
        re.compile(
            r"(?<![\w-])(?=[A-Z \d-]{0,60}[2-7])(?:[A-Z2-7]{4}[ -]){3,15}[A-Z2-7]{4}(?![\w-])"
            r"|(?<![\w-])(?=[a-z \d-]{0,60}[2-7])(?:[a-z2-7]{4} ){3,15}[a-z2-7]{4}(?![\w-])"
        ),
        lambda found: _is_base_32(found[0]),
    ),
    _SecretFormat(  # Discord
        TOKEN,
        re.compile(
            rf"{_LEFT_BOUNDARY}[MNO][A-Za-z0-9_-]{{17,30}}\.[A-Za-z0-9_-]{{5,8}}\.[A-Za-z0-9_-]{{24,}}"
        ),
    ),
    _SecretFormat(  # addresses that let anybody post or read
        TOKEN,
        re.compile(
            r"https://(?:[a-z]{1,20}\.)?(?:discord(?:app)?\.com/api/webhooks|hooks\.slack\.com/(?:services|"
            r"workflows)|[a-z0-9-]{1,40}\.webhook\.office\.com)/(\S{10,300})"
        ),
    ),
    _SecretFormat(TOKEN, re.compile(rf"{_LEFT_BOUNDARY}\d{{8,10}}:AA[A-Za-z0-9_-]{{30,}}")),  # Telegram
    _SecretFormat(PRIVATE_KEY, re.compile(rf"{_LEFT_BOUNDARY}[xyz]prv[A-Za-z0-9]{{40,}}")),
    _SecretFormat(
        PRIVATE_KEY, re.compile(rf"{_LEFT_BOUNDARY}(?:0x)?[0-9a-fA-F]{{64}}(?![0-9a-fA-F])"), _is_key
    ),
    _SecretFormat(PRIVATE_KEY, re.compile(rf"{_LEFT_BOUNDARY}[5KL][1-9A-HJ-NP-Za-km-z]{{50,51}}(?!\w)")),
    _SecretFormat(API_KEY, re.compile(r"(?<![\d-])\d{6}(?:-\d{6}){7}(?![\d-])")),  # BitLocker
    _SecretFormat(
        API_KEY, re.compile(r"(?<![\w-])[A-Z0-9]{4,5}(?:-[A-Z0-9]{4,5}){3,6}(?![\w-])"), _is_licence
    ),
    _SecretFormat(IDENTITY, re.compile(r"(?<![A-Za-z\d])[A-Z][12]\d{8}(?![A-Za-z\d])"), _is_taiwan_identity),
    _SecretFormat(
        IDENTITY,
        re.compile(r"(?<!\d)[12] ?\d\d ?(?:0[1-9]|1[0-2]) ?\d[\dAB] ?\d{3} ?\d{3} ?\d\d(?!\d)"),
        _is_french_identity,
    ),
    _SecretFormat(
        IDENTITY,
        re.compile(r"(?<![A-Za-z\d])(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z]{2} ?\d\d ?\d\d ?\d\d ?[A-D]\b"),
    ),
    _SecretFormat(CARD, re.compile(r"(?<![\d+.])\d{4}(?: \d{4}){3}(?: \d{1,3})?(?! ?\d)"), _is_card_number),
    _SecretFormat(CARD, re.compile(r"(?<![\d+.])\d{4}(?:-\d{4}){3}(?:-\d{1,3})?(?!-?\d)"), _is_card_number),
    _SecretFormat(CARD, re.compile(r"(?<![\d+.])\d{4}(?: \d{6} |-\d{6}-)\d{4,5}(?!\d)"), _is_card_number),
    _SecretFormat(CARD, re.compile(r"(?<![\w+.-])\d{13,19}(?![A-Za-z\d])", re.A), _is_card_number),
    _SecretFormat(
        IDENTITY, re.compile(r"(?<![A-Za-z\d])[1-9]\d{16}[\dXx](?![A-Za-z\d])"), _is_identity_number
    ),
    _SecretFormat(
        SSN, re.compile(r"(?<![\w-])(?!000|666|9\d\d)\d{3}-(?!00)\d\d-(?!0000)\d{4}(?![\w-])", re.A)
    ),
    _SecretFormat(
        ACCOUNT,
        re.compile(r"(?<![A-Za-z\d])[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){3,7}(?: ?[A-Z\d]{1,3})?(?![A-Za-z\d])"),
        _is_iban,
    ),
    _SecretFormat(
        TOKEN,
        re.compile(r"(?<![A-Za-z0-9_+/=.@-])[A-Za-z0-9_+/-]{20,400}={0,2}(?![A-Za-z0-9_+/=@-])"),
        _is_random_token,
    ),
)
_KEY_BLOCK_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BLOCK_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")


def find_key_blocks(text: str) -> Iterator[SecretMatch]:
    """Find PEM private keys; a block without END goes to the end of the text."""
    at = 0
    while "-----BEGIN" in text and (begin := _KEY_BLOCK_BEGIN.search(text, at)):
        end = _KEY_BLOCK_END.search(text, begin.end())
        at = end.end() if end else len(text)
        yield begin.start(), at, PRIVATE_KEY


_MNEMONIC_RUN = re.compile(
    r"(?<![a-z])[a-z]{3,8}(?:(?:[\s,;]|\s?\d{0,2}[.):]\s?){1,5}[a-z]{3,8}(?![a-z])){11,30}", re.I
)
_MNEMONIC_WORD = re.compile("[a-z]+", re.I)
_MIN_MNEMONIC_WORDS = 12
_MNEMONIC_SHARE = 0.9  # of the words that must be in the list; the rest are misspelt
_MIN_DISTINCT_WORDS = 8  # of twelve
_PREFIX_LETTERS = 4  # identify a word of the list


@cache
def mnemonic_prefixes() -> frozenset[str]:
    """The first four letters of the words of BIP-39, which tell them apart."""
    return frozenset(files(__package__).joinpath("mnemonic_prefixes.txt").read_text("utf-8").split())


def _find_mnemonics(text: str) -> Iterator[SecretMatch]:
    """Find recovery phrases of wallets (BIP-39): twelve or more words of its list in a row."""
    for run in _MNEMONIC_RUN.finditer(text):
        known = mnemonic_prefixes()
        words = [
            (word.start() + run.start(), word.end() + run.start(), word[0][:_PREFIX_LETTERS].lower() in known)
            for word in _MNEMONIC_WORD.finditer(run[0])
        ]
        for first in range(len(words) - _MIN_MNEMONIC_WORDS + 1):
            chosen = words[first : first + _MIN_MNEMONIC_WORDS]
            distinct = {text[start:end].lower() for start, end, is_known in chosen if is_known}
            if (
                sum(word[2] for word in chosen) >= _MNEMONIC_SHARE * _MIN_MNEMONIC_WORDS
                and len(distinct) >= _MIN_DISTINCT_WORDS
            ):
                last = len(words) - 1
                while not words[last][2]:
                    last -= 1
                yield chosen[0][0], words[last][1], PHRASE_KIND
                break


_HAN_MNEMONIC = re.compile(
    r"(?<![\u4e00-\u9fff])[\u4e00-\u9fff](?:[\s、，,]{1,2}[\u4e00-\u9fff]){11,23}(?![\s、，,]{0,2}[\u4e00-\u9fff])"
)
_HAN_WORDS = re.compile(
    r"(?<![\u4e00-\u9fff])[\u4e00-\u9fff]{2,3}(?:[\s、/-][\u4e00-\u9fff]{2,3}){11,23}(?![\u4e00-\u9fff])"
)
_WALLET_WORD = re.compile(r"wallet|seed|phrase|钱包|备份|助记|恢复|私钥", re.I)
_MNEMONIC_LENGTHS = (12, 15, 18, 21, 24)


def _find_han_mnemonics(text: str) -> Iterator[SecretMatch]:
    """Find Chinese recovery phrases: 12 to 24 characters, or words after a name for them, each apart."""
    if text.isascii():
        return
    for run in _HAN_WORDS.finditer(text):
        if _WALLET_WORD.search(text, max(0, run.start() - 40), run.start()):
            yield run.start(), run.end(), PHRASE_KIND
    for run in _HAN_MNEMONIC.finditer(text):
        characters = re.findall("[\u4e00-\u9fff]", run[0])
        is_list = re.search("[、，,]", run[0]) is not None  # such as a list of family names
        known = _WALLET_WORD.search(text, max(0, run.start() - 40), min(len(text), run.end() + 40))
        if (
            len(characters) in _MNEMONIC_LENGTHS
            and len(set(characters)) >= _MIN_DISTINCT_WORDS
            and (known or not is_list)
        ):
            yield run.start(), run.end(), PHRASE_KIND


_CODE_LIST = re.compile(
    r"(?<![\w-])(?:[0-9a-z]{4,6}-[0-9a-z]{4,6}|\d{4} \d{4})"
    r"(?:(?:[,;、，/|]\s?|\s)(?:\d{1,2}[.)]\s?)?(?:[0-9a-z]{4,6}-[0-9a-z]{4,6}|\d{4} \d{4})){2,30}(?![\w-])",
    re.I,
)
_CODE_WORD = re.compile(  # the prefilter knows each of them
    r"\b(?:two[- ]?(?:step|factor)|2fa|mfa|backup|recover(?:y|ed)?|codes?|authenticator|emergency|secours"
    r"|wiederherstellung(?:scodes)?)\b|两步|二步|双重|备用|备份|恢复|验证|应急",
    re.I,
)


def _find_recovery_codes(text: str) -> Iterator[SecretMatch]:
    """Find lists of one-time codes: three or more pairs of groups after a word for them, no years."""
    for found in _CODE_LIST.finditer(text):
        codes = re.findall(r"[0-9a-z]{4,6}[- ][0-9a-z]{4,6}", found[0], re.I)
        are_years = all(re.fullmatch(r"(?:1[89]|20)\d\d-(?:1[89]|20)\d\d", code) for code in codes)
        have_digits = all(sum(c.isdigit() for c in code) >= 2 for code in codes)
        if (
            have_digits
            and not are_years
            and _CODE_WORD.search(text, max(0, found.start() - 80), found.start())
        ):
            yield found.start(), found.end(), PIN
