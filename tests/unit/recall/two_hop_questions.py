"""Questions that need two facts: one thought says who is meant, another contains the answer.

`HELD_OUT` was written before the code was tried on it: the first run found 8 of 12, then the code was
improved. `HELD_OUT_AGAIN` was written after that: 7 of 12 in the first run, 9 after improvements.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from thinkback.recall.entities import EntityGraph
from thinkback.recall.query import resolve_query
from thinkback.types import Thought

ENGLISH = (
    "My name is Ben.",
    "My sister Anna lives in Oslo.",
    "Anna is married to Erik.",
    "Erik works at Equinor.",
    "Equinor is based in Stavanger.",
    "My boss Carla speaks Spanish.",
    "Carla has a son named Leo.",
    "Leo plays chess.",
    "My friend Bob lives in Bergen.",
    "Bob works as a chef.",
    "My wife Kate is allergic to nuts.",
    "Kate has a brother named Max.",
    "Max drives a Volvo.",
    "My sister has a son called Nils.",
    "Nils likes trains.",
    "My neighbour Jack has a cat named Misty.",
    "Misty is 4 years old.",
    "I work at Siemens.",
    "Siemens is based in Munich.",
    "My colleague Priya is a vegetarian.",
    "Priya grew up in Pune.",
)
CHINESE = (
    "我妹妹叫安娜。",
    "我妹妹有个儿子叫小明。",
    "小明喜欢恐龙。",
    "我的朋友王伟住在奥斯陆。",
    "王伟是工程师。",
    "我朋友王伟养了一只猫叫咪咪。",
    "咪咪喜欢睡觉。",
    "我表哥叫赵磊，他在腾讯工作。",
    "赵磊喜欢足球。",
    "我姐姐叫李娜。",
    "李娜住在北京。",
    "我老板叫刘洋。",
    "刘洋喜欢钓鱼。",
    "刘洋住在深圳。",
    "我男朋友是程序员。",
    "我男朋友叫高明。",
    "我同事张敏会说法语。",
    "张敏在杭州长大。",
)


class Asked(NamedTuple):
    """A question with the subject and relation of the second fact."""

    query: str
    subject: str
    relation: str


SEEN = (
    Asked("Where does my sister's husband work?", "Erik", "works at"),
    Asked("What does my boss's son play?", "Leo", "plays"),
    Asked("What is the job of the person who lives in Bergen?", "Bob", "works as"),
    Asked("What does my nephew like?", "Nils", "likes"),
    Asked("What car does my wife's brother drive?", "Max", "drives"),
    Asked("Where is my company based?", "Siemens", "lives in"),
    Asked("我妹妹的儿子喜欢什么？", "小明", "likes"),
    Asked("住在奥斯陆的那个朋友是做什么的？", "王伟", "works as"),
    Asked("在腾讯工作的人喜欢什么运动？", "赵磊", "likes"),
    Asked("喜欢钓鱼的那个人住在哪里？", "刘洋", "lives in"),
    Asked("王伟的猫喜欢做什么？", "咪咪", "likes"),
    Asked("What do I know about the cat of my neighbour?", "Misty", "is aged"),
)
HELD_OUT = (
    Asked("Which company employs my brother-in-law Erik's wife's husband?", "Erik", "works at"),
    Asked("How old is my neighbour's cat?", "Misty", "is aged"),
    Asked("Do you remember what the friend of mine in Bergen does for a living?", "Bob", "works as"),
    Asked("Where did my colleague who is a vegetarian grow up?", "Priya", "grew up in"),
    Asked("In which town are the headquarters of the firm Erik works for?", "Equinor", "lives in"),
    Asked("What game is Carla's kid into?", "Leo", "plays"),
    Asked("Tell me what Anna's little boy enjoys.", "Nils", "likes"),
    Asked("我老板住的城市是哪里？他住在哪个城市", "刘洋", "lives in"),
    Asked("会说法语的同事是在哪里长大的？", "张敏", "grew up in"),
    Asked("我外甥最喜欢什么动物？", "小明", "likes"),
    Asked("我那个当工程师的朋友家在什么地方？", "王伟", "lives in"),
    Asked("我的朋友养的猫叫什么，它喜欢干什么？", "咪咪", "likes"),
)

HELD_OUT_AGAIN = (
    Asked("Could you remind me which firm employs the man my sister is married to?", "Erik", "works at"),
    Asked("What's the hobby of my boss Carla's boy?", "Leo", "plays"),
    Asked("Where was my vegetarian colleague raised?", "Priya", "grew up in"),
    Asked("Is the one allergic to nuts my wife, and what does her brother drive?", "Max", "drives"),
    Asked("What does someone who lives in Bergen and is my friend work as?", "Bob", "works as"),
    Asked("where's the headquarters of the company that employs me", "Siemens", "lives in"),
    Asked("How old is Jack's pet?", "Misty", "is aged"),
    Asked("我姐夫的老婆住哪儿？", "李娜", "lives in"),
    Asked("跟我一起上班、会说法语的那个同事在哪长大？", "张敏", "grew up in"),
    Asked("小明他妈妈的姐姐住在哪个城市？", "李娜", "lives in"),
    Asked("我那位做工程师的朋友住在哪里？", "王伟", "lives in"),
    Asked("我表哥除了工作还喜欢什么？", "赵磊", "likes"),
)


def found(asked: Asked, graph: EntityGraph, thoughts: Iterable[Thought]) -> bool:
    """Whether the second fact is about the entities of the query, or links to them."""
    understood = resolve_query(asked.query, graph)
    told = {fact.id for name in understood.expansions for fact in graph.facts_about(name)} | {
        *understood.about_ids,
        *understood.linking_ids,
    }
    triples = {(thought.subject, thought.relation) for thought in thoughts if thought.id in told}
    return (asked.subject, asked.relation) in triples
