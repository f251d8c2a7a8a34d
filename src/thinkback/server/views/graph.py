"""The people and things of a space as a graph: a node for each, an edge for each thought that joins two."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from thinkback.language.names import USER, normalise_name
from thinkback.language.tokens import STOP_WORDS
from thinkback.server.views.browse import State
from thinkback.server.views.snapshot import MAX_NAME_CHARS, Row, SpaceSnapshot
from thinkback.types import INSTRUCTION, SAID

MAX_EDGES = 5000
_NAME = re.compile(r"\b[A-Z][\w’'-]+(?: [A-Z][\w’'-]+)*\b")


@dataclass
class _Node:
    name: str
    thoughts: int = 0
    is_person: bool = False
    edges: list[tuple[str, str, Row]] = field(default_factory=list)  # (other key, relation, row)


def graph(snapshot: SpaceSnapshot, state: State, limit: int) -> dict[str, Any]:
    """The `limit` nodes with most thoughts, and the edges between them."""
    nodes: dict[str, _Node] = {}
    for row in snapshot.rows:
        if state != "all" and row.thought.current != (state == "current"):
            continue
        if row.thought.relation != INSTRUCTION:
            _add(nodes, snapshot, row)
    largest = Counter({key: node.thoughts for key, node in nodes.items()}).most_common(limit)
    kept = {key: number for number, (key, _) in enumerate(largest)}
    edges = [
        {
            "source": kept[key],
            "target": kept[other],
            "relation": relation,
            "thought": row.thought.id,
            "current": row.thought.current,
        }
        for key, _ in largest
        for other, relation, row in nodes[key].edges
        if other in kept
    ]
    return {
        "nodes": [_to_node(snapshot, number, key, nodes[key]) for key, number in kept.items()],
        "edges": edges[:MAX_EDGES],
        "total": len(nodes),
    }


def _add(nodes: dict[str, _Node], snapshot: SpaceSnapshot, row: Row) -> None:
    thought = row.thought
    subject = normalise_name(row.person)
    node = nodes.setdefault(subject, _Node(row.person))
    node.thoughts += 1
    relation = "" if thought.relation == SAID else thought.relation
    for name in dict.fromkeys(_names(row)):
        primary = snapshot.aliases.primary_name(name)
        key = normalise_name(primary)
        if not key or key == subject:
            continue
        other = nodes.setdefault(key, _Node(primary))
        other.thoughts += 1
        other.is_person = other.is_person or thought.kind == "relationship"
        node.edges.append((key, relation, row))


def _names(row: Row) -> Iterator[str]:
    """The values of a triple; of a sentence kept as said, the names within it."""
    thought = row.thought
    if thought.relation != SAID:
        yield from (value for value in thought.objects if len(value) <= MAX_NAME_CHARS)
        return
    for found in _NAME.finditer(thought.sentence):
        word = found.group()
        if found.start() and word.lower() not in STOP_WORDS and len(word) <= MAX_NAME_CHARS:
            yield word


def _to_node(snapshot: SpaceSnapshot, number: int, key: str, node: _Node) -> dict[str, Any]:
    aliases = [name for name in snapshot.aliases.names_of(node.name) if normalise_name(name) != key]
    kind = "user" if key == USER else "person" if node.is_person or aliases else "thing"
    return {
        "id": number,
        "name": node.name,
        "aliases": aliases,
        "type": kind,
        "thoughts": node.thoughts,
    }
