"""Filters the thoughts of a space: words, kinds, person, time, group, current or past."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, compress
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from thinkback.language.names import normalise_name
from thinkback.language.tokens import fold_text
from thinkback.schemas import to_json
from thinkback.server.views.snapshot import KIND_NUMBERS, SpaceSnapshot
from thinkback.types import KINDS, Kind, Thought

MAX_PEOPLE = 200
State = Literal["current", "past", "all"]
Sort = Literal["newest", "oldest", "person", "topic"]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """Which thoughts are wanted. Empty fields do not restrict."""

    words: str = ""
    kinds: Sequence[Kind] = ()
    person: str = ""
    state: State = "current"
    since: datetime | None = None
    until: datetime | None = None
    group: int | None = None


@dataclass(frozen=True, slots=True)
class BrowsedThought:
    """A thought in a list, with the primary name of its subject; its group if the list is by group."""

    JSON_FIELDS: ClassVar = ("**thought", "person", "group")

    thought: Thought
    person: str
    group: int | None = None


@dataclass(frozen=True, slots=True)
class Matches:
    """The conditions of a filter, each as a mask over the rows of a snapshot."""

    words: Mask
    kind: Mask
    person: Mask
    state: Mask
    other: Mask

    @property
    def all(self) -> Mask:
        return self.words & self.kind & self.person & self.state & self.other


def match(snapshot: SpaceSnapshot, wanted: Filter) -> Matches:
    everything = np.ones(len(snapshot.rows), dtype=np.bool_)
    words = fold_text(wanted.words).split()
    text = everything
    for word in words:
        text = text & np.array([word in folded for folded in snapshot.texts], dtype=np.bool_)
    kind = everything
    if wanted.kinds:
        kind = np.isin(snapshot.kinds, [KIND_NUMBERS[name] for name in wanted.kinds])
    person = everything
    if wanted.person:
        key = normalise_name(snapshot.aliases.primary_name(wanted.person))
        named = zip(snapshot.rows, snapshot.mentioned_keys, strict=True)
        person = np.array([key in row.keys or key in mentioned for row, mentioned in named], dtype=np.bool_)
    state = everything
    if wanted.state != "all":
        state = snapshot.current if wanted.state == "current" else ~snapshot.current
    other = everything
    if wanted.since is not None:
        other = other & (snapshot.ends >= wanted.since.timestamp())
    if wanted.until is not None:
        other = other & (snapshot.starts <= wanted.until.timestamp())
    if wanted.group is not None:
        other = other & (snapshot.group_numbers == wanted.group)
    return Matches(text, kind, person, state, other)


def browse(snapshot: SpaceSnapshot, wanted: Filter, sort: Sort, after: int, limit: int) -> dict[str, Any]:
    """One page of the matching thoughts, and how many there would be with other filters."""
    matches = match(snapshot, wanted)
    by_group = sort == "topic" or wanted.group is not None
    found = np.flatnonzero(matches.all)
    ordered = _sorted(snapshot, found, sort)
    page = ordered[after : after + limit]
    return {
        "items": [_to_item(snapshot, index, by_group) for index in page],
        "next": after + limit if len(ordered) > after + limit else None,
        "total": len(ordered),
        "counts": _counts(snapshot, matches),
        "people": _people(snapshot, matches.words & matches.kind & matches.state & matches.other),
    }


def _to_item(snapshot: SpaceSnapshot, index: int, by_group: bool) -> dict[str, Any]:
    row = snapshot.rows[index]
    group = snapshot.group_of(row.thought.id) if by_group else None
    item: dict[str, Any] = to_json(BrowsedThought(row.thought, row.person, group))
    return item


def _sorted(snapshot: SpaceSnapshot, found: npt.NDArray[np.intp], sort: Sort) -> list[int]:
    order = found if sort == "oldest" else found[::-1]
    indexes = [int(index) for index in order]
    if sort == "person":
        indexes.sort(key=lambda index: fold_text(snapshot.rows[index].person))
    elif sort == "topic":
        sizes = Counter(snapshot.group_numbers[found].tolist())
        groups = snapshot.group_numbers
        indexes.sort(key=lambda index: (-sizes[int(groups[index])], int(groups[index])))
    return indexes


def _counts(snapshot: SpaceSnapshot, matches: Matches) -> dict[str, dict[str, int]]:
    of_kinds = matches.words & matches.person & matches.state & matches.other
    by_kind = np.bincount(snapshot.kinds[of_kinds], minlength=len(KINDS))
    of_states = matches.words & matches.kind & matches.person & matches.other
    current = int(np.count_nonzero(snapshot.current & of_states))
    past = int(np.count_nonzero(of_states)) - current
    return {
        "kinds": {kind: int(count) for kind, count in zip(KINDS, by_kind, strict=True)},
        "states": {"current": current, "past": past},
    }


def _people(snapshot: SpaceSnapshot, mask: Mask) -> list[dict[str, Any]]:
    """The people of the matching thoughts, as subjects or named in a sentence, most frequent first."""
    names: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for person in chain.from_iterable(compress(snapshot.people, mask.tolist())):
        key, name = person
        names.setdefault(key, name)
        counts[key] += 1
    return [
        {"name": names[key], "count": count, "aliases": list(snapshot.aliases.names_of(names[key])[1:])}
        for key, count in counts.most_common(MAX_PEOPLE)
    ]
