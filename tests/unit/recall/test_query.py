"""Query resolution: the entities a query refers to, the names to search for, and the reasons."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.recall.entity_graphs import NICKNAMED, TWO_TOMS, graph_of, thought, thoughts_of
from tests.unit.recall.two_hop_questions import (
    CHINESE,
    ENGLISH,
    HELD_OUT,
    HELD_OUT_AGAIN,
    SEEN,
    Asked,
    found,
)

from thinkback.recall.entities import EntityGraph
from thinkback.recall.query import may_name_entity, resolve_query
from thinkback.types import SAME_AS


@pytest.mark.parametrize(
    ("query", "expansions"),
    [
        ("Where does my sister live?", ("Anna",)),
        ("where does my sister's husband work?", ("Erik",)),
        ("Where does my sister’s husband work?", ("Erik",)),
        ("Where is my sister's husband's company based?", ("Equinor",)),
        ("In which city is the company my brother-in-law works for?", ("Equinor",)),
        ("What is the job of the person who lives in Bergen?", ("Bob",)),
        ("What does the guy who works as a chef like?", ("Bob",)),
        ("Does my sister work, and where does her husband work?", ("Anna", "Erik")),
        ("What does Ben do for a living?", ("user",)),
        ("Is Erik's wife well?", ("Anna",)),
        ("What did the son of my boss win?", ("Leo",)),
        ("What does my little sister's boy like?", ("Nils",)),
        ("Where does a friend of mine in Bergen work?", ("Bob",)),
        ("Where did my vegetarian colleague grow up?", ("Priya",)),
        ("我妹妹的丈夫在哪里工作？", ("Erik",)),
        ("我老板的儿子会下棋吗？", ("Leo",)),
        ("我的公司在哪个城市？", ("Siemens",)),
    ],
)
def test_query_is_expanded_with_names(query: str, expansions: tuple[str, ...]) -> None:
    brothers = tuple(
        sentence for sentence in ENGLISH if "Max" not in sentence
    )  # else a second brother-in-law
    assert resolve_query(query, graph_of(*brothers)).expansions == expansions


TIES = (
    "Erik works at Equinor.",
    "Erik is Tom's brother.",
    "Lena is Erik's mother.",
    "Lena's hobby is fishing.",
    "陈刚的妻子在医院工作。",
    "林月是陈刚的妻子。",
    "陈刚是李伟的哥哥。",
)


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("Where does Tom's brother work?", "Erik"),
        ("What does the mother of Erik do in her free time?", "Lena"),
        ("Is Tom's mother well?", "Lena"),
        ("林月的丈夫是谁？", "陈刚"),
        ("陈刚的老婆在哪里上班？", "林月"),
        ("李伟的嫂子在哪里上班？", "陈刚的妻子"),
    ],
)
def test_query_may_mention_relatives_of_others(query: str, name: str) -> None:
    assert may_name_entity(query)
    assert name in resolve_query(query, graph_of(*TIES)).expansions


@pytest.mark.parametrize(
    "query", ["Where does Tom work?", "王强在哪里工作？", "What's the weather like?", ""]
)
def test_most_queries_need_no_graph(query: str) -> None:
    assert not may_name_entity(query)


@pytest.mark.parametrize(
    ("query", "expansions"),
    [
        ("我妹妹的儿子喜欢什么？", ("小明",)),
        ("住在奥斯陆的那个朋友是做什么的？", ("王伟",)),
        ("请问喜欢钓鱼的人住哪儿", ("刘洋",)),
        ("我表哥的公司怎么样？", ("腾讯",)),
        ("我姐姐住在哪里", ("李娜",)),
        ("我妹妹最近好吗，她的儿子呢？", ("安娜", "小明")),
        ("What does my cousin like?", ("赵磊",)),
    ],
)
def test_chinese_query_is_expanded_with_names(query: str, expansions: tuple[str, ...]) -> None:
    assert resolve_query(query, graph_of(*CHINESE)).expansions == expansions


@pytest.mark.parametrize(
    "query",
    [
        "What is my brother called?",
        "Where does Anna live?",  # the name is there already
        "Will it rain on Friday?",
        "What is the best sister city of Oslo?",
        "Who lives in Bergen?",
        "What does the person who lives in Rome do?",
        "What did the colleague who lives in Bergen say?",
        "Do people in Bergen like fish?",
        "What was my old company?",
        "What did my Norwegian friend say?",
        "What is on my to-do list?",
        "How many sisters do nuns have?",
        "his wife",
        "我弟弟住在哪里？",
        "她的丈夫是谁？",
        "今天天气怎么样？",
        "住在罗马的朋友是谁？",
        "姐妹城市是什么意思？",
        "",
        "?",
    ],
)
def test_query_without_known_entities_is_not_expanded(query: str) -> None:
    understood = resolve_query(query, graph_of(*ENGLISH))
    assert understood.expansions == ()
    assert understood.linking_ids == ()


def test_lower_case_word_is_not_a_name() -> None:
    graph = EntityGraph.from_thoughts(
        [thought(1, "user", "has friend", "Will"), thought(2, "Will", SAME_AS, "Billy")]
    )
    assert resolve_query("Will it rain, and will you go?", graph).expansions == ()
    assert resolve_query("Where does Will live?", graph).aliases == ("Billy",)


def test_aliases_are_separate_from_expansions() -> None:
    graph = EntityGraph.from_thoughts(NICKNAMED)
    asked, asked_by_alias = (
        resolve_query(f"What does {name} study?", graph) for name in ("Katherine", "Kat")
    )
    assert (asked.expansions, asked.aliases) == ((), ("Kat",))
    assert (asked_by_alias.expansions, asked_by_alias.aliases) == (("Katherine",), ())


def test_name_is_expanded_with_the_role_facts_were_told_of() -> None:
    told = (
        thought(1, "用户的男朋友", "works as", "程序员"),
        thought(2, "高明", SAME_AS, "user's boyfriend"),
        thought(3, "user", "has boyfriend", "高明"),
    )
    query = "高明是做什么工作的？"
    assert resolve_query(query, EntityGraph.from_thoughts(told)).expansions == ("用户的男朋友",)
    assert resolve_query(query, EntityGraph.from_thoughts(told[:1])).expansions == ()


def test_reasons_contain_path_and_thoughts() -> None:
    thoughts = {(each.subject, each.relation): each for each in thoughts_of(*ENGLISH)}
    sister, partner = thoughts["user", "has sister"], thoughts["Anna", "has partner"]
    understood = resolve_query("Where does my sister's husband work?", graph_of(*ENGLISH))
    [mention] = understood.mentions
    assert mention.phrase == "my sister's husband"
    assert mention.names == ("Erik",)
    assert mention.path == f"my sister's husband -> Anna ({sister.ref}) -> Erik ({partner.ref})"
    assert understood.linking_ids == (sister.id, partner.id)
    assert understood.about_ids == (thoughts["Erik", "works at"].id,)
    assert understood.reasons == (f"{mention.path}: also searched for Erik",)
    assert understood.question == "where"


def test_identity_thought_is_not_a_linking_thought() -> None:
    """It answers no question, and the index does not hold it."""
    thoughts = (
        thought(1, "Lily", SAME_AS, "user's brother's daughter"),
        thought(2, "user's brother", "has daughter", "Lily"),
        thought(3, "Lily", "likes", "ponies"),
    )
    named = [each for each in thoughts if each.relation != SAME_AS]
    for query in ("What does my brother's daughter like?", "What does my niece like?"):
        understood = resolve_query(query, EntityGraph.from_thoughts(thoughts))
        assert understood.expansions[-1:] == ("Lily",)
        assert set(understood.linking_ids) <= {each.id for each in named}


def test_missing_step_keeps_the_starting_entity() -> None:
    understood = resolve_query("Who is my sister's dentist?", graph_of(*ENGLISH))
    assert understood.expansions == ("Anna",)
    assert understood.mentions[0].path.endswith("-> ?")
    assert "nothing known of a dentist" in understood.reasons[-1]


def test_shared_name_is_expanded_only_if_told_apart() -> None:
    graph = EntityGraph.from_thoughts(TWO_TOMS)
    assert resolve_query("What does Tom do?", graph).mentions == ()
    assert resolve_query("What does my friend Tom do?", graph).expansions == ("Tom (user's friend)",)
    assert resolve_query("What does Tom who lives in Paris do?", graph).expansions == ("Tom (user's friend)",)
    assert len(resolve_query("Where does my cousin Tom live?", graph).about_ids) == 1


@given(st.text(max_size=400))
def test_resolution_of_any_text_is_deterministic(query: str) -> None:
    graph = graph_of(*ENGLISH, *CHINESE)
    assert resolve_query(query, graph) == resolve_query(query, graph)


_WORDS = "my the who of lives in Oslo sister 's husband Anna Tom works her 我 妹妹 的 丈夫 住在 人 公司"


@given(st.lists(st.sampled_from(_WORDS.split()), max_size=30), st.sampled_from(["", " "]))
def test_any_word_order_is_resolved(words: list[str], mark: str) -> None:
    query = mark.join(words)
    graph = graph_of(*ENGLISH)
    understood = resolve_query(query, graph)
    assert all(mention.phrase in query for mention in understood.mentions)
    assert set(understood.expansions) <= {name for mention in understood.mentions for name in mention.names}
    assert understood == resolve_query(query, graph)


def test_empty_space_adds_nothing() -> None:
    understood = resolve_query("Where does my sister's husband work?", EntityGraph.from_thoughts(()))
    assert (understood.mentions, understood.expansions, understood.question) == ((), (), "where")


def share(questions: tuple[Asked, ...]) -> float:
    """How often the second of two facts is among what is told of whom the query names."""
    told = {True: thoughts_of(*ENGLISH), False: thoughts_of(*CHINESE)}
    graphs = {key: EntityGraph.from_thoughts(thoughts) for key, thoughts in told.items()}
    hits = [found(each, graphs[each.query.isascii()], told[each.query.isascii()]) for each in questions]
    return sum(hits) / len(hits)


def test_second_fact_of_a_two_hop_question_is_found() -> None:
    assert share(SEEN) == 1.0
    assert share(HELD_OUT) == 1.0
    assert share(HELD_OUT_AGAIN) >= 0.75
