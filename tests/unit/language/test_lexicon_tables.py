"""Word and phrase tables in string literals: every entry is one whole word or phrase, and occurs once."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import thinkback
from thinkback.language.attributes import ATTRIBUTE_ALIASES, ATTRIBUTE_RELATIONS, POSSESSION_ALIASES
from thinkback.language.en.lexicon import TRAITS
from thinkback.language.relation_templates import RELATION_TABLE

ROOT = Path(thinkback.__file__).parent
PACKAGES = ("language", "think", "recall", "session")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
REGEX_SYNTAX = re.compile(r"[\\()\[\]{}?*+^$|<>#]")


class Table(NamedTuple):
    name: str
    entries: list[str]


def word_tables() -> Iterator[Table]:
    """Literals that are split at white space: `word_set("...")`, `"...".split()` or a name for one."""
    for path in MODULES:
        tree = ast.parse(path.read_text("utf-8"))
        named: dict[str, ast.expr] = {}
        for statement in tree.body:
            if isinstance(statement, ast.Assign) and isinstance(target := statement.targets[0], ast.Name):
                named[target.id] = statement.value
        for statement in tree.body:
            if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
                continue
            for call in ast.walk(statement):
                if isinstance(call, ast.Call) and (literal := split_literal(call, named)) is not None:
                    yield Table(f"{path.relative_to(ROOT)}:{call.lineno}", literal.split())


def split_literal(call: ast.Call, named: dict[str, ast.expr]) -> str | None:
    source: ast.expr | None = None
    if isinstance(call.func, ast.Name) and call.func.id == "word_set":
        source = call.args[0]
    elif isinstance(call.func, ast.Attribute) and call.func.attr == "split" and not call.args:
        source = call.func.value
    if isinstance(source, ast.Name):
        source = named.get(source.id)
    if isinstance(source, ast.Constant) and isinstance(source.value, str):
        return source.value
    return None


def slash_tables() -> Iterator[Table]:
    """Literals that are split at "/", in modules that do so."""
    for path in MODULES:
        text = path.read_text("utf-8")
        if not re.search(r"""split\("/"\)|, "/"\)""", text):
            continue
        for statement in ast.parse(text).body:
            if not isinstance(statement, (ast.Assign, ast.AnnAssign)):
                continue
            for node in ast.walk(statement):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and "/" in node.value:
                    literal = node.value
                    if len(literal) > 1 and not REGEX_SYNTAX.search(literal):
                        yield Table(f"{path.relative_to(ROOT)}:{node.lineno}", literal.split("/"))


def comma_tables() -> Iterator[Table]:
    """Surface forms of relations and possessions; a comma may be followed by one space."""
    for relation, forms in RELATION_TABLE:
        yield Table(relation.name, re.split(", ?", forms) if forms else [])
    for possession, forms in POSSESSION_ALIASES.items():
        yield Table(possession, re.split(", ?", forms))
    for attribute in (*ATTRIBUTE_RELATIONS, *ATTRIBUTE_ALIASES):
        yield Table(attribute.relation, [*attribute.english_nouns, *attribute.chinese_nouns])


@pytest.mark.parametrize("table", list(word_tables()), ids=lambda table: table.name)
def test_word_table_has_whole_words_once(table: Table) -> None:
    assert [word for word, count in Counter(table.entries).items() if count > 1] == []
    assert [word for word in table.entries if word[0] in "-/'," or word[-1] in "-/',"] == []


@pytest.mark.parametrize("table", [*slash_tables(), *comma_tables()], ids=lambda table: table.name)
def test_phrase_table_has_whole_phrases_once(table: Table) -> None:
    assert [phrase for phrase, count in Counter(table.entries).items() if count > 1] == []
    assert [phrase for phrase in table.entries if phrase != " ".join(phrase.split()) or not phrase] == []


def test_relation_names_are_unique() -> None:
    names = Counter(relation.name for relation, _ in RELATION_TABLE)
    assert [name for name, count in names.items() if count > 1] == []


def test_tables_are_found() -> None:
    assert len(list(word_tables())) > 30
    assert len(list(slash_tables())) > 10


def test_trait_phrases_are_not_cut_at_a_line_break() -> None:
    assert {"left handed", "right handed", "lactose intolerant"} <= TRAITS
    assert TRAITS.isdisjoint({"left", "handed", "lactose-", "intolerant"})
