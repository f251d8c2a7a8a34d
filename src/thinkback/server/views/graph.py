"""The people and things of a space as a graph: a node for each, an edge for each thought that joins two."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from thinkback.language.names import USER, normalise_name
from thinkback.language.proper_names import NameMention
from thinkback.recall.entity_registry import NAME_RELATIONS
from thinkback.server.views.browse import State
from thinkback.server.views.snapshot import MAX_NAME_CHARS, Row, SpaceSnapshot
from thinkback.types import INSTRUCTION, SAID

MAX_EDGES = 5000
MAX_JOINED_NAMES = 4  # of one sentence; more are a list rather than a connection


@dataclass
class _Node:
    name: str
    thoughts: int = 0
    is_person: bool = False
    edges: list[tuple[str, str, Row]] = field(default_factory=list)  # (other key, relation, row)


def graph(snapshot: SpaceSnapshot, state: State, limit: int) -> dict[str, Any]:
    """The `limit` nodes with most thoughts, and the edges between them."""
    nodes: dict[str, _Node] = {}
    for row, mentions in zip(snapshot.rows, snapshot.mentions, strict=True):
        if state != "all" and row.thought.current != (state == "current"):
            continue
        if row.thought.relation != INSTRUCTION:
            _add(nodes, snapshot, row, mentions)
    largest = Counter({key: node.thoughts for key, node in nodes.items()}).most_common(limit)
    kept = {key: number for number, (key, _) in enumerate(largest)}
    edges = [
        {
            "source": kept[key],
            "target": kept[other],
            "relation": relation,
            "negated": row.thought.negated,
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


def _add(nodes: dict[str, _Node], snapshot: SpaceSnapshot, row: Row, mentions: Sequence[NameMention]) -> None:
    thought = row.thought
    subject = normalise_name(row.person)
    node = nodes.setdefault(subject, _Node(row.person))
    node.thoughts += 1
    if thought.relation == SAID:
        relation, named = "", list(mentions)
    else:
        is_person = thought.kind == "relationship" or thought.relation in NAME_RELATIONS
        values = (value for value in thought.objects if len(value) <= MAX_NAME_CHARS)
        relation, named = thought.relation, [NameMention(value, is_person) for value in values]
    keys: list[str] = []
    for name, is_person in named:
        primary = snapshot.aliases.primary_name(name)
        key = normalise_name(primary)
        if not key or key == subject or key in keys:
            continue
        keys.append(key)
        other = nodes.setdefault(key, _Node(primary))
        other.thoughts += 1
        other.is_person = other.is_person or is_person
        node.edges.append((key, relation, row))
    if thought.relation == SAID and len(keys) <= MAX_JOINED_NAMES:
        for one, other_key in combinations(keys, 2):
            nodes[one].edges.append((other_key, "", row))


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
