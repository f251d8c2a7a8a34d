"""Finds plain statements of facts in the user's words, with the patterns of `relations.toml`.

A pattern is matched against a whole clause, in any case and with or without apostrophes. In a pattern

    <name>          is a macro of the language's `lexicon.toml`
    {value:place}   is the value, of the slot `place`: a shape and a check
    {person}        is someone other than the user: "my sister", "my brother Felix", a known name
    {ROLE}          is a word for a relative or pet
    {NOUN}          is the noun of an attribute

and the rest is a regular expression. Questions, conditions, wishes, jokes, quoted and reported words, and
texts that the user wants to have translated or written are no statements.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal, NamedTuple

from thinkback.language.names import USER
from thinkback.language.protocol import Language, Slot, load_language
from thinkback.language.relations import (
    FAVOURITE_FAMILY,
    FAVOURITE_PREFIX,
    LANGUAGES,
    ROLE_FAMILY,
    Relation,
    canonical_relation,
    favourite_noun,
    list_families,
    list_relations,
)
from thinkback.language.sentences import is_question, split_sentences
from thinkback.language.writing_systems import has_han

StatementForm = Literal["statement", "negation", "denial"]
MAX_CLAUSE_CHARACTERS = 160
ANY_ROLE = "has *"
"""Relation of a denial that names a relative or pet without the role: "Rex died"."""
_SLOT = re.compile(r"\{value(?::(?P<slot>\w+))?\}|\{(?P<word>person|ROLE|NOUN)\}|(?<!\?P)<(?P<macro>\w+)>")
_HAN_CLASS = re.compile(r"\[[^\]]*[\u3400-\u9fff]-[\u3400-\u9fff][^\]]*\]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_LATIN_WORD = re.compile(r"[A-Za-z][A-Za-z'’]*")
_MIXED_BOUNDARY = re.compile(
    r"[，；：！？!?;]|,(?!\d)|(?:(?<=\bhi)|(?<=\bhey)|(?<=\bhello))\s+(?=[\u3400-\u9fff])", re.IGNORECASE
)
_LITERAL = re.compile(r"[a-z]{2,}|[\u3400-\u9fff]+", re.IGNORECASE)
_LIST_END = re.compile(r"\b(?:and|or)\b|和|与|跟", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Statement:
    """One fact that the user states: `text[start:end]` are the words that state it.

    `adds` says that the words add a value ("also", 还) and replace none; `is_now` that they tell what holds
    now, unlike before ("now", "these days", 现在).
    """

    about: str
    relation: str
    value: str
    form: StatementForm
    lang: str
    start: int
    end: int
    adds: bool = False
    is_now: bool = False


@dataclass(frozen=True)
class _Pattern:
    """A pattern of one relation, compiled when a clause has its keyword."""

    relation: str
    form: StatementForm
    body: str
    slot: Slot | None
    keyword: str
    """A word that every match has, in lower case; empty if none is known."""

    @cached_property
    def regex(self) -> re.Pattern[str]:
        return re.compile(self.body, re.IGNORECASE)


class _Clause(NamedTuple):
    text: str
    start: int
    rest: str
    """The clause and the rest of its sentence; lists run over commas."""
    sentence: int
    """Where its sentence starts."""


def find_statements(text: str, names: Sequence[Sequence[str]] = (), pronoun_for: str = "") -> list[Statement]:
    """Find the statements of a message, in order.

    Args:
        text: The user's message.
        names: The known people, each as a group of names that mean the same one.
        pronoun_for: Whom "she" or "his" means, if it is certain: a name or "user's daughter".
    """
    known = {name.casefold(): group[0] for group in names for name in group}
    found: dict[tuple[str, str, str, StatementForm], Statement] = {}
    previous = _Clause("", 0, "", -1)
    for clause in _find_clauses(text):
        language = _language_of(clause.text)
        same_sentence = clause.sentence == previous.sentence
        words = language.continue_subject(clause.text, previous.text if same_sentence else "")
        if pronoun_for:
            words = language.resolve_pronoun(words, pronoun_for)
        previous = clause._replace(text=words)
        for statement in _read_clause(words, clause, language, known):
            key = (statement.about, statement.relation, statement.value.casefold(), statement.form)
            found.setdefault(key, statement)
    return list(found.values())


def _find_clauses(text: str) -> Iterator[_Clause]:
    """The clauses of the plain statements of a message."""
    languages = [load_language(code) for code in LANGUAGES]
    for language in languages:
        text = language.lexicon.quote.sub(lambda match: "\n" * len(match[0]), text)
    tasks = [match for language in languages if (match := language.lexicon.task.search(text))]
    end = min((task.start() for task in tasks), default=len(text))
    for sentence in split_sentences(text[:end]):
        lexicon = _language_of(sentence.text).lexicon
        if any(language.lexicon.skip.search(sentence.text) for language in languages):
            continue
        pieces = list(_split_clauses(sentence.text))
        asks = is_question(sentence.text)
        if asks:
            last = pieces[-1][0] if pieces else ""
            if len(pieces) < 2 or lexicon.tag.search(last) or is_question(pieces[0][0]):
                continue
            pieces = pieces[:-1]
        for piece, start in pieces:
            if len(piece) <= MAX_CLAUSE_CHARACTERS and not (asks and is_question(piece)):
                rest = piece if asks else sentence.text[start:]
                yield _Clause(piece, sentence.start + start, rest, sentence.start)


def _language_of(text: str) -> Language:
    """The language of most of a text: "I live in 杭州" is English."""
    return load_language("zh" if len(_HAN.findall(text)) > len(_LATIN_WORD.findall(text)) else "en")


def _split_clauses(sentence: str) -> Iterator[tuple[str, int]]:
    """The clauses of a sentence and where they start. Each part of a mixed sentence has its own language."""
    parts = [(sentence, 0)]
    if has_han(sentence) and _LATIN_WORD.search(sentence):
        parts = list(_split(sentence, _MIXED_BOUNDARY))
    for part, start in parts:
        for clause, at in _split(part, _language_of(part).lexicon.boundary):
            yield clause, start + at


def _split(text: str, boundary: re.Pattern[str]) -> Iterator[tuple[str, int]]:
    start = 0
    for cut in [*((match.start(), match.end()) for match in boundary.finditer(text)), (len(text), len(text))]:
        piece = text[start : cut[0]]
        if piece.strip():
            yield piece.strip(), start + len(piece) - len(piece.lstrip())
        start = cut[1]


def _read_clause(
    words: str, clause: _Clause, language: Language, known: Mapping[str, str]
) -> Iterator[Statement]:
    yield from _read_introduction(clause, language)
    ends = _Ends(words, language)
    longer = clause.rest[:MAX_CLAUSE_CHARACTERS] if words == clause.text else ""
    longer_ends = _Ends(longer, language) if len(longer) > len(words) else None
    denied: set[str] = set()
    lowered = f"{words}\n{longer}".lower()
    for pattern in _patterns(language.code):
        if pattern.keyword not in lowered:
            continue
        if pattern.relation in denied and pattern.form != "denial":
            continue
        is_list = pattern.slot is not None and pattern.slot.is_list
        matched = ends.match(pattern)
        length = len(clause.text)
        if is_list and longer_ends is not None:
            listed = longer_ends.match(pattern)
            if (
                listed is not None
                and _LIST_END.search(listed["value"])
                and _is_list(listed, pattern, language)
            ):
                matched, length = listed, listed.end()
        if pattern.slot is not None and pattern.slot.spans and longer_ends is not None:
            spanning = longer_ends.match(pattern)
            if spanning is not None and "," in spanning["value"] and _is_valid(spanning, pattern, language):
                matched, length = spanning, spanning.end()
        if matched is not None:
            statements = list(_read_match(matched, pattern, clause, language, known, length))
            yield from statements
            if statements and pattern.form != "denial":
                return
            denied.update(pattern.relation for _ in statements)


def _read_introduction(clause: _Clause, language: Language) -> Iterator[Statement]:
    """Name and age in "I'm Dana, 34". Whether the age is the user's is read elsewhere."""
    opened = language.lexicon.opening.match(clause.rest)
    match = language.lexicon.introduction.match(clause.rest, opened.end() if opened else 0)
    name = language.check_value("introduced_name", match["name"]) if match else ""
    if match is None or not name:
        return
    end = clause.start + match.end()
    for relation, value in (("is named", name), ("is aged", match["age"])):
        yield Statement(USER, relation, value, "statement", language.code, clause.start, end)


