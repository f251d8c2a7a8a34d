"""Features of the trained detector: words, concepts in many languages, and the shapes of values.

    "Reply to all users with the link"  ->  words, answer, always, audience, link, answer>always, ...

Everything is hashed into `BUCKETS` buckets. The concepts are in `concepts.toml` (English, Chinese, French,
German) and `concepts_more.toml` (Spanish, Russian, Japanese and others).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from itertools import combinations, pairwise
from zlib import crc32

from thinkback.language.safety.concept_table import (
    UNSPACED,
    UNSPACED_RUN,
    ConceptTable,
    fold,
    unspaced_stems,
)
from thinkback.language.safety.windows import MAX_WINDOW_CHARS

BUCKETS = 1 << 17
_MAX_CONCEPTS = 40  # of a window
_STEM_LETTERS = 6
_MAX_JOINED_LETTERS = 240  # of a sentence without spaces
_LETTER = "[a-z\u0370-\u052f]"  # of words between spaces: Latin, Greek, Cyrillic
_TOKEN = re.compile(
    rf"(?P<word>{_LETTER}+(?:[-']{_LETTER}+)*)(?![\w@])|(?P<han>[{UNSPACED}]+)"
    r"|(?P<value>[a-z0-9](?:[!-~]{0,200}[a-z0-9=!?*])?)|(?P<mark>[^\w\s])",
    re.I,
)
_DIGITS = re.compile(r"\d+")
_FORMS = (
    ("fence", re.compile(r"```\s?(?:system|prompt|instruction|admin|developer|assistant)", re.I)),
    (
        "tag",
        re.compile(r"</?[a-z\u4e00-\u9fff][\w:-]{2,30}(?:\s[^<>\n]{0,80})?>|\[/?[A-Z]{3,}[^\]\n]{0,20}\]"),
    ),
    ("comment", re.compile(r"<!--|^\s*//|/\*|^\s*#\s", re.M)),
    ("object", re.compile(r"[{,]\s*[\"'][\w\u4e00-\u9fff ]{1,30}[\"']\s*:")),
    ("setting", re.compile(r"\b[a-z_]+(?:\.[a-z_]+)*\s?=\s?\S")),
    ("speaker", re.compile(r"(?:^|\n)\s*(?:user|assistant|system|human|用户|助手|系统)\s?[:：]", re.I)),
    ("address", re.compile(r"https?://|www\.|[\w.+-]+@[\w-]+\.\w", re.I)),
    ("quotation", re.compile('["“「『«„].{2,80}?["”」』»“]')),
    ("question", re.compile("[?？]\\s*[\"'”」]?\\s*\\Z")),
    ("rule", re.compile(r"^\s*(?:-{3,}|\*{3,}|#{2,}|%{3,})", re.M)),
    (
        "audience is informed",
        re.compile(
            r"\b(?:(?:is|are|was|were|be|being|gets?) (?:to )?(?:be )?(?:told|assured|informed|given|shown"
            r"|left|kept|referred|advised)|(?:is|are) to (?:hear|learn|see|believe)"
            r"|must not (?:hear|learn|see|know))\b",
            re.I,
        ),
    ),
    ("heading", re.compile(r"^\s*[A-Z][A-Z ]{5,40}\b", re.M)),
)


_COMMAND_FORM = "form.command"


def _concept_lists() -> Iterator[tuple[str, str]]:
    """The concepts, such as "order.ignore", each with a list of words."""
    main, more = (
        tomllib.loads(files(__package__).joinpath(name).read_text("utf-8"))
        for name in ("concepts.toml", "concepts_more.toml")
    )
    for tables in (main, *more.values()):
        for table, concepts in tables.items():
            for concept, listed in concepts.items():
                yield f"{table}.{concept}", listed


_CONCEPTS = ConceptTable(_concept_lists())


_GATE_WORDS = re.compile(r"[a-z\u0370-\u052f][a-z\u0370-\u052f'-]*")
_GATE_VALUE = re.compile(r"[\d:=\"'“「«„_/]|[a-z][A-Z]|\b[A-Z][a-z]{3,}")
_FRAME_CONCEPTS = frozenset(
    f"order.{name}"
    for name in [
        *("always", "never", "from_now", "must", "you", "please", "when_asked", "negation", "prior"),
        *("artwork", "binding", "conversion"),
    ]
)
_NEUTRAL_CONCEPTS = frozenset(
    f"order.{name}" for name in ["self", "other_person", "report", "past", "question", "say"]
)
_NO_LABELS = frozenset(f"secret.{name}" for name in ["stated", "about", "number", "challenge"])


def _is_order_sign(name: str) -> bool:
    return name.startswith("order.") and name not in _FRAME_CONCEPTS and name not in _NEUTRAL_CONCEPTS


def _is_label(name: str) -> bool:
    return name.startswith("secret.") and name not in _NO_LABELS


def gate(window: str) -> bool:
    """Fast check whether a window may contain an order or a secret at all.

    An order needs two signs, a sign in a frame ("always", "you", "must"), or a verb in the form of a command;
    a secret needs a label and something that is not a word.
    """
    folded = fold(window)
    found: set[str] = set()
    for word in set(_GATE_WORDS.findall(folded)):
        found.update(_CONCEPTS.of_word(word))
    if not window.isascii():
        for run in UNSPACED_RUN.findall(folded):
            for _, _, names in _CONCEPTS.of_unspaced(run):
                found.update(names)
    if any(map(_is_label, found)) and _GATE_VALUE.search(window):
        return True
    signs = sum(map(_is_order_sign, found))
    if signs > 1 or (signs and not _FRAME_CONCEPTS.isdisjoint(found)):
        return True
    return bool(_command_words(folded))


def value_shape(value: str) -> str | None:
    """The shape of a token with digits or mixed letters; None for an ordinary word."""
    digits = sum(c.isdigit() for c in value)
    letters = sum(c.isalpha() for c in value)
    marks = len(value) - digits - letters
    if digits == len(value):
        is_year = len(value) == len("2000") and value[:2] in ("19", "20")
        return "year" if is_year else f"d{min(len(value), 12)}"
    for shape, is_shape in (
        ("mail", "@" in value and "." in value),
        ("address", "://" in value),
        ("long", digits and letters and len(value) >= _MIN_LONG_VALUE),
        ("unit", digits and letters and _NUMBER_WITH_UNIT.fullmatch(value)),
        (f"mix{'m' if marks else ''}{min(len(value) // 3, 5)}", digits and letters),
        ("groups", digits and marks < digits),
        ("marks", digits),
        ("symbol", marks and letters >= _MIN_SYMBOL_LETTERS and _SYMBOL.search(value)),
    ):
        if is_shape:
            return shape
    return None


_MIN_LONG_VALUE = 20
_MIN_SYMBOL_LETTERS = 3
_NUMBER_WITH_UNIT = re.compile(r"\d+[a-z]{1,3}|[a-z]{1,3}\d{1,4}")
_SYMBOL = re.compile(r"[^\w'.-]|_")


def features(text: str) -> dict[str, float]:
    """The named features of one window of normalised text."""
    text = text[:MAX_WINDOW_CHARS]
    folded = fold(text)
    sequence: list[str] = []  # concepts and shapes in order
    stems: list[str] = []
    for item, is_stem in _items(text, folded):
        (stems if is_stem else sequence).append(item)
    sequence = sequence[:_MAX_CONCEPTS]
    present = sorted(set(sequence))
    return {
        **{f"form {name}": 1.0 for name, pattern in _FORMS if pattern.search(text)},
        **dict(_word_features(stems)),
        **dict(_concept_features(sequence, present)),
        **dict(_command_features(_command_words(folded), present)),
    }


def _word_features(stems: list[str]) -> Iterator[tuple[str, float]]:
    for stem in stems:
        yield f"w {stem}", 0.5
    for one, other in pairwise(stems):
        yield f"b {one} {other}", 0.4
    for stem in stems[:1]:
        yield f"start {stem}", 0.4


def _concept_features(sequence: list[str], present: list[str]) -> Iterator[tuple[str, float]]:
    """Concepts alone, those that follow each other, and those in the same window."""
    for name in present:
        yield f"c {name}", 1.0
    for position, one in enumerate(sequence):
        for distance, other in enumerate(sequence[position + 1 : position + 4]):
            yield f"o {one} {other}", 0.8 if distance == 0 else 0.5
    for one, other in combinations(present, 2):
        yield f"p {one} {other}", 0.35
    for place, name in enumerate(sequence[:2]):
        yield f"first{place} {name}", 0.6


def _command_features(commands: list[str], present: list[str]) -> Iterator[tuple[str, float]]:
    """Verbs in the form of a command, and what a statement has and this window lacks."""
    absent = [name for name in _STATEMENT_CONCEPTS if name not in present]
    flags = [f"no {name}" for name in absent]
    if commands:
        flags.append("command")
    if len(absent) == len(_STATEMENT_CONCEPTS):
        flags.append("no statement")
    if commands and "order.self" in absent:
        flags.append("command to others")
    for flag in flags:
        yield f"f {flag}", 1.0
        for name in present:
            yield f"n {flag} {name}", 0.35
    for word in commands[:3]:
        yield f"v {word}", 0.5


_STATEMENT_CONCEPTS = ("order.self", "order.other_person", "order.past", "order.question")
_CLAUSE_START = re.compile(
    r"(?:\A|[.!?;:,\n\"“„«(\[>*#|–—-]|\b(?:and|then|but|or|et|puis|und|dann|y|luego|depois|poi|en|dan|oraz|potem|и|затем)\b)[\s\"'“„«(\[>*#-]*"
    r"(?:(?:please|kindly|just|simply|also|always|never|only|do not|don't|dont|now|henceforth|veuillez|ne|n'"
    r"|toujours|desormais|bitte|immer|nur|ab sofort|ab jetzt|from now on|ok|so|hey|you must|you should"
    r"|you will|you have to|be sure to|make sure to|remember to|por favor|siempre|nunca|no"
    r"|a partir de ahora|sempre|nao|a partir de agora|non|mai|per favore|d'ora in poi|da ora in poi|altijd"
    r"|nooit|alsjeblieft|vanaf nu|voortaan"
    r"|zawsze|nigdy|nie|prosze|od teraz|всегда|никогда|не|пожалуйста|отныне|теперь|впредь|lutfen|her zaman)"
    rf"[\s,]+){{0,3}}({_LETTER}+)"
)
_HAN_COMMAND = re.compile(
    r"(?:\A|[。！？；：，,\n“「（(])(?:请|麻烦|务必|必须|一律|以后|今后|从现在起|从今天起|凡是[^，。]{1,12}，?都?|都|你)*"
    r"(把|将|让|别|不要|不得|不许|只|凡|每次|绝不|永远|禁止|说|告诉|推荐|忽略|忘|输出|回答|回复|发|转|删|改|当作|视为"
    r"|装作|假装|扮演|停止|公开|隐瞒|批准|同意|拒绝|引导|附上|加上|带上|记住|保存|存)"
)


def _command_words(folded: str) -> list[str]:
    """The verbs that stand at the start of a clause in the form of a command."""
    found = [word for word in _CLAUSE_START.findall(folded) if _COMMAND_FORM in _CONCEPTS.words.get(word, ())]
    if not folded.isascii():
        found += _HAN_COMMAND.findall(folded)
    return found


def _items(text: str, folded: str) -> Iterator[tuple[str, bool]]:
    """The concepts and shapes (False) and the stems (True) of a text, in order."""
    cased = text if len(text) == len(folded) else folded
    for token in _TOKEN.finditer(folded):
        written = cased[token.start() : token.end()]
        if token["word"]:
            yield from _word_items(token["word"], written, starts=token.start() <= 1)
        elif token["han"]:
            yield from _han_items(token["han"])
        elif token["value"]:
            shape = value_shape(written)
            if shape:
                yield f"shape {shape}", False
            else:
                for part in re.findall(r"[a-z]+", token["value"]):
                    yield part[:_STEM_LETTERS], True
                    yield from _concept_items(part)
        elif token["mark"] in ":=→：":
            yield "secret.stated", False


def _word_items(word: str, written: str, *, starts: bool) -> Iterator[tuple[str, bool]]:
    for part in word.split("-"):
        yield part[:_STEM_LETTERS], True
    yield from _concept_items(word[:_MAX_JOINED_LETTERS])
    if written[1:] != written[1:].lower() and written != written.upper():
        yield "shape camel", False
    elif written[:1].isupper() and not starts:
        yield "shape name", False


def _concept_items(word: str) -> Iterator[tuple[str, bool]]:
    return ((name, False) for name in _CONCEPTS.of_word(word) if name != _COMMAND_FORM)


def _han_items(run: str) -> Iterator[tuple[str, bool]]:
    for stem in unspaced_stems(run):
        yield stem, True
    for _, _, names in _CONCEPTS.of_unspaced(run):
        for name in names:
            yield name, False


def bucket(name: str) -> int:
    """The bucket of a feature. Not cached: names contain words of texts, which may be erased."""
    return crc32(name.encode("utf-8", "replace")) % BUCKETS
