"""The tables of the grammar are complete: no pattern can break a world."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest

from thinkback_lab.errors import LabError
from thinkback_lab.worlds.grammar.content import EventTemplate, Facet, GrammarContent, load_content
from thinkback_lab.worlds.grammar.templates import TemplateEngine, TextBuilder, indefinite_article
from thinkback_lab.worlds.world import PROFILE_FIELDS, Lang

LANGS: tuple[Lang, ...] = ("en", "zh")
DRAWS = 60  # of each pattern: enough to meet every alternative many times
PEOPLE = {
    "en": {*("he", "him", "his", "himself", "bhe", "bhim", "bhis", "bhimself", "whose")},
    "zh": {"ta", "bta", "tamen"},
}
BOND = {"A", "Afull", "B", "Bfull", "rel", "since", "bage"}
EVENT = BOND | {"date", "month", "weekday", "year", "did", "what"}


def voice(words: GrammarContent) -> TemplateEngine:
    return TemplateEngine(random.Random(5), words.tables, words.pools)


def slots(speaker: TemplateEngine, pattern: str) -> Iterator[set[str]]:
    for _ in range(DRAWS):
        shape = speaker.shape(pattern)
        assert not re.search(r"[\[\]|]", shape), shape
        yield {slot.removeprefix("a ") for slot in re.findall(r"\{([^{}]+)\}", shape) if slot[0] != "@"}


def check(words: GrammarContent, patterns: tuple[str, ...], known: set[str], must: str = "") -> None:
    speaker = voice(words)
    for pattern in patterns:
        for found in slots(speaker, pattern):
            assert found <= known | PEOPLE[words.lang], (pattern, found - known)
            assert not must or must in found, (pattern, must)


def check_facet(words: GrammarContent, facet: Facet, known: set[str]) -> None:
    inner = known | set(facet.values)
    assert facet.say
    check(words, facet.say, inner, facet.name)
    check(words, facet.ask, known)
    check(words, facet.prompt, known)
    for options in facet.values.values():
        check(words, options, inner)


@pytest.mark.parametrize("lang", LANGS)
def test_relationship_facets_can_be_stated_and_asked(lang: Lang) -> None:
    words = load_content(lang)
    for facet in words.facets:
        check_facet(words, facet, BOND)
    for facet in words.missing:
        check(words, facet.ask, BOND)


@pytest.mark.parametrize("lang", LANGS)
def test_every_event_template_can_be_stated_and_asked(lang: Lang) -> None:
    words = load_content(lang)
    assert len({scenario.id for scenario in words.scenarios}) == len(words.scenarios)
    for scenario in words.scenarios:
        known = EVENT | set(scenario.values)
        for stage in scenario.tell:
            check(words, stage, known)
        check(words, (*scenario.did, *scenario.what), known - {"did", "what"})
        for options in scenario.values.values():
            check(words, options, known - {"did", "what"})
        assert set(scenario.ask) <= set(scenario.values)
        for cores in scenario.ask.values():
            check(words, cores, known)
        for facet in scenario.later:
            check_facet(words, facet, known)
        check(words, (*scenario.now, *scenario.past), BOND)


@pytest.mark.parametrize("lang", LANGS)
def test_every_asked_event_slot_is_always_stated(lang: Lang) -> None:
    """A slot that some draw of the stages leaves out would only be asked sometimes; none is."""
    words = load_content(lang)
    speaker = voice(words)
    for scenario in words.scenarios:
        wanted = {*scenario.ask, "date", *(["fact"] if scenario.chain else [])}
        for _ in range(DRAWS):
            told = _told(speaker, scenario)
            assert wanted <= told, (scenario.id, wanted - told)
            assert {"A", "B"} <= told, scenario.id


def _told(speaker: TemplateEngine, scenario: EventTemplate) -> set[str]:
    shapes = " ".join(speaker.shape(speaker.rng.choice(stage)) for stage in scenario.tell)
    return {slot.removeprefix("a ") for slot in re.findall(r"\{([^{}]+)\}", shapes)}


@pytest.mark.parametrize("lang", LANGS)
def test_changing_fact_has_older_and_newer_event(lang: Lang) -> None:
    chains: dict[str, list[EventTemplate]] = {}
    for scenario in load_content(lang).scenarios:
        if scenario.chain:
            chains.setdefault(scenario.chain, []).append(scenario)
    assert len(chains) >= 6
    for older, newer in (sorted(pair, key=lambda each: each.step) for pair in chains.values()):
        assert (older.step, newer.step) == (1, 2)
        assert older.past
        assert newer.now
        assert not set(older.values["fact"]) & set(newer.values["fact"]) - {"{@cafes}"}


@pytest.mark.parametrize("lang", LANGS)
def test_pools_and_dialogues_fit_any_event(lang: Lang) -> None:
    words = load_content(lang)
    for name, pool in words.pools.items():
        check(words, pool, EVENT | {"core"}, "core" if name.startswith("wrap_") else "")
    for facet in words.later:
        check_facet(words, facet, EVENT)
        assert facet.prompt
        assert not facet.clash & set(facet.values)


@pytest.mark.parametrize("lang", LANGS)
def test_every_relationship_type_has_events_and_facets(lang: Lang) -> None:
    words = load_content(lang)
    for tie in words.relationship_types:
        events = [each for each in words.scenarios if not each.chain and each.groups & tie.groups]
        assert len(events) >= 5, tie.word
        assert tie.age[0] <= tie.age[1]
        assert set(tie.needs) <= {other.word for other in words.relationship_types}


@pytest.mark.parametrize("lang", LANGS)
def test_tables_are_large_enough(lang: Lang) -> None:
    words = load_content(lang)
    assert len(words.professions) >= 10
    assert sum(len(work.jobs) for work in words.professions) >= 100
    assert len(words.hobbies) == 7
    assert set(words.fields) <= set(PROFILE_FIELDS)
    assert len({scenario.theme for scenario in words.scenarios}) >= 20
    for field, patterns in words.fields.items():
        check(words, patterns, BOND)
        assert len(patterns) >= 3, field


def test_unknown_slot_or_pool_is_named() -> None:
    speaker = TemplateEngine(random.Random(1), {}, {})
    with pytest.raises(LabError, match="slot 'nobody'"):
        TextBuilder(speaker, {}).say("{nobody} came.")
    with pytest.raises(LabError, match="pool 'none'"):
        speaker.shape("{+none}")
    with pytest.raises(LabError, match="unmatched opening"):
        speaker.shape("[a|b")
    with pytest.raises(LabError, match="unmatched closing"):
        speaker.shape("a]")


def test_builder_records_slot_positions() -> None:
    speaker = TemplateEngine(random.Random(1), {}, {})
    slots = {"A": "Ada", "Afull": "Ada Vane", "B": "Ben", "Bfull": "Ben Oz", "rel": "uncle", "his": "her"}
    telling = TextBuilder(
        speaker, slots | {"thing": "old lamp"}, {"A": "{Afull}", "B": "{whose} {rel} {Bfull}"}
    )
    telling.say("{B} bought {a thing}.")
    telling.say("{A} thanked {B}.")
    passage = telling.passage()
    assert passage.text == "Ada Vane's uncle Ben Oz bought an old lamp. Ada thanked Ben."
    anchor = passage.anchor("thing")
    assert (anchor.text, passage.text[anchor.start : anchor.end]) == ("old lamp", "old lamp")


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [("old lamp", "an"), ("hour", "an"), ("university", "a"), ("one-eyed cat", "a"), ("red hat", "a")],
)
def test_articles_depend_on_sound(phrase: str, expected: str) -> None:
    assert indefinite_article(phrase) == expected


def pools_used_by(pattern: str) -> set[str]:
    return set(re.findall(r"\{\+([^{}]+)\}", pattern))


@pytest.mark.parametrize("lang", LANGS)
def test_no_pool_refers_to_itself(lang: Lang) -> None:
    """`TemplateEngine.shape` expands pools until none is left, so a cycle of pools would never end."""
    words = load_content(lang)

    def visit(pool: str, path: tuple[str, ...]) -> None:
        assert pool not in path, " -> ".join((*path, pool))
        for used in sorted(set().union(*map(pools_used_by, words.pools[pool]))):
            visit(used, (*path, pool))

    for pool in words.pools:
        visit(pool, ())


@pytest.mark.parametrize("lang", LANGS)
def test_redrawn_values_have_alternatives(lang: Lang) -> None:
    """Changing facts, festival dates and padding sentences are drawn again until they fit."""
    words = load_content(lang)
    for template in words.scenarios:
        if template.chain:
            engine = voice(words)
            drawn = {engine.draw("fact", template.values["fact"], {}) for _ in range(DRAWS)}
            assert len(drawn) > 1, template.id
        if template.festival:
            assert any(day.startswith("2024") for day in words.festivals[template.festival]), template.id
    assert all(words.pools["colour"])
