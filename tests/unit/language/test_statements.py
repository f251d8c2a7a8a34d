"""Statements of facts in the user's words; most sentences are from scenarios and lives."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.timing import MAX_LINEAR_GROWTH, time_growth

from thinkback.language.statements import find_statements

Triple = tuple[str, str, str]


def triples(text: str, *, form: str = "statement") -> list[Triple]:
    return [(each.about, each.relation, each.value) for each in find_statements(text) if each.form == form]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("im joe", [("user", "is named", "Joe")]),
        ("we are in bristol btw", [("user", "lives in", "Bristol")]),
        ("我对芒果过敏 especially 芒果干", [("user", "is allergic to", "芒果")]),
        ("Big news, I moved to Denver over the weekend!", [("user", "lives in", "Denver")]),
        ("I live in Camden, London.", [("user", "lives in", "Camden, London")]),
        ("So I handed in my notice and started at Bosch this week.", [("user", "works at", "Bosch")]),
        ("My brother Felix is a firefighter.", [
            ("user", "has brother", "Felix"), ("Felix", "works as", "firefighter")]),
        ("my rent is 1,340 euros now", [("user", "rent", "1,340 euros")]),
        ("i take metformin 1000 mg twice a day now", [("user", "takes", "metformin 1000 mg")]),
        ("I'm allergic to peanuts, soy and milk", [
            ("user", "is allergic to", "peanuts"), ("user", "is allergic to", "soy"),
            ("user", "is allergic to", "milk")]),
        ("I speak English and a bit of Portuguese.", [
            ("user", "speaks", "English"), ("user", "speaks", "Portuguese")]),
        ("I like action and comedy movies.", [("user", "likes", "action and comedy movies")]),
        ("My girlfriend's name is Carla", [("user", "has girlfriend", "Carla")]),
        ("my favorite color now is burnt orange", [("user", "favourite colour", "burnt orange")]),
        ("上个月我搬到厦门了，海鲜便宜得离谱", [("user", "lives in", "厦门")]),
        ("我换工作了，现在在小米上班。", [("user", "works at", "小米")]),
        ("我女儿换学校了，现在在光明小学上学。", [("user's daughter", "studies at", "光明小学")]),
        ("我会说普通话和粤语。", [("user", "speaks", "普通话"), ("user", "speaks", "粤语")]),
        ("我最喜欢的颜色变成墨绿色了", [("user", "favourite colour", "墨绿色")]),
    ],
)  # fmt: skip
def test_plain_statements_are_read(text: str, expected: list[Triple]) -> None:
    assert triples(text) == expected


@pytest.mark.parametrize(
    "text", ["we have one boy who's in prep, just turned 5", "i have a mate called rob, moved to Spain"]
)
def test_a_clause_that_may_be_about_somebody_else_is_not_read(text: str) -> None:
    assert not {("user", "is aged"), ("user", "lives in")} & {triple[:2] for triple in triples(text)}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't eat pork, so please keep that in mind", [("user", "eats", "pork")]),
        ("I no longer smoke!", [("user", "smokes", "smoke")]),
        ("我没有糖尿病，虚惊一场！", [("user", "has condition", "糖尿病")]),
    ],
)
def test_negative_statements_are_read(text: str, expected: list[Triple]) -> None:
    assert triples(text, form="negation") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("i no longer work at Siemens", ("user", "works at", "Siemens")),
        ("I don't like coffee anymore, it makes me jittery.", ("user", "likes", "coffee")),
        ("我已经不在广州住了，现在在深圳。", ("user", "lives in", "广州")),
    ],
)
def test_denials_are_read(text: str, expected: Triple) -> None:
    assert expected in triples(text, form="denial")


@pytest.mark.parametrize(
    "text",
    [
        "Am I allergic to shellfish?",
        "What would it cost to live in Zurich?",
        "If I worked as a nurse in Sweden, how much would I earn?",
        "If I worked at Google I would earn more.",
        "im tired",
        "i live in fear of the dentist",
        "we are in trouble",
        "i moved to a bigger flat",
        "I'm a terrible cook",
        "I work at night",
        "i love it",
        "I love that you asked",
        "my colleague says Leipzig is a nice place to live",
        "Translate this for me: I live in Rome and my name is Anna.",
        'he said "I live in Paris"',
        "i used to live in Hull",
        "im 34 minutes late",
        "I wish I lived in Rome",
        "我是不是对海鲜过敏？",
        "如果我在腾讯工作，工资会更高。",
        "我小时候住在石家庄。",
        "我爱人说报警，我说再等等。",
        "我妈要结婚了 对象姓李 开大货的 我叫李叔 人还中",
        "我还有两个儿子。",
        "我要不要搬到南京？",
        "讲个冷笑话：我是一只北极熊",
        "我妹妹在南京读大学",
        "我儿子在上海念高中",
        "我弟弟在北京上小学",
        "我侄女在考大学",
    ],
)
def test_other_sentences_state_nothing(text: str) -> None:
    assert find_statements(text) == []


def test_known_names_are_subjects_and_near_names_are_others() -> None:
    found = find_statements("Anna lives in Rome. Ana lives in Porto.", [("Anna",), ("Ana",)])
    assert [(each.about, each.value) for each in found] == [("Anna", "Rome"), ("Ana", "Porto")]


@given(st.text(max_size=200))
@settings(max_examples=60, deadline=None)
def test_spans_lie_in_the_text(text: str) -> None:
    for each in find_statements(text):
        assert 0 <= each.start < each.end <= len(text)
        assert each.value


@pytest.mark.parametrize("unit", ["i live in ", "my my my ", "我在我在", ", and i work at a a a "])
def test_time_grows_linearly_with_the_text(unit: str) -> None:
    find_statements("I live in Rome.")
    assert time_growth(lambda size: find_statements(unit * size), 800) < MAX_LINEAR_GROWTH


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("im dana, 34, i live in porto", [("is named", "Dana"), ("is aged", "34"), ("lives in", "Porto")]),
        ("hi! I'm Zainab, 27, from Leeds", [("is named", "Zainab"), ("is aged", "27")]),
        ("I'm Sanne, 29, from Ghent", [("is named", "Sanne"), ("is aged", "29")]),
        ("我叫廖德胜，39，自贡的", [("is named", "廖德胜"), ("is aged", "39")]),
        ("hi 我是kevin，在上海", [("is named", "Kevin")]),
        ("I'm Scorpio, 28", []),
        ("im gay, 34", []),
        ("I'm autistic, 34, and work from home", []),
        ("im broke, 20 quid left", []),
        ("im pregnant, 23 weeks", []),
        ("this is Rex, 12 and he loves balls", []),
        ("我是金牛座，28", []),
        ("我是designer", []),
    ],
)
def test_name_before_an_age(text: str, facts: list[tuple[str, str]]) -> None:
    assert [(each.relation, each.value) for each in find_statements(text)] == facts
