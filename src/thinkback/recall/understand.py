"""Query understanding without a model: what is asked for, and whom the query speaks of under other names.

"Where does my sister's husband work?" holds no word of "Erik works at Equinor". The graph leads from the
phrase to the name; what it found is words to search with, the thoughts that link, and the way in words.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from thinkback.recall.graph import Followed, Graph
from thinkback.recall.who import Reached
from thinkback.text.people.chains import chains
from thinkback.text.people.kinship import ROLES, ROLES_ZH
from thinkback.text.people.names import USER
from thinkback.text.questions.question_type import QuestionType, question_type
from thinkback.text.scripts import has_han
from thinkback.types import Ref

_USER_ZH = "用户"
_LONGEST = 300  # characters: a longer text is no question after one thing
_ROLE = "|".join(sorted(ROLES, key=len, reverse=True))
_THEIRS = re.compile(
    rf"\w(?:['’]s|s['’]) (?:\w+ )?(?:{_ROLE})\b|\b(?:{_ROLE}) of \w|的(?:{'|'.join(ROLES_ZH)})", re.IGNORECASE
)
"""Somebody's relative, whoever that is: "Tom's brother", 王强的妻子."""


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

    def meant(self, query: str) -> str:
        """The query with those names in place of the phrases that mean them; "" where no name is new."""
        if not self.expansions:
            return ""
        for mention in self.mentions:
            if names := [name for name in mention.names if name in self.expansions]:
                query = query.replace(mention.phrase, " ".join(names), 1)
        return query


def names_somebody(query: str) -> bool:
    """Whether a phrase of the query may lead to a name; only then is it worth to know who is who."""
    return bool(_THEIRS.search(query[:_LONGEST]) or chains(query, lambda words: False))


def understand(query: str, graph: Graph) -> Understood:
    """What a query is after, as far as its words and the graph tell; the same for the same two, always."""
    ways = _ways(query, graph)
    mentions = [_mention(query[start : way.end], way, graph, query) for start, way in ways]
    reached = [each for _, way in ways for each in way.reached]
    kept = {name for each in reached for name in _kept_under(each, graph, query)}
    names = dict.fromkeys(name for mention in mentions for name in mention.names)
    unsaid = [name for name in names if not _said(name, query)]
    told = (id_ for each in reached if each.key != USER for id_ in graph.ids_about(each.key))
    return Understood(
        question=question_type(query),
        mentions=tuple(mentions),
        expansions=tuple(name for name in unsaid if name in kept),
        aliases=tuple(name for name in unsaid if name not in kept),
        bridge=tuple(dict.fromkeys(id_ for each in reached for _, id_ in each.path if id_ in graph)),
        about=tuple(dict.fromkeys(told)),
        reasons=tuple(_reasons(mentions, [way for _, way in ways], kept.intersection(unsaid))),
    )


def _ways(query: str, graph: Graph) -> list[tuple[int, Followed]]:
    """(where it starts, whom it leads to) of every phrase that names somebody; a pronoun means the last."""
    found: list[tuple[int, Followed]] = []
    for chain in chains(query, graph.is_name):
        if any(chain.start in range(start, way.end) for start, way in found):
            continue
        way = graph.follow(chain, found[-1][1].reached if found else ())
        if way.reached:
            found.append((chain.start, way))
    return found


def _mention(phrase: str, way: Followed, graph: Graph, query: str) -> Mention:
    names: dict[str, None] = {}
    paths: list[str] = []
    for each in way.reached:
        own = _names(each, graph, query)
        names |= dict.fromkeys(own)
        steps = _steps(each, graph) or [", ".join(own)]
        paths.append(" -> ".join((phrase, *steps, *(("?",) if way.missing else ()))))
    return Mention(phrase, tuple(names), "; ".join(paths))


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
        return (_USER_ZH,) if has_han(query) else (USER,)
    return graph.names_of(one.key) or tuple(name for name, _ in one.path[-1:])


def _kept_under(one: Reached, graph: Graph, query: str) -> tuple[str, ...]:
    kept = graph.kept_under(one.key) if one.key != USER else ()
    return kept or _names(one, graph, query)


def _said(name: str, query: str) -> bool:
    """Whether the query has the words of a name already: "my mom" those of "user's mom"."""
    bare = name.removeprefix(f"{USER}'s ").removeprefix(f"{_USER_ZH}的")
    if has_han(bare):
        return bare in query
    text, words = f" {query.casefold()} ", bare.casefold()
    at = text.find(words)
    while at >= 0 and (text[at - 1].isalpha() or text[at + len(words)].isalpha()):
        at = text.find(words, at + 1)
    return at >= 0


def _reasons(mentions: Sequence[Mention], ways: Sequence[Followed], new: Collection[str]) -> Iterator[str]:
    for mention, way in zip(mentions, ways, strict=True):
        if searched := [name for name in mention.names if name in new]:
            yield f"{mention.path}: also searched for {', '.join(searched)}"
        if way.missing:
            yield f"{mention.phrase}: nothing known of a {way.missing}"
