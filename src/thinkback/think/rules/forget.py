"""A request to forget -> what it takes back: "forget my address", 把我的工资忘掉.

A request is no fact. Its topic is a relation (address), a relative, a statement ("that I live in Rome"), or
words by which thoughts are found among what the user told; "what I just said" takes back what is recent.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from thinkback.text.forgetting import about, is_recent, noun
from thinkback.text.people.kin import KIN_EN, KIN_ZH, ONE_EACH, PETS_EN, PETS_ZH
from thinkback.text.people.names import USER
from thinkback.text.tokens import terms
from thinkback.think.amendment import EVERYTHING
from thinkback.think.relations import VOCABULARY, canonical

_STATEMENT = re.compile(r"(?:i|i'm|i've|my \w+(?: \w+)?(?:'s \w+)? (?:is|was|has|lives?|works?)|we)\b", re.I)


@dataclass(frozen=True, slots=True)
class Topic:
    """What to forget: one key (relation), or objects that have `words` in any relation; `recent` only."""

    relation: str = ""
    words: str = EVERYTHING
    subject: str = USER
    recent: bool = False


def stated(rest: str) -> str:
    """The statement that is to be forgotten, if the topic is one: "that I live in Rome"."""
    words = about(rest)
    return words if _STATEMENT.match(words) else ""


def topics(rest: str) -> Iterator[Topic]:
    """The keys and words that a request is about."""
    if is_recent(rest):
        yield Topic(recent=True)
        return
    name = noun(rest)
    if re.search("[\u4e00-\u9fff]", rest):
        kin, owner = (KIN_ZH | PETS_ZH).get(name, ""), f"用户的{name}"
    else:
        kin, owner = (KIN_EN | PETS_EN).get(name.lower(), ""), f"{USER}'s {name.lower()}"
    if not name or len(name) > 60:
        return
    relation = canonical(name)
    if kin:
        yield Topic(relation=f"has {kin}")
        if kin in ONE_EACH:
            yield from (Topic(relation=each, subject=owner) for each in VOCABULARY)
    elif relation in VOCABULARY or relation.startswith("favourite "):
        yield from (Topic(relation=each) for each in (relation, *_ALSO.get(relation, ())))
    elif terms(name):
        yield Topic(words=name)


_ALSO = {"works as": ("works at",), "works at": ("works as",), "address": ("lives in",)}
_KIN_RELATIONS = tuple(dict.fromkeys(f"has {name}" for name in (*KIN_EN.values(), *PETS_EN.values())))
EVERY_RELATION = (*VOCABULARY, *_KIN_RELATIONS)
"""Where words or what is recent are looked for: an open topic names no key."""