class _Ends:
    """Where a statement in a clause may start and end: after an opening, and before trailing words."""

    def __init__(self, words: str, language: Language) -> None:
        self._words = words
        opened = language.lexicon.opening.match(words)
        self._starts = sorted({0, opened.end() if opened else 0}, reverse=True)
        self._ends: dict[bool, list[int]] = {
            closed: [
                at
                for at in range(2, len(words) + 1)
                if not _inside_word(words, at)
                and language.lexicon.trailing(closed=closed).fullmatch(words, at)
            ]
            for closed in (False, True)
        }

    def match(self, pattern: _Pattern) -> re.Match[str] | None:
        """The shortest match of a pattern."""
        for start in self._starts:
            if pattern.regex.match(self._words, start) is None:
                continue
            for end in self._ends[pattern.slot is None or pattern.slot.is_closed]:
                if found := pattern.regex.fullmatch(self._words, start, end):
                    return found
        return None


def _is_valid(match: re.Match[str], pattern: _Pattern, language: Language) -> bool:
    return pattern.slot is not None and bool(language.check_value(pattern.slot.check, match["value"]))


def _inside_word(words: str, at: int) -> bool:
    """Whether a position is between two letters or digits of one Latin word."""
    around = words[at - 1 : at + 1]
    return len(around) == 2 and around.isascii() and around.isalnum()


