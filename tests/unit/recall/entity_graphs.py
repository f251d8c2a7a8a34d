"""Entity graphs of a few sentences, for tests.

The thoughts are written down here as a model would read them from the sentences: what the graph makes of
thoughts is tested, not what a reader makes of sentences. One value is one thought.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache

from thinkback.recall.entities import EntityGraph
from thinkback.types import SAME_AS, Thought

AT = datetime(2024, 5, 1, tzinfo=UTC)
Stated = tuple[str, str, str, str]
"""Subject, relation, object and sentence of a thought."""

READINGS: Mapping[str, tuple[Stated, ...]] = {
    "My name is Ben.": (("user", "is named", "Ben", "The user is named Ben."),),
    "My sister Anna lives in Oslo.": (
        ("user", "has sister", "Anna", "The user's sister is Anna."),
        ("Anna", "lives in", "Oslo", "Anna lives in Oslo."),
    ),
    "Anna is married to Erik.": (("Anna", "has partner", "Erik", "Anna's partner is Erik."),),
    "Erik works at Equinor.": (("Erik", "works at", "Equinor", "Erik works at Equinor."),),
    "Equinor is based in Stavanger.": (
        ("Equinor", "lives in", "Stavanger", "Equinor is based in Stavanger."),
    ),
    "My boss Carla speaks Spanish.": (
        ("user", "has boss", "Carla", "The user's boss is Carla."),
        ("Carla", "speaks", "Spanish", "Carla speaks Spanish."),
    ),
    "Carla has a son named Leo.": (("Carla", "has son", "Leo", "Carla's son is Leo."),),
    "Leo plays chess.": (("Leo", "plays", "chess", "Leo plays chess."),),
    "My friend Bob lives in Bergen.": (
        ("user", "has friend", "Bob", "The user's friend is Bob."),
        ("Bob", "lives in", "Bergen", "Bob lives in Bergen."),
    ),
    "Bob works as a chef.": (("Bob", "works as", "chef", "Bob works as a chef."),),
    "My wife Kate is allergic to nuts.": (
        ("user", "has wife", "Kate", "The user's wife is Kate."),
        ("Kate", "is allergic to", "nuts", "Kate is allergic to nuts."),
    ),
    "Kate has a brother named Max.": (("Kate", "has brother", "Max", "Kate's brother is Max."),),
    "Max drives a Volvo.": (("Max", "drives", "a Volvo", "Max drives a Volvo."),),
    "My sister has a son called Nils.": (("Anna", "has son", "Nils", "Anna's son is Nils."),),
    "Nils likes trains.": (("Nils", "likes", "trains", "Nils likes trains."),),
    "My neighbour Jack has a cat named Misty.": (
        ("user", "has neighbour", "Jack", "The user's neighbour is Jack."),
        ("Jack", "has cat", "Misty", "Jack has a cat named Misty."),
    ),
    "Misty is 4 years old.": (("Misty", "is aged", "4", "Misty is 4 years old."),),
    "I work at Siemens.": (("user", "works at", "Siemens", "The user works at Siemens."),),
    "Siemens is based in Munich.": (("Siemens", "lives in", "Munich", "Siemens is based in Munich."),),
    "My colleague Priya is a vegetarian.": (
        ("user", "has colleague", "Priya", "The user's colleague is Priya."),
        ("Priya", "diet", "vegetarian", "Priya is vegetarian."),
    ),
    "Priya grew up in Pune.": (("Priya", "grew up in", "Pune", "Priya grew up in Pune."),),
    "我妹妹叫安娜。": (("user", "has sister", "安娜", "用户的妹妹是安娜。"),),
    "我妹妹有个儿子叫小明。": (("安娜", "has son", "小明", "安娜的儿子是小明。"),),
    "小明喜欢恐龙。": (("小明", "likes", "恐龙", "小明喜欢恐龙。"),),
    "我的朋友王伟住在奥斯陆。": (
        ("user", "has friend", "王伟", "用户的朋友是王伟。"),
        ("王伟", "lives in", "奥斯陆", "王伟住在奥斯陆。"),
    ),
    "王伟是工程师。": (("王伟", "works as", "工程师", "王伟的职业是工程师。"),),
    "我朋友王伟养了一只猫叫咪咪。": (("王伟", "has cat", "咪咪", "王伟有猫叫咪咪。"),),
    "咪咪喜欢睡觉。": (("咪咪", "likes", "睡觉", "咪咪喜欢睡觉。"),),
    "我表哥叫赵磊，他在腾讯工作。": (
        ("user", "has cousin", "赵磊", "用户的表哥是赵磊。"),
        ("赵磊", "works at", "腾讯", "赵磊工作于腾讯。"),
    ),
    "赵磊喜欢足球。": (("赵磊", "likes", "足球", "赵磊喜欢足球。"),),
    "我姐姐叫李娜。": (("user", "has sister", "李娜", "用户的姐姐是李娜。"),),
    "李娜住在北京。": (("李娜", "lives in", "北京", "李娜住在北京。"),),
    "我老板叫刘洋。": (("user", "has boss", "刘洋", "用户的老板是刘洋。"),),
    "刘洋喜欢钓鱼。": (("刘洋", "likes", "钓鱼", "刘洋喜欢钓鱼。"),),
    "刘洋住在深圳。": (("刘洋", "lives in", "深圳", "刘洋住在深圳。"),),
    "我男朋友是程序员。": (("user's boyfriend", "works as", "程序员", "用户的男朋友的职业是程序员。"),),
    "我男朋友叫高明。": (("user", "has boyfriend", "高明", "用户的男朋友是高明。"),),
    "我同事张敏会说法语。": (
        ("user", "has colleague", "张敏", "用户的同事是张敏。"),
        ("张敏", "speaks", "法语", "张敏会说法语。"),
    ),
    "张敏在杭州长大。": (("张敏", "grew up in", "杭州", "张敏在杭州长大。"),),
    "Erik is Tom's brother.": (("Tom", "has brother", "Erik", "Tom's brother is Erik."),),
    "Lena is Erik's mother.": (("Erik", "has mother", "Lena", "Erik's mother is Lena."),),
    "Lena's hobby is fishing.": (("Lena", "likes", "fishing", "Lena likes fishing."),),
    "陈刚的妻子在医院工作。": (("陈刚的妻子", "works at", "医院", "陈刚的妻子工作于医院。"),),
    "林月是陈刚的妻子。": (("陈刚", "has wife", "林月", "陈刚的妻子是林月。"),),
    "陈刚是李伟的哥哥。": (("李伟", "has brother", "陈刚", "李伟的哥哥是陈刚。"),),
    "My older sister Anna lives in Oslo.": (
        ("user", "has older sister", "Anna", "The user's older sister is Anna."),
        ("Anna", "lives in", "Oslo", "Anna lives in Oslo."),
    ),
    "My younger sister Eve lives in Rome.": (
        ("user", "has younger sister", "Eve", "The user's younger sister is Eve."),
        ("Eve", "lives in", "Rome", "Eve lives in Rome."),
    ),
    "I have two sisters, Anna and Eve.": (
        ("user", "has sister", "Anna", "The user's sister is Anna."),
        ("user", "has sister", "Eve", "The user's sister is Eve."),
    ),
    "My mother Ruth lives in Leeds.": (
        ("user", "has mother", "Ruth", "The user's mother is Ruth."),
        ("Ruth", "lives in", "Leeds", "Ruth lives in Leeds."),
    ),
}


def thought(
    id_: int, subject: str, relation: str, *objects: str, sentence: str = "", negated: bool = False
) -> Thought:
    return Thought(
        id=id_,
        subject=subject,
        relation=relation,
        objects=objects,
        sentence=sentence or f"{subject} {relation} {', '.join(objects)}.",
        kind="profile",
        sources=(),
        negated=negated,
        recorded_at=AT,
    )


TWO_TOMS = (
    thought(1, "user", "has cousin", "Tom"),
    thought(2, "Tom", "lives in", "Berlin"),
    thought(3, "Tom (user's friend)", SAME_AS, "Tom", negated=True),
    thought(4, "user", "has friend", "Tom"),
    thought(5, "Tom (user's friend)", "lives in", "Paris"),
    thought(6, "Tom (user's friend)", "works as", "vet"),
)
"""A cousin and a friend of one name, told apart."""

NICKNAMED = (
    thought(1, "user", "has friend", "Katherine"),
    thought(2, "Katherine", SAME_AS, "Kat"),
    thought(3, "Katherine", "studies", "biology"),
)
"""A friend with a second name."""


@lru_cache(maxsize=32)
def thoughts_of(*sentences: str) -> tuple[Thought, ...]:
    """The thoughts of these sentences, in order."""
    stated = [each for sentence in sentences for each in READINGS[sentence]]
    return tuple(
        thought(id_, subject, relation, object_, sentence=sentence)
        for id_, (subject, relation, object_, sentence) in enumerate(stated, start=1)
    )


@lru_cache(maxsize=32)
def graph_of(*sentences: str) -> EntityGraph:
    return EntityGraph.from_thoughts(thoughts_of(*sentences))
