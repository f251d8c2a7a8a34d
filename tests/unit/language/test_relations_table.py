"""The schema of relations.toml, and that every pattern of it can be compiled."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from typing import Any

import pytest

from thinkback.language.protocol import LANGUAGE_MODULES, load_language
from thinkback.language.relations import get_relation, list_families, list_relations
from thinkback.language.statements import compile_pattern
from thinkback.types import KINDS

RECORDS: list[dict[str, Any]] = tomllib.loads(
    files("thinkback.language").joinpath("relations.toml").read_text("utf-8")
)["relation"]
FIELDS = {"name", "kind", "cardinality", "past", "aliases", "article", "value", *LANGUAGE_MODULES}
WORDING_FIELDS = {"noun", "sentence", "negated", "cues", "statements", "negations", "denials"}


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["name"])
def test_record_has_only_known_fields_and_values(record: dict[str, Any]) -> None:
    assert set(record) <= FIELDS
    assert record["kind"] in KINDS
    assert record["cardinality"] in ("one", "many", "role")
    assert all(alias.strip() == alias and alias for alias in record.get("aliases", ()))
    for lang in LANGUAGE_MODULES:
        assert set(record.get(lang, {})) <= WORDING_FIELDS


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record["name"])
def test_sentences_name_the_subject(record: dict[str, Any]) -> None:
    if "{" in record["name"]:
        pytest.skip("the sentences of a family are derived")
    for lang in LANGUAGE_MODULES:
        wording = get_relation(record["name"]).wording(lang)
        assert wording.sentence.count("{s}") == wording.negated.count("{s}") == 1
        assert wording.sentence != wording.negated


def test_names_are_unique_and_past_relations_exist() -> None:
    names = [record["name"] for record in RECORDS]
    assert len(names) == len(set(names))
    assert {record["past"] for record in RECORDS if "past" in record} <= set(names)


def test_an_alias_belongs_to_one_relation() -> None:
    owners: dict[str, str] = {}
    for relation in list_relations():
        for alias in relation.aliases:
            assert owners.setdefault(alias.casefold(), relation.name) == relation.name, alias


@pytest.mark.parametrize("code", LANGUAGE_MODULES)
def test_every_pattern_can_be_compiled_and_has_a_value(code: str) -> None:
    language = load_language(code)
    for relation in (*list_relations(), *list_families()):
        wording = relation.wordings[code]
        for template in (*wording.statements, *wording.negations, *wording.denials):
            pattern = compile_pattern(template, relation, "statement", language)
            assert "value" in pattern.regex.groupindex, template


@pytest.mark.parametrize("code", LANGUAGE_MODULES)
def test_every_check_of_a_slot_exists(code: str) -> None:
    language = load_language(code)
    for name, slot in language.lexicon.slots.items():
        assert isinstance(language.check_value(slot.check, "x"), str), name