def _is_list(match: re.Match[str], pattern: _Pattern, language: Language) -> bool:
    check = pattern.slot.check if pattern.slot else ""
    items = language.split_values(match["value"])
    return all(language.check_value(check, item) for item in items)


def _read_match(
    match: re.Match[str],
    pattern: _Pattern,
    clause: _Clause,
    language: Language,
    known: Mapping[str, str],
    length: int,
) -> Iterator[Statement]:
    groups = match.groupdict()
    check = pattern.slot.check if pattern.slot else ""
    words = groups["value"] or ""
    items = language.split_values(words) if pattern.slot and pattern.slot.is_list else [words]
    values = [language.check_value(check, item) for item in items]
    relation = _relation_name(pattern.relation, groups, language)
    if not values or not all(values) or not relation:
        return
    end = clause.start + length
    adds = bool(language.lexicon.also.search(clause.text))
    is_now = bool(language.lexicon.now.search(clause.text))
    about = USER
    if "person" in groups:
        person = language.parse_person((groups["person"] or "").strip(), known)
        if person is None:
            return
        about = person.about
        if person.role:
            yield Statement(
                USER, f"has {person.role}", person.name, "statement", language.code, clause.start, end
            )
    for value in values:
        yield Statement(about, relation, value, pattern.form, language.code, clause.start, end, adds, is_now)


def _relation_name(name: str, groups: Mapping[str, str | None], language: Language) -> str:
    if name == ROLE_FAMILY:
        word = (groups.get("role") or "").lower()
        if "role" not in groups:
            return ANY_ROLE
        return f"has {language.roles()[word]}" if word in language.roles() else ""
    if name == FAVOURITE_FAMILY:
        return canonical_relation(FAVOURITE_PREFIX + favourite_noun((groups.get("noun") or "").strip()))
    return name


@cache
def _patterns(code: str) -> tuple[_Pattern, ...]:
    language = load_language(code)
    return tuple(
        compile_pattern(template, relation, form, language)
        for relation in (*list_relations(), *list_families())
        for form, template in _templates(relation, language)
    )


def _templates(relation: Relation, language: Language) -> Iterator[tuple[StatementForm, str]]:
    wording = relation.wordings[language.code]
    yield from (("denial", template) for template in wording.denials)
    yield from (("negation", template) for template in wording.negations)
    yield from (("statement", template) for template in wording.statements)
    if relation.value_slot and relation.value_slot in language.lexicon.slots:
        nouns = (wording.noun, *(alias for alias in relation.aliases if _fits(alias, language.code)))
        noun = "|".join(
            sorted({re.escape(each).replace("\\ ", " ") for each in nouns if each}, key=len, reverse=True)
        )
        for template in language.lexicon.attribute_statements:
            yield (
                "statement",
                template.replace("{NOUN}", f"(?:{noun})").replace(
                    "{value}", f"{{value:{relation.value_slot}}}"
                ),
            )


def _fits(alias: str, code: str) -> bool:
    """Whether an alias is in the script of the language and a bare noun."""
    return alias.isascii() == (code == "en") and not alias.startswith(("has ", "is "))


def compile_pattern(template: str, relation: Relation, form: StatementForm, language: Language) -> _Pattern:
    """Compile a template of `relations.toml`.

    Raises:
        KeyError: the template names an unknown macro or slot.
    """
    lexicon = language.lexicon
    slot: Slot | None = None

    def insert(match: re.Match[str]) -> str:
        nonlocal slot
        if match["macro"]:
            return expand(lexicon.macros[match["macro"]])
        if match["word"] == "ROLE":
            return lexicon.role
        if match["word"] == "person":
            return f"(?P<person>{lexicon.person})"
        slot = lexicon.slots[match["slot"]]
        return f"(?P<value>{slot.shape})"

    def expand(words: str) -> str:
        parts: list[str] = []
        at = 0
        for match in _SLOT.finditer(words):
            parts += (language.to_regex(words[at : match.start()]), insert(match))
            at = match.end()
        return "".join((*parts, language.to_regex(words[at:])))

    # Ranges of Chinese characters have no case; compiling them without it is many times faster.
    body = _HAN_CLASS.sub(lambda match: f"(?-i:{match[0]})", expand(template))
    return _Pattern(relation.name, form, body, slot, _find_keyword(template))


def _find_keyword(template: str) -> str:
    """The longest word of a template that stands in every text it matches; empty if there is none."""
    depth = 0
    plain: list[str] = []  # the characters outside of groups, slots and macros
    for at, char in enumerate(template):
        if template[at - 1 : at] == "\\":
            continue  # the letter of a class such as \d
        if char in "([{<":
            depth += 1
            plain.append("\n")
        elif char in ")]}>":
            depth -= 1
        elif char == "|" and depth == 0:
            return ""
        elif depth == 0:
            optional = template[at + 1 : at + 2] in ("?", "*", "{")
            plain.append("\n" if optional or char in "\\'" else char)
    words = _LITERAL.findall("".join(plain))
    return max(words, key=len, default="").lower()
