"""Query understanding without a model: what is asked for, and whom the query speaks of under other names.

"Where does my sister's husband work?" holds no word of "Erik works at Equinor". The graph leads from the
phrase to the name; what it found is words to search with, the thoughts that link, and the way in words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from thinkback.recall.graph import Followed, Graph
from thinkback.recall.who import Reached
from thinkback.text.chain import Chain
from thinkback.text.chains import chains
from thinkback.text.names import USER
from thinkback.text.question_type import QuestionType, question_type
from thinkback.text.scripts import HAN
from thinkback.types import Ref

_USER_ZH = "用户"
_HAN = re.compile(f"[{HAN}]")


@dataclass(frozen=True, slots=True)
class Mention:
    """A phrase of the query, all names of whom it names, and the way from one to the other in words."""

    phrase: str
    names: tuple[str, ...]
    path: str


@dataclass(frozen=True, slots=True)
class Understood:
    """`expansions` are the names, besides those in the query, that thoughts about those it means are kept
    under: words to search with. `aliases` are their other names, which raw turns may use: most add nothing.
    `bridge` are the thoughts that lead to them.

    `about` are the thoughts told of those mentioned, by whatever name; of the user, who has too many, none.
    """

    question: QuestionType
    mentions: tuple[Mention, ...] = ()
    expansions: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    bridge: tuple[int, ...] = ()
    about: tuple[int, ...] = ()
    reasons: tuple[str, ...] = ()


def understand(query: str, graph: Graph) -> Understood:
    """What a query is after, as far as its words and the graph tell; the same for the same two, always."""
    mentions: list[Mention] = []
    expansions: dict[str, None] = {}
    aliases: dict[str, None] = {}
    bridge: dict[int, None] = {}
    about: dict[int, None] = {}
    reasons: list[str] = []
    before: Sequence[Reached] = ()
    covered: list[range] = []
    for chain in chains(query, graph.is_name):
        if any(chain.start in span for span in covered):
            continue
        followed = graph.follow(chain, before)
        if not followed.reached:
            continue
        before = followed.reached
        covered.append(range(chain.start, followed.end))
        mention = _mention(query, chain, followed, graph)
        mentions.append(mention)
        kept = {name for each in before for name in _kept_under(each, graph, query)}
        unsaid = [name for name in mention.names if not _said(name, query)]
        new = [name for name in unsaid if name in kept]
        expansions |= dict.fromkeys(new)
        aliases |= dict.fromkeys(name for name in unsaid if name not in kept)
        bridge |= dict.fromkeys(id_ for each in followed.reached for _, id_ in each.path)
        about |= dict.fromkeys(
            id_ for each in before if each.key != USER for id_ in graph.ids_about(each.key)
        )
        reasons += _reasons(mention, followed, new)
    return Understood(
        question=question_type(query),
        mentions=tuple(mentions),
        expansions=tuple(expansions),
        aliases=tuple(name for name in aliases if name not in expansions),
        bridge=tuple(bridge),
        about=tuple(about),
        reasons=tuple(reasons),
    )


def _mention(query: str, chain: Chain, followed: Followed, graph: Graph) -> Mention:
    phrase = query[chain.start : followed.end]
    names: dict[str, None] = {}
    ways: list[str] = []
    for each in followed.reached:
        own = _names(each, graph, query)
        names |= dict.fromkeys(own)
        ways.append(
            " -> ".join(
                (phrase, *(_steps(each, graph) or [", ".join(own)]), *("?" if followed.missing else ""))
            )
        )
    return Mention(phrase, tuple(names), "; ".join(ways))


def _steps(one: Reached, graph: Graph) -> list[str]:
    """ "Anna (thought:4)": of several thoughts in a row about one name, all at once."""
    grouped: list[tuple[str, list[str]]] = []
    for key, id_ in one.path:
        name = graph.label(key)
        if grouped and grouped[-1][0] == name:
            grouped[-1][1].append(str(Ref("thought", id_)))
        else:
            grouped.append((name, [str(Ref("thought", id_))]))
    return [f"{name} ({', '.join(refs)})" for name, refs in grouped]


def _names(one: Reached, graph: Graph, query: str) -> tuple[str, ...]:
    if one.key == USER:  # a question about the user by his name: thoughts call him the user
        return (_USER_ZH,) if _HAN.search(query) else (USER,)
    return graph.names_of(one.key) or tuple(name for name, _ in one.path[-1:])


def _kept_under(one: Reached, graph: Graph, query: str) -> tuple[str, ...]:
    kept = graph.kept_under(one.key) if one.key != USER else ()
    return kept or _names(one, graph, query)


def _said(name: str, query: str) -> bool:
    """Whether the query has the words of a name already: "my mom" those of "user's mom"."""
    bare = name.removeprefix(f"{USER}'s ").removeprefix(f"{_USER_ZH}的")
    if _HAN.search(bare):
        return bare in query
    text, words = f" {query.casefold()} ", bare.casefold()
    at = text.find(words)
    while at >= 0 and (text[at - 1].isalpha() or text[at + len(words)].isalpha()):
        at = text.find(words, at + 1)
    return at >= 0


def _reasons(mention: Mention, followed: Followed, new: Sequence[str]) -> Iterable[str]:
    if new:
        yield f"{mention.path}: also searched for {', '.join(new)}"
    if followed.missing:
        yield f"{mention.phrase}: nothing known of a {followed.missing}"
